package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// httpConn is a connection by Streamable HTTP. Every message of ours is a POST
// of its own; its answer comes as JSON or as an event stream. Before revision
// 2026-07-28 a GET stream brings what the server says unasked.
type httpConn struct {
	rpcConn
	*remote
	session   atomic.Pointer[string]
	version   atomic.Pointer[string]
	listening atomic.Bool // the GET stream is open
	strange   atomic.Bool // a warning of foreign answers was given
}

var _ link = (*httpConn)(nil)

// errSessionGone is why a connection ends whose session the server has
// forgotten.
var errSessionGone = errors.New("the server no longer knows the session")

// Waits between attempts to open a stream again, where the server names none.
const (
	streamDelay = time.Second
	maxReopens  = 5 // in a row without an event between
)

func newHTTPConn(r *remote, warn func(string)) *httpConn {
	c := &httpConn{remote: r}
	c.init(c, warn)
	return c
}

func (c *httpConn) start() { c.spawn(c.deliver) }

// agreed sets the revision that requests name.
func (c *httpConn) agreed(version string) { c.version.Store(&version) }

func (c *httpConn) modern() bool { return gomcp.IsModernProtocol(value(&c.version)) }

func value(p *atomic.Pointer[string]) string {
	if s := p.Load(); s != nil {
		return *s
	}
	return ""
}

// header gives the headers of a message with those in extra.
func (c *httpConn) header(accept string, extra http.Header) (h http.Header, session string) {
	h = extra.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Accept", accept)
	if version := value(&c.version); version != "" {
		h.Set(gomcp.HeaderProtocolVersion, version)
	}
	if session = value(&c.session); session != "" && !c.modern() {
		h.Set(gomcp.HeaderSessionID, session)
	}
	return h, session
}

// send posts a request on a goroutine of its own.
func (c *httpConn) send(w *waiter, data []byte) error {
	ctx := c.begin(w)
	if !c.spawn(func() { c.post(ctx, w, data) }) {
		c.halt(w)
		return lostIn(w.method, c.lostFor(), true)
	}
	return nil
}

func (c *httpConn) drop(w *waiter) bool {
	c.halt(w)
	return w.unsent.Load()
}

// revoke tells an older server; a modern one is told by the end of the stream.
func (c *httpConn) revoke(notice []byte) {
	if !c.modern() {
		c.tell(notice)
	}
}

// tell posts a notification or an answer.
func (c *httpConn) tell(data []byte) {
	c.tellBy(len(data), func(ctx context.Context) { _ = c.postNotice(ctx, data) })
}

func (c *httpConn) notify(ctx context.Context, method string, params []byte) error {
	return c.postNotice(ctx, notice(method, params))
}

func (c *httpConn) postNotice(ctx context.Context, data []byte) error {
	h, _ := c.header("application/json, text/event-stream", nil)
	h.Set("Content-Type", "application/json")
	resp, _, err := c.do(ctx, http.MethodPost, c.url, h, data)
	if err != nil {
		return err
	}
	if failed(resp) {
		return statusError(resp)
	}
	discard(resp)
	return nil
}

func (c *httpConn) ended() {}

// post sends the request of w and gives what comes back to whom it concerns.
func (c *httpConn) post(ctx context.Context, w *waiter, data []byte) {
	defer c.halt(w)
	h, session := c.header("application/json, text/event-stream", w.header)
	h.Set("Content-Type", "application/json")
	resp, unsent, err := c.do(ctx, http.MethodPost, c.url, h, data)
	switch {
	case err != nil && ctx.Err() != nil: // nobody waits any more
	case refusal(err):
		c.fail(w, err)
	case err != nil:
		c.broken(w, err, unsent)
	case resp.StatusCode == http.StatusNotFound && session != "" && !c.modern():
		discard(resp)
		c.broken(w, errSessionGone, true)
	case failed(resp):
		c.fail(w, statusError(resp))
	default:
		c.received(ctx, w, resp)
	}
}

// refusal says whether an error means that the server did not take a request,
// so that nothing of it was carried out.
func refusal(err error) bool {
	var auth *NeedsAuthError
	var redirect *redirectError
	return errors.As(err, &auth) || errors.As(err, &redirect)
}

// broken fails a request that got no answer. One that never left, or that the
// server refused as part of a session it forgot, ends the connection for what
// comes after; what is under way may still be answered.
func (c *httpConn) broken(w *waiter, cause error, unsent bool) {
	if unsent && c.greet.Load() {
		c.retire(cause)
	}
	if !unsent && c.greet.Load() {
		c.spawn(c.probe)
	}
	if !c.greet.Load() {
		c.fail(w, cause)
		return
	}
	c.fail(w, lostIn(w.method, cause, unsent))
}

// probe finds out whether the server is still there after a request broke.
func (c *httpConn) probe() {
	method := "ping"
	if c.modern() {
		method = string(gomcp.MethodServerDiscover)
	}
	ctx, cancel := context.WithTimeout(c.ctx, noticeLimit)
	defer cancel()
	h, session := c.header("application/json, text/event-stream", nil)
	h.Set("Content-Type", "application/json")
	line := requestLine(0, method, params{})
	resp, unsent, err := c.do(ctx, http.MethodPost, c.url, h, bytes.Replace(line, []byte(`"id":0`), []byte(`"id":"probe"`), 1))
	switch {
	case err != nil && unsent && ctx.Err() == nil:
		c.retire(err)
	case err != nil:
	case resp.StatusCode == http.StatusNotFound && session != "":
		discard(resp)
		c.retire(errSessionGone)
	default:
		_ = resp.Body.Close()
	}
}

// received takes the successful answer to the request of w.
func (c *httpConn) received(ctx context.Context, w *waiter, resp *http.Response) {
	if w.method == string(gomcp.MethodInitialize) {
		if session := resp.Header.Get(gomcp.HeaderSessionID); session != "" {
			c.session.Store(&session)
		}
	}
	switch kind := mediaType(resp); {
	case kind == "text/event-stream":
		c.stream(ctx, w, resp)
	case kind == "application/json":
		c.document(w, resp)
	case resp.StatusCode == http.StatusAccepted && c.listening.Load():
		discard(resp) // the answer is left to come by the GET stream
	case resp.StatusCode != http.StatusOK:
		discard(resp)
		c.fail(w, fmt.Errorf("the server answered HTTP status %d and nothing else", resp.StatusCode))
	default:
		_ = resp.Body.Close()
		c.fail(w, fmt.Errorf("the server answered with content of type '%s', which is neither JSON nor an event stream", clean(kind, 60)))
	}
}

// document takes an answer that is JSON.
func (c *httpConn) document(w *waiter, resp *http.Response) {
	body, err := readBody(resp)
	switch {
	case errors.Is(err, errTooLarge):
		c.fail(w, tooLarge())
		return
	case err != nil:
		c.broken(w, brokenOff(err), false)
		return
	}
	msgs := parseLine(body)
	for _, m := range msgs {
		c.arrived(w, m)
	}
	switch {
	case !c.waits(w):
	case len(bytes.TrimSpace(body)) == 0:
		c.fail(w, errors.New("the server's answer is empty"))
	case msgs == nil:
		c.fail(w, errors.New("the server's answer is no JSON-RPC message: "+clean(string(body[:min(len(body), 400)]), 100)))
	default:
		c.fail(w, errors.New("the server's answer belongs to another request"))
	}
}

func tooLarge() error {
	return fmt.Errorf("the server sent a message larger than %d MiB", maxMessage>>20)
}

// brokenOff puts the error of a broken body into words.
func brokenOff(err error) error {
	return errors.New("the connection broke before the answer was complete (" + clean(err.Error(), 200) + ")")
}

// arrived takes a message that came in answer to the request of w, if w is not
// nil. An answer to any other request has no business there.
func (c *httpConn) arrived(w *waiter, m message) {
	if w == nil || m.method != nil {
		c.dispatch(m, true)
		return
	}
	if m.rpcErr != nil && (m.id == nil || string(m.id) == "null") {
		c.fail(w, parseRPCError(m.rpcErr))
		return
	}
	if id, ok := m.callID(); !ok || id != w.id {
		if !c.strange.Swap(true) {
			c.warn("answers a request with the id of another, " + clean(string(m.id), 60) + "; such answers are dropped")
		}
		return
	}
	c.dispatch(m, true)
}

// close ends the connection, tells the server that the session is over, and
// waits for what runs.
func (c *httpConn) close(g grace) {
	standing := c.finish(ErrClosed)
	if standing {
		close(c.done)
	}
	c.mu.Lock() // so that nothing is spawned after
	c.cancel()
	c.mu.Unlock()
	if session := value(&c.session); session != "" && standing && !c.modern() {
		ctx, cancel := context.WithTimeout(context.Background(), g.input+g.term)
		h, _ := c.header("*/*", nil)
		if resp, _, err := c.once(ctx, http.MethodDelete, c.url, h, nil); err == nil {
			_ = resp.Body.Close()
		}
		cancel()
	}
	c.settle(time.Second)
	c.release()
}
