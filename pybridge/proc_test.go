package pybridge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestOutputComesBeforeTheResult(t *testing.T) {
	p := start(t, `
import os, sys, subprocess
print("loading")
def out(s): print("out:", s); sys.stdout.write("no newline"); print("err:", s, file=sys.stderr)
def raw(): os.write(1, b"raw\x00\xff\n"); os.system("echo from a shell"); subprocess.run(["echo", "from a program"])
def fails(): print("before"); raise ValueError("x")
def much(n):
    for i in range(n): print("line", i)
def text(): print("ü日本😀", "\ud800")
def fake(): print("\x00sense-0-99\x00")
def closes(): sys.stdout.close()
def redirects(): os.dup2(os.open(os.devnull, os.O_WRONLY), 1); print("lost")
`)
	expect := func(wantOut, wantErr string) {
		t.Helper()
		if out, err := p.out.take(), p.err.take(); out != wantOut || err != wantErr {
			t.Errorf("output %.100q, errors %.100q; want %.100q, %.100q", out, err, wantOut, wantErr)
		}
	}
	expect("loading\n", "")
	p.call("out", "x")
	expect("out: x\nno newline", "err: x\n")
	p.call("raw")
	expect("raw\x00\xff\nfrom a shell\nfrom a program\n", "")
	if _, err := p.try(bg, "fails"); err == nil {
		t.Error("no error")
	}
	expect("before\n", "")
	p.call("text")
	expect("ü日本😀 \\ud800\n", "")
	p.call("fake")
	expect("\x00sense-0-99\x00\n", "")
	p.call("much", 100_000)
	if out := p.out.take(); strings.Count(out, "\n") != 100_000 || !strings.HasSuffix(out, "line 99999\n") || strings.Contains(out, "\x00") {
		t.Errorf("%d lines, the last is %q", strings.Count(out, "\n"), out[len(out)-20:])
	}
	p.call("redirects")
	expect("", "")
	p.call("closes")
	expect("", "")
}

func TestMarks(t *testing.T) {
	const token = "abc"
	for _, size := range []string{"whole", "bytes"} {
		var to bytes.Buffer
		o := newOutput(&to, token, 5)
		var from interface{ Read([]byte) (int, error) } = strings.NewReader("one\x00sense-abc-1\x00two\x00\x00sense-abx\x00sense-abc-2\x00\x00sense-abc-x\x00three\x00sense-a")
		if size == "bytes" {
			from = iotest.OneByteReader(from)
		}
		o.copy(from)
		if got, want := to.String(), "onetwo\x00\x00sense-abxthree\x00sense-a"; got != want {
			t.Errorf("%s: %q, want %q", size, got, want)
		}
		if o.last != 2 || !o.ended || o.end() != "nse-a" {
			t.Errorf("%s: last %d, ended %v, end %q", size, o.last, o.ended, o.end())
		}
		o.await(9) // must not wait for what can not come
	}
}

func TestPathAndStandardInput(t *testing.T) {
	p := start(t, "import sys, os\ndef first(): return '' in sys.path\ndef read(): return sys.stdin.read()\ndef ask(): return input('? ')\ndef argv(): return sys.argv\ndef cwd(): return os.getcwd()\n")
	if p.call("first") != false {
		t.Error("modules are looked for in the working folder")
	}
	if got := p.call("read"); got != "" {
		t.Errorf("standard input holds %q", got)
	}
	if _, err := p.try(bg, "ask"); err == nil || err.Error() != "python error calling ask: EOFError: EOF when reading a line" {
		t.Errorf("input(): %v", err)
	}
	if got, want := p.call("cwd"), p.cmd.Dir; got != want {
		t.Errorf("the working folder is %v, want %v", got, want)
	}
}

func TestOptions(t *testing.T) {
	t.Setenv("SENSE_TEST_SECRET", "hidden")
	for _, isolated := range []bool{false, true} {
		p, err := Start(bg, Options{Isolated: isolated, Argv: []string{"sense", "run", "x.sns"}})
		if err != nil {
			t.Skip(err)
		}
		evaluate := func(code string) Value {
			builtins, err := p.Import(bg, "builtins")
			if err != nil {
				t.Fatal(err)
			}
			eval, err := p.Attr(bg, builtins.(Handle), "eval")
			if err != nil {
				t.Fatal(err)
			}
			value, err := p.Call(bg, eval.(Handle), []Value{code})
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
		if got := evaluate("__import__('os').environ.get('SENSE_TEST_SECRET')"); (got == nil) != isolated {
			t.Errorf("isolated %v: the variable is %v", isolated, got)
		}
		if got := evaluate("__import__('sys').flags.isolated"); (got == int64(1)) != isolated {
			t.Errorf("isolated %v: the flag is %v", isolated, got)
		}
		if got := evaluate("' '.join(__import__('sys').argv)"); got != "sense run x.sns" {
			t.Errorf("the arguments are %v", got)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNoPython(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fails, plain := script("fails", "echo some >&2; echo 'cannot go on' >&2; exit 9"), filepath.Join(dir, "plain")
	write(t, plain, "")
	t.Setenv("SENSE_PYTHON", "no-such-python")
	for python, want := range map[string]string{
		"":                         "python is not available: no-such-python: not found",
		filepath.Join(dir, "none"): "python is not available: " + dir + "/none: no such file or directory",
		plain:                      "python is not available: " + plain + ": permission denied",
		fails:                      "python is not available: " + fails + " ended before it was ready (exit status 9): cannot go on",
		script("quiet", "exit 0"):  "python is not available: " + dir + "/quiet ended before it was ready (exit status 0)",
		script("chatty", "echo hello >&4; sleep 600"): "python is not available: " + dir + "/chatty ended before it was ready (signal: killed)",
	} {
		p, err := Start(bg, Options{Python: python})
		if err == nil {
			_ = p.Close()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", python, err, want)
		}
	}
	t.Setenv("SENSE_PYTHON", "")
	t.Setenv("PATH", dir)
	if _, err := Start(bg, Options{}); err == nil || err.Error() != "python is not available: there is no python3 on the PATH (SENSE_PYTHON can name another)" {
		t.Errorf("without python3: %v", err)
	}
	if _, err := Start(bg, Options{Python: fails, Dir: filepath.Join(dir, "none")}); err == nil || !strings.HasPrefix(err.Error(), "python is not available: ") {
		t.Errorf("in no folder: %v", err)
	}
}

func TestCanceledStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow")
	if err := os.WriteFile(path, []byte("#!/bin/sh\ntrap '' INT\nsleep 600 & wait\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(bg)
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("enough")) })
	if _, err := Start(ctx, Options{Python: path}); err == nil || err.Error() != "enough" {
		t.Errorf("error %v", err)
	}
	if _, err := Start(ctx, Options{}); err == nil || err.Error() != "enough" {
		t.Errorf("already canceled: %v", err)
	}
}

const sleepy = `
import os, signal, subprocess, sys, threading, time
def sleep(): print("asleep"); time.sleep(600)
def spin():
    print("asleep")
    while True: pass
def stubborn():
    signal.signal(signal.SIGINT, signal.SIG_IGN); print("asleep"); time.sleep(600)
def catching():
    print("asleep")
    try: time.sleep(600)
    except KeyboardInterrupt: return "caught"
def child(): return str(subprocess.Popen(["sleep", "600"]).pid)
def thread(): threading.Thread(target=time.sleep, args=(600,)).start()
def atexit():
    import atexit
    atexit.register(lambda: open("ended", "w").close())
def leave(n): os._exit(n)
def crash(): os.kill(os.getpid(), signal.SIGSEGV)
def closes(): os.close(3); os.close(4)
def writes(): os.write(4, b"nonsense\n"); time.sleep(600)
def forges(): os.write(4, b'{"n": 1, "ok": 5}\n' * 5); time.sleep(600)
def pid(): return str(os.getpid())
def one(): return 1
`

// cancelWhenAsleep calls a function of sleepy and cancels the call once it runs.
func (p *python) cancelWhenAsleep(name string) error {
	ctx, cancel := context.WithCancelCause(bg)
	function := p.get(name).(Handle)
	done := make(chan error, 1)
	go func() {
		_, err := p.Call(ctx, function, nil)
		done <- err
	}()
	for heard := ""; !strings.Contains(heard, "asleep"); heard += p.out.take() {
		runtime.Gosched()
	}
	cancel(errors.New("enough"))
	return <-done
}

func TestCancel(t *testing.T) {
	p := start(t, sleepy)
	p.patience = time.Minute // Python does give up, however busy the machine is
	for _, name := range []string{"sleep", "spin", "catching", "sleep"} {
		if err := p.cancelWhenAsleep(name); err == nil || err.Error() != "enough" {
			t.Errorf("%s: %v", name, err)
		}
		if got := p.call("one"); got != int64(1) {
			t.Errorf("after %s a call gives %v", name, got)
		}
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := p.Call(ctx, p.get("one").(Handle), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is canceled before it starts: %v", err)
	}
	p = start(t, sleepy) // a cancellation may still read the patience of the first
	p.patience = 50 * time.Millisecond
	if err := p.cancelWhenAsleep("stubborn"); err == nil || err.Error() != "enough" {
		t.Errorf("stubborn: %v", err)
	}
	for range 2 {
		if _, err := p.Import(bg, "os"); err == nil || err.Error() != "python was stopped since a canceled call did not end" {
			t.Errorf("after stubborn: %v", err)
		}
	}
}

// TestCancelAtAnyTime cancels calls close to their end: the interrupt must never hit another call.
func TestCancelAtAnyTime(t *testing.T) {
	p := start(t, sleepy)
	p.patience = time.Minute
	one := p.get("one").(Handle)
	for i := range 300 {
		ctx, cancel := context.WithCancel(bg)
		timer := time.AfterFunc(time.Duration(i)*time.Microsecond, cancel)
		if got, err := p.Call(ctx, one, nil); err != nil && !errors.Is(err, context.Canceled) || err == nil && got != int64(1) {
			t.Fatalf("%d: %v, %v", i, got, err)
		}
		if got, err := p.Call(bg, one, nil); got != int64(1) || err != nil {
			t.Fatalf("%d: the next call gives %v, %v", i, got, err)
		}
		timer.Stop()
		cancel()
	}
}

func TestUnexpectedEnd(t *testing.T) {
	for name, want := range map[string]string{
		"leave":  "python ended unexpectedly (exit status 5)",
		"crash":  "python ended unexpectedly (signal: segmentation fault)",
		"writes": "python was stopped since a module wrote into the bridge",
		"forges": "python was stopped since a module wrote into the bridge",
	} {
		p := start(t, sleepy)
		args := []Value(nil)
		if name == "leave" {
			args = []Value{5}
		}
		_, err := p.Call(bg, p.get(name).(Handle), args)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if _, err := p.Import(bg, "os"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("after %s: %v", name, err)
		}
	}
	p := start(t, sleepy)
	if _, err := p.try(bg, "closes"); err == nil {
		t.Error("a closed bridge answers")
	}
}

func TestClose(t *testing.T) {
	p := start(t, sleepy)
	pid := p.call("pid").(string)
	p.call("atexit")
	child := p.call("child").(string)
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if !gone(pid) || !gone(child) {
		t.Error("a process is left")
	}
	if _, err := os.Stat(filepath.Join(p.cmd.Dir, "ended")); err != nil {
		t.Errorf("python did not clear up: %v", err)
	}
	if _, err := p.Attr(bg, p.module, "one"); err == nil || err.Error() != "python is closed" {
		t.Errorf("after the end: %v", err)
	}
}

func TestCloseOfABusyPython(t *testing.T) {
	for _, name := range []string{"sleep", "stubborn"} {
		p := start(t, sleepy)
		function := p.get(name).(Handle)
		done := make(chan error, 1)
		go func() {
			_, err := p.Call(bg, function, nil)
			done <- err
		}()
		for heard := ""; !strings.Contains(heard, "asleep"); heard += p.out.take() {
			runtime.Gosched()
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p := start(t, sleepy)
	p.call("thread") // keeps Python from ending by itself
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestDiesWithUs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SENSE_TEST_ORPHAN=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	pid, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if gone := fmt.Sprint("/proc/", strings.TrimSpace(pid)); !exists(gone) {
		t.Fatalf("no python runs: %s", pid)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !gone(pid) {
		t.Error("python outlives its parent")
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }
