package sense_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// servers are the ways in which a script starts its MCP server: as itself, below
// a shell that waits for it, and below one that leaves it behind.
var servers = map[string]string{
	"direct":     `["stubmcp", ["--only", "echo", "--hang-on", "echo", "--extra", "MARK"]]`,
	"shell":      `["sh", ["-c", "stubmcp --only echo --hang-on echo --extra MARK; exit 0"]]`,
	"two shells": `["sh", ["-c", "sh -c 'stubmcp --only echo --hang-on echo --extra MARK; true'; true"]]`,
	"background": `["sh", ["-c", "sleep 600 MARK 2>/dev/null & exec stubmcp --only echo --hang-on echo --extra MARK"]]`,
	"stubborn":   `["sh", ["-c", "stubmcp --only echo --hang-on echo --extra MARK --stay 600; true"]]`,
}

// endings are the ways in which a run ends during a call that is never answered.
var endings = []struct {
	name   string
	env    string
	signal os.Signal
	after  string // in place of the call
	exit   int
}{
	{name: "interrupt", signal: syscall.SIGINT, exit: 130},
	{name: "terminate", signal: syscall.SIGTERM, exit: 143},
	{name: "hang-up", signal: syscall.SIGHUP, exit: 129},
	{name: "quit", signal: syscall.SIGQUIT, exit: 131},
	{name: "time limit", env: "MCP_TOOL_TIMEOUT=300", exit: 0}, // the model is told
	{name: "error", after: "print(1 / 0)", exit: 1},
	{name: "plain end", after: "print(\"bye\")", exit: 0},
}

// TestNoProcessIsLeft ends a run in every way and looks for what it started.
func TestNoProcessIsLeft(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("no /proc to look for processes in")
	}
	sense := binary(t, "sense")
	for how, server := range servers {
		for _, end := range endings {
			t.Run(how+"/"+end.name, func(t *testing.T) {
				t.Parallel()
				mark := fmt.Sprintf("mark-%d-%s", os.Getpid(), strings.ReplaceAll(how+"-"+end.name, " ", "-"))
				script := filepath.Join(t.TempDir(), "run.sns")
				writeFile(t, script, processScript(strings.ReplaceAll(server, "MARK", mark), end.after))
				cmd := exec.Command(sense, "run", script)
				cmd.Env = append(os.Environ(), end.env)
				runUntilCall(t, cmd, end.signal, end.exit)
				nothingLeft(t, mark)
			})
		}
	}
}

func processScript(server, after string) string {
	command, args, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(server, "["), "]"), ", ")
	script := `kit = connect_mcp("kit", ` + command + ", " + args + `)
model m = inference("mock", "demo", script: ["call kit.echo {\"text\": \"x\"}", "{result}"])
set delegation = m
print("calling")
`
	if after != "" {
		return script + after + "\n"
	}
	return script + `print(ask_with_tools("go", kit.tools).value)` + "\n"
}

// runUntilCall starts a run, waits until the script says that it calls, sends the
// signal and wants the exit status within ten seconds.
func runUntilCall(t *testing.T, cmd *exec.Cmd, signal os.Signal, exit int) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	out := bufio.NewReader(stdout)
	line, err := out.ReadString('\n')
	if line != "calling\n" {
		t.Fatalf("the script said %q (%v)\n%s", line, err, stderr.String())
	}
	if signal != nil {
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = out.WriteTo(&bytes.Buffer{}) // what it prints is not looked at
	_ = cmd.Wait()                      // the status is compared
	if got := cmd.ProcessState.ExitCode(); got != exit {
		t.Errorf("exit status %d, want %d\n%s", got, exit, stderr.String())
	}
}

// nothingLeft fails unless every process with the mark in its command line ends
// within five seconds. What is left is killed.
func nothingLeft(t *testing.T, mark string) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		left := processesWith(mark)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			for pid, line := range left {
				t.Errorf("process %d is left: %s", pid, line)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func processesWith(mark string) map[int]string {
	found := map[int]string{}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well-formed
	for _, path := range lines {
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(data, []byte(mark)) {
			continue // it ended meanwhile, or is another's
		}
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil {
			found[pid] = string(bytes.ReplaceAll(data, []byte{0}, []byte{' '}))
		}
	}
	return found
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
