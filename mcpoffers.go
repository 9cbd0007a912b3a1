package sense

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/builtins/std"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp/serve"
)

// offers adds the resources and prompts of a program to a server.
func (m *served) offers(s *serve.Server, list []*std.Offer) {
	for _, o := range list {
		if o.URI != "" {
			s.Resources = append(s.Resources, serve.Resource{
				URI: o.URI, Name: o.Name, Description: o.Description, MIME: o.MIME,
				Read: m.safely("the resource '"+o.URI+"'", m.give(o, "resource", contentsOf)), Complete: m.complete(o),
			})
			continue
		}
		p := serve.Prompt{Name: o.Name, Description: o.Description, Get: m.safely("the prompt '"+o.Name+"'", m.give(o, "prompt", messagesOf)), Complete: m.complete(o)}
		for _, q := range o.Params {
			p.Arguments = append(p.Arguments, serve.Argument{Name: q.Name, Required: q.Default == nil})
		}
		s.Prompts = append(s.Prompts, p)
	}
}

// give calls the function of an offer for a client and gives its value as a result of
// the protocol. It is in the audit, as a call of a tool is.
func (m *served) give(o *std.Offer, kind string, result func(*std.Offer, *serve.Call, eval.Value) (any, error)) handler {
	return func(ctx context.Context, c *serve.Call) (*serve.Result, error) {
		args, err := offerArgs(o, kind, c.Args)
		if err != nil {
			return nil, err
		}
		name := o.Name
		if c.URI != "" {
			name = c.URI
		}
		var out *serve.Result
		_, err = m.host(ctx, c, o.Give, func(th *eval.Thread) (eval.Value, error) {
			if err := th.Place().Note(name, kind, "called", ""); err != nil {
				return eval.Nil(), err
			}
			v, err := m.call(th, o.Give, nil, args)
			if err != nil {
				return v, err
			}
			got, err := result(o, c, v)
			if err != nil {
				return v, err
			}
			raw, err := json.Marshal(got)
			out = &serve.Result{Structured: raw}
			return v, err
		})
		return out, err
	}
}

// call calls a function or a tool and waits for what an async one gives.
func (m *served) call(th *eval.Thread, v eval.Value, args []eval.Value, labels []eval.Label) (eval.Value, error) {
	r, err := th.CallLabeled(v, args, labels)
	if t, ok := v.AsObject().(*eval.Tool); ok && err == nil && t.Async() {
		return th.Await(r)
	}
	return r, err
}

// offerArgs reads the arguments of a prompt or a template: an object of strings.
func offerArgs(o *std.Offer, kind string, raw json.RawMessage) ([]eval.Label, error) {
	var given map[string]string
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, diag.New(diag.Runtime, "the arguments of the %s '%s' must be texts", kind, o.Name)
	}
	var out []eval.Label
	for _, p := range o.Params {
		text, ok := given[p.Name]
		switch {
		case ok:
			out = append(out, eval.Label{Name: p.Name, Value: eval.String(strings.ToValidUTF8(text, "\uFFFD"))})
		case p.Default == nil:
			return nil, diag.New(diag.Runtime, "the %s '%s' needs the argument '%s'", kind, o.Name, p.Name)
		}
		delete(given, p.Name)
	}
	for name := range given {
		return nil, diag.New(diag.Runtime, "the %s '%s' has no argument '%s'", kind, o.Name, name)
	}
	return out, nil
}

// complete gives the values that complete an argument of an offer.
func (m *served) complete(o *std.Offer) serve.Complete {
	if len(o.Complete) == 0 {
		return nil
	}
	return func(ctx context.Context, c *serve.Call, name, typed string) (values []string, err error) {
		by, ok := o.Complete[name]
		if !ok {
			return nil, nil
		}
		list, fixed := by.AsArray()
		if fixed {
			return startingWith(list, typed), nil
		}
		_, err = m.host(ctx, c, by, func(th *eval.Thread) (eval.Value, error) {
			v, err := m.call(th, by, []eval.Value{eval.String(strings.ToValidUTF8(typed, "\uFFFD"))}, nil)
			if err != nil {
				return v, err
			}
			list, ok := v.AsArray()
			if !ok {
				return v, diag.New(diag.Runtime, "what completes '%s' must give an Array, got %s", name, v.TypeName())
			}
			values = startingWith(list, "")
			return v, nil
		})
		return values, err
	}
}

// startingWith gives the values of an Array as texts, those that begin with typed.
func startingWith(list *eval.Array, typed string) (out []string) {
	for i := range list.Len() {
		if text := list.At(i).String(); strings.HasPrefix(text, typed) {
			out = append(out, text)
		}
	}
	return out
}

// contentsOf gives the result of resources/read for what a function gave: a text, a
// Map with text or blob, an Array of such Maps, or any other value as JSON.
func contentsOf(o *std.Offer, c *serve.Call, v eval.Value) (any, error) {
	if v.IsNil() || !v.IsSet() {
		return nil, diag.New(diag.Runtime, "there is no resource '%s'", c.URI)
	}
	list := []eval.Value{v}
	if a, ok := v.AsArray(); ok && a.Len() > 0 && isContent(a.At(0)) {
		list = a.Values()
	}
	contents := []map[string]any{}
	for _, x := range list {
		one, err := contentOf(x)
		if err != nil {
			return nil, err
		}
		if one["uri"] == nil {
			one["uri"] = c.URI
		}
		if one["mimeType"] == nil && o.MIME != "" {
			one["mimeType"] = o.MIME
		}
		contents = append(contents, one)
	}
	return map[string]any{"contents": contents}, nil
}

// isContent reports whether a value is the content of a resource as the protocol has
// it.
func isContent(v eval.Value) bool {
	m, ok := v.AsMap()
	if !ok {
		return false
	}
	_, text := m.Get("text")
	_, blob := m.Get("blob")
	for _, key := range m.Keys() {
		switch key {
		case "text", "blob", "uri", "mimeType", "_meta":
		default:
			return false
		}
	}
	return text != blob
}

func contentOf(v eval.Value) (map[string]any, error) {
	if text, ok := v.AsString(); ok {
		return map[string]any{"text": text}, nil
	}
	raw, err := builtins.ToJSON(v)
	if err != nil {
		return nil, err
	}
	if !isContent(v) {
		return map[string]any{"text": string(raw), "mimeType": "application/json"}, nil
	}
	one := map[string]any{}
	return one, json.Unmarshal(raw, &one)
}

// messagesOf gives the result of prompts/get for what a function gave: a text, an
// Array of messages, or a Map with messages and description.
func messagesOf(o *std.Offer, _ *serve.Call, v eval.Value) (any, error) {
	out := map[string]any{}
	if m, ok := v.AsMap(); ok {
		if list, ok := m.Get("messages"); ok {
			v = list
			if text, ok := m.Get("description"); ok {
				out["description"] = text.String()
			}
		}
	}
	list := []eval.Value{v}
	if a, ok := v.AsArray(); ok {
		list = a.Values()
	}
	messages := []any{}
	for i, x := range list {
		one, err := messageOf(x)
		if err != nil {
			return nil, fmt.Errorf("message %d of the prompt '%s' %w", i+1, o.Name, err)
		}
		messages = append(messages, one)
	}
	out["messages"] = messages
	return out, nil
}

// messageOf gives one message: of the user, unless a Map says who speaks.
func messageOf(v eval.Value) (any, error) {
	role, content := "user", v
	if m, ok := v.AsMap(); ok {
		if c, ok := m.Get("content"); ok {
			content = c
			if r, ok := m.Get("role"); ok {
				role = r.String()
			}
		}
	}
	if role != "user" && role != "assistant" {
		return nil, fmt.Errorf("has the role '%s' (there are user and assistant)", diag.Visible(role))
	}
	if text, ok := content.AsString(); ok {
		return map[string]any{"role": role, "content": map[string]any{"type": "text", "text": text}}, nil
	}
	if m, ok := content.AsMap(); ok {
		if kind, ok := m.Get("type"); ok && isBlock(kind) {
			raw, err := builtins.ToJSON(content)
			return map[string]any{"role": role, "content": json.RawMessage(raw)}, err
		}
	}
	return nil, fmt.Errorf("must be a String or a content block, got %s", content.TypeName())
}
