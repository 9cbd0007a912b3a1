package parser

import (
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/lexer"
)

// softWords has f as well, which begins an f-string.
var softWords = append(lexer.SoftWords(), "f")

// renamed gives src with one of its names replaced by another.
func renamed(src string, toks []lexer.Token, from, to string) string {
	var b strings.Builder
	last := 0
	for _, t := range toks {
		if t.Kind == lexer.Ident && t.Text == from {
			b.WriteString(src[last:t.Pos.Offset] + to)
			last = int(t.Pos.Offset) + len(from)
		}
	}
	return b.String() + src[last:]
}

func dump(t *testing.T, src string) string {
	t.Helper()
	f, err := Parse("", src)
	if err != nil {
		t.Fatalf("%v in\n%s", err, src)
	}
	return ast.Dump(f)
}

// TestSoftWordsAreNames renames every name of every script of the corpus to
// soft words, each to some of them. The tree must be the one that any other name
// gives.
func TestSoftWordsAreNames(t *testing.T) {
	const plain = "zq_plain"
	checked := 0
	for _, src := range corpus(t) {
		if _, err := Parse("", src); err != nil {
			continue
		}
		toks, _, _ := lexer.Scan("", src)
		for _, name := range names(toks) {
			want := dump(t, renamed(src, toks, name, plain)+"\nlocal "+plain+" = 1\n")
			for i := range 3 {
				word := softWords[(checked+i)%len(softWords)]
				if got := dump(t, renamed(src, toks, name, word)+"\nlocal "+word+" = 1\n"); got != expectedDump(want, plain, word) {
					t.Fatalf("%s for %s in\n%s\ngot\n%s\nwant\n%s", word, name, src, got, expectedDump(want, plain, word))
				}
			}
			checked += 3
		}
	}
	if checked < 5_000 {
		t.Errorf("only %d programs were compared", checked)
	}
}

func names(toks []lexer.Token) []string {
	var out []string
	for _, t := range toks {
		special := t.Text == "rollback" || t.Text == "compensate" || t.Text == "inference" || t.Text == "elif"
		if t.Kind == lexer.Ident && !special && !slices.Contains(out, t.Text) {
			out = append(out, t.Text)
		}
	}
	return out
}

// expectedDump gives the tree for a word, which differs for pass alone on a line.
func expectedDump(dump, plain, word string) string {
	dump = strings.ReplaceAll(dump, `"`+plain+`"`, `"`+word+`"`)
	dump = strings.ReplaceAll(dump, plain+".", word+".")
	dump = strings.ReplaceAll(dump, "."+plain, "."+word)
	if word == "pass" {
		return strings.ReplaceAll(dump, `ExprStmt{X: Ident{Name: "pass"}}`, "PassStmt{}")
	}
	return dump
}

// TestSoftWordsInPlace checks places that the corpus may lack.
func TestSoftWordsInPlace(t *testing.T) {
	for _, src := range []string{
		"W = 1", "W += 1", "W: Int = 1", "local W = 1", "W", "W(1)", "W (1)", "W()", "W.a", "W[0]", "W[0] = 1", "W - 1", "W == 1", "W and x", "W in x", "W not in x",
		"W(x)(y)", "W[(1)](2)", "W, a = b", "a, W = b", "x = W", "x = W(1)", "x = (W)", "x = [W, W]", `x = {W: W}`, "x = W[W:W]", "x = f(W: 1)", "x = W.W",
		"x = not W", "x = -W", "x = W if W else W", "def W(W): return W", "def g(W = 1): W()", "if W: x", "if W(): x", "if W (): x", "while W(): x", "for W in W: x",
		"for a, W in W(): x", "if x: W = 1", "if x: W(1)", "if x:\n  y\nW = 1", "if x:\n  y\nW(1)", "if x:\n  y\nW[0] = 1", "if x:\n  y\nW[0](1)", "if x:\n  y\nW - 1",
		"if x:\n  y\nW: Int = 3", "if x:\n  y\nW[a:b]", "try:\n  y\ncatch W:\n  W()\nW = 1", "try:\n  y\nfinally:\n  x\nW: Int = 3", "try:\n  y\ncatch e: x\nW(1)",
		"import a.W as W", "from W import W as W", "agent W: x", "tool W(W: W) returns W requires W.W: W()", "irreversible action W(W) requires W: x", "memory W", "model W = x",
		"session W: x", "set W = 1", "policy: deny W", "policy:\n  allow W\n  deny W.W", `tool g() returns W"d": x`, `tool g() requires W"d": x`, `tool g() requires a, b.W"d": x`,
		"return W", "return W(1)", "x = lambda W: W", "x = lambda W = W: W", `x = f"{W}"`, "x = W\nW(1)", "x: W = 1", "x: Array<W> = W", "raise W", "raise W(1)",
	} {
		plain := dump(t, strings.ReplaceAll(src, "W", "zq")+"\nlocal zq = 1\n")
		for _, word := range softWords {
			full := strings.ReplaceAll(src, "W", word) + "\nlocal " + word + " = 1\n"
			f, err := Parse("", full)
			if err != nil {
				t.Errorf("%q: %v", full, err)
				continue
			}
			if got, want := ast.Dump(f), expectedDump(plain, "zq", word); got != want {
				t.Errorf("%q:\n got %s\nwant %s", full, got, want)
			}
		}
	}
}
