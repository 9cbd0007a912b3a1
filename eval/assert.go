package eval

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// AssertionFailed is the message of an assert without one of its own.
const AssertionFailed = "assertion failed"

// assertCall compiles assert(a == b) so that its error knows both sides. It
// gives nil for other calls.
func (c *compiler) assertCall(e *ast.CallExpr, labels []string) expr {
	id, ok := e.Fun.(*ast.Ident)
	if !ok || id.Name != "assert" || len(e.Args) != 1 || labels != nil {
		return nil
	}
	b, ok := e.Args[0].Value.(*ast.BinaryExpr)
	if !ok || !compares(b.Op) {
		return nil
	}
	f, x, y := c.expr(e.Fun), c.expr(b.X), c.expr(b.Y)
	s, at := c.site(&e.P), &b.OpPos
	return func(fr fp) Value {
		v := f(fr)
		l, r := x(fr), y(fr)
		holds, err := compareAny(b.Op, l, r)
		if err != nil {
			fail(fr, at, err)
		}
		if holds || kindOf(v) != KBuiltin {
			return callN(fr, v, s, mkBool(holds))
		}
		out, err := threadOf(fr).callGo(fr, s.off, s.id, v, []Value{mkBool(false)}, nil)
		if err != nil {
			fail(fr, s.pos, withSides(err, b.Op, l, r))
		}
		return out
	}
}

func compares(op ast.Op) bool {
	switch op {
	case ast.OpEq, ast.OpNe, ast.OpLt, ast.OpLe, ast.OpGt, ast.OpGe, ast.OpIn, ast.OpNotIn:
		return true
	}
	return false
}

// compareAny gives what a comparison of any kind gives.
func compareAny(op ast.Op, l, r Value) (bool, error) {
	switch op {
	case ast.OpEq, ast.OpNe:
		eq, err := equalValues(l, r)
		return eq == (op == ast.OpEq), err
	case ast.OpIn, ast.OpNotIn:
		in, err := contains(r, l)
		return in == (op == ast.OpIn), err
	}
	return Compare(op, l, r)
}

// withSides adds to an error what the two sides of a comparison were.
func withSides(err error, op ast.Op, l, r Value) error {
	var e *diag.Error
	if !errors.As(err, &e) {
		return err
	}
	e.Notes = append(e.Notes, fmt.Sprintf("left of '%s':  %s", op, side(l)), fmt.Sprintf("right of '%s': %s", op, side(r)))
	return err
}

// Limits of how much of a side is shown.
const (
	maxSide      = 300 // characters
	maxSideDepth = 6   // of Arrays and Maps in each other
)

// side gives a value as a reader tells it from others: Strings in quotes, and
// what is no Array, Map or String with its type.
func side(v Value) string {
	s := written(v, 0)
	switch kindOf(v) {
	case KString, KArray, KMap, KNil, KBool:
	default:
		s += " (" + typeName(v) + ")"
	}
	if utf8.RuneCountInString(s) > maxSide {
		return string([]rune(s)[:maxSide]) + "..."
	}
	return s
}

// written gives a value as a program would write it, as far as that goes.
func written(v Value, depth int) string {
	var parts []string
	switch {
	case depth > maxSideDepth:
		return "..."
	case isStr(v):
		return Quote(toStr(v).s)
	case isArr(v):
		for i := 0; i < toArr(v).Len() && i <= maxSide; i++ {
			parts = append(parts, written(toArr(v).At(i), depth+1))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case isMap(v):
		for k, x := range toMap(v).All() {
			if len(parts) > maxSide {
				break
			}
			parts = append(parts, Quote(k)+": "+written(x, depth+1))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	s, err := Text(v)
	if err != nil {
		return "?"
	}
	return s
}
