package sense_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense/lexer"
	"github.com/sense-lang/sense/parser"
)

// TestDeepAndLong runs sources that are far deeper or longer than a person writes.
// Each is run or refused with one clear line; none crashes or hangs.
func TestDeepAndLong(t *testing.T) {
	rep := strings.Repeat
	blocks := func(head string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(rep(" ", i) + head + "\n")
		}
		return b.String() + rep(" ", n) + "print(1)\n"
	}
	tests := []struct{ name, src, want string }{
		{"parentheses", "print(" + rep("(", 300_000) + "1" + rep(")", 300_000) + ")", ""},
		{"parentheses left open", rep("(", 300_000), ""},
		{"brackets", "x = " + rep("[", 300_000) + rep("]", 300_000) + "\nprint(len(x))", ""},
		{"not", "print(" + rep("not ", 100_000) + "true)", ""},
		{"minus", "print(" + rep("- ", 100_000) + "1)", ""},
		{"calls", "def f(x): return x\nprint(" + rep("f(", 50_000) + "1" + rep(")", 50_000) + ")", ""},
		{"members", "x = 1" + rep(".a", 100_000), ""},
		{"indexes", "x = 1" + rep("[0]", 100_000), ""},
		{"assignments", rep("x = ", 100_000) + "1", ""},
		{"types", "x: " + rep("Array<", 100_000) + "Int" + rep(">", 100_000) + " = 1", ""},
		{"else if", "if false: print(0)\n" + rep("else if false: print(0)\n", 20_000) + "else: print(7)", "7\n"},
		{"if blocks", blocks("if true:", 3_000), ""},
		{"def blocks", blocks("def f():", 3_000), ""},
		{"a sum", "print(" + rep("1 + ", 20_000) + "1)", ""},
		{"an array", "print(len([" + rep("1, ", 200_000) + "1]))", "200001\n"},
		{"a string", "print(len(\"" + rep("x", 5_000_000) + "\"))", "5000000\n"},
		{"a name", rep("n", 1_000_000) + " = 1\nprint(2)", "2\n"},
		{"a number", "x = " + rep("9", 100_000) + "\nprint(3)", "3\n"},
		{"lines", rep("x = 1\n", 200_000) + "print(4)", "4\n"},
		{"comments", rep("# c\n", 500_000) + "print(5)", "5\n"},
		{"recursion", "def f(): return f()\nf()", ""},
		{"recursion through a tool", "tool f() returns Int: return f() + 1\nf()", ""},
		{"recursion through a comparison", "a = []\nb = []\npush(a, b)\npush(b, a)\nprint(a == b)", ""},
		{"5,000 calls deep", "def f(n):\n    if n == 0: return 0\n    return f(n - 1) + 1\nprint(f(5000))", "5000\n"},
	}
	sense := binary(t, "sense")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "big.sns")
			writeFile(t, path, tt.src+"\n")
			runOrRefused(t, sense, path, tt.want)
		})
	}
}

// runOrRefused runs a script and wants the output, or, where it wants none, either
// success or a single clear error.
func runOrRefused(t *testing.T, sense, path, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, sense, "run", path)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	code := cmd.ProcessState.ExitCode()
	switch {
	case ctx.Err() != nil:
		t.Fatal("it hangs")
	case code != 0 && code != 1:
		t.Fatalf("exit status %d (%v): %.300s", code, err, stderr.String())
	case want != "" && (code != 0 || stdout.String() != want):
		t.Errorf("printed %.100q with status %d, want %q: %.300s", stdout.String(), code, want, stderr.String())
	case code == 1 && !strings.HasPrefix(stderr.String(), "SenseError: [line "):
		t.Errorf("no clear error: %.300s", stderr.String())
	}
	if strings.Contains(stderr.String(), "goroutine ") {
		t.Errorf("a trace of the host: %.300s", stderr.String())
	}
	if stderr.Len() > 20_000 {
		t.Errorf("%d bytes of error", stderr.Len())
	}
}

// hostileInputs is how many texts of each kind go through lexer and parser.
func hostileInputs() int {
	if testing.Short() {
		return 5_000
	}
	return 100_000
}

// TestRandomBytes puts random bytes through lexer and parser: an error is an
// answer, a panic is not.
func TestRandomBytes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []byte("abz_09 \n\t\r\"'#()[]{}<>=!+-*/%.,:;\\\x00\xff\xc3\xa9")
	errors := 0
	for range hostileInputs() {
		src := make([]byte, r.IntN(80))
		for i := range src {
			if r.IntN(4) == 0 {
				src[i] = byte(r.IntN(256))
			} else {
				src[i] = alphabet[r.IntN(len(alphabet))]
			}
		}
		if !parses(t, src) {
			errors++
		}
	}
	if errors == 0 {
		t.Error("no random text was refused")
	}
}

// TestMutatedScripts cuts, doubles, swaps and changes pieces of the golden scripts.
func TestMutatedScripts(t *testing.T) {
	t.Parallel()
	paths, _ := filepath.Glob(scripts + "/*/*.sns") // the pattern is well-formed
	var sources [][]byte
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, data)
	}
	r := rand.New(rand.NewPCG(3, 4))
	accepted := 0
	for range hostileInputs() {
		src := sources[r.IntN(len(sources))]
		at := r.IntN(len(src))
		piece := append([]byte(nil), src[at:min(len(src), at+1+r.IntN(200))]...)
		if parses(t, mutate(r, piece)) {
			accepted++
		}
	}
	if accepted == 0 {
		t.Error("no mutated script was accepted: the test mutates too much")
	}
}

func mutate(r *rand.Rand, b []byte) []byte {
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			return b
		}
		at, to := r.IntN(len(b)), r.IntN(len(b))
		switch r.IntN(4) {
		case 0:
			b = append(b[:at], b[min(len(b), at+1+r.IntN(8)):]...)
		case 1:
			b = append(append(append([]byte(nil), b[:at]...), b[to:]...), b[:at]...)
		case 2:
			b[at], b[to] = b[to], b[at]
		case 3:
			b[at] = byte(r.IntN(256))
		}
	}
	return b
}

// parses reports whether a text is a program; a panic fails the test with it.
func parses(t *testing.T, src []byte) bool {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%q: panic: %v", src, p)
		}
	}()
	toks, _, err := lexer.Scan("x.sns", string(src))
	if err == nil {
		_, err = parser.ParseTokens("x.sns", toks)
	}
	return err == nil
}
