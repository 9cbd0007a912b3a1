package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	gomcp "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/sense-lang/sense/mcp"
)

const (
	// answerTime is how long a call waits for the answer of a client's user.
	answerTime = 10 * time.Minute
	// endTime is how long the end of a server waits for calls to end.
	endTime = 5 * time.Second
	// maxWaiting bounds the calls that wait for one.
	maxWaiting = 1000
	// answerKey is the name of a single question, and of the text that answers it.
	answerKey = "answer"
)

var (
	errNoAnswer = errors.New("the user of the client gave no answer")
	errCannot   = errors.New("the client cannot ask its user (it does not offer elicitation)")
	errNoModel  = errors.New("the client lends no model (it does not offer sampling)")
	errNoRoots  = errors.New("the client tells no roots (it does not offer them)")
	errAsksNot  = errors.New("whoever reads a resource cannot be asked")
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

// work is what a request has run.
type work struct {
	what string // such as "the tool 'x'", which tells it from other work
	run  func(ctx context.Context, c *Call) (*Result, error)
	mute bool // the client cannot be asked
}

// outcome is what a request comes to: a result or an error, or questions first.
type outcome struct {
	result    *Result
	err       error
	questions *server.InputRequestBuilder
}

// running is a call.
type running struct {
	work     *work
	ctx      context.Context
	stop     context.CancelCauseFunc
	ask      chan []mcp.Question
	answers  chan []mcp.Answer
	done     chan struct{} // closed when the call is over
	result   *Result
	err      error
	panicked any

	open    []mcp.Question // the questions that are with the client
	refused error          // why the last questions could not be put
	detach  func() bool
	late    *time.Timer

	mu   sync.Mutex
	from *request // the one that waits for the call
}

// request is a client's, while it is open.
type request struct {
	ctx   context.Context
	token gomcp.ProgressToken // nil where the client wants no progress
}

// handle begins what a request asks for, or goes on with it where the request brings
// answers.
func (c *calls) handle(ctx context.Context, w *work, call *Call, p *gomcp.MultiRoundTripParams, meta *gomcp.Meta) (outcome, error) {
	req := &request{ctx: ctx}
	if meta != nil {
		req.token = meta.ProgressToken
	}
	if p != nil && p.RequestState != "" {
		return c.resume(req, w, p)
	}
	call.Client, call.Can = clientOf(ctx)
	return c.begin(req, w, call)
}

// begin runs a call until it is over or asks something.
func (c *calls) begin(req *request, w *work, call *Call) (outcome, error) {
	r := &running{work: w, ask: make(chan []mcp.Question), answers: make(chan []mcp.Answer), done: make(chan struct{})}
	r.ctx, r.stop = context.WithCancelCause(c.ctx)
	r.lend(call)
	c.work.Go(func() {
		defer close(r.done)
		defer func() { r.panicked = recover() }()
		r.result, r.err = w.run(r.ctx, call)
	})
	return c.attend(req, r)
}

// lend gives a call what it may ask and tell its client.
func (r *running) lend(call *Call) {
	call.Put = r.put
	call.Ask = func(ctx context.Context, message string) (string, error) {
		answers, err := r.put(ctx, []mcp.Question{{Name: answerKey, Message: message, Form: textForm()}})
		if err != nil {
			return "", err
		}
		return textOf(&answers[0])
	}
	call.Progress, call.Log = r.progress, r.log
}

// put puts questions and waits for their answers.
func (r *running) put(ctx context.Context, questions []mcp.Question) ([]mcp.Answer, error) {
	select {
	case r.ask <- questions:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
	select {
	case a := <-r.answers:
		return a, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// attend follows a call for a request, whose end ends the call.
func (c *calls) attend(req *request, r *running) (outcome, error) {
	ctx := req.ctx
	r.heldBy(req)
	defer r.heldBy(nil)
	r.detach = context.AfterFunc(ctx, func() { r.stop(context.Cause(ctx)) })
	for {
		select {
		case r.open = <-r.ask:
			if err := r.work.mayAsk(ctx, r.open); err != nil {
				r.refused = err
				r.tell(allFailed(r.open, err))
				continue
			}
			return c.park(ctx, r)
		case <-r.done:
			r.detach()
			r.stop(nil)
			return r.outcome(ctx)
		}
	}
}

// outcome tells what a call that is over came to. A failure for what the client does
// not offer is one of the request from 2026-07-28 on.
func (r *running) outcome(ctx context.Context) (outcome, error) {
	switch {
	case r.panicked != nil:
		return outcome{}, fmt.Errorf("%s failed by a panic: %v", r.work.what, r.panicked)
	case r.err != nil && r.refused != nil && gomcp.IsModernProtocol(server.RequestProtocolVersion(ctx)):
		if name, ok := capabilities[r.refused]; ok && strings.Contains(r.err.Error(), r.refused.Error()) {
			return outcome{}, &missing{name, r.err.Error()}
		}
	}
	return outcome{result: r.result, err: r.err}, nil
}

// capabilities names what a client lacks.
var capabilities = map[error]string{errCannot: "elicitation", errNoModel: "sampling", errNoRoots: "roots"}

// tell gives a call its answers, unless it is over.
func (r *running) tell(a []mcp.Answer) {
	select {
	case r.answers <- a:
	case <-r.done:
	}
}

// mayAsk says why the client cannot be asked.
func (w *work) mayAsk(ctx context.Context, questions []mcp.Question) error {
	if w.mute {
		return errAsksNot
	}
	_, can := clientOf(ctx)
	for _, q := range questions {
		switch kind := kindOf(q); {
		case kind == sampling && !can.Sampling:
			return errNoModel
		case kind == elicitation && !can.Elicitation:
			return errCannot
		case kind == listRoots && !can.Roots:
			return errNoRoots
		}
	}
	return nil
}

// park sends the open questions to the client and keeps the call until the answers
// come. A client of an older revision is asked while its request goes on.
func (c *calls) park(ctx context.Context, r *running) (outcome, error) {
	if gomcp.IsModernProtocol(server.RequestProtocolVersion(ctx)) {
		r.detach()
	}
	state := rand.Text()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) >= maxWaiting {
		r.stop(errTooMany)
		return outcome{err: errTooMany}, nil
	}
	c.waiting[state] = r
	r.late = time.AfterFunc(answerTime, func() {
		if c.take(state) != nil {
			r.stop(errNoAnswer)
		}
	})
	b := server.NewInputRequestBuilder("").RequestState(state)
	for _, q := range r.open {
		addQuestion(b, q)
	}
	return outcome{questions: b}, nil
}

// take gives the call that waits under a state, once.
func (c *calls) take(state string) *running {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.waiting[state]
	delete(c.waiting, state)
	return r
}

// resume goes on with a call that waits, with the answers that the client brings.
func (c *calls) resume(req *request, w *work, p *gomcp.MultiRoundTripParams) (outcome, error) {
	ctx := req.ctx
	r := c.take(p.RequestState)
	if r == nil {
		return outcome{}, errors.New("no call waits under this request state")
	}
	r.late.Stop()
	r.detach()
	if r.work.what != w.what {
		r.stop(errNoAnswer)
		return outcome{}, fmt.Errorf("the request state does not belong to %s", w.what)
	}
	answers, ok := answersTo(r.open, p.InputResponses)
	if !ok { // the client has not asked: it is to ask again
		r.detach = context.AfterFunc(ctx, func() { r.stop(context.Cause(ctx)) })
		return c.park(ctx, r)
	}
	r.tell(answers)
	return c.attend(req, r)
}

// clientOf gives the name of a request's client and what it can be asked for.
func clientOf(ctx context.Context) (name string, can mcp.CanAsk) {
	s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	if !ok {
		return "", can
	}
	has := s.GetClientCapabilities()
	return s.GetClientInfo().Name, mcp.CanAsk{Elicitation: has.Elicitation != nil, Sampling: has.Sampling != nil, Roots: has.Roots != nil}
}
