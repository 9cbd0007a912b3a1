package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
)

// JSON-RPC error codes we answer with.
const (
	codeMethodNotFound = -32601
	codeInternal       = -32603
	codeBusy           = -32000
)

// dispatch hands a message to whom it concerns and never waits for them. own
// says that the message's memory may be kept.
func (c *rpcConn) dispatch(m message, own bool) {
	switch {
	case m.isRequest():
		c.serve(m.clone())
	case m.method != nil:
		c.noticed(m.clone())
	default:
		if !own {
			m = m.cloneAnswer()
		}
		c.answered(m)
	}
}

// answered gives a response to the call that waits for it. One that nobody
// waits for is late or a duplicate and is dropped.
func (c *rpcConn) answered(m message) {
	if string(m.id) == "null" || m.id == nil {
		c.answerNobody(m)
		return
	}
	id, ok := m.callID()
	if !ok {
		return
	}
	if w := c.take(id); w != nil {
		w.answer <- answerOf(m)
	}
}

func answerOf(m message) reply {
	switch {
	case m.rpcErr != nil:
		return reply{err: parseRPCError(m.rpcErr)}
	case m.result == nil:
		return reply{err: errors.New("the server's answer has neither result nor error")}
	}
	return reply{msg: m}
}

// answerNobody takes an error without an id. With one call waiting it is that
// call's; with several nobody knows, so it is only warned of.
func (c *rpcConn) answerNobody(m message) {
	if m.rpcErr == nil {
		return
	}
	var only *waiter
	c.mu.Lock()
	if len(c.pending) == 1 {
		for id, w := range c.pending {
			only = w
			delete(c.pending, id)
		}
		c.checkDry()
	}
	c.mu.Unlock()
	err := parseRPCError(m.rpcErr)
	if only == nil {
		c.warn("reports an error that belongs to no request: " + err.Error())
		return
	}
	only.answer <- reply{err: err}
}

// serve answers a request of the server. A ping is answered here and now, any
// other on a goroutine of its own, of which there are not too many.
func (c *rpcConn) serve(m message) {
	method := m.methodName()
	if method == "ping" {
		c.respond(m.id, []byte("{}"), nil)
		return
	}
	c.mu.Lock()
	busy := c.asked >= maxAsked || c.ctx.Err() != nil
	if !busy {
		c.asked++
	}
	c.mu.Unlock()
	if busy {
		c.respond(m.id, nil, &RPCError{Code: codeBusy, Message: "too many requests at once"})
		return
	}
	c.spawn(func() {
		result, err := c.onRequest(c.ctx, method, m.params)
		c.mu.Lock()
		c.asked--
		c.mu.Unlock()
		if err != nil {
			c.respond(m.id, nil, err)
			return
		}
		raw, err := encode(result)
		c.respond(m.id, raw, err)
	})
}

// respond answers the request with the given raw id.
func (c *rpcConn) respond(id, result []byte, err error) {
	line := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	if err == nil {
		line = append(append(line, `,"result":`...), result...)
	} else {
		rpc := &RPCError{Code: codeInternal, Message: err.Error()}
		errors.As(err, &rpc)
		text, _ := encode(rpc)
		line = append(append(line, `,"error":`...), text...)
	}
	c.carrier.tell(append(line, "}\n"...))
}

// noticed takes a notification. Progress and cancellation concern waiting
// calls and take effect at once; all go on to the handlers, in order. Should
// those be too slow, notifications are dropped before memory grows.
func (c *rpcConn) noticed(m message) {
	method := m.methodName()
	switch method {
	case "notifications/progress":
		c.progressed(m.params)
		return
	case "notifications/cancelled":
		c.cancelled(m.params)
		return
	}
	c.later(func() { c.onNotify(method, m.params) })
}

// later has f run by deliver.
func (c *rpcConn) later(f func()) {
	select {
	case c.notes <- f:
	default:
	}
}

// deliver runs the handlers of notifications until the connection ends.
func (c *rpcConn) deliver() {
	for {
		select {
		case f := <-c.notes:
			f()
		case <-c.ctx.Done():
			return
		}
	}
}

// progressed extends the call whose progress token, which is its id, is named.
func (c *rpcConn) progressed(params []byte) {
	var p struct {
		Token json.RawMessage `json:"progressToken"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	token := message{id: p.Token}
	id, ok := token.callID()
	if !ok {
		return
	}
	c.mu.Lock()
	w := c.pending[id]
	c.mu.Unlock()
	if w == nil || w.note == nil {
		return
	}
	select {
	case w.progress <- struct{}{}:
	default:
	}
	c.later(func() { w.note(params) })
}

// cancelled ends a call that the server has given up.
func (c *rpcConn) cancelled(params []byte) {
	var p struct {
		ID     json.RawMessage `json:"requestId"`
		Reason json.RawMessage `json:"reason"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	target := message{id: p.ID}
	id, ok := target.callID()
	if !ok {
		return
	}
	w := c.take(id)
	if w == nil {
		return
	}
	text := "the server has cancelled the call"
	if reason := clean(plain(p.Reason), 300); reason != "" && reason != "null" {
		text += ": " + reason
	}
	w.answer <- reply{err: errors.New(text)}
}

// cloneAnswer copies the members of a response.
func (m message) cloneAnswer() message {
	m.result, m.rpcErr = bytes.Clone(m.result), bytes.Clone(m.rpcErr)
	return m
}
