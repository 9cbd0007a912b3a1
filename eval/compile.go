package eval

import (
	"slices"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// A program runs as a tree of closures, one made of each node. They are called
// with the frame of the running function. Every function that makes closures is
// kept from being inlined: otherwise the small helpers stop being inlined into
// the closures (the loop benchmark: 0.44 s with, 0.12 s without).

// expr gives the value of an expression.
type expr func(fr fp) Value

// cond gives the truth of an expression.
type cond func(fr fp) bool

// stmt runs a statement; the value is what a return gives.
type stmt func(fr fp) (ctl, Value)

// ctl says how a statement ended.
type ctl uint8

const (
	ctlNext ctl = iota
	ctlReturn
	ctlBreak
	ctlContinue
)

// compiler turns the tree of one module into closures.
type compiler struct {
	in    *Interp
	file  string
	mod   *Module
	men   *mentions
	fn    *fnCtx
	sc    *scope
	trail []*binding
	dead  bool // the place cannot be reached: all is certain there
	nest  int

	guesses int // unknown names so far
}

// proto is what all closures of one declaration share.
type proto struct {
	name   string
	file   string
	doc    string
	params []param
	result *typeCheck
	arity  uint8 // 255: not for the fast path of calls
	min    int   // arguments that must be given
	weight uint64
	size   int
	body   expr
	fill   expr // gives the arguments with their defaults; nil where none has one
	caps   []capture
	pos    diag.Pos
	decl   ast.Stmt
	around []loc // of tools, actions and agents: the rules of the scopes around, innermost first
}

// param is a parameter of a proto.
type param struct {
	name string
	typ  *typeCheck
	def  expr // default, evaluated in the callee's frame; nil when required
	slot int
	cell bool
	ast  *ast.Param
}

// capture says where a closure finds one of its cells when it is made.
type capture struct {
	up    bool
	spill bool
	i     int
}

// Func is a function of the program: a closure over the cells of its scopes.
type Func struct {
	hdr
	arity  uint8
	weight uint64
	body   expr
	cells  []*cell
	proto  *proto
}

// Name gives the function's name.
func (f *Func) Name() string { return f.proto.name }

func newFunc(p *proto) *Func {
	return &Func{hdr: hdr{KFunc}, arity: p.arity, weight: p.weight, body: p.body, proto: p}
}

// maxNesting bounds how deep expressions and blocks nest in one function; the
// parser refuses far less, a tree made by a program might not.
const nestPerWeight = 32

// module compiles a file's statements and gives the function that runs them.
func (c *compiler) module(stmts []ast.Stmt) *Func {
	c.men = findMentions(stmts)
	c.fn = &fnCtx{next: slotArgs, size: slotArgs}
	c.mod.top = c.moduleScope(stmts)
	c.sc = c.mod.top
	body := c.counted(c.stmts(stmts))
	p := &proto{name: "<module " + c.mod.name + ">", file: c.file, arity: 255}
	run := sequence(body)
	p.body = func(fr fp) Value {
		k, v := run(fr)
		if k == ctlReturn {
			return v
		}
		return mkNil()
	}
	c.finish(p)
	c.sc = nil
	return newFunc(p)
}

// moduleScope opens a module's own scope, or goes on with it in the REPL.
func (c *compiler) moduleScope(stmts []ast.Stmt) *scope {
	old := c.mod.top
	if old == nil {
		old = &scope{fn: c.fn, names: map[string]*binding{}}
		c.mod.top = old
	}
	old.fn = c.fn
	c.sc = old
	if c.in.cfg.Strict && c.mod.main && old.names[hiddenPolicy] == nil {
		c.startStrict(old)
	}
	for _, d := range declared(stmts) {
		if b := old.names[d.name]; b == nil && (d.explicit || c.in.universe[d.name] == nil) {
			c.bind(old, d.name, d.explicit)
		}
	}
	old.info = c.scopeInfo(old)
	return old
}

// startStrict gives the program's outermost scope the rule that what no other
// rule allows is denied.
func (c *compiler) startStrict(s *scope) {
	b := &policyBox{hdr: hdr{kPolicy}}
	b.scope.SetStrict()
	c.bind(s, hiddenPolicy, true).global.v = mkPolicy(b)
	c.in.policed = true
}

// finish settles what is known only after a function is compiled.
func (c *compiler) finish(p *proto) {
	p.size = c.fn.size
	p.weight = 1 + uint64(c.fn.maxNest/nestPerWeight)
	for _, s := range c.fn.sites {
		s.off = c.fn.size
	}
	if c.fn.spills > 0 {
		body, at, n := p.body, uint8(c.fn.spill), c.fn.spills
		p.body = func(fr fp) Value {
			fr[at] = mkSpill(&spill{hdr{kSpill}, make([]Value, n)})
			return body(fr)
		}
	}
}

// site is the place of a call.
type site struct {
	pos  *diag.Pos
	info *scopeInfo
	off  int // size of the frame of the function it stands in
	id   uint64
}

func (c *compiler) site(pos *diag.Pos) *site {
	s := &site{pos: pos, info: c.sc.info, id: uint64(len(c.in.sites))}
	c.in.sites = append(c.in.sites, s)
	c.fn.sites = append(c.fn.sites, s)
	return s
}

// function describes a body to compile as a function of its own.
type function struct {
	name    string
	params  []*ast.Param
	result  *ast.TypeExpr
	body    *ast.Block
	lambda  *ast.Lambda
	lineage string
	doc     string
	// unchecked leaves types to the caller: tools and actions check first.
	unchecked bool
	extra     []string // names that the scope has besides the parameters
	// prepare runs in the new scope before the body is compiled; what it gives
	// runs when the scope is ready, before the body.
	prepare func(s *scope) func(fr fp)
}

// function compiles a nested body. What it proves about outer names holds only
// when it runs, so that is forgotten.
func (c *compiler) function(f function) *proto {
	outerFn, outerNest, outerDead, at := c.fn, c.nest, c.dead, len(c.trail)
	c.fn = &fnCtx{parent: c.sc, next: slotArgs, size: slotArgs, isFunc: true}
	c.nest, c.dead = 0, false
	p := &proto{name: f.name, file: c.file, doc: f.doc}
	body, pro := c.functionBody(p, f)
	p.body = c.assemble(p, f, body, pro)
	c.finish(p)
	p.caps = c.captures(outerFn, c.fn.upvals)
	c.undo(at)
	c.fn, c.nest, c.dead = outerFn, outerNest, outerDead
	return p
}

func (c *compiler) functionBody(p *proto, f function) (body expr, pro func(fr fp)) {
	var stmts []ast.Stmt
	var inner map[string]bool
	if f.lambda != nil {
		stmts = []ast.Stmt{&ast.ReturnStmt{At: f.lambda.At, Value: f.lambda.Body}}
		inner = c.men.lam[f.lambda]
	} else {
		stmts = f.body.Stmts
		inner = c.men.inner[f.body]
	}
	names := make([]string, len(f.params))
	for i, q := range f.params {
		names[i] = q.Name
	}
	s := c.enter(stmts, inner, f.lineage, append(names, f.extra...)...)
	if f.lineage != "" {
		p.around = c.hidden(s.parent, hiddenPolicy)
	}
	if len(names) > maxParams {
		c.failAt(f.params[maxParams].P, "too many parameters (limit %d)", maxParams)
	}
	c.params(p, f.params)
	p.result = c.typeOf(f.result)
	var first func(fr fp)
	if f.prepare != nil {
		first = f.prepare(s)
	}
	body = c.tail(stmts)
	if first != nil {
		rest := body
		body = func(fr fp) Value { first(fr); return rest(fr) }
	}
	return body, c.leaveParams(p)
}

// maxParams bounds the parameters of one declaration: they have to fit a frame.
const maxParams = 200

// failAt ends compilation with a syntax error.
func (c *compiler) failAt(at diag.Pos, format string, args ...any) {
	panic(&thrown{diag.At(diag.Syntax, c.file, at, format, args...)})
}

// params compiles the parameters' types and defaults. A default sees the
// parameters before it.
func (c *compiler) params(p *proto, ps []*ast.Param) {
	bs := c.sc.order[:len(ps)]
	for _, b := range bs { // a default sees the parameters before it only
		delete(c.sc.names, b.name)
	}
	for i, q := range ps {
		b := bs[i]
		pr := param{name: q.Name, typ: c.typeOf(q.Type), slot: slotArgs + i, ast: q}
		if q.Default != nil {
			c.maybe(func() { pr.def = c.expr(q.Default) }) // only where no argument is given
		} else {
			p.min = i + 1
		}
		pr.cell = b.captured
		p.params = append(p.params, pr)
		c.sc.names[b.name] = b
		c.nowSet(b)
	}
	p.arity = 255
	if len(ps) <= 8 {
		p.arity = uint8(len(ps))
	}
}

// leaveParams closes a function's scope: missing arguments get their defaults,
// parameters that live in cells are moved there, other cells are made and
// tested slots cleared.
func (c *compiler) leaveParams(p *proto) func(fr fp) {
	s := c.sc
	n := len(p.params)
	order := s.order
	s.order = order[n:]
	pro := c.leave()
	for _, b := range order[:n] {
		b.set = false
	}
	special := false
	for i := range p.params {
		special = special || p.params[i].cell || p.params[i].def != nil
	}
	if !special {
		return pro
	}
	return func(fr fp) {
		if pro != nil {
			pro(fr)
		}
		p.settle(fr)
	}
}

// settle gives missing arguments their defaults and moves captured parameters
// into cells, in order, so that a default sees the parameters before it.
func (p *proto) settle(fr fp) {
	for i := range p.params {
		q := &p.params[i]
		if q.def != nil && isUnset(fr[uint8(q.slot)]) {
			v := q.def(fr)
			if !q.accepts(v) {
				failCall(fr, p.misfit(q, v))
			}
			fr[uint8(q.slot)] = v
		}
		if q.cell {
			fr[uint8(q.slot)] = mkCell(&cell{hdr{kCell}, fr[uint8(q.slot)]})
		}
	}
}

// assemble puts a function's parts together: types of the arguments, prologue,
// body, type of the result.
func (c *compiler) assemble(p *proto, f function, body expr, pro func(fr fp)) expr {
	if pro != nil {
		if f.unchecked {
			p.fill = p.filler(pro)
		}
		inner := body
		body = func(fr fp) Value { pro(fr); return inner(fr) }
	}
	if p.hasTypes() && !f.unchecked {
		body = checkedBody(p, body)
	}
	return body
}

// filler gives a body that only gives missing arguments their defaults and
// gives all arguments as an Array.
func (p *proto) filler(pro func(fr fp)) expr {
	return func(fr fp) Value {
		pro(fr)
		out := newArray()
		for i := range p.params {
			v := fr[uint8(p.params[i].slot)]
			if p.params[i].cell {
				v = toCell(v).v
			}
			out.push(v)
		}
		return mkArr(out)
	}
}

// filled gives missing arguments their defaults, now.
func (th *Thread) filled(fn *Func, args []Value) []Value {
	if fn.proto.fill == nil || !slices.ContainsFunc(args, isUnset) {
		return slices.Clone(args)
	}
	only := *fn
	only.body = fn.proto.fill
	a := toArr(th.runInner(&only, args))
	out := make([]Value, a.Len())
	for i := range out {
		out[i] = a.At(i)
	}
	return out
}

func (p *proto) hasTypes() bool {
	if p.result != nil {
		return true
	}
	for i := range p.params {
		if p.params[i].typ != nil {
			return true
		}
	}
	return false
}

// checkedBody checks argument and result types at each call, for the caller's
// line.
//
//go:noinline
func checkedBody(p *proto, body expr) expr {
	return func(fr fp) Value {
		p.checkArgs(fr)
		v := body(fr)
		if err := p.checkResult(v); err != nil {
			failCall(fr, err)
		}
		return v
	}
}

func (p *proto) checkArgs(fr fp) {
	if err := p.checkValues(fr[slotArgs : slotArgs+len(p.params)]); err != nil {
		failCall(fr, err)
	}
}

// checkValues tests arguments against the annotations.
func (p *proto) checkValues(args []Value) error {
	for i := range p.params {
		q := &p.params[i]
		if !isUnset(args[i]) && !q.accepts(args[i]) {
			return p.misfit(q, args[i])
		}
	}
	return nil
}

// accepts reports whether the annotation lets the parameter be v. One whose
// default is nil may be nil besides.
func (q *param) accepts(v Value) bool {
	return q.typ == nil || q.typ.ok(v) || isNil(v) && q.ast.DefaultsToNil()
}

func (p *proto) misfit(q *param, v Value) error {
	return diag.New(diag.Type, "argument '%s' of '%s' expects %s, got %s", q.name, p.name, q.typ.text, typeName(v))
}

func (p *proto) checkResult(v Value) error {
	if p.result == nil || p.result.ok(v) {
		return nil
	}
	return diag.New(diag.Type, "'%s' declared to return %s, got %s", p.name, p.result.text, typeName(v))
}

// failCall raises err at the place where the function in fr was called.
//
//go:noinline
func failCall(fr fp, err error) {
	th := threadOf(fr)
	w := th.walk(fr)
	if s, ok := w.up(); ok {
		panic(&thrown{th.located(w.fr, *s.pos, err)})
	}
	panic(&thrown{th.located(fr, diag.Pos{}, err)})
}

// captures says where the cells of fn's upvals are when it is declared.
func (c *compiler) captures(outer *fnCtx, ups []*binding) []capture {
	var out []capture
	for _, b := range ups {
		if b.scope.fn == outer {
			out = append(out, capture{spill: b.spilled, i: b.slot})
			continue
		}
		save := c.fn
		c.fn = outer
		out = append(out, capture{up: true, i: c.upval(outer, b)})
		c.fn = save
	}
	return out
}

// closure makes the function value of a proto declared in this function.
func (c *compiler) closure(p *proto) func(fr fp) *Func {
	if len(p.caps) == 0 {
		return func(fr fp) *Func { return newFunc(p) }
	}
	caps, at := p.caps, uint8(c.fn.spill)
	return func(fr fp) *Func {
		f := newFunc(p)
		f.cells = make([]*cell, len(caps))
		for i, k := range caps {
			switch {
			case k.up:
				f.cells[i] = funcOf(fr).cells[k.i]
			case k.spill:
				f.cells[i] = toCell(toSpill(fr[at]).v[k.i])
			default:
				f.cells[i] = toCell(fr[uint8(k.i)])
			}
		}
		return f
	}
}
