package lexer

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense/diag"
)

const guard = "Sense uses indentation for blocks, not '{ }' — write ':' then an indented block instead"

func TestNewTokens(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"2e5 0xff 1_0", "FLOAT:2e5 INT:0xff INT:1_0"},
		{"1E+9 1.5e-7 ١e٢ 1_0.2_5e1_0 1_٢", "FLOAT:1E+9 FLOAT:1.5e-7 FLOAT:١e٢ FLOAT:1_0.2_5e1_0 INT:1_٢"},
		{"2e 2e+ 2ex 1or 1else", "INT:2 IDENT:e INT:2 IDENT:e PLUS:+ INT:2 IDENT:ex INT:1 OR INT:1 ELSE"},
		{"1_ 1__0 1_a _1 1.2_ 1._2", "INT:1 IDENT:_ INT:1 IDENT:__0 INT:1 IDENT:_a IDENT:_1 FLOAT:1.2 IDENT:_ INT:1 DOT:. IDENT:_2"},
		{"0x 0xg 0XaF_0 0x_1 0xf__f 00x1 0x1.5", "INT:0 IDENT:x INT:0 IDENT:xg INT:0XaF_0 INT:0 IDENT:x_1 INT:0xf IDENT:__f INT:00 IDENT:x1 " +
			"INT:0x1 DOT:. INT:5"},
		{"a+=b -=c*=d/=e%=f//g**h", "IDENT:a PLUSEQ:+= IDENT:b MINUSEQ:-= IDENT:c STAREQ:*= IDENT:d SLASHEQ:/= IDENT:e PERCENTEQ:%= IDENT:f " +
			"SLASHSLASH:// IDENT:g STARSTAR:** IDENT:h"},
		{"a-->b ***", "IDENT:a MINUS:- ARROW:-> IDENT:b STARSTAR:** STAR:*"},
		{`x = {"a": {}}`, `IDENT:x EQ:= LBRACE:{ STRING:"a" COLON:: LBRACE:{ RBRACE:} RBRACE:}`},
		{"x = {\n \"a\"\n:\n1}\ny", `IDENT:x EQ:= LBRACE:{ STRING:"a" COLON:: INT:1 RBRACE:} NEWLINE IDENT:y`},
		{`'a' '' '\'' '"' '\\'`, `STRING:'a' STRING:'' STRING:'\'' STRING:'"' STRING:'\\'`},
		{`'''a'b''c"""\'''' """'''"""`, `STRING:'''a'b''c"""\'''' STRING:"""'''"""`},
		{"'a\nb' c", "STRING:'a\nb' IDENT:c"},
		{`f"a"`, `FSTRING:f"a" FTEXT:a FEND:"`},
		{`f"" f'' + f""""""`, `FSTRING:f"" FEND:" FSTRING:f'' FEND:' PLUS:+ FSTRING:f"""""" FEND:"""`},
		{`f"a{x}b{y:>3}"`, `FSTRING:f"a{x}b{y:>3}" FTEXT:a LBRACE:{ IDENT:x RBRACE:} FTEXT:b LBRACE:{ IDENT:y FSPEC::>3 RBRACE:} FEND:"`},
		{`f"{{a}}\{\}}}"`, `FSTRING:f"{{a}}\{\}}}" FTEXT:{{a}}\{\}}} FEND:"`},
		{`f"{d["k"]}" "x"`, `FSTRING:f"{d["k"]}" LBRACE:{ IDENT:d LBRACKET:[ STRING:"k" RBRACKET:] RBRACE:} FEND:" STRING:"x"`},
		{`f"{f"{f"{x}"}"}"`, `FSTRING:f"{f"{f"{x}"}"}" LBRACE:{ FSTRING:f"{f"{x}"}" LBRACE:{ FSTRING:f"{x}" LBRACE:{ IDENT:x RBRACE:} FEND:" ` +
			`RBRACE:} FEND:" RBRACE:} FEND:"`},
		{`f"{ {"a": 1}["a"] }"`, `FSTRING:f"{ {"a": 1}["a"] }" LBRACE:{ LBRACE:{ STRING:"a" COLON:: INT:1 RBRACE:} LBRACKET:[ STRING:"a" RBRACKET:] ` +
			`RBRACE:} FEND:"`},
		{`f"{x[1:2]:,}"`, `FSTRING:f"{x[1:2]:,}" LBRACE:{ IDENT:x LBRACKET:[ INT:1 COLON:: INT:2 RBRACKET:] FSPEC::, RBRACE:} FEND:"`},
		{"f\"a\n{\nx\n}\" y", "FSTRING:f\"a\n{\nx\n}\" FTEXT:a\n LBRACE:{ IDENT:x RBRACE:} FEND:\" IDENT:y"},
		{`f "a" F"b" elf"c" ff'd' f`, `IDENT:f STRING:"a" IDENT:F STRING:"b" IDENT:elf STRING:"c" IDENT:ff STRING:'d' IDENT:f`},
		{`tool t() returns f"d": f"x"`, `TOOL IDENT:t LPAREN:( RPAREN:) RETURNS IDENT:f STRING:"d" COLON:: FSTRING:f"x" FTEXT:x FEND:"`},
		{`tool t() requires a, b.f"d": f"x"`, `TOOL IDENT:t LPAREN:( RPAREN:) REQUIRES IDENT:a COMMA:, IDENT:b DOT:. IDENT:f STRING:"d" COLON:: ` +
			`FSTRING:f"x" FTEXT:x FEND:"`},
		{`g(returns: f"x", f"y")`, `IDENT:g LPAREN:( RETURNS COLON:: FSTRING:f"x" FTEXT:x FEND:" COMMA:, FSTRING:f"y" FTEXT:y FEND:" RPAREN:)`},
		{`x.returns == f"a"`, `IDENT:x DOT:. RETURNS EQEQ:== FSTRING:f"a" FTEXT:a FEND:"`},
		{"policy: allow returns\nf'a'", "POLICY COLON:: ALLOW RETURNS NEWLINE FSTRING:f'a' FTEXT:a FEND:'"},
	} {
		if got := show(scan(t, c.src)); got != c.want+" NEWLINE EOF" {
			t.Errorf("%q:\n got %s\nwant %s NEWLINE EOF", c.src, got, c.want)
		}
	}
}

func TestNewErrors(t *testing.T) {
	const unclosed = "'{' in an f-string is never closed"
	for _, c := range []struct {
		src, want string
		line, col int32
	}{
		{"x = 'a", "unterminated string literal", 1, 5},
		{"x = '''a'", "unterminated triple-quoted string literal", 1, 5},
		{`x = f"a`, "unterminated string literal", 1, 5},
		{`x = f"""a"`, "unterminated triple-quoted string literal", 1, 5},
		{`f"é}"`, "single '}' in an f-string -- write '}}' for a brace", 1, 4},
		{`f"{}"`, "empty '{}' in an f-string -- write '{{}}' for braces", 1, 3},
		{`f"{ }"`, "empty '{}' in an f-string -- write '{{}}' for braces", 1, 3},
		{"x = f\"total {n\"\nprint(\"a\")\n", unclosed, 1, 13},
		{"f\"total {n\nprint(\"a\")\n", unclosed, 1, 9},
		{`f"\{{"`, unclosed, 1, 5},
		{`f"{x`, unclosed, 1, 3},
		{`f"{x:>3"`, unclosed, 1, 3},
		{`f"{x:>3`, unclosed, 1, 3},
		{"f\"{x:>\n3}\"", unclosed, 1, 3},
		{`f"{x + "`, unclosed, 1, 3},
		{`f"{f"{x"}"`, unclosed, 1, 6},
		{`print(f"{a)")`, "expected '}' after the expression in an f-string (got RPAREN ')')", 1, 11},
		{`f"{a]}"`, "expected '}' after the expression in an f-string (got RBRACKET ']')", 1, 5},
		{`f"{a!r}"`, "'!' is not an operator in Sense — use 'not' for negation and '!=' for not-equal", 1, 5},
		{"f\"\"\"{a # c\n}\"\"\"", "unexpected character '#'", 1, 8},
		{`f"{a {b}}"`, unclosed, 1, 3},
		{"if x {\n  y\n}", guard, 1, 6},
		{"x = 1\n}", guard, 2, 1},
		{"x = {} }", guard, 1, 8},
		{"def f() {", guard, 1, 9},
		{"def f() -> Int {", guard, 1, 16},
		{"def f() -> {", guard, 1, 12},
		{"else {", guard, 1, 6},
		{"x\nelse {\"a\": 1}", guard, 2, 6},
		{"try {", guard, 1, 5},
		{"catch e {", guard, 1, 9},
		{"test \"a\" {", guard, 1, 10},
		{"while true {", guard, 1, 12},
		{"f(x) {", guard, 1, 6},
		{"a[1] {", guard, 1, 6},
		{"if x:\n{", guard, 2, 1},
		{"if x\n{ # c\n y }", guard, 2, 1},
		{"if x: {\n y }", guard, 1, 7},
		{"{x: 1}", guard, 1, 1},
		{"agent a requires approval {", guard, 1, 27},
		{"x.{", guard, 1, 3},
		{"f\"a\" {", guard, 1, 6},
		{"x = {\"a\": 1} {", guard, 1, 14},
	} {
		_, _, err := Scan("x.sns", c.src)
		var e *diag.Error
		if !errors.As(err, &e) || e.Msg != c.want || e.Pos.Line != c.line || e.Pos.Col != c.col {
			t.Errorf("%q:\n got %+v\nwant %s at %d:%d", c.src, err, c.want, c.line, c.col)
		}
	}
}

func TestMapsMayStart(t *testing.T) {
	for _, src := range []string{
		`x = {`, `x = {}`, `f({})`, `f(a, {})`, `f(a: {})`, `[{}]`, `{"a": {}}`, `return {}`, `x in {}`, `x not in {}`, `if {}: y`, `while {}: y`,
		`a and {}`, `a or not {}`, `a if b else {}`, `a == {}`, `a + {}`, `x += {}`, `{"a": 1}`, "{}\n{'a': 1}", `{f"a": 1}`, "{\n\"a\": 1}", `if x: {"a": 1}`,
		`lambda x: {"a": x}`, `raise {}`, "x\nraise {}", `f"{ {} }"`, `a, b = {}, {}`, `x: Map = {}`, `x = y = {}`, `x[{}]`, `a ** {}`, "if x:\n  {\"a\": 1}",
		`for k in {}: x`, `{"a": 1,}`, "{\r\n'a': 1}", "{ # c\n # d\n 'a': 1}", "lambda x: {\nx: 1}",
	} {
		if _, _, err := Scan("", src); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}

func TestNewValues(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"1_000", "1000"}, {"0xFf", "0xFf"}, {"0xf_f", "0xff"}, {"1_0.5e-1_0", "10.5e-10"}, {"١_٢e٣", "12e3"},
		{`'a"b\'c\\'`, `a"b'c\`}, {`''`, ""}, {`''''''`, ""}, {`'''a'b\n'''`, "a'b\n"}, {"'a\r\nb'", "a\nb"},
	} {
		if got := scan(t, c.src)[0].Value(); got != c.want {
			t.Errorf("%s has value %q, want %q", c.src, got, c.want)
		}
	}
	for _, c := range []struct{ src, want string }{
		{`f"a"`, "a"}, {`f"{{a}}"`, "{a}"}, {`f"\n\r\{\}{{{{"`, "\n\r{}{{"}, {"f\"a\r\nb\r{{\"", "a\nb\n{"}, {`f"\é{{"`, "é{"},
		{"f'''a'b\"\\''''", `a'b"'`}, {"f\"\\\r\n{{\"", "\n{"},
	} {
		if got := scan(t, c.src)[1].Value(); got != c.want {
			t.Errorf("%s has text %q, want %q", c.src, got, c.want)
		}
	}
}

func TestFieldPositions(t *testing.T) {
	src := "é = f\"é{ä}\n{ f'{ö:>2}' }\" + x # c"
	toks, comments, err := Scan("", src)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tok := range toks {
		if tok.Kind == Ident || tok.Kind == FSpec || tok.Kind == FEnd {
			got = append(got, tok.Text+"@"+tok.Pos.String())
		}
	}
	want := []string{"é@1:1", "ä@1:9", "ö@2:6", ":>2@2:7", "'@2:11", "\"@2:14", "x@2:18"}
	if !slices.Equal(got, want) || len(comments) != 1 || comments[0].Own {
		t.Errorf("got %v, comments %v\nwant %v", got, comments, want)
	}
}

// TestDeepFStrings nests without recursion and in linear time.
func TestDeepFStrings(t *testing.T) {
	const n = 100_000
	toks := scan(t, strings.Repeat(`f"{`, n)+"x"+strings.Repeat(`}"`, n))
	if len(toks) != 4*n+3 {
		t.Errorf("%d tokens", len(toks))
	}
	if _, _, err := Scan("", strings.Repeat(`f"{`, n)); err == nil {
		t.Error("no error for what is never closed")
	}
}

func TestSoftWordsAreNames(t *testing.T) {
	for _, w := range SoftWords() {
		if k := scan(t, w)[0].Kind; k != Ident {
			t.Errorf("%s is %v", w, k)
		}
	}
}
