package parser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sense-lang/sense/ast"
)

func parse(t *testing.T, src string) *ast.File {
	t.Helper()
	f, err := Parse("", src)
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	return f
}

// paren shows an expression with all its parentheses.
func paren(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.IntLit:
		if x.Big != nil {
			return x.Big.String()
		}
		return fmt.Sprint(x.Value)
	case *ast.FloatLit:
		return fmt.Sprint(x.Value)
	case *ast.StringLit:
		return fmt.Sprintf("%q", x.Value)
	case *ast.BoolLit:
		return fmt.Sprint(x.Value)
	case *ast.NilLit:
		return "nil"
	case *ast.UnaryExpr:
		return "(" + x.Op.String() + " " + paren(x.X) + ")"
	case *ast.BinaryExpr:
		return "(" + paren(x.X) + " " + x.Op.String() + " " + paren(x.Y) + ")"
	case *ast.AssignExpr:
		return "(" + paren(x.Target) + " " + x.Op.String() + "= " + paren(x.Value) + ")"
	case *ast.CondExpr:
		return "(" + paren(x.Then) + " if " + paren(x.Cond) + " else " + paren(x.Else) + ")"
	case *ast.Lambda:
		return "(lambda " + paramList(x.Params) + ": " + paren(x.Body) + ")"
	case *ast.SliceExpr:
		return paren(x.X) + "[" + optional(x.Lo) + ":" + optional(x.Hi) + "]"
	case *ast.MapLit:
		var out []string
		for _, e := range x.Entries {
			out = append(out, paren(e.Key)+": "+paren(e.Value))
		}
		return "{" + strings.Join(out, ", ") + "}"
	case *ast.FString:
		s := "f("
		for _, p := range x.Parts {
			if p.X == nil {
				s += fmt.Sprintf("%q", p.Text)
			} else {
				s += "{" + paren(p.X) + "|" + p.Spec + "}"
			}
		}
		return s + ")"
	case *ast.MemberExpr:
		return paren(x.X) + "." + x.Name
	case *ast.IndexExpr:
		return paren(x.X) + "[" + paren(x.Index) + "]"
	case *ast.CallExpr:
		return paren(x.Fun) + "(" + argList(x.Args) + ")"
	case *ast.ArrayLit:
		args := make([]ast.Arg, len(x.Elems))
		for i, e := range x.Elems {
			args[i].Value = e
		}
		return "[" + argList(args) + "]"
	}
	return fmt.Sprintf("?%T", x)
}

func optional(x ast.Expr) string {
	if x == nil {
		return ""
	}
	return paren(x)
}

func paramList(ps []*ast.Param) string {
	var out []string
	for _, p := range ps {
		s := p.Name
		if p.Default != nil {
			s += " = " + paren(p.Default)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func argList(args []ast.Arg) string {
	var out []string
	for _, a := range args {
		s := paren(a.Value)
		if a.Label != "" {
			s = a.Label + ": " + s
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestExpressions(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"a + b * c - d", "((a + (b * c)) - d)"},
		{"a or b and c == d < e + f * -g", "(a or (b and (c == (d < (e + (f * (- g)))))))"},
		{"a * b + c < d == e and f or g", "((((((a * b) + c) < d) == e) and f) or g)"},
		{"not a == b", "((not a) == b)"},
		{"not not -a.b", "(not (not (- a.b)))"},
		{"a < b < c == d != e", "((((a < b) < c) == d) != e)"},
		{"a <= b >= c > d", "(((a <= b) >= c) > d)"},
		{"a / b % c * d", "(((a / b) % c) * d)"},
		{"(a + b) * c", "((a + b) * c)"},
		{"a = b = c + d", "(a = (b = (c + d)))"},
		{"(a) = 1", "(a = 1)"},
		{"(a[0]) = b or c", "(a[0] = (b or c))"},
		{"a[b = 1][c] = d", "(a[(b = 1)][c] = d)"},
		{"f(a)(b, c: d, e: f = g).h[i]", "f(a)(b, c: d, e: (f = g)).h[i]"},
		{"f()", "f()"},
		{"[]", "[]"},
		{"[a, [b], (c)]", "[a, [b], c]"},
		{"-a * b", "((- a) * b)"},
		{"a - -b", "(a - (- b))"},
		{"true and false or nil", "((true and false) or nil)"},
		{`"a\n" + """b"""`, `("a\n" + "b")`},
		{"007 + 9223372036854775807 + 9223372036854775808", "((7 + 9223372036854775807) + 9223372036854775808)"},
		{"1.50 + 00.5 + ١٢ + ١.٥", "(((1.5 + 0.5) + 12) + 1.5)"},
		{"rollback + compensate", "(rollback + compensate)"},
		{"(\na\n+\nb)", "(a + b)"},
	} {
		f := parse(t, c.src)
		if got := paren(f.Body[0].(*ast.ExprStmt).X); got != c.want {
			t.Errorf("%s: got %s, want %s", c.src, got, c.want)
		}
	}
}

func TestHugeFloat(t *testing.T) {
	x := parse(t, strings.Repeat("9", 400)+".5").Body[0].(*ast.ExprStmt).X
	if got := paren(x); got != "+Inf" {
		t.Errorf("got %s", got)
	}
}

// TestStatements compares dumps, which leave out the places.
func TestStatements(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"x: Array<Array<Int>, B> = 1", `VarDecl{Name: "x", Type: TypeExpr{Name: "Array", Args: [TypeExpr{Name: "Array", Args: [TypeExpr{Name: "Int"}]}, ` +
			`TypeExpr{Name: "B"}]}, Value: IntLit{Value: 1}}`},
		{"local x = 1", `VarDecl{Name: "x", Local: true, Value: IntLit{Value: 1}}`},
		{"local x: T = 1", `VarDecl{Name: "x", Local: true, Type: TypeExpr{Name: "T"}, Value: IntLit{Value: 1}}`},
		{"return", `ReturnStmt{}`},
		{"return x", `ReturnStmt{Value: Ident{Name: "x"}}`},
		{"break", `BreakStmt{}`},
		{"continue", `ContinueStmt{}`},
		{"memory m", `MemoryDecl{Name: "m"}`},
		{`memory m: ""`, `MemoryDecl{Name: "m", HasText: true}`},
		{`persistent memory m: "a\"b"`, `MemoryDecl{Persistent: true, Name: "m", Text: "a\"b", HasText: true}`},
		{"model m = f(1)", `ModelDecl{Name: "m", Value: CallExpr{Fun: Ident{Name: "f"}, Args: [Arg{Value: IntLit{Value: 1}}]}}`},
		{"set delegation = x", `SetStmt{Name: "delegation", Value: Ident{Name: "x"}}`},
		{"policy: deny a.def.b", `PolicyStmt{Rules: [PolicyRule{Capability: Capability{Name: "a.def.b"}}]}`},
		{"policy:\n  allow a\n  deny model", `PolicyStmt{Rules: [PolicyRule{Allow: true, Capability: Capability{Name: "a"}}, ` +
			`PolicyRule{Capability: Capability{Name: "model"}}]}`},
		{`import "./a\\b.sns" as c`, `ImportStmt{Path: "./a\\b.sns", Alias: "c"}`},
		{"import a.b.c", `ImportStmt{Path: "a.b.c", Dotted: true}`},
		{"import python os.path as p", `ImportStmt{Python: true, Path: "os.path", Dotted: true, Alias: "p"}`},
		{`import ""`, `ImportStmt{}`},
		{`from python "m" import a`, `FromStmt{Python: true, Path: "m", Names: [ImportName{Name: "a"}]}`},
		{"from a.b import c, d as e", `FromStmt{Path: "a.b", Dotted: true, Names: [ImportName{Name: "c"}, ImportName{Name: "d", Alias: "e"}]}`},
		{"reversible action a(): b\nrollback: c", `ActionDecl{Reversible: true, Name: "a", ` + blockOf("Body", "b") + ", " + blockOf("Rollback", "c") + `}`},
		{"irreversible action a(x: T) requires c.d, approval: b", `ActionDecl{Name: "a", Params: [Param{Name: "x", Type: TypeExpr{Name: "T"}}], ` +
			`Approval: true, Requires: [Capability{Name: "c.d"}], ` + blockOf("Body", "b") + `}`},
		{"async agent a: b", `AgentDecl{Async: true, Name: "a", ` + blockOf("Body", "b") + `}`},
		{`async tool t(x, y) returns Int requires c "d": b`, `ToolDecl{Async: true, Name: "t", Params: [Param{Name: "x"}, Param{Name: "y"}], ` +
			`Result: TypeExpr{Name: "Int"}, Requires: [Capability{Name: "c"}], Desc: "d", HasDesc: true, ` + blockOf("Body", "b") + `}`},
		{`tool t() "": b`, `ToolDecl{Name: "t", HasDesc: true, ` + blockOf("Body", "b") + `}`},
		{`test "d": b`, `TestDecl{Desc: "d", ` + blockOf("Body", "b") + `}`},
		{"session s: b", `SessionDecl{Name: "s", ` + blockOf("Body", "b") + `}`},
		{"def f(x) -> T:\n  b\n  c", `FuncDecl{Name: "f", Params: [Param{Name: "x"}], Result: TypeExpr{Name: "T"}, ` + blockOf("Body", "b", "c") + `}`},
		{"while a: b", `WhileStmt{Cond: Ident{Name: "a"}, ` + blockOf("Body", "b") + `}`},
		{"for x in y: b", `ForStmt{Vars: [Ident{Name: "x"}], Iter: Ident{Name: "y"}, ` + blockOf("Body", "b") + `}`},
		{"if a: b\nelse if c:\n  d\nelse: e", `IfStmt{Arms: [IfArm{Cond: Ident{Name: "a"}, ` + blockOf("Body", "b") + `}, IfArm{Cond: Ident{Name: "c"}, ` +
			blockOf("Body", "d") + `}], ` + blockOf("Else", "e") + `}`},
		{"irreversible action a(): b\nrollback = 1", `ActionDecl{Name: "a", ` + blockOf("Body", "b") + `}`},
	} {
		if got := oneLine(ast.Dump(parse(t, c.src).Body[0])); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

func blockOf(field string, names ...string) string {
	s := field + ": Block{Stmts: ["
	for _, n := range names {
		s += ` ExprStmt{X: Ident{Name: "` + n + `"}}`
	}
	return s + " ]}"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestEmptyPrograms(t *testing.T) {
	for _, src := range []string{"", "\n", "# c", "\ufeff", "#!x\n"} {
		f, err := Parse("n.sns", src)
		if err != nil || len(f.Body) != 0 || f.Name != "n.sns" {
			t.Errorf("%q: %v, %v", src, f, err)
		}
	}
}

func TestDocstrings(t *testing.T) {
	for _, c := range []struct {
		body, doc string
		has       bool
	}{
		{` "one"`, "one", true},
		{"\n  \"\"\"  two\n      words\n    \n    more\n\n  \"\"\"\n  x", "two\n  words\n\nmore", true},
		{"\n  \"\"\"\n\n  a\n\tb\"\"\"", "a\n      b", true},
		{` ""`, "", true},
		{"\n  x\n  \"not first\"", "", false},
		{` "a" + "b"`, "", false},
		{"\n  (\"a\")", "a", true},
		{" return", "", false},
	} {
		for _, head := range []string{"def f():", "agent f:", "tool f():", "irreversible action f():", "session f:", `test "f":`} {
			b := bodyOf(parse(t, head+c.body).Body[0])
			if b.Doc != c.doc || b.HasDoc != c.has {
				t.Errorf("%s%s: doc %q %v, want %q %v", head, c.body, b.Doc, b.HasDoc, c.doc, c.has)
			}
		}
	}
	if b := parse(t, `if a: "x"`).Body[0].(*ast.IfStmt).Arms[0].Body; b.HasDoc {
		t.Error("the branch of an if has a docstring")
	}
}

func bodyOf(s ast.Stmt) *ast.Block {
	var first *ast.Block
	ast.Walk(s, func(n ast.Node) bool {
		if b, ok := n.(*ast.Block); ok && first == nil {
			first = b
		}
		return first == nil
	})
	return first
}

func TestPlaces(t *testing.T) {
	f := parse(t, `def fn(a, b: Int) -> X:
    y = (a + b) * f(a, k: 1)[2].m
tool t() requires a.b: return 1
async agent g: x
irreversible action act() requires approval, c: x
from "m" import n, o as p
local q: R = 1
policy:
    allow s
`)
	want := `File@1:1|FuncDecl@1:1 name1:5|Param@1:8|Param@1:11|TypeExpr@1:14|TypeExpr@1:22|Block@1:23|ExprStmt@2:5|AssignExpr@2:5 op2:7|` +
		`Ident@2:5|BinaryExpr@2:10 op2:17|BinaryExpr@2:10 op2:12|Ident@2:10|Ident@2:14|MemberExpr@2:19 name2:33|IndexExpr@2:19 [2:29|` +
		`CallExpr@2:19 (2:20 label2:24|Ident@2:19|Ident@2:21|IntLit@2:27|IntLit@2:30|ToolDecl@3:1|Capability@3:19|Block@3:22|ReturnStmt@3:24|` +
		`IntLit@3:31|AgentDecl@4:1 name4:13|Block@4:14|ExprStmt@4:16|Ident@4:16|ActionDecl@5:1 name5:21|Capability@5:46|Block@5:47|ExprStmt@5:49|` +
		`Ident@5:49|FromStmt@6:1 path6:6|ImportName@6:17|ImportName@6:20|VarDecl@7:1 name7:7|TypeExpr@7:10|IntLit@7:14|PolicyStmt@8:1|` +
		`PolicyRule@9:5|Capability@9:11`
	if g := walked(f); g != want {
		t.Errorf("\n got %s\nwant %s", g, want)
	}
}

// walked lists the nodes of a tree in the order of Walk, with all their places.
func walked(f *ast.File) string {
	var got []string
	ast.Walk(f, func(n ast.Node) bool {
		s := strings.TrimPrefix(fmt.Sprintf("%T", n), "*ast.") + "@" + n.Pos().String()
		switch n := n.(type) {
		case *ast.BinaryExpr:
			s += " op" + n.OpPos.String()
		case *ast.AssignExpr:
			s += " op" + n.OpPos.String()
		case *ast.CallExpr:
			s += " (" + n.Lparen.String() + " label" + n.Args[1].LabelPos.String()
		case *ast.IndexExpr:
			s += " [" + n.Lbrack.String()
		case *ast.MemberExpr:
			s += " name" + n.NamePos.String()
		case *ast.FuncDecl:
			s += " name" + n.NamePos.String()
		case *ast.ActionDecl:
			s += " name" + n.NamePos.String()
		case *ast.AgentDecl:
			s += " name" + n.NamePos.String()
		case *ast.VarDecl:
			s += " name" + n.NamePos.String()
		case *ast.SliceExpr:
			s += " [" + n.Lbrack.String()
		case *ast.PolicyStmt:
			if n.DefaultPos.IsValid() {
				s += " default" + n.DefaultPos.String()
			}
		case *ast.FromStmt:
			s += " path" + n.PathPos.String()
		}
		got = append(got, s)
		return true
	})
	return strings.Join(got, "|")
}
