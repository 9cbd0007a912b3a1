package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

// sseConn is a connection by HTTP with server-sent events, as revision
// 2024-11-05 has it: one GET stream brings everything the server says, after
// the address to which messages are posted.
type sseConn struct {
	rpcConn
	*remote
	endpoint *url.URL
	resp     *http.Response
	events   *eventReader
}

var _ link = (*sseConn)(nil)

// openSSE opens the stream and waits for the address.
func openSSE(ctx context.Context, r *remote, warn func(string)) (*sseConn, error) {
	c := &sseConn{remote: r}
	c.init(c, warn)
	stop := context.AfterFunc(ctx, c.cancel)
	h := http.Header{"Accept": {"text/event-stream"}}
	resp, _, err := c.do(c.ctx, http.MethodGet, r.url, h, nil)
	if err == nil {
		err = c.meet(resp)
	}
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.cancel()
		if resp != nil {
			_ = resp.Body.Close()
		}
		r.release()
		return nil, err
	}
	return c, nil
}

// meet reads the stream up to the address.
func (c *sseConn) meet(resp *http.Response) error {
	if failed(resp) {
		return statusError(resp)
	}
	if kind := mediaType(resp); kind != "text/event-stream" {
		return errors.New("the server answered with content of type '" + clean(kind, 60) + "', which is no event stream")
	}
	e := newEventReader(resp.Body, maxMessage)
	for {
		ev, err := e.next()
		switch {
		case errors.Is(err, errTooLarge):
			return tooLarge()
		case err != nil:
			return errors.New("the server ended the stream before it gave an address to post to")
		}
		if ev.kind != "endpoint" {
			continue
		}
		to, err := c.url.Parse(string(ev.data))
		if err != nil || !sameOrigin(c.url, to) {
			return errors.New("the server gives an address of another origin to post to: '" + clean(string(ev.data), 200) + "'")
		}
		c.endpoint, c.resp, c.events = to, resp, e
		return nil
	}
}

// start has the rest of the stream read.
func (c *sseConn) start() {
	c.spawn(c.deliver)
	c.spawn(c.readAll)
}

// readAll takes messages off the stream until it ends, which is the end of the
// connection.
func (c *sseConn) readAll() {
	defer c.resp.Body.Close()
	for {
		ev, err := c.events.next()
		switch {
		case errors.Is(err, errTooLarge):
			c.lose(tooLarge())
			return
		case err == io.EOF:
			c.lose(errors.New("the server ended the event stream"))
			return
		case err != nil:
			c.lose(errors.New("the event stream broke off (" + clean(err.Error(), 200) + ")"))
			return
		}
		if ev.kind != "message" {
			continue
		}
		for _, m := range parseLine(ev.data) {
			c.dispatch(m, true)
		}
	}
}

func (*sseConn) agreed(string) {}

func (*sseConn) ended() {}

// send posts a request on a goroutine of its own. Its answer comes by the stream.
func (c *sseConn) send(w *waiter, data []byte) error {
	ctx := c.begin(w)
	sent := c.spawn(func() {
		defer c.halt(w)
		unsent, err := c.post(ctx, data)
		if err == nil || ctx.Err() != nil {
			return
		}
		c.refused(w, err, unsent)
	})
	if !sent {
		c.halt(w)
		return lostIn(w.method, c.lostFor(), true)
	}
	return nil
}

// refused fails a request that could not be posted.
func (c *sseConn) refused(w *waiter, err error, unsent bool) {
	var status *StatusError
	switch {
	case errors.As(err, &status) && status.Code == http.StatusNotFound:
		c.retire(errSessionGone)
		c.fail(w, lostIn(w.method, errSessionGone, true))
	case errors.As(err, &status), refusal(err):
		c.fail(w, err)
	default:
		if unsent {
			c.retire(err)
		}
		c.fail(w, lostIn(w.method, err, unsent))
	}
}

// post posts one message. Servers answer 202, some 200 with words.
func (c *sseConn) post(ctx context.Context, data []byte) (unsent bool, err error) {
	h := http.Header{"Content-Type": {"application/json"}}
	resp, unsent, err := c.do(ctx, http.MethodPost, c.endpoint, h, data)
	if err != nil {
		return unsent, err
	}
	if failed(resp) {
		return false, statusError(resp)
	}
	discard(resp)
	return false, nil
}

func (c *sseConn) drop(w *waiter) bool {
	c.halt(w)
	return w.unsent.Load()
}

func (c *sseConn) revoke(notice []byte) { c.tell(notice) }

func (c *sseConn) tell(data []byte) {
	c.tellBy(len(data), func(ctx context.Context) { _, _ = c.post(ctx, data) })
}

func (c *sseConn) notify(ctx context.Context, method string, params []byte) error {
	_, err := c.post(ctx, notice(method, params))
	return err
}

// close ends the stream and waits for what runs.
func (c *sseConn) close(grace) {
	if c.finish(ErrClosed) {
		close(c.done)
	}
	c.mu.Lock() // so that nothing is spawned after
	c.cancel()
	c.mu.Unlock()
	c.settle(time.Second)
	c.release()
}
