//go:build linux

package sense_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sense-lang/sense/internal/real"
	"github.com/sense-lang/sense/model/modeltest"
)

// TestRealReadme runs the script of the README against the file server from npm,
// found by npx, with strict stand-ins for the vendors.
func TestRealReadme(t *testing.T) {
	real.Need(t)
	modules := real.Modules(t)
	for _, wire := range []modeltest.Wire{modeltest.OpenAI, modeltest.Anthropic} {
		t.Run(string(wire), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			writeFile(t, filepath.Join(folder, "one.txt"), "1")
			writeFile(t, filepath.Join(folder, "deep", "two.txt"), "2")
			vendor := modeltest.New(wire,
				modeltest.Calls(modeltest.CallOf("filesystem.list_directory", `{"path": "`+folder+`"}`)),
				modeltest.Text("@results"))
			defer vendor.Close()
			out := runReal(t, modules, seedScript(string(wire), folder), vendor, wire)
			for _, want := range []string{
				"[FILE] one.txt", "[DIR] deep",
				"[line 9] tool 'filesystem.list_directory' -> called",
				"[line 9] model 'm' -> called",
			} {
				if !strings.Contains(out, want) {
					t.Errorf("%s\nlacks %s", out, want)
				}
			}
			if n := vendor.Left(); n != 0 {
				t.Errorf("%d turns were not asked for", n)
			}
			nothingLeft(t, folder)
		})
	}
}

// seedScript is the script of the README, word for word but for the folder and
// the vendor, with the audit printed at the end.
func seedScript(provider, folder string) string {
	script := `fs = connect_mcp("filesystem", "npx", ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"], "mcp.filesystem")

policy:
    allow mcp.filesystem

model m = inference("openai")
set delegation = m

result = ask_with_tools("what files are in /tmp?", fs.tools)
print(result.value)
fs.close()
for line in audit_log(): print(line)
`
	return strings.NewReplacer("/tmp", folder, `"openai"`, `"`+provider+`"`).Replace(script)
}

// runReal runs a script in the folder that npm installed into, so that npx finds
// the servers there, and gives what it printed.
func runReal(t *testing.T, modules, script string, vendor *modeltest.Server, wire modeltest.Wire) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seed.sns")
	writeFile(t, path, script)
	ctx, cancel := context.WithTimeout(t.Context(), real.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t, "sense"), "run", path)
	cmd.Dir = filepath.Dir(modules)
	prefix := strings.ToUpper(string(wire))
	cmd.Env = append(os.Environ(), prefix+"_API_KEY=test-key", prefix+"_BASE_URL="+vendor.URL)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
	return stdout.String()
}
