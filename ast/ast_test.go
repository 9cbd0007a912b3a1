package ast

import (
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/sense-lang/sense/diag"
)

func name(s string) *Ident { return &Ident{Name: s} }

func body(names ...string) *Block {
	b := &Block{}
	for _, n := range names {
		b.Stmts = append(b.Stmts, &ExprStmt{X: name(n)})
	}
	return b
}

// everything is a tree with every type of node. The names in it stand in the
// order of the source text: a1, a2, ...
func everything() *File {
	n := 0
	next := func() *Ident { n++; return name(fmt.Sprint("a", n)) }
	block := func() *Block { return &Block{Stmts: []Stmt{&ExprStmt{X: next()}}} }
	params := func() []*Param {
		return []*Param{{Name: "p", Type: &TypeExpr{Name: "Array", Args: []*TypeExpr{{Name: "Int"}}}, Default: next()}}
	}
	caps := func() []Capability { return []Capability{{Name: "c.d"}} }
	return &File{Name: "all.sns", Body: []Stmt{
		&ExprStmt{X: &ArrayLit{Elems: []Expr{next(), &UnaryExpr{Op: OpNot, X: next()}, &BinaryExpr{Op: OpIn, X: next(), Y: next()}}}},
		&ExprStmt{X: &MapLit{Entries: []MapEntry{{Key: next(), Value: next()}}}},
		&ExprStmt{X: &FString{Parts: []FPart{{Text: "t"}, {X: next(), Spec: ".2f"}}}},
		&ExprStmt{X: &CondExpr{Then: next(), Cond: next(), Else: next()}},
		&ExprStmt{X: &AssignExpr{Target: next(), Op: OpAdd, Value: next()}},
		&ExprStmt{X: &CallExpr{Fun: next(), Args: []Arg{{Value: next()}, {Label: "l", Value: next()}}}},
		&ExprStmt{X: &IndexExpr{X: next(), Index: next()}},
		&ExprStmt{X: &SliceExpr{X: next(), Lo: next(), Hi: next()}},
		&ExprStmt{X: &SliceExpr{X: next()}},
		&ExprStmt{X: &MemberExpr{X: next(), Name: "m"}},
		&ExprStmt{X: &Lambda{Params: params(), Body: next()}},
		&ExprStmt{X: &IntLit{Value: 1}}, &ExprStmt{X: &IntLit{Big: big.NewInt(7)}}, &ExprStmt{X: &FloatLit{Value: 2.5}},
		&ExprStmt{X: &StringLit{Value: "s"}}, &ExprStmt{X: &BoolLit{Value: true}}, &ExprStmt{X: &NilLit{}},
		&VarDecl{Name: "v", Local: true, Type: &TypeExpr{Name: "Int"}, Value: next()},
		&DestructStmt{Targets: []Expr{next(), next()}, Values: []Expr{next()}},
		&FuncDecl{Name: "f", Params: params(), Result: &TypeExpr{Name: "Int"}, Body: block()},
		&TestDecl{Desc: "d", Body: block()}, &SessionDecl{Name: "s", Body: block()}, &AgentDecl{Name: "g", Body: block()},
		&ActionDecl{Name: "x", Params: params(), Requires: caps(), Body: block(), Rollback: block()},
		&ToolDecl{Name: "t", Params: params(), Result: &TypeExpr{Name: "Int"}, Requires: caps(), Body: block()},
		&MemoryDecl{Name: "m"}, &ModelDecl{Name: "m", Value: next()},
		&PolicyStmt{Rules: []PolicyRule{{Allow: true, Capability: caps()[0]}}}, &SetStmt{Name: "s", Value: next()},
		&IfStmt{Arms: []IfArm{{Cond: next(), Body: block()}, {Cond: next(), Body: block()}}, Else: block()},
		&WhileStmt{Cond: next(), Body: block()}, &ForStmt{Vars: []*Ident{next(), next()}, Iter: next(), Body: block()},
		&ReturnStmt{Value: next()}, &ReturnStmt{}, &BreakStmt{}, &ContinueStmt{}, &PassStmt{},
		&ImportStmt{Path: "p"}, &FromStmt{Path: "p", Names: []ImportName{{Name: "q"}}},
		&TryStmt{Body: block(), Catches: []*CatchClause{{Name: "e", Guard: next(), Body: block()}}, Finally: block()},
		&RaiseStmt{Value: next()}, &TransactionStmt{Body: block()},
	}}
}

func TestWalkVisitsEverythingInOrder(t *testing.T) {
	types := map[string]bool{}
	count := 0
	Walk(everything(), func(n Node) bool {
		types[strings.TrimPrefix(reflect.TypeOf(n).String(), "*ast.")] = true
		if id, ok := n.(*Ident); ok {
			count++
			if want := fmt.Sprint("a", count); id.Name != want {
				t.Errorf("visited %s where %s was due", id.Name, want)
			}
		}
		return true
	})
	for _, want := range strings.Fields(`File Block Param TypeExpr IntLit FloatLit StringLit FString BoolLit NilLit Ident ArrayLit MapLit
		UnaryExpr BinaryExpr CondExpr AssignExpr CallExpr IndexExpr SliceExpr MemberExpr Lambda ExprStmt VarDecl DestructStmt FuncDecl
		TestDecl SessionDecl AgentDecl ActionDecl ToolDecl Capability MemoryDecl ModelDecl PolicyStmt PolicyRule SetStmt IfStmt IfArm
		WhileStmt ForStmt ReturnStmt BreakStmt ContinueStmt PassStmt ImportStmt FromStmt ImportName TryStmt CatchClause RaiseStmt
		TransactionStmt`) {
		if !types[want] {
			t.Errorf("no %s was visited", want)
		}
	}
}

func TestWalkFromAnyNode(t *testing.T) {
	for _, c := range []struct {
		n    Node
		want int
	}{
		{body("a", "b"), 5},
		{&TypeExpr{Args: []*TypeExpr{{}, {}}}, 3},
		{&Param{Type: &TypeExpr{}, Default: name("a")}, 3},
		{&IfArm{Cond: name("a"), Body: body()}, 3},
		{&CatchClause{Body: body("a")}, 4},
		{&PolicyRule{}, 2},
		{&Capability{}, 1},
		{&ImportName{}, 1},
		{name("a"), 1},
		{&ReturnStmt{Value: name("a")}, 2},
	} {
		count := 0
		Walk(c.n, func(Node) bool { count++; return true })
		if count != c.want {
			t.Errorf("%T: %d nodes, want %d", c.n, count, c.want)
		}
	}
}

func TestWalkLeavesOut(t *testing.T) {
	count := 0
	Walk(everything(), func(n Node) bool { count++; return false })
	if count != 1 {
		t.Errorf("%d nodes were visited below one that said no", count)
	}
}

func TestDump(t *testing.T) {
	f := &File{Name: "x.sns", Body: []Stmt{
		&ExprStmt{At: At{P: diag.Pos{Line: 3}}, X: &BinaryExpr{Op: OpSub, X: &IntLit{Value: 1}, Y: &IntLit{Big: new(big.Int).Lsh(big.NewInt(1), 70)}}},
		&IfStmt{Arms: []IfArm{{Cond: name("c"), Body: body("a", "b")}}, Else: body()},
		&ReturnStmt{},
	}}
	want := `File{Name: "x.sns", Body: [
  ExprStmt{X: BinaryExpr{Op: "-", X: IntLit{Value: 1}, Y: IntLit{Big: 1180591620717411303424}}}
  IfStmt{Arms: [IfArm{Cond: Ident{Name: "c"}, Body: Block{Stmts: [
    ExprStmt{X: Ident{Name: "a"}}
    ExprStmt{X: Ident{Name: "b"}}
  ]}}], Else: Block{}}
  ReturnStmt{}
]}`
	if got := Dump(f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDumpShowsEveryName(t *testing.T) {
	f := everything()
	text := Dump(f)
	Walk(f, func(n Node) bool {
		if id, ok := n.(*Ident); ok && !strings.Contains(text, `"`+id.Name+`"`) {
			t.Errorf("%s is missing", id.Name)
		}
		return true
	})
}

func TestDumpTellsTreesApart(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range []Expr{
		&IntLit{Value: 1}, &FloatLit{Value: 1}, &StringLit{Value: "1"}, &BoolLit{}, &BoolLit{Value: true}, &NilLit{},
		&UnaryExpr{Op: OpNeg, X: name("a")}, &UnaryExpr{Op: OpNot, X: name("a")}, name("a"),
		&BinaryExpr{Op: OpAdd, X: name("a"), Y: name("b")}, &BinaryExpr{Op: OpSub, X: name("a"), Y: name("b")},
		&AssignExpr{Target: name("a"), Value: name("b")}, &AssignExpr{Target: name("a"), Op: OpAdd, Value: name("b")},
	} {
		s := Dump(x)
		if seen[s] {
			t.Errorf("two trees give %s", s)
		}
		seen[s] = true
	}
}

func TestDeepTree(t *testing.T) {
	x := Expr(&IntLit{})
	for range 100_000 {
		x = &BinaryExpr{Op: OpAdd, X: x, Y: &NilLit{}}
	}
	count := 0
	Walk(x, func(Node) bool { count++; return true })
	if count != 200_001 {
		t.Errorf("%d nodes", count)
	}
	if n := strings.Count(Dump(x), "NilLit"); n != 100_000 {
		t.Errorf("%d nodes in the dump", n)
	}
}

func TestTypeExprString(t *testing.T) {
	x := &TypeExpr{Name: "Answer", Args: []*TypeExpr{{Name: "Array", Args: []*TypeExpr{{Name: "Int"}}}, {Name: "B"}}}
	if got := x.String(); got != "Answer<Array<Int>, B>" {
		t.Errorf("got %s", got)
	}
}

func TestOpString(t *testing.T) {
	seen := map[string]bool{}
	for op := OpAdd; op <= OpNot; op++ {
		if s := op.String(); s == "" || seen[s] {
			t.Errorf("operator %d is written %q", op, s)
		} else {
			seen[s] = true
		}
	}
	if OpNeg.String() != "-" || OpNone.String() != "" {
		t.Error("OpNeg or OpNone is written wrongly")
	}
}
