package sense_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSettingsFiles runs programs below a user's and a project's sense.toml.
func TestSettingsFiles(t *testing.T) {
	const send = sendTool + "send()\n"
	tests := []struct {
		name, user, project, program string
		args                         []string
		runs                         bool
		message                      string
	}{
		{name: "nothing said", program: send, runs: true},
		{name: "the project denies", project: `deny = ["email"]`, program: send, message: "sense.toml"},
		{name: "the project allows something else", project: `allow = ["weather.*"]`, program: send, message: "sense.toml"},
		{name: "the project cannot lift the user's bound", user: `allow = ["weather.*"]`, project: `allow = ["email.*"]`, program: send, message: "sense.toml"},
		{name: "the project cannot lift a flag", project: `allow = ["email.*"]`, args: []string{"--allow", "weather.*"}, program: send, message: "--allow"},
		{name: "the user allows", user: `allow = ["email.*"]`, program: send, runs: true},
		{name: "the user allows besides a flag", user: `allow = ["email.*"]`, args: []string{"--allow", "weather.*"}, program: send, runs: true},
		{name: "the user denies", user: `deny = ["email.send"]`, args: []string{"--allow", "email.*"}, program: send, message: "sense.toml"},
		{name: "strict", project: `strict = true`, program: send, message: "--strict"},
		{name: "strict, allowed by the program", project: `strict = true`, program: "policy:\n    allow email.send\n" + send, runs: true},
		{name: "steps", project: `max_steps = 3`, args: []string{"--max-steps", "1000"}, program: "x = 1\nx = 2\nx = 3\nx = 4\nprint(\"RAN\")\n", message: "limit of 3 steps reached"},
		{name: "the user's steps are a default", user: `max_steps = 3`, args: []string{"--max-steps", "1000"}, program: "x = 1\nx = 2\nx = 3\nx = 4\nprint(\"RAN\")\n", runs: true},
		{name: "depth", project: `max_depth = 5`, program: "def f(n):\n    return f(n + 1)\nf(0)\n", message: "maximum recursion depth exceeded"},
		{name: "time", project: `timeout = "50ms"`, args: []string{"--timeout", "1h"}, program: "while true:\n    x = 1\n", message: "time limit of 50ms reached"},
		{name: "output", project: `max_output = "2"`, program: "print(\"RAN\")\n", message: "output limit of 2 bytes reached"},
		{name: "memory", project: `max_memory = "64M"`, program: "x = [1]\nwhile true:\n    x = x + x\n", message: "memory limit of 64 MiB reached"},
		{name: "unknown key", project: `alow = []`, program: send, message: "unknown key 'alow'"},
		{name: "malformed", user: `allow = `, program: send, message: "line 1"},
		{name: "malformed pattern", project: `deny = ["a..b"]`, program: send, message: "empty segment"},
		{name: "audit outside the project", project: `audit = "../../x"`, program: send, message: "below its own folder"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files := map[string]string{"work/sub/main.sns": tt.program, "work/sense.toml": tt.project, ".config/sense/sense.toml": tt.user}
			r := runIn(t, dir, files, append(append([]string{"run"}, tt.args...), "work/sub/main.sns")...)
			if tt.runs {
				if r.code != 0 || r.out != "RAN\n" {
					t.Errorf("it should run: %+v", r)
				}
				return
			}
			if r.code == 0 || strings.Contains(r.out, "RAN") || !strings.Contains(r.err, tt.message) {
				t.Errorf("want %q: %+v", tt.message, r)
			}
		})
	}
}

// TestSettingsAudit keeps the audit where a project says and takes the secrets
// out that a file names.
func TestSettingsAudit(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"main.sns":   "tool t(s: String) \"x\":\n    return s\nimport std.env\ntry:\n    raise \"failed with \" + env.get(\"PLANTED\", \"\")\ncatch e:\n    print(e.message)\nirreversible action a(s: String):\n    raise \"body of \" + env.get(\"PLANTED\", \"\")\nx = a(\"literal-secret-9\")\nx.verify()\nx.commit()\n",
		"sense.toml": "audit = \"log.jsonl\"\nsecrets = [\"${PLANTED}\", \"literal-secret-9\"]\n",
	}
	r := runWith(t, dir, files, []string{"PLANTED=hidden-value-77"}, "run", "main.sns")
	log := readFile(t, filepath.Join(dir, "log.jsonl"))
	if !strings.Contains(r.out, "hidden-value-77") {
		t.Errorf("what the program prints itself is its own: %+v", r)
	}
	for name, text := range map[string]string{"standard error": r.err, "the audit": log} {
		if strings.Contains(text, "hidden-value-77") || strings.Contains(text, "literal-secret-9") {
			t.Errorf("a secret is in %s: %s", name, text)
		}
		if !strings.Contains(text, "‹redacted:") {
			t.Errorf("nothing is redacted in %s: %s", name, text)
		}
	}
	if st, err := os.Stat(filepath.Join(dir, "log.jsonl")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the audit's mode: %v, %v", st, err)
	}
}
