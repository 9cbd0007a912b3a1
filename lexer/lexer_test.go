package lexer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	plex "github.com/alecthomas/participle/v2/lexer"

	"github.com/sense-lang/sense/diag"
)

// show gives tokens as "KIND" or "KIND:text", parted by spaces.
func show(toks []Token) string {
	var out []string
	for _, t := range toks {
		s := t.Kind.String()
		if t.Text != "" && (!t.Kind.IsKeyword() || !strings.EqualFold(s, t.Text)) {
			s += ":" + t.Text
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func scan(t *testing.T, src string) []Token {
	t.Helper()
	toks, _, err := Scan("x.sns", src)
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	return toks
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", "EOF"},
		{"\n\n  \n# c\n", "EOF"},
		{"x", "IDENT:x NEWLINE EOF"},
		{"\ufeffx = 1\n", "IDENT:x EQ:= INT:1 NEWLINE EOF"},
		{"#!/usr/bin/env sense\nx", "IDENT:x NEWLINE EOF"},
		{"\ufeff#! sense\rx", "IDENT:x NEWLINE EOF"},
		{"a+b - c*d/e%f", "IDENT:a PLUS:+ IDENT:b MINUS:- IDENT:c STAR:* IDENT:d SLASH:/ IDENT:e PERCENT:% IDENT:f NEWLINE EOF"},
		{"a = b == c != d < e <= f > g >= h -> i", "IDENT:a EQ:= IDENT:b EQEQ:== IDENT:c BANGEQ:!= IDENT:d LT:< IDENT:e LTEQ:<= IDENT:f " +
			"GT:> IDENT:g GTEQ:>= IDENT:h ARROW:-> IDENT:i NEWLINE EOF"},
		{"===", "EQEQ:== EQ:= NEWLINE EOF"},
		{"(a, [b]).c:", "LPAREN:( IDENT:a COMMA:, LBRACKET:[ IDENT:b RBRACKET:] RPAREN:) DOT:. IDENT:c COLON:: NEWLINE EOF"},
		{"1 23 4.5 007 1.2.3 5.", "INT:1 INT:23 FLOAT:4.5 INT:007 FLOAT:1.2 DOT:. INT:3 INT:5 DOT:. NEWLINE EOF"},
		{"١٢ ١.٥ a١", "INT:١٢ FLOAT:١.٥ IDENT:a١ NEWLINE EOF"},
		{"näme 日本 _x x² aⅫ", "IDENT:näme IDENT:日本 IDENT:_x IDENT:x² IDENT:aⅫ NEWLINE EOF"},
		{`"a" "" "\"" "a\\"`, `STRING:"a" STRING:"" STRING:"\"" STRING:"a\\" NEWLINE EOF`},
		{`"""a"b""c""" """""" """\""""`, `STRING:"""a"b""c""" STRING:"""""" STRING:"""\"""" NEWLINE EOF`},
		{"\"a\n b\" c", "STRING:\"a\n b\" IDENT:c NEWLINE EOF"},
		{"\"\\\n\\é\" c", "STRING:\"\\\n\\é\" IDENT:c NEWLINE EOF"},
		{"if a:\n  b\n  c\nd", "IF IDENT:a COLON:: NEWLINE INDENT IDENT:b NEWLINE IDENT:c NEWLINE DEDENT IDENT:d NEWLINE EOF"},
		{"if a:\r\n  b\rc", "IF IDENT:a COLON:: NEWLINE INDENT IDENT:b NEWLINE DEDENT IDENT:c NEWLINE EOF"},
		{"a:\n b:\n  c\nd\n", "IDENT:a COLON:: NEWLINE INDENT IDENT:b COLON:: NEWLINE INDENT IDENT:c NEWLINE DEDENT DEDENT IDENT:d NEWLINE EOF"},
		{"a:\n b:\n  c", "IDENT:a COLON:: NEWLINE INDENT IDENT:b COLON:: NEWLINE INDENT IDENT:c NEWLINE DEDENT DEDENT EOF"},
		{"a:\n b\n# c\n     # d\n\n c", "IDENT:a COLON:: NEWLINE INDENT IDENT:b NEWLINE IDENT:c NEWLINE DEDENT EOF"},
		{" a", "INDENT IDENT:a NEWLINE DEDENT EOF"},
		{"f(\n a,\n\tb\n)\nc", "IDENT:f LPAREN:( IDENT:a COMMA:, IDENT:b RPAREN:) NEWLINE IDENT:c NEWLINE EOF"},
		{"f([\n a)\n b]", "IDENT:f LPAREN:( LBRACKET:[ IDENT:a RPAREN:) IDENT:b RBRACKET:] NEWLINE EOF"},
		{"f(\n a\n", "IDENT:f LPAREN:( IDENT:a NEWLINE EOF"},
		{"a)\nb", "IDENT:a RPAREN:) NEWLINE IDENT:b NEWLINE EOF"},
		{"a\tb # c\n", "IDENT:a IDENT:b NEWLINE EOF"},
	} {
		if got := show(scan(t, c.src)); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

func TestKeywords(t *testing.T) {
	words := strings.Fields(`def return returns if else while for in break continue true false nil import from as python set local session
		agent action reversible irreversible requires approval policy allow deny test tool memory async persistent model and or not`)
	seen := map[Kind]bool{}
	for _, w := range words {
		tok := scan(t, w)[0]
		if !tok.Kind.IsKeyword() || tok.Kind.String() != strings.ToUpper(w) || tok.Text != w || seen[tok.Kind] {
			t.Errorf("%s gives %v", w, tok)
		}
		seen[tok.Kind] = true
	}
	if want := int(kindCount - KwDef); len(words) != want {
		t.Errorf("%d keywords are tested, there are %d", len(words), want)
	}
	for _, w := range []string{"rollback", "compensate", "delegation", "elif", "If", "defx", "de", "i", "_if", "irreversibles"} {
		if k := scan(t, w)[0].Kind; k != Ident {
			t.Errorf("%s is %v", w, k)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		src, want string
		col       int32
	}{
		{"\n}", "[line 2] Sense uses indentation for blocks, not '{ }' — write ':' then an indented block instead", 1},
		{"x; y", "[line 1] semicolons aren't used in Sense — start a new line instead", 2},
		{"é = !x", "[line 1] '!' is not an operator in Sense — use 'not' for negation and '!=' for not-equal", 5},
		{"x\n\"a\nb", "[line 2] unterminated string literal", 1},
		{`"a\`, "[line 1] unterminated string literal", 1},
		{`"a\"`, "[line 1] unterminated string literal", 1},
		{"\n\"\"\"a\n\"\"", "[line 2] unterminated triple-quoted string literal", 1},
		{`""""`, "[line 1] unterminated triple-quoted string literal", 1},
		{"\tx", "[line 1] tabs are not allowed for indentation — use spaces", 1},
		{"x\n  \t# c", "[line 2] tabs are not allowed for indentation — use spaces", 3},
		{"x\n \t", "[line 2] tabs are not allowed for indentation — use spaces", 2},
		{"if x:\n  a\n b", "[line 3] inconsistent indentation", 2},
		{"x = ²", "[line 1] unexpected character '²'", 5},
		{"x = 1²", "[line 1] unexpected character '²'", 6},
		{"x Ⅻ", "[line 1] unexpected character 'Ⅻ'", 3},
		{"e\u0301", "[line 1] unexpected character '\u0301'", 2},
		{"\u00a0x", `[line 1] unexpected character '\xa0'`, 1},
		{"x\ufeff", `[line 1] unexpected character '\ufeff'`, 2},
		{"\"é\n日\" @", "[line 2] unexpected character '@'", 4},
		{"x\x00", `[line 1] unexpected character '\x00'`, 2},
		{"x\f", `[line 1] unexpected character '\x0c'`, 2},
		{"1 \\\n2", `[line 1] unexpected character '\\'`, 3},
		{"a\r\nb\rc \xff\xfe", "[line 3] invalid UTF-8: byte 0xff", 3},
		{"é# \xc3(", "[line 1] invalid UTF-8: byte 0xc3", 4},
		{"\"\xed\xa0\x80\"", "[line 1] invalid UTF-8: byte 0xed", 2},
	} {
		toks, comments, err := Scan("x.sns", c.src)
		var e *diag.Error
		if !errors.As(err, &e) || toks != nil || comments != nil {
			t.Errorf("%q: error %v, %d tokens", c.src, err, len(toks))
			continue
		}
		if e.Error() != c.want || e.Pos.Col != c.col || e.Kind != diag.Syntax || e.File != "x.sns" {
			t.Errorf("%q:\n got %s (col %d, kind %s, file %s)\nwant %s (col %d)", c.src, e, e.Pos.Col, e.Kind, e.File, c.want, c.col)
		}
	}
}

func TestPositions(t *testing.T) {
	src := "\ufeffé = \"日\n本\" + xé\r\n  # é\n\n(y\r  z)"
	var got []string
	for _, tok := range scan(t, src) {
		got = append(got, fmt.Sprintf("%s@%s/%d", tok.Kind, tok.Pos, tok.Pos.Offset))
	}
	want := []string{"IDENT@1:1/3", "EQ@1:3/6", "STRING@1:5/8", "PLUS@2:4/18", "IDENT@2:6/20", "NEWLINE@2:8/23", "LPAREN@5:1/33",
		"IDENT@5:2/34", "IDENT@6:3/38", "RPAREN@6:4/39", "NEWLINE@6:5/40", "EOF@6:5/40"}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
}

func TestComments(t *testing.T) {
	src := "#! sense\n# one\nx = [ # two\n  # three\n 1] # four é\n\"\"\"\n#no\"\"\" # five\n  #six\r\nif a: #seven\n  #\n  b\n#last"
	_, comments, err := Scan("", src)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range comments {
		got = append(got, fmt.Sprintf("%s %s %v", c.Pos, c.Text, c.Own))
		if !strings.HasPrefix(src[c.Pos.Offset:], c.Text) {
			t.Errorf("%s does not stand at %d", c.Text, c.Pos.Offset)
		}
	}
	want := []string{"2:1 # one true", "3:7 # two false", "4:3 # three true", "5:5 # four é false", "7:8 # five false", "8:3 #six true",
		"9:7 #seven false", "10:3 # true", "12:1 #last true"}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`"abc"`, "abc"},
		{`""`, ""},
		{`""""""`, ""},
		{`"a\n\t\r\"\\b"`, "a\n\t\r\"\\b"},
		{`"\q\u0041\'\/\0"`, "qu0041'/0"},
		{"\"a\r\nb\rc\nd\"", "a\nb\nc\nd"},
		{"\"\\\r\nx\\\ry\"", "\nx\ny"},
		{`"\é\日"`, "é日"},
		{`"""a"b\"""c\\"""`, `a"b"""c\`},
		{"١٢٣", "123"},
		{"१.५", "1.5"},
		{"𝟘𝟙𝟗", "019"},
		{"12", "12"},
		{"x", "x"},
	} {
		if got := scan(t, c.src)[0].Value(); got != c.want {
			t.Errorf("%s has value %q, want %q", c.src, got, c.want)
		}
	}
}

func TestTokenTextsAreParts(t *testing.T) {
	src := strings.Repeat("name = \"text\" + 12.5\n", 1000)
	allocs := testing.AllocsPerRun(5, func() {
		if _, _, err := Scan("", src); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 12 {
		t.Errorf("%v allocations for 1000 lines", allocs)
	}
}

func TestDefinition(t *testing.T) {
	var d Definition
	lex, err := d.Lex("x.sns", strings.NewReader("if é:\n  \"a\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	toks, err := plex.ConsumeAll(lex)
	if err != nil {
		t.Fatal(err)
	}
	names := plex.SymbolsByRune(d)
	var got []string
	for _, tok := range toks {
		got = append(got, fmt.Sprintf("%s:%s@%d:%d", names[tok.Type], tok.Value, tok.Pos.Line, tok.Pos.Column))
		if tok.Pos.Filename != "x.sns" {
			t.Errorf("%v has file %q", tok, tok.Pos.Filename)
		}
	}
	want := []string{"Keyword:if@1:1", "Ident:é@1:4", "Op::@1:5", "Newline:@1:6", "Indent:@2:3", "String:\"a\"@2:3", "Newline:@2:6",
		"Dedent:@3:1", "EOF:@3:1"}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if again, _ := lex.Next(); !again.EOF() {
		t.Errorf("after the end comes %v", again)
	}
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, errors.New("disk on fire") }

func TestDefinitionErrors(t *testing.T) {
	if _, err := (Definition{}).Lex("x", badReader{}); err == nil || err.Error() != "disk on fire" {
		t.Errorf("got %v", err)
	}
	if _, err := (Definition{}).LexString("x", "{"); diag.KindOf(err) != diag.Syntax {
		t.Errorf("got %v", err)
	}
}

// FuzzScan checks what holds of every text: no panic, and tokens that cover the
// source in order, with layout that balances.
func FuzzScan(f *testing.F) {
	for _, s := range []string{"", "x = 1\n", "if a:\n  b\n c", "\"\\\"", "\ufeff#!\r\r\n(", "é²\xff", "\"\"\"a\n\"\"\" # c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) { checkScan(t, src) })
}

func checkScan(t *testing.T, src string) {
	toks, comments, err := Scan("", src)
	if err != nil {
		var e *diag.Error
		if !errors.As(err, &e) || !e.Pos.IsValid() || int(e.Pos.Offset) > len(src) {
			t.Fatalf("%q: error %#v", src, err)
		}
		return
	}
	end, depth := 0, 0
	for _, tok := range toks {
		off := int(tok.Pos.Offset)
		if off < end || !strings.HasPrefix(src[off:], tok.Text) || tok.Text == "" && !tok.Kind.IsLayout() {
			t.Fatalf("%q: token %v after %d", src, tok, end)
		}
		end = off + len(tok.Text)
		if tok.Kind == FString {
			end = off + 2 // its pieces follow
		}
		switch tok.Kind {
		case Indent:
			depth++
		case Dedent:
			depth--
		}
	}
	if last := toks[len(toks)-1]; last.Kind != EOF || depth != 0 || int(last.Pos.Line) > strings.Count(PlainLines(src), "\n")+1 {
		t.Fatalf("%q: ends with %v at depth %d", src, last, depth)
	}
	for _, c := range comments {
		if !strings.HasPrefix(c.Text, "#") || !strings.HasPrefix(src[c.Pos.Offset:], c.Text) {
			t.Fatalf("%q: comment %v", src, c)
		}
	}
}
