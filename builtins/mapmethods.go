package builtins

import (
	"github.com/sense-lang/sense/eval"
)

// onMap makes a method of a function on the map.
func onMap(name string, least, most int, f func(c *eval.Call, m *eval.Map) (eval.Value, error)) eval.Method {
	return eval.Method{Name: name, Min: least, Max: most, Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
		m, _ := self(o).AsMap()
		return f(c, m)
	}}
}

// keyArg reads a key.
func keyArg(c *eval.Call) (string, error) {
	k, ok := c.Args[0].AsString()
	if !ok {
		return "", fail("map keys must be String, got %s", c.Args[0].TypeName())
	}
	return k, nil
}

func mapMethods() []eval.Method {
	return []eval.Method{
		onMap("keys", 0, 0, func(c *eval.Call, m *eval.Map) (eval.Value, error) { return eval.Strings(m.Keys()), nil }),
		onMap("values", 0, 0, mapValues),
		onMap("items", 0, 0, mapItems),
		onMap("get", 1, 2, mapGet),
		onMap("has", 1, 1, mapHas),
		onMap("remove", 1, 1, mapRemove),
		onMap("merge", 1, 1, mapMerge),
		onMap("copy", 0, 0, func(c *eval.Call, m *eval.Map) (eval.Value, error) { return copyMap(m).Value(), nil }),
	}
}

func mapValues(c *eval.Call, m *eval.Map) (eval.Value, error) {
	out := eval.NewArray(0)
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		out.Push(v)
	}
	return out.Value(), nil
}

func mapItems(c *eval.Call, m *eval.Map) (eval.Value, error) {
	out := eval.NewArray(0)
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		out.Push(eval.ArrayOf(eval.String(k), v))
	}
	return out.Value(), nil
}

func mapGet(c *eval.Call, m *eval.Map) (eval.Value, error) {
	k, err := keyArg(c)
	if err != nil {
		return eval.Value{}, err
	}
	if v, ok := m.Get(k); ok {
		return v, nil
	}
	if len(c.Args) == 2 {
		return c.Args[1], nil
	}
	return eval.Nil(), nil
}

func mapHas(c *eval.Call, m *eval.Map) (eval.Value, error) {
	k, err := keyArg(c)
	_, ok := m.Get(k)
	return eval.Bool(ok), err
}

func mapRemove(c *eval.Call, m *eval.Map) (eval.Value, error) {
	k, err := keyArg(c)
	if err != nil {
		return eval.Value{}, err
	}
	v, ok := m.Remove(k)
	if !ok {
		return eval.Value{}, fail("no key %s in map", eval.Quote(k))
	}
	return v, nil
}

func copyMap(m *eval.Map) *eval.Map {
	out := eval.NewMap()
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		out.Set(k, v)
	}
	return out
}

func mapMerge(c *eval.Call, m *eval.Map) (eval.Value, error) {
	other, ok := c.Args[0].AsMap()
	if !ok {
		return eval.Value{}, fail("merge() expects a Map, got %s", c.Args[0].TypeName())
	}
	out := copyMap(m)
	for _, k := range other.Keys() {
		v, _ := other.Get(k)
		out.Set(k, v)
	}
	return out.Value(), nil
}
