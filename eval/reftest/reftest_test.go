package reftest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/parser"
)

var (
	programs = flag.Int("programs", 2000, "random programs to compare")
	seed     = flag.Uint64("seed", 1, "the first program's seed")
	dump     = flag.String("dump", "", "folder to write the programs to")
)

// evaluate runs a program through package eval: as a file, or one statement
// after the other as a session does, whose module grows.
func evaluate(t testing.TB, src string, session bool) outcome {
	t.Helper()
	f, err := parser.Parse("test.sns", src)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	var out bytes.Buffer
	var o outcome
	d := &builtins.Deps{}
	in := eval.New(t.Context(), eval.Config{
		Universe: builtins.Universe(d), TypeMethods: builtins.TypeMethods(), Stdout: &out, Parse: parser.Parse,
		OnTest: func(desc string, err error) {
			if err != nil {
				o.tests = append(o.tests, "fail "+desc+": "+err.Error())
				return
			}
			o.tests = append(o.tests, "pass "+desc)
		},
	})
	if session {
		err = bySteps(t, in.NewSession(), f)
	} else {
		err = in.Run(f, "test.sns")
	}
	o.audit = in.Audit().Lines()
	in.Close()
	d.Close(true)
	o.out = out.String()
	var e *diag.Error
	if errors.As(err, &e) {
		o.err = string(e.Kind) + ": " + e.Error()
	}
	return o
}

func bySteps(t testing.TB, s *eval.Session, f *ast.File) error {
	for _, st := range f.Body {
		if _, err := s.Run(t.Context(), &ast.File{Name: f.Name, Body: []ast.Stmt{st}}); err != nil {
			return err
		}
	}
	return nil
}

// difference says how two outcomes differ, "" where they do not.
func difference(got, want outcome) string {
	switch {
	case got.out != want.out:
		return fmt.Sprintf("output\n%s\nwant\n%s", got.out, want.out)
	case got.err != want.err:
		return fmt.Sprintf("error %q\n want %q", got.err, want.err)
	case !slices.Equal(got.tests, want.tests):
		return fmt.Sprintf("tests %q\n want %q", got.tests, want.tests)
	case !slices.Equal(got.audit, want.audit):
		return fmt.Sprintf("audit %q\n want %q", got.audit, want.audit)
	}
	return ""
}

// compare runs a program in all ways; done is false where it runs too long.
func compare(t testing.TB, src string) (diff string, done bool) {
	t.Helper()
	f, err := parser.Parse("test.sns", src)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	want, ok := interpret(f)
	if !ok {
		return "", false
	}
	if diff := difference(evaluate(t, src, false), want); diff != "" {
		return diff, true
	}
	if diff := difference(evaluate(t, src, true), want); diff != "" {
		return "as a session: " + diff, true
	}
	return "", true
}

// TestRandomPrograms: no difference in output, error, line, tests or audit.
func TestRandomPrograms(t *testing.T) {
	done, clean, failed := 0, 0, 0
	for i := range *programs {
		n := *seed + uint64(i)
		src := generate(n)
		if *dump != "" {
			if err := os.WriteFile(fmt.Sprintf("%s/%d.sns", *dump, n), []byte(src), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		diff, ok := compare(t, src)
		if !ok {
			continue
		}
		done++
		if diff != "" {
			small := shrink(t, src)
			diff, _ = compare(t, small)
			t.Errorf("seed %d:\n%s\n%s", n, small, diff)
			if failed++; failed == 5 {
				t.FailNow()
			}
		}
		f, _ := parser.Parse("test.sns", src)
		if o, _ := interpret(f); o.err == "" {
			clean++
		}
	}
	t.Logf("%d programs compared, %d of them without an error at the end", done, clean)
	if done < *programs/2 {
		t.Errorf("only %d of %d programs were short enough", done, *programs)
	}
}

// shrink leaves out lines, with what is indented below them, while a program
// still shows a difference.
func shrink(t testing.TB, src string) string {
	t.Helper()
	lines := strings.SplitAfter(src, "\n")
	for changed := true; changed; {
		changed = false
		for i := 0; i < len(lines); i++ {
			for _, end := range []int{blockEnd(lines, i), i + 1} {
				less := slices.Concat(lines[:i], lines[end:])
				text := strings.Join(less, "")
				if _, err := parser.Parse("test.sns", text); err != nil {
					continue
				}
				if diff, ok := compare(t, text); ok && diff != "" {
					lines, changed = less, true
					break
				}
			}
		}
	}
	return strings.Join(lines, "")
}

func blockEnd(lines []string, i int) int {
	width := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
	j := i + 1
	for j < len(lines) && width(lines[j]) > width(lines[i]) {
		j++
	}
	return j
}
