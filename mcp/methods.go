package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// Resource is one resource of a server.
type Resource struct {
	URI, Name, Title, Description, MIMEType string
	Size                                    int64 // in bytes; 0 when not said
	Meta                                    json.RawMessage
}

// ResourceTemplate describes resources whose addresses follow a pattern
// (RFC 6570).
type ResourceTemplate struct {
	URITemplate, Name, Title, Description, MIMEType string
	Meta                                            json.RawMessage
}

// Prompt is a prompt that a server offers.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	Meta                     json.RawMessage
}

// PromptArgument is an argument of a prompt.
type PromptArgument struct {
	Name, Title, Description string
	Required                 bool
}

// PromptResult is a prompt filled in.
type PromptResult struct {
	Description string
	Messages    []Message
}

// Completion is what a server proposes for an argument.
type Completion struct {
	Values  []string
	Total   int // how many there are; 0 when not said
	HasMore bool
}

// CompletionOf says what to complete: an argument of a prompt, or of a
// resource template when Prompt is empty.
type CompletionOf struct {
	Prompt, URITemplate string
	Argument, Value     string            // the argument and what is typed so far
	Known               map[string]string // other arguments that are set already
}

// Resources lists the server's resources. A server that has none, or does not
// know the request, gives none.
func (s *Server) Resources(ctx context.Context) ([]Resource, error) {
	return list[Resource](ctx, s, gomcp.MethodResourcesList, "resources", func(r *Resource) bool { return r.URI != "" })
}

// ResourceTemplates lists the server's resource templates.
func (s *Server) ResourceTemplates(ctx context.Context) ([]ResourceTemplate, error) {
	return list[ResourceTemplate](ctx, s, gomcp.MethodResourcesTemplatesList, "resourceTemplates", func(r *ResourceTemplate) bool { return r.URITemplate != "" })
}

// Prompts lists the server's prompts.
func (s *Server) Prompts(ctx context.Context) ([]Prompt, error) {
	return list[Prompt](ctx, s, gomcp.MethodPromptsList, "prompts", func(p *Prompt) bool { return p.Name != "" })
}

// list reads a whole list. An element that is not usable is left out with a
// warning.
func list[T any](ctx context.Context, s *Server, method gomcp.MCPMethod, key string, ok func(*T) bool) ([]T, error) {
	var out []T
	err := s.with(ctx, func(sess *session) error {
		items, err := sess.pages(ctx, sess.cfg.callTimeout(), string(method), key)
		var refused *RPCError
		if errors.As(err, &refused) && refused.Code == codeMethodNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		out = make([]T, 0, len(items))
		for i, raw := range items {
			var v T
			if depth := jsonDepth(raw); depth > maxDepth || decodeMeta(raw, &v) != nil || !ok(&v) {
				sess.warn(fmt.Sprintf("leaves out element %d of %d of %s, which is not valid", i+1, len(items), method))
				continue
			}
			out = append(out, v)
		}
		return nil
	})
	return out, err
}

// decodeMeta decodes an element of a list, with its _meta member as Meta.
func decodeMeta(raw json.RawMessage, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return err
	}
	if !bytes.Contains(raw, []byte(`"_meta"`)) {
		return nil
	}
	var m struct {
		Meta json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(raw, &m) != nil || notNull(m.Meta) == nil {
		return nil
	}
	return json.Unmarshal(append(append([]byte(`{"Meta":`), m.Meta...), '}'), v)
}

// simple sends a request with the given parameters, about what about names,
// and gives its raw result.
func (s *Server) simple(ctx context.Context, method gomcp.MCPMethod, about string, parameters any) (json.RawMessage, error) {
	raw, err := encode(parameters)
	if err != nil {
		return nil, err
	}
	var out json.RawMessage
	err = s.with(ctx, func(sess *session) error {
		p := params{members: raw[1 : len(raw)-1]}
		p.header = sess.headers(string(method), about, nil, &p)
		out, err = sess.ask(ctx, sess.cfg.callTimeout(), string(method), p)
		return err
	})
	if err == nil && jsonDepth(out) > maxDepth {
		err = fmt.Errorf("the server's answer is nested %d deep, more than %d", jsonDepth(out), maxDepth)
	}
	return out, err
}

// Read reads a resource and gives its contents as blocks of type "resource".
// [RenderBlocks] writes them as text.
func (s *Server) Read(ctx context.Context, uri string) ([]Block, error) {
	raw, err := s.simple(ctx, gomcp.MethodResourcesRead, uri, map[string]string{"uri": uri})
	if err != nil {
		return nil, err
	}
	var r struct {
		Contents []wireResource `json:"contents"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, badAnswer(err)
	}
	blocks := make([]Block, len(r.Contents))
	for i := range r.Contents {
		blocks[i] = r.Contents[i].block()
	}
	return blocks, nil
}

// Prompt fills in a prompt.
func (s *Server) Prompt(ctx context.Context, name string, args map[string]string) (*PromptResult, error) {
	parameters := map[string]any{"name": name}
	if len(args) > 0 {
		parameters["arguments"] = args
	}
	raw, err := s.simple(ctx, gomcp.MethodPromptsGet, name, parameters)
	if err != nil {
		return nil, err
	}
	var r struct {
		Description string `json:"description"`
		Messages    []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, badAnswer(err)
	}
	out := &PromptResult{Description: r.Description}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, Message{Role: m.Role, Blocks: parseBlocks(m.Content)})
	}
	return out, nil
}

// Complete asks for proposals for an argument.
func (s *Server) Complete(ctx context.Context, of CompletionOf) (*Completion, error) {
	ref := map[string]string{"type": "ref/prompt", "name": of.Prompt}
	if of.Prompt == "" {
		ref = map[string]string{"type": "ref/resource", "uri": of.URITemplate}
	}
	parameters := map[string]any{"ref": ref, "argument": map[string]string{"name": of.Argument, "value": of.Value}}
	if len(of.Known) > 0 {
		parameters["context"] = map[string]any{"arguments": of.Known}
	}
	raw, err := s.simple(ctx, gomcp.MethodCompletionComplete, "", parameters)
	if err != nil {
		return nil, err
	}
	var r struct{ Completion Completion }
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, badAnswer(err)
	}
	return &r.Completion, nil
}

// Ping finds out whether the server answers. Where the revision has no ping,
// it asks what the server is.
func (s *Server) Ping(ctx context.Context) error {
	return s.with(ctx, func(sess *session) error {
		method := string(gomcp.MethodPing)
		if sess.modern() {
			method = string(gomcp.MethodServerDiscover)
		}
		_, err := sess.request(ctx, sess.cfg.callTimeout(), method, params{})
		return err
	})
}

// LogLevels lists the levels of log messages, the least first (RFC 5424, as the
// protocol's logging utility takes them).
func LogLevels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// SetLevel asks for log messages of one of LogLevels and above. It holds for later
// connections of this server, too.
func (s *Server) SetLevel(ctx context.Context, level string) error {
	if levels := LogLevels(); !slices.Contains(levels, level) {
		return fmt.Errorf("log level '%s' is none of %s", clean(level, 60), strings.Join(levels, ", "))
	}
	s.mu.Lock()
	s.level = level
	s.mu.Unlock()
	return s.with(ctx, func(sess *session) error { return sess.setLevel(ctx, level) })
}

func (s *session) setLevel(ctx context.Context, level string) error {
	if s.modern() { // it goes with each request
		s.level.Store(&level)
		return nil
	}
	_, err := s.request(ctx, s.cfg.callTimeout(), string(gomcp.MethodSetLogLevel), params{members: append([]byte(`"level":`), quote(level)...)})
	return err
}
