package eval

import (
	"github.com/sense-lang/sense/ast"
)

// decl is a name that a statement list binds in its own scope.
type decl struct {
	name     string
	explicit bool // by more than a plain assignment
}

// declared lists the names that the statements may bind in the scope they stand
// in, without those of nested blocks, in order of appearance.
func declared(stmts []ast.Stmt) []decl {
	d := &declarer{}
	for _, s := range stmts {
		d.stmt(s)
	}
	return d.out
}

type declarer struct{ out []decl }

func (d *declarer) add(name string, explicit bool) { d.out = append(d.out, decl{name, explicit}) }

func (d *declarer) stmt(s ast.Stmt) {
	for _, e := range ownExprs(s) {
		d.expr(e)
	}
	switch s := s.(type) {
	case *ast.VarDecl:
		d.add(s.Name, s.Local)
	case *ast.DestructStmt:
		for _, t := range s.Targets {
			if id, ok := t.(*ast.Ident); ok {
				d.add(id.Name, false)
			}
		}
	case *ast.FuncDecl:
		d.add(s.Name, true)
	case *ast.AgentDecl:
		d.add(s.Name, false)
	case *ast.ActionDecl:
		d.add(s.Name, true)
	case *ast.ToolDecl:
		d.add(s.Name, true)
	case *ast.MemoryDecl:
		d.add(s.Name, true)
	case *ast.ModelDecl:
		d.add(s.Name, true)
	case *ast.ImportStmt:
		d.add(s.BoundName(), true)
	case *ast.FromStmt:
		for _, n := range s.Names {
			d.add(n.BoundName(), true)
		}
	case *ast.PolicyStmt:
		d.add(hiddenPolicy, true)
	case *ast.SetStmt:
		d.add(setName(s.Name), true)
	case *ast.TryStmt:
		d.tryStmt(s)
	case *ast.TransactionStmt:
		d.block(s.Body)
	}
}

func setName(name string) string {
	if name == "budget" {
		return hiddenBudget
	}
	return hiddenModel
}

// tryStmt: try, catch, finally and transaction make no scope of their own.
func (d *declarer) tryStmt(s *ast.TryStmt) {
	d.block(s.Body)
	for _, k := range s.Catches {
		if k.Guard != nil {
			d.expr(k.Guard)
		}
		d.block(k.Body)
	}
	if s.Finally != nil {
		d.block(s.Finally)
	}
}

func (d *declarer) block(b *ast.Block) {
	for _, s := range b.Stmts {
		d.stmt(s)
	}
}

// expr adds the names that assignments inside an expression bind.
func (d *declarer) expr(e ast.Expr) {
	for {
		switch x := e.(type) {
		case *ast.BinaryExpr: // the left side of a long sum is a long chain
			d.expr(x.Y)
			e = x.X
			continue
		case *ast.AssignExpr:
			if id, ok := x.Target.(*ast.Ident); ok {
				d.add(id.Name, false)
			}
		case *ast.Lambda:
			return
		}
		break
	}
	for _, sub := range subExprs(e) {
		d.expr(sub)
	}
}

// ownExprs lists the expressions of a statement that are evaluated in the scope
// it stands in.
func ownExprs(s ast.Stmt) []ast.Expr {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return []ast.Expr{s.X}
	case *ast.VarDecl:
		return []ast.Expr{s.Value}
	case *ast.DestructStmt:
		return append(append([]ast.Expr{}, s.Targets...), s.Values...)
	case *ast.ModelDecl:
		return []ast.Expr{s.Value}
	case *ast.SetStmt:
		return []ast.Expr{s.Value}
	case *ast.IfStmt:
		out := make([]ast.Expr, len(s.Arms))
		for i, a := range s.Arms {
			out[i] = a.Cond
		}
		return out
	case *ast.WhileStmt:
		return []ast.Expr{s.Cond}
	case *ast.ForStmt:
		return []ast.Expr{s.Iter}
	case *ast.ReturnStmt:
		return optional(s.Value)
	case *ast.RaiseStmt:
		return optional(s.Value)
	}
	return nil
}

func optional(e ast.Expr) []ast.Expr {
	if e == nil {
		return nil
	}
	return []ast.Expr{e}
}

// subExprs lists the parts of an expression in order of evaluation.
func subExprs(e ast.Expr) []ast.Expr {
	switch e := e.(type) {
	case *ast.FString:
		var out []ast.Expr
		for _, p := range e.Parts {
			out = append(out, optional(p.X)...)
		}
		return out
	case *ast.ArrayLit:
		return e.Elems
	case *ast.MapLit:
		var out []ast.Expr
		for _, m := range e.Entries {
			out = append(out, m.Key, m.Value)
		}
		return out
	case *ast.UnaryExpr:
		return []ast.Expr{e.X}
	case *ast.BinaryExpr:
		return []ast.Expr{e.X, e.Y}
	case *ast.CondExpr:
		return []ast.Expr{e.Cond, e.Then, e.Else}
	case *ast.AssignExpr:
		return []ast.Expr{e.Target, e.Value}
	case *ast.CallExpr:
		out := []ast.Expr{e.Fun}
		for _, a := range e.Args {
			out = append(out, a.Value)
		}
		return out
	case *ast.IndexExpr:
		return []ast.Expr{e.X, e.Index}
	case *ast.SliceExpr:
		return append(append([]ast.Expr{e.X}, optional(e.Lo)...), optional(e.Hi)...)
	case *ast.MemberExpr:
		return []ast.Expr{e.X}
	case *ast.Lambda:
		return []ast.Expr{e.Body}
	}
	return nil
}

// blocks lists the blocks of a statement; nested is true for those that make a
// function of their own.
func blocks(s ast.Stmt) (bs []*ast.Block, nested bool) {
	switch s := s.(type) {
	case *ast.FuncDecl:
		return []*ast.Block{s.Body}, true
	case *ast.AgentDecl:
		return []*ast.Block{s.Body}, true
	case *ast.ToolDecl:
		return []*ast.Block{s.Body}, true
	case *ast.ActionDecl:
		return []*ast.Block{s.Body, s.Rollback}, true
	case *ast.TestDecl:
		return []*ast.Block{s.Body}, false
	case *ast.SessionDecl:
		return []*ast.Block{s.Body}, false
	case *ast.IfStmt:
		for _, a := range s.Arms {
			bs = append(bs, a.Body)
		}
		return append(bs, s.Else), false
	case *ast.WhileStmt:
		return []*ast.Block{s.Body}, false
	case *ast.ForStmt:
		return []*ast.Block{s.Body}, false
	case *ast.TryStmt:
		bs = append(bs, s.Body)
		for _, k := range s.Catches {
			bs = append(bs, k.Body)
		}
		return append(bs, s.Finally), false
	case *ast.TransactionStmt:
		return []*ast.Block{s.Body}, false
	}
	return nil, false
}

// params gives the parameters of a declaration.
func paramsOf(s ast.Stmt) []*ast.Param {
	switch s := s.(type) {
	case *ast.FuncDecl:
		return s.Params
	case *ast.ToolDecl:
		return s.Params
	case *ast.ActionDecl:
		return s.Params
	}
	return nil
}
