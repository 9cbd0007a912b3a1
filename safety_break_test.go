package sense_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// started starts sense in a folder with main.sns; what it prints goes to a pipe
// that is read only where a test does.
func started(t *testing.T, program string, args ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.sns"), program)
	cmd := exec.Command(binary(t, "sense"), append(append([]string{"run"}, args...), "main.sns")...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, out
}

// endsWith waits for the process and gives its status.
func endsWith(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
		return cmd.ProcessState.ExitCode()
	case <-time.After(2 * time.Minute):
		t.Fatal("it does not end")
		return 0
	}
}

// TestBreakTimeoutUnread prints to somebody who does not read: the run is over
// all the same, by its time limit or by a signal.
func TestBreakTimeoutUnread(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals")
	}
	const program = "print(\"ready\")\ns = \"x\".repeat(1000000)\nwhile true:\n    print(s)\n"
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		cmd, _ := started(t, program, "--timeout", "500ms")
		if code := endsWith(t, cmd); code != 3 {
			t.Errorf("status %d", code)
		}
	})
	t.Run("signal", func(t *testing.T) {
		t.Parallel()
		cmd, out := started(t, program)
		first := make([]byte, 6)
		if _, err := io.ReadFull(out, first); err != nil || string(first) != "ready\n" {
			t.Fatalf("%q, %v", first, err)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if code := endsWith(t, cmd); code != 128+int(syscall.SIGTERM) {
			t.Errorf("status %d", code)
		}
	})
}

// TestBreakSlowSteps runs single operations that would take minutes: each is
// over, or refused, within the time limit and a little.
func TestBreakSlowSteps(t *testing.T) {
	const huge = "import std.math\nx = 3 ** 6000000\ny = 7 ** 3500000\n"
	for name, code := range map[string]string{
		"quotient":          huge + "print(y / x)\n",
		"common divisor":    huge + "print(math.gcd(x, y))\n",
		"common multiple":   huge + "print(math.lcm(x, y))\n",
		"root":              huge + "print(math.isqrt(x))\n",
		"sort without end":  "a = range(300000)\nwhile true:\n    b = sorted(a, lambda n: (n * 7919) % 300007)\n",
		"factorial":         "import std.math\nmath.factorial(10 ** 9)\n",
		"a number too long": "x = 9 ** (9 ** 9)\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runIn(t, t.TempDir(), map[string]string{"main.sns": code}, "run", "--timeout", "3s", "main.sns")
			if r.code != 1 && r.code != 3 || !strings.HasPrefix(r.err, "SenseError: ") {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestBreakSecretSinks looks for planted secrets where they came through: the
// description in a plan, an excerpt that is cut in the middle of one, a server's
// last words in the commands of `sense mcp`, an answer to an MCP client.
func TestBreakSecretSinks(t *testing.T) {
	const secret = "planted-0123456789-abcdef"
	env := []string{"PLANTED=" + secret}
	files := map[string]string{
		"sense.toml": "secrets = [\"${PLANTED}\"]\n",
		"plan.sns":   "import std.env\nirreversible action pay(to):\n    pass\np = pay(env.get(\"PLANTED\"))\np.verify()\np.commit()\n",
		"cut.sns":    "connect_mcp(\"x\", url: \"http://127.0.0.1:1/aaaaaaaaaa\", headers: {\"Authorization\": \"Bearer " + secret + "\"})\n",
		"served.sns": "import std.env\nimport std.fs\ntool look():\n    return fs.read(env.get(\"PLANTED\"))\n",
		".mcp.json":  `{"mcpServers": {"s": {"command": "sh", "args": ["-c", "echo $DB_PASS >&2; exit 1"], "env": {"DB_PASS": "` + secret + `"}}}}`,
	}
	dir := t.TempDir()
	texts := map[string]string{}
	keep := func(name string, r result) { texts[name] = r.out + r.err }
	keep("dry run", runWith(t, dir, files, env, "run", "--dry-run", "--plan", "plan.json", "plan.sns"))
	texts["plan"] = readFile(t, filepath.Join(dir, "plan.json"))
	if !strings.Contains(texts["plan"], "pay(to: ") {
		t.Errorf("the plan: %s", texts["plan"])
	}
	if r := runWith(t, dir, nil, env, "apply", "plan.json"); r.code != 0 {
		t.Errorf("a plan without its secrets cannot be applied: %+v", r)
	}
	keep("excerpt", runWith(t, dir, nil, env, "run", "cut.sns"))
	keep("mcp tools", runWith(t, dir, nil, env, "mcp", "tools", "s", "--yes"))
	keep("mcp list", runWith(t, dir, nil, env, "mcp", "list", "--yes"))
	keep("mcp list --json", runWith(t, dir, nil, env, "mcp", "list", "--json", "--yes"))
	init := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"look","arguments":{}}}`
	ask := exec.Command(binary(t, "sense"), "mcp", "serve", "served.sns")
	ask.Dir, ask.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	ask.Stdin = strings.NewReader(init + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + call + "\n")
	answer, err := ask.CombinedOutput()
	if texts["served"] = string(answer); err != nil || !strings.Contains(texts["served"], "std.fs.read") {
		t.Errorf("serving: %v: %s", err, answer)
	}
	for name, text := range texts {
		if strings.Contains(text, secret[:8]) {
			t.Errorf("%s shows (some of) the secret: %s", name, text)
		}
	}
	for _, name := range []string{"plan", "mcp tools", "mcp list", "served"} {
		if !strings.Contains(texts[name], "redacted:") {
			t.Errorf("%s does not say that something is missing: %s", name, texts[name])
		}
	}
}

// TestBreakHiddenNames has a project, and a program, call the name of an action
// a secret: the audit tells of the action all the same.
func TestBreakHiddenNames(t *testing.T) {
	t.Parallel()
	const act = "irreversible action transfer_everything():\n    pass\np = transfer_everything()\np.verify()\np.commit()\n"
	for name, files := range map[string]map[string]string{
		"a project": {"sense.toml": "secrets = [\"transfer_everything\"]\n", "main.sns": act},
		"a program": {"main.sns": "try:\n    connect_mcp(\"x\", command: \"nothing-there\", env: {\"API_TOKEN\": \"transfer_everything\"})\ncatch e:\n    print(e.kind)\n" + act},
	} {
		dir := t.TempDir()
		r := runIn(t, dir, files, "run", "--audit", "a.jsonl", "main.sns")
		entries, _ := readAudit(t, dir)
		told := 0
		for _, e := range entries {
			if e.Name == "transfer_everything" && e.Event == "committed" {
				told++
			}
		}
		if r.code != 0 || told != 1 {
			t.Errorf("%s: %+v, %+v", name, r, entries)
		}
	}
}

// TestBreakAuditThroughLink has a project name an audit file below its folder
// that a symbolic link leads out of.
func TestBreakAuditThroughLink(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "logs")); err != nil {
		t.Skip(err)
	}
	files := map[string]string{"sense.toml": "audit = \"logs/a.jsonl\"\n", "main.sns": "tool t():\n    pass\nt()\n"}
	r := runIn(t, dir, files, "run", "main.sns")
	if r.code == 0 || !strings.Contains(r.err, "below its own folder") {
		t.Errorf("%+v", r)
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("it wrote %v outside", left)
	}
	files["sense.toml"] = "audit = \"a.jsonl\"\n"
	if r := runIn(t, dir, files, "run", "main.sns"); r.code != 0 {
		t.Errorf("a file of its own: %+v", r)
	}
}

// TestBreakJSONOnATerminal has a server's description hide characters: as JSON
// they are codes, which read back as the same.
func TestBreakJSONOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = "plain \u202eback\u200b \U000E0041 end"
	init := `read line; echo '{"jsonrpc":"2.0","id":'"$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')"',"result":`
	script := init + `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}'
read line
` + init + `{"tools":[{"name":"t","description":"` + text + `","inputSchema":{"type":"object"}}]}}'
cat >/dev/null
`
	config := `{"mcpServers": {"s": {"command": "sh", "args": ["` + filepath.Join(dir, "server.sh") + `"]}}}`
	r := runIn(t, dir, map[string]string{"server.sh": script, ".mcp.json": config}, "mcp", "tools", "s", "--json", "--yes")
	if strings.ContainsAny(r.out, "\u202e\u200b\U000E0041") || r.code != 0 {
		t.Errorf("%+v", r)
	}
	var got any
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || !strings.Contains(fmt.Sprint(got), text) {
		t.Errorf("%v: %v", err, got)
	}
}

// TestBreakPythonLeavesNothing has a module start programs that leave its group
// and its session; all are gone when the run is over.
func TestBreakPythonLeavesNothing(t *testing.T) {
	t.Parallel()
	needPython(t)
	if runtime.GOOS != "linux" {
		t.Skip("sessions are found on Linux only")
	}
	for name, end := range map[string]string{"at its end": "print(\"done\")\n", "at an error": "raise \"x\"\n"} {
		dir := t.TempDir()
		program := "import python \"os\" as os\nos.system(\"setsid sleep 6543 & echo $! > plain; setsid sh -c 'sleep 6544 & echo $! > inner; sleep 6545'\" + \" &\")\n" +
			"while not (fs.exists(\"plain\") and fs.exists(\"inner\") and fs.read(\"inner\") != \"\"):\n    pass\n" + end
		r := runIn(t, dir, map[string]string{"main.sns": "import std.fs\n" + program}, "run", "main.sns")
		if want := map[string]int{"at its end": 0, "at an error": 1}[name]; r.code != want {
			t.Errorf("%s: %+v", name, r)
		}
		for _, file := range []string{"plain", "inner"} {
			pid := strings.TrimSpace(readFile(t, filepath.Join(dir, file)))
			if line, err := os.ReadFile("/proc/" + pid + "/cmdline"); err == nil && strings.HasPrefix(string(line), "sleep\x0065") {
				t.Errorf("%s: %s is left: %q", name, file, line)
			}
		}
	}
}

// TestBreakOwnAudit has a program that may write files get at its own audit, by
// its name, by links, by the folder above; what it did stays on record.
func TestBreakOwnAudit(t *testing.T) {
	t.Parallel()
	const program = `import std.fs
tool t():
    pass
t()
for way in [lambda x: fs.write("logs/a.jsonl", ""), lambda x: fs.append("logs/a.jsonl", "x"), lambda x: fs.remove("logs/a.jsonl"), lambda x: fs.move("logs/a.jsonl", "b"), lambda x: fs.move("other", "logs/a.jsonl"), lambda x: fs.copy("other", "logs/a.jsonl"), lambda x: fs.remove("logs", recursive: true), lambda x: fs.move("logs", "gone"), lambda x: fs.write("soft", "x"), lambda x: fs.append("soft", "x"), lambda x: fs.append("hard", "x"), lambda x: fs.write("by/a.jsonl", "x"), lambda x: fs.remove("by/a.jsonl"), lambda x: fs.write("./logs/../logs/a.jsonl", "x")]:
    try:
        way(0)
        print("DONE")
    catch e: print(e.message.contains("audit"))
fs.write("logs/other", "fine")
fs.remove("logs/other")
t()
`
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	audit := filepath.Join(dir, "logs", "a.jsonl")
	runIn(t, dir, map[string]string{"first.sns": "tool t():\n    pass\nt()\n", "other": "x"}, "run", "--audit", "logs/a.jsonl", "first.sns")
	for _, err := range []error{os.Symlink("logs/a.jsonl", filepath.Join(dir, "soft")), os.Symlink("logs", filepath.Join(dir, "by")), os.Link(audit, filepath.Join(dir, "hard"))} {
		if err != nil {
			t.Skip(err)
		}
	}
	r := runIn(t, dir, map[string]string{"main.sns": program}, "run", "--audit", "logs/a.jsonl", "main.sns")
	if want := strings.Repeat("true\n", 14); r.out != want || r.code != 0 {
		t.Errorf("%+v", r)
	}
	if v := runIn(t, dir, nil, "audit", "verify", "logs/a.jsonl"); v.code != 0 {
		t.Errorf("%+v", v)
	}
	calls := 0
	for _, line := range strings.Split(readFile(t, audit), "\n") {
		if strings.Contains(line, `"name":"t"`) && strings.Contains(line, `"event":"called"`) {
			calls++
		}
	}
	if calls != 3 {
		t.Errorf("%d of 3 calls are on record", calls)
	}
}

// TestBreakServerNames calls a denied tool of a server through another capability,
// an empty one or none: the rules above a program reach the server all the same.
func TestBreakServerNames(t *testing.T) {
	server := binary(t, "stubmcp")
	const call = "print(s.call(\"echo\", text: \"RAN\"))\n"
	own := func(rest string) string {
		return "s = connect_mcp(\"gh\", \"" + server + "\", []" + rest + ")\n" + call
	}
	reach := []string{"--allow", "mcp.connect", "--allow", "process.run"}
	programs := []struct{ name, program string }{
		{"of a file", "s = connect_mcp(\"gh\")\n" + call},
		{"of a file, another capability", "s = connect_mcp(\"gh\", capability: \"other\")\n" + call},
		{"of a file, an empty one", "s = connect_mcp(\"gh\", capability: \"\")\n" + call},
		{"of a file, all of them", "s = connect_mcp_all()[\"gh\"]\n" + call},
		{"without one", own("")},
		{"with an empty one", own(", \"\"")},
	}
	refusals := [][]string{
		{"--deny", "mcp.gh"}, {"--deny", "mcp.*"}, {"--deny", "mcp.gh.ec*"}, reach, append(reach, "--allow", "other"),
		append(reach, "--allow", "other", "--allow", "mcp.gh.add"),
	}
	files := map[string]string{".mcp.json": `{"mcpServers": {"gh": {"command": "` + server + `"}}}`}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			run := func(flags ...string) result {
				return runIn(t, dir, files, append(append([]string{"run", "--yes"}, flags...), "main.sns")...)
			}
			writeFile(t, filepath.Join(dir, "main.sns"), p.program)
			for _, flags := range refusals {
				if r := run(flags...); r.code != 1 || strings.Contains(r.out, "RAN") || !strings.Contains(r.err, "denied by policy") {
					t.Errorf("%v: %+v", flags, r)
				}
			}
			for _, flags := range [][]string{nil, append(reach, "--allow", "other", "--allow", "mcp.gh")} {
				if r := run(flags...); r.code != 0 || r.out != "RAN\n" {
					t.Errorf("%v: %+v", flags, r)
				}
			}
		})
	}
	dir := t.TempDir()
	odd := map[string]string{".mcp.json": strings.Replace(files[".mcp.json"], `"gh"`, `"my server"`, 1), "main.sns": "s = connect_mcp(\"my server\")\n" + call}
	if r := runIn(t, dir, odd, "run", "--yes", "--deny", `mcp."my server"`, "main.sns"); r.code != 1 || !strings.Contains(r.err, "denied by policy") {
		t.Errorf("a name that is quoted: %+v", r)
	}
}
