package builtins

import (
	"fmt"

	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/eval"
)

// Memory is an in-process memory.
type Memory struct {
	name, kind string
	entries    *eval.Map
}

// NewMemory makes an empty in-process memory.
func NewMemory(name, kind string) eval.Object { return &Memory{name, kind, eval.NewMap()} }

// TypeName gives "Memory".
func (m *Memory) TypeName() string { return "Memory" }

// String gives <memory name (n entries)>.
func (m *Memory) String() string {
	return fmt.Sprintf("<memory %s (%d entries)>", m.name, m.entries.Len())
}

// OwnerName stands before a method's name in messages.
func (m *Memory) OwnerName() string { return m.name }

// Method finds remember, recall, forget and keys.
func (m *Memory) Method(name string) *eval.Method { return memoryMethods[name] }

var memoryMethods = map[string]*eval.Method{
	"remember": {Name: "remember", Min: 2, Max: 2, Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
		k, err := memoryKey(c)
		if err == nil {
			err = noteMemory(c, o.(*Memory).name, "remember", k)
		}
		if err == nil {
			o.(*Memory).entries.SetKey(c.Args[0], c.Args[1])
		}
		return eval.Nil(), err
	}},
	"recall": {Name: "recall", Min: 1, Max: 1, Leaf: true, Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
		if _, err := memoryKey(c); err != nil {
			return eval.Nil(), err
		}
		if v, ok := o.(*Memory).entries.GetKey(c.Args[0]); ok {
			return v, nil
		}
		return eval.Nil(), nil
	}},
	"forget": {Name: "forget", Min: 1, Max: 1, Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
		k, err := memoryKey(c)
		if err == nil {
			err = noteMemory(c, o.(*Memory).name, "forget", k)
		}
		if err == nil {
			o.(*Memory).entries.Remove(k)
		}
		return eval.Nil(), err
	}},
	"keys": {Name: "keys", Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
		return eval.ArrayOf(o.(*Memory).entries.KeyValues()...), nil
	}},
}

// noteMemory writes down that a memory is about to be changed.
func noteMemory(c *eval.Call, memory, event, key string) error {
	in := c.Thread.Interp()
	if !in.FullAudit() {
		return nil // the common case, which must cost nothing
	}
	fields := []audit.Field{{Key: "key", Value: key}}
	if len(c.Args) > 1 {
		fields = append(fields, audit.Field{Key: "digest", Value: in.Digest(c.Args[1:2])})
	}
	return c.Thread.Place().Event("memory", memory, event, "", fields...)
}

func memoryKey(c *eval.Call) (string, error) {
	k, ok := c.Args[0].AsString()
	if !ok {
		return "", fail("memory key must be a String, got %s", c.Args[0].TypeName())
	}
	return k, nil
}

// Attr gives name and kind.
func (m *Memory) Attr(t *eval.Thread, name string) (eval.Value, error) {
	switch name {
	case "name":
		return eval.String(m.name), nil
	case "kind":
		if m.kind == "" {
			return eval.Nil(), nil
		}
		return eval.String(m.kind), nil
	}
	return eval.Value{}, fail("memory '%s' has no member '%s'", m.name, name)
}

// Facts gives the entries as lines to stand before a question.
func (m *Memory) Facts(t *eval.Thread) (string, error) {
	keys := m.entries.Keys()
	values := make([]string, len(keys))
	for i, k := range keys {
		v, _ := m.entries.Get(k)
		s, err := eval.Text(v)
		if err != nil {
			return "", err
		}
		values[i] = s
	}
	return factLines(keys, values), nil
}
