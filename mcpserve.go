package sense

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/builtins/std"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp/serve"
)

// Declarations collects what a program declares, in order: give its Add to the
// program as Options.OnDeclare. The zero Declarations is empty.
type Declarations struct {
	mu   sync.Mutex
	list []eval.Declared
}

// Add takes one declaration.
func (d *Declarations) Add(x eval.Declared) {
	if x.Kind != "tool" && x.Kind != "action" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = slices.DeleteFunc(d.list, func(y eval.Declared) bool { return y.Kind == x.Kind && y.Name == x.Name && y.File == x.File })
	d.list = append(d.list, x)
}

// in gives the declarations of one file.
func (d *Declarations) in(file string) []eval.Declared {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []eval.Declared
	for _, x := range d.list {
		if x.File == file {
			out = append(out, x)
		}
	}
	return out
}

// NewMCPServer makes an MCP server of a program that has run: its tools, its
// actions by tools that prepare, describe, approve, commit and roll back, and the
// resources and prompts that it offers by std.serve. Of tools and actions, what
// the file itself declares is offered, not what it imports. Every call
// stands under the policy of the place where the tool or action is declared,
// and is audited; an approval is asked of the client's user. The error says
// what cannot be offered.
func NewMCPServer(r *Runtime, name, file string, d *Declarations) (*serve.Server, error) {
	s := &serve.Server{Name: name, Version: "1"}
	m := &served{in: r.in, warn: r.deps.Warn, actions: map[string]*servedAction{}}
	actions := false
	for _, x := range d.in(file) {
		switch o := x.Value.AsObject().(type) {
		case *eval.Tool:
			s.Tools = append(s.Tools, m.tool(x.Value, o))
		case *eval.ActionDecl:
			actions = true
			s.Tools = append(s.Tools, m.prepare(x.Value, o))
		}
	}
	m.offers(s, r.std.Offers(s.Updated))
	if len(s.Tools)+len(s.Resources)+len(s.Prompts) == 0 {
		return nil, diag.New(diag.Runtime, "%s declares no tools and no actions, and offers no resources and no prompts, so there is nothing to serve", file)
	}
	if actions {
		s.Tools = append(s.Tools, m.steps()...)
		s.Instructions = "Actions are done in steps: prepare_NAME gives an id; describe_action shows what it would do; " +
			"approve_action asks the user where an approval is needed; commit_action does it; rollback_action undoes it where that is possible."
	}
	seen := map[string]bool{}
	for i, t := range s.Tools {
		s.Tools[i].Call = m.safely("the tool '"+t.Name+"'", t.Call)
		if seen[t.Name] {
			return nil, diag.New(diag.Runtime, "%s declares '%s' in more than one sense, so a client could not tell them apart", file, t.Name)
		}
		seen[t.Name] = true
	}
	return s, nil
}

type handler = func(context.Context, *serve.Call) (*serve.Result, error)

// safely makes the errors of a call fit for somebody else: secrets are taken out, and
// the line of the program, which a client has no use for, goes to whoever runs it.
func (m *served) safely(what string, call handler) handler {
	return func(ctx context.Context, c *serve.Call) (*serve.Result, error) {
		out, err := call(ctx, c)
		var ask *serve.Ask
		if err == nil || errors.As(err, &ask) {
			return out, err
		}
		text := err.Error()
		var at *diag.Error
		if errors.As(err, &at) && at.Pos.Line > 0 {
			text = at.Msg
			if m.warn != nil {
				m.warn(fmt.Sprintf("%s failed for %s at line %d of %s: %s", what, host(c), at.Pos.Line, at.File, text))
			}
		}
		return nil, errors.New(m.in.Audit().Redactor.Redact(text))
	}
}

// maxPrepared bounds the actions that wait to be committed.
const maxPrepared = 500

// served is a program that serves.
type served struct {
	in   *eval.Interp
	warn func(string) // may be nil

	mu      sync.Mutex
	actions map[string]*servedAction
	order   []string
}

// servedAction is an action that a client prepared.
type servedAction struct {
	id     string
	action *eval.Action
	// Touched under the program's lock only.
	busy  bool   // a step runs
	shown string // the digest of the arguments that the user was asked about
}

// host names the caller in messages about waits.
func host(c *serve.Call) string {
	if c.Client == "" {
		return "an MCP client"
	}
	return "the MCP client " + diag.Visible(c.Client)
}

// tool offers a tool of the program.
func (m *served) tool(v eval.Value, t *eval.Tool) serve.Tool {
	desc, _ := t.Description()
	return serve.Tool{
		Name: t.Name(), Description: desc, Schema: builtins.Schema(t.Params()), Requires: t.Requires(), Destructive: true,
		Call: func(ctx context.Context, c *serve.Call) (*serve.Result, error) {
			args, err := builtins.Arguments(t.Name(), t.Params(), c.Args)
			if err != nil {
				return nil, err
			}
			return m.run(ctx, c, v, func(th *eval.Thread) (eval.Value, error) { return m.call(th, v, nil, args) })
		},
	}
}

// run runs f under the rules around what it calls and gives its value as a
// result.
func (m *served) run(ctx context.Context, c *serve.Call, at eval.Value, f func(th *eval.Thread) (eval.Value, error)) (*serve.Result, error) {
	var out *serve.Result
	_, err := m.host(ctx, c, at, func(th *eval.Thread) (v eval.Value, err error) {
		if v, err = f(th); err != nil {
			return v, err
		}
		out, err = resultOf(v)
		return v, err
	})
	return out, err
}

// host runs f for a client under the rules around at; what it asks a human it asks
// the client's user.
func (m *served) host(ctx context.Context, c *serve.Call, at eval.Value, f func(th *eval.Thread) (eval.Value, error)) (eval.Value, error) {
	return m.in.HostFor(ctx, host(c), func(th *eval.Thread) (eval.Value, error) {
		th.StandAt(at)
		th.AskWith(c.Ask)
		th.WorkFor(m.client(c))
		return f(th)
	})
}

// client is whom std.serve speaks to. What it is told without being asked is free
// of secrets.
func (m *served) client(c *serve.Call) std.Client {
	clean := m.in.Audit().Redactor.Redact
	return std.Client{
		Name: c.Client, Can: c.Can, Put: c.Put,
		Progress: func(done float64, total *float64, message string) { c.Progress(done, total, clean(message)) },
		Log:      func(level, text string) { c.Log(level, clean(text)) },
	}
}

// resultOf gives a value as a client reads it: a Map as JSON, or as the content
// blocks that it holds, all else as it prints.
func resultOf(v eval.Value) (*serve.Result, error) {
	if m, ok := v.AsMap(); ok {
		if blocks := blocksOf(m); len(blocks) > 0 {
			return &serve.Result{Blocks: blocks}, nil
		}
		if raw, err := builtins.ToJSON(v); err == nil {
			return &serve.Result{Text: string(raw), Structured: raw}, nil
		}
	}
	if _, ok := v.AsArray(); ok {
		if raw, err := builtins.ToJSON(v); err == nil {
			return &serve.Result{Text: string(raw)}, nil
		}
	}
	if v.IsNil() || !v.IsSet() {
		return &serve.Result{Text: "done"}, nil
	}
	text, err := eval.Text(v)
	return &serve.Result{Text: text}, err
}

// blocksOf gives the content blocks of a Map {"content": [...]} that looks like a
// result of the protocol, and nothing for any other Map.
func blocksOf(m *eval.Map) (blocks []json.RawMessage) {
	v, ok := m.Get("content")
	if !ok || m.Len() != 1 {
		return nil
	}
	list, ok := v.AsArray()
	if !ok {
		return nil
	}
	for i := range list.Len() {
		item := list.At(i)
		b, ok := item.AsMap()
		if !ok {
			return nil
		}
		kind, ok := b.Get("type")
		if !ok {
			return nil
		}
		if !isBlock(kind) {
			return nil
		}
		raw, err := builtins.ToJSON(item)
		if err != nil {
			return nil
		}
		blocks = append(blocks, raw)
	}
	return blocks
}

// isBlock reports whether a content block may be of this type.
func isBlock(kind eval.Value) bool {
	s, ok := kind.AsString()
	return ok && slices.Contains([]string{"text", "image", "audio", "resource", "resource_link"}, s)
}

// prepare offers to prepare an action.
func (m *served) prepare(v eval.Value, a *eval.ActionDecl) serve.Tool {
	desc := strings.TrimSpace(a.Doc())
	if desc == "" {
		desc = "The action " + a.Name() + "."
	}
	desc += " This only prepares it, and nothing happens before commit_action."
	if a.NeedsApproval() {
		desc += " It needs the user's approval."
	}
	if !a.Reversible() {
		desc += " It cannot be undone."
	}
	return serve.Tool{
		Name: "prepare_" + a.Name(), Description: desc, Schema: builtins.Schema(a.Params()), Requires: a.Requires(),
		Call: func(ctx context.Context, c *serve.Call) (*serve.Result, error) {
			args, err := builtins.Arguments(a.Name(), a.Params(), c.Args)
			if err != nil {
				return nil, err
			}
			var out *serve.Result
			_, err = m.host(ctx, c, v, func(th *eval.Thread) (eval.Value, error) {
				p, err := th.CallLabeled(v, nil, args)
				if err != nil {
					return p, err
				}
				made, ok := p.AsObject().(*eval.Action)
				if !ok {
					return p, diag.New(diag.Runtime, "'%s' gave no action", a.Name())
				}
				out = m.keep(made).state("")
				return p, nil
			})
			return out, err
		},
	}
}

// keep notes a prepared action under an id that nobody can guess.
func (m *served) keep(a *eval.Action) *servedAction {
	p := &servedAction{id: strings.ToLower(rand.Text()[:16]), action: a}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.order) >= maxPrepared {
		delete(m.actions, m.order[0])
		m.order = slices.Delete(m.order, 0, 1)
	}
	m.actions[p.id] = p
	m.order = append(m.order, p.id)
	return p
}

func (m *served) find(args json.RawMessage) (*servedAction, error) {
	var a struct{ ID string }
	if err := json.Unmarshal(args, &a); err != nil || a.ID == "" {
		return nil, diag.New(diag.Runtime, "the argument 'id' is missing: prepare_NAME gives it")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.actions[a.ID]; p != nil {
		return p, nil
	}
	return nil, diag.New(diag.Runtime, "there is no prepared action '%s'", a.ID)
}

// state says where an action stands, and what a step gave.
func (p *servedAction) state(result string) *serve.Result {
	d := p.action.Decl()
	m := eval.NewMap()
	m.Set("id", eval.String(p.id))
	m.Set("action", eval.String(d.Name()))
	m.Set("state", eval.String(p.action.State()))
	m.Set("needs_approval", eval.Bool(d.NeedsApproval()))
	m.Set("approved", eval.Bool(p.action.Approved()))
	m.Set("reversible", eval.Bool(d.Reversible()))
	m.Set("description", eval.String(p.action.Describe()))
	if result != "" {
		m.Set("result", eval.String(result))
	}
	raw, err := builtins.ToJSON(m.Value())
	if err != nil { // texts and truth values are always encoded
		return &serve.Result{Text: p.action.String()}
	}
	return &serve.Result{Text: string(raw), Structured: raw}
}

const idSchema = `{"type":"object","properties":{"id":{"type":"string","description":"the id that prepare_NAME gave"}},"required":["id"]}`

// steps offers what can be done with a prepared action.
func (m *served) steps() []serve.Tool {
	return []serve.Tool{
		{
			Name: "describe_action", Description: "Show what a prepared action would do, and where it stands.", Schema: json.RawMessage(idSchema), ReadOnly: true,
			Call: m.step(func(context.Context, *eval.Thread, *serve.Call, *servedAction) (string, error) { return "", nil }),
		},
		{
			Name: "approve_action", Description: "Ask the user to approve a prepared action. Nothing happens before commit_action.", Schema: json.RawMessage(idSchema),
			Call: m.step(m.approve),
		},
		{
			Name: "commit_action", Description: "Do what a prepared action describes.", Schema: json.RawMessage(idSchema), Destructive: true,
			Call: m.step(m.commit),
		},
		{
			Name: "rollback_action", Description: "Undo a committed action that is reversible.", Schema: json.RawMessage(idSchema), Destructive: true,
			Call: m.step(func(_ context.Context, th *eval.Thread, _ *serve.Call, p *servedAction) (string, error) {
				return p.method(th, "rollback")
			}),
		},
	}
}

// step makes one step of an action; no other one of the same action runs
// meanwhile.
func (m *served) step(f func(ctx context.Context, th *eval.Thread, c *serve.Call, p *servedAction) (string, error)) func(context.Context, *serve.Call) (*serve.Result, error) {
	return func(ctx context.Context, c *serve.Call) (*serve.Result, error) {
		p, err := m.find(c.Args)
		if err != nil {
			return nil, err
		}
		var out *serve.Result
		_, err = m.host(ctx, c, eval.Obj(p.action), func(th *eval.Thread) (eval.Value, error) {
			if p.busy {
				return eval.Nil(), diag.New(diag.Runtime, "a step of action '%s' is still running", p.action.Decl().Name())
			}
			p.busy = true
			defer func() { p.busy = false }()
			text, err := f(ctx, th, c, p)
			if err == nil {
				out = p.state(text)
			}
			return eval.Nil(), err
		})
		return out, err
	}
}

// method calls a method of the action and gives its value as text.
func (p *servedAction) method(th *eval.Thread, name string) (string, error) {
	m := p.action.Method(name)
	v, err := th.Call(eval.NewBuiltin(eval.Builtin{
		Name: p.action.OwnerName() + "." + m.Name, Min: m.Min, Max: m.Max, Labels: m.Labels,
		Fn: func(c *eval.Call) (eval.Value, error) { return m.Fn(c, p.action) },
	}))
	if err != nil || v.IsNil() || v.AsObject() == eval.Object(p.action) {
		return "", err
	}
	return eval.Text(v)
}

// approve asks the client's user; nobody else can approve here.
func (m *served) approve(_ context.Context, th *eval.Thread, c *serve.Call, p *servedAction) (string, error) {
	switch {
	case p.action.Approved():
		return "", nil
	case c.Answer == nil || p.shown == "": // nobody answers what was not asked
		var what string
		what, p.shown = p.action.Shown(th)
		return "", &serve.Ask{Message: "Approve this action?\n" + what}
	case !c.Answer.Approved:
		return "", diag.New(diag.Approval, "the user did not approve the action '%s'", p.action.Decl().Name())
	}
	by := "the user of " + host(c)
	if c.Answer.Reason != "" {
		by += fmt.Sprintf(" (%s)", diag.Visible(c.Answer.Reason))
	}
	return "", p.action.ApproveBy(th, by, p.shown)
}

// commit verifies an action that is only prepared and commits it.
func (m *served) commit(_ context.Context, th *eval.Thread, _ *serve.Call, p *servedAction) (string, error) {
	if p.action.State() == "prepared" {
		if _, err := p.method(th, "verify"); err != nil {
			return "", err
		}
	}
	d := p.action.Decl()
	if d.NeedsApproval() && !p.action.Approved() {
		return "", diag.New(diag.Approval, "the action '%s' needs an approval: call approve_action first", d.Name())
	}
	return p.method(th, "commit")
}
