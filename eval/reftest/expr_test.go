package reftest

import (
	"math/big"
	"strings"

	"github.com/sense-lang/sense/ast"
)

func (m *machine) eval(e ast.Expr, s *scope) (v value) {
	m.spend(1)
	m.nested(func() { v = m.expr(e, s) })
	m.line = int(e.Pos().Line) // what is done with the value is done on this line
	return v
}

func (m *machine) expr(e ast.Expr, s *scope) value {
	switch e := e.(type) {
	case *ast.IntLit:
		return big.NewInt(e.Value)
	case *ast.FloatLit:
		return e.Value
	case *ast.StringLit:
		return e.Value
	case *ast.BoolLit:
		return e.Value
	case *ast.NilLit:
		return null{}
	case *ast.Ident:
		return m.name(e, s)
	case *ast.ArrayLit:
		a := &array{}
		for _, x := range e.Elems {
			a.elems = append(a.elems, m.eval(x, s))
		}
		return a
	case *ast.MapLit:
		return m.mapLit(e, s)
	case *ast.FString:
		return m.fstring(e, s)
	case *ast.UnaryExpr:
		return m.unary(e, s)
	case *ast.BinaryExpr:
		return m.binary(e, s)
	case *ast.CondExpr:
		if truthy(m.eval(e.Cond, s)) {
			return m.eval(e.Then, s)
		}
		return m.eval(e.Else, s)
	case *ast.AssignExpr:
		return m.assign(e, s)
	case *ast.CallExpr:
		return m.call(e, s)
	case *ast.IndexExpr:
		x := m.eval(e.X, s)
		return m.index(x, m.eval(e.Index, s))
	case *ast.SliceExpr:
		return m.slice(e, s)
	case *ast.MemberExpr:
		return m.member(m.eval(e.X, s), e.Name)
	case *ast.Lambda:
		return &function{"lambda", e.Params, nil, nil, e.Body, s}
	}
	panic("no such expression")
}

func (m *machine) name(e *ast.Ident, s *scope) value {
	at := s.find(e.Name)
	if at == nil {
		m.line = int(e.P.Line)
		m.fail("name", "undefined variable '%s'", e.Name)
	}
	return at.vars[e.Name]
}

func (m *machine) mapLit(e *ast.MapLit, s *scope) value {
	d := newDict()
	for _, x := range e.Entries {
		k := m.eval(x.Key, s)
		key, ok := k.(string)
		if !ok {
			m.fail("runtime", "map keys must be String, got %s", typeName(k))
		}
		d.set(key, m.eval(x.Value, s))
	}
	return d
}

func (m *machine) fstring(e *ast.FString, s *scope) value {
	var b strings.Builder
	for _, p := range e.Parts {
		b.WriteString(p.Text)
		if p.X != nil {
			b.WriteString(m.show(m.eval(p.X, s)))
		}
	}
	return b.String()
}

func (m *machine) unary(e *ast.UnaryExpr, s *scope) value {
	x := m.eval(e.X, s)
	if e.Op == ast.OpNot {
		return !truthy(x)
	}
	switch x := x.(type) {
	case *big.Int:
		return new(big.Int).Neg(x)
	case float64:
		return -x
	}
	m.fail("runtime", "unary '-' requires a number, got %s", typeName(x))
	return nil
}

func (m *machine) binary(e *ast.BinaryExpr, s *scope) value {
	x := m.eval(e.X, s)
	switch {
	case e.Op == ast.OpAnd && !truthy(x), e.Op == ast.OpOr && truthy(x):
		return x
	}
	y := m.eval(e.Y, s)
	m.line = int(e.OpPos.Line)
	switch e.Op {
	case ast.OpAnd, ast.OpOr:
		return y
	case ast.OpEq:
		return m.equal(x, y)
	case ast.OpNe:
		return !m.equal(x, y)
	case ast.OpLt, ast.OpLe, ast.OpGt, ast.OpGe:
		return m.compare(e.Op.String(), x, y)
	case ast.OpIn:
		return m.contains(y, x)
	case ast.OpNotIn:
		return !m.contains(y, x)
	}
	return m.arithmetic(e.Op.String(), x, y)
}

func (m *machine) contains(y, x value) bool {
	switch y := y.(type) {
	case *array:
		for _, e := range y.elems {
			if m.equal(e, x) {
				return true
			}
		}
		return false
	case string:
		t, ok := x.(string)
		if !ok {
			m.fail("runtime", "'in' on a String requires a String, got %s", typeName(x))
		}
		return strings.Contains(y, t)
	case *dict:
		k, ok := x.(string)
		_, has := y.vals[k]
		return ok && has
	}
	m.fail("runtime", "'in' requires an Array, a Map or a String on its right, got %s", typeName(y))
	return false
}

func (m *machine) assign(e *ast.AssignExpr, s *scope) value {
	if ix, ok := e.Target.(*ast.IndexExpr); ok {
		return m.assignIndex(e, ix, s)
	}
	id := e.Target.(*ast.Ident)
	var v value
	if e.Op == ast.OpNone {
		v = m.eval(e.Value, s)
	} else {
		old := m.eval(id, s)
		y := m.eval(e.Value, s)
		m.line = int(e.OpPos.Line)
		v = m.arithmetic(e.Op.String(), old, y)
	}
	s.assign(id.Name, v)
	return v
}

func (m *machine) assignIndex(e *ast.AssignExpr, ix *ast.IndexExpr, s *scope) value {
	x := m.eval(ix.X, s)
	i := m.eval(ix.Index, s)
	if e.Op == ast.OpNone {
		v := m.eval(e.Value, s)
		m.line = int(ix.P.Line)
		m.setIndex(x, i, v)
		return v
	}
	old := m.index(x, i)
	y := m.eval(e.Value, s)
	m.line = int(e.OpPos.Line)
	v := m.arithmetic(e.Op.String(), old, y)
	m.setIndex(x, i, v)
	return v
}

// position gives the place that an index names among n elements.
func (m *machine) position(i value, n int, what string) int {
	k, ok := i.(*big.Int)
	if !ok {
		m.fail("runtime", "%s must be Int, got %s", what, typeName(i))
	}
	p := new(big.Int).Set(k)
	if p.Sign() < 0 {
		p.Add(p, big.NewInt(int64(n)))
	}
	if p.Sign() < 0 || p.Cmp(big.NewInt(int64(n))) >= 0 {
		m.fail("runtime", "%s %s out of bounds", what, k)
	}
	return int(p.Int64())
}

func (m *machine) index(x, i value) value {
	switch x := x.(type) {
	case *array:
		return x.elems[m.position(i, len(x.elems), "index")]
	case string:
		rs := []rune(x)
		return string(rs[m.position(i, len(rs), "index")])
	case *dict:
		k, ok := i.(string)
		if !ok {
			m.fail("runtime", "map keys must be String, got %s", typeName(i))
		}
		if v, ok := x.vals[k]; ok {
			return v
		}
		m.fail("runtime", "no key '%s' in map", k)
	}
	m.fail("runtime", "cannot index into type %s", typeName(x))
	return nil
}

func (m *machine) setIndex(x, i, v value) {
	switch x := x.(type) {
	case *array:
		x.elems[m.position(i, len(x.elems), "array index")] = v
		return
	case *dict:
		k, ok := i.(string)
		if !ok {
			m.fail("runtime", "map keys must be String, got %s", typeName(i))
		}
		x.set(k, v)
		return
	}
	m.fail("runtime", "cannot index-assign into type %s", typeName(x))
}

func (m *machine) slice(e *ast.SliceExpr, s *scope) value {
	x := m.eval(e.X, s)
	var lo, hi value
	if e.Lo != nil {
		lo = m.eval(e.Lo, s)
	}
	if e.Hi != nil {
		hi = m.eval(e.Hi, s)
	}
	m.line = int(e.P.Line)
	switch x := x.(type) {
	case *array:
		a, b := m.bounds(lo, hi, len(x.elems))
		return &array{append([]value(nil), x.elems[a:b]...)}
	case string:
		rs := []rune(x)
		a, b := m.bounds(lo, hi, len(rs))
		return string(rs[a:b])
	}
	m.fail("runtime", "cannot slice type %s", typeName(x))
	return nil
}

// bounds brings the ends of a slice into range, as Python does.
func (m *machine) bounds(lo, hi value, n int) (int, int) {
	end := func(v value, missing int) int {
		switch v := v.(type) {
		case nil, null:
			return missing
		case *big.Int:
			p := new(big.Int).Set(v)
			if p.Sign() < 0 {
				p.Add(p, big.NewInt(int64(n)))
			}
			if p.Sign() < 0 {
				return 0
			}
			if p.Cmp(big.NewInt(int64(n))) > 0 {
				return n
			}
			return int(p.Int64())
		}
		m.fail("runtime", "slice bounds must be Int, got %s", typeName(v))
		return 0
	}
	a := end(lo, 0)
	return a, max(a, end(hi, n))
}
