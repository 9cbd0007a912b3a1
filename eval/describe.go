package eval

import (
	"maps"
	"slices"
	"strings"
)

// Lister is an Object that can name its members, for completion.
type Lister interface{ MemberNames() []string }

// MemberNames lists the members of a value for completion; a module's builtins
// are left out.
func (in *Interp) MemberNames(v Value) []string {
	if ms := in.cfg.TypeMethods[typeName(v)]; ms != nil {
		return slices.Sorted(maps.Keys(ms))
	}
	if isFunc(v) && in.cfg.TypeMethods != nil {
		return []string{"name", "doc", "params"}
	}
	switch o := v.AsObject().(type) {
	case *Module:
		return o.Names()
	case *Agent:
		return append([]string{"status", "name", "pause_reason", "doc"}, agentNames(o)...)
	case *Action:
		return []string{"name", "kind", "state", "approved", "args", "verify", "approve", "commit", "rollback", "describe"}
	case *Tool, *ActionDecl:
		return []string{"name", "doc", "params"}
	case *Future:
		return []string{"done"}
	case Lister:
		return o.MemberNames()
	}
	return nil
}

func agentNames(a *Agent) []string {
	var out []string
	if a.cells == nil {
		return nil
	}
	for i, n := range a.names {
		if a.cells[i].v.p != nil && n.name[0] != 0 {
			out = append(out, n.name)
		}
	}
	return out
}

// BuiltinNames lists the builtins.
func (in *Interp) BuiltinNames() []string {
	var out []string
	for n := range in.universe {
		out = append(out, n)
	}
	for n := range in.extra {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// Describe words what is known about a value: how it is called, and what its
// author wrote about it.
func Describe(v Value) string {
	switch {
	case isFunc(v):
		p := toFunc(v).proto
		return strings.TrimSpace("def " + p.name + "(" + paramList(p) + ")\n" + p.doc)
	case kindOf(v) == KBuiltin:
		b := toBuiltin(v)
		head, about, _ := strings.Cut(b.Doc, "\n")
		if head == "" {
			head = b.Name + "(...)"
		}
		return strings.TrimSpace(head + ", a builtin\n" + about)
	}
	switch o := v.AsObject().(type) {
	case *Tool:
		return strings.TrimSpace("tool " + o.Name() + "(" + paramList(o.fn.proto) + ")\n" + o.decl.Desc)
	case *ActionDecl:
		return strings.TrimSpace(o.kind() + " action " + o.Name() + "(" + paramList(o.fn.proto) + ")\n" + o.decl.Body.Doc)
	case *Agent:
		return strings.TrimSpace("agent " + o.Name() + "\n" + o.decl.Body.Doc)
	}
	return typeName(v) + " " + text(v)
}

func paramList(p *proto) string {
	var out []string
	for i := range p.params {
		s := p.params[i].name
		if q := p.params[i].ast; q != nil && q.Type != nil {
			s += ": " + q.Type.String()
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}
