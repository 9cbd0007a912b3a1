package sense_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/diag"
)

func TestSessionKnowsStandardModules(t *testing.T) {
	r := sense.New(t.Context(), sense.Options{})
	defer r.Close()
	s := r.NewSession(io.Discard)
	if err := s.Run(t.Context(), "import std.json\nimport std.fs as files", false); err != nil {
		t.Fatal(err)
	}
	offered := func(prefix string) (names []string) {
		for _, n := range s.Complete(prefix) {
			names = append(names, n.Name)
		}
		return names
	}
	if got := offered("json."); !slices.Equal(got, []string{"dump", "parse"}) {
		t.Errorf("json. offers %v", got)
	}
	if got := offered("files.re"); !slices.Equal(got, []string{"read", "remove"}) {
		t.Errorf("files.re offers %v", got)
	}
	if got := offered("files.read.x"); got != nil {
		t.Errorf("files.read.x offers %v", got)
	}
	if err := s.Run(t.Context(), "list = [1]", false); err != nil {
		t.Fatal(err)
	}
	if doc, err := s.Doc("list.sort"); err != nil || !strings.HasPrefix(doc, "sort(by?), a builtin\nputs the elements in order") {
		t.Errorf("%q %v", doc, err)
	}
	if doc, err := s.Doc("files.read"); err != nil || !strings.Contains(doc, "std.fs.read(path), a builtin\nthe text of a file") {
		t.Errorf("%q %v", doc, err)
	}
	for name, want := range map[string]string{
		"nope.x": "undefined variable 'nope'", "json.nope": "module 'std.json' has no member 'nope'", "print.x": "cannot access member 'x' on type Function",
	} {
		if _, err := s.Doc(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// TestSessionOffersMembers asks for the members of a value of each type, and
// reads each that is offered.
func TestSessionOffersMembers(t *testing.T) {
	t.Chdir(t.TempDir())
	r := sense.New(t.Context(), sense.Options{})
	defer r.Close()
	s := r.NewSession(io.Discard)
	err := s.Run(t.Context(), `
text = "x"
list = [1]
map = {"a": 1}
memory short
persistent memory long
model m = inference("mock", "m")
answer = m.ask("q")
chat = conversation(m)
def f(a): return a
tool t(a: Int) "d": return a
reversible action act(): pass
rollback: pass
prepared = act()
agent ag: x = 1
async tool later() "d": return 1
future = later()
kit = skill("kit", "d", [t])
try:
    assert(false)
catch e:
    caught = e
`, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"text": "upper", "list": "push", "map": "keys", "short": "remember", "long": "history", "m": "ask",
		"answer": "usage", "chat": "messages", "f": "params", "t": "doc", "act": "name", "prepared": "commit",
		"ag": "status", "future": "done", "kit": "tools", "caught": "kind",
	} {
		offered := s.Complete(name + ".")
		if !slices.ContainsFunc(offered, func(n sense.Name) bool { return n.Name == want }) {
			t.Errorf("%s. does not offer %s but %v", name, want, offered)
		}
		for _, n := range offered {
			if _, err := s.Eval(t.Context(), name+"."+n.Name); err != nil {
				t.Errorf("%s.%s is offered: %v", name, n.Name, err)
			}
		}
	}
}

// TestSessionRefusesReturn tells a bare expression, whose value is given, from a
// return, which has no place in a session.
// A name that no input has bound so far is told with the one that may be meant,
// and is read once a later input has bound it.
func TestSessionSaysWhichNameMayBeMeant(t *testing.T) {
	var out strings.Builder
	r := sense.New(t.Context(), sense.Options{Stdout: &out})
	defer r.Close()
	s := r.NewSession(io.Discard)
	if err := s.Run(t.Context(), "amount = 1\ndef f():\n    return ammount", false); err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]string{"f()": "amount", "prnt": "print"} {
		err := s.Run(t.Context(), src, false)
		var e *diag.Error
		if !errors.As(err, &e) || e.Kind != diag.Name || !slices.Equal(e.Notes, []string{"did you mean '" + want + "'?"}) {
			t.Errorf("%s: %v", src, err)
		}
	}
	if err := s.Run(t.Context(), "ammount = 7\nprint(f())", false); err != nil || out.String() != "7\n" {
		t.Errorf("%q %v", out.String(), err)
	}
}

func TestSessionRefusesReturn(t *testing.T) {
	r := sense.New(t.Context(), sense.Options{})
	defer r.Close()
	s := r.NewSession(io.Discard)
	if v, err := s.Eval(t.Context(), "2 + 3"); err != nil || v.String() != "5" {
		t.Errorf("2 + 3: %v %v", v, err)
	}
	if err := s.Run(t.Context(), "return 5", false); err == nil || err.Error() != "[line 1] 'return' outside a function" {
		t.Errorf("return 5: %v", err)
	}
}

// TestZeroOptionsReachNothing holds what the zero Options promise of the
// standard modules.
func TestZeroOptionsReachNothing(t *testing.T) {
	t.Setenv("HOME", "/home/somebody")
	r := sense.New(t.Context(), sense.Options{})
	defer r.Close()
	s := r.NewSession(io.Discard)
	if _, err := s.Eval(t.Context(), "import std.env\nimport std.fs"); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]string{`env.get("HOME")`: "nil", "env.names()": "[]", "env.args()": "[]"} {
		if v, err := s.Eval(t.Context(), code); err != nil || v.String() != want {
			t.Errorf("%s gives %v, %v", code, v, err)
		}
	}
	_, err := s.Eval(t.Context(), "fs.list()")
	if err == nil || !strings.Contains(err.Error(), "there is no folder that may be used") {
		t.Errorf("a folder is listed: %v", err)
	}
}

func TestOptionsOfStandardModules(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := sense.New(ctx, sense.Options{FSRoots: []string{dir}, Args: []string{"a"}, Environ: func() []string { return []string{"X=1"} }})
	defer r.Close()
	s := r.NewSession(io.Discard)
	if err := s.Run(ctx, "import std.env\nimport std.fs\nimport std.process", false); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]string{
		`fs.read("` + filepath.ToSlash(dir) + `/f")`: "text", "env.args()": "[a]", "env.names()": "[X]",
	} {
		if v, err := s.Eval(ctx, code); err != nil || v.String() != want {
			t.Errorf("%s gives %v, %v", code, v, err)
		}
	}
	r.Kill()
	if _, err := s.Eval(ctx, `process.run("sleep", ["600"])`); diag.KindOf(err) != diag.Runtime || err == nil {
		t.Errorf("a command runs after the end: %v", err)
	}
}
