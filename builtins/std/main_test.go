package std_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/builtins/std"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/parser"
	"github.com/sense-lang/sense/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program runs programs with the standard modules.
type program struct {
	o       std.Options
	ceiling *policy.Ceiling
	ctx     context.Context
	log     audit.Log
}

// run runs a program and gives what it printed.
func (p *program) run(src string) (string, error) {
	if p.ctx == nil {
		p.ctx = context.Background()
	}
	d := &builtins.Deps{}
	lib := std.New(p.o)
	var out bytes.Buffer
	in := eval.New(p.ctx, eval.Config{
		Universe: builtins.Universe(d), Extra: builtins.Extra(d), TypeMethods: builtins.TypeMethods(),
		Stdout: &out, Audit: &p.log, Ceiling: p.ceiling, Parse: parser.Parse,
		Builtin: lib.Module, BuiltinModules: std.Names(),
	})
	f, err := parser.Parse("p.sns", src)
	if err == nil {
		err = in.Run(f, "p.sns")
	}
	in.Close()
	lib.Close()
	d.Close(true)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// row is an expression of a module and what it prints, or the error it ends in.
type row struct{ code, want, fails string }

// check evaluates rows, each in a program of its own that imports all modules.
func (p *program) check(t *testing.T, rows []row) {
	t.Helper()
	var head strings.Builder
	for _, n := range std.Names() {
		fmt.Fprintf(&head, "import %s\n", n)
	}
	for _, r := range rows {
		got, err := p.run(head.String() + "print(" + r.code + ")")
		switch {
		case r.fails == "" && err != nil:
			t.Errorf("%s: %v", r.code, err)
		case r.fails == "" && got != r.want:
			t.Errorf("%s\n got %s\nwant %s", r.code, got, r.want)
		case r.fails != "" && message(err) != r.fails:
			t.Errorf("%s\n fails with %s\nwant %s", r.code, message(err), r.fails)
		}
	}
}

// message gives the bare message of a program's error.
func message(err error) string {
	var e *diag.Error
	if errors.As(err, &e) {
		return e.Msg
	}
	return fmt.Sprint(err)
}

func wantKind(t *testing.T, err error, kind diag.Kind) {
	t.Helper()
	if err == nil || diag.KindOf(err) != kind {
		t.Errorf("error of kind %q wanted, got %v", kind, err)
	}
}
