package audit

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/sense-lang/sense/diag"
)

// Log keeps the entries of a run in memory and passes them to a Sink. The zero
// Log is ready: it takes the time of the machine, has no bound and no sink. Set
// its fields before the first entry; its methods may be used by several
// goroutines at once.
type Log struct {
	// Clock tells the time of entries that bring none; nil is time.Now.
	Clock func() time.Time
	// Grow is told the bytes that each entry takes before it is kept; its error
	// refuses the entry. nil sets no bound.
	Grow func(bytes int64) error
	// Redactor takes secrets out of names, details and fields; nil takes none.
	Redactor *Redactor
	// Sink gets each entry before Add returns; nil keeps them in memory only.
	Sink Sink
	// BestEffort lets a program go on when the sink fails; SinkError tells.
	BestEffort bool

	mu      sync.Mutex
	recent  [recentHeads]*head
	heads   map[headKey]*head
	blocks  [][]stored
	count   int
	sinkErr error
}

// Sink keeps entries beyond the run. An entry that Write accepted survives the
// end of the process; the sink must not keep e itself.
type Sink interface {
	Write(e *Entry) error
	Close() error
}

// stored is an entry in the shape that takes little room: a run may leave
// hundreds of thousands, and nearly all of them differ in their time only.
type stored struct {
	*head
	nanos int64
	more  *more // nil for most
}

// head is what the entries of one event at one place share.
type head struct {
	name, kind, event, file  string
	pos                      diag.Pos
	extra, unplaced, durable bool
	lineage                  []string
	line                     string // as audit_log() shows an entry without a detail, once it did
}

// headKey finds a head that was not met lately.
type headKey struct {
	name, kind, event, file, lineage string
	pos                              diag.Pos
	extra, unplaced, durable         bool
}

// more is what only some entries have.
type more struct {
	detail string
	calls  []string
	fields []Field
}

const (
	storedSize = int(unsafe.Sizeof(stored{}))
	// blockLen entries are kept together, so that a growing log copies nothing.
	blockLen = 512
	// recentHeads are looked at before the map.
	recentHeads = 64
)

// head gives the shared part of an entry.
func (l *Log) head(e *Entry) *head {
	i := (int(e.Pos.Offset) + 7*len(e.Name) + 13*len(e.Event)) % recentHeads
	if h := l.recent[i]; h != nil && h.of(e) {
		return h
	}
	k := headKey{e.Name, e.Kind, e.Event, e.File, strings.Join(e.Lineage, "\x00"), e.Pos, e.Extra, e.Unplaced, e.Durable}
	h := l.heads[k]
	if h == nil {
		h = &head{name: e.Name, kind: e.Kind, event: e.Event, file: e.File, pos: e.Pos,
			extra: e.Extra, unplaced: e.Unplaced, durable: e.Durable, lineage: e.Lineage}
		if l.heads == nil {
			l.heads = map[headKey]*head{}
		}
		l.heads[k] = h
	}
	l.recent[i] = h
	return h
}

// of reports whether an entry has this head.
func (h *head) of(e *Entry) bool {
	return h.pos == e.Pos && h.event == e.Event && h.name == e.Name && h.kind == e.Kind && h.file == e.File &&
		h.extra == e.Extra && h.unplaced == e.Unplaced && h.durable == e.Durable && slices.Equal(h.lineage, e.Lineage)
}

// entry gives back the entry that was added.
func (s *stored) entry() Entry {
	e := Entry{
		Name: s.name, Kind: s.kind, Event: s.event, File: s.file, Pos: s.pos,
		Extra: s.extra, Unplaced: s.unplaced, Durable: s.durable,
		Time: time.Unix(0, s.nanos), Lineage: s.lineage,
	}
	if s.more != nil {
		e.Detail, e.Calls, e.Fields = s.more.detail, s.more.calls, s.more.fields
	}
	return e
}

// text gives the entry as audit_log() shows it; all entries that look the same
// share it.
func (s *stored) text() string {
	if s.more != nil && s.more.detail != "" {
		e := s.entry()
		return e.Line()
	}
	if s.line == "" {
		e := s.entry()
		s.line = e.Line()
	}
	return s.line
}

// Add appends an entry. Its error means that what the entry announces must not
// happen: the memory's bound is reached, or the sink could not keep it. An
// entry that a sink refused is in memory nevertheless.
func (l *Log) Add(e Entry) error {
	if e.Time.IsZero() {
		e.Time = l.now()
	}
	if l.Redactor != nil {
		l.Redactor.entry(&e)
	}
	if l.Grow != nil {
		if err := l.Grow(e.size()); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.push(&e)
	if l.Sink == nil {
		return nil
	}
	return l.pass(e)
}

// pass gives an entry to the sink. It takes a copy, so that Add's own stays off
// the heap where there is no sink.
func (l *Log) pass(e Entry) error {
	if err := l.Sink.Write(&e); err != nil {
		err = fmt.Errorf("audit: %w", err)
		if l.sinkErr == nil {
			l.sinkErr = err
		}
		if !l.BestEffort {
			return err
		}
	}
	return nil
}

func (l *Log) now() time.Time {
	if l.Clock != nil {
		return l.Clock()
	}
	return time.Now()
}

// push keeps an entry.
func (l *Log) push(e *Entry) {
	last := len(l.blocks) - 1
	switch {
	case last < 0: // most programs write little
		l.blocks = append(l.blocks, make([]stored, 0, 8))
		last = 0
	case last == 0 && len(l.blocks[0]) == cap(l.blocks[0]) && cap(l.blocks[0]) < blockLen:
		grown := make([]stored, len(l.blocks[0]), 8*cap(l.blocks[0]))
		copy(grown, l.blocks[0])
		l.blocks[0] = grown
	case len(l.blocks[last]) == cap(l.blocks[last]):
		l.blocks = append(l.blocks, make([]stored, 0, blockLen))
		last++
	}
	n := len(l.blocks[last])
	l.blocks[last] = l.blocks[last][:n+1]
	at := &l.blocks[last][n]
	at.head, at.nanos = l.head(e), e.Time.UnixNano()
	if e.Detail != "" || len(e.Calls) > 0 || len(e.Fields) > 0 {
		at.more = &more{e.Detail, e.Calls, e.Fields}
	}
	l.count++
}

// Len gives the number of entries.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// At gives entry i, counted from 0, oldest first; it panics where there is none.
func (l *Log) At(i int) Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.blocks[i/blockLen][i%blockLen].entry()
}

// All gives the entries there are at the call and those that come while it
// goes on, oldest first. Adding entries meanwhile is possible.
func (l *Log) All() iter.Seq2[int, Entry] {
	return func(yield func(int, Entry) bool) {
		for i := 0; i < l.Len(); i++ {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// Lines gives the entries as audit_log() shows them, without the extra ones.
// Equal lines share their text.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := make([]string, 0, l.count)
	for _, block := range l.blocks {
		for i := range block {
			if !block[i].extra {
				lines = append(lines, block[i].text())
			}
		}
	}
	return lines
}

// SinkError gives the first error of the sink.
func (l *Log) SinkError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sinkErr
}

// Close closes the sink.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Sink == nil {
		return nil
	}
	sink := l.Sink
	l.Sink = nil
	if err := sink.Close(); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}
