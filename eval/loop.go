package eval

import (
	"unicode/utf8"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// forStmt compiles a loop over values. Its variables and the body's names are
// new in each turn.
func (c *compiler) forStmt(s *ast.ForStmt) stmt {
	at := s.Iter.Pos()
	g, rng, args := c.rangeArgs(s.Iter)
	r := rangeCall{g: g, rng: rng}
	var it expr
	if args != nil && len(s.Vars) == 1 {
		for _, a := range args {
			r.args = append(r.args, c.expr(a.Value))
		}
		r.s = c.site(&s.Iter.(*ast.CallExpr).P)
	} else if a := c.fixedArray(s.Iter); a.p != nil {
		it = constant(a)
	} else {
		it = c.expr(s.Iter)
	}
	var set func(fr fp, v Value)
	var slot int
	var body stmt
	c.maybe(func() { set, slot, body = c.forBody(s, &at) })
	if slot >= 0 && it == nil {
		return rangeSlot(r, uint8(slot), set, body, &at)
	}
	if it == nil {
		return rangeLoop(r, set, body, &at)
	}
	if slot >= 0 {
		return valuesSlot(it, uint8(slot), set, body, &at)
	}
	return func(fr fp) (ctl, Value) { return eachValue(fr, it(fr), set, body, &at) }
}

// fixedArray gives the array of a literal of numbers and Strings, which is unset
// where e is none. A loop over it may use one array again and again, since nobody
// else gets hold of it.
func (c *compiler) fixedArray(e ast.Expr) Value {
	lit, ok := e.(*ast.ArrayLit)
	if !ok {
		return Value{}
	}
	a := newArray()
	for _, x := range lit.Elems {
		v := c.fixed(x)
		if v.p == nil {
			return Value{}
		}
		a.push(v)
	}
	return mkArr(a)
}

// fixed gives the value of a literal of a number or a String.
func (c *compiler) fixed(e ast.Expr) Value {
	switch e := e.(type) {
	case *ast.IntLit:
		if e.Big == nil {
			return mkInt(e.Value)
		}
	case *ast.FloatLit:
		return mkFloat(e.Value)
	case *ast.StringLit:
		return c.literal(e.Value)
	case *ast.UnaryExpr:
		return c.negative(e)
	}
	return Value{}
}

// rangeCall is a call of range in the head of a loop.
type rangeCall struct {
	g    *Global
	rng  Value // the builtin, which g may cease to hold
	args []expr
	s    *site
}

// bounds evaluates the arguments; where the call is not an ordinary one v is
// what it gives.
func (r *rangeCall) bounds(fr fp) (a, b int64, v Value) {
	f := r.g.v
	x := mkInt(0)
	y := r.args[0](fr)
	if len(r.args) == 2 {
		x, y = y, r.args[1](fr)
	}
	if isInt(x) && isInt(y) && same(f, r.rng) {
		return toInt(x), toInt(y), Value{}
	}
	if len(r.args) == 2 {
		return 0, 0, callN(fr, f, r.s, x, y)
	}
	return 0, 0, callN(fr, f, r.s, y)
}

// forBody compiles a loop's body and gives the function that sets its variables
// at the start of a turn, and the slot of a single one that needs no more than
// a store (-1 otherwise).
func (c *compiler) forBody(s *ast.ForStmt, at *diag.Pos) (set func(fr fp, v Value), slot int, body stmt) {
	c.nest++
	c.fn.maxNest = max(c.fn.maxNest, c.nest)
	names := make([]string, len(s.Vars))
	for i, v := range s.Vars {
		names[i] = v.Name
	}
	sc := c.enter(s.Body.Stmts, c.men.inner[s.Body], "", names...)
	slot = -1
	puts := make([]func(fr fp, v Value), len(names))
	for i, n := range names {
		b := sc.names[n]
		c.nowSet(b)
		l := c.locOf(b)
		puts[i] = storeLoc(l, uint8(c.fn.spill))
		if l.kind == locSlot && len(names) == 1 {
			slot = l.i
		}
	}
	run := c.loopBody(func() stmt { return sequence(c.counted(c.stmts(s.Body.Stmts))) })
	pro := c.leave()
	c.nest--
	set = puts[0]
	if len(puts) > 1 {
		set = func(fr fp, v Value) {
			if isStr(v) {
				fail(fr, at, noPair(v, len(puts)))
			}
			if len(puts) == 2 && isArr(v) && toArr(v).Len() == 2 {
				x, y := toArr(v).At(0), toArr(v).At(1)
				puts[0](fr, x)
				puts[1](fr, y)
				return
			}
			for i, x := range unpack(fr, v, len(puts), at) {
				puts[i](fr, x)
			}
		}
	}
	if pro == nil {
		return set, slot, run
	}
	inner := set
	return func(fr fp, v Value) { pro(fr); inner(fr, v) }, -1, run
}

// rangeSlot is for i in range(...) without the array. matmul takes 1.4 times as long
// without, nested 1.5 times.
//
//go:noinline
func rangeSlot(r rangeCall, i uint8, set func(fr fp, v Value), body stmt, at *diag.Pos) stmt {
	return func(fr fp) (ctl, Value) {
		a, b, v := r.bounds(fr)
		if v.p != nil {
			return eachValue(fr, v, set, body, at)
		}
		end := &threadOf(fr).end
		for ; a < b; a++ {
			if end.Load() == 0 {
				threadOf(fr).poll(fr)
			}
			setSlot(&fr[i], mkInt(a))
			if k, v := body(fr); k != ctlNext {
				if k == ctlReturn {
					return k, v
				}
				if k == ctlBreak {
					break
				}
			}
		}
		return ctlNext, Value{}
	}
}

// valuesSlot is for x in v where x needs no more than a slot. forin takes 1.2 to 1.3
// times as long without.
//
//go:noinline
func valuesSlot(it expr, i uint8, set func(fr fp, v Value), body stmt, at *diag.Pos) stmt {
	return func(fr fp) (ctl, Value) {
		switch v := it(fr); kindOf(v) {
		case KArray:
			return elementsSlot(fr, toArr(v), i, body)
		case KString:
			return textSlot(fr, toStr(v).s, i, body)
		case KMap:
			return keysSlot(fr, toMap(v).KeyValues(), i, body)
		default:
			return eachValue(fr, v, set, body, at)
		}
	}
}

func elementsSlot(fr fp, a *Array, i uint8, body stmt) (ctl, Value) {
	end := &threadOf(fr).end
	for n := 0; n < a.Len(); n++ { // the body may append
		if end.Load() == 0 {
			threadOf(fr).poll(fr)
		}
		setSlot(&fr[i], a.At(n))
		if k, v := body(fr); k != ctlNext {
			if k == ctlReturn {
				return k, v
			}
			if k == ctlBreak {
				break
			}
		}
	}
	return ctlNext, Value{}
}

// keysSlot sees the keys that a map had when the loop began.
func keysSlot(fr fp, keys []Value, i uint8, body stmt) (ctl, Value) {
	end := &threadOf(fr).end
	for _, k := range keys {
		if end.Load() == 0 {
			threadOf(fr).poll(fr)
		}
		setSlot(&fr[i], k)
		if k, v := body(fr); k != ctlNext {
			if k == ctlReturn {
				return k, v
			}
			if k == ctlBreak {
				break
			}
		}
	}
	return ctlNext, Value{}
}

func textSlot(fr fp, s string, i uint8, body stmt) (ctl, Value) {
	end := &threadOf(fr).end
	for len(s) > 0 {
		if end.Load() == 0 {
			threadOf(fr).poll(fr)
		}
		n := 1
		if c := s[0]; c < utf8.RuneSelf {
			setSlot(&fr[i], mkStr(&oneByte[c]))
		} else {
			_, n = utf8.DecodeRuneInString(s)
			setSlot(&fr[i], newStr(s[:n]))
		}
		s = s[n:]
		if k, v := body(fr); k != ctlNext {
			if k == ctlReturn {
				return k, v
			}
			if k == ctlBreak {
				break
			}
		}
	}
	return ctlNext, Value{}
}

// rangeLoop is rangeSlot for a variable that is more than a slot.
func rangeLoop(r rangeCall, set func(fr fp, v Value), body stmt, at *diag.Pos) stmt {
	return func(fr fp) (ctl, Value) {
		a, b, v := r.bounds(fr)
		if v.p != nil {
			return eachValue(fr, v, set, body, at)
		}
		return eachNext(fr, func() (Value, bool) {
			if a >= b {
				return Value{}, false
			}
			a++
			return mkInt(a - 1), true
		}, set, body)
	}
}

// eachValue is for x in v.
func eachValue(fr fp, v Value, set func(fr fp, v Value), body stmt, at *diag.Pos) (ctl, Value) {
	if isArr(v) {
		return eachElement(fr, toArr(v), set, body)
	}
	next := iterate(v)
	if next == nil {
		failf(fr, at, diag.Runtime, "cannot iterate over value of type %s", typeName(v))
	}
	return eachNext(fr, next, set, body)
}

func eachNext(fr fp, next func() (Value, bool), set func(fr fp, v Value), body stmt) (ctl, Value) {
	end := &threadOf(fr).end
	for x, ok := next(); ok; x, ok = next() {
		if end.Load() == 0 {
			threadOf(fr).poll(fr)
		}
		set(fr, x)
		if k, v := body(fr); k != ctlNext {
			if k == ctlReturn {
				return k, v
			}
			if k == ctlBreak {
				break
			}
		}
	}
	return ctlNext, Value{}
}

// eachElement sees what the body appends.
func eachElement(fr fp, a *Array, set func(fr fp, v Value), body stmt) (ctl, Value) {
	end := &threadOf(fr).end
	for n := 0; n < a.Len(); n++ {
		if end.Load() == 0 {
			threadOf(fr).poll(fr)
		}
		set(fr, a.At(n))
		if k, v := body(fr); k != ctlNext {
			if k == ctlReturn {
				return k, v
			}
			if k == ctlBreak {
				break
			}
		}
	}
	return ctlNext, Value{}
}

// iterate gives a function that gives one element after the other, nil where
// the value has none.
func iterate(v Value) func() (Value, bool) {
	switch kindOf(v) {
	case KString:
		return iterateText(toStr(v).s)
	case KMap:
		return iterateMap(toMap(v))
	}
	return nil
}

func iterateText(s string) func() (Value, bool) {
	return func() (Value, bool) {
		if s == "" {
			return Value{}, false
		}
		if c := s[0]; c < 128 {
			s = s[1:]
			return mkStr(&oneByte[c]), true
		}
		for i := range s {
			if i > 0 {
				x := newStr(s[:i])
				s = s[i:]
				return x, true
			}
		}
		x := newStr(s)
		s = ""
		return x, true
	}
}

func iterateMap(m *Map) func() (Value, bool) {
	keys, i := m.KeyValues(), 0
	return func() (Value, bool) {
		if i >= len(keys) {
			return Value{}, false
		}
		i++
		return keys[i-1], true
	}
}

// Elements lists what a loop over v sees; ok is false where it sees nothing.
func Elements(v Value) (vs []Value, ok bool) {
	if isArr(v) {
		return toArr(v).Values(), true
	}
	next := iterate(v)
	if next == nil {
		return nil, false
	}
	for x, more := next(); more; x, more = next() {
		vs = append(vs, x)
	}
	return vs, true
}
