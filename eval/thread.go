package eval

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/policy"
)

// Thread is one strand of evaluation: the program itself, or the body of an
// agent or an async tool. Only the thread that holds the interpreter's lock
// runs; Blocking gives the lock away while something outside is waited for.
type Thread struct {
	in  *Interp
	ctx context.Context

	end   atomic.Uintptr // highest frame address of the segment; 0 asks for poll
	asked atomic.Bool    // poll was asked for, whatever end says
	limit uintptr        // what end is while nothing asks
	segs  []segment
	spare []Value // a segment to use again
	depth uint64  // of the calls below the first frame: those of the thread that waits for this one
	max   uint64  // depth limit

	// The frame of the builtin that runs, for calls it makes, and its size.
	native fp
	used   int
	calls  []*Call // free ones

	cut        atomic.Pointer[diag.Error] // why this thread alone must end
	agent      *Agent                     // whose body this thread runs, nil for others
	callers    []policy.Chain             // the callers of the place that started this thread
	rules      policy.Chain               // around the place of calls that the host makes
	budgets    []Value                    // in force where this thread was started
	name       string                     // for messages about waits
	foreground bool                       // a plain agent's thread: somebody waits for it
	waiting    string                     // what an endless wait is for, while in one; guarded by Interp.mu
	stuck      chan error                 // tells that no thread can go on, or that this one must not
	askedBy    string                     // whose wish its calls are, "" for the program's own
	starter    *Thread                    // the thread that started this one
	abort      context.CancelFunc         // ends what Blocking runs; guarded by Interp.mu

	human  func(ctx context.Context, question string) (string, error) // see AskWith
	client any                                                        // see WorkFor

	tx         *transaction // the innermost one that runs
	committing *Action      // the action whose body is entered next
}

// segment is a piece of a thread's stack. A call that does not fit opens the
// next one, so that a thread starts small.
type segment struct {
	vals []Value
	from fp // the frame whose call opened the segment
}

const (
	firstSegment = 1 << 11
	nextSegment  = 1 << 15
)

func (in *Interp) newThread(ctx context.Context, name string) *Thread {
	th := &Thread{in: in, ctx: ctx, max: uint64(in.cfg.maxDepth()), name: name, stuck: make(chan error, 1)}
	th.push(make([]Value, firstSegment), nil)
	in.addThread(th)
	return th
}

func (th *Thread) push(vals []Value, from fp) fp {
	th.segs = append(th.segs, segment{vals, from})
	th.setLimit()
	return first(vals)
}

// grow opens the next segment for a call from fr.
func (th *Thread) grow(fr fp) fp {
	vals := th.spare
	th.spare = nil
	if vals == nil {
		vals = make([]Value, nextSegment)
	}
	return th.push(vals, fr)
}

// shrink closes the segments above the first n. One is kept: a loop whose calls
// just do not fit a segment would make a new one in every turn.
func (th *Thread) shrink(n int) {
	if len(th.segs) == n {
		return
	}
	th.spare = th.segs[n].vals
	clear(th.segs[n:])
	th.segs = th.segs[:n]
	th.setLimit()
}

// setLimit sets the end of the segment, unless the thread was asked to look up.
func (th *Thread) setLimit() {
	th.limit = lastFrame(th.segs[len(th.segs)-1].vals)
	th.end.Store(th.limit)
	if th.asked.Load() {
		th.end.Store(0)
	}
}

// base gives the first frame of a thread on which nothing runs.
func (th *Thread) base() fp {
	fr := first(th.segs[0].vals)
	setHead(fr, th, th.depth, nil, 0)
	return fr
}

// Context ends when the program is interrupted or the thread is no longer
// needed. Every wait obeys it.
func (th *Thread) Context() context.Context { return th.ctx }

// Interp gives the interpreter the thread belongs to.
func (th *Thread) Interp() *Interp { return th.in }

// thrown is what unwinds the Go stack when a Sense error is raised.
type thrown struct{ err *diag.Error }

// fail raises err at a place of the function that runs in fr. An error that
// already has a place keeps it.
//
//go:noinline
func fail(fr fp, at *diag.Pos, err error) {
	panic(&thrown{threadOf(fr).located(fr, *at, err)})
}

//go:noinline
func failf(fr fp, at *diag.Pos, kind diag.Kind, format string, args ...any) {
	fail(fr, at, diag.New(kind, format, args...))
}

// located gives err a place and the chain of calls, once.
func (th *Thread) located(fr fp, at diag.Pos, err error) *diag.Error {
	e := asDiag(err)
	if e == nil {
		e = &diag.Error{Kind: diag.Runtime, Msg: err.Error(), Cause: err}
	}
	if e.Pos.IsValid() {
		return e
	}
	if e.Stack != nil { // shared by mistake: never write into a used one
		c := *e
		e = &c
	}
	e.Pos = at
	e.File, e.Stack, e.Elided = th.trace(fr)
	return e
}

// asDiag gives the *diag.Error in err, nil where there is none. Nearly always it
// is err itself, which needs no reflection.
func asDiag(err error) *diag.Error {
	if e, ok := err.(*diag.Error); ok {
		return e
	}
	var e *diag.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// maxTrace is how many calls an error shows, half of them from each end.
const maxTrace = 20

// trace gives the file that runs in fr and the calls that led there, outermost
// first.
func (th *Thread) trace(fr fp) (file string, stack []diag.Frame, elided int) {
	w := th.walk(fr)
	if w.fn != nil {
		file = w.fn.proto.file
	}
	var all []diag.Frame
	for w.fn != nil {
		name := w.fn.proto.name
		s, ok := w.up()
		if !ok {
			break
		}
		if w.fn == nil {
			break
		}
		if len(all) == maxTrace {
			copy(all[maxTrace/2:], all[maxTrace/2+1:])
			all = all[:maxTrace-1]
			elided++
		}
		all = append(all, diag.Frame{Name: name, File: s.info.file, Pos: *s.pos})
	}
	if all == nil {
		return file, []diag.Frame{}, elided
	}
	slices.Reverse(all)
	return file, all, elided
}

// walker goes up a thread's frames.
type walker struct {
	th  *Thread
	fr  fp
	fn  *Func
	seg int
}

func (th *Thread) walk(fr fp) walker {
	return walker{th, fr, funcOf(fr), len(th.segs) - 1}
}

// up goes to the caller's frame and gives the site of the call; ok is false at
// the bottom. Frames of builtins are looked through: what they call is called
// from where they were.
func (w *walker) up() (s *site, ok bool) {
	for {
		word := siteOf(w.fr)
		id := word & siteIDMask
		if id == 0 {
			return nil, false
		}
		s = w.th.in.sites[id]
		switch {
		case word&siteSegment != 0:
			w.fr = w.th.segs[w.seg].from
			w.seg--
		case word&siteNative != 0:
			w.fr = below(w.fr, int(word>>siteOffShift&siteOffMask))
		default:
			w.fr = below(w.fr, s.off)
		}
		if w.fn = funcOf(w.fr); w.fn != nil {
			return s, true
		}
	}
}

// mark is the state of a thread at a place where an error may be caught.
type mark struct {
	native fp
	used   int
	segs   int
}

func (th *Thread) mark() mark { return mark{th.native, th.used, len(th.segs)} }

func (th *Thread) restore(m mark) {
	th.native, th.used = m.native, m.used
	th.shrink(m.segs)
}
