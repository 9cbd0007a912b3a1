package check

import (
	"fmt"
	"slices"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// annotated looks at a declaration with a type.
func (c *checker) annotated(at place, s *ast.VarDecl) {
	if got := c.misfit(at, s.Type, s.Value); got != "" {
		c.add(at, Error, "type", s.P, fmt.Sprintf("cannot assign value of type %s to '%s: %s'", got, s.Name, s.Type))
	}
}

// defaulted looks at a parameter with a default.
func (c *checker) defaulted(at place, p *ast.Param) {
	if got := c.misfit(at, p.Type, p.Default); got != "" && !p.DefaultsToNil() {
		c.add(at, Error, "type", p.P, fmt.Sprintf("the default of '%s' does not fit: expected %s, got %s", p.Name, p.Type, got))
	}
}

// returned looks at a return from a function that says what it returns.
func (c *checker) returned(at place, s *ast.ReturnStmt) {
	f := at.frame
	if f.result == nil {
		return
	}
	got := "Nil"
	if s.Value != nil {
		got = c.misfit(at, f.result, s.Value)
	} else if accepts(f.result, "Nil") {
		return
	}
	if got != "" {
		c.add(at, Error, "type", s.P, fmt.Sprintf("'%s' declared to return %s, got %s", f.name, f.result, got))
	}
}

func (c *checker) mustBeModel(at place, pos diag.Pos, x ast.Expr, msg string) {
	if t := c.typeOf(at, x); t.none(func(n string) bool { return n == "Model" }) {
		c.add(at, Error, "type", pos, msg+t[0])
	}
}

// apart looks at a value that is taken apart into several names.
func (c *checker) apart(at place, s *ast.DestructStmt) {
	n := len(s.Targets)
	if len(s.Values) > 1 {
		c.add(at, Error, "count", s.P, fmt.Sprintf("expected %d values to take apart, got %d", n, len(s.Values)))
		return
	}
	if t := c.typeOf(at, s.Values[0]); t.none(func(n string) bool { return n == "Array" }) {
		c.add(at, Error, "type", s.P, fmt.Sprintf("cannot take apart value of type %s into %d names", t[0], n))
	}
	if lit, ok := s.Values[0].(*ast.ArrayLit); ok && len(lit.Elems) != n {
		c.add(at, Error, "count", s.P, fmt.Sprintf("expected %d values to take apart, got %d", n, len(lit.Elems)))
	}
}

var iterable = []string{"Array", "String", "Map", "Python"}

func (c *checker) iterated(at place, s *ast.ForStmt) {
	if t := c.typeOf(at, s.Iter); t.none(func(n string) bool { return slices.Contains(iterable, n) }) {
		var notes []string
		if t.only("Int") {
			notes = append(notes, "to count, loop over range(...)")
		}
		c.add(at, Error, "type", s.Iter.Pos(), "cannot iterate over value of type "+t[0], notes...)
	}
}

func (c *checker) unary(at place, x *ast.UnaryExpr) {
	if x.Op == ast.OpNot {
		return
	}
	t := c.typeOf(at, x.X)
	if t.none(func(n string) bool { return n == "Int" || n == "Float" }) {
		c.add(at, Error, "type", x.P, "unary '-' requires a number, got "+t[0])
	}
}

func (c *checker) binary(at place, x *ast.BinaryExpr) {
	c.operands(at, x.Op, x.X, x.Y, x.OpPos)
}

func (c *checker) augmented(at place, x *ast.AssignExpr) {
	c.operands(at, x.Op, x.Target, x.Value, x.OpPos)
}

// operands asks the evaluator whether an operator takes any of the types that
// its operands may have.
func (c *checker) operands(at place, op ast.Op, x, y ast.Expr, pos diag.Pos) {
	f := operation(op)
	l, r := c.typeOf(at, x), c.typeOf(at, y)
	if f == nil || l == nil || r == nil {
		return
	}
	var first error
	for _, a := range l {
		for _, b := range r {
			err := f(sample(a), sample(b))
			if err == nil {
				return
			}
			if first == nil {
				first = err
			}
		}
	}
	if e, ok := first.(*diag.Error); ok {
		c.add(at, Error, "type", pos, e.Msg)
	}
}

// operation gives what an operator does, nil for one that takes everything.
func operation(op ast.Op) func(a, b eval.Value) error {
	switch op {
	case ast.OpAdd, ast.OpSub, ast.OpMul, ast.OpDiv, ast.OpMod, ast.OpFloorDiv, ast.OpPow:
		return func(a, b eval.Value) error { _, err := eval.Arith(op, a, b); return err }
	case ast.OpLt, ast.OpLe, ast.OpGt, ast.OpGe:
		return func(a, b eval.Value) error { _, err := eval.Compare(op, a, b); return err }
	}
	return nil
}

func (c *checker) index(at place, x *ast.IndexExpr) {
	t, k := c.typeOf(at, x.X), c.typeOf(at, x.Index)
	switch {
	case t.only("Int", "Float", "Bool", "Nil", "Function"):
		c.add(at, Error, "type", x.Lbrack, "cannot index into type "+t[0])
	case t.only("Array", "String") && k.none(func(n string) bool { return n == "Int" }):
		c.add(at, Error, "type", x.Lbrack, "index must be Int, got "+k[0])
	case t.only("Map") && k.none(func(n string) bool { return n == "String" }):
		c.add(at, Error, "type", x.Lbrack, "map keys must be String, got "+k[0])
	}
}

func (c *checker) mapKeys(at place, x *ast.MapLit) {
	for _, e := range x.Entries {
		if k := c.typeOf(at, e.Key); k.none(func(n string) bool { return n == "String" }) {
			c.add(at, Error, "type", e.Key.Pos(), "map keys must be String, got "+k[0])
		}
	}
}

// errorMembers are those of a caught error.
var errorMembers = []string{"kind", "message", "line", "file"}

// member looks at x.name where it is known what x is.
func (c *checker) member(at place, x *ast.MemberExpr) {
	if m := c.moduleOf(at, x.X); m != nil {
		if !m.has(c, x.Name) {
			c.add(at, Error, "no-member", x.NamePos, fmt.Sprintf("module '%s' has no member '%s'", m.name, x.Name), hint(x.Name, m.members())...)
		}
		c.useMember(at, m, x)
		return
	}
	t := c.typeOf(at, x.X)
	if t == nil {
		return
	}
	if t.only("Error") && !slices.Contains(errorMembers, x.Name) {
		c.add(at, Error, "no-member", x.NamePos, fmt.Sprintf("error has no member '%s'", x.Name), hint(x.Name, errorMembers)...)
		return
	}
	if !t.only("Int", "Float", "Bool", "Nil", "String", "Array", "Map") {
		return
	}
	for _, n := range t {
		if _, ok := c.table.methods[n][x.Name]; ok {
			return
		}
	}
	c.add(at, Error, "no-member", x.NamePos, fmt.Sprintf("cannot access member '%s' on type %s", x.Name, t[0]), hint(x.Name, c.table.methodNames(t[0]))...)
}

func (t *table) methodNames(typ string) []string {
	var out []string
	for n := range t.methods[typ] {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
