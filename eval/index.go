package eval

import (
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

func (c *compiler) index(e *ast.IndexExpr) expr {
	x := c.operand(e.X)
	if k := c.keyOf(e.Index); k != nil {
		if x.isSlot {
			return keyL(x.slot, k, &e.Lbrack)
		}
		return keyE(x.x, k, &e.Lbrack)
	}
	i := c.operand(e.Index)
	switch {
	case x.isSlot && i.isSlot:
		return indexLL(x.slot, i.slot, &e.Lbrack)
	case x.isSlot:
		return indexLE(x.slot, i.x, &e.Lbrack)
	}
	return indexEE(x.x, i.x, &e.Lbrack)
}

//go:noinline
func indexEE(x, i expr, at *diag.Pos) expr {
	return func(fr fp) Value {
		t, k := x(fr), i(fr)
		if isInt(k) && isArr(t) {
			a := toArr(t)
			n := uint64(toInt(k))
			if n < uint64(len(a.ns)) {
				return Value{a.tp, a.ns[n]}
			}
			if n < uint64(len(a.vs)) {
				return a.vs[n]
			}
		}
		return indexSlow(fr, t, k, at)
	}
}

//go:noinline
func indexLE(j uint8, i expr, at *diag.Pos) expr {
	return func(fr fp) Value {
		t, k := fr[j], i(fr)
		if isInt(k) && isArr(t) {
			a := toArr(t)
			n := uint64(toInt(k))
			if n < uint64(len(a.ns)) {
				return Value{a.tp, a.ns[n]}
			}
			if n < uint64(len(a.vs)) {
				return a.vs[n]
			}
		}
		return indexSlow(fr, t, k, at)
	}
}

//go:noinline
func indexLL(j, i uint8, at *diag.Pos) expr {
	return func(fr fp) Value {
		t, k := fr[j], fr[i]
		if isInt(k) && isArr(t) {
			a := toArr(t)
			n := uint64(toInt(k))
			if n < uint64(len(a.ns)) {
				return Value{a.tp, a.ns[n]}
			}
			if n < uint64(len(a.vs)) {
				return a.vs[n]
			}
		}
		return indexSlow(fr, t, k, at)
	}
}

//go:noinline
func indexSlow(fr fp, t, k Value, at *diag.Pos) Value {
	if isInt(k) && isStr(t) {
		if s, i := toStr(t), uint64(toInt(k)); i < uint64(len(s.s)) && s.count() == len(s.s) {
			return mkStr(&oneByte[s.s[i]])
		}
	}
	if isMap(t) && isStr(k) {
		if i := toMap(t).findStr(toStr(k)); i >= 0 {
			return toMap(t).entries[i].v
		}
	}
	v, err := threadOf(fr).index(t, k)
	if err != nil {
		fail(fr, at, err)
	}
	return v
}

// index is x[i] on any value.
func (th *Thread) index(t, k Value) (Value, error) {
	switch kindOf(t) {
	case KArray:
		a := toArr(t)
		if isStr(k) {
			if v, names := Keyed(a, toStr(k).s); v.p != nil {
				return v, nil
			} else if len(names) > 0 {
				return Value{}, unnamed(toStr(k).s, names)
			}
		}
		i, err := position(k, a.Len(), "index", "")
		if err != nil {
			return Value{}, err
		}
		return a.At(i), nil
	case KString:
		s := toStr(t)
		i, err := position(k, s.count(), "index", "")
		if err != nil {
			return Value{}, err
		}
		return s.at(i), nil
	case KMap:
		if !isStr(k) {
			return Value{}, diag.New(diag.Runtime, "map keys must be String, got %s", typeName(k))
		}
		if v, ok := toMap(t).GetKey(k); ok {
			return v, nil
		}
		return Value{}, NoKey(toMap(t), toStr(k).s)
	case KObject:
		if o, ok := toBox(t).o.(Indexable); ok {
			return o.Index(th, k)
		}
	}
	return Value{}, diag.New(diag.Runtime, "cannot index into type %s", typeName(t))
}

// unnamed says that an array has no element with that name, and which one may
// be meant.
func unnamed(name string, names []string) error {
	return diag.New(diag.Runtime, "no element named %s in array", Quote(name)).DidYouMean(name, names)
}

// HasKey is an Object that is known by a name among others, as a tool is.
type HasKey interface{ KeyName() string }

// Keyed finds the element of an array that has that name; v is unset where none
// has, and names are those that there are.
func Keyed(a *Array, name string) (v Value, names []string) {
	for i := range a.Len() {
		e := a.At(i)
		o, ok := e.AsObject().(HasKey)
		if !ok {
			continue
		}
		if o.KeyName() == name {
			return e, nil
		}
		names = append(names, o.KeyName())
	}
	return Value{}, names
}

// position gives the place that k names among n elements.
func position(k Value, n int, what, prefix string) (int, error) {
	if !isInt(k) {
		if kindOf(k) == KBig {
			return 0, diag.New(diag.Runtime, "%s%s %s out of bounds", prefix, what, text(k))
		}
		return 0, diag.New(diag.Runtime, "%s%s must be Int, got %s", prefix, what, typeName(k))
	}
	i := toInt(k)
	if i < 0 {
		i += int64(n)
	}
	if i < 0 || i >= int64(n) {
		return 0, diag.New(diag.Runtime, "%s%s %d out of bounds", prefix, what, toInt(k))
	}
	return int(i), nil
}

// indexAssign compiles x[i] = v: target, index and value are evaluated in that
// order.
func (c *compiler) indexAssign(ix *ast.IndexExpr, e *ast.AssignExpr) expr {
	o := c.operand(ix.X)
	x, at := o.x, &ix.Lbrack
	if k := c.keyOf(ix.Index); k != nil {
		if e.Op != ast.OpNone {
			return keyAugment(x, k, c.expr(e.Value), e, at)
		}
		return setKey(x, k, c.expr(e.Value), at)
	}
	i := c.operand(ix.Index)
	v := c.expr(e.Value)
	switch {
	case e.Op != ast.OpNone:
		return indexAugment(x, i.x, v, e, at)
	case o.isSlot && i.isSlot:
		return setIndexLL(o.slot, i.slot, v, at)
	}
	return setIndexEE(x, i.x, v, at)
}

//go:noinline
func setIndexLL(j, i uint8, v expr, at *diag.Pos) expr {
	return func(fr fp) Value {
		t, k := fr[j], fr[i]
		w := v(fr)
		setIndex(fr, t, k, w, at)
		return w
	}
}

//go:noinline
func setIndexEE(x, i, v expr, at *diag.Pos) expr {
	return func(fr fp) Value {
		t, k, w := x(fr), i(fr), v(fr)
		setIndex(fr, t, k, w, at)
		return w
	}
}

func setIndex(fr fp, t, k, w Value, at *diag.Pos) {
	if isInt(k) && isArr(t) {
		a := toArr(t)
		n := uint64(toInt(k))
		if n < uint64(len(a.ns)) && w.p == a.tp {
			a.ns[n] = w.n
			return
		}
		if n < uint64(len(a.vs)) {
			setSlot(&a.vs[n], w)
			return
		}
	}
	setIndexSlow(fr, t, k, w, at)
}

//go:noinline
func setIndexSlow(fr fp, t, k, w Value, at *diag.Pos) {
	if isMap(t) && isStr(k) {
		if m := toMap(t); m.growth() < largeValue {
			m.SetKey(k, w)
			return
		}
	}
	if err := threadOf(fr).setIndex(t, k, w); err != nil {
		fail(fr, at, err)
	}
}

func (th *Thread) setIndex(t, k, w Value) error {
	switch kindOf(t) {
	case KArray:
		a := toArr(t)
		i, err := position(k, a.Len(), "index", "array ")
		if err != nil {
			return err
		}
		a.set(i, w)
		return nil
	case KMap:
		if !isStr(k) {
			return diag.New(diag.Runtime, "map keys must be String, got %s", typeName(k))
		}
		return th.setKey(toMap(t), k, w)
	case KObject:
		if o, ok := toBox(t).o.(IndexSetter); ok {
			return o.SetIndex(th, k, w)
		}
	}
	return diag.New(diag.Runtime, "cannot index-assign into type %s", typeName(t))
}

// setKey sets a key of a map, for whose growth there must be room.
func (th *Thread) setKey(m *Map, key, w Value) error {
	if n := m.growth(); n >= largeValue && m.findStr(toStr(key)) < 0 {
		if err := th.Reserve(n); err != nil {
			return err
		}
	}
	m.SetKey(key, w)
	return nil
}

// indexAugment is x[i] op= v with x and i evaluated once.
func indexAugment(x, i, v expr, e *ast.AssignExpr, at *diag.Pos) expr {
	op := e.Op
	return func(fr fp) Value {
		t, k := x(fr), i(fr)
		old := indexOf(fr, t, k, at)
		w := v(fr)
		r, ok := quick(op, old, w)
		if !ok {
			r = augmentSlow(fr, e, old, w)
		}
		setIndex(fr, t, k, r, at)
		return r
	}
}

// indexOf is x[i] where an Array is likely.
func indexOf(fr fp, t, k Value, at *diag.Pos) Value {
	if isInt(k) && isArr(t) {
		a := toArr(t)
		n := uint64(toInt(k))
		if n < uint64(len(a.ns)) {
			return Value{a.tp, a.ns[n]}
		}
		if n < uint64(len(a.vs)) {
			return a.vs[n]
		}
	}
	return indexSlow(fr, t, k, at)
}

// quick is + and - of two Ints or two Floats, which most augmented assignments
// are.
func quick(op ast.Op, a, b Value) (v Value, ok bool) {
	if op == ast.OpAdd {
		if isInt(a) && isInt(b) {
			n, ok := addOv(toInt(a), toInt(b))
			return mkInt(n), ok
		}
		return mkFloat(toFloat(a) + toFloat(b)), isFloat(a) && isFloat(b)
	}
	if op != ast.OpSub {
		return Value{}, false
	}
	if isInt(a) && isInt(b) {
		n, ok := subOv(toInt(a), toInt(b))
		return mkInt(n), ok
	}
	return mkFloat(toFloat(a) - toFloat(b)), isFloat(a) && isFloat(b)
}

//go:noinline
func augmentSlow(fr fp, e *ast.AssignExpr, old, w Value) Value {
	r, err := Arith(e.Op, old, w)
	if err != nil {
		fail(fr, &e.OpPos, err)
	}
	return r
}

func (c *compiler) slice(e *ast.SliceExpr) expr {
	x := c.expr(e.X)
	lo, hi := c.bound(e.Lo), c.bound(e.Hi)
	at := &e.Lbrack
	return func(fr fp) Value {
		t := x(fr)
		v, err := sliceOf(t, lo(fr), hi(fr))
		if err != nil {
			fail(fr, at, err)
		}
		return v
	}
}

// bound compiles an end of a slice; one left out is unset.
func (c *compiler) bound(e ast.Expr) expr {
	if e == nil {
		return constant(Value{})
	}
	return c.expr(e)
}

func sliceOf(t, lo, hi Value) (Value, error) {
	var n int
	switch kindOf(t) {
	case KArray:
		n = toArr(t).Len()
	case KString:
		n = toStr(t).count()
	default:
		return Value{}, diag.New(diag.Runtime, "cannot slice type %s", typeName(t))
	}
	a, err := sliceEnd(lo, n, 0)
	if err != nil {
		return Value{}, err
	}
	b, err := sliceEnd(hi, n, n)
	if err != nil {
		return Value{}, err
	}
	if isArr(t) {
		return mkArr(toArr(t).part(a, b)), nil
	}
	return toStr(t).slice(a, b), nil
}

// sliceEnd brings a bound into range as Python does.
func sliceEnd(v Value, n, missing int) (int, error) {
	if isUnset(v) || isNil(v) {
		return missing, nil
	}
	if !isIntish(v) {
		return 0, diag.New(diag.Runtime, "slice bounds must be Int, got %s", typeName(v))
	}
	if !isInt(v) {
		if toBig(v).Sign() < 0 {
			return 0, nil
		}
		return n, nil
	}
	i := toInt(v)
	if i < 0 {
		i += int64(n)
	}
	return int(min(max(i, 0), int64(n))), nil
}

// contains is x in y.
func contains(y, x Value) (bool, error) {
	switch kindOf(y) {
	case KArray:
		a := toArr(y)
		for i := 0; i < a.Len(); i++ {
			if eq, err := equalValues(a.At(i), x); eq || err != nil {
				return eq, err
			}
		}
		return false, nil
	case KString:
		if !isStr(x) {
			return false, diag.New(diag.Runtime, "'in' on a String requires a String, got %s", typeName(x))
		}
		return strings.Contains(toStr(y).s, toStr(x).s), nil
	case KMap:
		if !isStr(x) {
			return false, nil
		}
		_, ok := toMap(y).GetKey(x)
		return ok, nil
	}
	return false, diag.New(diag.Runtime, "'in' requires an Array, a Map or a String on its right, got %s", typeName(y))
}

// Slice gives x[lo:hi]; a bound that is nil is left out.
func Slice(x, lo, hi Value) (Value, error) { return sliceOf(x, lo, hi) }
