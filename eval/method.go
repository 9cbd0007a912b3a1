package eval

import (
	"slices"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// methodCall compiles x.name(...).
func (c *compiler) methodCall(m *ast.MemberExpr, e *ast.CallExpr, labels []string) expr {
	x := c.expr(m.X)
	args := c.args(e.Args)
	s := c.site(&e.P)
	member := &memberCache{name: m.Name, at: &m.NamePos}
	n := len(args) - len(labels)
	cache := &methodCache{name: m.Name}
	var simple []simpleArg
	if allSimple(e.Args) && labels == nil {
		simple = c.simpleArgs(e.Args)
	}
	return func(fr fp) Value {
		recv := x(fr)
		th := threadOf(fr)
		if d := cache.find(th, recv, member.last); d != nil {
			var tmp [4]Value
			vals := tmp[:0]
			for _, a := range args {
				vals = append(vals, a(fr))
			}
			r, err := th.callMethod(fr, s, d, recv, vals[:n], pair(labels, vals[n:]))
			if err != nil {
				fail(fr, s.pos, err)
			}
			return r
		}
		v := member.read(fr, recv)
		if labels == nil && isFunc(v) {
			if fn := toFunc(v); int(fn.arity) == n {
				if simple != nil {
					if nf := enterSimple(fr, fn, simple, s); nf != nil {
						return fn.body(nf)
					}
				} else if n <= 3 {
					return callSmall(fr, fn, args, s)
				}
			}
		}
		vals := evalArgs(fr, args)
		return th.invoke(fr, s, v, vals[:n:n], pair(labels, vals[n:]))
	}
}

// methodCache keeps what the last receiver's type has under a name: most places
// meet one type only. wordcount: a tenth.
type methodCache struct {
	name string
	kind Kind // KUnset: nothing yet
	typ  uintptr
	d    *Method // nil: the type has no such method
}

// find gives the method of v, nil where there is none, as in a module.
func (m *methodCache) find(th *Thread, v, module Value) *Method {
	if v.p == module.p {
		return nil
	}
	k := kindOf(v)
	if k == m.kind && (k != KObject || objectType(v) == m.typ) {
		return m.d
	}
	m.kind, m.typ = k, 0
	if k == KObject {
		m.typ = objectType(v)
	}
	m.d = th.method(v, m.name)
	return m.d
}

// callSmall calls a function of a module with up to three arguments.
func callSmall(fr fp, fn *Func, args []expr, s *site) Value {
	var tmp [3]Value
	for i, a := range args {
		tmp[i] = a(fr)
	}
	nf, th := window(fr, s.off), threadOf(fr)
	d := depthOf(fr) + fn.weight
	if addr(nf) > th.end.Load() || d > th.max {
		return th.deep(fr, fn, s, tmp[:len(args)]...)
	}
	setHead(nf, th, d, fn, s.id)
	for i := range args {
		setSlot(&nf[uint8(slotArgs+i)], tmp[i])
	}
	return fn.body(nf)
}

func pair(labels []string, vals []Value) []Label {
	if labels == nil {
		return nil
	}
	out := make([]Label, len(labels))
	for i, l := range labels {
		out[i] = Label{l, vals[i]}
	}
	return out
}

// memberCache reads a member of a value. The last module that had it is
// remembered: the one cell of a module's name never moves.
type memberCache struct {
	name string
	at   *diag.Pos
	last Value
	g    *Global
}

func (m *memberCache) read(fr fp, v Value) Value {
	if v.p == m.last.p && m.g.v.p != nil {
		return m.g.v
	}
	return m.find(fr, v)
}

//go:noinline
func (m *memberCache) find(fr fp, v Value) Value {
	if kindOf(v) == KObject {
		if mod, ok := toBox(v).o.(*Module); ok {
			if g := mod.names[m.name]; g != nil && g.v.p != nil {
				m.last, m.g = v, g
				return g.v
			}
		}
	}
	r, err := threadOf(fr).attr(v, m.name)
	if err != nil {
		fail(fr, m.at, err)
	}
	return r
}

// member compiles a read of x.name.
func (c *compiler) member(e *ast.MemberExpr) expr {
	m := &memberCache{name: e.Name, at: &e.NamePos}
	o := c.operand(e.X)
	if g := o.g; g != nil {
		return func(fr fp) Value { return m.read(fr, g.v) }
	}
	x := o.x
	return func(fr fp) Value { return m.read(fr, x(fr)) }
}

// method finds a method of an Object or of a type of the core.
func (th *Thread) method(v Value, name string) *Method {
	if kindOf(v) != KObject {
		return th.in.typeMethod(v, name)
	}
	if h, ok := toBox(v).o.(HasMethods); ok {
		return h.Method(name)
	}
	return nil
}

// ownerOf gives what stands before the names of a value's methods in messages.
func ownerOf(v Value) string {
	if kindOf(v) == KObject {
		return toBox(v).o.(HasMethods).OwnerName()
	}
	return typeName(v)
}

// callMethod calls a method without making a value of it first. args may be on
// the caller's stack: they are copied into the frame.
func (th *Thread) callMethod(fr fp, s *site, d *Method, recv Value, args []Value, labels []Label) (Value, error) {
	if n := len(args); len(labels) > 0 || n < d.Min || d.Max >= 0 && n > d.Max {
		b := Builtin{Name: ownerOf(recv) + "." + d.Name, Min: d.Min, Max: d.Max, Labels: d.Labels, Named: d.Named, Doc: d.Doc}
		given := Call{Args: slices.Clone(args), Labels: labels} // args stay on the stack
		if err := b.check(&given); err != nil {
			return Value{}, err
		}
		return th.runMethod(fr, s, d, recv, given.Args, given.Labels)
	}
	return th.runMethod(fr, s, d, recv, args, labels)
}

// runMethod is callMethod after the arguments have been counted.
func (th *Thread) runMethod(fr fp, s *site, d *Method, recv Value, args []Value, labels []Label) (Value, error) {
	if d.Leaf && len(args) <= 4 && len(labels) == 0 {
		c, err := th.newLeaf(fr, args)
		if err != nil {
			return Value{}, err
		}
		r, err := d.Fn(c, c.self(recv))
		th.freeLeaf(c)
		return r, err
	}
	c := th.newCall()
	c.Labels = labels
	o := c.self(recv)
	r, err := th.inNative(fr, s.off, s.id, func() (Value, error) {
		c.Args = th.keepArgs(args)
		return d.Fn(c, o)
	})
	th.freeCall(c)
	return r, err
}

// self gives a receiver as a method gets it.
func (c *Call) self(recv Value) Object {
	if kindOf(recv) == KObject {
		return toBox(recv).o
	}
	c.recv.Value = recv
	return &c.recv
}

// newCall gives a Call for a builtin; freeCall takes it back. A Call that an
// error unwinds past is left to the garbage collector.
func (th *Thread) newCall() *Call {
	if n := len(th.calls); n > 0 {
		c := th.calls[n-1]
		th.calls = th.calls[:n-1]
		return c
	}
	return &Call{Thread: th}
}

func (th *Thread) freeCall(c *Call) {
	*c = Call{Thread: th}
	th.calls = append(th.calls, c)
}

// keepArgs copies arguments into the running builtin's frame, so that a call
// allocates nothing.
func (th *Thread) keepArgs(args []Value) []Value {
	n := len(args)
	if n > maxSlots-slotArgs {
		return append([]Value(nil), args...)
	}
	kept := th.native[slotArgs : slotArgs+n : slotArgs+n]
	copy(kept, args)
	th.used = slotArgs + n
	return kept
}

// receiver carries a String, Array or Map to a method of its type.
type receiver struct{ Value }

// bound makes a value of an Object's method.
func bound(d *Method, o Object, owner string) Value {
	return NewBuiltin(Builtin{Name: owner + "." + d.Name, Min: d.Min, Max: d.Max, Labels: d.Labels, Named: d.Named, Doc: d.Doc, Member: true,
		Fn: func(c *Call) (Value, error) { return d.Fn(c, o) }})
}

// boundValue makes a value of a method of a type of the core.
func boundValue(d *Method, v Value) Value { return bound(d, &receiver{v}, typeName(v)) }

// Receiver gives the value a method of a core type was called on.
func Receiver(o Object) Value {
	if r, ok := o.(*receiver); ok {
		return r.Value
	}
	return Obj(o)
}
