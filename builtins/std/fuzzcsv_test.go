package std_test

import (
	"encoding/csv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/builtins/std"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/parser"
)

// FuzzCSV reads, writes and reads again.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "\"x,\"\"y\"\"\",\r\n", "\n\n", "\"", "a\"b", ",", "\ufeffa", "\"a\nb\"\n", "\"\"\n", "#x"} {
		f.Add(s)
	}
	lib := std.New(std.Options{})
	f.Cleanup(lib.Close)
	members, _ := lib.Module("std.csv")
	in := eval.New(f.Context(), eval.Config{Audit: &audit.Log{}, Parse: parser.Parse})
	f.Cleanup(func() { in.Close() })
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		call := func(name string, v eval.Value) (eval.Value, error) {
			return in.Do(func(th *eval.Thread) (eval.Value, error) { return th.Call(members[name], v) })
		}
		rows, err := call("parse", eval.String(s))
		_, want := csv.NewReader(strings.NewReader(strings.TrimPrefix(s, "\ufeff"))).ReadAll()
		if err != nil {
			if want == nil {
				t.Fatalf("%q is refused: %v", s, err)
			}
			return
		}
		text, err := call("dump", rows)
		if err != nil {
			t.Fatalf("%q cannot be written: %v", s, err)
		}
		again, err := call("parse", text)
		if err != nil {
			t.Fatalf("%q was written as %s: %v", s, text, err)
		}
		if same, err := eval.Equal(rows, again); !same || err != nil {
			t.Fatalf("%q gives %s, written %q, which gives %s", s, rows, text, again)
		}
	})
}
