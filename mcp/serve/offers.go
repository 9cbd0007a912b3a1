package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	gomcp "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// maxCompletions is the most values that the protocol lets one completion have.
const maxCompletions = 100

// Resource is a resource, or a template of resources.
type Resource struct {
	// URI is an RFC 6570 template where it has braces in it.
	URI, Name, Description, MIME string
	// Read gives the result of resources/read. The arguments of the call are an
	// object of what stands for the names of the template, each a string; whoever
	// reads a resource cannot be asked.
	Read func(ctx context.Context, c *Call) (*Result, error)
	// Complete gives values for a name of the template.
	Complete Complete
}

// Prompt is a prompt.
type Prompt struct {
	Name, Description string
	Arguments         []Argument
	// Get gives the result of prompts/get. The arguments of the call are an object
	// of strings.
	Get func(ctx context.Context, c *Call) (*Result, error)
	// Complete gives values for an argument.
	Complete Complete
}

// Argument is an argument of a prompt.
type Argument struct {
	Name     string
	Required bool
}

// Complete gives the values of the argument name that go on from what is typed so
// far. A nil Complete knows none.
type Complete func(ctx context.Context, c *Call, name, typed string) ([]string, error)

// offers gives the options for resources and prompts.
func (s *Server) offers(open *calls) []server.ServerOption {
	var opts []server.ServerOption
	if len(s.Resources) > 0 {
		opts = append(opts, server.WithResourceCapabilities(true, false), server.WithHooks(s.followers.hooks()))
	}
	if len(s.Prompts) > 0 {
		opts = append(opts, server.WithPromptCapabilities(false))
	}
	if len(s.Resources)+len(s.Prompts) > 0 {
		c := &completer{server: s, open: open}
		opts = append(opts, server.WithCompletions(), server.WithPromptCompletionProvider(c), server.WithResourceCompletionProvider(c))
	}
	return opts
}

func (r *Resource) add(srv *server.MCPServer, open *calls) {
	read := func(ctx context.Context, req gomcp.ReadResourceRequest) ([]gomcp.ResourceContents, error) {
		return r.read(ctx, open, req)
	}
	if !strings.Contains(r.URI, "{") {
		srv.AddResource(gomcp.NewResource(r.URI, r.Name, gomcp.WithResourceDescription(r.Description), gomcp.WithMIMEType(r.MIME)), read)
		return
	}
	srv.AddResourceTemplate(gomcp.NewResourceTemplate(r.URI, r.Name, gomcp.WithTemplateDescription(r.Description), gomcp.WithTemplateMIMEType(r.MIME)), read)
}

func (r *Resource) read(ctx context.Context, open *calls, req gomcp.ReadResourceRequest) ([]gomcp.ResourceContents, error) {
	args := map[string]string{}
	if strings.Contains(r.URI, "{") {
		args = textArgs(req.Params.Arguments)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	w := &work{what: "the resource '" + req.Params.URI + "'", run: r.Read, mute: true}
	o, err := open.handle(ctx, w, &Call{Args: raw, URI: req.Params.URI}, nil, req.Params.Meta)
	if err == nil {
		err = o.err
	}
	if err != nil {
		return nil, err
	}
	got, err := gomcp.ParseReadResourceResult(&o.result.Structured)
	if err != nil {
		return nil, fmt.Errorf("what the resource gives is not valid: %w", err)
	}
	return got.Contents, nil
}

// textArgs gives what a URI has for the names of a template.
func textArgs(args map[string]any) map[string]string {
	out := map[string]string{}
	for name, v := range args {
		switch v := v.(type) {
		case string:
			out[name] = v
		case []string:
			out[name] = strings.Join(v, ",")
		}
	}
	return out
}

func (p *Prompt) add(srv *server.MCPServer, open *calls) {
	d := gomcp.NewPrompt(p.Name, gomcp.WithPromptDescription(p.Description))
	for _, a := range p.Arguments {
		d.Arguments = append(d.Arguments, gomcp.PromptArgument{Name: a.Name, Required: a.Required})
	}
	srv.AddPrompt(d, func(ctx context.Context, req gomcp.GetPromptRequest) (*gomcp.GetPromptResult, error) {
		return p.get(ctx, open, req)
	})
}

func (p *Prompt) get(ctx context.Context, open *calls, req gomcp.GetPromptRequest) (*gomcp.GetPromptResult, error) {
	args := req.Params.Arguments
	if args == nil {
		args = map[string]string{}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	o, err := open.handle(ctx, &work{what: "the prompt '" + p.Name + "'", run: p.Get}, &Call{Args: raw}, &req.Params.MultiRoundTripParams, req.Params.Meta)
	switch {
	case err != nil:
		return nil, err
	case o.questions != nil:
		return o.questions.PromptResult(), nil
	case o.err != nil:
		return nil, o.err
	}
	got, err := gomcp.ParseGetPromptResult(&o.result.Structured)
	if err != nil {
		return nil, fmt.Errorf("what the prompt gives is not valid: %w", err)
	}
	return got, nil
}

// completer answers completion/complete.
type completer struct {
	server *Server
	open   *calls
}

// CompletePromptArgument completes an argument of a prompt.
func (c *completer) CompletePromptArgument(ctx context.Context, prompt string, a gomcp.CompleteArgument, _ gomcp.CompleteContext) (*gomcp.Completion, error) {
	for i := range c.server.Prompts {
		if p := &c.server.Prompts[i]; p.Name == prompt {
			return c.complete(ctx, p.Complete, a)
		}
	}
	return nil, fmt.Errorf("there is no prompt '%s'", prompt)
}

// CompleteResourceArgument completes a name of a template of resources.
func (c *completer) CompleteResourceArgument(ctx context.Context, uri string, a gomcp.CompleteArgument, _ gomcp.CompleteContext) (*gomcp.Completion, error) {
	for i := range c.server.Resources {
		if r := &c.server.Resources[i]; r.URI == uri {
			return c.complete(ctx, r.Complete, a)
		}
	}
	return nil, fmt.Errorf("there is no resource '%s'", uri)
}

func (c *completer) complete(ctx context.Context, f Complete, a gomcp.CompleteArgument) (*gomcp.Completion, error) {
	if f == nil {
		return &gomcp.Completion{Values: []string{}}, nil
	}
	var values []string
	w := &work{what: "a completion", mute: true, run: func(ctx context.Context, call *Call) (_ *Result, err error) {
		values, err = f(ctx, call, a.Name, a.Value)
		return nil, err
	}}
	o, err := c.open.handle(ctx, w, &Call{}, nil, nil)
	if err = errors.Join(err, o.err); err != nil {
		return nil, err
	}
	most := min(len(values), maxCompletions)
	return &gomcp.Completion{Values: values[:most], Total: len(values), HasMore: most < len(values)}, nil
}
