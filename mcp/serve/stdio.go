package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/sense-lang/sense/internal/lines"
)

// lastAnswers is how long the end of the input waits for calls that still run.
const lastAnswers = 30 * time.Second

const methodInitialize = "initialize"

// Stdio serves a client on in and out until in ends and all that was asked for
// is answered, or ctx ends. It gives ctx's error when that ends first. A read
// of in that blocks may outlive it.
func Stdio(ctx context.Context, s *Server, in io.Reader, out io.Writer) error {
	inner, stop := context.WithCancelCause(ctx)
	srv, open := s.build(inner)
	defer open.end()
	defer stop(nil)
	std := server.NewStdioServer(srv)
	std.SetErrorLogger(log.New(io.Discard, "", 0)) // it has the client told as well
	r, w := io.Pipe()
	defer r.Close()
	gate := &gate{out: out, quiet: make(chan struct{}, 1), broken: stop}
	go func() {
		gate.copy(inner, in, w)
		_ = w.Close() // it always succeeds
	}()
	err := std.Listen(inner, r, gate)
	if cause := context.Cause(inner); cause != nil {
		return cause
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// gate counts what is asked and what is answered.
type gate struct {
	out    io.Writer
	quiet  chan struct{} // told when the last open request is answered
	broken context.CancelCauseFunc

	mu   sync.Mutex
	open int
}

// copy hands messages on, one a line, and waits at the end for the answers.
func (g *gate) copy(ctx context.Context, in io.Reader, w io.Writer) {
	messages := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := lines.Read(messages, maxMessage)
		switch {
		case tooLong:
			g.refuse(fmt.Sprintf("message larger than %d bytes", maxMessage))
		case len(line) > 0:
			first := g.count(line, 1) == methodInitialize
			if _, werr := w.Write(append(hideArgs(line), '\n')); werr != nil {
				return
			}
			if first { // requests run side by side, and all need what it says
				g.settle(ctx)
			}
		}
		if err != nil {
			g.settle(ctx)
			return
		}
	}
}

// count notes a request, or an answer. It gives the method of a request that
// none other was open before.
func (g *gate) count(line []byte, by int) (alone string) {
	var head struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(line, &head) != nil || len(head.ID) == 0 || string(head.ID) == "null" || (head.Method != "") != (by > 0) {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open += by; g.open <= 0 {
		select {
		case g.quiet <- struct{}{}:
		default:
		}
	}
	if by > 0 && g.open == 1 {
		return head.Method
	}
	return ""
}

// settle waits until every request is answered.
func (g *gate) settle(ctx context.Context) {
	t := time.NewTimer(lastAnswers)
	defer t.Stop()
	for {
		g.mu.Lock()
		open := g.open
		g.mu.Unlock()
		if open <= 0 {
			return
		}
		select {
		case <-g.quiet:
		case <-t.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Write passes one message of the server on.
func (g *gate) Write(b []byte) (int, error) {
	out, _ := amend(b)
	g.mu.Lock()
	_, err := g.out.Write(out)
	g.mu.Unlock()
	if err != nil {
		g.broken(fmt.Errorf("cannot write to the client: %w", err))
		return 0, err
	}
	for line := range bytes.Lines(b) {
		g.count(line, -1)
	}
	return len(b), nil
}

// refuse answers what cannot be read.
func (g *gate) refuse(text string) {
	line, _ := json.Marshal(map[string]any{ // texts and numbers are always encoded
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": -32700, "message": text},
	})
	_, _ = g.Write(append(line, '\n')) // a failure ends the server
}
