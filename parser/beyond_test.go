package parser

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

func TestNewExpressions(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`x = {}`, `(x = {})`},
		{`{"a": 1, 'b': {"c": [2,],},}`, `{"a": 1, "b": {"c": [2]}}`},
		{`x = {a: b, f(c): d = e, "k" + 1: lambda y: y}`, `(x = {a: b, f(c): (d = e), ("k" + 1): (lambda y: y)})`},
		{"a[1:2]", "a[1:2]"}, {"a[:b]", "a[:b]"}, {"a[b:]", "a[b:]"}, {"a[:]", "a[:]"}, {"a[b + 1:c][d]", "a[(b + 1):c][d]"}, {"a[-1:]", "a[(- 1):]"},
		{"a[b = 1:c = 2]", "a[(b = 1):(c = 2)]"}, {"a[lambda:lambda]", "a[lambda:lambda]"},
		{"a in b + c", "(a in (b + c))"}, {"a + b in c", "((a + b) in c)"}, {"a in b in c", "((a in b) in c)"}, {"a not in b", "(a not in b)"},
		{"a < b in c == d", "(((a < b) in c) == d)"}, {"a == b in c", "(a == (b in c))"}, {"a in b and c not in d", "((a in b) and (c not in d))"},
		{"not a in b", "(not (a in b))"}, {"not a not in b", "(not (a not in b))"}, {"not a == b", "((not a) == b)"}, {"not a in b == c", "((not (a in b)) == c)"},
		{"not a + b in c", "(((not a) + b) in c)"}, {"not -a in b", "(not ((- a) in b))"}, {"not not a in b", "(not (not (a in b)))"},
		{"not a in b in c", "(not ((a in b) in c))"}, {"not a in b + c and d", "((not (a in (b + c))) and d)"}, {"-not a in b", "(- (not (a in b)))"},
		{"x * not a in b", "(x * (not (a in b)))"}, {"(not a) in b", "((not a) in b)"}, {"not (a) in b", "(not (a in b))"},
		{"a // b * c % d", "(((a // b) * c) % d)"}, {"a + b // c", "(a + (b // c))"},
		{"a ** b ** c", "(a ** (b ** c))"}, {"-2 ** 2", "(- (2 ** 2))"}, {"2 ** -1", "(2 ** (- 1))"}, {"a * b ** c * d", "((a * (b ** c)) * d)"},
		{"not a ** b", "(not (a ** b))"}, {"a.b ** c[0]", "(a.b ** c[0])"}, {"-a ** -b ** c", "(- (a ** (- (b ** c))))"}, {"(a ** b) ** c", "((a ** b) ** c)"},
		{"a += b", "(a += b)"}, {"a[0] -= b = c", "(a[0] -= (b = c))"}, {"a *= b if c else d", "(a *= (b if c else d))"}, {"a /= b", "(a /= b)"}, {"a %= b", "(a %= b)"},
		{"a += inference(1)", "(a += inference(1))"},
		{"a if b else c", "(a if b else c)"}, {"a if b else c if d else e", "(a if b else (c if d else e))"}, {"(a if b else c) if d else e", "((a if b else c) if d else e)"},
		{"a or b if c or d else e or f", "((a or b) if (c or d) else (e or f))"}, {"x = a if b else c", "(x = (a if b else c))"}, {"a if b else lambda x: x", "(a if b else (lambda x: x))"},
		{"f(a if b else c, k: d if e else g)", "f((a if b else c), k: (d if e else g))"}, {"[a\nif b\nelse c]", "[(a if b else c)]"},
		{"lambda x: x + 1", "(lambda x: (x + 1))"}, {"f = lambda x, y = 2: x", "(f = (lambda x, y = 2: x))"}, {"f(lambda (): 3)", "f((lambda : 3))"},
		{"f(lambda(): 3)", "f((lambda : 3))"}, {"x = lambda a: lambda b: a", "(x = (lambda a: (lambda b: a)))"}, {"lambda x: y = x", "(lambda x: (y = x))"},
		{"lambda x: x if x else 0", "(lambda x: (x if x else 0))"}, {"lambda x = lambda y: y: x", "(lambda x = (lambda y: y): x)"}, {"f(lambda: 3)", "f(lambda: 3)"},
		{"lambda()", "lambda()"}, {"x = lambda", "(x = lambda)"}, {"lambda + 1", "(lambda + 1)"}, {"{lambda: 1}[lambda]", ""}, {"x = [lambda x: x, lambda y: y]", "(x = [(lambda x: x), (lambda y: y)])"},
		{"f(returns: 1, model: 2, not: 3, lambda: 4)", "f(returns: 1, model: 2, not: 3, lambda: 4)"}, {"a.model.returns.if.not", "a.model.returns.if.not"},
		{"f(a, b,)", "f(a, b)"}, {"f(a: 1,)", "f(a: 1)"}, {"[a,]", "[a]"}, {"a.in in b", "(a.in in b)"},
		{`f"a"`, `f("a")`}, {`f""`, `f()`}, {`f"{a}"`, `f({a|})`}, {`f"x{a:.2f}y{b:>10}{c:,}"`, `f("x"{a|.2f}"y"{b|>10}{c|,})`},
		{`f"{{{a}}}"`, `f("{"{a|}"}")`}, {`f"{d["k"]}"`, `f({d["k"]|})`}, {`f'{f"{a}"}'`, `f({f({a|})|})`}, {`f"\n{a + "\n"}"`, `f("\n"{(a + "\n")|})`},
		{`f"{a if b else c}"`, `f({(a if b else c)|})`}, {`f"{ {"a": 1}["a"] }"`, `f({{"a": 1}["a"]|})`}, {`f"{a[1:2]:>3}"`, `f({a[1:2]|>3})`}, {`f"{a = 1}"`, `f({(a = 1)|})`},
		{`f"{(lambda x: x)(1)}"`, `f({(lambda x: x)(1)|})`}, {`f"{f(lambda x: x)}"`, `f({f((lambda x: x))|})`}, {`f"{a:}"`, `f({a|})`}, {"f\"\"\"a\n{b}\"\"\"", `f("a\n"{b|})`},
		{`f"a" + f'b'`, `(f("a") + f("b"))`}, {`f"{a}".upper()`, `f({a|}).upper()`}, {`f"{a != b}"`, `f({(a != b)|})`},
		{`'it\'s' + "x"`, `("it's" + "x")`},
		{"0xff + 0XFF + 0xffffffffffffffffff + 1_000 + 0x7fff_ffff_ffff_ffff", "((((255 + 255) + 4722366482869645213695) + 1000) + 9223372036854775807)"},
		{"1e3 + 1E-2 + 1_0.5e+1 + 1e400", "(((1000 + 0.01) + 105) + +Inf)"},
	} {
		if c.want == "" {
			if _, err := Parse("", c.src); err == nil {
				t.Errorf("%s: no error", c.src)
			}
			continue
		}
		f := parse(t, c.src)
		if got := paren(f.Body[0].(*ast.ExprStmt).X); got != c.want {
			t.Errorf("%s: got %s, want %s", c.src, got, c.want)
		}
	}
}

// newStatements pairs statements with their dumps.
var newStatements = []struct{ src, want string }{
	{"pass", "PassStmt{}"},
	{"raise e", `RaiseStmt{Value: Ident{Name: "e"}}`},
	{`raise "no"`, `RaiseStmt{Value: StringLit{Value: "no"}}`},
	{`raise f"{e}"`, `RaiseStmt{Value: FString{Parts: [FPart{X: Ident{Name: "e"}}]}}`},
	{"raise not e", `RaiseStmt{Value: UnaryExpr{Op: "not", X: Ident{Name: "e"}}}`},
	{"raise (e)", `RaiseStmt{Value: Ident{Name: "e"}}`},
	{"raise(e)", `RaiseStmt{Value: Ident{Name: "e"}}`},
	{"raise", `ExprStmt{X: Ident{Name: "raise"}}`},
	{"raise - 1", `ExprStmt{X: BinaryExpr{Op: "-", X: Ident{Name: "raise"}, Y: IntLit{Value: 1}}}`},
	{"raise not in e", `ExprStmt{X: BinaryExpr{Op: "not in", X: Ident{Name: "raise"}, Y: Ident{Name: "e"}}}`},
	{"raise (e)\nx = raise", `ExprStmt{X: CallExpr{Fun: Ident{Name: "raise"}, Args: [Arg{Value: Ident{Name: "e"}}]}}`},
	{"a, b = c", `DestructStmt{Targets: [Ident{Name: "a"} Ident{Name: "b"}], Values: [Ident{Name: "c"}]}`},
	{"a[0], b = b, c if d else e", `DestructStmt{Targets: [IndexExpr{X: Ident{Name: "a"}, Index: IntLit{}} Ident{Name: "b"}], Values: [Ident{Name: "b"} ` +
		`CondExpr{Then: Ident{Name: "c"}, Cond: Ident{Name: "d"}, Else: Ident{Name: "e"}}]}`},
	{"for k, v in m: b", `ForStmt{Vars: [Ident{Name: "k"} Ident{Name: "v"}], Iter: Ident{Name: "m"}, ` + blockOf("Body", "b") + `}`},
	{"try:\n  a\ncatch e: b", `TryStmt{` + blockOf("Body", "a") + `, Catches: [CatchClause{Name: "e", ` + blockOf("Body", "b") + `}]}`},
	{"try:\n  a\n\n# c\ncatch e if g(e):\n  b\ncatch f:\n  c\nfinally:\n  d", `TryStmt{` + blockOf("Body", "a") + `, Catches: [CatchClause{Name: "e", ` +
		`Guard: CallExpr{Fun: Ident{Name: "g"}, Args: [Arg{Value: Ident{Name: "e"}}]}, ` + blockOf("Body", "b") + `} CatchClause{Name: "f", ` +
		blockOf("Body", "c") + `}], ` + blockOf("Finally", "d") + `}`},
	{"try:\n  a\nfinally:\n  b", `TryStmt{` + blockOf("Body", "a") + `, ` + blockOf("Finally", "b") + `}`},
	{"transaction:\n  a", `TransactionStmt{` + blockOf("Body", "a") + `}`},
	{"if a: b\nelif c: d\nelse: e", `IfStmt{Arms: [IfArm{Cond: Ident{Name: "a"}, ` + blockOf("Body", "b") + `} IfArm{Cond: Ident{Name: "c"}, ` +
		blockOf("Body", "d") + `}], ` + blockOf("Else", "e") + `}`},
	{"if a: b\nelif (c): d", `IfStmt{Arms: [IfArm{Cond: Ident{Name: "a"}, ` + blockOf("Body", "b") + `} IfArm{Cond: Ident{Name: "c"}, ` + blockOf("Body", "d") + `}]}`},
	{"if a: b\nelif -1: d\nelif [1]: e\nelif not x: f", `IfStmt{Arms: [IfArm{Cond: Ident{Name: "a"}, ` + blockOf("Body", "b") +
		`} IfArm{Cond: UnaryExpr{Op: "-", X: IntLit{Value: 1}}, ` + blockOf("Body", "d") + `} IfArm{Cond: ArrayLit{Elems: [IntLit{Value: 1}]}, ` +
		blockOf("Body", "e") + `} IfArm{Cond: UnaryExpr{Op: "not", X: Ident{Name: "x"}}, ` + blockOf("Body", "f") + `}]}`},
	{"if lambda (): b", `IfStmt{Arms: [IfArm{Cond: CallExpr{Fun: Ident{Name: "lambda"}}, ` + blockOf("Body", "b") + `}]}`},
	{"if f(lambda (): 3): b", `IfStmt{Arms: [IfArm{Cond: CallExpr{Fun: Ident{Name: "f"}, Args: [Arg{Value: Lambda{Body: IntLit{Value: 3}}}]}, ` + blockOf("Body", "b") + `}]}`},
	{"for f in lambda x: x: b", `ForStmt{Vars: [Ident{Name: "f"}], Iter: Lambda{Params: [Param{Name: "x"}], Body: Ident{Name: "x"}}, ` + blockOf("Body", "b") + `}`},
	{"def f(a, b: Int = 2, c = x,): b", `FuncDecl{Name: "f", Params: [Param{Name: "a"} Param{Name: "b", Type: TypeExpr{Name: "Int"}, Default: IntLit{Value: 2}} ` +
		`Param{Name: "c", Default: Ident{Name: "x"}}], ` + blockOf("Body", "b") + `}`},
	{"def f(a = {\"k\": lambda x: [x]}): b", `FuncDecl{Name: "f", Params: [Param{Name: "a", Default: MapLit{Entries: [MapEntry{Key: StringLit{Value: "k"}, ` +
		`Value: Lambda{Params: [Param{Name: "x"}], Body: ArrayLit{Elems: [Ident{Name: "x"}]}}}]}}], ` + blockOf("Body", "b") + `}`},
	{`tool t(a = f"{b}") requires c, d."e-f" 'g': b`, `ToolDecl{Name: "t", Params: [Param{Name: "a", Default: FString{Parts: [FPart{X: Ident{Name: "b"}}]}}], ` +
		`Requires: [Capability{Name: "c"} Capability{Name: "d.\"e-f\""}], Desc: "g", HasDesc: true, ` + blockOf("Body", "b") + `}`},
	{`tool t() returns f"d": b`, `ToolDecl{Name: "t", Result: TypeExpr{Name: "f"}, Desc: "d", HasDesc: true, ` + blockOf("Body", "b") + `}`},
	{`tool t() requires a, f"d": b`, `ToolDecl{Name: "t", Requires: [Capability{Name: "a"} Capability{Name: "f"}], Desc: "d", HasDesc: true, ` + blockOf("Body", "b") + `}`},
	{"irreversible action a(x = 1) requires approval, b, c.d: b", `ActionDecl{Name: "a", Params: [Param{Name: "x", Default: IntLit{Value: 1}}], Approval: true, ` +
		`Requires: [Capability{Name: "b"} Capability{Name: "c.d"}], ` + blockOf("Body", "b") + `}`},
	{"policy: default deny", `PolicyStmt{Default: "deny"}`},
	{"policy: allow default", `PolicyStmt{Rules: [PolicyRule{Allow: true, Capability: Capability{Name: "default"}}]}`},
	{"policy:\n  allow a\n  default deny\n  deny b.*", `PolicyStmt{Rules: [PolicyRule{Allow: true, Capability: Capability{Name: "a"}} ` +
		`PolicyRule{Capability: Capability{Name: "b.*"}}], Default: "deny"}`},
	{`policy: deny *.a."b c".model.delete_*2`, `PolicyStmt{Rules: [PolicyRule{Capability: Capability{Name: "*.a.\"b c\".model.delete_*2"}}]}`},
	{`policy: deny a."b".'c"d'."127.0.0.1"`, `PolicyStmt{Rules: [PolicyRule{Capability: Capability{Name: "a.b.\"c\\\"d\".\"127.0.0.1\""}}]}`},
	{"policy: deny *", `PolicyStmt{Rules: [PolicyRule{Capability: Capability{Name: "*"}}]}`},
	{`set budget = {"a": lambda x: 1}`, `SetStmt{Name: "budget", Value: MapLit{Entries: [MapEntry{Key: StringLit{Value: "a"}, Value: Lambda{Params: [Param{Name: "x"}], ` +
		`Body: IntLit{Value: 1}}}]}}`},
	{"model m = lambda x: x", `ModelDecl{Name: "m", Value: Lambda{Params: [Param{Name: "x"}], Body: Ident{Name: "x"}}}`},
	{`test 'd': b`, `TestDecl{Desc: "d", ` + blockOf("Body", "b") + `}`},
	{`import './a.sns' as b`, `ImportStmt{Path: "./a.sns", Alias: "b"}`},
	{`if a: {"k": b}`, `IfStmt{Arms: [IfArm{Cond: Ident{Name: "a"}, Body: Block{Stmts: [ ExprStmt{X: MapLit{Entries: [MapEntry{Key: StringLit{Value: "k"}, ` +
		`Value: Ident{Name: "b"}}]}} ]}}]}`},
	{"try: Int = 3", `VarDecl{Name: "try", Type: TypeExpr{Name: "Int"}, Value: IntLit{Value: 3}}`},
}

func TestNewStatements(t *testing.T) {
	for _, c := range newStatements {
		// Statements of a block stand on lines of their own, other lists have commas.
		want := strings.ReplaceAll(c.want, "} ", "}, ")
		want = strings.ReplaceAll(want, "}, ]", "} ]")
		if got := oneLine(ast.Dump(parse(t, c.src).Body[0])); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.src, got, want)
		}
	}
}

var newRefusals = []struct{ src, want string }{
	{"x = {\n", "[line 2] unexpected token NEWLINE ''"},
	{"x = {\"a\"}\n", "[line 1] expected ':' after the key of a map (got RBRACE '}')"},
	{"x = {\"a\": }\n", "[line 1] unexpected token RBRACE '}'"},
	{"x = {\"a\": 1 \"b\": 2}\n", "[line 1] expected '}' after the map entries (got STRING '\"b\"')"},
	{"x = {\"a\": 1,,}\n", "[line 1] unexpected token COMMA ','"},
	{"x = {,}\n", "[line 1] unexpected token COMMA ','"},
	{"x = {\"a\": 1\ny = 2\n", "[line 2] expected '}' after the map entries (got IDENT 'y')"},
	{"x = {\"a\": [1}\n", "[line 1] expected ']' after the array elements (got RBRACE '}')"},
	{"x = {\"a\": 1]\n", "[line 1] expected '}' after the map entries (got RBRACKET ']')"},
	{"{\"a\": 1} = 2\n", "[line 1] invalid assignment target"},
	{"if x: {print(1)}\n", "[line 1] Sense uses indentation for blocks, not '{ }' — write ':' then an indented block instead"},
	{"for f in lambda x: {x: 1}: {y}\n", "[line 1] Sense uses indentation for blocks, not '{ }' — write ':' then an indented block instead"},
	{"a[1:2] = 3\n", "[line 1] invalid assignment target"},
	{"a[1:2:3]\n", "[line 1] a slice has a beginning and an end, no step (got COLON ':')"},
	{"a[1:\n", "[line 2] unexpected token NEWLINE ''"},
	{"a[1,2]\n", "[line 1] expected ']' after the index (got COMMA ',')"},
	{"a ** = 1\n", "[line 1] unexpected token EQ '='"},
	{"a + b += 1\n", "[line 1] invalid assignment target"},
	{"a.b += 1\n", "[line 1] invalid assignment target"},
	{"a if b\n", "[line 1] expected 'else' in a conditional expression (got NEWLINE '')"},
	{"f(a if b, c)\n", "[line 1] expected 'else' in a conditional expression (got COMMA ',')"},
	{"a if b else c = 1\n", "[line 1] invalid assignment target"},
	{"a if b else\n", "[line 1] unexpected token NEWLINE ''"},
	{"a in\n", "[line 1] unexpected token NEWLINE ''"},
	{"a not b\n", "[line 1] expected a new line after this statement (got NOT 'not')"},
	{"lambda x, : 1\n", "[line 1] expected a parameter name (got COLON ':')"},
	{"lambda x\n", "[line 1] expected ':' after the parameters of a lambda (got NEWLINE '')"},
	{"x = lambda a = 1, b: a\n", "[line 1] a parameter without a default cannot follow one with a default"},
	{"x = 1 + lambda y: y\n", "[line 1] expected a new line after this statement (got IDENT 'y')"},
	{"lambda (): 3\n", "[line 1] function declarations need 'def' -- e.g. 'def lambda(...) -> Type:'"},
	{"def f(a = 1, b): x\n", "[line 1] a parameter without a default cannot follow one with a default"},
	{"def f(a\n = 1,\n b): x\n", "[line 3] a parameter without a default cannot follow one with a default"},
	{"def f(a =): x\n", "[line 1] unexpected token RPAREN ')'"},
	{"def f(a = 1 b): x\n", "[line 1] expected ')' after the parameters (got IDENT 'b')"},
	{"def f(,): x\n", "[line 1] expected a parameter name (got COMMA ',')"},
	{"def f(a,,): x\n", "[line 1] expected a parameter name (got COMMA ',')"},
	{"def f(a, 5): x\n", "[line 1] expected a parameter name (got INT '5')"},
	{"tool f(a, in): x\n", "[line 1] expected a parameter name (got IN 'in')"},
	{"f(,)\n", "[line 1] unexpected token COMMA ','"},
	{"f(a: 1, b)\n", "[line 1] positional arguments must come before labeled ('name: value') ones"},
	{"a, b\n", "[line 1] expected a new line after this statement (got COMMA ',')"},
	{"1, b = 2\n", "[line 1] expected a new line after this statement (got COMMA ',')"},
	{"a = 1, b = 2\n", "[line 1] expected a new line after this statement (got COMMA ',')"},
	{"a, b + 1 = 2\n", "[line 1] invalid assignment target"},
	{"a, b.c = 2\n", "[line 1] invalid assignment target"},
	{"a, = b\n", "[line 1] unexpected token EQ '='"},
	{"a, b += c\n", "[line 1] expected a new line after this statement (got COMMA ',')"},
	{"a, b: c = d\n", "[line 1] expected '=' after the names to assign (got COLON ':')"},
	{"a, b = c, d = e\n", "[line 1] expected a new line after this statement (got EQ '=')"},
	{"local a, b = c\n", "[line 1] expected '=' in a local declaration (got COMMA ',')"},
	{"for a, in x: y\n", "[line 1] expected a loop variable name after ',' (got IN 'in')"},
	{"for a b in x: y\n", "[line 1] expected 'in' after the loop variable (got IDENT 'b')"},
	{"try:\n", "[line 2] expected an indented block (got EOF '')"},
	{"try:\n  a\nb\n", "[line 3] expected 'catch' or 'finally' after the 'try' block (got IDENT 'b')"},
	{"try:\n  a\n", "[line 3] expected 'catch' or 'finally' after the 'try' block (got EOF '')"},
	{"try:\n  a\ncatch:\n  b\n", "[line 3] expected a name after 'catch' (got COLON ':')"},
	{"try:\n  a\ncatch e as f:\n  b\n", "[line 3] expected ':' to start a block (got AS 'as')"},
	{"try:\n  a\ncatch e:\n  b\ncatch f if g:\n  c\n", "[line 3] a 'catch' without 'if' must be the last one"},
	{"try:\n  a\ncatch e:\n  b\nx = 1\ncatch f:\n  c\n", "[line 6] 'catch' must come directly after the block of a 'try'"},
	{"try:\n  a\nfinally:\n  b\ncatch f:\n  c\n", "[line 5] 'catch' must come directly after the block of a 'try'"},
	{"try:\n  a\nfinally:\n  b\nfinally:\n  c\n", "[line 5] 'finally' must come directly after the block of a 'try'"},
	{"catch e: x\n", "[line 1] 'catch' must come directly after the block of a 'try'"},
	{"try: risky()\n", "[line 1] expected '=' after the type annotation (got LPAREN '(')"},
	{"transaction:\nx\n", "[line 2] expected an indented block (got IDENT 'x')"},
	{"elif x: y\n", "[line 1] 'elif' must come directly after the block of an 'if'"},
	{"if a: b\nelse: c\nelif d: e\n", "[line 3] 'elif' must come directly after the block of an 'if'"},
	{"if a: b\nelif c\n", "[line 2] expected ':' to start a block (got NEWLINE '')"},
	{"while a: b\nelif c: d\n", "[line 2] 'elif' must come directly after the block of an 'if'"},
	{"pass 1\n", "[line 1] expected a new line after this statement (got INT '1')"},
	{"raise e f\n", "[line 1] expected a new line after this statement (got IDENT 'f')"},
	{"x = f\"{a b}\"\n", "[line 1] expected '}' after the expression in an f-string (got IDENT 'b')"},
	{"x = f\"{a +}\"\n", "[line 1] unexpected token RBRACE '}'"},
	{"x = f\"{(a}\"\n", "[line 1] expected ')' after the expression (got RBRACE '}')"},
	{"x = f\"{:>3}\"\n", "[line 1] unexpected token FSPEC ':>3'"},
	{"x = f\"\n\n{a:q}\"\n", "[line 3] unknown format 'q' in an f-string -- use forms like :.2f, :>10 or :,"},
	{"x = f\"{a:>>>}\"\n", "[line 1] unknown format '>>>' in an f-string -- use forms like :.2f, :>10 or :,"},
	{"x = f\"{a:{w}}\"\n", "[line 1] single '}' in an f-string -- write '}}' for a brace"},
	{"x = f\"{a.5}\"\n", "[line 1] expected a property name after '.' (got INT '5')"},
	{"x = \"a\" f\"b{c}\"\n", "[line 1] expected a new line after this statement (got FSTRING 'f\"b{c}\"')"},
	{"test f\"x\": y\n", "[line 1] expected a description string after 'test' (got FSTRING 'f\"x\"')"},
	{"tool t() f\"x\": y\n", "[line 1] expected ':' to start a block (got FSTRING 'f\"x\"')"},
	{"policy: default\n", "[line 1] expected 'deny' after 'default' in a policy rule (got NEWLINE '')"},
	{"policy: default allow\n", "[line 1] expected 'deny' after 'default' in a policy rule (got ALLOW 'allow')"},
	{"policy:\n  default deny\n  default deny\n", "[line 3] 'default' listed twice in a policy"},
	{"policy: default deny x\n", "[line 1] expected a new line after this statement (got IDENT 'x')"},
	{"policy: permit x\n", "[line 1] expected 'allow' or 'deny' in a policy rule"},
	{"policy: deny a.b*.c\n", "[line 1] a '*' inside a segment is possible in the last one only"},
	{"policy: deny a*\n", "[line 1] a '*' inside a segment is for the tools of a connection, after its name"},
	{"policy: deny a.**\n", "[line 1] expected a name after '.' (got STARSTAR '**')"},
	{"policy: deny a.5\n", "[line 1] expected a name after '.' (got INT '5')"},
	{"policy: deny a.b *\n", "[line 1] expected a new line after this statement (got STAR '*')"},
	{"policy: deny \"a\".b\n", "[line 1] expected a capability name (got STRING '\"a\"')"},
	{"policy: deny\n", "[line 1] expected a capability name (got NEWLINE '')"},
	{"tool t() requires a.*: x\n", "[line 1] expected a name after '.' (got STAR '*')"},
	{"tool t() requires a,: x\n", "[line 1] expected a capability name (got COLON ':')"},
	{"tool t() requires a b: x\n", "[line 1] expected ':' to start a block (got IDENT 'b')"},
	{"irreversible action t() requires a,: x\n", "[line 1] expected a capability name or 'approval' after 'requires'"},
	{"irreversible action t() requires a.*: x\n", "[line 1] expected a name after '.' (got STAR '*')"},
}

func TestNewRefusals(t *testing.T) {
	for _, c := range newRefusals {
		_, err := Parse("x.sns", c.src)
		var e *diag.Error
		if !errors.As(err, &e) || e.Error() != c.want || e.Kind != diag.Syntax || e.File != "x.sns" || e.Pos.Col < 1 {
			t.Errorf("%q:\n got %v\nwant %s", c.src, err, c.want)
		}
	}
}

func TestPythonsLambdaWithoutParametersIsHinted(t *testing.T) {
	for src, want := range map[string]bool{
		"x = lambda: 1\n": true, "x = [lambda: 1]\n": true, "x = f(1)(lambda)[lambda: : 2]\n": false, "x = lambda y 1\n": false, "x = y: 1\n": false,
	} {
		_, err := Parse("x.sns", src)
		var e *diag.Error
		if !errors.As(err, &e) || slices.Equal(e.Notes, []string{"a lambda without parameters is written lambda (): ..."}) != want {
			t.Errorf("%q: %v, hints %q", src, err, e.Notes)
		}
	}
}

func TestNewPlaces(t *testing.T) {
	f := parse(t, `x += f"é{a + b:>3}{c}"
if a: b
elif c: d
a, b[0] = {"k": lambda p = 1: p}
try:
    x[1:2] ** y
catch e if not in_it in z:
    raise e
policy:
    default deny
`)
	want := `File@1:1|ExprStmt@1:1|AssignExpr@1:1 op1:3|Ident@1:1|FString@1:6|BinaryExpr@1:10 op1:12|Ident@1:10|Ident@1:14|Ident@1:20|` +
		`IfStmt@2:1|IfArm@2:1|Ident@2:4|Block@2:5|ExprStmt@2:7|Ident@2:7|IfArm@3:1|Ident@3:6|Block@3:7|ExprStmt@3:9|Ident@3:9|` +
		`DestructStmt@4:1|Ident@4:1|IndexExpr@4:4 [4:5|Ident@4:4|IntLit@4:6|MapLit@4:11|StringLit@4:12|Lambda@4:17|Param@4:24|IntLit@4:28|Ident@4:31|` +
		`TryStmt@5:1|Block@5:4|ExprStmt@6:5|BinaryExpr@6:5 op6:12|SliceExpr@6:5 [6:6|Ident@6:5|IntLit@6:7|IntLit@6:9|Ident@6:15|` +
		`CatchClause@7:1|UnaryExpr@7:12|BinaryExpr@7:16 op7:22|Ident@7:16|Ident@7:25|Block@7:26|RaiseStmt@8:5|Ident@8:11|PolicyStmt@9:1 default10:5`
	if g := walked(f); g != want {
		t.Errorf("\n got %s\nwant %s", g, want)
	}
}

func TestNewDeepNesting(t *testing.T) {
	rep := strings.Repeat
	for name, src := range map[string]string{
		"maps":         "x = " + rep(`{"a": `, 100000),
		"keys":         "x = " + rep(`{`, 100000) + "\n",
		"f-strings":    "x = " + rep(`f"{`, 100000) + "1" + rep(`}"`, 100000) + "\n",
		"powers":       "x = 2" + rep(" ** 2", 100000) + "\n",
		"conditionals": "x = 1" + rep(" if a else 1", 100000) + "\n",
		"lambdas":      "x = " + rep("lambda a: ", 100000) + "1\n",
		"defaults":     "x = " + rep("lambda a = ", 100000) + "1\n",
		"slices":       rep("a[:", 100000) + "\n",
		"augmented":    rep("a += ", 100000) + "1\n",
		"not in":       "x = " + rep("not a in ", 100000) + "b\n",
		"raises":       rep("if a: ", 100000) + "raise e\n",
	} {
		_, err := Parse("", src)
		if err == nil || !strings.HasSuffix(err.Error(), "nested too deeply") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, src := range map[string]string{
		"in":       "x = a" + rep(" in a", 100000) + "\n",
		"not x in": "x = not a" + rep(" in a", 100000) + "\n",
		"elifs":    "if a: b\n" + rep("elif a: b\n", 10000),
		"catches":  "try:\n  a\n" + rep("catch e if e: b\n", 10000),
		"targets":  rep("a, ", 10000) + "a = b\n",
		"entries":  "x = {" + rep(`"a": 1, `, 100000) + "}\n",
		"fields":   `x = f"` + rep("{a}", 100000) + "\"\n",
		"maps":     "x = " + rep(`{"a": `, 400) + "1" + rep("}", 400) + "\n",
	} {
		if _, err := Parse("", src); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
