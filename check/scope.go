package check

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// scope is a lexical scope, as in the evaluator: names are bound in it by
// declarations and, where no scope around it has the name, by assignments.
type scope struct {
	parent *scope
	frame  *frame
	mod    *module
	names  map[string]*binding
	// loops are the loops around it in its frame, its own included: what it holds
	// is gone with each round.
	loops []*loop
	rules []rule // of its frame, in their order
	// all and some are these rules, and the first of them, as policy has them; made
	// when they are asked for.
	all, some ruled
	// what says in messages what the scope is, such as "a block".
	what string
	kids []*scope
	// through is the scope of the one name of a catch.
	through bool
}

// frame is the body of a function, tool, action, agent or module: code that
// runs in the order it stands.
type frame struct {
	parent *frame
	decl   int // when in the walk the function was declared
	module bool
	fn     bool // return gives a value
	result *ast.TypeExpr
	async  bool
	name   string
	// returns says that some return gives a value.
	returns bool
}

// loop is a loop; broke says that some break leaves it.
type loop struct{ broke bool }

// binding is a name in a scope.
type binding struct {
	name  string
	scope *scope
	sites []*site
	// always is a name that its scope has from the beginning: a parameter, the
	// variable of a loop, the name after catch.
	always bool
}

// site is a place that binds a name.
type site struct {
	pos   diag.Pos
	seq   int // in the order of the walk
	frame *frame
	loops []*loop
	at    place
	value ast.Expr // what is assigned, nil where that is not one expression
	kind  types    // what it holds where value is nil, nil for unknown
	decl  ast.Node // the function, tool, action or agent it declares
	mod   *module  // the module it imports
	from  string   // the member of mod it imports, "" for mod itself
}

// rule is a policy's rule and when in the walk it was set.
type rule struct {
	r     *ast.PolicyRule // nil for a default
	pos   diag.Pos
	seq   int
	frame *frame
}

// place is where in a program something stands.
type place struct {
	scope *scope
	frame *frame
	loops []*loop
	seq   int
	dead  bool   // never reached
	guard string // "test" or "try", where an error may be expected
}

// lookup gives the bindings that a use of name at a scope may mean, innermost
// first. The last is the only one where it is certainly set.
func (s *scope) lookup(name string) []*binding {
	var out []*binding
	for ; s != nil; s = s.parent {
		if b := s.names[name]; b != nil {
			out = append(out, b)
			if b.always {
				break
			}
		}
	}
	return out
}

// home is the scope that a statement binds in: not that of a catch.
func (s *scope) home() *scope {
	for s.through {
		s = s.parent
	}
	return s
}

func (s *scope) bind(name string) *binding {
	b := s.names[name]
	if b == nil {
		b = &binding{name: name, scope: s}
		s.names[name] = b
	}
	return b
}

// declare makes bindings for all that the statements may bind in s.
func (s *scope) declare(stmts []ast.Stmt) {
	for _, st := range stmts {
		s.declareStmt(st)
	}
}

func (s *scope) declareStmt(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.VarDecl:
		s.bind(st.Name)
	case *ast.DestructStmt:
		for _, t := range st.Targets {
			if id, ok := t.(*ast.Ident); ok {
				s.bind(id.Name)
			}
		}
	case *ast.FuncDecl:
		s.bind(st.Name)
	case *ast.AgentDecl:
		s.bind(st.Name)
	case *ast.ActionDecl:
		s.bind(st.Name)
	case *ast.ToolDecl:
		s.bind(st.Name)
	case *ast.MemoryDecl:
		s.bind(st.Name)
	case *ast.ModelDecl:
		s.bind(st.Name)
	case *ast.ImportStmt:
		s.bind(st.BoundName())
	case *ast.FromStmt:
		for _, n := range st.Names {
			s.bind(n.BoundName())
		}
	case *ast.TryStmt:
		s.declare(st.Body.Stmts)
		for _, k := range st.Catches {
			s.declare(k.Body.Stmts)
		}
		if st.Finally != nil {
			s.declare(st.Finally.Stmts)
		}
	case *ast.TransactionStmt:
		s.declare(st.Body.Stmts)
	}
	s.declareExprs(st)
}

// declareExprs makes bindings for the assignments inside a statement's own
// expressions. What is in blocks and lambdas belongs to their scopes.
func (s *scope) declareExprs(st ast.Stmt) {
	first := true
	ast.Walk(st, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Block, *ast.Lambda, *ast.Param, *ast.CatchClause:
			return false
		case *ast.AssignExpr:
			if id, ok := n.Target.(*ast.Ident); ok {
				s.bind(id.Name)
			}
		case ast.Stmt:
			if !first {
				return false
			}
			first = false
		}
		return true
	})
}

// certain reports whether a binding can be nothing but what its one site makes.
func (b *binding) certain() (*site, bool) {
	if len(b.sites) != 1 || b.always {
		return nil, false
	}
	return b.sites[0], true
}
