//go:build linux

package mcp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func runCommand(t *testing.T, ctx context.Context, cfg Config, input string, limit int) (*CommandResult, error) {
	t.Helper()
	var w Watch
	defer w.Close()
	return RunCommand(ctx, &w, cfg, input, limit)
}

func sh(script string) Config { return Config{Command: "sh", Args: []string{"-c", script}} }

func TestRunCommand(t *testing.T) {
	r, err := runCommand(t, t.Context(), sh("cat; echo err >&2; exit 3"), "in", 100)
	if err != nil || r.Status != 3 || string(r.Stdout) != "in" || string(r.Stderr) != "err\n" {
		t.Errorf("%+v %v", r, err)
	}
	r, err = runCommand(t, t.Context(), sh("kill -KILL $$"), "", 100)
	if err != nil || r.Status != 137 {
		t.Errorf("%+v %v", r, err)
	}
	r, err = runCommand(t, t.Context(), sh("exec <&-; exec true"), strings.Repeat("x", 1<<20), 100)
	if err != nil || r.Status != 0 {
		t.Errorf("input that nobody reads: %+v %v", r, err)
	}
	if _, err = runCommand(t, t.Context(), sh("printf 12345"), "", 5); err != nil {
		t.Errorf("just as much as allowed: %v", err)
	}
	if _, err = runCommand(t, t.Context(), sh("printf 123456; sleep 600"), "", 5); !errors.Is(err, ErrOutput) {
		t.Errorf("too much output gives %v", err)
	}
	if _, err = runCommand(t, t.Context(), Config{Command: "no-such-command"}, "", 5); err == nil || !strings.Contains(err.Error(), "was not found on PATH") {
		t.Errorf("no command gives %v", err)
	}
}

func TestRunCommandKeepsTheEndOfStderr(t *testing.T) {
	r, err := runCommand(t, t.Context(), sh("head -c 100000 /dev/zero >&2; echo end >&2"), "", 5)
	if err != nil || len(r.Stderr) != ringSize || !strings.HasSuffix(string(r.Stderr), "end\n") {
		t.Errorf("%d bytes, %v", len(r.Stderr), err)
	}
}

func TestRunCommandHidesTheEnvironment(t *testing.T) {
	t.Setenv("MY_TOKEN", "secret")
	cfg := sh("echo $MY_TOKEN:$GIVEN")
	cfg.Env = map[string]string{"GIVEN": "x"}
	r, err := runCommand(t, t.Context(), cfg, "", 100)
	if err != nil || string(r.Stdout) != ":x\n" {
		t.Errorf("%q %v", r.Stdout, err)
	}
}

func TestRunCommandEndsWithItsContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if b, err := os.ReadFile(file); err == nil && strings.HasSuffix(string(b), "\n") {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	cfg := sh(`trap "" TERM; sleep 600 & echo $! > "` + file + `"; wait; sleep 600`)
	if _, err := runCommand(t, ctx, cfg, "", 100); !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the context gives %v", err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is left: %v", pid, err)
	}
}
