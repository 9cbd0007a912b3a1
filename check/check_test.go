package check

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/sense-lang/sense/parser"
	"github.com/sense-lang/sense/policy"
)

// files are modules by path.
type files map[string]string

func (f files) read(path string) ([]byte, error) {
	for name, text := range f {
		if strings.HasSuffix(path, "/"+name) {
			return []byte(text), nil
		}
	}
	return nil, fs.ErrNotExist
}

// found words findings, one a line: level line:column code: message (notes).
func found(r *Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		where := ""
		if f.File != "t.sns" {
			where = f.File + ":"
		}
		fmt.Fprintf(&b, "%s %s%d:%d %s: %s", f.Level, where, f.Pos.Line, f.Pos.Col, f.Code, f.Msg)
		for _, n := range f.Notes {
			fmt.Fprintf(&b, " (%s)", n)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

type example struct{ name, src, want string }

func run(t *testing.T, examples []example) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			r := Source("t.sns", e.src, Options{ReadFile: files{}.read})
			if got := strings.TrimSuffix(found(r), "\n"); got != e.want {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", e.src, got, e.want)
			}
		})
	}
}

func TestUndefinedNames(t *testing.T) {
	run(t, []example{
		{"fine", "x = 1\nprint(x)", ""},
		{"near", "total = 1\nprint(totl)", "error 2:7 undefined-name: undefined variable 'totl' (did you mean 'total'?)"},
		{"near builtin", "prnt(1)", "error 1:1 undefined-name: undefined variable 'prnt' (did you mean 'print'?)"},
		{"no hint", "print(elephant)", "error 1:7 undefined-name: undefined variable 'elephant'"},
		{"set inside a block", "if 1 < 2:\n    y = 1\nprint(y)",
			"error 3:7 undefined-name: undefined variable 'y' ('y' is set in line 2, but inside a block: it is not known outside)"},
		{"set inside a function", "def f():\n    inner = 1\nf()\nprint(inner)",
			"error 4:7 undefined-name: undefined variable 'inner' ('inner' is set in line 2, but inside the function 'f': it is not known outside)"},
		{"loop variable afterwards", "for i in [1]: print(i)\nprint(i)",
			"error 2:7 undefined-name: undefined variable 'i' ('i' is set in line 1, but inside a loop: it is not known outside)"},
		{"used before it is set", "print(x)\nx = 1", "error 1:7 used-before-set: undefined variable 'x' (it is set only later, in line 2)"},
		{"its own value", "x = x + 1", "error 1:5 used-before-set: undefined variable 'x' (it is set only later, in line 1)"},
		{"augmented before it is set", "x += 1", "error 1:1 used-before-set: undefined variable 'x' (it is set only later, in line 1)"},
		{"set in an earlier round", "last = 0\nfor i in [1, 2]:\n    if i > 1: print(last)\n    if i > 0: last = i", ""},
		{"set in an earlier round outside", "seen = nil\nfor i in [1, 2]:\n    if seen != nil: print(seen)\n    seen = i", ""},
		{"a function sets it", "def f(): print(x)\nx = 1\nf()", ""},
		{"a function may set it before", "def f(): x = 1\nf()\nprint(1)\nx = 2\nprint(x)", ""},
		{"mutual recursion", "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)\nprint(even(4))", ""},
		{"never reached by and", "print(false and nope, true or nope)", ""},
		{"never reached by if", "if false: nope()\nelse: print(1)", ""},
		{"never reached by else", "if true: print(1)\nelse: nope()", ""},
		{"never reached by a conditional", "print(1 if true else nope)", ""},
		{"in a test", "test \"t\": nope()", "warning 1:11 undefined-name: undefined variable 'nope' (the test around it gets this error)"},
		{"in a try", "try:\n    nope()\ncatch e:\n    print(e.kind)",
			"warning 2:5 undefined-name: undefined variable 'nope' (the try around it gets this error)"},
		{"a try makes no scope", "try:\n    x = 1\ncatch e:\n    x = 2\nprint(x)", ""},
		{"the name of a catch is local", "try:\n    print(1)\ncatch problem:\n    print(2)\nprint(problem)",
			"error 5:7 undefined-name: undefined variable 'problem' ('problem' is set in line 3, but inside a catch: it is not known outside)"},
		{"parameters and defaults", "def f(a, b = a): return a + b\nprint(f(1))", ""},
		{"a default sees only what stands before", "def f(a = b, b = 1): return a\nf()", "error 1:11 used-before-set: undefined variable 'b' (it is set only later, in line 1)"},
		{"lambdas", "f = lambda x: x + y\nprint(f)", "error 1:19 undefined-name: undefined variable 'y'"},
		{"in a f-string", "print(f\"{wrld}\")\nworld = 1", "error 1:10 undefined-name: undefined variable 'wrld' (did you mean 'world'?)"},
		{"destructuring", "a, b = [1, 2]\nprint(a, b)", ""},
		{"rollback sees the body", "reversible action a():\n    old = 1\nrollback:\n    print(old)\nprint(a)", ""},
		{"local", "x = 1\ndef f():\n    local x = 2\n    return x\nprint(f(), x)", ""},
	})
}

func TestCalls(t *testing.T) {
	run(t, []example{
		{"too few", "def f(a, b): return a\nf(1)", "error 2:1 arguments: 'f' expects 2 argument(s), got 1 (it is f(a, b))"},
		{"too many", "def f(): return 1\nf(1)", "error 2:1 arguments: 'f' expects 0 argument(s), got 1 (it is f())"},
		{"a default", "def f(a, b: Int = 2): return a\nf(1)\nf()", "error 3:1 arguments: 'f' expects 1 to 2 argument(s), got 0 (it is f(a, b: Int?))"},
		{"labels", "def f(a, b = 1): return a\nf(b: 2, a: 1)\nf(1, b: 2)", ""},
		{"unknown label", "def f(size): return size\nf(sice: 1)", "error 2:3 labels: 'f' has no parameter 'sice' (did you mean 'size'?)"},
		{"unknown label without a near one", "def f(a): return a\nf(zebra: 1)", "error 2:3 labels: 'f' has no parameter 'zebra' (it is f(a))"},
		{"twice", "def f(a, b = 1): return a\nf(1, a: 1)", "error 2:6 labels: 'f' got more than one value for 'a'"},
		{"missing among labels", "def f(a, b): return a\nf(b: 1)", "error 2:1 arguments: 'f' needs a value for 'a' (it is f(a, b))"},
		{"a tool", "tool t(x: Int) \"t\": return x\nt()", "error 2:1 arguments: 't' expects 1 argument(s), got 0 (it is t(x: Int))"},
		{"an action", "irreversible action a(x): print(x)\na(1, 2)", "error 2:1 arguments: 'a' expects 1 argument(s), got 2 (it is a(x))"},
		{"a builtin", "len()\nprint(len(1, 2))", "error 1:1 arguments: 'len' expects 1 argument(s), got 0\nerror 2:7 arguments: 'len' expects 1 argument(s), got 2"},
		{"a builtin's own words", "assert()", "error 1:1 arguments: assert() expects 1 or 2 arguments"},
		{"a builtin's labels", "print(1, sep: \"-\")", "error 1:1 labels: 'print' does not accept labeled arguments (sep)"},
		{"a builtin that is rebound", "len = lambda a, b: a\nprint(len(1, 2))", ""},
		{"a name that is a builtin's too", "def max(a): return a\nprint(max(1))", ""},
		{"a name that is a builtin's at first", "print(max(1, 2))\ndef max(a): return a\nprint(max(1))", ""},
		{"a builtin's name in a function", "def max(a): return a\ndef g(): return max(1, 2)\nprint(g())", "error 2:17 arguments: 'max' expects 1 argument(s), got 2 (it is max(a))"},
		{"a function that is set anew", "def f(a): return a\nf = print\nf(1, 2)", ""},
		{"a function that is declared twice", "def f(a): return a\ndef f(a, b): return a\nf(1, 2)", ""},
		{"a parameter of that name", "def f(a): return a\ndef g(f): return f(1, 2)\nprint(g(max))", ""},
		{"in a method", "print(\"a\".pad_left())", "error 1:7 arguments: 'String.pad_left' expects 1 to 2 argument(s), got 0 (it is String.pad_left(width, fill?))"},
		{"no such method", "print(\"a\".uper())", "error 1:11 no-member: cannot access member 'uper' on type String (did you mean 'upper'?)"},
		{"a method of what a name holds", "s = \"a\"\nprint(s.length())", "error 2:9 no-member: cannot access member 'length' on type String"},
		{"not callable", "x = 5\nx()", "error 2:1 not-callable: value of type Int is not callable"},
		{"not callable with labels", "x = 5\nx(a: 1)", "error 2:1 not-callable: labeled arguments are only supported for a handful of builtins (e.g. inference(...)) -- not Int"},
		{"a provider", "model m = inference(\"opnai\")", "error 1:21 provider: inference(): unknown provider 'opnai' -- supported: anthropic, auto, mock, ollama, openai, openai-compatible (did you mean 'openai'?)"},
	})
}

func TestTypes(t *testing.T) {
	run(t, []example{
		{"declaration", "x: Int = \"s\"", "error 1:1 type: cannot assign value of type String to 'x: Int'"},
		{"a Float takes an Int", "x: Float = 1", ""},
		{"unknown annotation", "x: Thing = 1", ""},
		{"elements", "x: Array<Int> = [1, \"a\"]\ny: Map<Int> = {\"a\": nil}",
			"error 1:1 type: cannot assign value of type Array to 'x: Array<Int>'\nerror 2:1 type: cannot assign value of type Map to 'y: Map<Int>'"},
		{"argument", "def f(n: Int): return n\nf(\"5\")\nf(n: nil)", "error 2:3 type: argument 'n' of 'f' expects Int, got String\nerror 3:6 type: argument 'n' of 'f' expects Int, got Nil"},
		{"argument by a name", "def f(n: Int): return n\ns = str(1)\nf(s)", "error 3:3 type: argument 'n' of 'f' expects Int, got String"},
		{"a name that may hold either", "def f(n: Int): return n\nx = 1\nif f(1) > 0: x = \"a\"\nf(x)", ""},
		{"result", "def f() -> Int: return \"a\"\nf()", "error 1:17 type: 'f' declared to return Int, got String"},
		{"empty return", "def f() -> Int:\n    return\nf()", "error 2:5 type: 'f' declared to return Int, got Nil"},
		{"no result", "def f() -> Int: print(1)", "warning 1:5 no-result: 'f' is declared to return Int, but never returns a value"},
		{"no result is meant", "def f() -> Nil: print(1)\ndef g() -> Int: raise \"no\"\ndef h() -> Int:\n    while true: print(1)", ""},
		{"default", "def f(n: Int = \"a\"): return n", "error 1:7 type: the default of 'n' does not fit: expected Int, got String"},
		{"operators", "print(1 + \"a\")\nprint([] - 1)\nprint(nil < 1)\nprint(-\"a\")",
			"error 1:9 type: '+' requires both operands to be String (got Int and String); use str() to convert\nerror 2:10 type: '-' requires numeric operands, got Array and Int\nerror 3:11 type: '<' requires numeric operands, got Nil and Int\nerror 4:7 type: unary '-' requires a number, got String"},
		{"augmented", "s = \"a\"\ns += 1", ""}, // what s holds after a first += is not followed
		{"equality takes all", "print(1 == \"a\", nil != [])", ""},
		{"loop over a number", "for i in 10: print(i)", "error 1:10 type: cannot iterate over value of type Int (to count, loop over range(...))"},
		{"loop over nil", "x = nil\nfor i in x: print(i)", "error 2:10 type: cannot iterate over value of type Nil"},
		{"index", "print(5[0])\nprint([1][\"a\"])\nprint({\"a\": 1}[0])", "error 1:8 type: cannot index into type Int\nerror 2:10 type: index must be Int, got String\nerror 3:15 type: map keys must be String, got Int"},
		{"map keys", "print({1: 2})", "error 1:8 type: map keys must be String, got Int"},
		{"apart", "a, b = 5\nc, d = [1]\ne, f = 1, 2, 3", "error 1:1 type: cannot take apart value of type Int into 2 names\nerror 2:1 count: expected 2 values to take apart, got 1\nerror 3:1 count: expected 2 values to take apart, got 3"},
		{"model", "model m = 5\nset delegation = \"m\"", "error 1:1 type: 'model m' expects a Model, got Int\nerror 2:1 type: 'set delegation' requires a Model value, got String"},
		{"setting", "set delegaton = 1", "error 1:5 unknown-setting: unknown 'set' target 'delegaton' (only 'delegation' is supported so far) (did you mean 'delegation'?)"},
		{"error members", "try:\n    print(1)\ncatch e:\n    print(e.mesage)", "error 4:13 no-member: error has no member 'mesage' (did you mean 'message'?)"},
		{"recursion of types", "def f(n: Int): return n\nx = 1\nfor i in range(3): x = x + i\nf(x)", ""},
		{"async tool", "async tool t() returns Int \"t\": return 1\nx: Int = t()", "error 2:1 type: cannot assign value of type Future to 'x: Int'"},
		{"loop over range", "for i in range(3): print(\"n\" + i)", "error 1:30 type: '+' requires both operands to be String (got String and Int); use str() to convert"},
	})
}

func TestFlow(t *testing.T) {
	run(t, []example{
		{"after return", "def f():\n    return 1\n    print(2)\n    nope()\nf()", "warning 3:5 unreachable: this is never reached: it stands after 'return'"},
		{"after raise", "def f():\n    raise \"x\"\n    print(2)\nf()", "warning 3:5 unreachable: this is never reached: it stands after 'raise'"},
		{"after break", "while true:\n    break\n    print(1)", "warning 3:5 unreachable: this is never reached: it stands after 'break'"},
		{"after continue", "for i in []:\n    continue\n    print(1)", "warning 3:5 unreachable: this is never reached: it stands after 'continue'"},
		{"after an endless loop", "while true: print(1)\nprint(2)", "warning 2:1 unreachable: this is never reached: the loop before it has no end"},
		{"after a loop that is left", "while true:\n    if 1 < 2: break\nprint(2)", ""},
		{"after both branches", "def f(x):\n    if x: return 1\n    else: return 2\n    print(3)\nf(1)", "warning 4:5 unreachable: this is never reached: the statement before it always leaves"},
		{"one branch goes on", "def f(x):\n    if x: return 1\n    return 2\nf(1)", ""},
		{"try", "def f():\n    try:\n        return 1\n    catch e:\n        print(e)\n    return 2\nf()", ""},
		{"try that leaves", "def f():\n    try:\n        return 1\n    catch e:\n        raise e\n    print(1)\nf()", "warning 6:5 unreachable: this is never reached: the statement before it always leaves"},
		{"stray", "return 1\nbreak\n", "error 1:1 misplaced: 'return' outside a function\nwarning 2:1 unreachable: this is never reached: it stands after 'return'"},
		{"stray break", "def f():\n    break\nfor i in []: f()", "error 2:5 misplaced: 'break' outside a loop"},
		{"return in an agent", "agent a:\n    return\nstart(a)", ""},
	})
}

func TestPolicyFindings(t *testing.T) {
	const mail = "tool send() requires mail.send \"s\": return 1\nsend()\n"
	run(t, []example{
		{"used", mail + "policy: deny mail.send", ""},
		{"wildcard", mail + "policy: deny mail.*", ""},
		{"unused", mail + "policy: deny mail.sent", "warning 3:9 unused-rule: policy rule 'deny mail.sent' matches no capability of this program — did you mean 'mail.send'?"},
		{"a builtin's", "policy: deny net.http", ""},
		{"a connection's tool", "c = connect_mcp(\"c\", \"x\", [], \"mcp.c\")\npolicy: deny mcp.c.delete_*\nprint(c)", ""},
		{"shows in a run", "def f(cap): return connect_mcp(\"c\", \"x\", [], cap)\npolicy: deny anything\nprint(f)", ""},
		{"approval on a tool", "tool t() requires approval \"t\": return 1\nt()", "note 1:19 approval-on-tool: on a tool, 'approval' is a capability of that name; only an action waits for an approval"},
	})
}

func TestModules(t *testing.T) {
	mods := files{
		"lib.sns":    "def area(w, h): return w * h\npi = 3\nif pi > 2: hidden = 1\n",
		"bad.sns":    "def f(:\n",
		"a.sns":      "import \"b.sns\"\n",
		"b.sns":      "import \"a.sns\"\n",
		"uses.sns":   "from \"lib.sns\" import area as surface\n",
		"faulty.sns": "print(wrng)\nwrong = 1\n",
	}
	for _, e := range []example{
		{"fine", "import \"lib.sns\"\nprint(lib.area(1, 2), lib.pi, lib.len([]))", ""},
		{"no member", "import \"lib.sns\" as l\nprint(l.aera(1, 2))\nprint(l.hidden)", "error 2:9 no-member: module 'lib' has no member 'aera' (did you mean 'area'?)\nerror 3:9 no-member: module 'lib' has no member 'hidden'"},
		{"argument count", "import \"lib.sns\"\nprint(lib.area(1))", "error 2:7 arguments: 'area' expects 2 argument(s), got 1 (it is area(w, h))"},
		{"from", "from \"lib.sns\" import area, aera\nprint(area(1))", "error 1:29 no-member: module 'lib' has no member 'aera' (did you mean 'area'?)\nerror 2:7 arguments: 'area' expects 2 argument(s), got 1 (it is area(w, h))"},
		{"from an importer", "from \"uses.sns\" import surface\nsurface()", "error 2:1 arguments: 'area' expects 2 argument(s), got 0 (it is area(w, h))"},
		{"circular", "import \"a.sns\"", "error b.sns:1:1 circular-import: circular import detected: /project/a.sns"},
		{"syntax", "import \"bad.sns\"", "error bad.sns:1:7 syntax: expected a parameter name (got COLON ':')"},
		{"a mistake in a module", "import \"faulty.sns\"\nimport \"faulty.sns\" as again", "error faulty.sns:1:7 undefined-name: undefined variable 'wrng' (did you mean 'wrong'?)"},
		{"standard", "import std.json\nfrom std.fs import read\nprint(json.parse(read(\"a\")))", ""},
		{"standard member", "import std.json\njson.pars(\"\")", "error 2:6 no-member: module 'std.json' has no member 'pars' (did you mean 'parse'?)"},
		{"standard arguments", "import std.json\njson.parse()\njson.dump(1, indnt: 2)", "error 2:1 arguments: 'std.json.parse' expects 1 argument(s), got 0 (it is std.json.parse(text))\nerror 3:14 labels: 'std.json.dump' has no parameter 'indnt' (did you mean 'indent'?)"},
	} {
		t.Run(e.name, func(t *testing.T) {
			r := Source("t.sns", e.src, Options{ReadFile: mods.read})
			got := strings.TrimSuffix(found(r), "\n")
			if i := strings.Index(got, "detected: /"); i >= 0 { // the folder is any
				j := strings.Index(got[i:], "/a.sns")
				got = got[:i] + "detected: /project" + got[i+j:]
			}
			if got != e.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, e.want)
			}
		})
	}
}

func TestModuleNotFound(t *testing.T) {
	for src, want := range map[string]string{
		"import \"none.sns\"": "module not found: 'none.sns' (resolved to ",
		"import lib.none":     "module not found: 'lib/none.sns' (resolved to ",
		"import std.jsn":      "module not found: 'std.jsn' (resolved to ",
	} {
		r := Source("t.sns", src, Options{ReadFile: files{}.read})
		if len(r.Findings) != 1 || !strings.HasPrefix(r.Findings[0].Msg, want) || r.Findings[0].Code != "no-module" {
			t.Errorf("%s: %s", src, found(r))
		}
	}
}

func TestShadowedModule(t *testing.T) {
	t.Chdir("testdata")
	r := Source("shadow.sns", "import std.json\nprint(json.mine)", Options{})
	if want := "note shadow.sns:1:1 shadowed-module: 'std.json' is the file std/json.sns here, not the standard module\n"; found(r) != want {
		t.Errorf("got %s", found(r))
	}
}

func TestSyntax(t *testing.T) {
	r := Source("t.sns", "x = (1", Options{})
	if !r.Failed() || r.Count(Error) != 1 || r.Findings[0].Code != "syntax" || len(r.Needs) != 0 {
		t.Errorf("got %s", found(r))
	}
}

// needsOf words needs, one a line.
func needsOf(r *Report) string {
	var b strings.Builder
	for _, n := range r.Needs {
		fmt.Fprintf(&b, "%s %v %s :%d %s\n", n.Capability, n.Allowed, n.For, n.Pos.Line, n.Rule)
	}
	return b.String()
}

func TestNeeds(t *testing.T) {
	ceiling := &policy.Ceiling{}
	if err := ceiling.Deny("--deny", "mail"); err != nil {
		t.Fatal(err)
	}
	strict := &policy.Ceiling{}
	strict.SetStrict()
	const send = "tool send() requires mail.send \"s\": return 1\n"
	for _, e := range []struct {
		name, src string
		ceiling   *policy.Ceiling
		want      string
	}{
		{"none", "print(1)", nil, ""},
		{"unused tool", send, nil, "mail.send true tool 'send' :1 \n"},
		{"denied", send + "policy: deny mail.send\nsend()", nil, "mail.send false tool 'send' :3 decided by 'deny mail.send' at t.sns:2\n"},
		{"before the rule", send + "send()\npolicy: deny mail.send", nil, "mail.send true tool 'send' :2 \n"},
		{"in turn", send + "def f(): return send()\nsend()\npolicy: deny mail.send\nsend()\nf()\npolicy: allow mail.send\nsend()", nil,
			"mail.send true tool 'send' :2 decided by 'allow mail.send' at t.sns:7\nmail.send true tool 'send' :3 \n" +
				"mail.send false tool 'send' :5 decided by 'deny mail.send' at t.sns:4\nmail.send true tool 'send' :8 decided by 'allow mail.send' at t.sns:7\n"},
		{"per scope", send + "send()\nsession s:\n    policy: deny mail.*\n    send()", nil,
			"mail.send true tool 'send' :2 \nmail.send false tool 'send' :5 decided by 'deny mail.*' at t.sns:4\n"},
		{"lifted", send + "policy: default deny\nsession s:\n    policy: allow mail.send\n    send()", nil, "mail.send true tool 'send' :5 decided by 'allow mail.send' at t.sns:4\n"},
		{"default", send + "policy: default deny\nsend()", nil, "mail.send false tool 'send' :3 decided by 'default deny' at t.sns:2\n"},
		{"ceiling", send + "policy: allow mail.send\nsend()", ceiling, "mail.send false tool 'send' :3 decided by 'deny mail' of --deny\n"},
		{"strict", send + "send()", strict, "mail.send false tool 'send' :2 decided by 'default deny' of --strict\n"},
		{"action", "irreversible action a() requires approval, x.y: print(1)\na()", nil, "x.y true action 'a' :2 \n"},
		{"model", "model m = inference(\"openai\", \"gpt\")\nmodel n = inference(\"mock\")", nil, "model.openai true model 'openai' :1 \n"},
		{"any model", "model m = inference(\"auto\")", nil,
			"model.anthropic true model 'auto', where it finds anthropic :1 \nmodel.ollama true model 'auto', where it finds ollama :1 \nmodel.openai true model 'auto', where it finds openai :1 \n"},
		{"unknown model", "def f(p): return inference(p)\nprint(f)", nil, " true a model whose provider shows in a run :1 \n"},
		{"server", "fs = connect_mcp(\"files\", \"x\", [], \"mcp.files\")\npolicy: deny mcp.files", nil,
			"mcp.connect true MCP server 'files' :1 \nmcp.files false the tools of MCP server 'files' :1 decided by 'deny mcp.files' at t.sns:2\nprocess.run true MCP server 'files' :1 \n"},
		{"standard", "import std.fs\nfs.copy(\"a\", \"b\")\nprint(fs.read(\"b\"))", nil, "fs.read true std.fs.copy :2 \nfs.read true std.fs.read :3 \nfs.write true std.fs.copy :2 \n"},
		{"python", "import python \"os.path\" as p\npolicy: deny python\nprint(p)", nil, "python.os.path true python module 'os.path' :1 \n"},
		{"python denied", "policy: deny python\nimport python \"os.path\" as p\nprint(p)", nil, "python.os.path false python module 'os.path' :2 decided by 'deny python' at t.sns:1\n"},
	} {
		t.Run(e.name, func(t *testing.T) {
			r := Source("t.sns", e.src, Options{Ceiling: e.ceiling})
			if got := needsOf(r); got != e.want {
				t.Errorf("got:\n%swant:\n%s", got, e.want)
			}
		})
	}
}

func TestNeedsOfModules(t *testing.T) {
	mods := files{"lib.sns": "tool send() requires mail.send \"s\": return 1\ndef both(): return send()\n"}
	r := Source("t.sns", "import \"lib.sns\"\npolicy: deny mail.send\nlib.send()\nlib.both()", Options{ReadFile: mods.read})
	want := "mail.send false tool 'send' :3 decided by 'deny mail.send' at t.sns:2\n"
	if got := needsOf(r); !strings.HasPrefix(got, want) || strings.Contains(got, "true") {
		t.Errorf("got:\n%s", got)
	}
}

func TestLongChains(t *testing.T) {
	var b strings.Builder
	b.WriteString("x = 0\nprint(x")
	for range 20_000 {
		b.WriteString(" + x")
	}
	b.WriteString(")\n")
	for i := range 300 { // each depends twice on the one before
		fmt.Fprintf(&b, "v%d = v%d + v%d\n", i+1, i, i)
	}
	r := Source("t.sns", "v0 = 1\n"+b.String(), Options{})
	if len(r.Findings) != 0 {
		t.Errorf("got %d findings, first %v", len(r.Findings), r.Findings[0])
	}
}

func FuzzSource(f *testing.F) {
	for _, s := range []string{"x = 1\nprint(y)", "def f(a): return f(a)\nf()", "try:\n    raise 1\ncatch e:\n    pass", "a, b = b, a", "import std.json\njson.x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, g := range Source("t.sns", src, Options{ReadFile: files{}.read}).Findings {
			if g.Msg == "" || g.Code == "" {
				t.Errorf("%q: a finding without words: %v", src, g)
			}
		}
	})
}

// In a program with tens of thousands of mistakes each is reported, the first
// with near names and the places where a name is set, the last without the former.
func TestManyFindings(t *testing.T) {
	const many = 4_000
	var src strings.Builder
	for i := range many {
		fmt.Fprintf(&src, "def name_%d():\n    inner_%d = 1\n    return nome_%d\nprint(inner_%d)\n", i, i, i, i)
	}
	r := Source("t.sns", src.String(), Options{ReadFile: files{}.read})
	if n := r.Count(Error); n != 2*many {
		t.Fatalf("%d errors", n)
	}
	first, last := r.Findings[0], r.Findings[len(r.Findings)-2]
	if !strings.HasPrefix(fmt.Sprint(first.Notes), "[did you mean 'name_") || len(last.Notes) != 0 {
		t.Errorf("notes %q, and at the end %q", first.Notes, last.Notes)
	}
	if got := fmt.Sprint(r.Findings[len(r.Findings)-1].Notes); !strings.Contains(got, "inside the function 'name_3999'") {
		t.Errorf("where the last name is set: %s", got)
	}
}

// TestRulesAreSetOnce checks a program with many rules and as many needs between
// them: no rule is set anew for each need.
func TestRulesAreSetOnce(t *testing.T) {
	const n = 300
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "tool t%d() requires c.n%d \"t\": return 1\npolicy: deny c.n%d\nt%d()\ndef f%d(): return t%d()\n", i, i, i, i, i, i)
	}
	c := newChecker(Options{})
	f, err := parser.Parse("t.sns", b.String())
	if err != nil {
		t.Fatal(err)
	}
	r := c.program(f)
	if len(r.Needs) != n || r.Needs[0].Allowed || len(r.Findings) > 0 {
		t.Fatalf("%d needs, the first %+v, findings %v", len(r.Needs), r.Needs[0], r.Findings)
	}
	if got := c.main.scope.all.set + c.main.scope.some.set; got > 3*n {
		t.Errorf("%d rules were set for %d", got, n)
	}
}
