//go:build linux

package sense_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense/internal/real"
	"github.com/sense-lang/sense/model/modeltest"
)

// realCase is a script that works with published servers. "DIR" in the script,
// the arguments and the turns stands for a folder of the test's own.
type realCase struct {
	script string
	args   []string // of sense run
	env    []string
	// turns are what the model answers; a stand-in for the vendor refuses what
	// the vendor would refuse.
	turns []modeltest.Turn
	// want lists what is printed, and warns what standard error says.
	want, warns []string
}

// modelPart is the start of a script whose model is the stand-in.
const modelPart = "model m = inference(\"openai\")\nset delegation = m\n"

// run runs the script and gives what it printed. Nothing that it started may
// be left. "DIR" is dir.
func (c realCase) run(t *testing.T, dir string) string {
	t.Helper()
	in := strings.NewReplacer("DIR", dir)
	turns := make([]modeltest.Turn, len(c.turns))
	for i, turn := range c.turns {
		for j := range turn.Calls {
			turn.Calls[j].Arguments = []byte(in.Replace(string(turn.Calls[j].Arguments)))
		}
		turns[i] = turn
	}
	vendor := modeltest.New(modeltest.OpenAI, turns...)
	defer vendor.Close()
	path := filepath.Join(dir, "script.sns")
	writeFile(t, path, in.Replace(c.script))
	ctx, cancel := context.WithTimeout(t.Context(), real.Patience)
	defer cancel()
	args := []string{"run", "--yes"}
	for _, a := range c.args {
		args = append(args, in.Replace(a))
	}
	cmd := exec.CommandContext(ctx, binary(t, "sense"), append(args, path)...)
	cmd.Dir = dir
	// Everything that the run starts carries the folder in its environment.
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY=test-key", "OPENAI_BASE_URL="+vendor.URL, "HOME="+dir)
	cmd.Env = append(cmd.Env, c.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
	for _, want := range c.want {
		if !strings.Contains(stdout.String(), in.Replace(want)) {
			t.Errorf("%s\nlacks %s", stdout.String(), in.Replace(want))
		}
	}
	for _, want := range c.warns {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("standard error\n%s\nlacks %s", stderr.String(), want)
		}
	}
	if n := vendor.Left(); n != 0 {
		t.Errorf("%d turns of the model were not asked for", n)
	}
	nothingCarries(t, "HOME="+dir)
	return stdout.String()
}

// nothingCarries fails unless every process with this variable ends soon.
func nothingCarries(t *testing.T, variable string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var left []string
		files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well-formed
		for _, path := range files {
			if env, err := os.ReadFile(path); err == nil && slices.Contains(strings.Split(string(env), "\x00"), variable) {
				line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
				left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("processes are left:\n%s", strings.Join(left, "\n"))
			return
		}
	}
}

// workFolder is a folder of the test's own, by its real name.
func workFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// connectNode is the call that connects to a server of npm.
func connectNode(t *testing.T, name, module string, args ...string) string {
	t.Helper()
	return connectCall(name, real.Command(t, "node"), append([]string{real.Module(t, module)}, args...)...)
}

// connectPython is the call that connects to a server of an environment.
func connectPython(t *testing.T, name, environment, program string, args ...string) string {
	t.Helper()
	return connectCall(name, filepath.Join(real.Python(t, environment), program), args...)
}

func connectCall(name, program string, args ...string) string {
	list, _ := json.Marshal(append([]string{}, args...)) // texts are always encoded
	return `connect_mcp("` + name + `", "` + program + `", ` + string(list) + `, "mcp.` + name + `")`
}
