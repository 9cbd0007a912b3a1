package builtins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/model"
)

// MCPTool is a tool of an MCP server as a value.
type MCPTool struct {
	server *MCPServer
	tool   *mcp.Tool
	spec   *model.ToolSpec  // what a model is told, made at first use
	check  *model.ArgsCheck // of its schema, made at first use

	refused error // why it must not be used, nil where it may
}

// TypeName gives "Tool".
func (t *MCPTool) TypeName() string { return "Tool" }

// String gives <mcp tool server.name>.
func (t *MCPTool) String() string { return "<mcp tool " + t.fullName() + ">" }

// KeyName is the name that find and indexing know it by.
func (t *MCPTool) KeyName() string { return t.tool.Name }

func (t *MCPTool) fullName() string { return t.server.cfg.Name + "." + t.tool.Name }

// Attr gives what the server says of the tool.
func (t *MCPTool) Attr(_ *eval.Thread, name string) (eval.Value, error) {
	switch name {
	case "name":
		return eval.String(t.tool.Name), nil
	case "description":
		return textOrNil(t.tool.Description), nil
	case "schema":
		return FromJSON(t.schema())
	case "server":
		return eval.Obj(t.server), nil
	case "annotations":
		return annotations(&t.tool.Annotations), nil
	}
	return eval.Value{}, fail("mcp tool '%s' has no member '%s'", t.fullName(), name)
}

// annotations gives the hints that the server gave, by their names in the
// protocol.
func annotations(a *mcp.Annotations) eval.Value {
	m := eval.NewMap()
	if a.Title != "" {
		m.Set("title", eval.String(a.Title))
	}
	set := func(name string, v *bool) {
		if v != nil {
			m.Set(name, eval.Bool(*v))
		}
	}
	if a.ReadOnly {
		set("readOnlyHint", &a.ReadOnly)
	}
	set("destructiveHint", a.Destructive)
	if a.Idempotent {
		set("idempotentHint", &a.Idempotent)
	}
	set("openWorldHint", a.OpenWorld)
	return m.Value()
}

func (t *MCPTool) schema() json.RawMessage {
	if len(t.tool.Schema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.tool.Schema
}

// CallWith calls the tool with labeled arguments or one Map.
func (t *MCPTool) CallWith(c *eval.Call) (eval.Value, error) { return t.callWith(c, c.Args) }

func callTool(c *eval.Call, s *MCPServer) (eval.Value, error) {
	name, ok := c.Args[0].AsString()
	if !ok {
		return eval.Value{}, fail("%s expects the name of a tool as a String, got %s", c.Name, c.Args[0].TypeName())
	}
	if err := s.wait(c.Thread); err != nil {
		return eval.Value{}, err
	}
	t, err := s.tool(name)
	if err != nil {
		return eval.Value{}, err
	}
	return t.callWith(c, c.Args[1:])
}

// callWith makes a call for a program and gives the structured content as a
// Map where there is one that is more than the text in a wrapper, else the text.
func (t *MCPTool) callWith(c *eval.Call, given []eval.Value) (eval.Value, error) {
	args, err := t.arguments(c, given)
	if err != nil {
		return eval.Value{}, err
	}
	r, err := t.run(c.Thread, args)
	if err != nil {
		return eval.Value{}, err
	}
	return resultValue(r)
}

func resultValue(r *mcp.Result) (eval.Value, error) {
	if len(r.Structured) > 0 && !r.Wrapped() {
		if v, err := FromJSON(r.Structured); err == nil {
			if _, ok := v.AsMap(); ok {
				return v, nil
			}
		}
	}
	return eval.String(strings.ToValidUTF8(r.Text, "\uFFFD")), nil
}

// arguments writes the arguments of a call as a JSON object.
func (t *MCPTool) arguments(c *eval.Call, given []eval.Value) (json.RawMessage, error) {
	m := eval.NewMap()
	if len(given) > 1 || len(given) == 1 && len(c.Labels) > 0 {
		return nil, t.usage()
	}
	if len(given) == 1 {
		var ok bool
		if m, ok = given[0].AsMap(); !ok {
			return nil, t.usage()
		}
	}
	for _, l := range c.Labels {
		if _, twice := m.Get(l.Name); twice {
			return nil, fail("mcp tool '%s' got more than one value for '%s'", t.fullName(), l.Name)
		}
		m.Set(l.Name, l.Value)
	}
	args, err := ToJSON(m.Value())
	if err != nil {
		return nil, fail("mcp tool '%s': %v", t.fullName(), err)
	}
	return args, nil
}

// usage says how the tool is called.
func (t *MCPTool) usage() error {
	names := ArgumentNames(t.schema())
	if len(names) == 0 {
		return fail("mcp tool '%s' takes no arguments by position; write (name: value) or one Map", t.fullName())
	}
	for i, n := range names {
		names[i] = n + ": ..."
	}
	return fail("mcp tool '%s' takes labeled arguments (%s) or one Map", t.fullName(), strings.Join(names, ", "))
}

// ArgumentNames lists the arguments that a schema knows, in its order.
func ArgumentNames(schema json.RawMessage) []string {
	v, err := FromJSON(schema)
	if err != nil {
		return nil
	}
	m, ok := v.AsMap()
	if !ok {
		return nil
	}
	props, _ := m.Get("properties")
	if p, ok := props.AsMap(); ok {
		return p.Keys()
	}
	return nil
}

func (t *MCPTool) offer(v eval.Value) *offer {
	o := &offer{value: v, name: model.ToolName{Server: t.server.cfg.Name, Tool: t.tool.Name}, mcp: t}
	desc := t.tool.Description
	if desc == "" {
		desc = "(no description provided)"
	}
	if t.spec == nil {
		spec, warning := cleanSpec(t.fullName(), desc, t.schema())
		t.spec = &spec
		if warning != "" {
			t.server.deps.warn(warning)
		}
	}
	o.spec = *t.spec
	o.call = func(th *eval.Thread, args json.RawMessage) (string, []model.Image, error) {
		r, err := t.run(th, args)
		if err != nil {
			return "", nil, th.Located(err)
		}
		text, pictures := t.shown(r)
		return text, pictures, nil
	}
	return o
}

// shown gives a result as a model gets it.
func (t *MCPTool) shown(r *mcp.Result) (string, []model.Image) {
	d := t.server.deps
	return d.outputs().bounded(r.Text, d.limitOf(t.tool)), images(r)
}

func images(r *mcp.Result) []model.Image {
	var out []model.Image
	for _, b := range r.Blocks {
		if b.Type == "image" {
			out = append(out, model.Image{MIME: b.MIMEType, Data: b.Data})
		}
	}
	return out
}

// run makes one call: capability, arguments, the call itself, audit.
func (t *MCPTool) run(th *eval.Thread, args json.RawMessage) (*mcp.Result, error) {
	at := th.Place()
	if err := t.before(at, args); err != nil {
		return nil, err
	}
	began := time.Now()
	var r *mcp.Result
	var err error
	if stop := t.server.talk(th, func(ctx context.Context) { r, err = t.send(ctx, args) }); stop != nil {
		return nil, stop
	}
	if aerr := t.answered(at, r, time.Since(began)); aerr != nil {
		return nil, aerr
	}
	return t.after(at, r, err)
}

// intent writes down that a call is about to be made, and with what.
func (t *MCPTool) intent(at eval.Place, args json.RawMessage) error {
	if !at.FullAudit() {
		return nil // the common case, which must cost nothing
	}
	sum := sha256.Sum256(args)
	return at.Intent("tool", t.fullName(), "calling", "",
		audit.Field{Key: "digest", Value: hex.EncodeToString(sum[:])}, audit.Field{Key: "size", Value: len(args)})
}

// answered notes how large the result of a call is and how long it took.
func (t *MCPTool) answered(at eval.Place, r *mcp.Result, took time.Duration) error {
	if !at.FullAudit() {
		return nil
	}
	size := 0
	if r != nil {
		size = len(r.Text) + len(r.Structured)
	}
	return at.Event("tool", t.fullName(), "answered", "",
		audit.Field{Key: "size", Value: size}, audit.Field{Key: "seconds", Value: took.Seconds()})
}

// before makes the checks that stand before a call.
func (t *MCPTool) before(at eval.Place, args json.RawMessage) error {
	if t.refused != nil {
		return t.failed(at, t.refused)
	}
	if err := t.allow(at); err != nil {
		return err
	}
	if t.check == nil {
		t.check = model.NewArgsCheck(t.tool.Schema)
	}
	if err := t.check.Check(args); err != nil {
		return t.failed(at, err)
	}
	return t.intent(at, args)
}

// send makes the call itself, without the lock.
func (t *MCPTool) send(ctx context.Context, args json.RawMessage) (*mcp.Result, error) {
	defer t.server.progressDone()
	return t.server.server.Call(ctx, t.tool.Name, args)
}

// after words a failure and notes the call.
func (t *MCPTool) after(at eval.Place, r *mcp.Result, err error) (*mcp.Result, error) {
	if err == nil && r.IsError {
		err = fmt.Errorf("%s", r.Text)
	}
	if err != nil {
		return nil, t.failed(at, err)
	}
	return r, at.Note(t.fullName(), "tool", "called", "")
}

func (t *MCPTool) allow(at eval.Place) error {
	return t.server.allow(at, t.tool.Name, "mcp tool", t.fullName())
}

// allow checks the connection's capabilities for one of its tools or resources.
func (s *MCPServer) allow(at eval.Place, below, what, name string) error {
	for _, capability := range s.needs {
		d := at.DecideTool(capability, below)
		if !d.Allowed {
			of := at.DeniedOf(capability, below)
			return at.Denied(d, name, "tool", of, "capability '"+of+"' denied by policy",
				what+" '"+name+"' requires capability '"+of+"', which is denied by policy")
		}
		if err := at.Heed("tool", name, capability, below); err != nil {
			return err
		}
	}
	return nil
}

func (t *MCPTool) failed(at eval.Place, cause error) error {
	if err := at.Note(t.fullName(), "tool", "failed", cause.Error()); err != nil {
		return err
	}
	return &diag.Error{Kind: diag.MCP, Msg: "mcp tool '" + t.fullName() + "' failed: " + cause.Error(), Cause: cause}
}
