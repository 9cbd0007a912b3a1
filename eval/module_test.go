package eval_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sense-lang/sense/eval"
)

// folder writes files into a new folder and gives its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runFile runs main.sns of a folder of files.
func runFile(t *testing.T, files map[string]string) (out string, tests []string, err error) {
	t.Helper()
	dir := folder(t, files)
	p := newProgram(t, t.Context(), nil)
	f, err := p.Config().Parse(filepath.Join(dir, "main.sns"), files["main.sns"])
	if err != nil {
		t.Fatal(err)
	}
	err = p.Run(f, f.Name)
	clean := func(s string) string { return strings.ReplaceAll(s, dir, "DIR") }
	for _, s := range p.tests {
		tests = append(tests, clean(s))
	}
	if err != nil {
		err = errors.New(clean(err.Error()) + " | " + clean(chainOf(err)))
	}
	return p.out.String(), tests, err
}

func TestModules(t *testing.T) {
	lib := "n = 1\ndef up():\n    n = n + 1\n    return n\nprint(\"loaded\")\n"
	rows := []struct {
		name  string
		files map[string]string
		out   string
		tests string
		err   string
	}{
		{"shared by importers", map[string]string{"lib.sns": lib, "two.sns": "import \"lib.sns\"\nlib.up()\n",
			"main.sns": "import \"./lib.sns\"\nimport two\nimport \"lib.sns\" as again\nprint(lib.up(), again.n, two.lib.n, lib == again)"},
			"loaded\n3 3 3 true\n", "", ""},
		{"relative to the file", map[string]string{"a/b.sns": "import \"c.sns\"\nimport \"../d.sns\"\nx = c.y + d.z", "a/c.sns": "y = 1", "d.sns": "z = 2",
			"main.sns": "import a.b\nprint(b.x)\ndef f():\n    import \"a/c.sns\"\n    return c.y\nprint(f())"}, "3\n1\n", "", ""},
		{"from", map[string]string{"lib.sns": lib, "main.sns": "from lib import up, n as first\nprint(up(), first)\nfrom lib import nope"},
			"loaded\n2 1\n", "", "[line 3] module 'lib' has no member 'nope' | DIR/main.sns:3:1"},
		{"builtins through a module", map[string]string{"lib.sns": "x = 1", "main.sns": "import lib\nprint(lib.len([1]), lib, type_of(lib))\nlib.nope"},
			"1 <module lib> Module\n", "", "[line 3] module 'lib' has no member 'nope' | DIR/main.sns:3:5"},
		{"not found", map[string]string{"main.sns": "import \"x/nope.sns\""}, "", "",
			"[line 1] module not found: 'x/nope.sns' (resolved to DIR/x/nope.sns) | DIR/main.sns:1:1"},
		{"a folder is no module", map[string]string{"lib.sns/x": "", "main.sns": "import lib"}, "", "",
			"[line 1] module not found: 'lib.sns' (resolved to DIR/lib.sns) | DIR/main.sns:1:1"},
		{"circular", map[string]string{"a.sns": "import b", "b.sns": "import a", "main.sns": "import a"}, "", "",
			"[line 1] circular import detected: DIR/a.sns | DIR/b.sns:1:1 < <module a> DIR/main.sns:1 < <module b> DIR/a.sns:1"},
		{"itself", map[string]string{"a.sns": "import a", "main.sns": "import a"}, "", "",
			"[line 1] circular import detected: DIR/a.sns | DIR/a.sns:1:1 < <module a> DIR/main.sns:1"},
		{"circular through an agent", map[string]string{"a.sns": "agent g:\n    import a\nstart(g)", "main.sns": "import a"}, "", "",
			"[line 2] circular import detected: DIR/a.sns | DIR/a.sns:2:5"},
		{"again after a failure", map[string]string{"bad.sns": "print(\"try\")\nx = 1 / y", "main.sns": "y = 0\ntest \"first\":\n    import bad\ntest \"second\":\n    import bad"},
			"try\ntry\n", "fail first: [line 2] undefined variable 'y',fail second: [line 2] undefined variable 'y'", ""},
		{"a syntax error", map[string]string{"bad.sns": "x = 1\ny = = 2", "main.sns": "import bad"}, "", "",
			"[line 2] unexpected token EQ '=' | DIR/bad.sns:2:5"},
		{"its own scope", map[string]string{"lib.sns": "def f():\n    return secret", "main.sns": "secret = 1\nimport lib\nlib.f()"}, "", "",
			"[line 2] undefined variable 'secret' | DIR/lib.sns:2:12 < f DIR/main.sns:3"},
		{"a name assigned later", map[string]string{"lib.sns": "def put(v):\n    x = v\n    return x\nx = 0", "main.sns": "import lib\nlib.put(5)\nprint(lib.x)"}, "5\n", "", ""},
		{"agents that load one module", map[string]string{"lib.sns": "agent w:\n    receive(0.001)\nstart(w)\nn = 7\nprint(\"loaded\")",
			"main.sns": "async agent a:\n    import lib\n    got = lib.n\nasync agent b:\n    import lib\n    got = lib.n\nstart(a)\nstart(b)\nawait(a)\nawait(b)\nprint(a.got + b.got)"},
			"loaded\n14\n", "", ""},
		{"no Python", map[string]string{"main.sns": "import python \"os\""}, "", "",
			"[line 1] python module not found: 'os' (this program runs without Python) | DIR/main.sns:1:1"},
		{"names that start like a keyword", map[string]string{"notes.sns": "x = 1", "main.sns": "import \"notes.sns\" as n\nprint(n.x)"}, "1\n", "", ""},
		{"tests in a module", map[string]string{"lib.sns": "test \"in lib\":\n    assert(false, \"no\")\nx = 1", "main.sns": "import lib\nprint(lib.x)"}, "1\n", "fail in lib: [line 2] no", ""},
		{"an error in a test of a module in an agent", map[string]string{"lib.sns": "agent g:\n    test \"deep\":\n        import worse\n    after = 1\nstart(g)", "worse.sns": "def f():\n    return [][0]\nf()",
			"main.sns": "import lib\nprint(lib.g.after)"}, "1\n", "fail deep: [line 2] index 0 out of bounds", ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			out, tests, err := runFile(t, r.files)
			if out != r.out || strings.Join(tests, ",") != r.tests || text(err) != r.err {
				t.Errorf("got\n%s%v\n%v\nwant\n%s%s\n%s", out, tests, err, r.out, r.tests, r.err)
			}
		})
	}
}

func TestBuiltinModules(t *testing.T) {
	dir := folder(t, map[string]string{"std/mine.sns": "x = \"a file\""})
	p := newProgram(t, t.Context(), func(c *eval.Config) {
		c.Builtin = func(path string) (map[string]eval.Value, bool) {
			if path != "std.mine" && path != "std.other" {
				return nil, false
			}
			return map[string]eval.Value{"x": eval.String("of the program")}, true
		}
	})
	src := "import std.mine\nimport std.other\nimport std.other as again\nprint(mine.x, \"/\", other.x, other == again, other)\nimport std.none\n"
	f, err := p.Config().Parse(filepath.Join(dir, "main.sns"), src)
	if err != nil {
		t.Fatal(err)
	}
	err = p.Run(f, f.Name)
	if out := p.out.String(); out != "a file / of the program true <module std.other>\n" {
		t.Errorf("%q", out)
	}
	if want := "[line 5] module not found: 'std/none.sns' (resolved to " + dir + "/std/none.sns)"; text(err) != want {
		t.Errorf("%v", err)
	}
}

// A module that is no plain file might never end.
func TestModulesAreFiles(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("no /dev/zero")
	}
	_, err := exec(t, "import \"/dev/zero\"")
	if text(err) != "[line 1] module not found: '/dev/zero' (resolved to /dev/zero)" {
		t.Error(err)
	}
	dir := folder(t, map[string]string{"big.sns": ""})
	if err := os.Truncate(filepath.Join(dir, "big.sns"), 64<<20+1); err != nil {
		t.Fatal(err)
	}
	_, err = exec(t, "import \""+dir+"/big.sns\"")
	if !strings.HasSuffix(text(err), "big.sns): too long (limit 67108864 bytes)") {
		t.Error(err)
	}
}
