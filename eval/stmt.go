package eval

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// stmts compiles statements that follow each other.
func (c *compiler) stmts(ss []ast.Stmt) []stmt {
	out := make([]stmt, len(ss))
	for i, s := range ss {
		out[i] = c.stmt(s)
	}
	return out
}

// block compiles a block with a scope of its own; extra names are bound by the
// construct.
func (c *compiler) block(b *ast.Block, extra ...string) stmt {
	c.nest++
	c.fn.maxNest = max(c.fn.maxNest, c.nest)
	c.enter(b.Stmts, c.men.inner[b], "", extra...)
	body := sequence(c.counted(c.stmts(b.Stmts)))
	pro := c.leave()
	c.nest--
	return withPrologue(pro, body)
}

func withPrologue(pro func(fr fp), body stmt) stmt {
	if pro == nil {
		return body
	}
	return func(fr fp) (ctl, Value) {
		pro(fr)
		return body(fr)
	}
}

// sequence runs statements one after the other until one leaves. loop takes 1.33 times
// as long with a loop over the list in place of the short shapes.
//
//go:noinline
func sequence(s []stmt) stmt {
	switch len(s) {
	case 0:
		return func(fr fp) (ctl, Value) { return ctlNext, Value{} }
	case 1:
		return s[0]
	case 2:
		return sequence2(s[0], s[1])
	case 3:
		return sequence3(s[0], s[1], s[2])
	}
	if len(s) > 64 { // a module of thousands of statements: a loop, not a chain
		return sequenceLoop(s)
	}
	return sequence4(s[0], s[1], s[2], sequence(s[3:]))
}

//go:noinline
func sequence2(a, b stmt) stmt {
	return func(fr fp) (ctl, Value) {
		if k, v := a(fr); k != ctlNext {
			return k, v
		}
		return b(fr)
	}
}

//go:noinline
func sequence3(a, b, d stmt) stmt {
	return func(fr fp) (ctl, Value) {
		if k, v := a(fr); k != ctlNext {
			return k, v
		}
		if k, v := b(fr); k != ctlNext {
			return k, v
		}
		return d(fr)
	}
}

//go:noinline
func sequence4(a, b, d, e stmt) stmt {
	return func(fr fp) (ctl, Value) {
		if k, v := a(fr); k != ctlNext {
			return k, v
		}
		if k, v := b(fr); k != ctlNext {
			return k, v
		}
		if k, v := d(fr); k != ctlNext {
			return k, v
		}
		return e(fr)
	}
}

func sequenceLoop(s []stmt) stmt {
	return func(fr fp) (ctl, Value) {
		for _, x := range s {
			if k, v := x(fr); k != ctlNext {
				return k, v
			}
		}
		return ctlNext, Value{}
	}
}

// tail compiles the statements of a function's body to an expression that gives
// its result: a return at the end needs no control code. fib takes 1.5 times as long
// without.
func (c *compiler) tail(ss []ast.Stmt) expr {
	switch {
	case len(ss) == 0:
		return constant(mkNil())
	case c.in.cfg.Coverage != nil:
		return lastStmt(sequence(c.counted(c.stmts(ss))))
	case c.in.cfg.Limits.Steps > 0:
		t := c.tailOf(ss)
		return c.in.countedTail(t.n, t.all, t.oneByOne)
	}
	return c.tailOf(ss).all
}

// tailed is what the statements of a body were compiled to: all runs them, and
// oneByOne, which only runs near the end of a limit, counts each of the n first.
type tailed struct {
	all, oneByOne expr
	n             int
}

func (c *compiler) tailOf(ss []ast.Stmt) tailed {
	if len(ss) == 0 {
		nothing := constant(mkNil())
		return tailed{all: nothing, oneByOne: nothing}
	}
	switch s := ss[0].(type) {
	case *ast.ReturnStmt:
		return c.tailResult(s)
	case *ast.IfStmt:
		if onlyReturns(s) {
			return c.tailIf(s, ss[1:])
		}
	}
	n := 1
	for n < len(ss) && !endsTail(ss[n]) {
		n++
	}
	head := c.stmts(ss[:n])
	if n == len(ss) {
		return tailed{lastStmt(sequence(head)), lastStmt(c.in.oneByOne(head)), n}
	}
	rest := c.tailOf(ss[n:])
	return tailed{headTail(sequence(head), rest.all), headTail(c.in.oneByOne(head), rest.oneByOne), n + rest.n}
}

// tailResult compiles a return at the end of a body or of an if in it.
func (c *compiler) tailResult(s *ast.ReturnStmt) tailed {
	x, in := c.result(s), c.in
	return tailed{x, func(fr fp) Value { in.step(fr); return x(fr) }, 1}
}

//go:noinline
func lastStmt(head stmt) expr {
	nothing := mkNil()
	return func(fr fp) Value {
		if k, v := head(fr); k == ctlReturn {
			return v
		}
		return nothing
	}
}

//go:noinline
func headTail(head stmt, rest expr) expr {
	return func(fr fp) Value {
		if k, v := head(fr); k != ctlNext {
			return v
		}
		return rest(fr)
	}
}

func endsTail(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.IfStmt:
		return onlyReturns(s)
	}
	return false
}

// onlyReturns reports whether s is if c: return x, without more.
func onlyReturns(s *ast.IfStmt) bool {
	if len(s.Arms) != 1 || s.Else != nil || len(s.Arms[0].Body.Stmts) != 1 {
		return false
	}
	_, ok := s.Arms[0].Body.Stmts[0].(*ast.ReturnStmt)
	return ok
}

func (c *compiler) result(s *ast.ReturnStmt) expr {
	var x expr
	if s.Value == nil {
		x = constant(mkNil())
	} else {
		x = c.expr(s.Value)
	}
	c.dead = true
	return x
}

func (c *compiler) tailIf(s *ast.IfStmt, rest []ast.Stmt) tailed {
	cd := c.cond(s.Arms[0].Cond)
	var a expr
	var pro func(fr fp)
	body := s.Arms[0].Body
	c.branches(func() {
		c.enter(body.Stmts, c.men.inner[body], "")
		a = c.tail(body.Stmts)
		pro = c.leave()
	}, func() {})
	if pro != nil {
		inner := a
		a = func(fr fp) Value { pro(fr); return inner(fr) }
	}
	b, in := c.tailOf(rest), c.in
	oneByOne := choose(cd, a, b.oneByOne)
	return tailed{choose(cd, a, b.all), func(fr fp) Value { in.step(fr); return oneByOne(fr) }, 1 + b.n}
}

//go:noinline
func choose(cd cond, a, b expr) expr {
	return func(fr fp) Value {
		if cd(fr) {
			return a(fr)
		}
		return b(fr)
	}
}

// stmt compiles a statement.
func (c *compiler) stmt(s ast.Stmt) stmt { return c.covered(s, c.plainStmt(s)) }

func (c *compiler) plainStmt(s ast.Stmt) stmt {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return c.exprStmt(s)
	case *ast.VarDecl:
		return c.varDecl(s)
	case *ast.DestructStmt:
		return c.destruct(s)
	case *ast.FuncDecl:
		return c.funcDecl(s)
	case *ast.TestDecl:
		return c.testDecl(s)
	case *ast.SessionDecl:
		return c.block(s.Body)
	case *ast.AgentDecl:
		return c.agentDecl(s)
	case *ast.ActionDecl:
		return c.actionDecl(s)
	case *ast.ToolDecl:
		return c.toolDecl(s)
	case *ast.MemoryDecl:
		return c.memoryDecl(s)
	case *ast.ModelDecl:
		return c.modelDecl(s)
	case *ast.PolicyStmt:
		return c.policyStmt(s)
	case *ast.SetStmt:
		return c.setStmt(s)
	case *ast.IfStmt:
		return c.ifStmt(s)
	case *ast.WhileStmt:
		return c.whileStmt(s)
	case *ast.ForStmt:
		return c.forStmt(s)
	case *ast.ReturnStmt:
		return c.returnStmt(s)
	case *ast.BreakStmt:
		return c.jump(ctlBreak, &s.P, "break")
	case *ast.ContinueStmt:
		return c.jump(ctlContinue, &s.P, "continue")
	case *ast.PassStmt:
		return c.passStmt(s)
	case *ast.ImportStmt:
		return c.importStmt(s)
	case *ast.FromStmt:
		return c.fromStmt(s)
	case *ast.TryStmt:
		return c.tryStmt(s)
	case *ast.RaiseStmt:
		return c.raiseStmt(s)
	case *ast.TransactionStmt:
		return c.transaction(s)
	}
	panic("eval: unknown statement")
}

func (c *compiler) exprStmt(s *ast.ExprStmt) stmt {
	if a, ok := s.X.(*ast.AssignExpr); ok {
		if st := c.assignStmt(a); st != nil {
			return st
		}
	}
	return discard(c.expr(s.X))
}

//go:noinline
func discard(x expr) stmt {
	return func(fr fp) (ctl, Value) {
		x(fr)
		return ctlNext, Value{}
	}
}

// assignStmt compiles x = v where x has one certain place.
func (c *compiler) assignStmt(a *ast.AssignExpr) stmt {
	id, ok := a.Target.(*ast.Ident)
	if !ok {
		return nil
	}
	if a.Op != ast.OpNone {
		return c.shortAssign(id.Name, a)
	}
	if st := c.arithAssign(id.Name, a); st != nil {
		return st
	}
	v := c.expr(a.Value)
	t := c.assignTarget(id.Name)
	if len(t.locs) > 1 {
		return func(fr fp) (ctl, Value) {
			t.write(fr, v(fr))
			return ctlNext, Value{}
		}
	}
	return assignLoc(t.locs[0], t.spillAt, v)
}

// arithAssign compiles x = a op b where x certainly is in a slot or a name of
// the module.
func (c *compiler) arithAssign(name string, a *ast.AssignExpr) stmt {
	b, ok := a.Value.(*ast.BinaryExpr)
	if !ok || !hasShapes(b.Op) || b.Op == ast.OpAdd && c.joinsThree(b) {
		return nil
	}
	var d operand
	if !d.place(c, name) {
		return nil
	}
	c.nest++
	c.fn.maxNest = max(c.fn.maxNest, c.nest)
	x := c.operand(b.X)
	st := arithSet(b.Op, d, x, c.operand(b.Y), &b.OpPos)
	c.nest--
	return st
}

// shortAssign compiles x op= v like x = x op v.
func (c *compiler) shortAssign(name string, a *ast.AssignExpr) stmt {
	var d operand
	if !hasShapes(a.Op) || !d.place(c, name) {
		return nil
	}
	return arithSet(a.Op, d, d, c.operand(a.Value), &a.OpPos)
}

func hasShapes(op ast.Op) bool {
	return op == ast.OpAdd || op == ast.OpSub || op == ast.OpMul || op == ast.OpMod || op == ast.OpFloorDiv
}

//go:noinline
func assignLoc(l loc, spillAt uint8, v expr) stmt {
	switch l.kind {
	case locSlot:
		i := uint8(l.i)
		return func(fr fp) (ctl, Value) {
			setSlot(&fr[i], v(fr))
			return ctlNext, Value{}
		}
	case locGlobal:
		g := l.g
		return func(fr fp) (ctl, Value) {
			setSlot(&g.v, v(fr))
			return ctlNext, Value{}
		}
	}
	st := storeLoc(l, spillAt)
	return func(fr fp) (ctl, Value) {
		st(fr, v(fr))
		return ctlNext, Value{}
	}
}

func (c *compiler) varDecl(s *ast.VarDecl) stmt {
	v := c.expr(s.Value)
	typ := c.typeOf(s.Type)
	var st func(fr fp, v Value)
	if s.Local {
		st = c.declare(s.Name).store()
	} else {
		st = c.assignTarget(s.Name).store()
	}
	return func(fr fp) (ctl, Value) {
		x := v(fr)
		if typ != nil && !typ.ok(x) {
			failf(fr, &s.P, diag.Type, "cannot assign value of type %s to '%s: %s'", typeName(x), s.Name, typ.text)
		}
		st(fr, x)
		return ctlNext, Value{}
	}
}

func (c *compiler) ifStmt(s *ast.IfStmt) stmt {
	conds := make([]cond, len(s.Arms))
	bodies := make([]stmt, len(s.Arms))
	var els stmt
	c.armsFrom(s, 0, conds, bodies, &els)
	if len(conds) == 1 {
		return ifElse(conds[0], bodies[0], els)
	}
	return func(fr fp) (ctl, Value) {
		for i, cd := range conds {
			if cd(fr) {
				return bodies[i](fr)
			}
		}
		if els != nil {
			return els(fr)
		}
		return ctlNext, Value{}
	}
}

// armsFrom compiles the arms one after the other: the condition of a later arm
// runs only when the earlier ones were false.
func (c *compiler) armsFrom(s *ast.IfStmt, i int, conds []cond, bodies []stmt, els *stmt) {
	conds[0] = c.cond(s.Arms[0].Cond)
	var alts []func()
	for i := range s.Arms {
		alts = append(alts, func() {
			if i > 0 {
				conds[i] = c.cond(s.Arms[i].Cond)
			}
			bodies[i] = c.block(s.Arms[i].Body)
		})
	}
	alts = append(alts, func() {
		if s.Else != nil {
			*els = c.block(s.Else)
		}
	})
	c.branches(alts...)
}

//go:noinline
func ifElse(cd cond, then, els stmt) stmt {
	if els == nil {
		return func(fr fp) (ctl, Value) {
			if cd(fr) {
				return then(fr)
			}
			return ctlNext, Value{}
		}
	}
	return func(fr fp) (ctl, Value) {
		if cd(fr) {
			return then(fr)
		}
		return els(fr)
	}
}

func (c *compiler) whileStmt(s *ast.WhileStmt) stmt {
	cd := c.cond(s.Cond)
	var body stmt
	c.maybe(func() { body = c.loopBody(func() stmt { return c.block(s.Body) }) })
	return whileLoop(cd, body)
}

func (c *compiler) loopBody(f func() stmt) stmt {
	c.fn.inLoop++
	b := f()
	c.fn.inLoop--
	return b
}

//go:noinline
func whileLoop(cd cond, body stmt) stmt {
	return func(fr fp) (ctl, Value) {
		end := &threadOf(fr).end
		for cd(fr) {
			if end.Load() == 0 {
				threadOf(fr).poll(fr)
			}
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

func (c *compiler) returnStmt(s *ast.ReturnStmt) stmt {
	if !c.fn.isFunc {
		at := &s.P
		return func(fr fp) (ctl, Value) {
			failf(fr, at, diag.Runtime, "'return' outside a function")
			return ctlNext, Value{}
		}
	}
	return returns(c.result(s))
}

//go:noinline
func returns(x expr) stmt { return func(fr fp) (ctl, Value) { return ctlReturn, x(fr) } }

func (c *compiler) jump(k ctl, at *diag.Pos, word string) stmt {
	if c.fn.inLoop == 0 {
		return func(fr fp) (ctl, Value) {
			failf(fr, at, diag.Runtime, "'%s' outside a loop", word)
			return ctlNext, Value{}
		}
	}
	c.dead = true
	return func(fr fp) (ctl, Value) { return k, Value{} }
}

func (c *compiler) funcDecl(s *ast.FuncDecl) stmt {
	t := c.declare(s.Name)
	p := c.function(function{name: s.Name, params: s.Params, result: s.Result, body: s.Body, doc: s.Body.Doc})
	p.pos, p.decl = s.P, s
	st, mk := t.store(), c.closure(p)
	return func(fr fp) (ctl, Value) {
		st(fr, mkFunc(mk(fr)))
		return ctlNext, Value{}
	}
}

func (c *compiler) destruct(s *ast.DestructStmt) stmt {
	vals := c.exprs(s.Values)
	puts := make([]func(fr fp, v Value), len(s.Targets))
	for i, t := range s.Targets {
		puts[i] = c.put(t)
	}
	at := &s.P
	return func(fr fp) (ctl, Value) {
		var room [4]Value
		vs := room[:]
		if len(vals) > len(room) {
			vs = make([]Value, len(vals))
		}
		vs = vs[:len(vals)]
		for i, x := range vals {
			vs[i] = x(fr)
		}
		if len(vals) == 1 {
			vs = unpack(fr, vs[0], len(puts), at)
		} else if len(vals) != len(puts) {
			failf(fr, at, diag.Runtime, "expected %d values to take apart, got %d", len(puts), len(vals))
		}
		for i, p := range puts {
			p(fr, vs[i])
		}
		return ctlNext, Value{}
	}
}

// put compiles the writing of one target of several.
func (c *compiler) put(t ast.Expr) func(fr fp, v Value) {
	if id, ok := t.(*ast.Ident); ok {
		return c.assignTarget(id.Name).store()
	}
	ix := t.(*ast.IndexExpr)
	x, i := c.expr(ix.X), c.expr(ix.Index)
	return func(fr fp, v Value) {
		o := x(fr)
		setIndex(fr, o, i(fr), v, &ix.Lbrack)
	}
}

// unpack takes a value apart into exactly n.
func unpack(fr fp, v Value, n int, at *diag.Pos) []Value {
	if !isArr(v) {
		failf(fr, at, diag.Runtime, "cannot take apart value of type %s into %d names", typeName(v), n)
	}
	a := toArr(v)
	if a.Len() != n {
		failf(fr, at, diag.Runtime, "expected %d values to take apart, got %d", n, a.Len())
	}
	return a.Values()
}
