package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// link is a connection as a session uses it.
type link interface {
	// request sends one request at most once and gives its raw result.
	request(ctx context.Context, limit time.Duration, method string, p params) (json.RawMessage, error)
	// notify sends a notification, in order with the requests.
	notify(ctx context.Context, method string, params []byte) error
	// agreed tells the revision that was negotiated, which some ways of
	// carrying messages depend on; "" takes it back.
	agreed(version string)
	// greeted says that the handshake is over.
	greeted()
	// lostFor gives why the connection is lost, or nil while it stands.
	lostFor() error
	// lost is closed when the connection ends or takes no further request.
	lost() <-chan struct{}
	// drained is closed when, after that, no request waits any more.
	drained() <-chan struct{}
	// spawn runs f on a goroutine that closing waits for, a moment at least;
	// false when the connection is over.
	spawn(f func()) bool
	close(g grace)
}

// carrier takes messages of ours to the server. What comes back is given to
// the connection's dispatch. None of its methods may wait.
type carrier interface {
	// send begins to carry the request that w waits for. An error means that
	// nothing of it was sent.
	send(w *waiter, data []byte) error
	// tell carries a notification or an answer. What cannot be carried is lost.
	tell(data []byte)
	// drop stops carrying the request of w, which no longer waits, and says
	// whether the server has seen nothing of it.
	drop(w *waiter) (unsent bool)
	// revoke carries the notice that a request is no longer wanted, where the
	// server does not learn it from drop.
	revoke(notice []byte)
	// ended is called once when the connection is lost.
	ended()
}

// rpcConn is what all connections share, whatever carries their messages: it
// matches answers with calls and answers what the server asks. No handler runs
// where messages are read.
type rpcConn struct {
	carrier carrier
	warn    func(string)

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

	dry    chan struct{} // closed when err is set and nothing is pending
	notes  chan func()   // handlers of notifications that wait for deliver
	untold *outbox       // what waits to be told over HTTP
	done   chan struct{}
	tasks  sync.WaitGroup
}

// waiter is a request of ours that waits for its answer.
type waiter struct {
	id       int64
	method   string
	header   http.Header // for a carrier over HTTP
	answer   chan reply  // takes one
	progress chan struct{}
	note     func(params []byte) // told of progress; may be nil

	stop   context.CancelFunc // ends a carrier's work on it; may be nil
	unsent atomic.Bool        // the carrier knows that the server has seen nothing of it
}

type reply struct {
	msg message
	err error
}

// maxAsked is how many requests of the server are worked on at once.
const maxAsked = 64

func (c *rpcConn) init(carrier carrier, warn func(string)) {
	c.carrier, c.warn = carrier, warn
	c.pending = map[int64]*waiter{}
	c.notes, c.done = make(chan func(), 256), make(chan struct{})
	c.dry = make(chan struct{})
	c.untold = newOutbox()
	c.ctx, c.cancel = context.WithCancel(context.Background())
}

func (c *rpcConn) lost() <-chan struct{} { return c.done }

func (c *rpcConn) drained() <-chan struct{} { return c.dry }

func (c *rpcConn) greeted() { c.greet.Store(true) }

// lose ends the connection for the given reason, unless it has ended before,
// and fails all calls that wait.
func (c *rpcConn) lose(reason error) {
	if reason == nil || !c.finish(reason) {
		return
	}
	close(c.done)
	c.mu.Lock() // so that nothing is spawned after
	c.cancel()
	c.mu.Unlock()
	c.carrier.ended()
}

// retire has the connection take no further request, for the given reason, and
// lets those under way come to their end.
func (c *rpcConn) retire(reason error) {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = reason
		c.checkDry()
	}
	c.mu.Unlock()
	if first {
		close(c.done)
	}
}

// checkDry closes dry when nothing is left to wait for. The lock is held.
func (c *rpcConn) checkDry() {
	if c.err != nil && len(c.pending) == 0 {
		select {
		case <-c.dry:
		default:
			close(c.dry)
		}
	}
}

// spawn runs f on a goroutine of the connection unless that is over.
func (c *rpcConn) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return false
	}
	c.tasks.Go(f)
	return true
}

// begin gives the context of a carrier's work on w, which halt ends.
func (c *rpcConn) begin(w *waiter) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, stop := context.WithCancel(c.ctx)
	w.stop = stop
	return ctx
}

func (c *rpcConn) halt(w *waiter) {
	c.mu.Lock()
	stop := w.stop
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// finish notes why the connection is over and fails what waits; false when it
// was over already.
func (c *rpcConn) finish(reason error) bool {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = reason
	}
	calls := c.pending
	c.pending = map[int64]*waiter{}
	c.checkDry()
	c.mu.Unlock()
	for _, w := range calls {
		unsent := c.carrier.drop(w)
		w.answer <- reply{err: lostIn(w.method, reason, unsent)}
	}
	return first
}

// lostFor gives why the connection is lost, or nil.
func (c *rpcConn) lostFor() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// settle waits for the connection's goroutines, but not for ever, since
// handlers are others' code.
func (c *rpcConn) settle(d time.Duration) {
	over := make(chan struct{})
	go func() {
		c.tasks.Wait()
		close(over)
	}()
	waitFor(over, d)
}

// register makes a waiting call with a fresh id.
func (c *rpcConn) register(method string, p *params) (*waiter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, lostIn(method, c.err, true)
	}
	c.lastID++
	w := &waiter{id: c.lastID, method: method, header: p.header, answer: make(chan reply, 1), note: p.progress}
	if p.progress != nil {
		w.progress = make(chan struct{}, 1)
	}
	c.pending[w.id] = w
	return w, nil
}

// take removes a waiting call and gives it; nil when it no longer waits.
func (c *rpcConn) take(id int64) *waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.pending[id]
	delete(c.pending, id)
	c.checkDry()
	return w
}

// fail ends a call that still waits with an error.
func (c *rpcConn) fail(w *waiter, err error) {
	if c.take(w.id) != nil {
		w.answer <- reply{err: err}
	}
}

// waits says whether a call still waits.
func (c *rpcConn) waits(w *waiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending[w.id] == w
}

// mostExtended is how many times its limit a call may take that tells of progress.
const mostExtended = 10

// request sends a request and waits for its answer, for ctx, or for limit,
// which progress extends (p.progress not nil) up to ten times. The request is
// sent at most once.
func (c *rpcConn) request(ctx context.Context, limit time.Duration, method string, p params) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	w, err := c.register(method, &p)
	if err != nil {
		return nil, err
	}
	if err := c.carrier.send(w, requestLine(w.id, method, p)); err != nil {
		if c.take(w.id) == nil { // lost meanwhile, which says more
			return nil, (<-w.answer).err
		}
		return nil, err
	}
	m, err := c.await(ctx, limit, w)
	return m.result, err
}

func (c *rpcConn) await(ctx context.Context, limit time.Duration, w *waiter) (message, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	end := time.Now().Add(mostExtended * limit)
	for {
		select {
		case r := <-w.answer:
			return r.msg, r.err
		case <-w.progress:
			timer.Reset(min(limit, time.Until(end)))
		case <-timer.C:
			if left := time.Until(end); left > 0 && c.answering() { // it waits for us
				timer.Reset(min(limit, left))
				continue
			}
			after := limit
			if time.Until(end) <= 0 {
				after = mostExtended * limit
			}
			return c.giveUp(w, "timed out", &TimeoutError{After: after})
		case <-ctx.Done():
			return c.giveUp(w, "no longer wanted", context.Cause(ctx))
		}
	}
}

// answering says whether requests of the server are being worked on.
func (c *rpcConn) answering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked > 0
}

// giveUp stops waiting for w. The server is told unless it never saw the
// request; an answer that came in this moment is still taken.
func (c *rpcConn) giveUp(w *waiter, reason string, err error) (message, error) {
	if c.take(w.id) == nil {
		r := <-w.answer
		return r.msg, r.err
	}
	unsent := c.carrier.drop(w)
	if !unsent && c.greet.Load() {
		c.carrier.revoke(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":%q}}`+"\n", w.id, reason))
	}
	var late *TimeoutError
	if errors.As(err, &late) {
		late.Unsent = unsent
	}
	return message{}, err
}

// notice writes a notification.
func notice(method string, params []byte) []byte {
	line := append([]byte(`{"jsonrpc":"2.0","method":`), quote(method)...)
	if params != nil {
		line = append(append(line, `,"params":`...), params...)
	}
	return append(line, "}\n"...)
}

// quote writes s as a JSON string.
func quote(s string) []byte {
	if isPlain(s) { // as names are
		return append(append(append(make([]byte, 0, len(s)+2), '"'), s...), '"')
	}
	out, _ := encode(s)
	return out
}

// isPlain says whether s stands in a JSON string as it is, seen at a glance.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
