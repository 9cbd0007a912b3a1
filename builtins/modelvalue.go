package builtins

import (
	"fmt"
	"strings"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/model"
)

// Model is a language model as a value.
type Model struct {
	deps     *Deps
	name     string
	provider string
	maxTurns int    // of a tool loop; 0 is the usual limit
	fallback *Model // asked when this one fails, nil for none
	client   func() model.Client
}

// TypeName gives "Model".
func (m *Model) TypeName() string { return "Model" }

// String gives <model name>.
func (m *Model) String() string { return "<model " + m.name + ">" }

// SetName is what a model declaration does.
func (m *Model) SetName(name string) { m.name = name }

// OwnerName stands before a method's name in messages.
func (m *Model) OwnerName() string { return m.name }

// Provider gives the service's name.
func (m *Model) Provider() string { return m.provider }

// Method finds ask.
func (m *Model) Method(name string) *eval.Method {
	if name == "ask" {
		return &modelAsk
	}
	return nil
}

var modelAsk = eval.Method{Name: "ask", Min: 1, Max: 1, Labels: true, Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
	return o.(*Model).askText(c, "ask", "", c.Args[0])
}}

// Attr gives the name.
func (m *Model) Attr(t *eval.Thread, name string) (eval.Value, error) {
	if name == "name" {
		return eval.String(m.name), nil
	}
	return eval.Value{}, m.noMember(name)
}

// noMember is the error of a member that is not there. Where a builtin does what
// was meant, it says how.
func (m *Model) noMember(name string) error {
	e := diag.New(diag.Runtime, "model '%s' has no member '%s'", m.name, name)
	switch name {
	case "ask_with_tools", "ask_with_memory":
		e.Notes = []string{fmt.Sprintf("write 'set delegation = %s', then %s(prompt, ...)", m.name, name)}
	case "conversation", "chat":
		e.Notes = []string{fmt.Sprintf("write conversation(%s)", m.name)}
	}
	return e
}

// delegation gives the model that the nearest `set delegation` names.
func delegation(c *eval.Call, message string) (*Model, error) {
	if v, ok := c.Thread.Place().Delegation(); ok {
		if m, ok := v.AsObject().(*Model); ok {
			return m, nil
		}
	}
	return nil, fail("%s", message)
}

const noModel = `ask%s() has no model configured — declare one (e.g. inference("mock")) and activate it with 'set delegation = <model>' first`

func (d *Deps) ask(c *eval.Call) (eval.Value, error) {
	m, err := delegation(c, fmt.Sprintf(noModel, ""))
	if err != nil {
		return eval.Value{}, err
	}
	return m.askText(c, "ask", "", c.Args[0])
}

func (d *Deps) askWithMemory(c *eval.Call) (eval.Value, error) {
	m, err := delegation(c, fmt.Sprintf(noModel, "_with_memory"))
	if err != nil {
		return eval.Value{}, err
	}
	if _, ok := c.Args[0].AsString(); !ok {
		return eval.Value{}, fail("ask_with_memory() expects a String prompt, got %s", c.Args[0].TypeName())
	}
	mem, ok := c.Args[1].AsObject().(Facts)
	if !ok {
		return eval.Value{}, fail("ask_with_memory() expects a Memory, got %s", c.Args[1].TypeName())
	}
	known, err := mem.Facts(c.Thread)
	if err != nil {
		return eval.Value{}, err
	}
	return m.askText(c, "ask_with_memory", known, c.Args[0])
}

// askText asks with one prompt; before stands before it.
func (m *Model) askText(c *eval.Call, who, before string, prompt eval.Value) (eval.Value, error) {
	o, err := readAsk(c, who)
	if err != nil {
		return eval.Value{}, err
	}
	p, ok := prompt.AsString()
	if !ok {
		return eval.Value{}, fail("%s() expects a String prompt, got %s", who, prompt.TypeName())
	}
	x := newExchange(c, m, o)
	x.req.Messages = []model.Message{{Role: model.RoleUser, Text: before + p}}
	return x.answer()
}

// allow checks the capability of a real model.
func (m *Model) allow(at eval.Place) error {
	if m.provider == "mock" {
		return nil
	}
	capability := "model." + m.provider
	d := at.Decide(capability)
	if d.Allowed {
		return at.Heed("model", m.name, capability, "")
	}
	if err := at.Event("model", m.name, "denied", "capability '"+capability+"' denied by policy"); err != nil {
		return err
	}
	e := diag.New(diag.Policy, "model '%s' requires capability '%s', which is denied by policy", m.name, capability)
	if n := d.Note(); n != "" {
		e.Notes = []string{n}
	}
	return e
}

// audited notes that a real model answered.
func (m *Model) audited(at eval.Place) error {
	if m.provider == "mock" {
		return nil
	}
	return at.Note(m.name, "model", "called", "")
}

// Answer is what a model answered.
type Answer struct {
	value      eval.Value
	confidence *float64
	source     string
	truncated  bool
	usage      usage
	actions    []eval.Value
}

// TypeName gives "Answer".
func (a *Answer) TypeName() string { return "Answer" }

// String gives answer<confidence>(value).
func (a *Answer) String() string {
	before, _, after := a.Parts()
	return before + a.value.String() + after
}

// Parts gives the text around that of the value.
func (a *Answer) Parts() (before string, inner eval.Value, after string) {
	c := "?"
	if a.confidence != nil {
		c = fmt.Sprintf("%.2f", *a.confidence)
	}
	return "answer<" + c + ">(", a.value, ")"
}

// Inner gives the value, for comparing and for the annotation Answer<T>.
func (a *Answer) Inner() eval.Value { return a.value }

// EqualBut compares confidence and source.
func (a *Answer) EqualBut(o eval.Object) bool {
	b, ok := o.(*Answer)
	if !ok || a.source != b.source || (a.confidence == nil) != (b.confidence == nil) {
		return false
	}
	return a.confidence == nil || *a.confidence == *b.confidence
}

// Attr gives value, confidence and source.
func (a *Answer) Attr(t *eval.Thread, name string) (eval.Value, error) {
	switch name {
	case "value":
		return a.value, nil
	case "confidence":
		if a.confidence == nil {
			return eval.Nil(), nil
		}
		return eval.Float(*a.confidence), nil
	case "source":
		return eval.String(a.source), nil
	case "actions":
		out := eval.NewArray(len(a.actions))
		for _, v := range a.actions {
			out.Push(v)
		}
		return out.Value(), nil
	case "usage":
		return a.usage.value(), nil
	case "truncated":
		return eval.Bool(a.truncated), nil
	}
	return eval.Value{}, fail("answer has no member '%s'", name)
}

// Facts is a memory that can stand before a question.
type Facts interface {
	// Facts gives the lines to stand before a prompt, empty without entries.
	Facts(t *eval.Thread) (string, error)
}

// factLines words the entries of a memory.
func factLines(keys, values []string) string {
	if len(keys) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Known information from memory:\n")
	for i, k := range keys {
		b.WriteString("- " + k + ": " + values[i] + "\n")
	}
	b.WriteString("\n")
	return b.String()
}
