package check

import "github.com/sense-lang/sense/ast"

// expr walks an expression in the order of its evaluation.
func (w *walker) expr(x ast.Expr) {
	switch x := x.(type) {
	case *ast.Ident:
		w.later(func(at place) { w.c.name(at, x) })
	case *ast.FString:
		for _, p := range x.Parts {
			if p.X != nil {
				w.expr(p.X)
			}
		}
	case *ast.ArrayLit:
		for _, e := range x.Elems {
			w.expr(e)
		}
	case *ast.MapLit:
		w.mapLit(x)
	case *ast.UnaryExpr:
		w.expr(x.X)
		w.later(func(at place) { w.c.unary(at, x) })
	case *ast.BinaryExpr:
		w.binary(x)
	case *ast.CondExpr:
		w.cond(x)
	case *ast.AssignExpr:
		w.assign(x)
	case *ast.CallExpr:
		w.call(x)
	case *ast.IndexExpr:
		w.expr(x.X)
		w.expr(x.Index)
		w.later(func(at place) { w.c.index(at, x) })
	case *ast.SliceExpr:
		w.slice(x)
	case *ast.MemberExpr:
		w.expr(x.X)
		w.later(func(at place) { w.c.member(at, x) })
	case *ast.Lambda:
		w.lambda(x)
	}
}

func (w *walker) mapLit(x *ast.MapLit) {
	for _, e := range x.Entries {
		w.expr(e.Key)
		w.expr(e.Value)
	}
	w.later(func(at place) { w.c.mapKeys(at, x) })
}

// binary walks an operation. The left side of a long sum is a long chain.
func (w *walker) binary(x *ast.BinaryExpr) {
	chain := []*ast.BinaryExpr{x}
	for {
		in, ok := chain[len(chain)-1].X.(*ast.BinaryExpr)
		if !ok {
			break
		}
		chain = append(chain, in)
	}
	w.expr(chain[len(chain)-1].X)
	for i := len(chain) - 1; i >= 0; i-- {
		b := chain[i]
		dead := w.at.dead
		if v, known := constant(b.X); known && (b.Op == ast.OpAnd && !v || b.Op == ast.OpOr && v) {
			w.at.dead = true
		}
		w.expr(b.Y)
		w.at.dead = dead
		w.later(func(at place) { w.c.binary(at, b) })
	}
}

func (w *walker) cond(x *ast.CondExpr) {
	w.expr(x.Cond)
	v, known := constant(x.Cond)
	dead := w.at.dead
	w.at.dead = dead || known && !v
	w.expr(x.Then)
	w.at.dead = dead || known && v
	w.expr(x.Else)
	w.at.dead = dead
}

func (w *walker) assign(x *ast.AssignExpr) {
	switch t := x.Target.(type) {
	case *ast.Ident:
		if x.Op != ast.OpNone {
			w.expr(t)
		}
		w.expr(x.Value)
		st := site{pos: t.P, value: x.Value}
		if x.Op != ast.OpNone {
			st.value = nil
			w.later(func(at place) { w.c.augmented(at, x) })
		}
		w.set(t.Name, false, st)
	case *ast.IndexExpr:
		w.expr(t.X)
		w.expr(t.Index)
		w.expr(x.Value)
	}
}

func (w *walker) call(x *ast.CallExpr) {
	w.expr(x.Fun)
	for _, a := range x.Args {
		w.expr(a.Value)
	}
	w.later(func(at place) { w.c.call(at, x) })
}

func (w *walker) slice(x *ast.SliceExpr) {
	w.expr(x.X)
	if x.Lo != nil {
		w.expr(x.Lo)
	}
	if x.Hi != nil {
		w.expr(x.Hi)
	}
}

func (w *walker) lambda(x *ast.Lambda) {
	leave := w.enterFrame(&frame{name: "lambda"}, "a lambda", []ast.Stmt{&ast.ExprStmt{At: x.At, X: x.Body}})
	defer leave()
	w.params(x.Params)
	w.expr(x.Body)
}
