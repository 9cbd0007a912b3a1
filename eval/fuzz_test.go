package eval_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/parser"
)

// corpus gives the programs of the conformance cases and the golden scripts
// that are not huge.
func corpus(t testing.TB) []string {
	t.Helper()
	var out []string
	add := func(text string) {
		if len(text) < 3000 {
			out = append(out, text)
		}
	}
	cases, _ := filepath.Glob("../testdata/conformance/*/*.txtar")
	for _, f := range cases {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range strings.Split("\n"+string(b), "\n-- ") {
			if name, text, _ := strings.Cut(section, " --\n"); strings.HasSuffix(name, ".sns") {
				add(text)
			}
		}
	}
	scripts, _ := filepath.Glob("../testdata/scripts/*/*.sns")
	for _, f := range scripts {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		add(string(b))
	}
	if len(out) < 300 {
		t.Fatalf("only %d programs", len(out))
	}
	return out
}

// outcome is how a program ended.
type outcome struct {
	out, err string
	kind     diag.Kind
}

// bounded runs a program that reaches nothing outside, with a limit on its
// depth, its time, its memory and, unless steps is 0, its steps.
func bounded(t testing.TB, f *ast.File, steps int64) outcome {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	p := newProgram(t, ctx, func(c *eval.Config) {
		delete(c.Universe, "connect_mcp")
		c.Limits = eval.Limits{Steps: steps, Output: 1 << 20, Memory: 1 << 30}
		c.MaxDepth = 150
		c.ReadFile = func(string) ([]byte, error) { return nil, os.ErrNotExist }
		c.Clock = func() time.Time { return time.Unix(1e9, 0) }
		c.OnTest = nil
	})
	defer p.Close()
	err := p.Run(f, "x.sns")
	o := outcome{out: p.out.String(), err: text(err), kind: diag.KindOf(err)}
	var e *diag.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%T is no error of a program: %v", err, err)
	}
	return o
}

// checkRun checks what holds of every program: it ends with a result or one
// error of its own, and counting its steps changes nothing.
func checkRun(t testing.TB, src string) {
	f, err := parser.Parse("x.sns", src)
	if err != nil {
		return
	}
	const steps = 20_000
	a := bounded(t, f, steps)
	if strings.Contains(a.err, "internal error") || strings.Contains(a.err, "goroutine") || strings.Contains(a.out, "internal error") {
		t.Fatalf("%s\n%s", src, a.err)
	}
	if a.kind == diag.Interrupt {
		t.Fatalf("%s\ndoes not end: %s", src, a.err)
	}
	if a.kind == diag.Limit || strings.Contains(src, "async") || strings.Contains(src, "random") || strings.Contains(src, "receive") {
		return
	}
	f, _ = parser.Parse("x.sns", src)
	if b := bounded(t, f, 0); a != b {
		t.Fatalf("%s\nwith steps counted %+v\nwithout           %+v", src, a, b)
	}
}

func FuzzRun(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) { checkRun(t, src) })
}

// TestRandomPrograms runs programs put together of lines of the corpus: most
// parse, and do things in places where nobody would write them.
func TestRandomPrograms(t *testing.T) {
	programs := corpus(t)
	n := 3000
	if testing.Short() {
		n = 400
	}
	seed, _ := strconv.ParseUint(os.Getenv("SENSE_SEED"), 10, 64) // other programs than usual
	r := rand.New(rand.NewPCG(seed, 4))
	for range n {
		checkRun(t, mixed(r, programs))
	}
}

// mixed takes statements with their blocks from several programs and puts some
// of them into each other's blocks.
func mixed(r *rand.Rand, programs []string) string {
	var out []string
	for range 1 + r.IntN(6) {
		out = append(out, statement(r, programs)...)
	}
	for range r.IntN(4) {
		at := r.IntN(len(out))
		line := out[at]
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if !strings.HasSuffix(line, ":") {
			continue
		}
		var inner []string
		for _, l := range statement(r, programs) {
			inner = append(inner, indent+"    "+l)
		}
		out = append(out[:at+1], append(inner, out[at+1:]...)...)
	}
	return replaced(r, strings.Join(out, "\n")+"\n", programs)
}

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*|[0-9]+|"[^"\n]*"`)

// replaced puts words of other programs in the place of some words.
func replaced(r *rand.Rand, src string, programs []string) string {
	odd := []string{"nil", "-1", "0", "1.5", "[]", "[1, \"a\"]", "\"\"", "\"é😀\"", "true", "print", "len", "x", "{}", "9223372036854775807", "99999999999999999999", "range(3)", "lambda v: v"}
	rate := r.IntN(40) + 2
	return word.ReplaceAllStringFunc(src, func(w string) string {
		switch {
		case r.IntN(rate) != 0:
			return w
		case r.IntN(2) == 0:
			return odd[r.IntN(len(odd))]
		}
		words := word.FindAllString(programs[r.IntN(len(programs))], -1)
		if len(words) == 0 {
			return w
		}
		return words[r.IntN(len(words))]
	})
}

// statement gives a statement of some program with its block.
func statement(r *rand.Rand, programs []string) []string {
	for {
		lines := strings.Split(programs[r.IntN(len(programs))], "\n")
		at := r.IntN(len(lines))
		if line := lines[at]; line == "" || line[0] == ' ' || line[0] == '#' {
			continue
		}
		end := at + 1
		for end < len(lines) && (strings.HasPrefix(lines[end], " ") || lines[end] == "") {
			end++
		}
		for end < len(lines) && (strings.HasPrefix(lines[end], "rollback:") || strings.HasPrefix(lines[end], "else") || strings.HasPrefix(lines[end], "catch") || strings.HasPrefix(lines[end], "finally")) {
			end++
			for end < len(lines) && (strings.HasPrefix(lines[end], " ") || lines[end] == "") {
				end++
			}
		}
		return lines[at:end]
	}
}
