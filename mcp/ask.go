package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// capabilities tells what we can be asked, which is what has a handler.
func (s *session) capabilities() gomcp.ClientCapabilities {
	var caps gomcp.ClientCapabilities
	h := &s.cfg.Handlers
	if h.Sample != nil {
		caps.Sampling = &gomcp.SamplingCapability{}
	}
	if h.Elicit != nil {
		caps.Elicitation = &gomcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}
	}
	if h.Roots != nil {
		caps.Roots = &struct {
			ListChanged bool `json:"listChanged,omitempty"`
		}{}
	}
	return caps
}

func (s *session) clientOptions() []client.ClientOption {
	opts := []client.ClientOption{client.WithClientCapabilities(s.capabilities())}
	h := &s.cfg.Handlers
	if h.Sample != nil {
		opts = append(opts, client.WithSamplingHandler(asker{s}))
	}
	if h.Elicit != nil {
		opts = append(opts, client.WithElicitationHandler(asker{s}))
	}
	if h.Roots != nil {
		opts = append(opts, client.WithRootsHandler(asker{s}))
	}
	return opts
}

// asked answers a request of the server by way of mcp-go's client, which
// decodes it and calls the asker.
func (s *session) asked(ctx context.Context, method string, raw []byte) (any, error) {
	serve := s.shim.serveRequest.Load()
	h := &s.cfg.Handlers
	can := map[string]bool{
		string(gomcp.MethodSamplingCreateMessage): h.Sample != nil,
		string(gomcp.MethodElicitationCreate):     h.Elicit != nil,
		string(gomcp.MethodListRoots):             h.Roots != nil,
	}
	if !can[method] || serve == nil {
		return nil, &RPCError{Code: codeMethodNotFound, Message: "method not found: " + method}
	}
	req := transport.JSONRPCRequest{JSONRPC: gomcp.JSONRPC_VERSION, ID: gomcp.NewRequestId(int64(1)), Method: method}
	if raw != nil {
		req.Params = json.RawMessage(raw)
	}
	answer, err := (*serve)(context.WithValue(ctx, askedKey{}, raw), req)
	if err != nil {
		return nil, err
	}
	return answer.Result, nil
}

// askedKey finds, in the context of an answer, the parameters as they came: the
// order of a form's fields is in no decoded schema.
type askedKey struct{}

func rawSchema(ctx context.Context) (json.RawMessage, error) {
	raw, _ := ctx.Value(askedKey{}).([]byte)
	var p struct {
		RequestedSchema json.RawMessage `json:"requestedSchema"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || len(p.RequestedSchema) == 0 {
		return nil, errors.New("the request has no schema")
	}
	return p.RequestedSchema, nil
}

// asker answers what mcp-go's client was asked, with the handlers.
type asker struct{ s *session }

// Elicit asks the user.
func (a asker) Elicit(ctx context.Context, req gomcp.ElicitationRequest) (*gomcp.ElicitationResult, error) {
	ask := &ElicitRequest{Server: a.s.cfg.Name, Message: req.Params.Message, URL: req.Params.URL, ID: req.Params.ElicitationID}
	if req.Params.RequestedSchema != nil {
		schema, err := rawSchema(ctx)
		if err != nil {
			schema, err = encode(req.Params.RequestedSchema)
		}
		if err != nil {
			return nil, err
		}
		ask.Schema = schema
	}
	got, err := a.s.cfg.Handlers.Elicit(ctx, ask)
	if err != nil {
		return nil, err
	}
	out := &gomcp.ElicitationResult{}
	out.Action = gomcp.ElicitationResponseAction(got.Action)
	if len(got.Content) > 0 {
		out.Content = got.Content
	}
	return out, nil
}

// CreateMessage asks the model.
func (a asker) CreateMessage(ctx context.Context, req gomcp.CreateMessageRequest) (*gomcp.CreateMessageResult, error) {
	ask := &SampleRequest{Server: a.s.cfg.Name, System: req.SystemPrompt, MaxTokens: req.MaxTokens, Stop: req.StopSequences}
	if req.Temperature != 0 {
		ask.Temperature = &req.Temperature
	}
	if req.ModelPreferences != nil {
		for _, hint := range req.ModelPreferences.Hints {
			ask.ModelHints = append(ask.ModelHints, hint.Name)
		}
	}
	for _, m := range req.Messages {
		raw, err := encode(m.Content)
		if err != nil {
			return nil, err
		}
		ask.Messages = append(ask.Messages, Message{Role: string(m.Role), Blocks: parseBlocks(raw)})
	}
	got, err := a.s.cfg.Handlers.Sample(ctx, ask)
	if err != nil {
		return nil, err
	}
	if got == nil {
		return nil, errors.New("no answer")
	}
	out := &gomcp.CreateMessageResult{Model: got.Model, StopReason: got.StopReason}
	if out.StopReason == "" {
		out.StopReason = "endTurn"
	}
	out.Role, out.Content = gomcp.RoleAssistant, gomcp.NewTextContent(got.Text)
	return out, nil
}

// ListRoots gives the roots.
func (a asker) ListRoots(ctx context.Context, _ gomcp.ListRootsRequest) (*gomcp.ListRootsResult, error) {
	roots, err := a.s.cfg.Handlers.Roots(ctx)
	if err != nil {
		return nil, err
	}
	out := &gomcp.ListRootsResult{Roots: make([]gomcp.Root, len(roots))}
	for i, r := range roots {
		out.Roots[i] = gomcp.Root{URI: r.URI, Name: r.Name}
	}
	return out, nil
}
