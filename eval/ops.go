package eval

//go:generate go run ./internal/gen

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// operand is a compiled operand with the shapes that get closures of their own:
// a name in a slot, a name of the module, and a small constant.
type operand struct {
	x      expr
	g      *Global
	isSlot bool
	slot   uint8
	isInt  bool
	n      int64
}

// operand compiles e and notes its shape.
func (c *compiler) operand(e ast.Expr) operand {
	o := operand{x: c.expr(e)}
	switch e := e.(type) {
	case *ast.IntLit:
		o.isInt, o.n = e.Big == nil, e.Value
	case *ast.UnaryExpr:
		if v := c.negative(e); isInt(v) {
			o.isInt, o.n = true, toInt(v)
		}
	case *ast.Ident:
		o.place(c, e.Name)
	}
	return o
}

// place notes where a name is that is certainly set.
func (o *operand) place(c *compiler, name string) (ok bool) {
	bs, certain := c.candidates(name)
	if !certain || len(bs) != 1 {
		return false
	}
	switch l := c.locOf(bs[0]); l.kind {
	case locSlot:
		o.isSlot, o.slot = true, uint8(l.i)
	case locGlobal:
		o.g = l.g
	}
	return o.isSlot || o.g != nil
}

// binary compiles a binary operation. The left side of a long chain is deep, so
// it is compiled in a loop.
func (c *compiler) binary(e *ast.BinaryExpr) expr {
	switch e.Op {
	case ast.OpAnd, ast.OpOr:
		return c.logic(e)
	case ast.OpEq, ast.OpNe, ast.OpLt, ast.OpLe, ast.OpGt, ast.OpGe, ast.OpIn, ast.OpNotIn:
		cd := c.cond(e)
		return func(fr fp) Value { return mkBool(cd(fr)) }
	}
	if x := c.concat3(e); x != nil {
		return x
	}
	l := c.operand(e.X)
	return arithExpr(e.Op, l, c.operand(e.Y), &e.OpPos)
}

// concat3 compiles a + b + c where a String is in sight, so that no text is
// made between (s = s + str(i) + "," costs one append).
func (c *compiler) concat3(e *ast.BinaryExpr) expr {
	if !c.joinsThree(e) {
		return nil
	}
	in := e.X.(*ast.BinaryExpr)
	a, b := c.expr(in.X), c.expr(in.Y)
	d := c.expr(e.Y)
	at1, at2 := &in.OpPos, &e.OpPos
	return func(fr fp) Value {
		x, y := a(fr), b(fr)
		if isStr(x) && isStr(y) {
			z := d(fr)
			if isStr(z) {
				if n := len(toStr(y).s) + len(toStr(z).s); len(toStr(x).s)+n >= largeValue {
					roomFor(fr, toStr(x), n, at2)
				}
				return concat(toStr(x), toStr(y).s, toStr(z).s)
			}
			return arith(fr, ast.OpAdd, arith(fr, ast.OpAdd, x, y, at1), z, at2)
		}
		s := arith(fr, ast.OpAdd, x, y, at1)
		return arith(fr, ast.OpAdd, s, d(fr), at2)
	}
}

// roomFor asks for room for n bytes more at the end of a long text.
//
//go:noinline
func roomFor(fr fp, x *Str, n int, at *diag.Pos) {
	if err := threadOf(fr).reserveText(x, n); err != nil {
		fail(fr, at, err)
	}
}

// joinsThree reports whether e is a + b + c with a String in sight.
func (c *compiler) joinsThree(e *ast.BinaryExpr) bool {
	in, ok := e.X.(*ast.BinaryExpr)
	return e.Op == ast.OpAdd && ok && in.Op == ast.OpAdd && (looksText(e.Y) || looksText(in.Y))
}

func looksText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.StringLit, *ast.FString:
		return true
	case *ast.CallExpr:
		id, ok := e.Fun.(*ast.Ident)
		return ok && id.Name == "str"
	}
	return false
}

//go:noinline
func arith(fr fp, op ast.Op, a, b Value, at *diag.Pos) Value {
	if op == ast.OpAdd {
		if err := threadOf(fr).reserveSum(a, b); err != nil {
			fail(fr, at, err)
		}
	}
	v, err := Arith(op, a, b)
	if err != nil {
		fail(fr, at, err)
	}
	return v
}

// addSlow is a + b where they are not both Ints or both Floats. Text comes
// first: it is what programs add most besides (wordcount: a tenth).
//
//go:noinline
func addSlow(fr fp, a, b Value, at *diag.Pos) Value {
	if isStr(a) && isStr(b) {
		x, y := toStr(a), toStr(b)
		if x.s != "" {
			if n := len(y.s); len(x.s)+n >= largeValue {
				roomFor(fr, x, n, at)
			}
			return concat(x, y.s, "")
		}
	}
	return arith(fr, ast.OpAdd, a, b, at)
}

// arithExpr gives the closure of an arithmetic operation.
func arithExpr(op ast.Op, l, r operand, at *diag.Pos) expr {
	switch op {
	case ast.OpAdd:
		return addExpr(l, r, at)
	case ast.OpSub:
		return subExpr(l, r, at)
	case ast.OpMul:
		return mulExpr(l, r, at)
	case ast.OpMod:
		return modExpr(l, r, at)
	case ast.OpFloorDiv:
		return floorDivExpr(l, r, at)
	case ast.OpDiv:
		return divExpr(l, r, at)
	}
	return powExpr(l.x, r.x, op, at)
}

//go:noinline
func powExpr(x, y expr, op ast.Op, at *diag.Pos) expr {
	return func(fr fp) Value {
		a := x(fr)
		b := y(fr)
		if isInt(a) && isInt(b) {
			if n, ok := arithSmall(op, toInt(a), toInt(b)); ok {
				return mkInt(n)
			}
		}
		return arith(fr, op, a, b, at)
	}
}

//go:noinline
func divExpr(l, r operand, at *diag.Pos) expr {
	x, y := l.x, r.x
	return func(fr fp) Value {
		a, b := x(fr), y(fr)
		if isFloat(a) && isFloat(b) && toFloat(b) != 0 {
			return mkFloat(toFloat(a) / toFloat(b))
		}
		if isInt(a) && isInt(b) && exactFloat(toInt(a)) && exactFloat(toInt(b)) && toInt(b) != 0 {
			return mkFloat(float64(toInt(a)) / float64(toInt(b)))
		}
		return arith(fr, ast.OpDiv, a, b, at)
	}
}

// exactFloat reports whether n is a float64 as it is.
func exactFloat(n int64) bool { return n >= -1<<53 && n <= 1<<53 }

// modOv is modInt where b may be 0.
func modOv(a, b int64) (int64, bool) {
	if b == 0 {
		return 0, false
	}
	return modInt(a, b), true
}

// floorDivOv is floorDivInt where b may be 0.
func floorDivOv(a, b int64) (int64, bool) {
	if b == 0 {
		return 0, false
	}
	return floorDivInt(a, b)
}

// logic compiles and/or, which give the deciding operand.
func (c *compiler) logic(e *ast.BinaryExpr) expr {
	l := c.expr(e.X)
	var r expr
	c.maybe(func() { r = c.expr(e.Y) })
	if e.Op == ast.OpAnd {
		return func(fr fp) Value {
			if v := l(fr); !truthy(v) {
				return v
			}
			return r(fr)
		}
	}
	return func(fr fp) Value {
		if v := l(fr); truthy(v) {
			return v
		}
		return r(fr)
	}
}

// cond compiles an expression whose truth alone matters.
func (c *compiler) cond(e ast.Expr) cond {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		switch e.Op {
		case ast.OpAnd, ast.OpOr:
			return c.logicCond(e)
		case ast.OpLt, ast.OpLe, ast.OpGt, ast.OpGe:
			l := c.operand(e.X)
			return compareCond(e.Op, l, c.operand(e.Y), &e.OpPos)
		case ast.OpEq, ast.OpNe:
			return c.equalCond(e)
		case ast.OpIn, ast.OpNotIn:
			return c.inCond(e)
		}
	case *ast.UnaryExpr:
		if e.Op == ast.OpNot {
			x := c.cond(e.X)
			return func(fr fp) bool { return !x(fr) }
		}
	}
	x := c.expr(e)
	return func(fr fp) bool {
		v := x(fr)
		if isBool(v) {
			return toBool(v)
		}
		return truthy(v)
	}
}

func (c *compiler) logicCond(e *ast.BinaryExpr) cond {
	l := c.cond(e.X)
	var r cond
	c.maybe(func() { r = c.cond(e.Y) })
	if e.Op == ast.OpAnd {
		return func(fr fp) bool { return l(fr) && r(fr) }
	}
	return func(fr fp) bool { return l(fr) || r(fr) }
}

//go:noinline
func compare(fr fp, op ast.Op, a, b Value, at *diag.Pos) bool {
	r, err := Compare(op, a, b)
	if err != nil {
		fail(fr, at, err)
	}
	return r
}

func (c *compiler) equalCond(e *ast.BinaryExpr) cond {
	want := e.Op == ast.OpEq
	l := c.operand(e.X)
	switch y := e.Y.(type) {
	case *ast.StringLit:
		return equalText(l, y.Value, want)
	case *ast.NilLit:
		return equalNil(l, want)
	}
	r := c.operand(e.Y)
	at := &e.OpPos
	if r.isInt {
		return equalInt(l, r.n, want, at)
	}
	x, y := l.x, r.x
	return func(fr fp) bool {
		a, b := x(fr), y(fr)
		if isInt(a) && isInt(b) {
			return (a.n == b.n) == want
		}
		if isStr(a) && isStr(b) {
			return (a.p == b.p || toStr(a).s == toStr(b).s) == want
		}
		return equal(fr, a, b, at) == want
	}
}

//go:noinline
func equal(fr fp, a, b Value, at *diag.Pos) bool {
	r, err := equalValues(a, b)
	if err != nil {
		fail(fr, at, err)
	}
	return r
}

// equalText compares with a literal; one of a single byte, as separators are,
// needs no call.
//
//go:noinline
func equalText(l operand, lit string, want bool) cond {
	x := l.x
	switch {
	case len(lit) == 1 && l.isSlot:
		i, b := l.slot, lit[0]
		return func(fr fp) bool { return isByte(fr[i], b) == want }
	case len(lit) == 1:
		b := lit[0]
		return func(fr fp) bool { return isByte(x(fr), b) == want }
	}
	return func(fr fp) bool {
		v := x(fr)
		return (isStr(v) && toStr(v).s == lit) == want
	}
}

func isByte(v Value, b byte) bool {
	return isStr(v) && len(toStr(v).s) == 1 && toStr(v).s[0] == b
}

//go:noinline
func equalNil(l operand, want bool) cond {
	x := l.x
	return func(fr fp) bool { return isNil(x(fr)) == want }
}

//go:noinline
func equalInt(l operand, n int64, want bool, at *diag.Pos) cond {
	x, k := l.x, mkInt(n)
	if l.isSlot {
		i := l.slot
		return func(fr fp) bool {
			a := fr[i]
			if isInt(a) {
				return (a.n == k.n) == want
			}
			return equal(fr, a, k, at) == want
		}
	}
	return func(fr fp) bool {
		a := x(fr)
		if isInt(a) {
			return (a.n == k.n) == want
		}
		return equal(fr, a, k, at) == want
	}
}

func (c *compiler) inCond(e *ast.BinaryExpr) cond {
	x, y := c.expr(e.X), c.expr(e.Y)
	want := e.Op == ast.OpIn
	at := &e.OpPos
	return func(fr fp) bool {
		a, b := x(fr), y(fr)
		if isMap(b) && isStr(a) {
			return (toMap(b).findStr(toStr(a)) >= 0) == want
		}
		r, err := contains(b, a)
		if err != nil {
			fail(fr, at, err)
		}
		return r == want
	}
}
