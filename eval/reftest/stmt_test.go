package reftest

import (
	"github.com/sense-lang/sense/ast"
)

// how a statement ended.
type how int

const (
	next how = iota
	returned
	broke
	continued
)

// context is what return, break and continue at a place refer to.
type context struct{ inBody, inLoop bool }

func (m *machine) stmts(ss []ast.Stmt, s *scope, c context) (how, value) {
	for _, st := range ss {
		if h, v := m.stmt(st, s, c); h != next {
			return h, v
		}
	}
	return next, nil
}

func (m *machine) block(b *ast.Block, s *scope, c context) (h how, v value) {
	m.nested(func() { h, v = m.stmts(b.Stmts, s, c) })
	return h, v
}

func (m *machine) stmt(st ast.Stmt, s *scope, c context) (how, value) {
	m.spend(1)
	m.line = int(st.Pos().Line)
	switch st := st.(type) {
	case *ast.ExprStmt:
		m.eval(st.X, s)
	case *ast.VarDecl:
		m.declareVar(st, s)
	case *ast.DestructStmt:
		m.destruct(st, s)
	case *ast.FuncDecl:
		s.declare(st.Name, &function{st.Name, st.Params, st.Result, st.Body, nil, s})
	case *ast.TestDecl:
		return m.test(st, s, c)
	case *ast.SessionDecl:
		return m.block(st.Body, newScope(s), c)
	case *ast.AgentDecl:
		s.assign(st.Name, &agent{name: st.Name, decl: st, scope: s, status: "created", reason: null{}})
	case *ast.ActionDecl:
		s.declare(st.Name, &actionDecl{st, s})
	case *ast.ToolDecl:
		s.declare(st.Name, &tool{st, s})
	case *ast.PolicyStmt:
		s.home().setRules(st.Rules)
	case *ast.IfStmt:
		return m.ifStmt(st, s, c)
	case *ast.WhileStmt:
		return m.whileStmt(st, s, c)
	case *ast.ForStmt:
		return m.forStmt(st, s, c)
	case *ast.ReturnStmt:
		return m.returnStmt(st, s, c)
	case *ast.BreakStmt:
		return m.jump(broke, "break", c)
	case *ast.ContinueStmt:
		return m.jump(continued, "continue", c)
	case *ast.PassStmt:
	case *ast.TryStmt:
		return m.tryStmt(st, s, c)
	case *ast.RaiseStmt:
		m.raise(st, s)
	case *ast.TransactionStmt:
		return m.transaction(st, s, c)
	default:
		panic("no such statement")
	}
	return next, nil
}

func (m *machine) declareVar(st *ast.VarDecl, s *scope) {
	v := m.eval(st.Value, s)
	m.line = int(st.P.Line)
	if st.Type != nil && !fits(st.Type, v) {
		m.fail("type", "cannot assign value of type %s to '%s: %s'", typeName(v), st.Name, st.Type)
	}
	if st.Local {
		s.declare(st.Name, v)
		return
	}
	s.assign(st.Name, v)
}

func (m *machine) destruct(st *ast.DestructStmt, s *scope) {
	var vals []value
	for _, e := range st.Values {
		vals = append(vals, m.eval(e, s))
	}
	m.line = int(st.P.Line)
	if len(vals) == 1 {
		vals = m.takeApart(vals[0], len(st.Targets))
	}
	for i, t := range st.Targets {
		if id, ok := t.(*ast.Ident); ok {
			s.assign(id.Name, vals[i])
			continue
		}
		ix := t.(*ast.IndexExpr)
		x := m.eval(ix.X, s)
		m.setIndex(x, m.eval(ix.Index, s), vals[i])
	}
}

func (m *machine) takeApart(v value, n int) []value {
	a, ok := v.(*array)
	if !ok {
		m.fail("runtime", "cannot take apart value of type %s into %d names", typeName(v), n)
	}
	if len(a.elems) != n {
		m.fail("runtime", "expected %d values to take apart, got %d", n, len(a.elems))
	}
	return append([]value(nil), a.elems...)
}

func (m *machine) test(st *ast.TestDecl, s *scope, c context) (h how, v value) {
	err := m.try(func() { h, v = m.block(st.Body, newScope(s), c) })
	switch {
	case err != nil:
		m.tests = append(m.tests, "fail "+st.Desc+": "+err.text())
		return next, nil
	case h == next:
		m.tests = append(m.tests, "pass "+st.Desc)
	}
	return h, v
}

func (m *machine) ifStmt(st *ast.IfStmt, s *scope, c context) (how, value) {
	for _, arm := range st.Arms {
		if truthy(m.eval(arm.Cond, s)) {
			return m.block(arm.Body, newScope(s), c)
		}
	}
	if st.Else == nil {
		return next, nil
	}
	return m.block(st.Else, newScope(s), c)
}

func (m *machine) whileStmt(st *ast.WhileStmt, s *scope, c context) (how, value) {
	c.inLoop = true
	for {
		m.spend(1)
		m.line = int(st.P.Line)
		if !truthy(m.eval(st.Cond, s)) {
			return next, nil
		}
		if h, v := m.block(st.Body, newScope(s), c); h == returned {
			return h, v
		} else if h == broke {
			return next, nil
		}
	}
}

func (m *machine) forStmt(st *ast.ForStmt, s *scope, c context) (how, value) {
	c.inLoop = true
	each := m.iterator(m.eval(st.Iter, s))
	for {
		m.spend(1)
		v, ok := each()
		if !ok {
			return next, nil
		}
		inner := newScope(s)
		m.line = int(st.P.Line)
		m.bindLoop(st, inner, v)
		if h, v := m.block(st.Body, inner, c); h == returned {
			return h, v
		} else if h == broke {
			return next, nil
		}
	}
}

func (m *machine) bindLoop(st *ast.ForStmt, inner *scope, v value) {
	if len(st.Vars) == 1 {
		inner.vars[st.Vars[0].Name] = v
		return
	}
	for i, x := range m.takeApart(v, len(st.Vars)) {
		inner.vars[st.Vars[i].Name] = x
	}
}

// iterator gives what a loop sees, one at a time; an Array's as it is then.
func (m *machine) iterator(v value) func() (value, bool) {
	i := -1
	var fixed []value
	switch v := v.(type) {
	case *array:
		return func() (value, bool) {
			if i++; i >= len(v.elems) {
				return nil, false
			}
			return v.elems[i], true
		}
	case string:
		for _, r := range v {
			fixed = append(fixed, string(r))
		}
	case *dict:
		for _, k := range v.keys {
			fixed = append(fixed, k)
		}
	default:
		m.fail("runtime", "cannot iterate over value of type %s", typeName(v))
	}
	return func() (value, bool) {
		if i++; i >= len(fixed) {
			return nil, false
		}
		return fixed[i], true
	}
}

func (m *machine) returnStmt(st *ast.ReturnStmt, s *scope, c context) (how, value) {
	if !c.inBody {
		m.fail("runtime", "'return' outside a function")
	}
	if st.Value == nil {
		return returned, null{}
	}
	return returned, m.eval(st.Value, s)
}

func (m *machine) jump(h how, word string, c context) (how, value) {
	if !c.inLoop {
		m.fail("runtime", "'%s' outside a loop", word)
	}
	return h, nil
}

func (m *machine) tryStmt(st *ast.TryStmt, s *scope, c context) (h how, v value) {
	err := m.try(func() { h, v = m.handled(st, s, c) })
	if st.Finally != nil {
		if fh, fv := m.block(st.Finally, s, c); fh != next {
			return fh, fv
		}
	}
	if err != nil {
		panic(err)
	}
	return h, v
}

// handled is try with its catches. A catch's block binds in the scope around
// it; only the name of the error is its own.
func (m *machine) handled(st *ast.TryStmt, s *scope, c context) (h how, v value) {
	err := m.try(func() { h, v = m.block(st.Body, s, c) })
	if err == nil {
		return h, v
	}
	for _, k := range st.Catches {
		inner := &scope{vars: map[string]value{k.Name: &caught{err}}, parent: s, through: true}
		if k.Guard != nil && !truthy(m.eval(k.Guard, inner)) {
			continue
		}
		return m.block(k.Body, inner, c)
	}
	panic(err)
}

func (m *machine) raise(st *ast.RaiseStmt, s *scope) {
	v := m.eval(st.Value, s)
	switch v := v.(type) {
	case string:
		m.fail("runtime", "%s", v)
	case *caught:
		panic(v.f)
	}
	m.fail("runtime", "raise expects a String or an error, got %s", typeName(v))
}

func (m *machine) transaction(st *ast.TransactionStmt, s *scope, c context) (h how, v value) {
	outer := m.tx
	tx := &transaction{outer: outer}
	err := m.try(func() {
		m.tx = tx
		h, v = m.block(st.Body, s, c)
	})
	m.tx = outer
	if err == nil {
		if outer != nil {
			outer.done = append(outer.done, tx.done...)
		}
		return h, v
	}
	for i := len(tx.done) - 1; i >= 0; i-- {
		m.line, m.where = int(st.P.Line), s
		_ = m.try(func() { tx.done[i].undo(m) })
	}
	panic(err)
}

// fits tests a value against an annotation.
func fits(t *ast.TypeExpr, v value) bool {
	elems := func(vs []value) bool {
		for _, e := range vs {
			if !fits(t.Args[0], e) {
				return false
			}
		}
		return true
	}
	switch t.Name {
	case "Int", "String", "Bool", "Nil", "Function", "Agent", "Action", "Tool":
		return typeName(v) == t.Name
	case "Float":
		return isNumber(v)
	case "Array":
		a, ok := v.(*array)
		return ok && (len(t.Args) == 0 || elems(a.elems))
	case "Map":
		d, ok := v.(*dict)
		if !ok || len(t.Args) == 0 {
			return ok
		}
		var vs []value
		for _, k := range d.keys {
			vs = append(vs, d.vals[k])
		}
		return elems(vs)
	}
	return true
}
