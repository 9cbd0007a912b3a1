package builtins

import (
	"slices"
	"strings"

	"github.com/sense-lang/sense/eval"
)

// onArray makes a method of a function on the array.
func onArray(name string, least, most int, f func(c *eval.Call, a *eval.Array) (eval.Value, error)) eval.Method {
	return eval.Method{Name: name, Min: least, Max: most, Leaf: !slices.Contains(calling, name), Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
		a, _ := self(o).AsArray()
		return f(c, a)
	}}
}

// calling are the methods that call functions of the program.
var calling = []string{"sort", "map", "filter", "reduce"}

func arrayMethods() []eval.Method {
	return []eval.Method{
		onArray("push", 1, 1, func(c *eval.Call, a *eval.Array) (eval.Value, error) {
			a.Push(c.Args[0])
			return a.Value(), nil
		}),
		onArray("pop", 0, 0, arrayPop),
		onArray("insert", 2, 2, arrayInsert),
		onArray("remove", 1, 1, arrayRemove),
		onArray("contains", 1, 1, func(c *eval.Call, a *eval.Array) (eval.Value, error) {
			i, err := findIn(a, c.Args[0])
			return eval.Bool(i >= 0), err
		}),
		onArray("find", 1, 1, func(c *eval.Call, a *eval.Array) (eval.Value, error) {
			i, err := findIn(a, c.Args[0])
			return eval.Int(int64(i)), err
		}),
		onArray("join", 0, 1, arrayJoin),
		onArray("sort", 0, 1, arraySort),
		onArray("reverse", 0, 0, func(c *eval.Call, a *eval.Array) (eval.Value, error) {
			vs := a.Values()
			slices.Reverse(vs)
			a.Replace(vs)
			return a.Value(), nil
		}),
		onArray("map", 1, 1, arrayMap),
		onArray("filter", 1, 1, arrayFilter),
		onArray("reduce", 2, 2, arrayReduce),
		onArray("slice", 0, 2, arraySlice),
		onArray("copy", 0, 0, func(c *eval.Call, a *eval.Array) (eval.Value, error) {
			return eval.ArrayOf(a.Values()...), nil
		}),
	}
}

func arrayPop(c *eval.Call, a *eval.Array) (eval.Value, error) {
	n := a.Len()
	if n == 0 {
		return eval.Value{}, fail("pop() on an empty Array")
	}
	v := a.At(n - 1)
	a.Truncate(n - 1)
	return v, nil
}

func arrayInsert(c *eval.Call, a *eval.Array) (eval.Value, error) {
	i, err := intArg(c, 0, "insert")
	if err != nil {
		return eval.Value{}, err
	}
	n := int64(a.Len())
	if i < 0 {
		i += n
	}
	if i < 0 || i > n {
		return eval.Value{}, fail("insert()'s index %s out of bounds", c.Args[0].String())
	}
	a.Insert(int(i), c.Args[1])
	return a.Value(), nil
}

func arrayRemove(c *eval.Call, a *eval.Array) (eval.Value, error) {
	i, err := intArg(c, 0, "remove")
	if err != nil {
		return eval.Value{}, err
	}
	n := int64(a.Len())
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return eval.Value{}, fail("remove()'s index %s out of bounds", c.Args[0].String())
	}
	v := a.At(int(i))
	a.Delete(int(i))
	return v, nil
}

func findIn(a *eval.Array, x eval.Value) (int, error) {
	for i := 0; i < a.Len(); i++ {
		if eq, err := eval.Equal(a.At(i), x); eq || err != nil {
			return i, err
		}
	}
	return -1, nil
}

func arrayJoin(c *eval.Call, a *eval.Array) (eval.Value, error) {
	sep := ""
	if len(c.Args) == 1 {
		var err error
		if sep, err = textArg(c, 0, "join"); err != nil {
			return eval.Value{}, err
		}
	}
	parts := make([]string, a.Len())
	n := len(sep) * max(0, a.Len()-1)
	for i := range parts {
		s, err := eval.Text(a.At(i))
		if err != nil {
			return eval.Value{}, err
		}
		parts[i] = s
		if n += len(s); n > maxText {
			return eval.Value{}, fail("join() would make a text of over %d bytes", maxText)
		}
	}
	if err := c.Thread.Reserve(int64(n)); err != nil {
		return eval.Value{}, err
	}
	return eval.String(strings.Join(parts, sep)), nil
}

func arrayMap(c *eval.Call, a *eval.Array) (eval.Value, error) {
	out := eval.NewArray(0)
	f := c.Args[0]
	for i := 0; i < a.Len(); i++ {
		v, err := c.Thread.Call(f, a.At(i))
		if err != nil {
			return eval.Value{}, err
		}
		out.Push(v)
	}
	return out.Value(), nil
}

func arrayFilter(c *eval.Call, a *eval.Array) (eval.Value, error) {
	out := eval.NewArray(0)
	f := c.Args[0]
	for i := 0; i < a.Len(); i++ {
		x := a.At(i)
		keep, err := c.Thread.Call(f, x)
		if err != nil {
			return eval.Value{}, err
		}
		if keep.Truthy() {
			out.Push(x)
		}
	}
	return out.Value(), nil
}

func arrayReduce(c *eval.Call, a *eval.Array) (eval.Value, error) {
	f, acc := c.Args[0], c.Args[1]
	for i := 0; i < a.Len(); i++ {
		v, err := c.Thread.Call(f, acc, a.At(i))
		if err != nil {
			return eval.Value{}, err
		}
		acc = v
	}
	return acc, nil
}

func arraySlice(c *eval.Call, a *eval.Array) (eval.Value, error) {
	lo, hi := eval.Nil(), eval.Nil()
	if len(c.Args) > 0 {
		lo = c.Args[0]
	}
	if len(c.Args) > 1 {
		hi = c.Args[1]
	}
	return eval.Slice(a.Value(), lo, hi)
}
