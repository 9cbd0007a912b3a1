package sense_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// started starts sense in a folder with main.sns; what it prints goes to a pipe
// that is read only where a test does.
func started(t *testing.T, program string, args ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.sns"), program)
	cmd := exec.Command(binary(t, "sense"), append(append([]string{"run"}, args...), "main.sns")...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, out
}

// endsWith waits for the process and gives its status.
func endsWith(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
		return cmd.ProcessState.ExitCode()
	case <-time.After(2 * time.Minute):
		t.Fatal("it does not end")
		return 0
	}
}

// TestBreakTimeoutUnread prints to somebody who does not read: the run is over
// all the same, by its time limit or by a signal.
func TestBreakTimeoutUnread(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals")
	}
	const program = "print(\"ready\")\ns = \"x\".repeat(1000000)\nwhile true:\n    print(s)\n"
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		cmd, _ := started(t, program, "--timeout", "500ms")
		if code := endsWith(t, cmd); code != 3 {
			t.Errorf("status %d", code)
		}
	})
	t.Run("signal", func(t *testing.T) {
		t.Parallel()
		cmd, out := started(t, program)
		first := make([]byte, 6)
		if _, err := io.ReadFull(out, first); err != nil || string(first) != "ready\n" {
			t.Fatalf("%q, %v", first, err)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if code := endsWith(t, cmd); code != 128+int(syscall.SIGTERM) {
			t.Errorf("status %d", code)
		}
	})
}

// TestBreakSlowSteps runs single operations that would take minutes: each is
// over, or refused, within the time limit and a little.
func TestBreakSlowSteps(t *testing.T) {
	const huge = "import std.math\nx = 3 ** 6000000\ny = 7 ** 3500000\n"
	for name, code := range map[string]string{
		"quotient":          huge + "print(y / x)\n",
		"common divisor":    huge + "print(math.gcd(x, y))\n",
		"common multiple":   huge + "print(math.lcm(x, y))\n",
		"root":              huge + "print(math.isqrt(x))\n",
		"sort without end":  "a = range(300000)\nwhile true:\n    b = sorted(a, lambda n: (n * 7919) % 300007)\n",
		"factorial":         "import std.math\nmath.factorial(10 ** 9)\n",
		"a number too long": "x = 9 ** (9 ** 9)\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runIn(t, t.TempDir(), map[string]string{"main.sns": code}, "run", "--timeout", "3s", "main.sns")
			if r.code != 1 && r.code != 3 || !strings.HasPrefix(r.err, "SenseError: ") {
				t.Errorf("%+v", r)
			}
		})
	}
}
