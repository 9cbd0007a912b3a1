package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	// answerTime is how long a call waits for the answer of a client's user.
	answerTime = 10 * time.Minute
	// endTime is how long the end of a server waits for calls to end.
	endTime = 5 * time.Second
	// maxWaiting bounds the calls that wait for one.
	maxWaiting = 1000
	answerKey  = "answer"
)

var (
	errNoAnswer = errors.New("the user of the client gave no answer")
	errCannot   = errors.New("the client cannot ask its user (it does not offer elicitation)")
	errTooMany  = errors.New("too many calls wait for answers")
	errEnded    = errors.New("the server ends")
)

// calls are the calls of one running server. A call that asks its client's user
// outlives the request that began it: the revision of 2026-07-28 has the question
// go out as a result, and a second request bring the answer.
type calls struct {
	ctx  context.Context
	stop context.CancelCauseFunc
	work sync.WaitGroup

	mu      sync.Mutex
	waiting map[string]*running // by the state that the client sends back
}

func newCalls(ctx context.Context) *calls {
	c := &calls{waiting: map[string]*running{}}
	c.ctx, c.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	return c
}

// end ends all calls. It does not wait long for those that do not obey.
func (c *calls) end() {
	c.stop(errEnded)
	over := make(chan struct{})
	go func() { c.work.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(endTime):
	}
}

// running is a call.
type running struct {
	tool     *Tool
	ctx      context.Context
	stop     context.CancelCauseFunc
	ask      chan string
	answer   chan reply
	done     chan struct{} // closed when the call is over
	result   *Result
	err      error
	panicked any

	question string // the open one
	detach   func() bool
	late     *time.Timer
}

type reply struct {
	text string
	err  error
}

// begin runs a call until it is over or asks something.
func (c *calls) begin(ctx context.Context, t *Tool, call *Call) (*mcp.CallToolResult, error) {
	r := &running{tool: t, ask: make(chan string), answer: make(chan reply), done: make(chan struct{})}
	r.ctx, r.stop = context.WithCancelCause(c.ctx)
	call.Ask = r.wait
	c.work.Go(func() {
		defer close(r.done)
		defer func() { r.panicked = recover() }()
		r.result, r.err = t.Call(r.ctx, call)
	})
	return c.attend(ctx, r)
}

// wait puts a question and waits for its answer.
func (r *running) wait(ctx context.Context, question string) (string, error) {
	select {
	case r.ask <- question:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-r.ctx.Done():
		return "", context.Cause(r.ctx)
	}
	select {
	case a := <-r.answer:
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-r.ctx.Done():
		return "", context.Cause(r.ctx)
	}
}

// attend follows a call for a request, whose end ends the call.
func (c *calls) attend(ctx context.Context, r *running) (*mcp.CallToolResult, error) {
	r.detach = context.AfterFunc(ctx, func() { r.stop(context.Cause(ctx)) })
	for {
		select {
		case r.question = <-r.ask:
			if err := mayAsk(ctx); err != nil {
				r.tell(reply{err: err})
				continue
			}
			return c.park(ctx, r)
		case <-r.done:
			r.detach()
			r.stop(nil)
			if r.panicked != nil {
				return nil, fmt.Errorf("the tool '%s' failed by a panic: %v", r.tool.Name, r.panicked)
			}
			return finish(r.result, r.err), nil
		}
	}
}

// tell gives a call its answer, unless it is over.
func (r *running) tell(a reply) {
	select {
	case r.answer <- a:
	case <-r.done:
	}
}

// mayAsk says why the client cannot be asked.
func mayAsk(ctx context.Context) error {
	s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	if !ok || s.GetClientCapabilities().Elicitation == nil {
		return errCannot
	}
	return nil
}

// park sends the open question to the client and keeps the call until the answer
// comes. A client of an older revision is asked while its request goes on.
func (c *calls) park(ctx context.Context, r *running) (*mcp.CallToolResult, error) {
	if mcp.IsModernProtocol(server.RequestProtocolVersion(ctx)) {
		r.detach()
	}
	state := rand.Text()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) >= maxWaiting {
		r.stop(errTooMany)
		return failure(errTooMany), nil
	}
	c.waiting[state] = r
	r.late = time.AfterFunc(answerTime, func() {
		if c.take(state) != nil {
			r.stop(errNoAnswer)
		}
	})
	return server.NewInputRequestBuilder("").RequestState(state).Elicit(answerKey, mcp.ElicitationParams{
		Mode: mcp.ElicitationModeForm, Message: r.question,
		RequestedSchema: map[string]any{
			"type":       "object",
			"properties": map[string]any{answerKey: map[string]any{"type": "string", "title": "Answer"}},
			"required":   []string{answerKey},
		},
	}).ToolResult(), nil
}

// take gives the call that waits under a state, once.
func (c *calls) take(state string) *running {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.waiting[state]
	delete(c.waiting, state)
	return r
}

// resume goes on with a call that waits, with the answer that the client brings.
func (c *calls) resume(ctx context.Context, t *Tool, p *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	r := c.take(p.RequestState)
	if r == nil {
		return nil, errors.New("no call waits under this request state")
	}
	r.late.Stop()
	r.detach()
	if r.tool != t {
		r.stop(errNoAnswer)
		return nil, errors.New("the request state belongs to another tool")
	}
	a := server.ElicitationResponse(p.InputResponses, answerKey)
	if a == nil { // the client has not asked: it is to ask again
		r.detach = context.AfterFunc(ctx, func() { r.stop(context.Cause(ctx)) })
		return c.park(ctx, r)
	}
	r.tell(replyOf(a))
	return c.attend(ctx, r)
}

// replyOf reads an answer. A client that calls its only value by another name is
// understood.
func replyOf(a *mcp.ElicitationResult) reply {
	content, _ := a.Content.(map[string]any)
	text, ok := content[answerKey].(string)
	if len(content) == 1 {
		for _, only := range content {
			text, ok = only.(string)
		}
	}
	if a.Action != mcp.ElicitationResponseActionAccept || !ok {
		return reply{err: errNoAnswer}
	}
	return reply{text: text}
}
