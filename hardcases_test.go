package sense_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// hardCase is a fault that users of other languages reported, named after its row:
// a script, what it prints, and what its error says.
type hardCase struct {
	id, src string
	out     string // all of standard output
	err     string // a pattern that standard error matches; none means success
}

const (
	tab  = "\t"
	bom  = "\ufeff"
	nbsp = "\u00a0"
)

var languageCases = []hardCase{
	{"C01", "def f():\n    return 1\n" + tab + tab, "", `^SenseError: \[line 3\] tabs are not allowed for indentation`},
	{"C01/in the middle", "if true:\n    print(1)\n" + tab + "\n    print(2)\n", "", `^SenseError: \[line 3\] tabs are not allowed`},
	{"C02", "if true:\n" + tab + "print(1)\n", "", `^SenseError: \[line 2\] tabs are not allowed`},
	{"C02/mixed", "if true:\n  " + tab + "print(1)\n", "", `^SenseError: \[line 2\] tabs are not allowed`},
	{"C03", "if true:\r\n    print(1)\r\n\r\n    print(\"a\r\nb\")\r\n", "1\na\nb\n", ""},
	{"C03/lone CR", "if true:\r    print(1)\r\r    print(2)\r", "1\n2\n", ""},
	{"C04", bom + "print(1)\n", "1\n", ""},
	{"C04/inside", "print(1)\n" + bom + "print(2)\n", "", `\[line 2\] unexpected character.*(?i:feff)`},
	{"C05", "if true:\n    print(1)\n# col 0\n        # deep\n    print(2)\n# last", "1\n2\n", ""},
	{"C05/only a comment", "if true:\n    # nothing\nprint(1)\n", "", `\[line 3\] expected an indented block`},
	{"C06", "if true:\n    print(1)\n  print(2)\n", "", `\[line 3\] inconsistent indentation`},
	{"C06/top", " print(1)\n", "", `\[line 1\] .*(INDENT|indent)`},
	{"C07", "x = " + strings.Repeat("(", 300_000) + "1" + strings.Repeat(")", 300_000), "", `\[line 1\] .*deep`},
	{"C07/arrays", "x = " + strings.Repeat("[", 300_000) + strings.Repeat("]", 300_000), "", `\[line 1\] .*deep`},
	{"C07/calls", "print(" + strings.Repeat("len(", 100_000) + strings.Repeat(")", 100_000) + ")", "", `\[line 1\] .*deep`},
	{"C08/not", "print(" + strings.Repeat("not ", 100_000) + "true)", "", `\[line 1\] .*deep`},
	{"C08/minus", "print(" + strings.Repeat("-", 100_000) + "1)", "", `\[line 1\] .*deep`},
	{"C08/sum", "print(" + strings.Repeat("1 + ", 99_999) + "1)", "100000\n", ""},
	{"C08/else if", "if false: print(0)\n" + strings.Repeat("else if false: print(1)\n", 10_000) + "else: print(2)\n", "2\n", ""},
	{"C09", "def f(n): return f(n + 1)\nf(0)\n", "", `\[line 1\] maximum recursion depth exceeded`},
	{"C09/agent", "agent a:\n    def f(n): return f(n + 1)\n    f(0)\ntest \"x\": start(a)\nprint(a.status)\n", "failed\n", ""},
	{"C09/async tool", "async tool t(n):\n    def f(n): return f(n + 1)\n    return f(n)\ntry:\n    await(t(1))\ncatch e:\n    print(e.message)\n", "maximum recursion depth exceeded\n", ""},
	{"C09/test", "def f(n): return f(n + 1)\ntest \"deep\": f(0)\nprint(\"goes on\")\n", "goes on\n", ""},
	{"C11", "a = []\nb = [a]\npush(a, b)\nc = []\npush(c, [c])\nprint(a == c)\n", "", `\[line 6\] .*(recursion|deep|itself)`},
	{"C12", "print(-7 % 3, 7 % -3, -7.5 % 2, 10 % 0.3)\n", "2 -2 0.5 0.10000000000000037\n", ""},
	{"C13/int", "1 / 0\n", "", `^SenseError: \[line 1\] division by zero`},
	{"C13/float", "1.0 / 0.0\n", "", `^SenseError: \[line 1\] division by zero`},
	{"C13/modulo", "1 % 0\n", "", `^SenseError: \[line 1\] modulo by zero`},
	{"C13/float modulo", "1 % 0.0\n", "", `^SenseError: \[line 1\] modulo by zero`},
	{"C14", "x = 9223372036854775807\nm = -9223372036854775807 - 1\nprint(x + 1, x * x, -m, m - 1, m // -1, int(\"99999999999999999999\"))\nd = 1\nfor i in range(70): d = d * 2\nprint(d)\n",
		"9223372036854775808 85070591730234615847396907784232501249 9223372036854775808 -9223372036854775809 9223372036854775808 99999999999999999999\n1180591620717411303424\n", ""},
	{"C15", "m = 1000000.0\nprint(1.0, 6 / 2, 0.1 + 0.2, 1 / 3, m * m * 1000, m * m * 10000, 0.00001, 123456789.123456789, -0.0, float(\"inf\"), float(\"nan\"))\n",
		"1.0 3.0 0.30000000000000004 0.3333333333333333 1000000000000000.0 1e+16 1e-05 123456789.12345679 -0.0 inf nan\n", ""},
	{"C16", "s = \"a😀é日\"\nprint(len(s), s[1], s[-1], len(\"👨‍👩‍👧\"))\nfor c in s: print(c)\n", "4 😀 日 5\na\n😀\né\n日\n", ""},
	{"C17", "x = ²\n", "", `\[line 1\] unexpected character '²'`},
	{"C17/after a digit", "x = 1²\n", "", `\[line 1\] .*'²'`},
	{"C17/other digits", "x = ١٢\nprint(x, int(\"٣\"))\n", "12 3\n", ""},
	{"C18", "näme = 3\n日本 = 4\nprint(näme + 日本)\n", "7\n", ""},
	{"C18/combining", "e\u0301 = 1\n", "", `\[line 1\] unexpected character`},
	{"C18/emoji", "🦊 = 1\n", "", `\[line 1\] unexpected character '🦊'`},
	{"C18/smart quotes", "print(“x”)\n", "", `\[line 1\] unexpected character '“'`},
	{"C18/no-break space", "x" + nbsp + "= 1\n", "", `\[line 1\] unexpected character '\\xa0'`},
	{"C19", "x = [1,\n2,\nnope]\n", "", `\[line 3\] undefined variable 'nope'`},
	{"C19/call", "def f(a): return a\nf(\n1,\n2)\n", "", `\[line 2\] 'f' expects 1 argument\(s\), got 2`},
	{"C19/string", "x = 1\ny = \"open\nz = 3\n\n\n", "", `\[line 2\] unterminated string literal`},
	{"C30", "a = [1, 2]\nfor x in a:\n    if len(a) < 5: push(a, 9)\n    print(x)\nfor x in a:\n    for x in a: x = x + 1\nprint(len(a))\n", "1\n2\n9\n9\n9\n5\n", ""},
	{"C31", "m = {\"a\": 1}\ntool t(q): return q\npolicy: deny model.default.tool\nagent a: memory = 5\ntest \"x\": print(m.memory)\nprint(\"parsed\")\n", "", `SenseError`},
	{"C32", "print(1)\n\x00", "", `\[line 2\] `},

	{"D04", "policy:\n    dney x.y\n", "", `\[line 2\] expected 'allow' or 'deny' in a policy rule`},
	{"D06", "tool t() requires x: return \"ran\"\npolicy:\n    allow x\n    deny x\ntest \"the last rule of a scope wins\": print(t())\npolicy:\n    deny x\n    allow x\nprint(t())\n", "ran\n", ""},
	{"D07/alias", "tool t() requires x: return 1\nt2 = t\npolicy: deny x\nt2()\n", "", `requires capability 'x'`},
	{"D07/session", "tool t() requires x: return \"ran\"\ndef g(): return t()\nsession s:\n    policy: deny x\n    test \"a deny follows the call\": print(g())\nprint(\"end\")\n", "end\n", ""},
	{"D08", "tool t() requires x: return 1\nreversible action a(): return t()\nrollback: return nil\npolicy: deny x\np = a()\np.verify()\ntest \"denied inside\": p.commit()\nprint(p.state)\nfor e in audit_log(): print(e)\n",
		"failed\n[line 5] reversible action 'a' -> prepared\n[line 6] reversible action 'a' -> verified\n[line 2] tool 't' -> denied (capability 'x' denied by policy) (via reversible:a)\nreversible action 'a' -> failed ([line 2] tool 't' requires capability 'x', which is denied by policy)\n", ""},
	{"D09", "irreversible action a() requires x: return 1\np = a()\np.verify()\npolicy: deny x\np.commit()\n", "", `\[line 5\] action 'a' requires capability 'x', which is denied by policy`},
	{"D11", "x = ask_human(\"ok?\")\nprint(\"never\")\n", "ok?\n> ", `\[line 1\] .*(end of|input)`},
	{"D15", "reversible action a(): return 1\nrollback:\n    print(\"undoing\")\n    1 / 0\np = a()\np.verify()\np.commit()\ntest \"fails\": p.rollback()\nprint(p.state)\ntest \"again\": p.rollback()\nfor e in audit_log(): print(e)\n",
		"undoing\ncommitted\nundoing\n[line 5] reversible action 'a' -> prepared\n[line 6] reversible action 'a' -> verified\n[line 7] reversible action 'a' -> committed\n[line 8] reversible action 'a' -> failed (rollback body failed: [line 4] division by zero)\n[line 10] reversible action 'a' -> failed (rollback body failed: [line 4] division by zero)\n", ""},
	{"D16", "undone = []\nreversible action a(n): return n\nrollback:\n    if n == 2: raise \"cannot undo 2\"\n    push(undone, n)\ndone = []\nfor n in [1, 2, 3]:\n    p = a(n)\n    p.verify()\n    p.commit()\n    push(done, p)\nfor p in done.reverse():\n    test \"undo\": p.rollback()\nprint(undone)\n", "[3, 1]\n", ""},
	{"D18", "persistent memory m: \"m.db\"\nasync tool w(n):\n    for i in range(20): m.remember(\"k\", n * 100 + i)\n    return n\nfs = []\nfor n in range(5): push(fs, w(n))\nfor f in fs: await(f)\nprint(len(m.history(\"k\")))\nfor v in [12345678901234567890, 1.0, 1, \"🦊\", nil]:\n    m.remember(\"\", v)\n    print(m.recall(\"\"), type_of(m.recall(\"\")))\nprint(m.as_of(\"k\", 0))\n",
		"100\n12345678901234567890 Int\n1.0 Float\n1 Int\n🦊 String\nnil Nil\nnil\n", ""},
}

func TestHardCases(t *testing.T) {
	for _, tt := range languageCases {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, exit := runScript(t, tt.src)
			if stdout != tt.out {
				t.Errorf("printed %q, want %q", stdout, tt.out)
			}
			checkError(t, stderr, exit, tt.err)
		})
	}
}

// checkError wants status 1 and a matching error, or, without a pattern, success.
func checkError(t *testing.T, stderr string, exit int, want string) {
	t.Helper()
	switch {
	case want == "" && (exit != 0 || stderr != ""):
		t.Errorf("exit status %d: %.500s", exit, stderr)
	case want != "" && exit != 1:
		t.Errorf("exit status %d, want 1: %.500s", exit, stderr)
	case want != "" && !regexp.MustCompile(want).MatchString(firstLine(stderr)):
		t.Errorf("%.500s\ndoes not match %s", stderr, want)
	}
}

// C20: an error of an imported file names that file, and the chain of calls.
func TestHardCaseC20(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "bad.sns"), "x = 1\ny = nope\n")
	writeFile(t, filepath.Join(dir, "later.sns"), "def f():\n    return g()\ndef g(): return 1 / 0\n")
	writeFile(t, filepath.Join(dir, "main.sns"), "print(\"main\")\nimport \"./bad.sns\"\n")
	writeFile(t, filepath.Join(dir, "call.sns"), "import \"./later.sns\" as later\nlater.f()\n")
	sense := binary(t, "sense")
	for script, wants := range map[string][]string{
		"main.sns": {"SenseError: [line 2] undefined variable 'nope'", "bad.sns:2"},
		"call.sns": {"SenseError: [line 3] division by zero", "later.sns:3", "call.sns:2", "later.sns:2"},
	} {
		var stderr bytes.Buffer
		cmd := exec.Command(sense, "run", script)
		cmd.Dir, cmd.Stderr = dir, &stderr
		if err := cmd.Run(); err == nil {
			t.Errorf("%s succeeds", script)
		}
		for _, want := range wants {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%s:\n%s\nlacks %s", script, stderr.String(), want)
			}
		}
	}
}

// Rows of the formatter: the text, and what it must become.
var formatCases = []struct{ id, src, want string }{
	{"C25/array", "x = [1,  # one\n     2]  # two\n", "# one\nx = [1, 2]  # two\n"},
	{"C25/policy", "policy: # why\n    allow a\n", ""},
	{"C25/call", "print(x, # arg\n3)\n", "# arg\nprint(x, 3)\n"},
	// The corpus and cli.md decide that a comment of its own line goes with what follows.
	{"C26", "if true:\n    print(1)\n    # last\nelse:\n    print(2)\n    # end of else\n", "if true:\n    print(1)\n# last\nelse:\n    print(2)\n    # end of else\n"},
	{"C26/def", "def f():\n    return 1\n    # last\nprint(f())\n", "def f():\n    return 1\n# last\nprint(f())\n"},
	{"C26/rollback", "reversible action a():\n    x = 1\n# before\nrollback:\n    y = 1\n", ""},
	{"C28/quote", "x = \"\"\"line\nends with quote\\\"\"\"\"\n", ""},
	{"C28/escapes", "x = \"\\\"\" + \"back\\\\\" + \"\\t\\r\\n\"\n", ""},
	{"C29", "#!/usr/bin/env sense\nx=1\n", "#!/usr/bin/env sense\nx = 1\n"},
}

// TestHardCasesFormat holds that the form is stable and that neither a comment nor
// a value is lost.
func TestHardCasesFormat(t *testing.T) {
	for _, tt := range formatCases {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			once := formatted(t, tt.src)
			if tt.want != "" && once != tt.want {
				t.Errorf("got\n%s\nwant\n%s", once, tt.want)
			}
			if twice := formatted(t, once); twice != once {
				t.Errorf("C24: twice gives\n%s\nafter\n%s", twice, once)
			}
			for _, comment := range regexp.MustCompile(`# ?(\w[\w ]*)`).FindAllStringSubmatch(tt.src, -1) {
				if !strings.Contains(once, "# "+strings.TrimSpace(comment[1])) {
					t.Errorf("the comment %q is lost:\n%s", comment[1], once)
				}
			}
		})
	}
	// C28: what is written reads back as the same value.
	for _, tt := range formatCases {
		if strings.HasPrefix(tt.id, "C28") {
			show := "\nprint(len(x), x)\n"
			want, _, _ := runScript(t, tt.src+show)
			got, stderr, _ := runScript(t, formatted(t, tt.src)+show)
			if got != want || want == "" {
				t.Errorf("%s: %q became %q\n%s", tt.id, want, got, stderr)
			}
		}
	}
}

func formatted(t *testing.T, src string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(binary(t, "sense"), "fmt", "-")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(src), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s\n%s", err, stderr.String(), src)
	}
	return stdout.String()
}

// C32: what cannot be read is one clear line, and a reader that goes away is quiet.
func TestHardCaseC32(t *testing.T) {
	sense, dir := binary(t, "sense"), t.TempDir()
	writeFile(t, filepath.Join(dir, "bytes.sns"), "print(1)\n\xff\xfe")
	for path, want := range map[string]string{
		"nosuch.sns": `^SenseError: no such file or directory: nosuch.sns$`,
		".":          `^SenseError: .*(folder|directory)`,
		"bytes.sns":  `^SenseError: \[line 2\] .*UTF-8`,
	} {
		var stderr bytes.Buffer
		cmd := exec.Command(sense, "run", path)
		cmd.Dir, cmd.Stderr = dir, &stderr
		_ = cmd.Run() // the status is compared
		if got := cmd.ProcessState.ExitCode(); got != 1 || !regexp.MustCompile(want).MatchString(firstLine(stderr.String())) {
			t.Errorf("%s: exit status %d, %s", path, got, stderr.String())
		}
	}
	writeFile(t, filepath.Join(dir, "big.sns"), "for i in range(1000000): print(i)\n")
	out, err := exec.Command("sh", "-c", fmt.Sprintf("%s run %s/big.sns 2>&1 | head -n 1", sense, dir)).Output()
	if err != nil || string(out) != "0\n" {
		t.Errorf("a broken pipe gives %q, %v", out, err)
	}
}
