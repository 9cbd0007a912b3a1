package mcp

import (
	"errors"
	"io"
	"sync"
	"time"
)

// maxQueued is how many bytes may wait for a server that does not read.
const maxQueued = 2 * maxMessage

var errNotReading = errors.New("the server does not read its input")

// writeQueue writes messages to a pipe in order and never makes the giver
// wait: what the pipe does not take at once is written by a goroutine.
type writeQueue struct {
	w    io.WriteCloser
	try  func([]byte) int // writes what goes in at once without waiting; may be nil
	fail func(error)      // told once of a failed write

	mu      sync.Mutex
	list    []outgoing
	bytes   int
	busy    bool // the goroutine is writing
	closed  bool
	broken  bool
	running bool
	wake    chan struct{}
	ended   chan struct{}
}

// outgoing is a message in the queue. id is that of the request it carries, 0
// for anything else; begun means that part of it is already in the pipe.
type outgoing struct {
	id    int64
	data  []byte
	begun bool
}

func newWriteQueue(w io.WriteCloser, fail func(error)) *writeQueue {
	return &writeQueue{w: w, try: tryWriter(w), fail: fail, wake: make(chan struct{}, 1), ended: make(chan struct{})}
}

// put queues one message, which the queue then owns.
func (q *writeQueue) put(id int64, data []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.broken {
		return ErrClosed
	}
	m := outgoing{id: id, data: data}
	if q.try != nil && !q.busy && len(q.list) == 0 {
		n := q.try(data)
		if n == len(data) {
			return nil
		}
		m.data, m.begun = data[n:], n > 0
	}
	if q.bytes+len(m.data) > maxQueued && len(q.list) > 0 {
		return errNotReading
	}
	q.list = append(q.list, m)
	q.bytes += len(m.data)
	if !q.running {
		q.running = true
		go q.run()
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

// drop takes the request with this id back if none of it has been written, and
// says whether it did.
func (q *writeQueue) drop(id int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.list {
		if q.list[i].id == id && !q.list[i].begun {
			q.bytes -= len(q.list[i].data)
			q.list = append(q.list[:i], q.list[i+1:]...)
			return true
		}
	}
	return false
}

func (q *writeQueue) run() {
	defer close(q.ended)
	for {
		data, ok := q.take()
		if !ok {
			return
		}
		if data == nil {
			<-q.wake
			continue
		}
		if _, err := q.w.Write(data); err != nil {
			q.breakOff(err)
			return
		}
	}
}

// take gives the next message to write, nil when there is none, and not ok
// when the queue is closed.
func (q *writeQueue) take() (data []byte, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	if q.closed {
		return nil, false
	}
	if len(q.list) == 0 {
		q.list = nil
		return nil, true
	}
	m := q.list[0]
	q.list[0] = outgoing{}
	q.list = q.list[1:]
	q.bytes -= len(m.data)
	q.busy = true
	return m.data, true
}

func (q *writeQueue) breakOff(err error) {
	q.mu.Lock()
	told := q.broken || q.closed
	q.broken = true
	q.mu.Unlock()
	if !told {
		q.fail(err)
	}
}

// close drops what is queued and closes the pipe, which also ends a write
// under way. What the pipe already took reaches the server.
func (q *writeQueue) close() {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	q.closed = true
	running := q.running
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	_ = q.w.Close()
	if running {
		waitFor(q.ended, time.Second)
	}
}

// waitFor waits until ch is closed, at most for d, and says whether it was.
func waitFor(ch <-chan struct{}, d time.Duration) bool {
	select {
	case <-ch:
		return true
	default:
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ch:
		return true
	case <-t.C:
		return false
	}
}
