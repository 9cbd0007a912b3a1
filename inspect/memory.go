package inspect

import (
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// memory is a memory of the program, of either kind: what it can do is found
// among its methods, as a program finds it.
type memory struct {
	th *eval.Thread
	o  eval.Object
}

func memoryOf(th *eval.Thread, v eval.Value) memory { return memory{th, v.AsObject()} }

// persistent reports whether the memory keeps its versions.
func (m memory) persistent() bool { return m.method("history") != nil }

func (m memory) method(name string) *eval.Method {
	if h, ok := m.o.(eval.HasMethods); ok {
		return h.Method(name)
	}
	return nil
}

func (m memory) call(name string, args ...eval.Value) (eval.Value, error) {
	d := m.method(name)
	if d == nil {
		return eval.Value{}, diag.New(diag.Runtime, "this memory has no '%s'", name)
	}
	return d.Fn(&eval.Call{Thread: m.th, Args: args, Name: name}, m.o)
}

// attr gives a member as JSON, null where there is none.
func (m memory) attr(name string) any {
	if h, ok := m.o.(eval.HasAttrs); ok {
		if v, err := h.Attr(m.th, name); err == nil {
			return jsonOf(v)
		}
	}
	return nil
}

func (m memory) keys() ([]string, error) {
	v, err := m.call("keys")
	if err != nil {
		return nil, err
	}
	a, ok := v.AsArray()
	if !ok {
		return nil, nil
	}
	var out []string
	for _, k := range a.Values() {
		s, _ := k.AsString()
		out = append(out, s)
	}
	return out, nil
}

// describeMemory describes a memory without reading a file.
func describeMemory(th *eval.Thread, it item) object {
	m := memoryOf(th, it.Value)
	if m.persistent() {
		return object{{"kind", "persistent_memory"}, {"name", it.Name}, {"path", m.attr("path")}}
	}
	keys, _ := m.keys() // one in the process cannot fail
	return object{{"kind", "memory"}, {"name", it.Name}, {"hint", m.attr("kind")}, {"keys", texts(keys)}}
}

// maxEntries bounds the entries of a memory that one answer gives.
const maxEntries = 5_000

// entries describes a memory with all it holds.
func (c *Console) entries(th *eval.Thread, key string) (object, error) {
	it, err := c.declared.find("memory", "memory", key)
	if err != nil {
		return nil, err
	}
	m := memoryOf(th, it.Value)
	o := object{{"ok", true}, {"kind", "memory"}, {"name", it.Name}, {"hint", m.attr("kind")}}
	if m.persistent() {
		o = object{{"ok", true}, {"kind", "persistent_memory"}, {"name", it.Name}, {"path", m.attr("path")}}
	}
	keys, err := m.keys()
	if err != nil {
		return nil, err
	}
	values, printed := object{}, object{}
	for _, k := range keys[:min(len(keys), maxEntries)] {
		v, err := m.call("recall", eval.String(k))
		if err != nil {
			return nil, err
		}
		values = append(values, member{k, jsonOf(v)})
		printed = append(printed, member{k, textOf(v)})
	}
	return o.with(member{"entries", values}, member{"texts", printed}, member{"total", len(keys)}), nil
}

// history gives the versions of one key of a persistent memory.
func (c *Console) history(th *eval.Thread, key, k string) (object, error) {
	it, err := c.declared.find("memory", "memory", key)
	if err != nil {
		return nil, err
	}
	m := memoryOf(th, it.Value)
	if !m.persistent() {
		return nil, diag.New(diag.Runtime, "'%s' is not a persistent memory", it.Name)
	}
	v, err := m.call("history", eval.String(k))
	if err != nil {
		return nil, err
	}
	return object{{"ok", true}, {"name", it.Name}, {"key", k}, {"history", jsonOf(v)}}, nil
}
