package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/reeflective/readline"
)

func TestFinished(t *testing.T) {
	cases := []struct {
		src  string
		want bool
	}{
		{"", true}, {"x = 1", true}, {"x = [1", false}, {"x = [1\n]", true}, {"x = (\n", false}, {`x = """a`, false}, {"x = \"\"\"a\n\"\"\"", true},
		{`x = "open`, true}, {"if x:", false}, {"if x: # c", false}, {"if x: y", true}, {"if x:\n    y", false}, {"if x:\n    y\n", true},
		{"if x:\n    y\n   ", true}, {"if x:\n", true}, {"def f():\n    a\n\n    b", false}, {"def f():\n    a\n\n    b\n", true},
		{"def f():\n    a\nprint(f())", true}, {"if x:\n  y\nelse:", false}, {"if x:\n    y = [1,\n2]", false}, {"f(1,\n    2)", true},
		{"x = 1\ny = 2", true}, {"# only:", true}, {"x = [ # ]", false}, {"x)", true}, {"if x:\n    # c", false}, {"x = \"\"\"\n    a\"\"\"", true},
		{"if x:\n  y = \"\"\"\n\n", false},
	}
	for _, c := range cases {
		if got := finished(c.src); got != c.want {
			t.Errorf("finished(%q) = %v", c.src, got)
		}
	}
}

func TestHighlight(t *testing.T) {
	cases := map[string]string{
		`x = "a # b" + 1.5 # c`: "x = \x1b[32m\"a # b\"\x1b[0m + \x1b[36m1.5\x1b[0m \x1b[90m# c\x1b[0m",
		"if x:\n    return nil": "\x1b[35mif\x1b[0m x:\n    \x1b[35mreturn\x1b[0m \x1b[35mnil\x1b[0m",
		`s = "open`:             "s = \x1b[32m\"open\x1b[0m",
		"s = \"a\\\"b\"":        "s = \x1b[32m\"a\\\"b\"\x1b[0m",
		"\"\"\"a\nb":            "\x1b[32m\"\"\"a\nb\x1b[0m",
		":type 1":               "\x1b[35m:type\x1b[0m 1",
		"é = 日本":                "é = 日本",
		"":                      "",
	}
	for in, want := range cases {
		if got := highlight(in); got != want {
			t.Errorf("highlight(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{`x = "a # b" + 1.5 # c`, "\"\"\"a\\", "\"\\", "if x:\n  y", ")(", "é²", "\xff\"\xff", "#\r\n", "x = {\n'a': 1}", "'''a\n'''{", "x {\n{", `f"{d["k"]}"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		end := 0
		pieces, _ := scan(src)
		for _, p := range pieces {
			if p.start < end || p.end <= p.start || p.end > len(src) || strings.TrimLeft(src[end:p.start], " \t\r\n") != "" {
				t.Fatalf("piece %v after %d of %q", p, end, src)
			}
			end = p.end
		}
		coloured := highlight(src)
		for _, c := range append([]string{noColour}, colours[keyword], colours[text], colours[number], colours[comment]) {
			if !strings.Contains(src, "\x1b") {
				coloured = strings.ReplaceAll(coloured, c, "")
			}
		}
		if !strings.Contains(src, "\x1b") && coloured != src {
			t.Fatalf("highlight changes %q into %q", src, coloured)
		}
		// Both ways to follow an input agree whether it is open.
		var tr tracker
		for line := range strings.SplitSeq(src, "\n") {
			tr.add(line)
		}
		if !strings.Contains(src, "\r") && tr.open() != stateOf(src).open {
			t.Fatalf("open: %v by lines, %v as a whole: %q", tr.open(), stateOf(src).open, src)
		}
	})
}

func TestStateOfNewSyntax(t *testing.T) {
	for src, want := range map[string]state{
		"m = {":                    {open: true},
		"m = {\n\"a\": 1":          {open: true},
		"m = {\n\"a\": 1\n}":       {},
		"f({})":                    {},
		"if x {":                   {},
		"f(x) {":                   {},
		"x = f\"{d[\"k\"]} {{\"":   {},
		"x = 'it is (":             {},
		"x = '\"'":                 {},
		"x = '''a\n\"\"\"":         {open: true},
		"x = '''a\n\"\"\"\nb'''":   {},
		"try:":                     {block: true},
		"try:\n  x\ncatch e:":      {block: true},
		"try:\n  x\ncatch e:\n  y": {block: true},
		"f = lambda x: x":          {},
	} {
		if got := stateOf(src); got != want {
			t.Errorf("%q: %+v, want %+v", src, got, want)
		}
	}
}

func TestComplete(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"one.sns", "other.txt", ".hidden.sns", "on.d/x.sns"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, n)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	s := &session{Options{Engine: &fake{}}}
	cases := []struct{ in, typed, list string }{
		{"p", "p", "pass persistent policy policy_of print python"},
		{"x = pri", "pri", "print"},
		{"if x:\n    re", "re", "requires return returns reversible"},
		{"kit.wo", "kit.wo", "kit.word kit.work"},
		{"f(kit.", "kit.", "kit.other kit.word kit.work"},
		{"kit.x", "kit.x", ""},
		{"", "", ""},
		{"x ", "", ""},
		{"1.5", "", ""},
		{".x", "", ""},
		{`"pri`, "", ""},
		{`"a\"pri`, "", ""},
		{`""" pri`, "", ""},
		{`"a" + pri`, "pri", "print"},
		{"# pri", "", ""},
		{"x # pri", "", ""},
		{"x # c\npri", "pri", "print"},
		{":", ":", ":help :type :doc :load :quit"},
		{":l", ":l", ":load"},
		{":type pri", "pri", "print"},
		{":load ", ":load ", ":load on.d/ :load one.sns"},
		{":load on", ":load on", ":load on.d/ :load one.sns"},
		{":load on.d/", ":load on.d/", ":load on.d/x.sns"},
		{":load " + dir + "/on.d/x", ":load " + dir + "/on.d/x", ":load " + dir + "/on.d/x.sns"},
		{":load none/", ":load none/", ""},
	}
	for _, c := range cases {
		got := s.complete(c.in)
		var names []string
		for _, n := range got.list {
			names = append(names, got.before+n.Name)
		}
		if list := strings.Join(names, " "); got.typed != c.typed && list != "" || strings.ReplaceAll(list, ":load :load", ":load") != c.list {
			t.Errorf("%q: typed %q, list %q", c.in, got.typed, list)
		}
	}
	if got := s.completer([]rune("é"), 1); got.PREFIX != "" {
		t.Errorf("prefix %q", got.PREFIX)
	}
	if got := s.completer([]rune("x = kit.woo"), 10); got.PREFIX != "kit.wo" {
		t.Errorf("prefix %q", got.PREFIX)
	}
}

// typist is an editor whose user types these inputs.
type typist struct {
	inputs []string
	wait   chan struct{}
}

func (ty *typist) Readline() (string, error) {
	if len(ty.inputs) == 0 {
		if ty.wait != nil {
			<-ty.wait
		}
		return "", io.EOF
	}
	in := ty.inputs[0]
	ty.inputs = ty.inputs[1:]
	switch in {
	case "^C":
		return "half typed", readline.ErrInterrupt
	case "!":
		return "", errors.New("terminal is gone")
	}
	return in, nil
}

func TestConverse(t *testing.T) {
	cases := []struct {
		inputs []string
		ran    string
		err    string
	}{
		{[]string{"1", "^C", "if x:\n    y\n", " ", "nope", "2"}, `["1" "if x:\n    y\n" "nope" "2"]`, ""},
		{[]string{"1", "exit", "2"}, `["1"]`, ""},
		{[]string{":quit", "2"}, `[]`, ""},
		{[]string{"limit", "2"}, `["limit"]`, "SenseError: out of steps"},
		{[]string{"!", "2"}, `[]`, "terminal is gone"},
	}
	for _, c := range cases {
		var o bytes.Buffer
		f := &fake{out: &o}
		s := &session{Options{Engine: f, Out: &o, Err: &o, Terminal: true}}
		err := s.converse(context.Background(), &typist{inputs: c.inputs})
		if got := fmt.Sprintf("%q", f.ran); got != c.ran || fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
			t.Errorf("%q: ran %s, %v", c.inputs, got, err)
		}
		if len(f.ran) > 0 && f.ran[0] == "1" && !strings.HasPrefix(o.String(), "=> \"1\"\n") {
			t.Errorf("no echo: %q", o.String())
		}
	}
	gone := errors.New("gone")
	s := &session{Options{Engine: &fake{}, Out: &failing{left: 99, err: gone}, Err: io.Discard}}
	if err := s.converse(context.Background(), &typist{}); !errors.Is(err, gone) {
		t.Error(err)
	}
}

func TestConverseEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ty := &typist{wait: make(chan struct{})}
	s := &session{Options{Engine: &fake{}, Out: io.Discard, Err: io.Discard}}
	if err := s.converse(ctx, ty); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(ty.wait)
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "history")
	h, err := openHistory(path, func(s string) string { return strings.ReplaceAll(s, "secret", "…") })
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{"x = 1", "def f():\n    y\n\n    z\n", "x = 1", "x = 1", "", "  ", " hidden", "a secret", strings.Repeat("x", maxRemembered+1)} {
		if _, err := h.Write(in); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"x = 1", "def f():\n    y\n\n    z\n", "x = 1", "a secret"}; fmt.Sprintf("%q", h.Dump()) != fmt.Sprintf("%q", want) {
		t.Errorf("%q", h.Dump())
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	fmt.Fprintf(f, "junk\n{\"input\":\"\"}\n%s\n{\"input\":\"last\"}", strings.Repeat("y", maxInput+1))
	_ = f.Close()
	h, err = openHistory(path, nil)
	if err != nil || h.Len() != 5 {
		t.Fatalf("%d %v", h.Len(), err)
	}
	if got, err := h.GetLine(3); got != "a …" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > maxHistory {
		t.Errorf("the file was not written anew: %v %v", info, err)
	}
	if _, err := h.GetLine(5); err == nil || err.Error() != "no input 5" {
		t.Error(err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	h, err := openHistory("", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 * keepInputs {
		if _, err := h.Write(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	last, _ := h.GetLine(h.Len() - 1)
	if h.Len() > 2*keepInputs || last != fmt.Sprint(5*keepInputs-1) {
		t.Errorf("%d inputs, the last %s", h.Len(), last)
	}
}

func TestHistoryErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(file, "x", "history"), dir} {
		h, err := openHistory(path, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "no history: ") {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := h.Write("works"); err != nil || h.Len() != 1 {
			t.Errorf("%s: %v", path, err)
		}
	}
	h := &history{path: filepath.Join(dir, "gone", "history")}
	if _, err := h.Write("x"); err == nil {
		t.Error("no error")
	}
	if err := h.rewrite(); err == nil {
		t.Error("no error")
	}
	if err := (&history{}).read(badInput{errors.New("bad disk")}); err == nil {
		t.Error("no error")
	}
}

func TestDefaultHistory(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	if got := DefaultHistory(); got != filepath.FromSlash("/state/sense/history") {
		t.Error(got)
	}
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", "/home/x")
	if got := DefaultHistory(); runtime.GOOS != "windows" && got != "/home/x/.local/state/sense/history" {
		t.Error(got)
	}
	t.Setenv("HOME", "")
	if got := DefaultHistory(); runtime.GOOS == "linux" && got != "" {
		t.Error(got)
	}
}
