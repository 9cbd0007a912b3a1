//go:build linux

package std_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sense-lang/sense/diag"
)

func TestProcess(t *testing.T) {
	dir, p := folder(t, map[string]string{"here": ""})
	t.Setenv("MY_API_KEY", "secret-value")
	p.check(t, []row{
		{code: `process.run("echo", ["hi", "a b", "$HOME", "*"])`, want: "{status: 0, output: hi a b $HOME *\n, error: }"},
		{code: `process.run("sh", ["-c", "echo out; echo err >&2; exit 3"])`, want: "{status: 3, output: out\n, error: err\n}"},
		{code: `process.run("cat", [], "some text")["output"]`, want: "some text"},
		{code: `process.run("true", input: "x".repeat(1000000))["status"]`, want: "0"},
		{code: `process.run("pwd", cwd: "` + dir + `")["output"]`, want: dir + "\n"},
		{code: `process.run("sh", ["-c", "echo $A-$MY_API_KEY-$PATH"], env: {"A": "1"})["output"]`, want: "1--" + os.Getenv("PATH") + "\n"},
		{code: `process.run("sh", ["-c", "kill -TERM $$"])["status"]`, want: "143"},
		{code: `process.run("printf", ["a\\377b"])["output"]`, want: "a\uFFFDb"},
		{code: `process.run("no-such-command")`, fails: "std.process.run: command 'no-such-command' was not found on PATH"},
		{code: `process.run("./here")`, fails: "std.process.run: command './here' is not executable"},
		{code: `process.run("")`, fails: "std.process.run: the command is empty"},
		{code: `process.run("true", cwd: "nope")`, fails: "std.process.run: command 'true' could not be started: no such file or directory"},
		{code: `process.run("true", [json.parse('"\\u0000"')])`, fails: "std.process.run: an argument holds a zero byte"},
		{code: `process.run("true", env: {"A=B": "1"})`, fails: "std.process.run: 'A=B' cannot be the name of a variable, or its value holds a zero byte"},
		{code: `process.run("sh", ["-c", "exec head -c 70000000 /dev/zero"])`, fails: "std.process.run: 'sh' wrote over 64 MiB"},
		{code: `process.run("sleep", ["60"], timeout: 0.05)`, fails: "std.process.run: 'sleep' did not end within 0.05 seconds"},
		{code: `process.run("true", timeout: "1")`, fails: "std.process.run() expects a number for 'timeout', got String"},
	})
	_, err := p.run("import std.process\nprocess.run(\"sleep\", [\"60\"], timeout: 0.01)")
	wantKind(t, err, diag.Timeout)
}

// gone waits until a process is no more.
func gone(t *testing.T, pidFile string) {
	t.Helper()
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil; {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestProcessLeavesNothingBehind(t *testing.T) {
	dir, p := folder(t, nil)
	for name, script := range map[string]string{
		"background": "sleep 600 & echo $! > background",
		"session":    "setsid sleep 600 & echo $! > session",
		"deaf":       "sh -c 'trap \"\" TERM; echo $$ > deaf; exec sleep 600' & while ! test -s deaf; do :; done",
	} {
		got, err := p.run("import std.process\nprint(process.run(\"sh\", [\"-c\", " + strconv.Quote(script) + "])[\"status\"])")
		if err != nil || got != "0" {
			t.Errorf("%s: %s %v", name, got, err)
		}
		gone(t, filepath.Join(dir, name))
	}
}

func TestProcessIsInterrupted(t *testing.T) {
	dir, p := folder(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.ctx = ctx
	go func() {
		for ctx.Err() == nil {
			if b, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil && strings.HasSuffix(string(b), "\n") {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	out, err := p.run(`import std.process
try:
    process.run("sh", ["-c", "trap '' TERM; sleep 600 & echo $! > pid; wait; sleep 600"])
catch e:
    print("caught")
finally:
    print("finally")`)
	wantKind(t, err, diag.Interrupt)
	if strings.Contains(out, "caught") {
		t.Error("an interrupt was caught")
	}
	gone(t, filepath.Join(dir, "pid"))
}

func TestSleepIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := (&program{ctx: ctx}).run("import std.time\ntime.sleep(600)")
	wantKind(t, err, diag.Interrupt)
}

func TestSleepLetsOthersRun(t *testing.T) {
	got, err := new(program).run(`import std.time
async agent a:
    print("other")
start(a)
while a.status != "completed":
    time.sleep(0.001)
print("done")`)
	if err != nil || got != "other\ndone" {
		t.Errorf("%q %v", got, err)
	}
}
