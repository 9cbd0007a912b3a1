// Package ast declares the syntax tree of Sense. The parser builds it, the
// evaluator compiles it, the formatter and the checker read it. A tree says
// what a program means: parentheses, spacing and the spelling of numbers and
// strings are not in it.
package ast

import (
	"math/big"

	"github.com/sense-lang/sense/diag"
)

// Node is any part of a tree that has a place.
type Node interface{ Pos() diag.Pos }

// Expr is an expression: x + 1
type Expr interface {
	Node
	expr()
}

// Stmt is a statement: return x
type Stmt interface {
	Node
	stmt()
}

// At is embedded in every node and holds the place where it starts.
type At struct{ P diag.Pos }

// Pos gives the place where the node starts.
func (a At) Pos() diag.Pos { return a.P }

// File is a parsed source text.
type File struct {
	// Name is the path the source was read from, "" in the REPL.
	Name string
	Body []Stmt
}

// Pos gives the beginning of the text.
func (f *File) Pos() diag.Pos { return diag.Pos{Line: 1, Col: 1} }

// Block is the body of a compound statement. Doc is its docstring, cleaned,
// where the statement may have one (the string stays in Stmts).
type Block struct {
	At
	Stmts  []Stmt
	Doc    string
	HasDoc bool
}

// Param is a parameter: n: Int = 1
type Param struct {
	At
	Name    string
	Type    *TypeExpr // nil when not annotated
	Default Expr      // nil when required
}

// DefaultsToNil reports whether the default is the word nil: the parameter may
// then be nil whatever its type.
func (p *Param) DefaultsToNil() bool {
	_, ok := p.Default.(*NilLit)
	return ok
}

// TypeExpr is an annotation: Array<Int>
type TypeExpr struct {
	At
	Name string
	Args []*TypeExpr
}

// String gives the annotation as messages show it.
func (t *TypeExpr) String() string {
	s := t.Name
	for i, a := range t.Args {
		if i == 0 {
			s += "<"
		} else {
			s += ", "
		}
		s += a.String()
	}
	if len(t.Args) > 0 {
		s += ">"
	}
	return s
}

// Expressions.
type (
	// IntLit is an integer: 42. Big is set where it does not fit 64 bits.
	IntLit struct {
		At
		Value int64
		Big   *big.Int
	}
	// FloatLit is a float: 2.5
	FloatLit struct {
		At
		Value float64
	}
	// StringLit is a string with its escapes resolved: "a\n"
	StringLit struct {
		At
		Value string
	}
	// FString is an interpolated string: f"total {n:.2f}". A docstring or a
	// description is never one.
	FString struct {
		At
		Parts []FPart
	}
	// FPart is a piece of an FString: text with its escapes and doubled braces
	// resolved, or an expression with an optional format specification. Spec is
	// what stands after the ":", and one that ParseFormat takes.
	FPart struct {
		Text string
		X    Expr // nil for text
		Spec string
	}
	// BoolLit is true or false.
	BoolLit struct {
		At
		Value bool
	}
	// NilLit is nil.
	NilLit struct{ At }
	// Ident is a name: total
	Ident struct {
		At
		Name string
	}
	// ArrayLit is an array: [1, 2]
	ArrayLit struct {
		At
		Elems []Expr
	}
	// MapLit is a map: {"a": 1}
	MapLit struct {
		At
		Entries []MapEntry
	}
	// MapEntry is one key and its value. The key may be any expression; whether
	// it is a String shows when it is evaluated.
	MapEntry struct{ Key, Value Expr }
	// UnaryExpr is -x or not x. Written `not a in b` it is not (a in b).
	UnaryExpr struct {
		At
		Op Op
		X  Expr
	}
	// BinaryExpr is a binary operation, and/or included: x + y. P is where X
	// starts, OpPos where the operator stands.
	BinaryExpr struct {
		At
		Op    Op
		OpPos diag.Pos
		X, Y  Expr
	}
	// CondExpr is a conditional: a if c else b. Cond is evaluated first, then only
	// one of the others.
	CondExpr struct {
		At
		Then, Cond, Else Expr
	}
	// AssignExpr is an assignment, which has a value: x = 1, a[0] = 2, x += 1.
	// Target is an *Ident or *IndexExpr, and evaluated once. Op is OpNone for a
	// plain one, otherwise one of OpAdd, OpSub, OpMul, OpDiv and OpMod.
	AssignExpr struct {
		At
		Target Expr
		Op     Op
		OpPos  diag.Pos
		Value  Expr
	}
	// CallExpr is a call: f(1, b: 2). Lparen is where "(" stands.
	CallExpr struct {
		At
		Fun    Expr
		Lparen diag.Pos
		Args   []Arg
	}
	// Arg is an argument; Label is "" for a positional one, and may be any name or
	// keyword. Labeled ones come last. The same label may occur twice.
	Arg struct {
		Label    string
		LabelPos diag.Pos
		Value    Expr
	}
	// IndexExpr is an element: a[0]. Lbrack is where "[" stands.
	IndexExpr struct {
		At
		X      Expr
		Lbrack diag.Pos
		Index  Expr
	}
	// SliceExpr is a part: a[1:n]. Lo and Hi may be nil. It is never assigned to.
	SliceExpr struct {
		At
		X      Expr
		Lbrack diag.Pos
		Lo, Hi Expr
	}
	// MemberExpr is a member: a.name. Name may be a keyword.
	MemberExpr struct {
		At
		X       Expr
		Name    string
		NamePos diag.Pos
	}
	// Lambda is a function of one expression: lambda x: x + 1. Its parameters
	// have no types; there are none in `lambda (): 3`. The body may assign.
	Lambda struct {
		At
		Params []*Param
		Body   Expr
	}
)

// Statements.
type (
	// ExprStmt is an expression on a line of its own: f()
	ExprStmt struct {
		At
		X Expr
	}
	// VarDecl is a declaration with a type, with local, or both:
	// x: Int = 1 · local x = 1. Type is nil where there is none.
	VarDecl struct {
		At
		Name    string
		NamePos diag.Pos
		Local   bool
		Type    *TypeExpr
		Value   Expr
	}
	// DestructStmt assigns to several targets: a, b = pair. Targets are *Ident
	// or *IndexExpr, two or more. Values has one element, which is to be taken
	// apart, or several, all of which are evaluated before the first target is
	// assigned. That the numbers agree is not checked here.
	DestructStmt struct {
		At
		Targets []Expr
		Values  []Expr
	}
	// FuncDecl is a function: def f(a) -> Int: return a
	FuncDecl struct {
		At
		Name    string
		NamePos diag.Pos
		Params  []*Param
		Result  *TypeExpr
		Body    *Block
	}
	// TestDecl is a test: test "adds": assert(1 + 1 == 2)
	TestDecl struct {
		At
		Desc string
		Body *Block
	}
	// SessionDecl is a scope with a name: session s: body
	SessionDecl struct {
		At
		Name string
		Body *Block
	}
	// AgentDecl is an agent: async agent a: body
	AgentDecl struct {
		At
		Async   bool
		Name    string
		NamePos diag.Pos
		Body    *Block
	}
	// ActionDecl is an action: reversible action f(): body rollback: body. All of
	// Requires must be allowed.
	ActionDecl struct {
		At
		Reversible bool
		Name       string
		NamePos    diag.Pos
		Params     []*Param
		Approval   bool
		Requires   []Capability
		Body       *Block
		Rollback   *Block // nil for an irreversible action
	}
	// ToolDecl is a tool: tool f(a: Int) returns Int requires c "adds": body. All
	// of Requires must be allowed; approval is a capability like any other here.
	ToolDecl struct {
		At
		Async    bool
		Name     string
		NamePos  diag.Pos
		Params   []*Param
		Result   *TypeExpr
		Requires []Capability
		Desc     string
		HasDesc  bool
		Body     *Block
	}
	// Capability is the name of one, email.send, or in a rule a pattern, in which
	// a "*" stands for a segment or a part of the last one. A segment that was
	// quoted and is no name is in Go's double quotes: net.http."127.0.0.1".
	Capability struct {
		At
		Name string
	}
	// MemoryDecl is a memory: persistent memory m: "path"
	MemoryDecl struct {
		At
		Persistent bool
		Name       string
		NamePos    diag.Pos
		Text       string // the kind, or the path of a persistent one
		HasText    bool
	}
	// ModelDecl names a model: model m = inference("mock")
	ModelDecl struct {
		At
		Name    string
		NamePos diag.Pos
		Value   Expr
	}
	// PolicyStmt sets rules: policy: allow email.send. It has rules, a Default or
	// both.
	PolicyStmt struct {
		At
		Rules []PolicyRule
		// Default is "deny" for `policy: default deny`, otherwise "". DefaultPos is
		// where the word default stands.
		Default    string
		DefaultPos diag.Pos
	}
	// PolicyRule is one rule: deny net.http
	PolicyRule struct {
		At
		Allow      bool
		Capability Capability
	}
	// SetStmt sets a configuration: set delegation = m
	SetStmt struct {
		At
		Name    string
		NamePos diag.Pos
		Value   Expr
	}
	// IfStmt is a chain of conditions: if a: x else if b: y else: z. An elif is
	// the same as an else if.
	IfStmt struct {
		At
		Arms []IfArm
		Else *Block // nil where there is none
	}
	// IfArm is one condition and its block.
	IfArm struct {
		At
		Cond Expr
		Body *Block
	}
	// WhileStmt is a loop: while c: body
	WhileStmt struct {
		At
		Cond Expr
		Body *Block
	}
	// ForStmt is a loop over values: for x in xs: body. Vars has one name, or
	// several that take each value apart.
	ForStmt struct {
		At
		Vars []*Ident
		Iter Expr
		Body *Block
	}
	// ReturnStmt ends a body: return x. Value is nil where there is none.
	ReturnStmt struct {
		At
		Value Expr
	}
	// BreakStmt is break.
	BreakStmt struct{ At }
	// ContinueStmt is continue.
	ContinueStmt struct{ At }
	// PassStmt is the word pass alone on a line, which does nothing. In all other
	// places pass is a name. Where a program binds that name the line reads it,
	// which does nothing either.
	PassStmt struct{ At }
	// ImportStmt is import "./lib.sns" as lib, or import python "os". Path is
	// the text of the string, or the dotted name as written.
	ImportStmt struct {
		At
		Python  bool
		Path    string
		Dotted  bool
		PathPos diag.Pos
		Alias   string // "" where there is no as
	}
	// FromStmt is from m import a, b as c.
	FromStmt struct {
		At
		Python  bool
		Path    string
		Dotted  bool
		PathPos diag.Pos
		Names   []ImportName
	}
	// ImportName is one imported name.
	ImportName struct {
		At
		Name, Alias string // Alias is "" where there is no as
	}
	// TryStmt handles errors: try: a catch e: b finally: c. It has catches, a
	// finally or both; only the last catch may be without a guard. The first whose
	// guard holds gets the error; where none does it goes on. None of the blocks
	// makes a scope.
	TryStmt struct {
		At
		Body    *Block
		Catches []*CatchClause
		Finally *Block // nil where there is none
	}
	// CatchClause is catch e if guard: body. Name is known in Guard and Body only.
	CatchClause struct {
		At
		Name  string
		Guard Expr // nil where there is none
		Body  *Block
	}
	// RaiseStmt raises an error: raise "no". Value is never nil: raise alone on a
	// line reads a variable of that name. `raise (x)` is an ExprStmt with a call
	// where the same text has raise as a name.
	RaiseStmt struct {
		At
		Value Expr
	}
	// TransactionStmt undoes its actions when it fails: transaction: body
	TransactionStmt struct {
		At
		Body *Block
	}
)

func (*IntLit) expr()     {}
func (*FloatLit) expr()   {}
func (*StringLit) expr()  {}
func (*FString) expr()    {}
func (*BoolLit) expr()    {}
func (*NilLit) expr()     {}
func (*Ident) expr()      {}
func (*ArrayLit) expr()   {}
func (*MapLit) expr()     {}
func (*UnaryExpr) expr()  {}
func (*BinaryExpr) expr() {}
func (*CondExpr) expr()   {}
func (*AssignExpr) expr() {}
func (*CallExpr) expr()   {}
func (*IndexExpr) expr()  {}
func (*SliceExpr) expr()  {}
func (*MemberExpr) expr() {}
func (*Lambda) expr()     {}

func (*ExprStmt) stmt()        {}
func (*VarDecl) stmt()         {}
func (*DestructStmt) stmt()    {}
func (*FuncDecl) stmt()        {}
func (*TestDecl) stmt()        {}
func (*SessionDecl) stmt()     {}
func (*AgentDecl) stmt()       {}
func (*ActionDecl) stmt()      {}
func (*ToolDecl) stmt()        {}
func (*MemoryDecl) stmt()      {}
func (*ModelDecl) stmt()       {}
func (*PolicyStmt) stmt()      {}
func (*SetStmt) stmt()         {}
func (*IfStmt) stmt()          {}
func (*WhileStmt) stmt()       {}
func (*ForStmt) stmt()         {}
func (*ReturnStmt) stmt()      {}
func (*BreakStmt) stmt()       {}
func (*ContinueStmt) stmt()    {}
func (*PassStmt) stmt()        {}
func (*ImportStmt) stmt()      {}
func (*FromStmt) stmt()        {}
func (*TryStmt) stmt()         {}
func (*RaiseStmt) stmt()       {}
func (*TransactionStmt) stmt() {}
