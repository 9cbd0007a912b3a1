package builtins

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
)

// fileURI gives the file: address of an absolute path.
func fileURI(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// object makes a Map of texts by key, those that are empty left out.
func object(pairs ...string) *eval.Map {
	m := eval.NewMap()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m.Set(pairs[i], eval.String(pairs[i+1]))
		}
	}
	return m
}

func listResources(c *eval.Call, s *MCPServer) (eval.Value, error) {
	var list []mcp.Resource
	err := s.request(c.Thread, "listing its resources", func(ctx context.Context) (err error) {
		list, err = s.server.Resources(ctx)
		return err
	})
	out := eval.NewArray(len(list))
	for i := range list {
		r := &list[i]
		m := object("uri", r.URI, "name", r.Name, "title", r.Title, "description", r.Description, "mimeType", r.MIMEType)
		if r.Size > 0 {
			m.Set("size", eval.Int(r.Size))
		}
		m.Set("server", eval.String(s.cfg.Name))
		out.Push(m.Value())
	}
	return out.Value(), err
}

func listTemplates(c *eval.Call, s *MCPServer) (eval.Value, error) {
	var list []mcp.ResourceTemplate
	err := s.request(c.Thread, "listing its resource templates", func(ctx context.Context) (err error) {
		list, err = s.server.ResourceTemplates(ctx)
		return err
	})
	out := eval.NewArray(len(list))
	for i := range list {
		r := &list[i]
		out.Push(object("uriTemplate", r.URITemplate, "name", r.Name, "title", r.Title, "description", r.Description,
			"mimeType", r.MIMEType).Value())
	}
	return out.Value(), err
}

func listPrompts(c *eval.Call, s *MCPServer) (eval.Value, error) {
	var list []mcp.Prompt
	err := s.request(c.Thread, "listing its prompts", func(ctx context.Context) (err error) {
		list, err = s.server.Prompts(ctx)
		return err
	})
	out := eval.NewArray(len(list))
	for i := range list {
		p := &list[i]
		args := eval.NewArray(0)
		for _, a := range p.Arguments {
			m := object("name", a.Name, "title", a.Title, "description", a.Description)
			m.Set("required", eval.Bool(a.Required))
			args.Push(m.Value())
		}
		m := object("name", p.Name, "title", p.Title, "description", p.Description)
		m.Set("arguments", args.Value())
		out.Push(m.Value())
	}
	return out.Value(), err
}

// guarded is request for what needs the connection's capability; it is noted in
// the audit as name.
func (s *MCPServer) guarded(th *eval.Thread, below, what, name string, f func(ctx context.Context) error) error {
	if err := s.wait(th); err != nil {
		return err
	}
	at := th.Place()
	if err := s.allow(at, below, "mcp "+what, name); err != nil {
		return err
	}
	if err := s.request(th, what+" '"+name+"'", f); err != nil {
		if stop := th.Stopped(); stop != nil {
			return stop
		}
		if nerr := at.Note(name, "tool", "failed", err.Error()); nerr != nil {
			return nerr
		}
		return err
	}
	return at.Note(name, "tool", "called", "")
}

func wordArg(c *eval.Call, what string) (string, error) {
	s, ok := c.Args[0].AsString()
	if !ok {
		return "", fail("%s expects %s as a String, got %s", c.Name, what, c.Args[0].TypeName())
	}
	return s, nil
}

func readResource(c *eval.Call, s *MCPServer) (eval.Value, error) {
	uri, err := wordArg(c, "the uri of a resource")
	if err != nil {
		return eval.Value{}, err
	}
	text, err := s.read(c.Thread, uri)
	return eval.String(text), err
}

// read gives a resource as text.
func (s *MCPServer) read(th *eval.Thread, uri string) (string, error) {
	var blocks []mcp.Block
	err := s.guarded(th, "resources", "resource", s.cfg.Name+":"+uri, func(ctx context.Context) (err error) {
		blocks, err = s.server.Read(ctx, uri)
		return err
	})
	return strings.ToValidUTF8(mcp.RenderBlocks(blocks), "\uFFFD"), err
}

func subscribeResource(c *eval.Call, s *MCPServer) (eval.Value, error) {
	uri, err := wordArg(c, "the uri of a resource")
	if err != nil {
		return eval.Value{}, err
	}
	return eval.Nil(), s.guarded(c.Thread, "resources", "subscription", s.cfg.Name+":"+uri, func(ctx context.Context) error {
		return s.server.Subscribe(ctx, uri)
	})
}

// maxUpdated bounds the changes that wait to be asked for.
const maxUpdated = 1000

// resourceUpdated notes that a resource changed, once until it is asked for.
func (s *MCPServer) resourceUpdated(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.updated {
		if u == uri {
			return
		}
	}
	if len(s.updated) < maxUpdated {
		s.updated = append(s.updated, uri)
	}
}

// updatedResources gives the uris that changed since it was last asked.
func updatedResources(_ *eval.Call, s *MCPServer) (eval.Value, error) {
	s.mu.Lock()
	uris := s.updated
	s.updated = nil
	s.mu.Unlock()
	return eval.Strings(uris), nil
}

func getPrompt(c *eval.Call, s *MCPServer) (eval.Value, error) {
	name, err := wordArg(c, "the name of a prompt")
	if err != nil {
		return eval.Value{}, err
	}
	args, err := promptArgs(c)
	if err != nil {
		return eval.Value{}, err
	}
	var r *mcp.PromptResult
	err = s.guarded(c.Thread, "prompts", "prompt", s.cfg.Name+":"+name, func(ctx context.Context) (err error) {
		r, err = s.server.Prompt(ctx, name, args)
		return err
	})
	if err != nil {
		return eval.Value{}, err
	}
	return promptValue(r), nil
}

// promptArgs takes labels and a Map; values are texts on the wire.
func promptArgs(c *eval.Call) (map[string]string, error) {
	out := map[string]string{}
	put := func(name string, v eval.Value) error {
		if _, twice := out[name]; twice {
			return fail("%s got more than one value for '%s'", c.Name, name)
		}
		s, err := eval.Text(v)
		out[name] = s
		return err
	}
	if len(c.Args) == 2 {
		m, ok := c.Args[1].AsMap()
		if !ok {
			return nil, fail("%s expects the prompt's arguments as a Map or labeled, got %s", c.Name, c.Args[1].TypeName())
		}
		for _, k := range m.Keys() {
			v, _ := m.Get(k)
			if err := put(k, v); err != nil {
				return nil, err
			}
		}
	}
	for _, l := range c.Labels {
		if err := put(l.Name, l.Value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// promptValue gives a prompt's messages, and all their text as one.
func promptValue(r *mcp.PromptResult) eval.Value {
	list := eval.NewArray(len(r.Messages))
	var texts []string
	for _, m := range r.Messages {
		text := strings.ToValidUTF8(mcp.RenderBlocks(m.Blocks), "\uFFFD")
		one := eval.NewMap()
		one.Set("role", eval.String(m.Role))
		one.Set("text", eval.String(text))
		list.Push(one.Value())
		texts = append(texts, text)
	}
	out := object("description", r.Description)
	out.Set("messages", list.Value())
	out.Set("text", eval.String(strings.Join(texts, "\n")))
	return out.Value()
}

const completeUsage = "%s expects prompt: or template:, argument: and value: (all Strings), and known: (a Map) where other arguments are set"

// completeArgument gives what the server proposes for an argument.
func completeArgument(c *eval.Call, s *MCPServer) (eval.Value, error) {
	of := mcp.CompletionOf{}
	for _, l := range c.Labels {
		text, isText := l.Value.AsString()
		ok := isText
		switch l.Name {
		case "prompt":
			of.Prompt = text
		case "template":
			of.URITemplate = text
		case "argument":
			of.Argument = text
		case "value":
			of.Value = text
		case "known":
			var err error
			of.Known, err = tableOf("known", l.Value)
			ok = err == nil
		default:
			ok = false
		}
		if !ok {
			return eval.Value{}, fail(completeUsage, c.Name)
		}
	}
	if of.Argument == "" || (of.Prompt == "") == (of.URITemplate == "") {
		return eval.Value{}, fail(completeUsage, c.Name)
	}
	var r *mcp.Completion
	err := s.request(c.Thread, "completing '"+of.Argument+"'", func(ctx context.Context) (err error) {
		r, err = s.server.Complete(ctx, of)
		return err
	})
	if err != nil {
		return eval.Value{}, err
	}
	return eval.Strings(r.Values), nil
}
