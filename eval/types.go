package eval

import (
	"strings"

	"github.com/sense-lang/sense/ast"
)

// typeCheck is a compiled annotation; nil admits anything.
type typeCheck struct {
	text string
	ok   func(v Value) bool
}

// typeOf compiles an annotation; one that admits anything gives nil.
func (c *compiler) typeOf(t *ast.TypeExpr) *typeCheck {
	if t == nil {
		return nil
	}
	ok := checker(t)
	if ok == nil {
		return nil
	}
	return &typeCheck{t.String(), ok}
}

// checker gives the test of an annotation, nil where it admits anything.
func checker(t *ast.TypeExpr) func(v Value) bool {
	switch t.Name {
	case "Int":
		return isIntish
	case "Float":
		return isNumber
	case "String":
		return isStr
	case "Bool":
		return isBool
	case "Nil":
		return isNil
	case "Function":
		return func(v Value) bool { k := kindOf(v); return k == KFunc || k == KBuiltin }
	case "Array":
		return arrayChecker(t)
	case "Map":
		return mapChecker(t)
	case "Model", "Agent", "Action", "Tool", "Memory", "Skill", "McpServer", "Future", "Python":
		return objectChecker(t.Name)
	}
	if strings.EqualFold(t.Name, "Answer") {
		return answerChecker(t)
	}
	return nil
}

func objectChecker(name string) func(v Value) bool {
	return func(v Value) bool { return kindOf(v) == KObject && toBox(v).o.TypeName() == name }
}

func answerChecker(t *ast.TypeExpr) func(v Value) bool {
	is := objectChecker("Answer")
	if len(t.Args) != 1 {
		return is
	}
	inner := checker(t.Args[0])
	if inner == nil {
		return is
	}
	return func(v Value) bool {
		if !is(v) {
			return false
		}
		a, ok := toBox(v).o.(Nested)
		return !ok || inner(a.Inner())
	}
}

func arrayChecker(t *ast.TypeExpr) func(v Value) bool {
	if len(t.Args) != 1 {
		return isArr
	}
	elem := checker(t.Args[0])
	if elem == nil {
		return isArr
	}
	return func(v Value) bool {
		if !isArr(v) {
			return false
		}
		a := toArr(v)
		if a.tp != nil {
			return len(a.ns) == 0 || elem(a.At(0)) // all of one kind
		}
		for _, x := range a.vs {
			if !elem(x) {
				return false
			}
		}
		return true
	}
}

func mapChecker(t *ast.TypeExpr) func(v Value) bool {
	if len(t.Args) != 1 {
		return isMap
	}
	elem := checker(t.Args[0])
	if elem == nil {
		return isMap
	}
	return func(v Value) bool {
		if !isMap(v) {
			return false
		}
		for _, e := range toMap(v).entries {
			if e.key != nil && !elem(e.v) {
				return false
			}
		}
		return true
	}
}

// CheckType reports whether a value fits an annotation.
func CheckType(t *ast.TypeExpr, v Value) bool {
	ok := checker(t)
	return ok == nil || ok(v)
}

// ParseType reads an annotation from text, as in "Array<String>"; ok is false
// where it is none.
func ParseType(text string) (t *ast.TypeExpr, ok bool) {
	t, rest := parseType(strings.TrimSpace(text), 0)
	return t, t != nil && rest == ""
}

func parseType(s string, depth int) (*ast.TypeExpr, string) {
	n := 0
	for n < len(s) && (s[n] == '_' || s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	if n == 0 || depth > 20 {
		return nil, s
	}
	t := &ast.TypeExpr{Name: s[:n]}
	s = strings.TrimLeft(s[n:], " ")
	if !strings.HasPrefix(s, "<") {
		return t, s
	}
	for {
		arg, rest := parseType(strings.TrimLeft(s[1:], " "), depth+1)
		if arg == nil || rest == "" {
			return nil, s
		}
		t.Args = append(t.Args, arg)
		s = rest
		if s[0] != ',' {
			break
		}
	}
	if s[0] != '>' {
		return nil, s
	}
	return t, strings.TrimLeft(s[1:], " ")
}
