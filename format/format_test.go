package format

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/lexer"
	"github.com/sense-lang/sense/parser"
)

// section is one file of a case of the corpus.
type section struct{ name, text string }

func sections(text string) []section {
	var out []section
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- ")
		name, ok2 := strings.CutSuffix(name, " --")
		if ok && ok2 {
			out = append(out, section{name: name})
		} else if len(out) > 0 {
			out[len(out)-1].text += line
		}
	}
	return out
}

func find(ss []section, name string) string {
	for _, s := range ss {
		if s.name == name {
			return s.text
		}
	}
	return ""
}

func cases(t testing.TB, glob string) [][]section {
	files, _ := filepath.Glob(glob)
	var out [][]section
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, append(sections(string(b)), section{"file", f}))
	}
	return out
}

// TestConformance formats the scripts of the cases that only print the result.
func TestConformance(t *testing.T) {
	n := 0
	for _, c := range cases(t, "../testdata/conformance/fmt/*.txtar") {
		script := find(c, "script.sns")
		if !strings.HasPrefix(find(c, "cmd"), "fmt script.sns\n") {
			continue
		}
		n++
		got, err := Source("script.sns", []byte(script))
		if err != nil {
			t.Fatal(err)
		}
		if want := find(c, "stdout"); !strings.HasPrefix(want, string(got)) {
			t.Errorf("%s:\n--- got\n%s--- want\n%s", find(c, "file"), got, want)
		}
	}
	if n < 12 {
		t.Errorf("only %d cases were found", n)
	}
}

func corpus(t testing.TB) []string {
	var out []string
	for _, c := range cases(t, "../testdata/conformance/*/*.txtar") {
		for _, s := range c {
			if _, err := parser.Parse("", s.text); strings.HasSuffix(s.name, ".sns") && err == nil {
				out = append(out, s.text)
			}
		}
	}
	if len(out) < 350 {
		t.Fatalf("only %d scripts", len(out))
	}
	return out
}

// checkFormat checks what must hold of every program: the result means the same,
// keeps every comment, and does not change again.
func checkFormat(t testing.TB, src string) {
	out, err := Source("x.sns", []byte(src))
	if err != nil {
		if diag.KindOf(err) != diag.Syntax {
			t.Fatalf("%q: %v", src, err)
		}
		return
	}
	before, comments := read(t, src)
	after, kept := read(t, string(out))
	if before != after {
		t.Fatalf("the meaning changed:\n%s\n---\n%s\n---\n%s\n---\n%s", src, out, before, after)
	}
	slices.Sort(comments)
	slices.Sort(kept)
	if !slices.Equal(comments, kept) {
		t.Fatalf("comments changed:\n%s\n---\n%s\n%q\n%q", src, out, comments, kept)
	}
	again, err := Source("x.sns", out)
	if err != nil || !bytes.Equal(out, again) {
		t.Fatalf("a second time changes it (%v):\n%s\n--- once\n%s\n--- twice\n%s", err, src, out, again)
	}
}

// read gives a program's tree without the spelling of its imports, and the
// texts of its comments.
func read(t testing.TB, src string) (string, []string) {
	toks, comments, err := lexer.Scan("", src)
	if err != nil {
		t.Fatalf("%v in\n%s", err, src)
	}
	f, err := parser.ParseTokens("", toks)
	if err != nil {
		t.Fatalf("%v in\n%s", err, src)
	}
	ast.Walk(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportStmt:
			n.Path, n.Dotted = plainPath(n.Python, n.Dotted, n.Path), false
		case *ast.FromStmt:
			n.Path, n.Dotted = plainPath(n.Python, n.Dotted, n.Path), false
		}
		return true
	})
	texts := make([]string, len(comments))
	for i, c := range comments {
		texts[i] = commentText(c)
	}
	return ast.Dump(f), texts
}

func plainPath(python, dotted bool, path string) string {
	if dotted && !python {
		return strings.ReplaceAll(path, ".", "/") + ".sns"
	}
	return path
}

func TestCorpus(t *testing.T) {
	for _, s := range corpus(t) {
		checkFormat(t, s)
	}
}

// TestCommentsEverywhere puts comments and line ends between the tokens of the
// scripts wherever the language allows some.
func TestCommentsEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, s := range corpus(t) {
		if len(s) > 3000 {
			continue
		}
		for range scatterings {
			checkFormat(t, scatter(r, s))
		}
	}
}

// scatter rewrites src with comments strewn into it: at the end of lines, on
// lines of their own, and inside brackets, some of which it makes long.
func scatter(r *rand.Rand, src string) string {
	toks, _, err := lexer.Scan("", src)
	if err != nil {
		return src
	}
	var b strings.Builder
	depth, inString, last, n := 0, 0, 0, 0
	comment := func() string {
		n++
		return "#" + strings.Repeat(" ", r.IntN(3)) + "c" + string(rune('0'+n%10)) + "\n" + strings.Repeat(" ", r.IntN(6))
	}
	for _, tok := range toks {
		off := int(tok.Pos.Offset)
		if tok.Kind == lexer.FEnd {
			inString--
			continue
		}
		if inString > 0 && tok.Kind != lexer.FString {
			continue
		}
		if tok.Kind == lexer.FString {
			if inString++; inString > 1 {
				continue
			}
		}
		b.WriteString(src[last:off])
		last = off
		switch tok.Kind {
		case lexer.Newline:
			switch r.IntN(6) {
			case 0:
				b.WriteString(strings.TrimRight("  "+comment(), " \n"))
			case 1:
				b.WriteString("\n\n" + strings.TrimRight(comment(), " \n"))
			}
		case lexer.Ident:
			if depth > 0 && r.IntN(6) == 0 {
				b.WriteString(tok.Text + strings.Repeat("_long_name", 1+r.IntN(9)))
				last = off + len(tok.Text)
			}
		case lexer.LParen, lexer.LBracket, lexer.LBrace:
			depth++
		case lexer.RParen, lexer.RBracket, lexer.RBrace:
			if r.IntN(4) == 0 {
				b.WriteString(comment())
			}
			depth--
		}
		b.WriteString(src[last : off+len(tok.Text)])
		last = off + len(tok.Text)
		if depth > 0 && tok.Kind != lexer.Newline {
			switch r.IntN(8) {
			case 0:
				b.WriteString("  " + comment())
			case 1:
				b.WriteString("\n" + comment() + comment())
			}
		}
	}
	return b.String() + src[last:]
}

func FuzzSource(f *testing.F) {
	for _, s := range corpus(f) {
		if len(s) < 3000 {
			f.Add(s)
		}
	}
	g := generator{rand.New(rand.NewPCG(13, 14))}
	for range 300 {
		f.Add(g.stmt("", g.IntN(3)))
	}
	f.Fuzz(func(t *testing.T, src string) { checkFormat(t, src) })
}

var update = flag.Bool("update", false, "rewrite golden files")

// TestGolden compares with the "out" part of testdata/fmt.
func TestGolden(t *testing.T) {
	all := cases(t, "../testdata/fmt/*.txtar")
	if len(all) < 10 {
		t.Fatalf("%d cases", len(all))
	}
	for _, c := range all {
		in, want, file := find(c, "in"), find(c, "out"), find(c, "file")
		got, err := Source("in.sns", []byte(in))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		checkFormat(t, in)
		if *update {
			if err := os.WriteFile(file, []byte("-- in --\n"+in+"-- out --\n"+string(got)), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if string(got) != want {
			t.Errorf("%s:\n--- got\n%s--- want\n%s", file, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for src, want := range map[string]string{
		"if b\n":  "[line 1] expected ':' to start a block (got NEWLINE '')",
		"x {":     "[line 1] Sense uses indentation for blocks, not '{ }' — write ':' then an indented block instead",
		"a\n\xff": "[line 2] invalid UTF-8: byte 0xff",
	} {
		out, err := Source("bad.sns", []byte(src))
		var e *diag.Error
		if out != nil || !errors.As(err, &e) || e.Error() != want || e.File != "bad.sns" {
			t.Errorf("%q: %q, %v", src, out, err)
		}
	}
}

func TestLongInputs(t *testing.T) {
	rep := strings.Repeat
	for _, src := range []string{
		"x = 0" + rep(" + 1", 100000) + "\n",
		"x = 0" + rep(" + f(1)", 50000) + "\n",
		"x = [" + rep("1, ", 100000) + "1]\n",
		"x = " + rep("[", 500) + rep("]", 500) + "\n",
		"x = " + rep("-", 500) + "1\n",
		"if a: b\n" + rep("else if a: b\n", 10000),
		rep("f(", 400) + rep("a_name_of_some_length, ", 20) + "1" + rep(")", 400) + "\n",
	} {
		out, err := Source("", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		again, err := Source("", out)
		if err != nil || !bytes.Equal(out, again) {
			t.Errorf("%.40q: a second time changes it (%v)", src, err)
		}
	}
}

func BenchmarkSource(b *testing.B) {
	src := []byte(strings.Repeat("def f(a, b):  # c\n    x = [a, (b + 1) * 2, \"text\"]\n    if x: return f(a, x[0])\n", 2000))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := Source("", src); err != nil {
			b.Fatal(err)
		}
	}
}
