//go:build linux

package sense_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sense-lang/sense/internal/real"
)

// servedTold is what a client that uses testdata/real/served.sns prints.
const servedTold = `tools add approve_action commit_action describe_action info order picture prepare_greet remove rollback_action
add Adds two numbers ["a"]
add ok 42
add error 'add': argument 'a' must be an integer, not the string "x"
info ok {"name":"Zoë","tags":["<é>",null,true],"n":9007199254740991}
structured Zoë 3 9007199254740991
picture ok one pixel|[image image/png]
asked For whom?
order ok tea for Zoë
remove error tool 'remove' requires capability 'files.delete', which is denied by policy
commit_action error the action 'greet' needs an approval: call approve_action first
asked Approve this action?
approve_action ok verified true
commit_action ok committed true
rollback_action ok rolled_back true
`

// TestRealServe has clients made with the official SDKs use a program that is
// served over standard input and output and over HTTP with a token.
func TestRealServe(t *testing.T) {
	real.Need(t)
	const token = "a-token-of-24-characters"
	clients := map[string]func(t *testing.T) []string{
		"typescript": func(t *testing.T) []string { return []string{real.Command(t, "node"), realFile(t, "client.cjs")} },
		"python": func(t *testing.T) []string {
			return []string{filepath.Join(real.Python(t, "current"), "python"), realFile(t, "client.py")}
		},
	}
	servers := map[string]func(t *testing.T, dir string) []string{
		"stdio": func(t *testing.T, _ string) []string {
			return []string{"stdio", binary(t, "sense"), "mcp", "serve", realFile(t, "served.sns")}
		},
		"http": func(t *testing.T, dir string) []string {
			return []string{"http", served(t, dir, realFile(t, "served.sns"), token), token}
		},
	}
	for name, client := range clients {
		for transport, server := range servers {
			t.Run(name+"/"+transport, func(t *testing.T) {
				t.Parallel()
				dir := workFolder(t)
				command := append(client(t), server(t, dir)...)
				ctx, cancel := context.WithTimeout(t.Context(), real.Patience)
				defer cancel()
				cmd := exec.CommandContext(ctx, command[0], command[1:]...)
				cmd.Env = append(os.Environ(), "HOME="+dir, "NODE_PATH="+real.Modules(t))
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
				}
				if stdout.String() != servedTold {
					t.Errorf("the client says\n%s", diffText("client", servedTold, stdout.String()))
				}
				if name == "python" && !strings.Contains(stderr.String(), "revision 2026-07-28") {
					t.Errorf("not the newest revision: %s", stderr.String())
				}
			})
		}
	}
}

func realFile(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "real", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// served serves a program over HTTP until the end of the test, which it must leave
// in order, and gives the address.
func served(t *testing.T, dir, program, token string) string {
	t.Helper()
	args := []string{"mcp", "serve", program, "--http", "127.0.0.1:0"}
	if token != "" {
		args = append(args, "--token-env", "SERVE_TOKEN")
	}
	cmd := exec.Command(binary(t, "sense"), args...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "SERVE_TOKEN="+token)
	told, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	address, read := make(chan string, 1), make(chan string, 1)
	go func() {
		var all strings.Builder
		for lines := bufio.NewScanner(told); lines.Scan(); {
			all.WriteString(lines.Text() + "\n")
			if m := servingLine.FindStringSubmatch(lines.Text()); m != nil {
				address <- m[1]
			}
		}
		close(address)
		read <- all.String()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		text := <-read
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 143 {
			t.Errorf("the server ended with %v", err)
		}
		if strings.Contains(text, "INFO") || strings.Contains(text, "ERROR") || strings.Contains(text, "panic") {
			t.Errorf("the server says\n%s", text)
		}
		nothingCarries(t, "HOME="+dir)
	})
	select {
	case url, ok := <-address:
		if ok {
			return url
		}
	case <-time.After(real.Patience):
	}
	t.Fatal("the server does not serve")
	return ""
}

var servingLine = regexp.MustCompile(`serving .* at (http://\S+) `)

// notServed are the scenarios of the conformance suite that ask for what a program
// does not offer, none of which counts: tasks, which are an extension, and schemas
// that no declaration of a tool gives.
var notServed = regexp.MustCompile(`^(json-schema-2020-12|tasks-.*|http-custom-header-server-validation)$`)

// TestRealServerConformance runs the server side of the official conformance suite
// against a program: everything that counts passes.
func TestRealServerConformance(t *testing.T) {
	real.Need(t)
	t.Parallel()
	suite, node := real.Module(t, "@modelcontextprotocol/conformance/dist/index.js"), real.Node24(t)
	dir := workFolder(t)
	url := served(t, dir, realFile(t, "conformance.sns"), "")
	for revision, want := range map[string]int{"2025-11-25": 32, "2026-07-28": 38} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*real.Patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, node, suite, "server", "--url", url, "--requirements", revision, "--timeout", "120000", "-o", t.TempDir())
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) { // it fails as long as anything does
			t.Fatal(err)
		}
		_, summary, _ := strings.Cut(string(out), "=== SUMMARY ===")
		summary, _, _ = strings.Cut(summary, "\nNot scored")
		var passed []string
		for _, m := range scenarioResult.FindAllStringSubmatch(summary, -1) {
			switch scenario, ok := m[2], m[1] == "✓"; {
			case ok && !notServed.MatchString(scenario):
				passed = append(passed, scenario)
			case !ok && !notServed.MatchString(scenario):
				t.Errorf("%s: %s failed", revision, scenario)
			}
		}
		if slices.Sort(passed); len(passed) != want {
			t.Errorf("%s: %d scenarios passed, want %d: %q\n%s", revision, len(passed), want, passed, summary)
		}
	}
}

var scenarioResult = regexp.MustCompile(`(?m)^([✓✗]) ([a-z0-9-]+): `)
