//go:build linux

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// sleeper is a clock that does not wait: it notes how long it was asked to.
type sleeper struct {
	mu    sync.Mutex
	slept []time.Duration
}

func (s *sleeper) sleep(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	s.slept = append(s.slept, d)
	s.mu.Unlock()
	return ctx.Err()
}

func (s *sleeper) list() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]time.Duration(nil), s.slept...)
}

// growing says whether the waits are those before attempts first, first+1, ...
func growing(waits []time.Duration, first int) error {
	for i, d := range waits {
		if low, high := delay(first+i, 0), delay(first+i, 1); d < low || d > high {
			return fmt.Errorf("wait %d is %v, not from %v to %v", i, d, low, high)
		}
	}
	return nil
}

func TestDelay(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 500 * time.Millisecond, 2: time.Second, 3: 2 * time.Second, 5: 8 * time.Second, 6: 16 * time.Second, 60: 16 * time.Second} {
		if low, mid, high := delay(n, 0), delay(n, 0.5), delay(n, 1); low != want*3/4 || mid != want || high != want*5/4 {
			t.Errorf("attempt %d waits %v to %v", n, low, high)
		}
	}
}

// connectOnce connects with a manager whose clock does not wait.
func connectOnce(t *testing.T, mode, arg string, change ...func(*Config)) (*Server, *sleeper) {
	t.Helper()
	cfg, _ := faulty(mode, arg)
	for _, c := range change {
		c(&cfg)
	}
	m, clock := newManager(t), &sleeper{}
	m.Sleep = clock.sleep
	s, err := m.Connect(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s, clock
}

// A conversation of 20 calls goes on over the death of its server, whenever it
// is killed; a call that was under way fails and says that it is not repeated.
func TestKilledInConversation(t *testing.T) {
	s, clock := connectOnce(t, "none", "")
	for i := range 20 {
		if i%7 == 3 {
			lost := s.sess.link.lost()
			_ = syscall.Kill(s.sess.link.(*stdioConn).proc.pid(), syscall.SIGKILL)
			<-lost
		}
		text := fmt.Sprint("call ", i)
		if got := call(t, s, "echo", `{"text":"`+text+`"}`); got != text {
			t.Errorf("call %d gave %q", i, got)
		}
		if s.Status() != Connected {
			t.Errorf("status %s after call %d", s.Status(), i)
		}
	}
	if slept := clock.list(); len(slept) > 0 {
		t.Errorf("waited %v although each restart worked", slept)
	}
}

// A call that was under way when the server died is not repeated.
func TestKilledInCall(t *testing.T) {
	dir := t.TempDir()
	s, _ := connectOnce(t, "countdie", filepath.Join(dir, "calls"))
	_, err := s.Call(context.Background(), "echo", json.RawMessage(`{}`))
	wantError(t, err, "exited with status 9", "may have been carried out and was not sent again")
	var lost *LostError
	if !errors.As(err, &lost) || lost.Unsent || lost.Method != "tools/call" {
		t.Errorf("error %#v", err)
	}
	if err := s.Wait(context.Background()); err != nil || s.Status() != Connected {
		t.Errorf("status %s, %v", s.Status(), err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "calls")); string(text) != "x" {
		t.Errorf("the server saw %d calls", len(text))
	}
}

// A server that cannot be started again is given up after five attempts with
// growing waits, is pending meanwhile, and comes back by hand.
func TestGivenUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "broken")
	var s *Server
	var during []Status
	clock := &sleeper{}
	m := newManager(t)
	m.Sleep = func(ctx context.Context, d time.Duration) error {
		during = append(during, s.Status())
		return clock.sleep(ctx, d)
	}
	cfg, _ := faulty("startsunless", file)
	s, err := m.Connect(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lost := s.sess.link.lost()
	_ = syscall.Kill(s.sess.link.(*stdioConn).proc.pid(), syscall.SIGKILL)
	<-lost
	_, err = s.Call(context.Background(), "echo", nil)
	wantError(t, err, "was ended by signal 9 (killed)", "could not be made again in 5 attempts", "exited with status 3", "still broken")
	if s.Status() != Failed || s.Err() == nil {
		t.Errorf("status %s, %v", s.Status(), s.Err())
	}
	if slept := clock.list(); len(slept) != 4 || growing(slept, 1) != nil {
		t.Errorf("waits %v: %v", slept, growing(slept, 1))
	}
	for _, status := range during {
		if status != Pending {
			t.Errorf("statuses %v", during)
		}
	}
	wantError(t, s.Reconnect(context.Background()), "still broken")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := s.Reconnect(context.Background()); err != nil || s.Status() != Connected {
		t.Fatalf("status %s, %v", s.Status(), err)
	}
	call(t, s, "echo", "")
}

// A server that dies at every call is restarted five times, then given up.
func TestDiesEachTime(t *testing.T) {
	s, clock := connectOnce(t, "die", "")
	for i := range maxAttempts + 1 {
		_, err := s.Call(context.Background(), "echo", nil)
		wantError(t, err, "exited with status 9")
		if i == 0 && len(clock.list()) > 0 {
			t.Error("waited before the first restart")
		}
	}
	_, err := s.Call(context.Background(), "echo", nil)
	wantError(t, err, "the connection was lost 6 times in a row", "exited with status 9")
	if err := growing(clock.list(), 1); err != nil || len(clock.list()) != 4 {
		t.Errorf("waits %v: %v", clock.list(), err)
	}
	if s.Status() != Failed {
		t.Errorf("status %s", s.Status())
	}
}

// Closing ends the attempts.
func TestCloseEndsAttempts(t *testing.T) {
	entered := make(chan struct{})
	m := newManager(t)
	m.Sleep = func(ctx context.Context, _ time.Duration) error {
		close(entered)
		<-ctx.Done()
		return ctx.Err()
	}
	file := filepath.Join(t.TempDir(), "broken")
	cfg, _ := faulty("startsunless", file)
	s, err := m.Connect(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(s.sess.link.(*stdioConn).proc.pid(), syscall.SIGKILL)
	<-entered
	if s.Status() != Pending {
		t.Errorf("status %s", s.Status())
	}
	waiting := make(chan error)
	go func() { _, err := s.Call(context.Background(), "echo", nil); waiting <- err }()
	within(t, patience/2, "close", func() { _ = s.Close() })
	if err := <-waiting; !errors.Is(err, ErrClosed) {
		t.Errorf("the waiting call got %v", err)
	}
	if err := s.Reconnect(context.Background()); err != ErrClosed {
		t.Errorf("reconnecting a closed server: %v", err)
	}
}

// Reconnecting by hand takes a new process and the new list of tools.
func TestReconnect(t *testing.T) {
	s, _ := connect(t, "none", "")
	before := s.sess.link.(*stdioConn).proc.pid()
	if err := s.Reconnect(context.Background()); err != nil {
		t.Fatal(err)
	}
	if after := s.sess.link.(*stdioConn).proc.pid(); after == before {
		t.Error("it is the same process")
	}
	if got := call(t, s, "seen", ""); strings.Count(got, "initialize\"") != 1 {
		t.Errorf("the server read %s", got)
	}
}
