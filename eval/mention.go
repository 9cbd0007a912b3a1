package eval

import "github.com/sense-lang/sense/ast"

// A name of a scope must live in a cell when a function nested in that scope
// uses it. mentions finds, before a program is compiled, for each block the
// names that functions nested in it mention; a name mentioned for another
// reason costs a cell too much, never a wrong answer.
type mentions struct {
	inner map[*ast.Block]map[string]bool
	lam   map[*ast.Lambda]map[string]bool
	// open are the blocks around the place of the walk, with how many nested
	// functions stand between the module and each.
	open  []openBlock
	depth int
}

type openBlock struct {
	b     *ast.Block
	l     *ast.Lambda
	depth int
}

func findMentions(stmts []ast.Stmt) *mentions {
	m := &mentions{inner: map[*ast.Block]map[string]bool{}, lam: map[*ast.Lambda]map[string]bool{}}
	m.stmts(stmts)
	return m
}

func (m *mentions) stmts(ss []ast.Stmt) {
	for _, s := range ss {
		m.stmt(s)
	}
}

func (m *mentions) stmt(s ast.Stmt) {
	for _, e := range ownExprs(s) {
		m.expr(e)
	}
	for _, d := range declared([]ast.Stmt{s}) {
		m.name(d.name)
	}
	bs, nested := blocks(s)
	switch x := s.(type) {
	case *ast.TryStmt:
		m.try(x)
	case *ast.ActionDecl:
		m.action(x)
	default:
		if nested {
			m.function(bs[0], paramsOf(s))
			break
		}
		for _, b := range bs {
			m.block(b)
		}
	}
	if a, ok := s.(*ast.AgentDecl); ok {
		m.agent(a)
	}
}

func (m *mentions) block(b *ast.Block) {
	if b == nil {
		return
	}
	m.open = append(m.open, openBlock{b, nil, m.depth})
	m.stmts(b.Stmts)
	m.open = m.open[:len(m.open)-1]
}

// function visits a body that is a function of its own, as the defaults of its
// parameters are part of it.
func (m *mentions) function(b *ast.Block, ps []*ast.Param) {
	m.enter(openBlock{b: b})
	m.defaults(ps)
	m.stmts(b.Stmts)
	m.leave()
}

func (m *mentions) enter(o openBlock) {
	m.depth++
	o.depth = m.depth
	m.open = append(m.open, o)
	m.hidden()
}

func (m *mentions) leave() {
	m.open = m.open[:len(m.open)-1]
	m.depth--
}

func (m *mentions) defaults(ps []*ast.Param) {
	for _, p := range ps {
		if p.Default != nil {
			m.expr(p.Default)
		}
	}
}

// try: the guard of a catch sees the name after it, as its block does.
func (m *mentions) try(s *ast.TryStmt) {
	m.block(s.Body)
	for _, k := range s.Catches {
		m.open = append(m.open, openBlock{k.Body, nil, m.depth})
		if k.Guard != nil {
			m.expr(k.Guard)
		}
		m.stmts(k.Body.Stmts)
		m.open = m.open[:len(m.open)-1]
	}
	m.block(s.Finally)
}

// action: the rollback's scope is a child of the body's, and a function of its
// own, so whatever it mentions of the body's names lives in cells.
func (m *mentions) action(a *ast.ActionDecl) {
	m.enter(openBlock{b: a.Body})
	m.defaults(a.Params)
	m.stmts(a.Body.Stmts)
	if a.Rollback != nil {
		m.function(a.Rollback, nil)
	}
	m.leave()
}

// agent: every name of an agent's body and around it can be read from outside
// as a member, so all of them live in cells.
func (m *mentions) agent(a *ast.AgentDecl) {
	m.mark(openBlock{b: a.Body}, allNames)
	for _, o := range m.open {
		if o.b == nil {
			continue
		}
		m.mark(o, allNames)
	}
}

// allNames in a block's set stands for every name, parameters included.
const allNames = "\x00*"

// hidden marks what the place of a call needs of the scopes around it.
func (m *mentions) hidden() {
	m.name(hiddenPolicy)
	m.name(hiddenModel)
	m.name(hiddenBudget)
	m.name(hiddenAgent)
}

// name notes a mention: each open block outside the innermost function may have
// to keep the name in a cell.
func (m *mentions) name(n string) {
	for _, o := range m.open {
		if o.depth < m.depth {
			m.mark(o, n)
		}
	}
}

func (m *mentions) mark(o openBlock, n string) {
	if o.l != nil {
		if m.lam[o.l] == nil {
			m.lam[o.l] = map[string]bool{}
		}
		m.lam[o.l][n] = true
		return
	}
	if m.inner[o.b] == nil {
		m.inner[o.b] = map[string]bool{}
	}
	m.inner[o.b][n] = true
}

func (m *mentions) expr(e ast.Expr) {
	for {
		switch x := e.(type) {
		case *ast.BinaryExpr:
			m.expr(x.Y)
			e = x.X
			continue
		case *ast.Ident:
			m.name(x.Name)
		case *ast.Lambda:
			m.lambda(x)
			return
		}
		break
	}
	for _, sub := range subExprs(e) {
		m.expr(sub)
	}
}

func (m *mentions) lambda(l *ast.Lambda) {
	m.enter(openBlock{l: l})
	m.defaults(l.Params)
	m.expr(l.Body)
	m.leave()
}
