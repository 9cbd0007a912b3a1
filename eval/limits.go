package eval

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/sense-lang/sense/diag"
)

// Limits bound what a program may use; a zero field sets no bound. Exceeding
// one ends the program with an error of kind limit, which no script catches.
type Limits struct {
	// Steps is how many statements run. A block counts as a whole when it is
	// entered, unless that would pass the limit.
	Steps int64
	// Memory is how many bytes live objects of the process may take. It is
	// looked at many times a second, and before large values are made.
	Memory int64
	// Output is how many bytes are printed.
	Output int64
	// Time is how long the program runs.
	Time time.Duration
}

// limits starts what watches over a program's limits.
func (in *Interp) limits() {
	l := in.cfg.Limits
	if l.Time > 0 {
		timer := time.AfterFunc(l.Time, func() {
			in.Stop(diag.Limit, "time limit of %s reached", l.Time)
		})
		context.AfterFunc(in.ctx, func() { timer.Stop() })
	}
	if l.Memory > 0 {
		go in.watchMemory(l.Memory)
	}
}

// memoryEvery is how often the memory in use is looked at where the limit is
// near, memoryAtLeast where it is far.
const (
	memoryEvery   = 5 * time.Millisecond
	memoryAtLeast = 50 * time.Millisecond
)

// memoryWait gives the time until the next look: no program fills the rest
// faster than ten bytes in a nanosecond.
func memoryWait(used, limit int64) time.Duration {
	return min(max(time.Duration((limit-used)/10), memoryEvery), memoryAtLeast)
}

func (in *Interp) watchMemory(limit int64) {
	t := time.NewTimer(memoryEvery)
	defer t.Stop()
	for {
		select {
		case <-in.ctx.Done():
			return
		case <-t.C:
			used := heapInUse()
			if used <= limit {
				t.Reset(memoryWait(used, limit))
				continue
			}
			if in.overLimit(limit) {
				in.Stop(diag.Limit, "memory limit of %s reached", bytesText(limit))
				in.watchGrowth(t.C, limit+limit/10)
				return
			}
			t.Reset(memoryEvery)
		}
	}
}

// watchGrowth calls for help where one operation goes on taking memory after
// the program had to end.
func (in *Interp) watchGrowth(tick <-chan time.Time, most int64) {
	for in.cfg.OnStuck != nil && !in.closed.Load() {
		if <-tick; heapInUse() > most && in.lock.taken() {
			in.cfg.OnStuck(in.stopped.Load())
			return
		}
	}
}

// overLimit collects dead objects and says whether the memory in use is still
// above the limit. A program that grows on meanwhile by an eighth is over it at
// once: a collection takes long where there is much.
func (in *Interp) overLimit(limit int64) bool {
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	collected := make(chan struct{})
	go func() { runtime.GC(); close(collected) }()
	for {
		select {
		case <-collected:
			return heapInUse() > limit
		case <-tick.C:
			if heapInUse() > limit+limit/8 {
				return true
			}
		}
	}
}

// heapInUse gives the bytes of objects on the heap, dead ones that have not
// been collected included.
func heapInUse() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return text(mkInt(n>>30)) + " GiB"
	case n >= 1<<20 && n%(1<<20) == 0:
		return text(mkInt(n>>20)) + " MiB"
	}
	return text(mkInt(n)) + " bytes"
}

// largeValue is from where on making a value asks for room first.
const largeValue = 1 << 20

// Reserve asks for room for n bytes that are about to be taken at once.
func (th *Thread) Reserve(n int64) error {
	limit := th.in.cfg.Limits.Memory
	if limit <= 0 || n < largeValue {
		return nil
	}
	if heapInUse()+n <= limit {
		return nil
	}
	if runtime.GC(); heapInUse()+n > limit {
		e := diag.New(diag.Limit, "memory limit of %s reached", bytesText(limit))
		th.in.stop(e)
		return e
	}
	return nil
}

// reserveSum asks for room for a + b where both are Strings or Arrays.
func (th *Thread) reserveSum(a, b Value) error {
	switch {
	case isStr(a) && isStr(b):
		return th.reserveText(toStr(a), len(toStr(b).s))
	case isArr(a) && isArr(b):
		return th.Reserve(int64(toArr(a).Len()+toArr(b).Len()) * 16)
	}
	return nil
}

// reserveText asks for room for a text of x and n bytes more, unless they go
// into the spare room of its buffer.
func (th *Thread) reserveText(x *Str, n int) error {
	if b := x.buffer(); b != nil && cap(b.b)-len(b.b) >= n {
		return nil
	}
	return th.Reserve(int64(roomOf(len(x.s) + n)))
}

// counted makes statements count as steps where there is a limit on them.
func (c *compiler) counted(ss []stmt) []stmt {
	if c.in.cfg.Limits.Steps <= 0 || len(ss) == 0 {
		return ss
	}
	in, n := c.in, int64(len(ss))
	all, last := sequence(ss), in.oneByOne(ss)
	return []stmt{func(fr fp) (ctl, Value) {
		if left := in.stepsLeft - n; left >= 0 {
			in.stepsLeft = left
			return all(fr)
		}
		return last(fr)
	}}
}

// oneByOne runs statements that no longer fit into the limit as a whole.
func (in *Interp) oneByOne(ss []stmt) stmt {
	return func(fr fp) (ctl, Value) {
		for _, s := range ss {
			in.step(fr)
			if k, v := s(fr); k != ctlNext {
				return k, v
			}
		}
		return ctlNext, Value{}
	}
}

// step counts one statement and ends the program where the limit is reached.
func (in *Interp) step(fr fp) {
	if in.stepsLeft <= 0 {
		e := diag.New(diag.Limit, "limit of %d steps reached", in.cfg.Limits.Steps)
		in.stop(e)
		fail(fr, &diag.Pos{}, e)
	}
	in.stepsLeft--
}

// countedTail is counted for the n statements of an expression that a body was
// compiled to; oneByOne counts each of them.
func (in *Interp) countedTail(n int, all, oneByOne expr) expr {
	by := int64(n)
	return func(fr fp) Value {
		if left := in.stepsLeft - by; left >= 0 {
			in.stepsLeft = left
			return all(fr)
		}
		return oneByOne(fr)
	}
}

// Steps gives how many steps have been counted; nothing counts without a limit.
func (in *Interp) Steps() int64 { return max(in.cfg.Limits.Steps, 0) - in.stepsLeft }
