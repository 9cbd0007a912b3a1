package builtins

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/model"
)

// Limits of a model's tool loop. A run is one ask_with_tools.
const (
	maxRounds       = 10
	maxCallsPerTurn = 32
	maxCallsPerRun  = 200
)

// offer is a tool offered to a model.
type offer struct {
	value eval.Value
	name  model.ToolName
	spec  model.ToolSpec
	mcp   *MCPTool // nil for a tool of the program
	// proposed takes the actions that the model asks for.
	proposed *[]eval.Value
	// call runs the tool with the arguments the model wrote, which are a JSON
	// object.
	call func(t *eval.Thread, args json.RawMessage) (string, []model.Image, error)
}

func (d *Deps) askWithTools(c *eval.Call) (eval.Value, error) {
	m, err := delegation(c, "ask_with_tools() has no model configured — declare one (e.g. model claude = inference(\"anthropic\")) and activate it with 'set delegation = <model>' first")
	if err != nil {
		return eval.Value{}, err
	}
	given, ok := c.Args[1].AsArray()
	if !ok {
		return eval.Value{}, fail("ask_with_tools() expects an Array of tools, got %s", c.Args[1].TypeName())
	}
	prompt, ok := c.Args[0].AsString()
	if !ok {
		return eval.Value{}, fail("ask_with_tools() expects a String prompt, got %s", c.Args[0].TypeName())
	}
	offers, intro, err := gather(given)
	if err != nil {
		return eval.Value{}, err
	}
	o, err := readAsk(c, "ask_with_tools")
	if err != nil {
		return eval.Value{}, err
	}
	before, err := d.givenTexts(c.Thread, o.resources)
	if err != nil {
		return eval.Value{}, err
	}
	l := newToolLoop(d, newExchange(c, m, o), c.Thread, offers)
	for _, o := range offers {
		o.proposed = &l.actions
	}
	return l.run(intro + before + prompt)
}

// gather lists the tools given, those of skills included, and the lines that
// introduce the skills.
func gather(given *eval.Array) (offers []*offer, intro string, err error) {
	var b strings.Builder
	var tools []eval.Value
	for _, v := range given.Values() {
		if s, ok := v.AsObject().(*Skill); ok {
			if b.Len() == 0 {
				b.WriteString("Available skills:\n")
			}
			b.WriteString("- " + s.name + ": " + s.description + "\n")
			tools = append(tools, s.tools.Values()...)
			continue
		}
		if _, action := v.AsObject().(*eval.ActionDecl); !action {
			if err := checkOffered(v); err != nil {
				return nil, "", err
			}
		}
		tools = append(tools, v)
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	offers, err = offersOf(tools)
	return offers, b.String(), err
}

func offersOf(tools []eval.Value) ([]*offer, error) {
	seen := map[string]bool{}
	var offers []*offer
	var names []model.ToolName
	for _, v := range tools {
		if t, ok := v.AsObject().(*MCPTool); ok && t.refused != nil {
			continue // a model never sees what it says
		}
		o, err := offerOf(v)
		if err != nil {
			return nil, err
		}
		if seen[o.name.String()] {
			return nil, fail("duplicate tool name '%s' across the given tools/skills", o.name.String())
		}
		seen[o.name.String()] = true
		offers = append(offers, o)
		names = append(names, o.name)
	}
	wire := model.NewNames(names)
	for _, o := range offers {
		o.spec.Name, o.spec.SenseName = wire.Wire(o.name), o.name.String()
	}
	return offers, nil
}

func offerOf(v eval.Value) (*offer, error) {
	if a, ok := v.AsObject().(*eval.ActionDecl); ok {
		return actionOffer(v, a), nil
	}
	if err := checkOffered(v); err != nil {
		return nil, err
	}
	switch t := v.AsObject().(type) {
	case *eval.Tool:
		return senseOffer(v, t), nil
	case *MCPTool:
		return t.offer(v), nil
	}
	return nil, fail("only tools declared with 'tool' (or 'async tool') are accepted here, got %s", v.TypeName())
}

// toolLoop is one ask_with_tools.
type toolLoop struct {
	*exchange
	deps   *Deps
	t      *eval.Thread
	offers []*offer
	called int // calls so far
}

func newToolLoop(d *Deps, x *exchange, t *eval.Thread, offers []*offer) *toolLoop {
	l := &toolLoop{deps: d, exchange: x, t: t, offers: offers}
	for _, o := range offers {
		l.req.Tools = append(l.req.Tools, o.spec)
	}
	l.searching()
	return l
}

// readOn offers read_output once something was too long to be shown whole.
func (l *toolLoop) readOn() {
	if l.deps.outputs().any() && l.find(readOutputName) == nil {
		o := l.deps.outputs().readOffer()
		l.offers = append(l.offers, o)
		l.show(o)
	}
}

func (l *toolLoop) run(prompt string) (eval.Value, error) {
	l.req.Messages = []model.Message{{Role: model.RoleUser, Text: prompt}}
	if err := l.supported(); err != nil {
		return eval.Value{}, err
	}
	rounds := maxRounds
	if l.m.maxTurns > 0 {
		rounds = l.m.maxTurns
	}
	for range rounds {
		l.readOn()
		turn, err := l.turn()
		if err != nil {
			return eval.Value{}, err
		}
		if len(turn.Calls) == 0 {
			turn.Confidence = nil // the model's own word for the answer is no judgement of the tools' results
			return l.finish(turn)
		}
		l.usage.calls += int64(len(turn.Calls))
		results, err := l.answerCalls(turn.Calls)
		if err != nil {
			return eval.Value{}, err
		}
		l.req.Messages = append(l.req.Messages, turn.Message(), model.Message{Role: model.RoleTool, Results: results})
	}
	return eval.Value{}, diag.New(diag.Model, "model '%s' did not produce a final answer within %d tool-call iterations", l.m.name, rounds)
}

func (l *toolLoop) supported() error {
	if l.m.provider != "mock" {
		return nil
	}
	if s, ok := l.m.client().(model.ToolSupport); ok {
		if why := s.ToolSupport(); why != nil {
			return diag.New(diag.Model, "model '%s' does not support ask_with_tools(): %v", l.m.name, why)
		}
	}
	return nil
}

// answerCalls runs a turn's calls in order. What goes wrong is told to the
// model; only the end of the program is an error.
func (l *toolLoop) answerCalls(calls []model.ToolCall) ([]model.ToolResult, error) {
	before := l.t.AskedBy("model " + l.m.name)
	defer l.t.AskedBy(before)
	if run := l.besides(calls); run != nil {
		return l.runBesides(calls, run)
	}
	var out []model.ToolResult
	for i, call := range calls {
		r := model.ToolResult{CallID: call.ID, Name: call.Name}
		err := l.count(i)
		if err == nil {
			r.Text, r.Images, err = l.answerCall(call)
		}
		if stop := l.t.Stopped(); stop != nil {
			return nil, stop
		}
		if err != nil {
			if err = l.told(&r, err); err != nil {
				return nil, err
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// count counts call i of a turn and refuses it where it is one too many.
func (l *toolLoop) count(i int) error {
	switch {
	case i >= maxCallsPerTurn:
		return fail("too many calls in one turn (limit %d)", maxCallsPerTurn)
	case l.called >= maxCallsPerRun:
		return fail("too many calls in one run (limit %d)", maxCallsPerRun)
	}
	l.called++
	return nil
}

func (l *toolLoop) answerCall(call model.ToolCall) (string, []model.Image, error) {
	o := l.find(call.Name)
	if o == nil {
		err := fail("no such tool '%s' -- the tools are: %s", call.Name, l.known())
		if aerr := l.at.Event("tool", call.Name, "unknown", "asked for by model '"+l.m.name+"'"); aerr != nil {
			err = aerr
		}
		return "", nil, err
	}
	l.show(o) // one that was only named is whole from now on
	args, err := objectArgs(call.Args)
	if err != nil {
		if aerr := l.at.Event("tool", o.name.String(), "refused", err.Error()); aerr != nil {
			err = aerr
		}
		return "", nil, err
	}
	return o.call(l.t, args)
}

func (l *toolLoop) find(wire string) *offer {
	for _, o := range l.offers {
		if o.spec.Name == wire {
			return o
		}
	}
	return nil
}

func (l *toolLoop) known() string {
	var names []string
	for _, o := range l.offers {
		names = append(names, o.spec.Name)
	}
	const most = 50
	switch {
	case names == nil:
		return "(none)"
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// objectArgs checks that what a model wrote is one JSON object.
func objectArgs(args json.RawMessage) (json.RawMessage, error) {
	text := bytes.TrimSpace(args)
	if len(text) == 0 {
		return json.RawMessage("{}"), nil
	}
	if !json.Valid(text) {
		var v any
		err := json.Unmarshal(text, &v)
		return nil, fail("the arguments are no valid JSON: %v", err)
	}
	if text[0] != '{' {
		return nil, fail("the arguments must be a JSON object")
	}
	return text, nil
}

// senseOffer offers a tool of the program.
func senseOffer(v eval.Value, t *eval.Tool) *offer {
	desc, _ := t.Description()
	o := &offer{value: v, name: model.ToolName{Tool: t.Name()}}
	o.spec = model.ToolSpec{Description: desc, Schema: toolSchema(t.Params())}
	o.call = func(th *eval.Thread, args json.RawMessage) (string, []model.Image, error) {
		return callSense(th, v, t, args)
	}
	return o
}

func callSense(th *eval.Thread, v eval.Value, t *eval.Tool, args json.RawMessage) (string, []model.Image, error) {
	given, err := argumentsOf(t.Name(), t.Params(), args)
	if err != nil {
		return "", nil, err
	}
	r, err := th.CallLabeled(v, nil, given)
	if err != nil {
		return "", nil, err
	}
	s, err := eval.Text(r)
	return s, nil, err
}

// argumentsOf reads the arguments that a model wrote; what has a default may be
// missing.
func argumentsOf(name string, params []*ast.Param, args json.RawMessage) ([]eval.Label, error) {
	given, err := FromJSON(args)
	if err != nil {
		return nil, err
	}
	m, _ := given.AsMap()
	var out []eval.Label
	for _, p := range params {
		x, ok := m.Get(p.Name)
		switch {
		case ok:
			out = append(out, eval.Label{Name: p.Name, Value: x})
		case p.Default == nil:
			return nil, fail("argument '%s' of '%s' is missing", p.Name, name)
		}
	}
	return out, nil
}

// toolSchema describes parameters as a JSON Schema.
func toolSchema(params []*ast.Param) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, p := range params {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(p.Name)
		b.Write(name)
		b.WriteByte(':')
		b.WriteString(typeSchema(p.Type))
		if p.Default == nil {
			required = append(required, p.Name)
		}
	}
	list, _ := json.Marshal(required)
	b.WriteString(`},"required":`)
	b.Write(list)
	b.WriteByte('}')
	return b.Bytes()
}

func typeSchema(t *ast.TypeExpr) string {
	if t == nil {
		return "{}"
	}
	switch t.Name {
	case "Int":
		return `{"type":"integer"}`
	case "Float":
		return `{"type":"number"}`
	case "String":
		return `{"type":"string"}`
	case "Bool":
		return `{"type":"boolean"}`
	case "Map":
		return `{"type":"object"}`
	case "Array":
		items := "{}"
		if len(t.Args) == 1 {
			items = typeSchema(t.Args[0])
		}
		return `{"type":"array","items":` + items + `}`
	}
	return "{}"
}

// Arguments reads the arguments of a call from outside, a JSON object, for a
// tool or an action: as labels in the order of its parameters. Unknown ones are
// refused.
func Arguments(name string, params []*ast.Param, args json.RawMessage) ([]eval.Label, error) {
	raw, err := objectArgs(args)
	if err != nil {
		return nil, err
	}
	if err := model.CheckArgs(toolSchema(params), raw); err != nil {
		return nil, fail("'%s': %v", name, err)
	}
	out, err := argumentsOf(name, params, raw)
	if err != nil {
		return nil, err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, fail("the arguments are not usable: %v", err)
	}
	if len(given) == len(out) {
		return out, nil
	}
	var known []string
	for _, p := range params {
		known = append(known, p.Name)
		delete(given, p.Name)
	}
	for unknown := range given {
		return nil, fail("'%s' has no argument '%s'%s", name, unknown, didYouMean(unknown, known))
	}
	return out, nil
}

// Schema gives the JSON Schema of a tool's or an action's arguments.
func Schema(params []*ast.Param) json.RawMessage { return toolSchema(params) }
