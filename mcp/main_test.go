//go:build linux

package mcp

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	setFaults()
	if mode := os.Getenv(faultVariable); mode != "" {
		serveFault(mode)
		return
	}
	if os.Getenv(conformanceVariable) != "" {
		if err := RunConformance(context.Background(), os.Args[len(os.Args)-1], os.Getenv); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// conformanceVariable has this test binary be the client of the conformance
// suite.
const conformanceVariable = "SENSE_TEST_CONFORMANCE"

// patience is a limit for what should take a moment; it is long since tests
// must not depend on the machine's speed.
const patience = 30 * time.Second

// warnings collects what a Config's Warn is told.
type warnings struct {
	mu   sync.Mutex
	list []string
}

func (w *warnings) add(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, s)
}

func (w *warnings) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.list, "\n")
}

// faulty gives a configuration that starts the fault server.
func faulty(mode, arg string) (Config, *warnings) {
	w := &warnings{}
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Config{
		Name: "srv", Command: exe, Env: map[string]string{faultVariable: mode, argVariable: arg},
		ConnectTimeout: patience, CallTimeout: patience, Warn: w.add,
	}, w
}

// open counts the managers of a test that are not closed yet. Tests run one
// after the other.
var open = map[*testing.T]int{}

// newManager gives a manager that is closed at the end of the test, which
// fails if anything the manager started is left then.
func newManager(t *testing.T) *Manager {
	t.Helper()
	m := NewManager()
	open[t]++
	t.Cleanup(func() {
		m.CloseAll()
		if open[t]--; open[t] > 0 {
			return
		}
		if left := leftovers(); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
	})
	return m
}

// connect connects to a fault server that is expected to let us.
func connect(t *testing.T, mode, arg string, change ...func(*Config)) (*Server, *warnings) {
	t.Helper()
	cfg, w := faulty(mode, arg)
	for _, c := range change {
		c(&cfg)
	}
	s, err := newManager(t).Connect(context.Background(), cfg)
	if err != nil {
		t.Fatalf("connect to %s: %v", mode, err)
	}
	return s, w
}

// refused connects to a fault server that is expected not to let us.
func refused(t *testing.T, mode, arg string, change ...func(*Config)) error {
	t.Helper()
	cfg, _ := faulty(mode, arg)
	for _, c := range change {
		c(&cfg)
	}
	_, err := newManager(t).Connect(context.Background(), cfg)
	if err == nil {
		t.Fatalf("connect to %s: no error", mode)
	}
	oneLineError(t, err)
	return err
}

func oneLineError(t *testing.T, err error) {
	t.Helper()
	if text := err.Error(); text == "" || strings.ContainsAny(text, "\n\r\x1b") || strings.Contains(text, "broken pipe") || strings.Contains(text, "context deadline") || strings.Contains(text, "transport error") {
		t.Errorf("the error is not fit for a user: %q", text)
	}
}

func within(t *testing.T, limit time.Duration, what string, f func()) {
	t.Helper()
	begun := time.Now()
	f()
	if took := time.Since(begun); took > limit {
		t.Errorf("%s took %v, more than %v", what, took, limit)
	}
}

func call(t *testing.T, s *Server, tool, args string) string {
	t.Helper()
	r, err := s.Call(context.Background(), tool, []byte(args))
	if err != nil {
		t.Fatalf("%s(%s): %v", tool, args, err)
	}
	return r.Text
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want %q", parts)
	}
	oneLineError(t, err)
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

// leftovers lists the living processes that carry a mark of ours.
func leftovers() []string { return carrying(markVariable + "=" + strconv.Itoa(os.Getpid()) + "-") }

// carrying lists the processes with this text in their environment.
func carrying(text string) []string {
	var left []string
	dirs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range dirs {
		if env, err := os.ReadFile(path); err == nil && bytes.Contains(env, []byte(text)) {
			left = append(left, filepath.Base(filepath.Dir(path)))
		}
	}
	return left
}
