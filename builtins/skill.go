package builtins

import (
	"fmt"

	"github.com/sense-lang/sense/eval"
)

// Skill is a named bundle of tools with a word on how to use them.
type Skill struct {
	name, description string
	tools             *eval.Array
}

// TypeName gives "Skill".
func (s *Skill) TypeName() string { return "Skill" }

// String gives <skill name (n tools)>.
func (s *Skill) String() string { return fmt.Sprintf("<skill %s (%d tools)>", s.name, s.tools.Len()) }

// Attr gives name, description and tools.
func (s *Skill) Attr(t *eval.Thread, name string) (eval.Value, error) {
	switch name {
	case "name":
		return eval.String(s.name), nil
	case "description":
		return eval.String(s.description), nil
	case "tools":
		return s.tools.Value(), nil
	}
	return eval.Value{}, fail("skill '%s' has no member '%s'", s.name, name)
}

func (d *Deps) skill(c *eval.Call) (eval.Value, error) {
	name, ok := c.Args[0].AsString()
	if !ok {
		return eval.Value{}, fail("skill()'s name argument must be a String")
	}
	desc, ok := c.Args[1].AsString()
	if !ok {
		return eval.Value{}, fail("skill()'s description argument must be a String")
	}
	given, ok := c.Args[2].AsArray()
	if !ok {
		return eval.Value{}, fail("skill()'s tools argument must be an Array, got %s", c.Args[2].TypeName())
	}
	if given.Len() == 0 {
		return eval.Value{}, fail("skill '%s' needs at least one tool", name)
	}
	for _, v := range given.Values() {
		if err := checkOffered(v); err != nil {
			return eval.Value{}, err
		}
	}
	s := &Skill{name, desc, given}
	v := eval.Obj(s)
	if d.OnDeclare != nil {
		at := c.Thread.Place()
		d.OnDeclare(eval.Declared{Kind: "skill", Name: name, Value: v, File: at.File(), Pos: at.Pos(), Doc: desc})
	}
	return v, nil
}

// checkOffered refuses what cannot be offered to a model.
func checkOffered(v eval.Value) error {
	switch t := v.AsObject().(type) {
	case *MCPTool:
		return nil
	case *eval.Tool:
		if t.Async() {
			return fail("tool '%s' is async -- async tools aren't supported here yet (its result is a pending Future, not a value)", t.Name())
		}
		if desc, ok := t.Description(); !ok || desc == "" {
			return fail(`tool '%s' has no description -- add one to expose it to a model, e.g. 'tool %s(...) "what it does":'`, t.Name(), t.Name())
		}
		return nil
	}
	return fail("only tools declared with 'tool' (or 'async tool') are accepted here, got %s", v.TypeName())
}
