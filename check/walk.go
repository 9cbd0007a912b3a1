package check

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// walker is the first pass over a module: it goes through the code in the order
// in which it runs, and notes bindings and what the second pass has to look at.
type walker struct {
	c   *checker
	mod *module
	at  place
}

// tick gives the next moment of the walk.
func (w *walker) tick() int {
	w.at.seq++
	return w.at.seq
}

// later notes something for the second pass.
func (w *walker) later(f func(at place)) {
	at := w.at
	at.seq = w.tick()
	if !at.dead {
		w.c.later = append(w.c.later, func() { f(at) })
	}
}

func (w *walker) add(level Level, code string, pos diag.Pos, msg string, notes ...string) {
	w.c.add(w.at, level, code, pos, msg, notes...)
}

// enter opens a scope below the current one and gives what closes it.
func (w *walker) enter(what string, stmts []ast.Stmt) func() {
	outer := w.at
	s := &scope{parent: outer.scope, frame: w.at.frame, mod: w.mod, names: map[string]*binding{}, loops: w.at.loops, what: what}
	outer.scope.kids = append(outer.scope.kids, s)
	s.declare(stmts)
	w.at.scope = s
	return func() {
		seq := w.at.seq
		w.at = outer
		w.at.seq = seq
	}
}

// enterFrame opens the scope of a body that runs later, or never.
func (w *walker) enterFrame(f *frame, what string, stmts []ast.Stmt) func() {
	outer := w.at
	f.parent, f.decl = w.at.frame, w.tick()
	w.at.frame, w.at.loops = f, nil
	leave := w.enter(what, stmts)
	return func() {
		leave()
		seq := w.at.seq
		w.at = outer
		w.at.seq = seq
	}
}

// set notes that a statement binds a name: an assignment may bind it in any
// scope that has it, everything else in the innermost.
func (w *walker) set(name string, explicit bool, s site) {
	s.seq, s.frame, s.loops, s.at = w.tick(), w.at.frame, w.at.loops, w.at
	home := w.at.scope.home()
	if explicit {
		b := home.bind(name)
		b.sites = append(b.sites, &s)
		return
	}
	bs := w.at.scope.lookup(name)
	if len(bs) == 0 { // unreachable, unless declare has missed one
		bs = append(bs, home.bind(name))
	}
	for _, b := range bs {
		b.sites = append(b.sites, &s)
	}
	if w.c.table.assignable[name] {
		w.c.rebound[name] = true
	}
}

// param binds a name that its scope has from the beginning.
func (w *walker) param(name string, pos diag.Pos, kind types) {
	b := w.at.scope.bind(name)
	b.always = true
	b.sites = append(b.sites, &site{pos: pos, seq: w.tick(), frame: w.at.frame, loops: w.at.loops, at: w.at, kind: kind})
}

// block walks a block in a scope of its own and reports whether it never comes
// to its end.
func (w *walker) block(b *ast.Block, what string) (ends bool) {
	leave := w.enter(what, b.Stmts)
	defer leave()
	return w.stmts(b.Stmts)
}

// stmts walks statements that follow each other. What comes after one that
// leaves is never reached.
func (w *walker) stmts(ss []ast.Stmt) (ends bool) {
	dead := w.at.dead
	for i, s := range ss {
		if ends && !w.at.dead {
			w.unreachable(s, ss[i-1])
			w.at.dead = true
		}
		ends = w.stmt(s) || ends
	}
	w.at.dead = dead
	return ends
}

func (w *walker) unreachable(s, before ast.Stmt) {
	why := "this is never reached: the statement before it always leaves"
	switch before.(type) {
	case *ast.ReturnStmt:
		why = "this is never reached: it stands after 'return'"
	case *ast.RaiseStmt:
		why = "this is never reached: it stands after 'raise'"
	case *ast.BreakStmt:
		why = "this is never reached: it stands after 'break'"
	case *ast.ContinueStmt:
		why = "this is never reached: it stands after 'continue'"
	case *ast.WhileStmt:
		why = "this is never reached: the loop before it has no end"
	}
	w.add(Warning, "unreachable", s.Pos(), why)
}

// stmt walks a statement and reports whether what follows it is never reached.
func (w *walker) stmt(s ast.Stmt) (ends bool) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		w.expr(s.X)
	case *ast.VarDecl:
		w.varDecl(s)
	case *ast.DestructStmt:
		w.destruct(s)
	case *ast.ModelDecl:
		w.modelDecl(s)
	case *ast.SetStmt:
		w.setStmt(s)
	case *ast.PolicyStmt:
		w.policy(s)
	case *ast.MemoryDecl:
		w.set(s.Name, true, site{pos: s.NamePos, kind: types{"Memory"}, decl: s})
	case *ast.ImportStmt, *ast.FromStmt:
		w.imports(s)
	case *ast.ReturnStmt:
		return w.returnStmt(s)
	case *ast.RaiseStmt:
		w.expr(s.Value)
		return true
	case *ast.BreakStmt:
		w.leaveLoop(s.P, "break")
		return true
	case *ast.ContinueStmt:
		w.leaveLoop(s.P, "continue")
		return true
	default:
		return w.compound(s)
	}
	return false
}

func (w *walker) compound(s ast.Stmt) (ends bool) {
	switch s := s.(type) {
	case *ast.FuncDecl:
		w.function(s)
	case *ast.ToolDecl:
		w.tool(s)
	case *ast.ActionDecl:
		w.action(s)
	case *ast.AgentDecl:
		w.agent(s)
	case *ast.TestDecl:
		w.test(s)
	case *ast.SessionDecl:
		return w.block(s.Body, "the session '"+s.Name+"'")
	case *ast.IfStmt:
		dead := w.at.dead
		ends = w.ifStmt(s)
		w.at.dead = dead
		return ends
	case *ast.WhileStmt:
		return w.while(s)
	case *ast.ForStmt:
		w.forStmt(s)
	case *ast.TryStmt:
		return w.try(s)
	case *ast.TransactionStmt:
		return w.stmts(s.Body.Stmts)
	}
	return false
}

func (w *walker) varDecl(s *ast.VarDecl) {
	w.expr(s.Value)
	w.annotation(s.Type)
	w.later(func(at place) { w.c.annotated(at, s) })
	w.set(s.Name, s.Local, site{pos: s.NamePos, value: s.Value})
}

func (w *walker) destruct(s *ast.DestructStmt) {
	for _, v := range s.Values {
		w.expr(v)
	}
	if n := len(s.Values); n == 1 || n != len(s.Targets) {
		w.later(func(at place) { w.c.apart(at, s) })
	}
	for i, t := range s.Targets {
		switch t := t.(type) {
		case *ast.Ident:
			st := site{pos: t.P}
			if len(s.Values) == len(s.Targets) {
				st.value = s.Values[i]
			}
			w.set(t.Name, false, st)
		case *ast.IndexExpr:
			w.expr(t.X)
			w.expr(t.Index)
		}
	}
}

func (w *walker) modelDecl(s *ast.ModelDecl) {
	w.expr(s.Value)
	w.later(func(at place) { w.c.mustBeModel(at, s.P, s.Value, "'model "+s.Name+"' expects a Model, got ") })
	w.set(s.Name, true, site{pos: s.NamePos, kind: types{"Model"}, decl: s})
}

func (w *walker) setStmt(s *ast.SetStmt) {
	w.expr(s.Value)
	switch s.Name {
	case "delegation":
		w.later(func(at place) { w.c.mustBeModel(at, s.P, s.Value, "'set delegation' requires a Model value, got ") })
	case "budget":
	default:
		w.add(Error, "unknown-setting", s.NamePos, "unknown 'set' target '"+s.Name+"' (only 'delegation' is supported so far)",
			hint(s.Name, []string{"delegation", "budget"})...)
	}
}

func (w *walker) policy(s *ast.PolicyStmt) {
	home := w.at.scope.home()
	for i := range s.Rules {
		home.rules = append(home.rules, rule{r: &s.Rules[i], pos: s.Rules[i].P, seq: w.tick(), frame: w.at.frame})
	}
	if s.Default != "" {
		home.rules = append(home.rules, rule{pos: s.DefaultPos, seq: w.tick(), frame: w.at.frame})
	}
}

func (w *walker) returnStmt(s *ast.ReturnStmt) bool {
	f := w.at.frame
	if s.Value != nil {
		w.expr(s.Value)
	}
	switch {
	case f.module:
		w.add(Error, "misplaced", s.P, "'return' outside a function")
	case f.fn:
		f.returns = f.returns || s.Value != nil
		w.later(func(at place) { w.c.returned(at, s) })
	}
	return true
}

func (w *walker) leaveLoop(pos diag.Pos, word string) {
	n := len(w.at.loops)
	if n == 0 {
		w.add(Error, "misplaced", pos, "'"+word+"' outside a loop")
		return
	}
	if word == "break" && !w.at.dead {
		w.at.loops[n-1].broke = true
	}
}
