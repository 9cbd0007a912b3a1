package check

import (
	"slices"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/eval"
)

// types are the types that a value may have; nil is not known. Whatever the
// value is, it has one of them.
type types []string

func (t types) add(u types) types {
	out := slices.Clone(t)
	for _, n := range u {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// union gives the types of a value that is one of several; not known where one
// of them is not.
func union(all ...types) types {
	var out types
	for _, t := range all {
		if t == nil {
			return nil
		}
		out = out.add(t)
	}
	return out
}

func (t types) only(names ...string) bool {
	return t != nil && !slices.ContainsFunc(t, func(n string) bool { return !slices.Contains(names, n) })
}

// none reports whether t is known and f holds for none of its types.
func (t types) none(f func(name string) bool) bool { return t != nil && !slices.ContainsFunc(t, f) }

// objectTypes are the types that an annotation can name besides the core ones.
var objectTypes = []string{"Model", "Agent", "Action", "Tool", "Memory", "Skill", "McpServer", "Future", "Python"}

var coreTypes = []string{"Int", "Float", "String", "Bool", "Nil", "Array", "Map", "Function"}

// accepts reports whether a value of a type may fit an annotation.
func accepts(t *ast.TypeExpr, name string) bool {
	switch {
	case t == nil:
		return true
	case t.Name == "Float":
		return name == "Float" || name == "Int"
	case slices.Contains(coreTypes, t.Name), slices.Contains(objectTypes, t.Name):
		return t.Name == name
	case strings.EqualFold(t.Name, "Answer"):
		return name == "Answer"
	}
	return true
}

// declaredTypes gives the types that an annotation leaves.
func declaredTypes(t *ast.TypeExpr) types {
	switch {
	case t == nil:
		return nil
	case t.Name == "Float":
		return types{"Float", "Int"}
	case slices.Contains(coreTypes, t.Name), slices.Contains(objectTypes, t.Name):
		return types{t.Name}
	case strings.EqualFold(t.Name, "Answer"):
		return types{"Answer"}
	}
	return nil
}

// misfit gives the type that a value certainly has and an annotation certainly
// refuses, "" where that is not certain.
func (c *checker) misfit(at place, t *ast.TypeExpr, x ast.Expr) string {
	if t == nil {
		return ""
	}
	ts := c.typeOf(at, x)
	if ts.none(func(n string) bool { return accepts(t, n) }) {
		return ts[0]
	}
	lit, ok := x.(*ast.ArrayLit)
	if ok && t.Name == "Array" && len(t.Args) == 1 {
		for _, e := range lit.Elems {
			if c.misfit(at, t.Args[0], e) != "" {
				return "Array"
			}
		}
	}
	m, ok := x.(*ast.MapLit)
	if ok && t.Name == "Map" && len(t.Args) == 1 {
		for _, e := range m.Entries {
			if c.misfit(at, t.Args[0], e.Value) != "" {
				return "Map"
			}
		}
	}
	return ""
}

// typeOf gives the types that an expression may have.
func (c *checker) typeOf(at place, x ast.Expr) types {
	if t, ok := c.types[x]; ok {
		return t
	}
	t := c.infer(at, x)
	c.types[x] = t
	return t
}

func (c *checker) infer(at place, x ast.Expr) types {
	switch x := x.(type) {
	case *ast.IntLit:
		return types{"Int"}
	case *ast.FloatLit:
		return types{"Float"}
	case *ast.StringLit, *ast.FString:
		return types{"String"}
	case *ast.BoolLit:
		return types{"Bool"}
	case *ast.NilLit:
		return types{"Nil"}
	case *ast.ArrayLit:
		return types{"Array"}
	case *ast.MapLit:
		return types{"Map"}
	case *ast.Lambda:
		return types{"Function"}
	case *ast.Ident:
		return c.nameTypes(at, x)
	case *ast.UnaryExpr:
		return c.unaryTypes(at, x)
	case *ast.BinaryExpr:
		return c.binaryTypes(at, x)
	case *ast.CondExpr:
		return union(c.typeOf(at, x.Then), c.typeOf(at, x.Else))
	case *ast.AssignExpr:
		if x.Op == ast.OpNone {
			return c.typeOf(at, x.Value)
		}
	case *ast.SliceExpr:
		if t := c.typeOf(at, x.X); t.only("String") || t.only("Array") {
			return t
		}
	case *ast.CallExpr:
		return c.callTypes(at, x)
	}
	return nil
}

// nameTypes gives what a name may hold: what any of the places that bind it
// gives it.
func (c *checker) nameTypes(at place, x *ast.Ident) types {
	bs := at.scope.lookup(x.Name)
	if c.table.builtin(x.Name) && len(bs) != 1 {
		return nil
	}
	if len(bs) == 0 || c.table.builtin(x.Name) && !bs[0].always && !c.setBefore(bs[0], at) {
		return nil
	}
	var all []types
	for _, b := range bs {
		all = append(all, c.bindingTypes(b))
	}
	return union(all...)
}

// bindingTypes gives what a binding may hold. A name whose value depends on
// itself is not known.
func (c *checker) bindingTypes(b *binding) types {
	if t, ok := c.bindings[b]; ok {
		return t
	}
	c.bindings[b] = nil
	var all []types
	for _, s := range b.sites {
		t := s.kind
		if s.value != nil {
			t = c.typeOf(s.at, s.value)
		}
		all = append(all, t)
	}
	c.bindings[b] = union(all...)
	return c.bindings[b]
}

func (c *checker) unaryTypes(at place, x *ast.UnaryExpr) types {
	if x.Op == ast.OpNot {
		return types{"Bool"}
	}
	if t := c.typeOf(at, x.X); t.only("Int", "Float") {
		return t
	}
	return nil
}

func (c *checker) binaryTypes(at place, x *ast.BinaryExpr) types {
	switch x.Op {
	case ast.OpAnd, ast.OpOr:
		return union(c.typeOf(at, x.X), c.typeOf(at, x.Y))
	case ast.OpEq, ast.OpNe, ast.OpLt, ast.OpLe, ast.OpGt, ast.OpGe, ast.OpIn, ast.OpNotIn:
		return types{"Bool"}
	}
	l, r := c.typeOf(at, x.X), c.typeOf(at, x.Y)
	switch {
	case x.Op == ast.OpAdd && l.only("String") && r.only("String"):
		return types{"String"}
	case x.Op == ast.OpAdd && l.only("Array") && r.only("Array"):
		return types{"Array"}
	case !l.only("Int", "Float") || !r.only("Int", "Float"):
		return nil
	case x.Op == ast.OpDiv:
		return types{"Float"}
	case x.Op == ast.OpAdd || x.Op == ast.OpSub || x.Op == ast.OpMul || x.Op == ast.OpMod:
		if l.only("Int") && r.only("Int") {
			return types{"Int"}
		}
		if l.only("Float") || r.only("Float") {
			return types{"Float"}
		}
	}
	return types{"Int", "Float"}
}

// sample gives a value of a type, for asking the evaluator what it would say.
func sample(name string) eval.Value {
	switch name {
	case "Int":
		return eval.Int(1)
	case "Float":
		return eval.Float(1)
	case "String":
		return eval.String("a")
	case "Bool":
		return eval.Bool(true)
	case "Nil":
		return eval.Nil()
	case "Array":
		return eval.ArrayOf()
	case "Map":
		return eval.NewMap().Value()
	}
	return eval.Obj(stand(name))
}

// stand stands for a value of a type that has no operators.
type stand string

// TypeName gives the type.
func (s stand) TypeName() string { return string(s) }

// String gives the type.
func (s stand) String() string { return string(s) }
