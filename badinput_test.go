package sense_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense/model/modeltest"
)

// runScript runs a script and gives its outputs and exit status; it fails the test
// when that takes minutes.
func runScript(t *testing.T, script string, env ...string) (stdout, stderr string, exit int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.sns")
	writeFile(t, path, script)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t, "sense"), "run", path)
	cmd.Dir = filepath.Dir(path)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the status is given
	if ctx.Err() != nil {
		t.Fatalf("it hangs; so far\n%s%s", out.String(), errs.String())
	}
	if strings.Contains(errs.String(), "goroutine ") {
		t.Errorf("a trace of the host:\n%s", errs.String())
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestBadServers connects to commands that are no MCP servers, or bad ones: one
// clear line that names the server and the cause, and nothing printed is lost.
func TestBadServers(t *testing.T) {
	tests := []struct{ name, server, env, want string }{
		{"no such command", `"no-such-command", []`, "", `'no-such-command' was not found`},
		{"no permission", `"/", []`, "", `'/'`},
		{"exits at once", `"sh", ["-c", "echo broken config >&2; exit 9"]`, "", `status 9.*broken config`},
		{"exits well at once", `"true", []`, "", `exited|ended`},
		{"killed at once", `"sh", ["-c", "kill -9 $$"]`, "", `killed|signal`},
		{"not MCP", `"sh", ["-c", "echo hello, I am a web server; sleep 600"]`, "MCP_TIMEOUT=500", `did not answer|no answer|not.*MCP`},
		{"never answers", `"stubmcp", ["--no-init"]`, "MCP_TIMEOUT=500", `no answer|did not answer`},
		{"closes its output", `"sh", ["-c", "exec >&-; sleep 600"]`, "MCP_TIMEOUT=2000", `closed|ended|answer`},
		{"floods its output", `"sh", ["-c", "yes flood"]`, "MCP_TIMEOUT=500", `answer|flood|MCP`},
		{"floods standard error", `"sh", ["-c", "yes flood >&2"]`, "MCP_TIMEOUT=500", `answer`},
		{"one line without end", `"sh", ["-c", "tr '\\0' x < /dev/zero"]`, "MCP_TIMEOUT=30000", `large|too long|limit|MiB|bytes`},
		{"answers with an error", `"sh", ["-c", "read l; echo '{\"jsonrpc\": \"2.0\", \"id\": 0, \"error\": {\"code\": -32000, \"message\": \"out of order\"}}'; read l; echo '{\"jsonrpc\": \"2.0\", \"id\": 1, \"error\": {\"code\": -32000, \"message\": \"out of order\"}}'; sleep 600"]`, "MCP_TIMEOUT=1000", `out of order|answer`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			script := "print(\"before\")\nbad = connect_mcp(\"the server\", " + tt.server + ")\nprint(\"after\")\n"
			stdout, stderr, exit := runScript(t, script, tt.env)
			if stdout != "before\n" || exit != 1 {
				t.Errorf("printed %.200q, exit status %d", stdout, exit)
			}
			first := firstLine(stderr)
			if !strings.HasPrefix(first, "SenseError: [line 2] connect_mcp() failed to connect to 'the server': ") || !regexp.MustCompile(tt.want).MatchString(first) {
				t.Errorf("%.400s\nis not the connection's error with %s", stderr, tt.want)
			}
		})
	}
}

// TestBadCalls calls tools of servers that fail in the call; the model is told.
func TestBadCalls(t *testing.T) {
	tests := []struct{ name, args, call, env, want string }{
		{"dies", `["--die-on", "echo"]`, `kit.echo {"text": "x"}`, "", `failed: .*(status 3|exited|ended|closed)`},
		{"hangs", `["--hang-on", "echo"]`, `kit.echo {"text": "x"}`, "MCP_TOOL_TIMEOUT=300", `failed: .*(time|answer)`},
		{"fails", `[]`, `kit.fail {}`, "", `failed: the stub was asked to fail`},
		{"error of the protocol", `["--rpc-error", "echo"]`, `kit.echo {"text": "x"}`, "", `failed: .*the stub's backend is gone`},
		{"wrong arguments", `[]`, `kit.add {"a": "1"}`, "", `error: .*(a|b)`},
		{"nobody's tool", `[]`, `kit.nope {}`, "", `error: no such tool 'kit.nope'`},
		{"100 MB", `[]`, `kit.big {"n": 100000000}`, "", `failed: .*(large|too long|limit|MiB)|\.\.\.|truncated`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			script := `kit = connect_mcp("kit", "stubmcp", ` + tt.args + `)
model m = inference("mock", "demo", script: ["call ` + strings.ReplaceAll(tt.call, `"`, `\"`) + `", "told: {result}"])
set delegation = m
print(ask_with_tools("go", kit.tools).value)
print("goes on")
`
			stdout, stderr, exit := runScript(t, script, tt.env)
			if exit != 0 || stderr != "" || !strings.HasSuffix(stdout, "goes on\n") {
				t.Errorf("exit status %d\n%.300s%.300s", exit, stdout, stderr)
			}
			if !regexp.MustCompile(tt.want).MatchString(stdout) {
				t.Errorf("%.400s\nis not told as %s", stdout, tt.want)
			}
		})
	}
}

// TestBadModels asks endpoints that refuse or answer nonsense.
func TestBadModels(t *testing.T) {
	raw := func(s string) modeltest.Turn { return modeltest.Turn{Raw: &s} }
	status := func(code int, body string) []modeltest.Turn {
		turn := modeltest.Status(code, body)
		return []modeltest.Turn{turn, turn, turn, turn}
	}
	tests := []struct {
		name  string
		turns []modeltest.Turn
		want  string
	}{
		{"401", status(401, `{"error": {"message": "no such key", "type": "authentication_error"}}`), `401.*no such key|no such key.*401|refused.*key`},
		{"429", status(429, `{"error": {"message": "slow down", "type": "rate_limit_error"}}`), `429|slow down|rate`},
		{"500", status(500, `{"error": {"message": "on fire", "type": "api_error"}}`), `500|on fire`},
		{"HTML", []modeltest.Turn{raw("<html>gateway</html>")}, `JSON|answer`},
		{"empty body", []modeltest.Turn{raw("")}, `empty|JSON|answer|EOF`},
		{"broken JSON", []modeltest.Turn{raw(`{"choices": [`)}, `JSON|cut|answer|unexpected`},
		{"other JSON", []modeltest.Turn{raw(`[1, 2]`)}, `JSON|answer|object`},
		{"no answer in it", []modeltest.Turn{raw(`{}`)}, `no |empty|answer`},
		{"dropped", []modeltest.Turn{{Drop: true}, {Drop: true}, {Drop: true}, {Drop: true}}, `connection|closed|reached`},
	}
	for _, wire := range []modeltest.Wire{modeltest.OpenAI, modeltest.Anthropic} {
		for _, tt := range tests {
			t.Run(string(wire)+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				vendor := modeltest.New(wire, tt.turns...)
				defer vendor.Close()
				checkModelError(t, wire, vendor.URL, tt.want)
			})
		}
		t.Run(string(wire)+"/nobody listens", func(t *testing.T) {
			t.Parallel()
			checkModelError(t, wire, "http://127.0.0.1:1", `refused|reach`)
		})
	}
}

func checkModelError(t *testing.T, wire modeltest.Wire, url, want string) {
	t.Helper()
	prefix := strings.ToUpper(string(wire))
	script := "print(\"before\")\nmodel m = inference(\"" + string(wire) + "\")\nprint(m.ask(\"hello\").value)\n"
	stdout, stderr, exit := runScript(t, script, prefix+"_API_KEY=sk-secret-key-000", prefix+"_BASE_URL="+url)
	first := firstLine(stderr)
	if stdout != "before\n" || exit != 1 || !strings.HasPrefix(first, "SenseError: [line 3] model 'm' failed: ") {
		t.Errorf("exit status %d, printed %q\n%s", exit, stdout, stderr)
	}
	if !regexp.MustCompile(want).MatchString(first) {
		t.Errorf("%s\nis not about %s", first, want)
	}
	if strings.Contains(stdout+stderr, "sk-secret") {
		t.Errorf("the key is shown:\n%s", stderr)
	}
}
