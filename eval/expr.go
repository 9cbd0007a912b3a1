package eval

import (
	"slices"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// expr compiles an expression.
func (c *compiler) expr(e ast.Expr) (out expr) {
	c.nest++
	c.fn.maxNest = max(c.fn.maxNest, c.nest)
	out = c.exprNode(e)
	c.nest--
	return out
}

func (c *compiler) exprNode(e ast.Expr) expr {
	switch e := e.(type) {
	case *ast.IntLit:
		if e.Big != nil {
			return constant(normBig(e.Big))
		}
		return constant(mkInt(e.Value))
	case *ast.FloatLit:
		return constant(mkFloat(e.Value))
	case *ast.StringLit:
		return constant(c.literal(e.Value))
	case *ast.BoolLit:
		return constant(mkBool(e.Value))
	case *ast.NilLit:
		return constant(mkNil())
	case *ast.Ident:
		return c.ident(e)
	case *ast.ArrayLit:
		return c.arrayLit(e)
	case *ast.MapLit:
		return c.mapLit(e)
	case *ast.FString:
		return c.fstring(e)
	case *ast.UnaryExpr:
		return c.unary(e)
	case *ast.BinaryExpr:
		return c.binary(e)
	case *ast.CondExpr:
		return c.condExpr(e)
	case *ast.AssignExpr:
		return c.assignExpr(e)
	case *ast.CallExpr:
		return c.call(e)
	case *ast.IndexExpr:
		return c.index(e)
	case *ast.SliceExpr:
		return c.slice(e)
	case *ast.MemberExpr:
		return c.member(e)
	case *ast.Lambda:
		return c.lambda(e)
	}
	panic("eval: unknown expression")
}

func (c *compiler) exprs(es []ast.Expr) []expr {
	out := make([]expr, len(es))
	for i, e := range es {
		out[i] = c.expr(e)
	}
	return out
}

//go:noinline
func constant(v Value) expr { return func(fr fp) Value { return v } }

// ident compiles a read of a name.
func (c *compiler) ident(e *ast.Ident) expr {
	bs, certain := c.candidates(e.Name)
	if certain && len(bs) == 1 {
		return readLoc(c.locOf(bs[0]), uint8(c.fn.spill))
	}
	locs := make([]loc, len(bs))
	for i, b := range bs {
		b.tested = true
		locs[i] = c.locOf(b)
	}
	if !certain {
		if g := c.in.builtin(e.Name); g != nil {
			c.in.namesAudit = c.in.namesAudit || e.Name == "audit"
			locs = append(locs, loc{kind: locGlobal, g: g})
		}
	}
	if len(locs) == 0 {
		return c.unknown(e)
	}
	if l := locs[0]; c.mod.open && len(locs) == 1 && l.kind == locGlobal && l.g.v.p == nil {
		return c.unknownYet(e, l.g)
	}
	return readFirst(locs, uint8(c.fn.spill), e)
}

// readLoc reads a name that is certainly set.
//
//go:noinline
func readLoc(l loc, spillAt uint8) expr {
	switch l.kind {
	case locSlot:
		i := uint8(l.i)
		return func(fr fp) Value { return fr[i] }
	case locCellSlot:
		i := uint8(l.i)
		return func(fr fp) Value { return toCell(fr[i]).v }
	case locUp:
		i := l.i
		return func(fr fp) Value { return funcOf(fr).cells[i].v }
	case locGlobal:
		g := l.g
		return func(fr fp) Value { return g.v }
	}
	return func(fr fp) Value { return l.get(fr, spillAt) }
}

// get reads the place, which may be unset.
func (l loc) get(fr fp, spillAt uint8) Value {
	switch l.kind {
	case locSlot:
		return fr[uint8(l.i)]
	case locCellSlot:
		return toCell(fr[uint8(l.i)]).v
	case locUp:
		return funcOf(fr).cells[l.i].v
	case locGlobal:
		return l.g.v
	case locSpill:
		return toSpill(fr[spillAt]).v[l.i]
	}
	return toCell(toSpill(fr[spillAt]).v[l.i]).v
}

// set writes the place.
func (l loc) set(fr fp, spillAt uint8, v Value) {
	switch l.kind {
	case locSlot:
		setSlot(&fr[uint8(l.i)], v)
	case locCellSlot:
		setSlot(&toCell(fr[uint8(l.i)]).v, v)
	case locUp:
		setSlot(&funcOf(fr).cells[l.i].v, v)
	case locGlobal:
		setSlot(&l.g.v, v)
	case locSpill:
		setSlot(&toSpill(fr[spillAt]).v[l.i], v)
	default:
		setSlot(&toCell(toSpill(fr[spillAt]).v[l.i]).v, v)
	}
}

func undefined(fr fp, e *ast.Ident) {
	fail(fr, &e.P, noName(e.Name))
}

// readFirst reads the first of several places that is set.
//
//go:noinline
func readFirst(locs []loc, spillAt uint8, e *ast.Ident) expr {
	if len(locs) == 1 && locs[0].kind == locGlobal {
		g := locs[0].g
		return func(fr fp) Value {
			v := g.v
			if v.p == nil {
				undefined(fr, e)
			}
			return v
		}
	}
	if len(locs) == 2 && locs[0].kind == locSlot && locs[1].kind == locGlobal {
		i, g := uint8(locs[0].i), locs[1].g
		return func(fr fp) Value {
			v := fr[i]
			if v.p == nil {
				if v = g.v; v.p == nil {
					undefined(fr, e)
				}
			}
			return v
		}
	}
	return func(fr fp) Value {
		for i := range locs {
			if v := locs[i].get(fr, spillAt); v.p != nil {
				return v
			}
		}
		undefined(fr, e)
		return Value{}
	}
}

// target is a name that is written.
type target struct {
	locs    []loc // innermost first
	fresh   int   // the one to bind where none is set
	spillAt uint8
}

// assignTarget resolves name = ...: the first candidate that is set is written,
// else the innermost scope's own.
func (c *compiler) assignTarget(name string) target {
	bs, certain := c.candidates(name)
	if !certain {
		if g := c.in.universe[name]; g != nil {
			return c.targetOf(bs, g)
		}
		if home := c.home(); !slices.ContainsFunc(bs, func(b *binding) bool { return b.scope == home }) {
			bs = append([]*binding{c.late(name)}, bs...)
		}
	}
	if len(bs) == 1 {
		c.nowSet(bs[0])
		return target{locs: []loc{c.locOf(bs[0])}, spillAt: uint8(c.fn.spill)}
	}
	t := c.targetOf(bs, nil)
	for i, b := range bs {
		if b.scope == c.home() {
			t.fresh = i
		}
	}
	return t
}

// late makes a binding that the list of declared names left out.
func (c *compiler) late(name string) *binding {
	b := c.bind(c.home(), name, false)
	b.tested = true
	return b
}

func (c *compiler) targetOf(bs []*binding, builtin *Global) target {
	t := target{spillAt: uint8(c.fn.spill)}
	for _, b := range bs {
		b.tested = true
		t.locs = append(t.locs, c.locOf(b))
	}
	if builtin != nil {
		t.locs = append(t.locs, loc{kind: locGlobal, g: builtin})
	}
	return t
}

// declare resolves a name that is bound in the innermost scope.
func (c *compiler) declare(name string) target {
	s := c.home()
	b := s.names[name]
	if b == nil {
		b = c.bind(s, name, true)
	}
	c.nowSet(b)
	return target{locs: []loc{c.locOf(b)}, spillAt: uint8(c.fn.spill)}
}

// write stores a value as the target's rule says.
func (t *target) write(fr fp, v Value) {
	for i := range t.locs {
		if t.locs[i].get(fr, t.spillAt).p != nil {
			t.locs[i].set(fr, t.spillAt, v)
			return
		}
	}
	t.locs[t.fresh].set(fr, t.spillAt, v)
}

// store gives the function that writes the target.
func (t target) store() func(fr fp, v Value) {
	if len(t.locs) == 1 {
		return storeLoc(t.locs[0], t.spillAt)
	}
	return func(fr fp, v Value) { t.write(fr, v) }
}

//go:noinline
func storeLoc(l loc, spillAt uint8) func(fr fp, v Value) {
	switch l.kind {
	case locSlot:
		i := uint8(l.i)
		return func(fr fp, v Value) { setSlot(&fr[i], v) }
	case locCellSlot:
		i := uint8(l.i)
		return func(fr fp, v Value) { setSlot(&toCell(fr[i]).v, v) }
	case locUp:
		i := l.i
		return func(fr fp, v Value) { setSlot(&funcOf(fr).cells[i].v, v) }
	case locGlobal:
		g := l.g
		return func(fr fp, v Value) { setSlot(&g.v, v) }
	}
	return func(fr fp, v Value) { l.set(fr, spillAt, v) }
}

func (c *compiler) assignExpr(e *ast.AssignExpr) expr {
	if ix, ok := e.Target.(*ast.IndexExpr); ok {
		return c.indexAssign(ix, e)
	}
	id := e.Target.(*ast.Ident)
	var v expr
	if e.Op != ast.OpNone {
		v = c.augmented(c.ident(id), e)
	} else {
		v = c.expr(e.Value)
	}
	t := c.assignTarget(id.Name)
	st := t.store()
	return func(fr fp) Value {
		x := v(fr)
		st(fr, x)
		return x
	}
}

// augmented gives x op value for x op= value.
func (c *compiler) augmented(x expr, e *ast.AssignExpr) expr {
	return arithExpr(e.Op, operand{x: x}, operand{x: c.expr(e.Value)}, &e.OpPos)
}

func (c *compiler) arrayLit(e *ast.ArrayLit) expr {
	es := c.exprs(e.Elems)
	switch {
	case len(es) == 0:
		return func(fr fp) Value { return mkArr(newArray()) }
	case len(es) <= 4:
		return shortArray(es)
	}
	return func(fr fp) Value {
		a := newArray()
		a.vs = make([]Value, 0, len(es))
		for _, x := range es {
			a.push(x(fr))
		}
		return mkArr(a)
	}
}

func (c *compiler) mapLit(e *ast.MapLit) expr {
	type entry struct {
		k, v expr
		at   *diag.Pos
	}
	var es []entry
	if x := c.record(e); x != nil {
		return x
	}
	for i := range e.Entries {
		p := e.Entries[i].Key.Pos()
		es = append(es, entry{c.expr(e.Entries[i].Key), c.expr(e.Entries[i].Value), &p})
	}
	return func(fr fp) Value {
		m := NewMap()
		for _, x := range es {
			k := x.k(fr)
			if !isStr(k) {
				failf(fr, x.at, diag.Runtime, "map keys must be String, got %s", typeName(k))
			}
			m.SetKey(k, x.v(fr))
		}
		return mkMap(m)
	}
}

// record compiles a map whose keys are different literals; nil where they are
// not, or where there are more than a small map has.
func (c *compiler) record(e *ast.MapLit) expr {
	if len(e.Entries) > smallMap {
		return nil
	}
	var keys []*Str
	for i := range e.Entries {
		k := c.keyOf(e.Entries[i].Key)
		if k == nil || slices.Contains(keys, k) || len(k.s) > maxShared {
			return nil
		}
		keys = append(keys, k)
	}
	vals := make([]expr, len(keys))
	for i := range vals {
		vals[i] = c.expr(e.Entries[i].Value)
	}
	return func(fr fp) Value {
		m := newMapOf(len(keys))
		for i, x := range vals {
			v := x(fr)
			m.entries = append(m.entries, mapEntry{keys[i], v})
		}
		return mkMap(m)
	}
}

func (c *compiler) condExpr(e *ast.CondExpr) expr {
	cd := c.cond(e.Cond)
	var a, b expr
	c.branches(func() { a = c.expr(e.Then) }, func() { b = c.expr(e.Else) })
	return func(fr fp) Value {
		if cd(fr) {
			return a(fr)
		}
		return b(fr)
	}
}

func (c *compiler) lambda(e *ast.Lambda) expr {
	p := c.function(function{name: "lambda", params: e.Params, lambda: e})
	p.pos = e.P
	mk := c.closure(p)
	return func(fr fp) Value { return mkFunc(mk(fr)) }
}

func (c *compiler) unary(e *ast.UnaryExpr) expr {
	if e.Op == ast.OpNot {
		x := c.cond(e.X)
		return func(fr fp) Value { return mkBool(!x(fr)) }
	}
	if v := c.negative(e); v.p != nil {
		return constant(v)
	}
	x := c.expr(e.X)
	return func(fr fp) Value {
		v := x(fr)
		if isFloat(v) {
			return mkFloat(-toFloat(v))
		}
		r, err := negate(v)
		if err != nil {
			fail(fr, &e.P, err)
		}
		return r
	}
}

// negative gives the value of a negative literal, which is unset where e is none.
func (c *compiler) negative(e *ast.UnaryExpr) Value {
	switch x := e.X.(type) {
	case *ast.IntLit:
		if e.Op == ast.OpNeg && x.Big == nil {
			return mkInt(-x.Value)
		}
	case *ast.FloatLit:
		if e.Op == ast.OpNeg {
			return mkFloat(-x.Value)
		}
	}
	return Value{}
}

// attr reads a member of any value.
func (th *Thread) attr(v Value, name string) (Value, error) {
	switch kindOf(v) {
	case KObject:
		o := toBox(v).o
		if m, ok := o.(HasMethods); ok {
			if d := m.Method(name); d != nil {
				return bound(d, o, m.OwnerName()), nil
			}
		}
		if a, ok := o.(HasAttrs); ok {
			r, err := a.Attr(th, name)
			if err != nil {
				err = th.nearMember(err, v, name)
			}
			return r, err
		}
	default:
		if d := th.in.typeMethod(v, name); d != nil {
			return boundValue(d, v), nil
		}
		if r, ok := th.in.funcAttr(v, name); ok {
			return r, nil
		}
	}
	return Value{}, th.noMember(v, name)
}

// Attr reads a member of any value, as x.name does.
func (th *Thread) Attr(v Value, name string) (Value, error) { return th.attr(v, name) }
