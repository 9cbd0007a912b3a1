package sense_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// result is how a run of the binary ended.
type result struct {
	out, err string
	code     int
}

// runIn runs sense in a folder that holds files.
func runIn(t *testing.T, dir string, files map[string]string, args ...string) result {
	t.Helper()
	return runWith(t, dir, files, nil, args...)
}

// runWith is runIn with variables added to an environment that has only PATH
// and HOME, which is the folder.
func runWith(t *testing.T, dir string, files map[string]string, env []string, args ...string) result {
	t.Helper()
	for name, text := range files {
		writeFile(t, filepath.Join(dir, name), text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t, "sense"), args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the status is looked at
	if ctx.Err() != nil {
		t.Fatalf("sense %s hangs", strings.Join(args, " "))
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

const sendTool = "tool send() requires email.send:\n    print(\"RAN\")\n"

// bypasses are ways in which a program gets round its own policy. open is the
// program without a rule that its caller could be meant to obey; denied is the
// same where the code that calls denies, "" where the original has no such form.
var bypasses = []struct {
	name, open string
	files      map[string]string
	ceiling    []string
	denied     string // refused without a ceiling too, since the caller denies
}{
	{
		name: "a/no rule", open: sendTool + "send()\n",
		ceiling: []string{"--deny", "email.send"},
	},
	{
		name:    "b/a nested scope allows itself",
		open:    sendTool + "policy:\n    deny email.send\nsession s:\n    policy:\n        allow email.send\n    send()\n",
		ceiling: []string{"--deny", "email.send"},
	},
	{
		name:    "c/a later allow",
		open:    sendTool + "policy:\n    deny email.send\npolicy:\n    allow email.send\nsend()\n",
		ceiling: []string{"--deny", "email.send"},
	},
	{
		name:    "d/an imported module",
		files:   map[string]string{"lib.sns": sendTool + "def helper():\n    send()\n"},
		open:    "import \"lib.sns\" as lib\nlib.helper()\n",
		ceiling: []string{"--deny", "email.send"},
		denied:  "import \"lib.sns\" as lib\npolicy:\n    deny email.send\nlib.helper()\n",
	},
	{
		name:    "d/an imported module while it is imported",
		files:   map[string]string{"lib.sns": sendTool + "send()\n"},
		open:    "import \"lib.sns\" as lib\n",
		ceiling: []string{"--deny", "email.send"},
		denied:  "policy:\n    deny email.send\nimport \"lib.sns\" as lib\n",
	},
	{
		name:    "e/a function from outside the session that denies",
		open:    sendTool + "def g():\n    send()\ng()\n",
		ceiling: []string{"--deny", "email.send"},
		denied:  sendTool + "def g():\n    send()\nsession s:\n    policy:\n        deny email.send\n    g()\n",
	},
	{
		name:    "f/a parent's name",
		open:    sendTool + "policy:\n    deny email\nsend()\n",
		ceiling: []string{"--deny", "email"},
	},
	{
		name:    "g/python",
		open:    "import python \"os\" as os\nos.system(\"echo RAN >&2\")\nprint(\"RAN\")\n",
		ceiling: []string{"--deny", "python"},
		denied:  "policy:\n    deny python\nimport python \"os\" as os\nos.system(\"echo RAN >&2\")\n",
	},
	{
		name:    "h/an action approves itself",
		open:    "irreversible action pay() requires approval:\n    print(\"RAN\")\nx = pay()\nx.verify()\nx.approve()\nx.commit()\n",
		ceiling: []string{"--deny", "approval"},
	},
}

// TestNineBypasses runs what got round the original's policy: under a ceiling
// none succeeds; without one, (d) and (e) are refused where the caller denies
// and the others behave as in the original. The ninth, an audit that dies with
// its process, is TestBypassAudit.
func TestNineBypasses(t *testing.T) {
	for _, b := range bypasses {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(b.name, "g/") {
				needPython(t)
			}
			files := map[string]string{"main.sns": b.open}
			for n, s := range b.files {
				files[n] = s
			}
			dir := t.TempDir()
			if r := runIn(t, dir, files, "run", "main.sns"); !strings.Contains(r.out, "RAN") || r.code != 0 {
				t.Errorf("without a ceiling it is as in the original and runs: %+v", r)
			}
			refused(t, runIn(t, dir, files, append(append([]string{"run"}, b.ceiling...), "main.sns")...))
			refused(t, runIn(t, dir, files, "run", "--allow", "weather.read", "main.sns"))
			if b.denied != "" {
				files["main.sns"] = b.denied
				refused(t, runIn(t, dir, files, "run", "main.sns"))
			}
		})
	}
}

func refused(t *testing.T, r result) {
	t.Helper()
	if strings.Contains(r.out+r.err, "RAN\n") || r.code != 1 {
		t.Errorf("it was not refused: %+v", r)
	}
	if !strings.Contains(r.err, "denied by policy") {
		t.Errorf("nothing says that policy refused it: %q", r.err)
	}
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
}

// TestCeilingOfPython tries rules and ceilings for Python's modules against each
// other: nothing that the program says lifts the ceiling, and no library lifts
// what its caller denies.
func TestCeilingOfPython(t *testing.T) {
	needPython(t)
	const use = "import python \"os\" as os\nprint(\"RAN\")\n"
	tests := []struct {
		name, program string
		lib           string
		args          []string
		runs          bool
	}{
		{name: "a rule lifts no deny of the module", program: "policy:\n    allow python\n" + use, args: []string{"--deny", "python.os"}},
		{name: "a rule lifts no deny of the whole", program: "policy:\n    allow python.os\n" + use, args: []string{"--deny", "python"}},
		{name: "the whole allowed", program: use, args: []string{"--allow", "python"}, runs: true},
		{name: "the module allowed", program: use, args: []string{"--allow", "python.os"}, runs: true},
		{name: "another module allowed", program: use, args: []string{"--allow", "python.math"}},
		{name: "the whole allowed, the module denied by the program", program: "policy:\n    deny python.os\n" + use, args: []string{"--allow", "python"}},
		{name: "the module allowed, the whole denied by the program", program: "policy:\n    deny python\n" + use, args: []string{"--allow", "python.os"}},
		{name: "a module's own rule stands before that of the whole", program: "policy:\n    deny python\n    allow python.os\n" + use, runs: true},
		{name: "a library grants itself a module", program: "policy:\n    deny python\nimport \"lib.sns\" as lib\n",
			lib: "policy:\n    allow python.os\n" + use},
		{name: "strict", program: use, args: []string{"--strict"}},
		{name: "strict, allowed", program: "policy:\n    allow python.os\n" + use, args: []string{"--strict"}, runs: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := runIn(t, t.TempDir(), map[string]string{"main.sns": tt.program, "lib.sns": tt.lib}, append(append([]string{"run"}, tt.args...), "main.sns")...)
			if tt.runs {
				if r.code != 0 || r.out != "RAN\n" {
					t.Errorf("it should run: %+v", r)
				}
				return
			}
			refused(t, r)
		})
	}
}

// TestPythonUnderACeilingIsConfined looks for a planted secret in the
// environment of Python.
func TestPythonUnderACeilingIsConfined(t *testing.T) {
	needPython(t)
	program := map[string]string{"main.sns": "import python \"os\" as os\nprint(os.getenv(\"PLANTED\"))\n"}
	env := []string{"PLANTED=seven-secrets"}
	if r := runWith(t, t.TempDir(), program, env, "run", "main.sns"); r.out != "seven-secrets\n" {
		t.Errorf("without a ceiling Python sees the environment, as in the original: %+v", r)
	}
	if r := runWith(t, t.TempDir(), program, env, "run", "--allow", "python", "main.sns"); r.out != "nil\n" {
		t.Errorf("under a ceiling it does not: %+v", r)
	}
}
