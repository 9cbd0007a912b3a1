package builtins

import (
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"math"
)

// TypeMethods gives the methods of String, Array and Map by the types' names.
func TypeMethods() map[string]map[string]*eval.Method {
	return map[string]map[string]*eval.Method{
		"String": table("String", textMethods()),
		"Array":  table("Array", arrayMethods()),
		"Map":    table("Map", mapMethods()),
	}
}

func table(owner string, ms []eval.Method) map[string]*eval.Method {
	out := make(map[string]*eval.Method, len(ms))
	for i := range ms {
		ms[i].Named, ms[i].Doc = true, doc(owner+"."+ms[i].Name)
		out[ms[i].Name] = &ms[i]
	}
	return out
}

// self gives the value a method was called on.
func self(o eval.Object) eval.Value { return eval.Receiver(o) }

// intArg reads an Int argument.
func intArg(c *eval.Call, i int, method string) (int64, error) {
	n, ok := c.Args[i].AsInt()
	if b, isInt := c.Args[i].AsBig(); isInt && !ok { // as large as can be, which is too large for all
		return int64(b.Sign()) * (math.MaxInt64 / 2), nil
	}
	if !ok {
		return 0, fail("%s() expects an Int, got %s", method, c.Args[i].TypeName())
	}
	return n, nil
}

// textArg reads a String argument.
func textArg(c *eval.Call, i int, method string) (string, error) {
	s, ok := c.Args[i].AsString()
	if !ok {
		return "", fail("%s() expects a String, got %s", method, c.Args[i].TypeName())
	}
	return s, nil
}

// inOrder reports whether a sorts before b. Numbers and Strings have an order,
// each among their own kind; so have Arrays of them, element by element.
func inOrder(a, b eval.Value) (int, error) {
	var o ordering
	return o.compare(a, b, 0)
}

// ordering is one comparison of two values. Arrays that hold themselves, or the
// same array many times, have no order that could be found.
type ordering struct{ steps int }

// Limits of one comparison.
const (
	maxOrderDepth = 200
	maxOrderSteps = 1 << 24
)

func (o *ordering) compare(a, b eval.Value, depth int) (int, error) {
	x, ok1 := a.AsArray()
	y, ok2 := b.AsArray()
	if !ok1 || !ok2 {
		n, err := eval.Order(a, b)
		if err != nil {
			return 0, diag.New(diag.Runtime, "cannot sort %s beside %s", a.TypeName(), b.TypeName())
		}
		return n, nil
	}
	if depth > maxOrderDepth || o.steps > maxOrderSteps {
		return 0, fail("cannot sort arrays that hold themselves or nest too deeply")
	}
	for i := 0; i < x.Len() && i < y.Len(); i++ {
		o.steps++
		if n, err := o.compare(x.At(i), y.At(i), depth+1); n != 0 || err != nil {
			return n, err
		}
	}
	return x.Len() - y.Len(), nil
}
