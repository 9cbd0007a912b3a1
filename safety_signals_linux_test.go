package sense_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSignalsEndEverything sends each signal to commands that wait in every
// way: all end with 128 + its number, with a line that says so where there is
// time for one, and without a word of Go.
func TestSignalsEndEverything(t *testing.T) {
	commands := []struct {
		name string
		args []string
		wait func(*waiting, *testing.T)
	}{
		{"a loop", []string{"run", "loop.sns"}, (*waiting).says},
		{"a question", []string{"run", "ask.sns"}, (*waiting).says},
		{"a test", []string{"test", "asks.sns"}, (*waiting).reads},
		{"a program from a pipe", []string{"run", "pipe.sns"}, (*waiting).opens},
		{"standard input", []string{"run", "-"}, (*waiting).reads},
		{"formatting", []string{"fmt", "-"}, (*waiting).reads},
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT} {
		for _, c := range commands {
			t.Run(sig.String()+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				writeFile(t, filepath.Join(dir, "ask.sns"), "print(\"go\")\nx = ask_human(\"ok?\")\n")
				writeFile(t, filepath.Join(dir, "loop.sns"), "print(\"go\")\nwhile true:\n    x = 1\n")
				writeFile(t, filepath.Join(dir, "asks.sns"), "x = ask_human(\"ok?\")\nwhile true:\n    x = 1\n")
				if err := syscall.Mkfifo(filepath.Join(dir, "pipe.sns"), 0o600); err != nil {
					t.Skip(err)
				}
				text, code := signalWhileWaiting(t, dir, c.args, sig, c.wait)
				if code != 128+int(sig) || strings.Contains(text, "goroutine") || strings.Contains(text, "SIG") {
					t.Errorf("status %d: %s", code, text)
				}
				if sig != syscall.SIGQUIT && sig != syscall.SIGABRT && !strings.Contains(text, "interrupted") {
					t.Errorf("nothing says that it was interrupted: %s", text)
				}
			})
		}
	}
}

// waiting is a command that is about to wait for something.
type waiting struct {
	dir    string
	stdin  *os.File
	stdout *bufio.Reader
	closer []io.Closer
}

// says waits until the program said "go".
func (c *waiting) says(t *testing.T) {
	for {
		line, err := c.stdout.ReadString('\n')
		if err != nil {
			t.Fatalf("it said %q: %v", line, err)
		}
		if line == "go\n" {
			return
		}
	}
}

// reads waits until the command has read a line of its standard input.
func (c *waiting) reads(t *testing.T) {
	if _, err := c.stdin.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	for left := 1; left > 0; time.Sleep(time.Millisecond) {
		var err error
		if left, err = unix.IoctlGetInt(int(c.stdin.Fd()), unix.TIOCINQ); err != nil {
			t.Fatal(err)
		}
	}
}

// opens waits until the command has opened the pipe.
func (c *waiting) opens(t *testing.T) {
	f, err := os.OpenFile(filepath.Join(c.dir, "pipe.sns"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.closer = append(c.closer, f)
}

// signalWhileWaiting starts a command, sends the signal once it waits, and
// gives all that it said since.
func signalWhileWaiting(t *testing.T, dir string, args []string, sig syscall.Signal, wait func(*waiting, *testing.T)) (text string, code int) {
	t.Helper()
	in, stdin, err := os.Pipe() // open, and little comes
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	cmd := exec.Command(binary(t, "sense"), args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	cmd.Stdin = in
	var errs bytes.Buffer
	cmd.Stderr = &errs
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	c := &waiting{dir: dir, stdin: stdin, stdout: bufio.NewReader(stdout)}
	defer func() {
		for _, x := range c.closer {
			_ = x.Close()
		}
	}()
	wait(c, t)
	_ = cmd.Process.Signal(sig)
	rest, _ := io.ReadAll(c.stdout)
	_ = cmd.Wait() // the status is looked at
	return string(rest) + errs.String(), cmd.ProcessState.ExitCode()
}

// TestNohupStaysIgnored starts a run whose hang-up is ignored, as nohup does.
func TestNohupStaysIgnored(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "ask.sns"), "x = ask_human(\"ok?\")\nprint(\"got\", x)\n")
	cmd := exec.Command("sh", "-c", `trap '' HUP; exec "$0" run ask.sns`, binary(t, "sense"))
	cmd.Dir = dir
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ask := make([]byte, 3)
	if _, err := io.ReadFull(stdout, ask); err != nil { // it asks, so it runs
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(syscall.SIGHUP)
	_, _ = io.WriteString(stdin, "yes\n")
	rest, _ := io.ReadAll(stdout)
	_ = cmd.Wait()
	if !strings.Contains(string(rest), "got yes") {
		t.Errorf("it ended at a hang-up that is ignored: %q", rest)
	}
}

// TestBreakPipeForAFile lays pipes, and a link to one, where programs are looked
// for: no command waits for them, and --timeout also bounds a pipe that is named.
func TestBreakPipeForAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"pipe", "a/test_x.sns", "b/test_y.sns"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if name == "b/test_y.sns" {
			if err := os.Symlink("../pipe", filepath.Join(dir, name)); err != nil {
				t.Skip(err)
			}
		} else if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	for _, args := range [][]string{{"check", "a"}, {"check", "b"}, {"check", "--json", "a"}, {"test", "a"}, {"test", "b"}, {"fmt", "a"}, {"fmt", "b"}} {
		r := runIn(t, dir, nil, args...)
		if r.code == 0 || !strings.Contains(r.err+r.out, "not a regular file") {
			t.Errorf("%q: %+v", args, r)
		}
	}
	r := runIn(t, dir, nil, "run", "--timeout", "50ms", "pipe")
	if want := "time limit of 50ms reached before the program was read"; r.code != 3 || !strings.Contains(r.err, want) {
		t.Errorf("%+v, want %q", r, want)
	}
}

// TestBreakKilledLeavesNothing kills sense while a command of std.process, and
// one of a Python module, have programs run that left its group and its session.
func TestBreakKilledLeavesNothing(t *testing.T) {
	needPython(t)
	const start = "(setsid sh -c 'echo $$ > pid; sleep 600; : MARK' &)"
	for name, program := range map[string]string{
		"process": "import std.process\nprocess.run(\"sh\", [\"-c\", \"" + start + "; sleep 600; : MARK\"])\n",
		"python":  "import std.time\nimport python \"os\" as os\nos.system(\"" + start + "\")\ntime.sleep(600)\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mark := "killed-" + itoa(os.Getpid()) + "-" + name
			cmd, _ := started(t, strings.ReplaceAll(program, "MARK", mark))
			for deadline := time.Now().Add(time.Minute); !strings.HasSuffix(readIfThere(filepath.Join(cmd.Dir, "pid")), "\n"); {
				if time.Now().After(deadline) {
					t.Fatal("it does not begin")
				}
				time.Sleep(5 * time.Millisecond)
			}
			if len(processesWith(mark)) == 0 {
				t.Errorf("nothing runs: %v", processesWith(mark))
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			nothingLeft(t, mark)
		})
	}
}

// readIfThere gives a file's text, "" where there is none yet.
func readIfThere(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}
