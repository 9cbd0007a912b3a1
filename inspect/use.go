package inspect

import (
	"encoding/json"

	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// callTool calls a tool of the program, or one of a server.
func (c *Console) callTool(th *eval.Thread, key string, args []eval.Value) (object, error) {
	v, err := c.declared.findTool(key)
	if err != nil {
		return nil, err
	}
	if t, ok := asMCPTool(v); ok {
		return callServer(th, t, key, args)
	}
	th.StandAt(v)
	r, err := th.Call(v, args...)
	if _, ok := r.AsObject().(*eval.Future); ok && err == nil {
		r, err = th.Await(r) // nobody else could
	}
	if err != nil {
		return nil, err
	}
	return object{{"ok", true}, {"result", jsonOf(r)}, {"text", textOf(r)}, {"type", r.TypeName()}}, nil
}

// callServer calls a tool of a server; its arguments are one JSON object.
func callServer(th *eval.Thread, t *builtins.MCPTool, key string, args []eval.Value) (object, error) {
	raw := json.RawMessage("{}")
	if len(args) > 1 {
		return nil, diag.New(diag.Runtime, "'%s' expects one object of arguments, got %d", key, len(args))
	}
	if len(args) == 1 {
		if _, ok := args[0].AsMap(); !ok {
			return nil, diag.New(diag.Type, "'%s' expects an object of arguments, got %s", key, args[0].TypeName())
		}
		var err error
		if raw, err = builtins.ToJSON(args[0]); err != nil {
			return nil, err
		}
	}
	text, err := t.CallText(th, raw)
	if err != nil {
		return nil, err
	}
	text = clip(text, maxText)
	return object{{"ok", true}, {"result", text}, {"text", text}, {"type", "String"}}, nil
}

// agent starts or resumes an agent and describes how it is then.
func (c *Console) agent(th *eval.Thread, key string, step func(v eval.Value) (eval.Value, error)) (object, error) {
	it, err := c.declared.find("agent", "agent", key)
	if err != nil {
		return nil, err
	}
	th.StandAt(it.Value)
	if _, err := step(it.Value); err != nil {
		return nil, err
	}
	return object{{"ok", true}}.with(describeAgent(it)...), nil
}
