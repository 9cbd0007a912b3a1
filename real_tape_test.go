//go:build linux

package sense_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/internal/real"
	"github.com/sense-lang/sense/model/modeltest"
	"github.com/sense-lang/sense/tape"
)

// TestRealReplay records a run with two published servers and a model, and plays
// it 100 times with the servers, the files and the key gone.
func TestRealReplay(t *testing.T) {
	real.Need(t)
	t.Parallel()
	dir := workFolder(t)
	files := filepath.Join(dir, "files")
	writeFile(t, filepath.Join(files, "one.txt"), "first\n")
	script := "fs = " + connectNode(t, "fs", "@modelcontextprotocol/server-filesystem/dist/index.js", files) +
		"\nkit = " + connectPython(t, "kit", "older", "mcp-testkit") + `
policy:
    allow mcp.fs
    allow mcp.kit
` + modelPart + `
print(ask_with_tools("look around", fs.tools + kit.tools).value)
print(fs.call("read_text_file", path: "` + files + `/one.txt"))
print(kit.call("math_factorial", n: 25))
try:
    kit.call("echo_error", message: "boom")
catch e:
    print(e.kind, e.message)
fs.close()
kit.close()
print(len(audit_log()))
`
	c := realCase{
		script: script, args: []string{"--record", "DIR/run.tape"},
		turns: []modeltest.Turn{
			modeltest.Calls(modeltest.CallOf("fs.list_directory", `{"path": "DIR/files"}`), modeltest.CallOf("kit.math_factorial", `{"n": 20}`)),
			modeltest.Text("@results"),
		},
		want: []string{"[FILE] one.txt", "2432902008176640000", "first\n", "15511210043330985984000000", "boom"},
	}
	printed := c.run(t, dir)
	text := readFile(t, filepath.Join(dir, "run.tape"))
	if err := os.RemoveAll(files); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		tp, err := tape.Play(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		r := sense.New(t.Context(), sense.Options{Stdout: &out, Tape: tp})
		err = r.RunSource(filepath.Join(dir, "script.sns"), script)
		r.Close()
		if err != nil || out.String() != printed || tp.Left() != 0 {
			t.Fatalf("run %d: %v, %d exchanges left\n%s", i, err, tp.Left(), diffText("out", printed, out.String()))
		}
	}
}
