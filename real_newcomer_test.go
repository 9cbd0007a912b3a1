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
)

// TestRealNewcomer walks through the start of docs/mcp.md with the file server of
// npm: a server is added, listed, looked at and called, and used by a program.
func TestRealNewcomer(t *testing.T) {
	real.Need(t)
	t.Parallel()
	dir := workFolder(t)
	if err := os.Symlink(real.Modules(t), filepath.Join(dir, "node_modules")); err != nil { // npx finds its packages there
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil { // a project
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "notes.txt"), "buy tea")
	writeFile(t, filepath.Join(dir, "notes.sns"), `fs = connect_mcp("fs")
print(fs.call("read_text_file", path: "notes.txt"))
`)
	for _, step := range []struct {
		args []string
		want []string
	}{
		{[]string{"mcp", "add", "fs", "--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "."},
			[]string{"Added 'fs' to " + filepath.Join(dir, ".mcp.json"), "sense mcp tools fs"}},
		{[]string{"mcp", "list"}, []string{"fs    connected  14     stdio  npx -y @modelcontextprotocol/server-filesystem ."}},
		{[]string{"mcp", "tools", "fs"}, []string{"list_directory(path: String)  [only reads]"}},
		{[]string{"mcp", "call", "fs", "list_directory", "path=."}, []string{"[FILE] notes.txt"}},
		{[]string{"run", "notes.sns"}, []string{"buy tea\n"}},
		{[]string{"mcp", "remove", "fs"}, []string{"fs"}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), real.Patience)
		cmd := exec.CommandContext(ctx, binary(t, "sense"), step.args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir+"/config", "XDG_STATE_HOME="+dir+"/state")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		cancel()
		if err != nil {
			t.Fatalf("sense %v: %v\n%s%s", step.args, err, stdout.String(), stderr.String())
		}
		for _, want := range step.want {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("sense %v says\n%s\nwithout %s", step.args, stdout.String(), want)
			}
		}
		if stderr.Len() > 0 {
			t.Errorf("sense %v has on standard error\n%s", step.args, stderr.String())
		}
	}
	nothingCarries(t, "HOME="+dir)
}
