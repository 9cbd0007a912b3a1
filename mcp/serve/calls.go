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
	errNoModel  = errors.New("the client lends no model (it does not offer sampling)")
	errNoWords  = errors.New("the client's model gave no answer")
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
	ask      chan *wish
	answer   chan reply
	done     chan struct{} // closed when the call is over
	result   *Result
	err      error
	panicked any

	question *wish // the open one
	detach   func() bool
	late     *time.Timer

	mu   sync.Mutex
	from *request // the one that waits for the call
}

// request is a client's, while it is open.
type request struct {
	ctx   context.Context
	token mcp.ProgressToken // nil where the client wants no progress
}

// wish is what a call asks its client: something of the user, by a form, or
// of the model.
type wish struct {
	message string
	form    map[string]any // the schema of a form; nil asks for a text
	sample  *mcp.CreateMessageParams
}

type reply struct {
	text    string         // a text's, or the model's
	content map[string]any // a form's
	err     error
}

// begin runs a call until it is over or asks something.
func (c *calls) begin(req *request, t *Tool, call *Call) (*mcp.CallToolResult, error) {
	r := &running{tool: t, ask: make(chan *wish), answer: make(chan reply), done: make(chan struct{})}
	r.ctx, r.stop = context.WithCancelCause(c.ctx)
	r.lend(call)
	c.work.Go(func() {
		defer close(r.done)
		defer func() { r.panicked = recover() }()
		r.result, r.err = t.Call(r.ctx, call)
	})
	return c.attend(req, r)
}

// lend gives a call what it may ask and tell its client.
func (r *running) lend(call *Call) {
	call.Ask = func(ctx context.Context, message string) (string, error) {
		a := r.wait(ctx, &wish{message: message})
		return a.text, a.err
	}
	call.Form = func(ctx context.Context, message string, schema map[string]any) (map[string]any, error) {
		a := r.wait(ctx, &wish{message: message, form: schema})
		return a.content, a.err
	}
	call.Sample = func(ctx context.Context, prompt, system string, maxTokens int) (string, error) {
		a := r.wait(ctx, &wish{sample: &mcp.CreateMessageParams{
			Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(prompt)}},
			MaxTokens: maxTokens, SystemPrompt: system,
		}})
		return a.text, a.err
	}
	call.Progress, call.Log = r.progress, r.log
}

// wait puts a question and waits for its answer.
func (r *running) wait(ctx context.Context, q *wish) reply {
	select {
	case r.ask <- q:
	case <-ctx.Done():
		return reply{err: context.Cause(ctx)}
	case <-r.ctx.Done():
		return reply{err: context.Cause(r.ctx)}
	}
	select {
	case a := <-r.answer:
		return a
	case <-ctx.Done():
		return reply{err: context.Cause(ctx)}
	case <-r.ctx.Done():
		return reply{err: context.Cause(r.ctx)}
	}
}

// attend follows a call for a request, whose end ends the call.
func (c *calls) attend(req *request, r *running) (*mcp.CallToolResult, error) {
	ctx := req.ctx
	r.heldBy(req)
	defer r.heldBy(nil)
	r.detach = context.AfterFunc(ctx, func() { r.stop(context.Cause(ctx)) })
	for {
		select {
		case r.question = <-r.ask:
			if err := mayAsk(ctx, r.question); err != nil {
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
func mayAsk(ctx context.Context, q *wish) error {
	s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	switch {
	case q.sample != nil && (!ok || s.GetClientCapabilities().Sampling == nil):
		return errNoModel
	case q.sample == nil && (!ok || s.GetClientCapabilities().Elicitation == nil):
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
	return r.question.put(server.NewInputRequestBuilder("").RequestState(state)).ToolResult(), nil
}

// put adds the question to what goes to the client.
func (q *wish) put(b *server.InputRequestBuilder) *server.InputRequestBuilder {
	if q.sample != nil {
		return b.Sample(answerKey, *q.sample)
	}
	schema := q.form
	if schema == nil {
		schema = map[string]any{
			"type":       "object",
			"properties": map[string]any{answerKey: map[string]any{"type": "string", "title": "Answer"}},
			"required":   []string{answerKey},
		}
	}
	return b.Elicit(answerKey, mcp.ElicitationParams{Mode: mcp.ElicitationModeForm, Message: q.message, RequestedSchema: schema})
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
func (c *calls) resume(req *request, t *Tool, p *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	ctx := req.ctx
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
	a, ok := r.question.answer(p.InputResponses)
	if !ok { // the client has not asked: it is to ask again
		r.detach = context.AfterFunc(ctx, func() { r.stop(context.Cause(ctx)) })
		return c.park(ctx, r)
	}
	r.tell(a)
	return c.attend(req, r)
}

// answer finds the answer in what the client brings.
func (q *wish) answer(responses mcp.InputResponses) (a reply, ok bool) {
	if q.sample != nil {
		m := server.SamplingResponse(responses, answerKey)
		if m == nil {
			return reply{}, false
		}
		return wordsOf(m), true
	}
	e := server.ElicitationResponse(responses, answerKey)
	if e == nil {
		return reply{}, false
	}
	if q.form == nil {
		return replyOf(e), true
	}
	content, ok := e.Content.(map[string]any)
	if e.Action != mcp.ElicitationResponseActionAccept || !ok {
		return reply{err: errNoAnswer}, true
	}
	return reply{content: content}, true
}

// wordsOf gives the text of a model's answer.
func wordsOf(m *mcp.CreateMessageResult) reply {
	switch c := m.Content.(type) {
	case mcp.TextContent:
		return reply{text: c.Text}
	case map[string]any:
		if text, ok := c["text"].(string); ok && c["type"] == "text" {
			return reply{text: text}
		}
	}
	return reply{err: errNoWords}
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
