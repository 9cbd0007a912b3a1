// Package fileserver is the built-in MCP server for one folder: it lets a client list, read, write, edit and search
// files below that folder and nowhere else.
//
// Tool names, arguments and the text of results are those of the widely used npm filesystem server, so that a script
// or a prompt written for one works with the other. What differs is confinement: every access goes through [os.Root],
// so that no symbolic link, "..", or rename made while a call is running leads outside, and every result is bounded.
//
// The tour: serve.go reads messages and keeps their order, tools.go is the table of tools, args.go checks arguments,
// folder.go turns a client's path into a name below the folder; the other files each hold a few tools.
package fileserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/sense-lang/sense/internal/lines"
)

const (
	maxMessage = 64 << 20 // bytes of one incoming message
	maxQueued  = 256      // messages read ahead of the one being dispatched
	maxAtOnce  = 4        // calls running side by side
)

// Serve answers MCP messages, one a line, from in on out until in ends, and confines all file access to dir.
// With readOnly the tools that change something are not offered at all.
//
// Calls that only read run side by side; a call that changes something waits for those before it and runs alone, so
// that a client that sends several calls at once sees them happen in the order it sent them.
//
// Serve returns nil when in ends, after everything asked for has been answered; ctx's error when ctx ends first, after
// the running calls were cancelled; an error when dir is no folder or out can not be written. It does not close in or
// out: when ctx ends while in still blocks, one goroutine stays until that read returns.
func Serve(ctx context.Context, dir string, readOnly bool, in io.Reader, out io.Writer) error {
	folder, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer folder.close()
	srv := server.NewMCPServer("sense-filesystem", "1", server.WithToolCapabilities(false), server.WithRecovery())
	changes := register(srv, folder, readOnly)

	sess := new(session)
	if err := srv.RegisterSession(ctx, sess); err != nil {
		return fmt.Errorf("cannot start the file server: %w", err)
	}
	defer srv.UnregisterSession(ctx, sess.SessionID())
	ctx, stop := context.WithCancelCause(srv.WithContext(ctx, sess))
	defer stop(nil)

	c := &conn{srv: srv, out: out, changes: changes, stop: stop, slots: make(chan struct{}, maxAtOnce)}
	queue := make(chan message, maxQueued)
	go c.read(ctx, in, queue)
	c.dispatch(ctx, queue)
	c.running.Wait()
	c.finish()
	return context.Cause(ctx)
}

// conn is one client.
type conn struct {
	srv     *server.MCPServer
	changes map[string]bool // names of the tools that change something
	stop    context.CancelCauseFunc
	slots   chan struct{}
	running sync.WaitGroup

	mu   sync.Mutex // guards what follows
	out  io.Writer
	done bool // Serve has returned: out is the caller's again
}

// message is what the read loop needs to know of one incoming line.
type message struct {
	raw     json.RawMessage
	changes bool // a call of a tool that changes something
}

// read parses lines into the queue until in ends. Notifications are handled at once, since a cancellation is about
// calls that are already running and must not wait behind them.
func (c *conn) read(ctx context.Context, in io.Reader, queue chan<- message) {
	defer close(queue)
	messages := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := lines.Read(messages, maxMessage)
		if tooLong && err == nil {
			c.write(failure(fmt.Sprintf("message larger than %d bytes", maxMessage)))
			continue
		}
		if len(line) > 0 && !c.take(ctx, line, queue) {
			return
		}
		if err != nil {
			return
		}
	}
}

// take handles or queues one line and reports whether reading goes on.
func (c *conn) take(ctx context.Context, line []byte, queue chan<- message) bool {
	var head struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		var wrongType *json.UnmarshalTypeError
		if !errors.As(err, &wrongType) || line[0] != '{' {
			c.write(failure("the message is no JSON-RPC object"))
			return true
		}
	}
	switch {
	case len(head.ID) == 0 || string(head.ID) == "null":
		c.srv.HandleMessage(ctx, line)
		return true
	case head.Method == "": // a reply, though this server never asks
		return true
	}
	m := message{raw: line, changes: head.Method == string(mcp.MethodToolsCall) && c.changes[head.Params.Name]}
	select {
	case queue <- m:
		return true
	case <-ctx.Done():
		return false
	}
}

// dispatch runs the queued messages until the queue is closed or ctx ends.
func (c *conn) dispatch(ctx context.Context, queue <-chan message) {
	for {
		select {
		case <-ctx.Done():
			return
		case m, ok := <-queue:
			if !ok {
				return
			}
			c.start(ctx, m)
		}
	}
}

// start runs m: alone when it changes something, else beside at most maxAtOnce-1 others.
func (c *conn) start(ctx context.Context, m message) {
	if m.changes {
		c.running.Wait()
		c.answer(ctx, m.raw)
		return
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	c.running.Go(func() {
		defer func() { <-c.slots }()
		c.answer(ctx, m.raw)
	})
}

// answer runs one request and writes its reply.
func (c *conn) answer(ctx context.Context, raw json.RawMessage) {
	if reply := c.srv.HandleMessage(ctx, raw); reply != nil {
		c.write(reply)
	}
}

// write sends one message as a line. A client that is gone ends the server.
func (c *conn) write(reply any) {
	text, err := json.Marshal(reply)
	if err != nil {
		text, _ = json.Marshal(failure("the answer can not be written as JSON: " + err.Error()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	if _, err := c.out.Write(append(text, '\n')); err != nil {
		c.stop(fmt.Errorf("cannot write to the client: %w", err))
	}
}

// finish lets go of out, which a read loop that outlives ctx must not touch any more.
func (c *conn) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
}

// failure is a JSON-RPC error that belongs to no request.
func failure(text string) any {
	return map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION,
		"id":      nil,
		"error":   map[string]any{"code": mcp.PARSE_ERROR, "message": text},
	}
}

// session is the one client of a server on standard input and output. This server sends no notifications.
type session struct{ ready atomic.Bool }

// SessionID names the session; there is only one.
func (s *session) SessionID() string { return "stdio" }

// NotificationChannel is nil: nothing is ever sent unasked.
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }

// Initialize notes that the client has introduced itself.
func (s *session) Initialize() { s.ready.Store(true) }

// Initialized tells whether Initialize was called.
func (s *session) Initialized() bool { return s.ready.Load() }
