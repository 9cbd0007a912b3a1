package ast

// Walk calls visit for n and then for the nodes within it, in the order of the
// source text. Where visit gives false, what is within that node is left out.
// Absent parts, such as the type of an untyped parameter, are not visited.
func Walk(n Node, visit func(Node) bool) {
	w := walker(visit)
	switch n := n.(type) {
	case *File:
		if visit(n) {
			w.stmts(n.Body)
		}
	case Expr:
		w.expr(n)
	case Stmt:
		w.stmt(n)
	default:
		w.part(n)
	}
}

type walker func(Node) bool

func (w walker) exprs(xs []Expr) {
	for _, x := range xs {
		w.expr(x)
	}
}

func (w walker) stmts(ss []Stmt) {
	for _, s := range ss {
		w.stmt(s)
	}
}

func (w walker) block(b *Block) {
	if b != nil && w(b) {
		w.stmts(b.Stmts)
	}
}

func (w walker) typ(t *TypeExpr) {
	if t == nil || !w(t) {
		return
	}
	for _, a := range t.Args {
		w.typ(a)
	}
}

func (w walker) params(ps []*Param) {
	for _, p := range ps {
		if w(p) {
			w.typ(p.Type)
			w.expr(p.Default)
		}
	}
}

func (w walker) capabilities(cs []Capability) {
	for i := range cs {
		w(&cs[i])
	}
}

// part visits a node that is neither expression nor statement.
func (w walker) part(n Node) {
	switch n := n.(type) {
	case *Block:
		w.block(n)
	case *TypeExpr:
		w.typ(n)
	case *Param:
		w.params([]*Param{n})
	case *IfArm:
		w.arm(n)
	case *CatchClause:
		w.catch(n)
	case *PolicyRule:
		w.rule(n)
	case *Capability, *ImportName:
		w(n)
	}
}

func (w walker) arm(a *IfArm) {
	if w(a) {
		w.expr(a.Cond)
		w.block(a.Body)
	}
}

func (w walker) catch(c *CatchClause) {
	if w(c) {
		w.expr(c.Guard)
		w.block(c.Body)
	}
}

func (w walker) rule(r *PolicyRule) {
	if w(r) {
		w(&r.Capability)
	}
}

// expr visits an expression; nil stands for an absent one.
func (w walker) expr(x Expr) {
	if x == nil || !w(x) {
		return
	}
	switch x := x.(type) {
	case *FString:
		for _, p := range x.Parts {
			w.expr(p.X)
		}
	case *ArrayLit:
		w.exprs(x.Elems)
	case *MapLit:
		for _, e := range x.Entries {
			w.expr(e.Key)
			w.expr(e.Value)
		}
	case *UnaryExpr:
		w.expr(x.X)
	case *BinaryExpr:
		w.expr(x.X)
		w.expr(x.Y)
	case *CondExpr:
		w.expr(x.Then)
		w.expr(x.Cond)
		w.expr(x.Else)
	case *AssignExpr:
		w.expr(x.Target)
		w.expr(x.Value)
	case *CallExpr:
		w.expr(x.Fun)
		for _, a := range x.Args {
			w.expr(a.Value)
		}
	case *IndexExpr:
		w.expr(x.X)
		w.expr(x.Index)
	case *SliceExpr:
		w.expr(x.X)
		w.expr(x.Lo)
		w.expr(x.Hi)
	case *MemberExpr:
		w.expr(x.X)
	case *Lambda:
		w.params(x.Params)
		w.expr(x.Body)
	}
}

// stmt visits a statement: the simple ones here, those with blocks in compound.
func (w walker) stmt(s Stmt) {
	if !w(s) {
		return
	}
	switch s := s.(type) {
	case *ExprStmt:
		w.expr(s.X)
	case *VarDecl:
		w.typ(s.Type)
		w.expr(s.Value)
	case *DestructStmt:
		w.exprs(s.Targets)
		w.exprs(s.Values)
	case *ModelDecl:
		w.expr(s.Value)
	case *SetStmt:
		w.expr(s.Value)
	case *ReturnStmt:
		w.expr(s.Value)
	case *RaiseStmt:
		w.expr(s.Value)
	case *PolicyStmt:
		for i := range s.Rules {
			w.rule(&s.Rules[i])
		}
	case *FromStmt:
		for i := range s.Names {
			w(&s.Names[i])
		}
	default:
		w.compound(s)
	}
}

func (w walker) compound(s Stmt) {
	switch s := s.(type) {
	case *FuncDecl:
		w.params(s.Params)
		w.typ(s.Result)
		w.block(s.Body)
	case *TestDecl:
		w.block(s.Body)
	case *SessionDecl:
		w.block(s.Body)
	case *AgentDecl:
		w.block(s.Body)
	case *ActionDecl:
		w.params(s.Params)
		w.capabilities(s.Requires)
		w.block(s.Body)
		w.block(s.Rollback)
	case *ToolDecl:
		w.params(s.Params)
		w.typ(s.Result)
		w.capabilities(s.Requires)
		w.block(s.Body)
	case *IfStmt:
		for i := range s.Arms {
			w.arm(&s.Arms[i])
		}
		w.block(s.Else)
	case *WhileStmt:
		w.expr(s.Cond)
		w.block(s.Body)
	case *ForStmt:
		for _, v := range s.Vars {
			w.expr(v)
		}
		w.expr(s.Iter)
		w.block(s.Body)
	case *TryStmt:
		w.block(s.Body)
		for _, c := range s.Catches {
			w.catch(c)
		}
		w.block(s.Finally)
	case *TransactionStmt:
		w.block(s.Body)
	}
}
