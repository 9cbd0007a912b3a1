package parser

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/lexer"
)

// corpus gives the scripts of the conformance cases that are not huge.
func corpus(t testing.TB) []string {
	files, _ := filepath.Glob("../testdata/conformance/*/*.txtar")
	var out []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sections(string(b)) {
			if strings.HasSuffix(s.name, ".sns") && len(s.text) < 3000 {
				out = append(out, s.text)
			}
		}
	}
	if len(out) < 500 {
		t.Fatalf("only %d scripts", len(out))
	}
	return out
}

// checkParse checks what holds of every text: no panic, and either a tree of
// statements in order or one syntax error with a place within the text.
func checkParse(t testing.TB, src string) {
	f, err := Parse("x.sns", src)
	if err != nil {
		var e *diag.Error
		lines := strings.Count(lexer.PlainLines(src), "\n") + 1
		if f != nil || !errors.As(err, &e) || e.Kind != diag.Syntax || e.Pos.Line < 1 || int(e.Pos.Line) > lines || e.Pos.Col < 1 {
			t.Fatalf("%q: %#v", src, err)
		}
		if strings.ContainsAny(e.Msg, "\r\n") || !utf8.ValidString(e.Msg) || strings.Contains(e.Msg, "<") && strings.Contains(e.Msg, "expected <") {
			t.Fatalf("%q: message %q", src, e.Msg)
		}
		return
	}
	last := diag.Pos{}
	for _, s := range f.Body {
		if s.Pos().Offset < last.Offset {
			t.Fatalf("%q: %T at %v after %v", src, s, s.Pos(), last)
		}
		last = s.Pos()
	}
	ast.Walk(f, func(n ast.Node) bool {
		if !n.Pos().IsValid() {
			t.Fatalf("%q: %T has no place", src, n)
		}
		return true
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s)
	}
	for _, c := range newStatements {
		f.Add(c.src)
	}
	f.Fuzz(func(t *testing.T, src string) { checkParse(t, src) })
}

func TestRandomBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const alphabet = " \n\n  ()[]{}:.,=+-<>*/%!\"\"'f\\#aé1٣\t\r{};@\x00\xff"
	for range randomPrograms {
		b := make([]byte, r.IntN(40))
		for i := range b {
			if r.IntN(8) == 0 {
				b[i] = byte(r.Uint32())
			} else {
				b[i] = alphabet[r.IntN(len(alphabet))]
			}
		}
		checkParse(t, string(b))
	}
}

func TestMutatedScripts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	scripts := corpus(t)
	var short []string
	for _, c := range newStatements {
		scripts = append(scripts, c.src, c.src, c.src)
	}
	for _, s := range scripts {
		if len(s) < 250 {
			short = append(short, s)
		}
	}
	for range randomPrograms {
		checkParse(t, mutate(r, short[r.IntN(len(short))], short[r.IntN(len(short))]))
	}
}

// mutate changes a script by a few cuts, doublings, swapped characters and
// pieces of another script.
func mutate(r *rand.Rand, s, other string) string {
	for range 1 + r.IntN(3) {
		if s == "" {
			return other
		}
		i := r.IntN(len(s))
		j := min(len(s), i+r.IntN(12))
		switch r.IntN(5) {
		case 0:
			s = s[:i] + s[j:]
		case 1:
			s = s[:j] + s[i:]
		case 2:
			s = s[:i] + string(" \n:()[]\"=,."[r.IntN(11)]) + s[i:]
		case 3:
			k := r.IntN(len(other) + 1)
			s = s[:i] + other[k:min(len(other), k+20)] + s[i:]
		case 4:
			s = s[:i] + string(byte(r.Uint32())) + s[j:]
		}
	}
	return s
}

// TestTokenSoup strings words of the language together, which reaches more of
// the grammar than bytes do.
func TestTokenSoup(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	words := strings.Fields(`def return returns if else while for in break continue true false nil import from as python set local session agent
		action reversible irreversible requires approval policy allow deny test tool memory async persistent model and or not rollback compensate
		x f ( ) [ ] { } : . , = == + - -> < > "s" 1 2.5 elif pass try catch finally raise lambda transaction default += ** // * f"a{ } } 0xff {} :,`)
	words = append(words, "\n", "\n", ":\n  ", "\n  ", "()", "():", "x = ", `f"{x}"`, `f'{x:.2f}`, `{"k": `, "not in", "\ntry:\n  x\n", "\ncatch e", "\nelif x: ",
		"lambda x: ", "lambda (): ", "x, y = ", "a, ", "x[1:", " if x else ")
	for range randomPrograms {
		var b strings.Builder
		for range 1 + r.IntN(14) {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(' ')
		}
		checkParse(t, b.String())
	}
}

func BenchmarkParse(b *testing.B) {
	var sb strings.Builder
	for sb.Len() < 600_000 {
		sb.WriteString(benchmarkUnit)
	}
	src := sb.String()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("", src); err != nil {
			b.Fatal(err)
		}
	}
}

const benchmarkUnit = `def work(alpha, beta, gamma):
    total = alpha * 42 + beta - 971
    items = [77, 202, 333, 24, 37, 420]
    label = "item number of the list"
    while index < len(items):
        if items[index] > total and not gamma == 9:
            total = total + items[index] * (2 + index)
        else:
            items[index] = total / 4.5
        index = index + 1
    for entry in items:
        if entry == 466:
            total = total + work(entry, index, 5) / 2.0
    return total
`
