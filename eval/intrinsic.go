package eval

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// intrinsic compiles a call of a builtin that the compiler knows. The name may
// be bound to something else while the program runs, so each closure looks. index takes
// 1.19 times as long without.
func (c *compiler) intrinsic(e *ast.CallExpr, labels []string) expr {
	id, ok := e.Fun.(*ast.Ident)
	if !ok || labels != nil {
		return nil
	}
	bs, _ := c.candidates(id.Name)
	g := c.in.universe[id.Name]
	if len(bs) > 0 || g == nil || kindOf(g.v) != KBuiltin {
		return nil
	}
	b := g.v
	kind := toBuiltin(b).Intrinsic
	n := len(e.Args)
	if kind == NotIntrinsic || kind == IntrinsicPush && n != 2 || (kind == IntrinsicLen || kind == IntrinsicStr) && n != 1 || kind == IntrinsicRange {
		return nil
	}
	args := c.args(e.Args)
	s := c.site(&e.P)
	switch kind {
	case IntrinsicLen:
		return lenCall(g, b, args[0], s)
	case IntrinsicStr:
		return strCall(g, b, args[0], s)
	}
	return pushCall(g, b, args[0], args[1], s)
}

//go:noinline
func lenCall(g *Global, b Value, a expr, s *site) expr {
	return func(fr fp) Value {
		f := g.v
		v := a(fr)
		if same(f, b) {
			switch kindOf(v) {
			case KArray:
				return mkInt(int64(toArr(v).Len()))
			case KString:
				return mkInt(int64(toStr(v).count()))
			case KMap:
				return mkInt(int64(toMap(v).Len()))
			}
		}
		return callN(fr, f, s, v)
	}
}

//go:noinline
func strCall(g *Global, b Value, a expr, s *site) expr {
	return func(fr fp) Value {
		f := g.v
		v := a(fr)
		if same(f, b) {
			switch {
			case isInt(v):
				if n := toInt(v); uint64(n) < 10 {
					return mkStr(&oneByte['0'+n])
				}
				return intText(toInt(v))
			case isStr(v):
				return v
			}
		}
		return callN(fr, f, s, v)
	}
}

//go:noinline
func pushCall(g *Global, b Value, a, x expr, s *site) expr {
	return func(fr fp) Value {
		f := g.v
		v := a(fr)
		w := x(fr)
		if same(f, b) && isArr(v) {
			if toArr(v).full() {
				growRoom(fr, toArr(v), s)
			}
			toArr(v).push(w)
			return v
		}
		return callN(fr, f, s, v, w)
	}
}

// growRoom asks for room for a large array that grows.
//
//go:noinline
func growRoom(fr fp, a *Array, s *site) {
	if err := threadOf(fr).Reserve(2 * a.bytes()); err != nil {
		fail(fr, s.pos, err)
	}
}

// rangeArgs gives the arguments of a loop over range(...) where the name is the
// builtin's and nothing in the program binds it.
func (c *compiler) rangeArgs(e ast.Expr) (g *Global, b Value, args []ast.Arg) {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Args) > 2 || labelsOf(call.Args) != nil {
		return nil, Value{}, nil
	}
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return nil, Value{}, nil
	}
	bs, _ := c.candidates(id.Name)
	g = c.in.universe[id.Name]
	if len(bs) > 0 || g == nil || kindOf(g.v) != KBuiltin || toBuiltin(g.v).Intrinsic != IntrinsicRange {
		return nil, Value{}, nil
	}
	return g, g.v, call.Args
}

// Len gives what len(x) gives.
func Len(v Value) (Value, error) {
	switch kindOf(v) {
	case KArray:
		return mkInt(int64(toArr(v).Len())), nil
	case KString:
		return mkInt(int64(toStr(v).count())), nil
	case KMap:
		return mkInt(int64(toMap(v).Len())), nil
	}
	return Value{}, diag.New(diag.Runtime, "len() not supported for type %s", typeName(v))
}
