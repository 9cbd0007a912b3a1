package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// Limits of results that ask for input.
const (
	maxInputRounds = 10
	maxInputs      = 64 // requests in one result
	maxIdleRounds  = 3  // results in a row that ask for nothing but another try

	codeVisitFirst = -32042 // the user has to visit an address first
)

// wantsInput is a result that asks for input before there is a real one.
type wantsInput struct {
	ResultType string                     `json:"resultType"`
	Requests   map[string]json.RawMessage `json:"inputRequests"`
	State      json.RawMessage            `json:"requestState"`
}

// ask sends a request whose result may ask for input, as revision 2026-07-28
// has servers do, gives that input, and sends the request again until there
// is a real result. Each sending has the limit to itself, since the answers
// may be a human's.
func (s *session) ask(ctx context.Context, limit time.Duration, method string, p params) (json.RawMessage, error) {
	members, idle, visited := p.members, 0, false
	for range maxInputRounds {
		raw, err := s.request(ctx, limit, method, p)
		if !visited && s.visit(ctx, err) {
			visited = true // the server refused, so asking again repeats nothing
			continue
		}
		if err != nil || !s.modern() || !bytes.Contains(raw, []byte("input_required")) {
			return raw, err
		}
		var w wantsInput
		if json.Unmarshal(raw, &w) != nil || w.ResultType != string(gomcp.ResultTypeInputRequired) {
			return raw, nil
		}
		if idle++; len(w.Requests) > 0 {
			idle = 0
		}
		if idle >= maxIdleRounds || len(w.Requests) > maxInputs {
			break
		}
		answers, err := s.inputs(ctx, w.Requests)
		if err != nil {
			return nil, err
		}
		p.members = append(bytes.Clone(members), answers...)
		if w.State = notNull(w.State); w.State != nil {
			p.members = append(append(p.members, `,"requestState":`...), w.State...)
		}
	}
	return nil, errors.New("the server keeps asking for input")
}

// visit shows the user the addresses that a refusal (-32042) wants visited
// first, and says whether all were accepted.
func (s *session) visit(ctx context.Context, err error) bool {
	var refused *RPCError
	if !errors.As(err, &refused) || refused.Code != codeVisitFirst || s.cfg.Handlers.Elicit == nil {
		return false
	}
	var d struct {
		Elicitations []struct {
			URL     string `json:"url"`
			Message string `json:"message"`
			ID      string `json:"elicitationId"`
		} `json:"elicitations"`
	}
	if json.Unmarshal(refused.Data, &d) != nil || len(d.Elicitations) == 0 || len(d.Elicitations) > maxInputs {
		return false
	}
	for _, e := range d.Elicitations {
		got, err := s.cfg.Handlers.Elicit(ctx, &ElicitRequest{Server: s.cfg.Name, Message: e.Message, URL: e.URL, ID: e.ID})
		if err != nil || got == nil || got.Action != "accept" {
			return false
		}
	}
	return true
}

// inputs answers what a result asks for, side by side, and gives the member to
// add to the request.
func (s *session) inputs(ctx context.Context, requests map[string]json.RawMessage) ([]byte, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]json.RawMessage{}
	for name, raw := range requests {
		all.Go(func() {
			answer, err := s.input(ctx, raw)
			if err != nil {
				cancel(fmt.Errorf("the server asks for input that it cannot get: %w", err))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answers[name] = answer
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	raw, err := encode(answers)
	return append([]byte(`,"inputResponses":`), raw...), err
}

// input answers one request within a result.
func (s *session) input(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	var r struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, badAnswer(err)
	}
	answer, err := s.asked(ctx, r.Method, notNull(r.Params))
	if err != nil {
		return nil, err
	}
	return encode(answer)
}

// headers gives the headers that revision 2026-07-28 wants with a request over
// HTTP: its method, what it is about, and the arguments that t's schema marks.
func (s *session) headers(method, about string, t *Tool, p *params) http.Header {
	if !s.remote || !s.modern() {
		return nil
	}
	h := http.Header{}
	h.Set(gomcp.HeaderMethod, method)
	if text, ok := gomcp.EncodeHeaderValue(about); ok && about != "" {
		h.Set(gomcp.HeaderName, text)
	}
	if t == nil || !marksHeaders(t) {
		return h
	}
	tool := gomcp.Tool{RawInputSchema: t.Schema}
	body := append(append([]byte{'{'}, p.members...), '}')
	for name, text := range gomcp.GenerateParamHeaders(&tool, body) {
		h.Set(name, text)
	}
	return h
}

// marksHeaders says whether a tool's schema wants arguments as headers.
func marksHeaders(t *Tool) bool { return bytes.Contains(t.Schema, []byte(`"x-mcp-header"`)) }

// checkHeaders refuses a tool whose schema asks for headers in a way that is
// not allowed.
func (s *session) checkHeaders(t *Tool) error {
	if !s.remote || !s.modern() || !marksHeaders(t) {
		return nil
	}
	if err := gomcp.ValidateParamHeaderAnnotations(&gomcp.Tool{RawInputSchema: t.Schema}); err != nil {
		return fmt.Errorf("the headers that '%s' asks for are not valid: %s", clean(t.Name, 100), clean(err.Error(), 200))
	}
	return nil
}
