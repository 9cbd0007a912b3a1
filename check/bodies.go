package check

import (
	"github.com/sense-lang/sense/ast"
)

// function walks a def. Its name is bound when the def is reached, its body
// runs later.
func (w *walker) function(s *ast.FuncDecl) {
	w.annotation(s.Result)
	f := &frame{fn: true, result: s.Result, name: s.Name}
	w.body(f, "the function '"+s.Name+"'", s.Params, s.Body)
	w.noResult(f, s)
	w.set(s.Name, true, site{pos: s.NamePos, kind: types{"Function"}, decl: s})
}

// noResult warns of a function that has to return something and never does.
func (w *walker) noResult(f *frame, s *ast.FuncDecl) {
	if f.result == nil || f.returns || f.async || accepts(f.result, "Nil") || f.name == "" {
		return
	}
	w.add(Warning, "no-result", s.NamePos, "'"+s.Name+"' is declared to return "+s.Result.String()+", but never returns a value")
}

// body walks parameters and body of a frame. A frame whose body never ends
// needs no return.
func (w *walker) body(f *frame, what string, params []*ast.Param, b *ast.Block) {
	leave := w.enterFrame(f, what, b.Stmts)
	defer leave()
	w.params(params)
	if w.stmts(b.Stmts) {
		f.returns = true
	}
}

func (w *walker) params(params []*ast.Param) {
	for _, p := range params {
		w.annotation(p.Type)
		if p.Default != nil {
			w.expr(p.Default)
			w.later(func(at place) { w.c.defaulted(at, p) })
		}
		ts := declaredTypes(p.Type)
		if p.DefaultsToNil() {
			ts = nil
		}
		w.param(p.Name, p.P, ts)
	}
}

func (w *walker) tool(s *ast.ToolDecl) {
	w.annotation(s.Result)
	f := &frame{fn: true, result: s.Result, async: s.Async, name: s.Name}
	w.body(f, "the tool '"+s.Name+"'", s.Params, s.Body)
	w.set(s.Name, true, site{pos: s.NamePos, kind: types{"Tool"}, decl: s})
	for _, c := range s.Requires {
		if c.Name == "approval" {
			w.add(Note, "approval-on-tool", c.P, "on a tool, 'approval' is a capability of that name; only an action waits for an approval")
		}
	}
	w.declares(s.Requires, "tool '"+s.Name+"'", s.NamePos, s)
}

func (w *walker) action(s *ast.ActionDecl) {
	f := &frame{name: s.Name}
	leave := w.enterFrame(f, "the action '"+s.Name+"'", s.Body.Stmts)
	w.params(s.Params)
	w.stmts(s.Body.Stmts)
	if s.Rollback != nil { // its scope is inside that of the body, which has run
		w.body(&frame{name: s.Name}, "the rollback of '"+s.Name+"'", nil, s.Rollback)
	}
	leave()
	w.set(s.Name, true, site{pos: s.NamePos, kind: types{"Action"}, decl: s})
	w.declares(s.Requires, "action '"+s.Name+"'", s.NamePos, s)
}

func (w *walker) agent(s *ast.AgentDecl) {
	w.body(&frame{name: s.Name}, "the agent '"+s.Name+"'", nil, s.Body)
	w.set(s.Name, false, site{pos: s.NamePos, kind: types{"Agent"}, decl: s})
}

func (w *walker) test(s *ast.TestDecl) {
	guard := w.at.guard
	w.at.guard = "test"
	w.block(s.Body, "a test")
	w.at.guard = guard
}

func (w *walker) ifStmt(s *ast.IfStmt) (ends bool) {
	ends = s.Else != nil
	dead := w.at.dead // what stands below an arm that is always taken is never reached
	for i := range s.Arms {
		a := &s.Arms[i]
		w.at.dead = dead
		w.expr(a.Cond)
		v, known := constant(a.Cond)
		w.at.dead = dead || known && !v
		ends = w.block(a.Body, "a block") && ends
		dead = dead || known && v
	}
	w.at.dead = dead
	if s.Else != nil {
		ends = w.block(s.Else, "a block") && ends
	}
	return ends
}

func (w *walker) while(s *ast.WhileStmt) (ends bool) {
	l := w.enterLoop()
	dead := w.at.dead
	w.expr(s.Cond)
	v, known := constant(s.Cond)
	w.at.dead = dead || known && !v
	w.block(s.Body, "a loop")
	w.at.dead = dead
	w.leaveLoops()
	return known && v && !l.broke
}

func (w *walker) enterLoop() *loop {
	l := &loop{}
	w.at.loops = append(w.at.loops[:len(w.at.loops):len(w.at.loops)], l)
	return l
}

func (w *walker) leaveLoops() { w.at.loops = w.at.loops[:len(w.at.loops)-1] }

func (w *walker) forStmt(s *ast.ForStmt) {
	w.expr(s.Iter)
	w.later(func(at place) { w.c.iterated(at, s) })
	w.enterLoop()
	leave := w.enter("a loop", s.Body.Stmts)
	for _, v := range s.Vars {
		w.param(v.Name, v.P, w.elementTypes(s))
	}
	w.stmts(s.Body.Stmts)
	leave()
	w.leaveLoops()
}

// elementTypes gives the type of a loop's one variable where it is plain to see.
func (w *walker) elementTypes(s *ast.ForStmt) types {
	if len(s.Vars) > 1 {
		return nil
	}
	switch x := s.Iter.(type) {
	case *ast.StringLit:
		return types{"String"}
	case *ast.CallExpr:
		id, ok := x.Fun.(*ast.Ident)
		if ok && id.Name == "range" && len(w.at.scope.lookup("range")) == 0 && !w.c.rebound["range"] {
			return types{"Int"}
		}
	}
	return nil
}

// try walks a try. Its blocks make no scope; an error may leave its body
// anywhere, so what is certain to fail there may be meant.
func (w *walker) try(s *ast.TryStmt) (ends bool) {
	guard := w.at.guard
	if len(s.Catches) > 0 {
		w.at.guard = "try"
	}
	ends = w.stmts(s.Body.Stmts)
	w.at.guard = guard
	for _, k := range s.Catches {
		ends = w.catch(k) && ends
	}
	if s.Finally != nil {
		ends = w.stmts(s.Finally.Stmts) || ends
	}
	return ends
}

func (w *walker) catch(k *ast.CatchClause) (ends bool) {
	leave := w.enter("a catch", nil)
	defer leave()
	w.at.scope.through = true
	w.param(k.Name, k.P, types{"Error"})
	if k.Guard != nil {
		w.expr(k.Guard)
	}
	return w.stmts(k.Body.Stmts)
}

// constant gives the truth of a condition that is the same each time.
func constant(x ast.Expr) (truth, known bool) {
	switch x := x.(type) {
	case *ast.BoolLit:
		return x.Value, true
	case *ast.NilLit:
		return false, true
	case *ast.IntLit:
		return x.Big != nil || x.Value != 0, true
	case *ast.FloatLit:
		return x.Value != 0, true
	case *ast.StringLit:
		return x.Value != "", true
	case *ast.ArrayLit:
		return len(x.Elems) > 0, len(x.Elems) == 0
	case *ast.MapLit:
		return len(x.Entries) > 0, len(x.Entries) == 0
	}
	return false, false
}
