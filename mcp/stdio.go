package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// stdioConn is a connection over the pipes of a process. One goroutine reads
// and the queue writes, so a server that neither reads nor stops asking cannot
// hold up a call or a close.
type stdioConn struct {
	rpcConn
	proc    *process
	queue   *writeQueue
	readEnd chan struct{}
	warned  atomic.Bool
}

var _ link = (*stdioConn)(nil)

// maxJunk is how many lines in a row may be no message before the connection
// is given up.
const maxJunk = 100

func newStdioConn(proc *process, warn func(string)) *stdioConn {
	c := &stdioConn{proc: proc, readEnd: make(chan struct{})}
	c.init(c, warn)
	c.queue = newWriteQueue(proc.stdin, c.inputLost)
	return c
}

func (*stdioConn) agreed(string) {}

func (c *stdioConn) send(w *waiter, data []byte) error { return c.queue.put(w.id, data) }

// tell queues a message; one that does not fit in is lost, as the server does
// not read anyway.
func (c *stdioConn) tell(data []byte) { _ = c.queue.put(0, data) }

func (c *stdioConn) notify(_ context.Context, method string, params []byte) error {
	return c.queue.put(0, notice(method, params))
}

func (c *stdioConn) revoke(notice []byte) { c.tell(notice) }

func (c *stdioConn) drop(w *waiter) bool { return c.queue.drop(w.id) }

// ended stops the process. Whoever closes the connection waits for that.
func (c *stdioConn) ended() { go c.proc.stop(quickGrace) }

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

// read takes messages off the output until it ends.
func (c *stdioConn) read() error {
	lines := newLineReader(c.proc.stdout, maxMessage)
	var f framer
	for {
		line, own, err := lines.next()
		if err != nil {
			return err
		}
		if m, err := splitMessage(line); err == nil { // as nearly always
			f = framer{}
			c.dispatch(m, own)
			continue
		}
		msgs, bad := f.feed(line)
		if bad && !c.junk(line, f.junk) {
			return nil
		}
		for _, m := range msgs {
			c.dispatch(m, false)
		}
	}
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

// close ends the connection and the process within the grace and waits until
// nothing of them is left.
func (c *stdioConn) close(g grace) {
	standing := c.finish(ErrClosed)
	c.queue.close()
	c.proc.stop(g)
	if standing {
		close(c.done)
		c.cancel()
	}
	c.settle(time.Second)
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
