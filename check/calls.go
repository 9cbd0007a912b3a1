package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// callee is what a call certainly calls.
type callee struct {
	name string
	// sig is that of a builtin or of a standard module's function, nil for what is
	// declared in the program.
	sig    *eval.Signature
	params []*ast.Param
	result types
	site   *site // what declares it, nil for sig
}

// target gives what an expression that is called certainly is.
func (c *checker) target(at place, x ast.Expr) (callee, bool) {
	switch x := x.(type) {
	case *ast.Ident:
		return c.named(at, x.Name)
	case *ast.MemberExpr:
		if m := c.moduleOf(at, x.X); m != nil {
			return c.inModule(m, x.Name, 0)
		}
		t := c.typeOf(at, x.X)
		if len(t) != 1 {
			return callee{}, false
		}
		if sig, ok := c.table.methods[t[0]][x.Name]; ok {
			return callee{name: sig.Name, sig: &sig, result: methodResults()[sig.Name]}, true
		}
	}
	return callee{}, false
}

func (c *checker) named(at place, name string) (callee, bool) {
	bs := at.scope.lookup(name)
	if len(bs) == 0 {
		sig, ok := c.table.builtins[name]
		if !ok || c.rebound[name] {
			return callee{}, false
		}
		return callee{name: name, sig: &sig, result: results()[name]}, true
	}
	if len(bs) > 1 || c.table.builtin(name) && !c.setBefore(bs[0], at) {
		return callee{}, false
	}
	s, ok := bs[0].certain()
	if !ok {
		return callee{}, false
	}
	return c.declared(s, 0)
}

// setBefore reports whether a name that is a builtin's too is certainly the
// program's own at a place.
func (c *checker) setBefore(b *binding, at place) bool {
	s, ok := b.certain()
	if !ok || s.decl == nil {
		return false
	}
	if s.frame == at.frame {
		return s.seq < at.seq
	}
	for f := at.frame; f != nil; f = f.parent {
		if f.parent == s.frame {
			return f.decl > s.seq
		}
	}
	return false
}

// maxAliases bounds how far imports of imports are followed.
const maxAliases = 20

// declared gives what a site binds its name to.
func (c *checker) declared(s *site, depth int) (callee, bool) {
	if s.mod != nil && s.from != "" {
		return c.inModule(s.mod, s.from, depth+1)
	}
	switch d := s.decl.(type) {
	case *ast.FuncDecl:
		return callee{name: d.Name, params: d.Params, result: declaredTypes(d.Result), site: s}, true
	case *ast.ActionDecl:
		return callee{name: d.Name, params: d.Params, result: types{"Action"}, site: s}, true
	case *ast.ToolDecl:
		r := declaredTypes(d.Result)
		if d.Async {
			r = types{"Future"}
		}
		return callee{name: d.Name, params: d.Params, result: r, site: s}, true
	}
	return callee{}, false
}

func (c *checker) inModule(m *module, name string, depth int) (callee, bool) {
	if m.std != nil {
		v, ok := m.std[name]
		if !ok {
			return callee{}, false
		}
		sig, ok := eval.SignatureOf(v)
		return callee{name: sig.Name, sig: &sig}, ok
	}
	b := m.scope.names[name]
	if b == nil || depth > maxAliases {
		return callee{}, false
	}
	s, ok := b.certain()
	if !ok {
		return callee{}, false
	}
	return c.declared(s, depth)
}

// moduleOf gives the module that an expression certainly is, nil where it is
// none or not known.
func (c *checker) moduleOf(at place, x ast.Expr) *module {
	id, ok := x.(*ast.Ident)
	if !ok {
		return nil
	}
	bs := at.scope.lookup(id.Name)
	if len(bs) != 1 {
		return nil
	}
	s, ok := bs[0].certain()
	if !ok || s.from != "" {
		return nil
	}
	return s.mod
}

func (c *checker) callTypes(at place, x *ast.CallExpr) types {
	f, ok := c.target(at, x.Fun)
	if !ok {
		return nil
	}
	return f.result
}

// call looks at a call: what is called, the number and labels of its arguments,
// and their types.
func (c *checker) call(at place, x *ast.CallExpr) {
	f, ok := c.target(at, x.Fun)
	if !ok {
		c.callable(at, x)
		return
	}
	c.builtinNeeds(at, x, f)
	switch {
	case f.sig != nil && f.sig.Params != nil:
		c.arrange(at, x, f, paramsOf(f.sig))
	case f.sig != nil:
		c.builtinCall(at, x, f.sig)
	default:
		c.arrange(at, x, f, f.params)
	}
}

// paramsOf gives the parameters of a standard module's function.
func paramsOf(sig *eval.Signature) []*ast.Param {
	out := make([]*ast.Param, len(sig.Params))
	for i, n := range sig.Params {
		out[i] = &ast.Param{Name: n}
		if i >= sig.Required {
			out[i].Default = &ast.NilLit{}
		}
	}
	return out
}

// callable reports a call of what certainly cannot be called.
func (c *checker) callable(at place, x *ast.CallExpr) {
	if t := c.typeOf(at, x.Fun); t.only("Int", "Float", "String", "Bool", "Nil", "Array", "Map", "Error", "Memory", "Agent", "Model") {
		msg := fmt.Sprintf("value of type %s is not callable", t[0])
		if labels, _ := split(x.Args); labels != nil {
			msg = "labeled arguments are only supported for a handful of builtins (e.g. inference(...)) -- not " + t[0]
		}
		c.add(at, Error, "not-callable", x.P, msg)
	}
}

func (c *checker) builtinCall(at place, x *ast.CallExpr, sig *eval.Signature) {
	labels, n := split(x.Args)
	if len(labels) > 0 && !sig.Labels {
		c.add(at, Error, "labels", x.P, fmt.Sprintf("'%s' does not accept labeled arguments (%s)", sig.Name, strings.Join(labels, ", ")))
		return
	}
	if n >= sig.Min && (sig.Max < 0 || n <= sig.Max) {
		return
	}
	msg := sig.Usage
	if msg == "" {
		msg = message(eval.CountError(sig.Name, sig.Min, sig.Max, n))
	}
	c.add(at, Error, "arguments", x.P, msg)
}

func message(err error) string {
	if e, ok := err.(*diag.Error); ok {
		return e.Msg
	}
	return err.Error()
}

// split gives the labels of a call and the number of its positional arguments.
func split(args []ast.Arg) (labels []string, positional int) {
	for _, a := range args {
		if a.Label == "" {
			positional++
		} else {
			labels = append(labels, a.Label)
		}
	}
	return labels, positional
}

// arrange puts the arguments of a call to the parameters, as the evaluator does.
func (c *checker) arrange(at place, x *ast.CallExpr, f callee, params []*ast.Param) {
	least := 0
	for i, p := range params {
		if p.Default == nil {
			least = i + 1
		}
	}
	_, n := split(x.Args)
	if len(x.Args) > len(params) || n == len(x.Args) && n < least {
		c.add(at, Error, "arguments", x.P, message(eval.CountError(f.name, least, len(params), len(x.Args))), signature(f.name, params))
		return
	}
	filled := make([]bool, len(params))
	for i, a := range x.Args {
		k := i
		if a.Label != "" {
			k = slices.IndexFunc(params, func(p *ast.Param) bool { return p.Name == a.Label })
		}
		if k < 0 {
			c.add(at, Error, "labels", a.LabelPos, fmt.Sprintf("'%s' has no parameter '%s'", f.name, a.Label), labelNotes(f.name, a.Label, params)...)
			return
		}
		if filled[k] {
			c.add(at, Error, "labels", a.LabelPos, fmt.Sprintf("'%s' got more than one value for '%s'", f.name, a.Label))
			return
		}
		filled[k] = true
		c.argument(at, f.name, params[k], a.Value)
	}
	for i, p := range params {
		if p.Default == nil && !filled[i] {
			c.add(at, Error, "arguments", x.P, fmt.Sprintf("'%s' needs a value for '%s'", f.name, p.Name), signature(f.name, params))
			return
		}
	}
}

func (c *checker) argument(at place, fn string, p *ast.Param, x ast.Expr) {
	if got := c.misfit(at, p.Type, x); got != "" && !(got == "Nil" && p.DefaultsToNil()) {
		c.add(at, Error, "type", x.Pos(), fmt.Sprintf("argument '%s' of '%s' expects %s, got %s", p.Name, fn, p.Type, got))
	}
}

func labelNotes(fn, label string, params []*ast.Param) []string {
	var names []string
	for _, p := range params {
		names = append(names, p.Name)
	}
	if h := hint(label, names); h != nil {
		return h
	}
	return []string{signature(fn, params)}
}

// signature words how a function is called.
func signature(fn string, params []*ast.Param) string {
	var ps []string
	for _, p := range params {
		s := p.Name
		if p.Type != nil {
			s += ": " + p.Type.String()
		}
		if p.Default != nil {
			s += "?"
		}
		ps = append(ps, s)
	}
	return "it is " + fn + "(" + strings.Join(ps, ", ") + ")"
}
