package reftest

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/ast"
)

// function is a def or a lambda, with the scope it was declared in.
type function struct {
	name   string
	params []*ast.Param
	result *ast.TypeExpr
	body   *ast.Block
	expr   ast.Expr // a lambda's
	scope  *scope
}

// builtin is a function of the core, or a method read as a value.
type builtin struct {
	name string
	fn   builtinFunc
}

type builtinFunc struct {
	min, max int // max < 0: any number
	usage    string
	run      func(m *machine, args []value) value
}

// argument is one of a call.
type argument struct {
	label string
	v     value
}

func (m *machine) call(e *ast.CallExpr, s *scope) value {
	f := m.eval(e.Fun, s)
	var args []argument
	for _, a := range e.Args {
		args = append(args, argument{a.Label, m.eval(a.Value, s)})
	}
	m.line = int(e.P.Line)
	m.where = s
	v := m.apply(f, args)
	m.line = int(e.P.Line)
	return v
}

func (m *machine) apply(f value, args []argument) value {
	switch f := f.(type) {
	case *function:
		line := m.line
		vals := m.arrange(f.name, f.params, args)
		m.checkTypes(f.name, f.params, vals)
		v := m.enter(func() value { return m.body(f, vals) })
		if f.result != nil && !fits(f.result, v) {
			m.line = line
			m.fail("type", "'%s' declared to return %s, got %s", f.name, f.result, typeName(v))
		}
		return v
	case *builtin:
		return m.builtin(f, args)
	case *tool:
		return f.call(m, args)
	case *actionDecl:
		return f.prepare(m, args)
	}
	for _, a := range args {
		if a.label != "" {
			m.fail("runtime", "labeled arguments are only supported for a handful of builtins (e.g. inference(...)) -- not %s", typeName(f))
		}
	}
	m.fail("runtime", "value of type %s is not callable", typeName(f))
	return nil
}

// enter runs a body as a call from the place of the running call.
func (m *machine) enter(body func() value) (v value) {
	calls, tx := m.calls(), m.tx
	m.active = append(m.active[:len(m.active):len(m.active)], m.where)
	m.nested(func() { v = body() })
	m.unwind(calls)
	m.tx = tx
	return v
}

func (m *machine) body(f *function, vals []value) value {
	s := newScope(f.scope)
	m.bind(s, f.params, vals)
	if f.expr != nil {
		return m.eval(f.expr, s)
	}
	return m.run(f.body, s)
}

// run runs the body of a function or the like; its result is nil where it does
// not return one.
func (m *machine) run(b *ast.Block, s *scope) value {
	if _, v := m.block(b, s, context{inBody: true}); v != nil {
		return v
	}
	return null{}
}

// bind sets the parameters in order; a default sees those before it.
func (m *machine) bind(s *scope, params []*ast.Param, vals []value) {
	for i, p := range params {
		if vals[i] == nil {
			vals[i] = m.eval(p.Default, s)
		}
		s.vars[p.Name] = vals[i]
	}
}

// arrange puts arguments in the places of the parameters; one left to its
// default is nil.
func (m *machine) arrange(name string, params []*ast.Param, args []argument) []value {
	least := 0
	for i, p := range params {
		if p.Default == nil {
			least = i + 1
		}
	}
	labels := false
	for _, a := range args {
		labels = labels || a.label != ""
	}
	if len(args) > len(params) || !labels && len(args) < least {
		m.count(name, least, len(params), len(args))
	}
	vals := make([]value, len(params))
	for i, a := range args {
		if a.label != "" {
			i = m.labelled(name, params, a.label)
			if vals[i] != nil {
				m.fail("runtime", "'%s' got more than one value for '%s'", name, a.label)
			}
		}
		vals[i] = a.v
	}
	for i, p := range params {
		if vals[i] == nil && p.Default == nil {
			m.fail("runtime", "'%s' needs a value for '%s'", name, p.Name)
		}
	}
	return vals
}

func (m *machine) labelled(name string, params []*ast.Param, label string) int {
	for i, p := range params {
		if p.Name == label {
			return i
		}
	}
	m.fail("runtime", "'%s' has no parameter '%s'", name, label)
	return 0
}

func (m *machine) count(name string, least, most, got int) {
	want := strconv.Itoa(least)
	if most < 0 {
		want = "at least " + want
	} else if most != least {
		want += " to " + strconv.Itoa(most)
	}
	m.fail("runtime", "'%s' expects %s argument(s), got %d", name, want, got)
}

func (m *machine) checkTypes(name string, params []*ast.Param, vals []value) {
	for i, p := range params {
		if vals[i] != nil && p.Type != nil && !fits(p.Type, vals[i]) {
			m.fail("type", "argument '%s' of '%s' expects %s, got %s", p.Name, name, p.Type, typeName(vals[i]))
		}
	}
}

func (m *machine) builtin(b *builtin, args []argument) value {
	vals := make([]value, len(args))
	for i, a := range args {
		if a.label != "" {
			panic(discard{})
		}
		vals[i] = a.v
	}
	if n := len(vals); n < b.fn.min || b.fn.max >= 0 && n > b.fn.max {
		if b.fn.usage != "" {
			m.fail("runtime", "%s", b.fn.usage)
		}
		m.count(b.name, b.fn.min, b.fn.max, n)
	}
	return b.fn.run(m, vals)
}

// member is x.name.
func (m *machine) member(x value, name string) value {
	switch x := x.(type) {
	case *agent:
		return x.member(m, name)
	case *action:
		return x.member(m, name)
	case *caught:
		switch name {
		case "kind":
			return x.f.kind
		case "message":
			return x.f.msg
		case "line":
			return integer(x.f.line)
		case "file":
			return "test.sns"
		}
		m.fail("runtime", "error has no member '%s'", name)
	}
	m.fail("runtime", "cannot access member '%s' on type %s", name, typeName(x))
	return nil
}

var builtinTable map[string]builtinFunc

func init() { // the table mentions functions that mention it
	builtinTable = map[string]builtinFunc{
		"print":     {0, -1, "", (*machine).print},
		"len":       {1, 1, "", (*machine).length},
		"range":     {1, 3, "range() expects 1 to 3 arguments", (*machine).makeRange},
		"str":       {1, 1, "", func(m *machine, a []value) value { return m.show(a[0]) }},
		"type_of":   {1, 1, "", func(m *machine, a []value) value { return typeName(a[0]) }},
		"push":      {2, 2, "", (*machine).push},
		"assert":    {1, 2, "assert() expects 1 or 2 arguments", (*machine).assert},
		"start":     {1, 1, "", (*machine).start},
		"resume":    {1, 2, "resume() expects 1 or 2 arguments (agent, value?)", (*machine).resume},
		"pause":     {0, 1, "pause() expects 0 or 1 arguments (an optional reason)", (*machine).pause},
		"audit_log": {0, 0, "", (*machine).auditLog},
		"verify":    removed("verify"),
		"approve":   removed("approve"),
		"rollback":  removed("rollback"),
	}
}

func removed(name string) builtinFunc {
	return builtinFunc{0, -1, "", func(m *machine, _ []value) value {
		m.fail("runtime", "%s(action) has been replaced -- use action.%s() instead", name, name)
		return nil
	}}
}

func (m *machine) print(args []value) value {
	var parts []string
	for _, a := range args {
		parts = append(parts, m.show(a))
	}
	m.out.WriteString(strings.Join(parts, " ") + "\n")
	return null{}
}

func (m *machine) length(args []value) value {
	switch x := args[0].(type) {
	case string:
		return integer(len([]rune(x)))
	case *array:
		return integer(len(x.elems))
	case *dict:
		return integer(len(x.keys))
	}
	m.fail("runtime", "len() not supported for type %s", typeName(args[0]))
	return nil
}

func (m *machine) makeRange(args []value) value {
	n := []*big.Int{big.NewInt(0), nil, big.NewInt(1)}
	for i, v := range args {
		x, ok := v.(*big.Int)
		if !ok {
			m.fail("runtime", "range() expects Int arguments, got %s", typeName(v))
		}
		n[i] = x
	}
	if len(args) == 1 {
		n[0], n[1] = big.NewInt(0), n[0]
	}
	if n[2].Sign() == 0 {
		m.fail("runtime", "range()'s step must not be 0")
	}
	a := &array{}
	for x := n[0]; x.Cmp(n[1]) == -n[2].Sign(); x = new(big.Int).Add(x, n[2]) {
		m.spend(1)
		a.elems = append(a.elems, x)
	}
	return a
}

func (m *machine) push(args []value) value {
	a, ok := args[0].(*array)
	if !ok {
		m.fail("runtime", "push() expects an Array as its first argument")
	}
	a.elems = append(a.elems, args[1])
	return a
}

func (m *machine) assert(args []value) value {
	if truthy(args[0]) {
		return null{}
	}
	msg := "assertion failed"
	if len(args) == 2 {
		msg = m.show(args[1])
	}
	m.fail("runtime", "%s", msg)
	return nil
}

func (m *machine) auditLog([]value) value {
	a := &array{}
	for _, line := range m.audit {
		a.elems = append(a.elems, line)
	}
	return a
}

// note makes an audit entry of the place of the running call.
func (m *machine) note(subject, event, detail string) {
	m.noteAt(m.line, subject, event, detail)
}

func (m *machine) noteAt(line int, subject, event, detail string) {
	s := subject + " -> " + event
	if line > 0 {
		s = fmt.Sprintf("[line %d] ", line) + s
	}
	if detail != "" {
		s += " (" + detail + ")"
	}
	if l := lineageOf(m.where); l != "" {
		s += " (via " + l + ")"
	}
	m.audit = append(m.audit, s)
}
