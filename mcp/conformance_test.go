//go:build linux

package mcp

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/sense-lang/sense/internal/real"
)

var scenarioLine = regexp.MustCompile(`(?m)^([✓✗]) ([a-z0-9/_-]+): `)

// play runs the suite against this test binary, which is the client when
// conformanceVariable is set, and gives which scenarios passed.
func play(t *testing.T, node, program string, args ...string) map[string]bool {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	args = append([]string{program, "client", "--command", exe, "--timeout", "120000", "-o", t.TempDir()}, args...)
	cmd := exec.CommandContext(ctx, node, args...)
	cmd.Env = append(os.Environ(), conformanceVariable+"=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	passed := map[string]bool{}
	for _, m := range scenarioLine.FindAllStringSubmatch(string(out), -1) {
		passed[m[2]] = m[1] == "✓"
		if m[1] != "✓" {
			t.Logf("failed: %s", m[2])
		}
	}
	if len(passed) == 0 {
		t.Fatalf("the suite says %s", out)
	}
	return passed
}

func count(passed map[string]bool) (n int) {
	for _, ok := range passed {
		if ok {
			n++
		}
	}
	return n
}

// All that the suite requires at both revisions, and the seven scenarios that
// it runs without scoring them.
func TestRealConformance(t *testing.T) {
	program, node := real.Module(t, "@modelcontextprotocol/conformance/dist/index.js"), real.Node24(t)
	for revision, want := range map[string]int{"2025-11-25": 18, "2026-07-28": 32} {
		passed := play(t, node, program, "--requirements", revision)
		if got := count(passed); got != want+7 || len(passed) != want+7 {
			t.Errorf("%s: %d of %d scenarios passed, want %d and 7 that are not scored", revision, got, len(passed), want)
		}
	}
}

// The suite that runs on Node 20. Two of its scenarios have an authorization
// server that calls itself by another name than that it was found by, which
// RFC 8414 has clients refuse; the new suite demands that.
func TestRealConformanceOld(t *testing.T) {
	program := real.Module(t, "conformance-for-node-20/dist/index.js")
	passed := play(t, real.Command(t, "node"), program, "--suite", "all")
	for name, ok := range passed {
		if wrong := name == "auth/metadata-var2" || name == "auth/metadata-var3"; ok == wrong {
			t.Errorf("%s: passed %v", name, ok)
		}
	}
	if len(passed) != 23 {
		t.Errorf("%d scenarios", len(passed))
	}
}

func TestConformanceContext(t *testing.T) {
	err := RunConformance(context.Background(), "http://127.0.0.1:1", func(string) string { return "{" })
	wantError(t, err, "MCP_CONFORMANCE_CONTEXT is not valid")
	web := newWebServer(t)
	vars := map[string]string{"MCP_CONFORMANCE_SCENARIO": "json-schema-2020-12-preservation"}
	err = RunConformance(context.Background(), web.URL, func(name string) string { return vars[name] })
	wantError(t, err, "no tool 'json_schema_2020_12_tool'")
	vars["MCP_CONFORMANCE_SCENARIO"] = "tools_call"
	err = RunConformance(context.Background(), web.URL, func(name string) string { return vars[name] })
	wantError(t, err, "add_numbers: the server has no tool 'add_numbers'")
}
