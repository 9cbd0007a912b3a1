package builtins

import (
	"github.com/sense-lang/sense/eval"
)

// onMap makes a method of a function on the map.
func onMap(name string, least, most int, f func(c *eval.Call, m *eval.Map) (eval.Value, error)) eval.Method {
	return eval.Method{Name: name, Min: least, Max: most, Leaf: true, Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
		m, _ := self(o).AsMap()
		return f(c, m)
	}}
}

// keyArg reads a key, which is a String.
func keyArg(c *eval.Call) (eval.Value, error) {
	if k := c.Args[0]; k.Kind() != eval.KString {
		return k, fail("map keys must be String, got %s", k.TypeName())
	}
	return c.Args[0], nil
}

func mapMethods() []eval.Method {
	return []eval.Method{
		onMap("keys", 0, 0, func(c *eval.Call, m *eval.Map) (eval.Value, error) { return eval.ArrayOf(m.KeyValues()...), nil }),
		onMap("values", 0, 0, mapValues),
		onMap("items", 0, 0, mapItems),
		onMap("get", 1, 2, mapGet),
		onMap("has", 1, 1, mapHas),
		onMap("remove", 1, 1, mapRemove),
		onMap("merge", 1, 1, mapMerge),
		onMap("copy", 0, 0, mapCopy),
	}
}

func mapValues(c *eval.Call, m *eval.Map) (eval.Value, error) {
	out := eval.NewArray(0)
	for _, v := range m.All() {
		out.Push(v)
	}
	return out.Value(), nil
}

func mapItems(c *eval.Call, m *eval.Map) (eval.Value, error) {
	out := eval.NewArray(0)
	for _, k := range m.KeyValues() {
		v, _ := m.GetKey(k)
		out.Push(eval.ArrayOf(k, v))
	}
	return out.Value(), nil
}

func mapGet(c *eval.Call, m *eval.Map) (eval.Value, error) {
	k, err := keyArg(c)
	if err != nil {
		return eval.Value{}, err
	}
	if v, ok := m.GetKey(k); ok {
		return v, nil
	}
	if len(c.Args) == 2 {
		return c.Args[1], nil
	}
	return eval.Nil(), nil
}

func mapHas(c *eval.Call, m *eval.Map) (eval.Value, error) {
	k, err := keyArg(c)
	if err != nil {
		return eval.Value{}, err
	}
	_, ok := m.GetKey(k)
	return eval.Bool(ok), nil
}

func mapRemove(c *eval.Call, m *eval.Map) (eval.Value, error) {
	k, err := keyArg(c)
	if err != nil {
		return eval.Value{}, err
	}
	v, ok := m.Remove(k.String())
	if !ok {
		return eval.Value{}, eval.NoKey(m, k.String())
	}
	return v, nil
}

func mapCopy(c *eval.Call, m *eval.Map) (eval.Value, error) {
	if err := c.Thread.Reserve(m.Bytes()); err != nil {
		return eval.Value{}, err
	}
	return m.Copy().Value(), nil
}

func mapMerge(c *eval.Call, m *eval.Map) (eval.Value, error) {
	other, ok := c.Args[0].AsMap()
	if !ok {
		return eval.Value{}, fail("merge() expects a Map, got %s", c.Args[0].TypeName())
	}
	if err := c.Thread.Reserve(m.Bytes() + other.Bytes()); err != nil {
		return eval.Value{}, err
	}
	out := m.Copy()
	for _, k := range other.KeyValues() {
		v, _ := other.GetKey(k)
		out.SetKey(k, v)
	}
	return out.Value(), nil
}
