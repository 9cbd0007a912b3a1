package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// stream takes the answer to the request of w as an event stream. A server
// that gave its events ids may end the stream before the answer; the stream is
// then opened again where it stopped, which does not send the request again.
func (c *httpConn) stream(ctx context.Context, w *waiter, resp *http.Response) {
	var at *eventReader
	idle := 0 // streams in a row without an event
	for {
		seen := at.id()
		at = c.readEvents(w, resp, at)
		err := at.err
		if ctx.Err() != nil || !c.waits(w) {
			return
		}
		if errors.Is(err, errTooLarge) {
			c.fail(w, tooLarge())
			return
		}
		if idle++; at.id() != seen {
			idle = 1
		}
		if at.id() == "" || c.modern() || idle > maxReopens {
			c.broken(w, cutShort(err), false)
			return
		}
		if resp = c.reopen(ctx, w, at); resp == nil {
			return
		}
	}
}

func cutShort(err error) error {
	if err == nil || err == io.EOF {
		return errors.New("the server ended its answer before it was complete")
	}
	return brokenOff(err)
}

// reopen waits as the server asked and continues a stream; nil when it cannot,
// with w failed.
func (c *httpConn) reopen(ctx context.Context, w *waiter, at *eventReader) *http.Response {
	for try := 1; ; try++ {
		if c.sleep(ctx, at.delay(streamDelay)) != nil {
			return nil
		}
		h, session := c.header("text/event-stream", nil)
		h.Set(gomcp.HeaderLastEventID, at.lastID)
		resp, _, err := c.do(ctx, http.MethodGet, c.url, h, nil)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && try >= maxReopens:
			c.broken(w, err, false)
			return nil
		case err != nil:
			continue
		case resp.StatusCode == http.StatusNotFound && session != "":
			discard(resp)
			c.fail(w, lostIn(w.method, errSessionGone, false))
			c.retire(errSessionGone)
			return nil
		case failed(resp):
			c.fail(w, lostIn(w.method, statusError(resp), false))
			return nil
		case mediaType(resp) != "text/event-stream":
			discard(resp)
			c.fail(w, lostIn(w.method, errors.New("the server does not continue its answer"), false))
			return nil
		}
		return resp
	}
}

// readEvents reads one stream to its end and closes it. It goes on from the
// reader of the stream before, if there was one.
func (c *httpConn) readEvents(w *waiter, resp *http.Response, before *eventReader) *eventReader {
	defer resp.Body.Close()
	e := newEventReader(resp.Body, maxMessage)
	e.follow(before)
	for {
		ev, err := e.next()
		if err != nil {
			e.err = err
			return e
		}
		if ev.kind != "message" {
			continue
		}
		for _, m := range parseLine(ev.data) {
			c.arrived(w, m)
		}
		if w != nil && !c.waits(w) {
			return e
		}
	}
}

// listener is the state of the stream for what the server says unasked.
type listener struct {
	at       *eventReader
	worked   bool // the server has accepted the stream
	idle     int  // attempts in a row without an event
	answered func()
}

// listen opens the stream for what the server says unasked and keeps it open.
// It returns at once; answered is closed when the server has answered.
func (c *httpConn) listen() (answered <-chan struct{}) {
	first := make(chan struct{})
	l := &listener{answered: sync.OnceFunc(func() { close(first) })}
	if !c.spawn(func() { c.listenOn(l) }) {
		l.answered()
	}
	return first
}

func (c *httpConn) listenOn(l *listener) {
	defer l.answered()
	for ; l.idle <= maxReopens && c.lostFor() == nil; l.idle++ {
		wait, again := c.listenOnce(l)
		l.answered()
		if !again || c.sleep(c.ctx, wait) != nil {
			return
		}
	}
}

// listenOnce opens the stream and reads it to its end. again says whether to
// open it once more, after wait.
func (c *httpConn) listenOnce(l *listener) (wait time.Duration, again bool) {
	h, session := c.header("text/event-stream", nil)
	if id := l.at.id(); id != "" {
		h.Set(gomcp.HeaderLastEventID, id)
	}
	resp, unsent, err := c.do(c.ctx, http.MethodGet, c.url, h, nil)
	switch {
	case err != nil && unsent && l.worked && c.ctx.Err() == nil:
		c.retire(err)
		return 0, false
	case err != nil:
		return time.Duration(l.idle) * streamDelay, c.ctx.Err() == nil
	case resp.StatusCode == http.StatusNotFound && l.worked && session != "":
		discard(resp)
		c.retire(errSessionGone)
		return 0, false
	case failed(resp):
		discard(resp) // below 500 the server does not offer it
		return time.Duration(l.idle) * streamDelay, resp.StatusCode >= 500
	case mediaType(resp) != "text/event-stream":
		_ = resp.Body.Close()
		return 0, false
	}
	l.worked = true
	c.listening.Store(true)
	defer c.listening.Store(false)
	l.answered()
	l.at = c.readEvents(nil, resp, l.at)
	if l.at.count > 0 {
		l.idle = 0
	}
	if l.at.err != io.EOF && l.idle == 0 {
		return 0, true // it broke: find out at once whether the server is gone
	}
	return l.at.delay(streamDelay), true
}
