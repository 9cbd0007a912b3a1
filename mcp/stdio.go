package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// stdioConn is a connection over the pipes of a process. One goroutine reads,
// the queue writes, and no handler runs on either, so a server that neither
// reads nor stops asking cannot hold up a call or a close.
type stdioConn struct {
	proc  *process
	queue *writeQueue
	warn  func(string)

	// onRequest answers a request of the server; onNotify takes a
	// notification. Both run on goroutines of their own, notifications in
	// order. They are set before the first request is sent.
	onRequest func(ctx context.Context, method string, params []byte) (any, error)
	onNotify  func(method string, params []byte)

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	greet  atomic.Bool // the server has answered initialize

	mu      sync.Mutex
	pending map[int64]*waiter
	lastID  int64
	err     error // why the connection is lost; nil while it stands
	asked   int   // requests of the server being answered

	notes   chan func() // handlers of notifications that wait for deliver
	done    chan struct{}
	readEnd chan struct{}
	tasks   sync.WaitGroup
	warned  atomic.Bool
}

// waiter is a request of ours that waits for its answer.
type waiter struct {
	id       int64
	answer   chan reply // takes one
	progress chan struct{}
	note     func(params []byte) // told of progress; may be nil
}

type reply struct {
	msg message
	err error
}

const (
	// maxJunk is how many lines in a row may be no message before the
	// connection is given up.
	maxJunk = 100
	// maxAsked is how many requests of the server are worked on at once.
	maxAsked = 64
)

func newStdioConn(proc *process, warn func(string)) *stdioConn {
	c := &stdioConn{
		proc: proc, warn: warn, pending: map[int64]*waiter{},
		notes: make(chan func(), 256), done: make(chan struct{}), readEnd: make(chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.queue = newWriteQueue(proc.stdin, c.inputLost)
	return c
}

// start begins to read. onRequest and onNotify must be set.
func (c *stdioConn) start() {
	c.tasks.Go(c.readAll)
	c.tasks.Go(c.watch)
	c.tasks.Go(c.deliver)
}

// watch notes the end of the process, after what it wrote last was read.
func (c *stdioConn) watch() {
	select {
	case <-c.proc.exited:
	case <-c.done:
		return
	}
	waitFor(c.readEnd, time.Second)
	c.lose(c.exitError())
}

// readAll reads messages until the output ends.
func (c *stdioConn) readAll() {
	err := c.read()
	close(c.readEnd)
	switch {
	case errors.Is(err, errTooLarge):
		c.lose(fmt.Errorf("the server sent a message larger than %d MiB", maxMessage>>20))
	case err != nil && err != io.EOF:
		c.lose(err)
	}
	if c.lostFor() != nil {
		return
	}
	if exit := c.exitError(); exit != nil {
		c.lose(exit)
		return
	}
	c.lose(errors.New("the server has closed its standard output"))
}

// exitError tells how the process ended; nil if it has not, a moment later.
func (c *stdioConn) exitError() error {
	status, ok := c.proc.status(500 * time.Millisecond)
	if !ok {
		return nil
	}
	return &ExitError{Status: status, Early: !c.greet.Load(), Stderr: c.proc.stderr.tail()}
}

// inputLost is told that the server no longer reads. Most often it has just
// died, and then how it died is the better message.
func (c *stdioConn) inputLost(error) {
	if exit := c.exitError(); exit != nil {
		c.lose(exit)
		return
	}
	c.lose(errors.New("the server has closed its standard input"))
}

// lose ends the connection for the given reason, unless it has ended before,
// and fails all calls that wait. The process is stopped by whoever closes.
func (c *stdioConn) lose(reason error) {
	if reason == nil {
		return
	}
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = reason
	calls := c.pending
	c.pending = map[int64]*waiter{}
	c.mu.Unlock()
	for _, w := range calls {
		w.answer <- reply{err: reason}
	}
	close(c.done)
	c.cancel()
	go c.proc.stop(quickGrace)
}

// lostFor gives why the connection is lost, or nil.
func (c *stdioConn) lostFor() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// close ends the connection and the process within the grace and waits until
// nothing of them is left.
func (c *stdioConn) close(g grace) {
	c.mu.Lock()
	standing := c.err == nil
	if standing {
		c.err = ErrClosed
	}
	calls := c.pending
	c.pending = map[int64]*waiter{}
	c.mu.Unlock()
	for _, w := range calls {
		w.answer <- reply{err: ErrClosed}
	}
	c.queue.close()
	c.proc.stop(g)
	if standing {
		close(c.done)
		c.cancel()
	}
	c.settle(time.Second)
}

// settle waits for the connection's goroutines, but not for ever, since
// handlers are others' code.
func (c *stdioConn) settle(d time.Duration) {
	over := make(chan struct{})
	go func() {
		c.tasks.Wait()
		close(over)
	}()
	waitFor(over, d)
}

// register makes a waiting call with a fresh id.
func (c *stdioConn) register(note func([]byte)) (*waiter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, lostError(c.err)
	}
	c.lastID++
	w := &waiter{id: c.lastID, answer: make(chan reply, 1), note: note}
	if note != nil {
		w.progress = make(chan struct{}, 1)
	}
	c.pending[w.id] = w
	return w, nil
}

// take removes a waiting call and gives it; nil when it no longer waits.
func (c *stdioConn) take(id int64) *waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.pending[id]
	delete(c.pending, id)
	return w
}

// roundTrip sends a request, which build writes for the given id, and waits
// for its answer, for ctx, or for limit, which progress extends (note not nil)
// up to ten times. The request is sent at most once.
func (c *stdioConn) roundTrip(ctx context.Context, limit time.Duration, build func(id int64) []byte, note func([]byte)) (message, error) {
	if err := ctx.Err(); err != nil {
		return message{}, context.Cause(ctx)
	}
	w, err := c.register(note)
	if err != nil {
		return message{}, err
	}
	if err := c.queue.put(w.id, build(w.id)); err != nil {
		if c.take(w.id) == nil { // lost meanwhile, which says more
			return message{}, (<-w.answer).err
		}
		return message{}, err
	}
	return c.await(ctx, limit, w)
}

func (c *stdioConn) await(ctx context.Context, limit time.Duration, w *waiter) (message, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	end := time.Now().Add(10 * limit)
	for {
		select {
		case r := <-w.answer:
			return r.msg, r.err
		case <-w.progress:
			timer.Reset(min(limit, time.Until(end)))
		case <-timer.C:
			return c.giveUp(w, "timed out", &TimeoutError{After: limit})
		case <-ctx.Done():
			return c.giveUp(w, "no longer wanted", context.Cause(ctx))
		}
	}
}

// giveUp stops waiting for w. The server is told unless it never saw the
// request; an answer that came in this moment is still taken.
func (c *stdioConn) giveUp(w *waiter, reason string, err error) (message, error) {
	if c.take(w.id) == nil {
		r := <-w.answer
		return r.msg, r.err
	}
	unsent := c.queue.drop(w.id)
	if !unsent && c.greet.Load() {
		_ = c.queue.put(0, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":%q}}`+"\n", w.id, reason))
	}
	var late *TimeoutError
	if errors.As(err, &late) {
		late.Unsent = unsent
	}
	return message{}, err
}

// notify sends a notification.
func (c *stdioConn) notify(method string, params []byte) error {
	line := append([]byte(`{"jsonrpc":"2.0","method":`), quote(method)...)
	if params != nil {
		line = append(append(line, `,"params":`...), params...)
	}
	return c.queue.put(0, append(line, "}\n"...))
}

// quote writes s as a JSON string.
func quote(s string) []byte {
	out, _ := encode(s)
	return out
}

// junk is told of a line that is no message; false ends the connection.
func (c *stdioConn) junk(line []byte, inARow int) bool {
	text := clean(string(line[:min(len(line), 400)]), 100)
	if text == "" {
		return true
	}
	if !c.warned.Swap(true) {
		c.warn(fmt.Sprintf("skips a line on standard output that is no JSON-RPC message: %s", text))
	}
	if inARow > maxJunk {
		c.lose(fmt.Errorf("the server wrote over %d lines in a row that are no JSON-RPC messages, the last: %s", maxJunk, text))
		return false
	}
	return true
}
