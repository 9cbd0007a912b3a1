package builtins

import (
	"context"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"time"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/memory"
)

// Persistent is a persistent memory as a value.
type Persistent struct {
	name, path string
	store      *memory.Store
}

// OpenMemory opens the persistent memory of a declaration. Declarations of one
// file share a connection, which stays open until the program ends.
func (d *Deps) OpenMemory(t *eval.Thread, name, path string, hasPath bool, declaredIn string) (eval.Object, error) {
	if !hasPath {
		path, _ = memory.DefaultPath(name, declaredIn, d.getenv)
	}
	store, err := d.openStore(t, path)
	if err != nil {
		return nil, fail("persistent memory '%s': %v", name, err)
	}
	return &Persistent{name, path, store}, nil
}

func (d *Deps) openStore(t *eval.Thread, path string) (store *memory.Store, err error) {
	if err := d.mayLie(path); err != nil {
		return nil, err
	}
	key, err := filepath.Abs(path)
	if err != nil {
		key = path
	}
	t.Blocking(func(ctx context.Context) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if s, ok := d.stores[key]; ok {
			store = s
			return
		}
		if store, err = memory.Open(ctx, path); err != nil {
			return
		}
		if d.stores == nil {
			d.stores = map[string]*memory.Store{}
		}
		d.stores[key] = store
	})
	if stop := t.Stopped(); stop != nil {
		return nil, stop
	}
	return store, err
}

func (d *Deps) closeStores() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.stores {
		_ = s.Close() // what was remembered is on the disk already
	}
	d.stores = nil
}

// TypeName gives "Memory".
func (m *Persistent) TypeName() string { return "Memory" }

// String gives <memory name (persistent, path)>.
func (m *Persistent) String() string {
	return fmt.Sprintf("<memory %s (persistent, %s)>", m.name, m.path)
}

// OwnerName stands before a method's name in messages.
func (m *Persistent) OwnerName() string { return m.name }

// Method finds the methods of a persistent memory.
func (m *Persistent) Method(name string) *eval.Method { return persistentMethods[name] }

var persistentMethods = map[string]*eval.Method{
	"remember": {Name: "remember", Min: 2, Max: 2, Fn: withStore((*Persistent).remember)},
	"recall":   {Name: "recall", Min: 1, Max: 1, Fn: withStore((*Persistent).recall)},
	"forget":   {Name: "forget", Min: 1, Max: 1, Fn: withStore((*Persistent).forget)},
	"history":  {Name: "history", Min: 1, Max: 1, Fn: withStore((*Persistent).history)},
	"as_of":    {Name: "as_of", Min: 2, Max: 2, Fn: withStore((*Persistent).asOf)},
	"keys": {Name: "keys", Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
		keys, err := o.(*Persistent).Keys(c.Thread)
		return eval.Strings(keys), err
	}},
}

// withStore checks the key, the first argument.
func withStore(f func(m *Persistent, c *eval.Call, key string) (eval.Value, error)) func(*eval.Call, eval.Object) (eval.Value, error) {
	return func(c *eval.Call, o eval.Object) (eval.Value, error) {
		key, err := memoryKey(c)
		if err != nil {
			return eval.Value{}, err
		}
		return f(o.(*Persistent), c, key)
	}
}

// run waits for the database while other threads run.
func (m *Persistent) run(t *eval.Thread, f func(ctx context.Context) error) error {
	var err error
	t.Blocking(func(ctx context.Context) { err = f(ctx) })
	if stop := t.Stopped(); stop != nil {
		return stop
	}
	if err != nil {
		return fail("persistent memory '%s': %v", m.name, err)
	}
	return nil
}

func (m *Persistent) remember(c *eval.Call, key string) (eval.Value, error) {
	if err := eval.CheckExtent(c.Args[1]); err != nil {
		return eval.Value{}, err
	}
	plain, err := toPlain(c.Args[1], 0)
	if err != nil {
		return eval.Value{}, err
	}
	text, err := memory.EncodeJSON(plain)
	if err != nil {
		return eval.Value{}, fail("persistent memory can only store %v", err)
	}
	if err := noteMemory(c, m.name, "remember", key); err != nil {
		return eval.Value{}, err
	}
	return eval.Nil(), m.run(c.Thread, func(ctx context.Context) error { return m.store.Remember(ctx, key, text) })
}

func (m *Persistent) forget(c *eval.Call, key string) (eval.Value, error) {
	if err := noteMemory(c, m.name, "forget", key); err != nil {
		return eval.Value{}, err
	}
	return eval.Nil(), m.run(c.Thread, func(ctx context.Context) error { return m.store.Forget(ctx, key) })
}

func (m *Persistent) recall(c *eval.Call, key string) (eval.Value, error) {
	return m.Recall(c.Thread, key)
}

// Recall gives the value of a key, nil where there is none.
func (m *Persistent) Recall(t *eval.Thread, key string) (eval.Value, error) {
	return m.read(t, func(ctx context.Context) (string, bool, error) { return m.store.Recall(ctx, key) })
}

func (m *Persistent) asOf(c *eval.Call, key string) (eval.Value, error) {
	version, ok := c.Args[1].AsInt()
	if !ok {
		if b, isBig := c.Args[1].AsBig(); isBig {
			version = int64(b.Sign()) << 62
		} else {
			return eval.Value{}, fail("as_of() expects an Int version, got %s", c.Args[1].TypeName())
		}
	}
	return m.read(c.Thread, func(ctx context.Context) (string, bool, error) { return m.store.AsOf(ctx, key, version) })
}

func (m *Persistent) read(t *eval.Thread, f func(ctx context.Context) (string, bool, error)) (eval.Value, error) {
	var text string
	var ok bool
	err := m.run(t, func(ctx context.Context) (err error) {
		text, ok, err = f(ctx)
		return err
	})
	if err != nil || !ok {
		return eval.Nil(), err
	}
	return stored(text)
}

// stored makes a value of what the database holds.
func stored(text string) (eval.Value, error) {
	plain, err := memory.DecodeJSON(text)
	if err != nil {
		return eval.Value{}, fail("%v", err)
	}
	return fromPlain(plain), nil
}

// Keys lists the keys, in the order of the versions that set them.
func (m *Persistent) Keys(t *eval.Thread) (keys []string, err error) {
	err = m.run(t, func(ctx context.Context) (err error) {
		keys, err = m.store.Keys(ctx)
		return err
	})
	return keys, err
}

func (m *Persistent) history(c *eval.Call, key string) (eval.Value, error) {
	lines, err := m.History(c.Thread, key)
	return eval.Strings(lines), err
}

// History words every change of a key, oldest first.
func (m *Persistent) History(t *eval.Thread, key string) ([]string, error) {
	var versions []memory.Version
	err := m.run(t, func(ctx context.Context) (err error) {
		versions, err = m.store.History(ctx, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, v := range versions {
		when := v.Time.Format(time.ANSIC)
		if v.Op == memory.OpForget {
			lines = append(lines, fmt.Sprintf("[v%d] forget %s (%s)", v.Version, eval.Quote(key), when))
			continue
		}
		x, err := stored(v.Value)
		if err != nil {
			return nil, err
		}
		s, err := eval.Text(x)
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("[v%d] remember %s = %s (%s)", v.Version, eval.Quote(key), s, when))
	}
	return lines, nil
}

// Attr gives name and path.
func (m *Persistent) Attr(t *eval.Thread, name string) (eval.Value, error) {
	switch name {
	case "name":
		return eval.String(m.name), nil
	case "path":
		return eval.String(m.path), nil
	}
	return eval.Value{}, fail("memory '%s' has no member '%s'", m.name, name)
}

// Facts gives the entries as lines to stand before a question.
func (m *Persistent) Facts(t *eval.Thread) (string, error) {
	keys, err := m.Keys(t)
	if err != nil {
		return "", err
	}
	values := make([]string, len(keys))
	for i, k := range keys {
		v, err := m.Recall(t, k)
		if err != nil {
			return "", err
		}
		if values[i], err = eval.Text(v); err != nil {
			return "", err
		}
	}
	return factLines(keys, values), nil
}

// toPlain gives a value as the database's encoder takes it.
func toPlain(v eval.Value, depth int) (any, error) {
	if depth > maxJSONDepth {
		return nil, fail("persistent memory can only store values nested up to %d deep", maxJSONDepth)
	}
	switch v.Kind() {
	case eval.KNil:
		return nil, nil
	case eval.KBool:
		b, _ := v.AsBool()
		return b, nil
	case eval.KInt:
		n, _ := v.AsInt()
		return n, nil
	case eval.KBig:
		b, _ := v.AsBig()
		return b, nil
	case eval.KFloat:
		f, _ := v.AsFloat()
		return f, nil
	case eval.KString:
		s, _ := v.AsString()
		return s, nil
	case eval.KArray:
		return plainList(v, depth)
	case eval.KMap:
		return plainMap(v, depth)
	}
	return nil, fail("persistent memory can only store Int, Float, String, Bool, Nil and Arrays and Maps of them, got %s", v.TypeName())
}

func plainList(v eval.Value, depth int) (any, error) {
	a, _ := v.AsArray()
	out := make([]any, 0, a.Len())
	for i := range a.Len() {
		x, err := toPlain(a.At(i), depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func plainMap(v eval.Value, depth int) (any, error) {
	m, _ := v.AsMap()
	out := memory.Map{}
	for _, k := range m.Keys() {
		e, _ := m.Get(k)
		x, err := toPlain(e, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, memory.Entry{Key: k, Value: x})
	}
	return out, nil
}

// fromScalar makes a value of what decoders give for true and false, numbers and
// text; what is no character in text becomes U+FFFD.
func fromScalar(x any) (eval.Value, bool) {
	switch x := x.(type) {
	case bool:
		return eval.Bool(x), true
	case int64:
		return eval.Int(x), true
	case *big.Int:
		return eval.BigInt(x), true
	case float64:
		return eval.Float(x), true
	case string:
		return eval.String(strings.ToValidUTF8(x, "\uFFFD")), true
	}
	return eval.Value{}, false
}

// fromPlain makes a value of what the database's decoder gives.
func fromPlain(x any) eval.Value {
	if v, ok := fromScalar(x); ok {
		return v
	}
	switch x := x.(type) {
	case []any:
		a := eval.NewArray(len(x))
		for _, e := range x {
			a.Push(fromPlain(e))
		}
		return a.Value()
	case memory.Map:
		m := eval.NewMap()
		for _, e := range x {
			m.Set(e.Key, fromPlain(e.Value))
		}
		return m.Value()
	}
	return eval.Nil()
}
