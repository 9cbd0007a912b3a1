package eval_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/parser"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// buffer is an output that several threads may write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// program is a program under test.
type program struct {
	*eval.Interp
	out   *buffer
	tests []string // what OnTest was told, one line each
}

// newProgram makes an interpreter with all builtins; change may alter its
// configuration. It is closed when the test ends.
func newProgram(t testing.TB, ctx context.Context, change func(*eval.Config)) *program {
	t.Helper()
	p := &program{out: &buffer{}}
	d := &builtins.Deps{}
	cfg := eval.Config{
		Universe:      builtins.Universe(d),
		Extra:         builtins.Extra(d),
		TypeMethods:   builtins.TypeMethods(),
		Stdout:        p.out,
		Parse:         parser.Parse,
		SessionMemory: builtins.NewMemory,
		OnTest: func(desc string, err error) {
			if err == nil {
				p.tests = append(p.tests, "pass "+desc)
				return
			}
			p.tests = append(p.tests, "fail "+desc+": "+err.Error())
		},
	}
	if change != nil {
		change(&cfg)
	}
	p.Interp = eval.New(ctx, cfg)
	t.Cleanup(func() { p.Close(); d.Close(true) })
	return p
}

// run runs a source text and gives what it printed.
func (p *program) run(t testing.TB, src string) (string, error) {
	t.Helper()
	f, err := parser.Parse("test.sns", src)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	err = p.Run(f, "test.sns")
	return p.out.String(), err
}

// exec runs a program with the usual configuration.
func exec(t testing.TB, src string) (string, error) {
	t.Helper()
	return newProgram(t, t.Context(), nil).run(t, src)
}

// check is a row of a table: a program, what it prints and its error.
type check struct {
	name, src, out, err string
}

// runChecks runs a table; the out of a row may be without its last line end.
func runChecks(t *testing.T, rows []check) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			out, err := exec(t, strings.TrimLeft(r.src, "\n"))
			if strings.TrimRight(out, "\n") != strings.TrimRight(r.out, "\n") {
				t.Errorf("output\n%s\nwant\n%s", out, r.out)
			}
			if got := text(err); got != r.err {
				t.Errorf("error %q, want %q", got, r.err)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// chainOf renders the place and the calls of an error.
func chainOf(err error) string {
	var e *diag.Error
	if !errors.As(err, &e) {
		return "no place"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%s", e.File, e.Pos)
	for _, f := range e.Stack {
		fmt.Fprintf(&b, " < %s %s:%d", f.Name, f.File, f.Pos.Line)
	}
	if e.Elided > 0 {
		fmt.Fprintf(&b, " (%d more)", e.Elided)
	}
	return b.String()
}

// lines repeats a line with its number for %d.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

var _ io.Writer = (*buffer)(nil)
