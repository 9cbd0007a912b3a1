//go:build linux

package mcp

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Every server is ended within five seconds, with all that it started, and a
// second close is nothing. A09, M7.
func TestCloseEndsEverything(t *testing.T) {
	for _, mode := range []string{"none", "noeof", "sigign", "orphan", "setsid", "daemon", "breed", "noread"} {
		for _, wrap := range []bool{false, true} {
			name := mode
			if wrap {
				name += " under sh -c"
			}
			t.Run(name, func(t *testing.T) {
				s, _ := connect(t, mode, "", func(c *Config) {
					if wrap {
						c.Args = []string{"-c", `"$0"; exit $?`, c.Command}
						c.Command = "sh"
					}
				})
				within(t, 5*time.Second+patience/10, "close", func() { _ = s.Close() })
				if left := leftovers(); len(left) > 0 {
					t.Errorf("processes left: %v", left)
				}
				within(t, time.Second, "the second close", func() { _ = s.Close() })
				if s.Status() != Closed || s.Err() != nil {
					t.Errorf("status %s, error %v", s.Status(), s.Err())
				}
				_, err := s.Call(context.Background(), "echo", nil)
				if err != ErrClosed {
					t.Errorf("a call after the close: %v", err)
				}
			})
		}
	}
}

// A10: a server may tidy up after its input has ended.
func TestCloseIsPolite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "marker")
	s, _ := connect(t, "marker", file)
	_ = s.Close()
	if text, err := os.ReadFile(file); string(text) != "tidy" {
		t.Errorf("marker %q, %v", text, err)
	}
}

// A server that dies takes what it started with it.
func TestDeathSweeps(t *testing.T) {
	s, _ := connect(t, "orphan", "")
	old, lost := leftovers(), s.sess.link.lost()
	if err := syscall.Kill(s.sess.link.(*stdioConn).proc.pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-lost
	call(t, s, "echo", "") // on the next process
	for _, pid := range leftovers() {
		if slices.Contains(old, pid) {
			t.Errorf("process %s is left", pid)
		}
	}
}

// A process that left its server's group, session and environment behind is
// found at the end of the run.
func TestSweepAdopted(t *testing.T) {
	m := newManager(t)
	m.SweepAdopted = true
	old := elsewhere(true)
	fresh := func(ended bool) (n int) {
		for pid, start := range elsewhere(ended) {
			if old[pid] != start {
				n++
			}
		}
		return n
	}
	cfg, _ := faulty("hidden", "")
	if _, err := m.Connect(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if n := fresh(false); n != 2 { // the guard is one
		t.Fatalf("%d processes in sessions of their own", n)
	}
	m.CloseAll()
	// A process that was killed may take a while to end on a busy machine.
	eventually(t, "the end of all", func() bool { return fresh(false) == 0 })
	eventually(t, "nothing to reap", func() bool { sweepAdopted(); return fresh(true) == 0 })
}

// elsewhere gives our children in sessions of their own and when they began,
// those that have ended and wait to be reaped only where asked for.
func elsewhere(ended bool) map[int]uint64 {
	procs, out := allProcs(), map[int]uint64{}
	for pid, st := range procs {
		if st.ppid == os.Getpid() && st.sid != procs[os.Getpid()].sid && (ended || st.state != 'Z' && st.state != 'X') {
			out[pid] = st.start
		}
	}
	return out
}

// A12: the end of a run takes at most two seconds, an interrupted one less.
func TestCloseAllIsQuick(t *testing.T) {
	for name, shut := range map[string]func(*Manager){"CloseAll": (*Manager).CloseAll, "Abort": (*Manager).Abort} {
		m := newManager(t)
		for range 3 {
			cfg, _ := faulty("sigign", "")
			if _, err := m.Connect(context.Background(), cfg); err != nil {
				t.Fatal(err)
			}
		}
		within(t, 2*time.Second+patience/10, name, func() { shut(m) })
	}
}

// M7: when we are killed without warning, our servers and all they started
// are gone a moment later.
func TestWeAreKilled(t *testing.T) {
	for _, mode := range []string{"none", "noeof", "sigign", "orphan", "setsid", "daemon"} {
		t.Run(mode, func(t *testing.T) {
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), faultVariable+"=client", argVariable+"="+mode)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(out).ReadString('\n')
			mark := markVariable + "=" + fmt.Sprint(cmd.Process.Pid) + "-"
			if line != "connected\n" || len(carrying(mark)) == 0 {
				t.Errorf("the client said %q; processes %v", line, carrying(mark))
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			deadline := time.Now().Add(patience)
			for clear := 0; clear < 5; clear++ { // one that is just starting shows no environment for a moment
				if left := carrying(mark); len(left) > 0 {
					clear = -1
					if time.Now().After(deadline) {
						t.Fatalf("processes left: %v", left)
					}
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// beClient connects to a fault server and waits to be killed.
func beClient(mode string) {
	cfg, _ := faulty(mode, "")
	if _, err := NewManager().Connect(context.Background(), cfg); err != nil {
		fmt.Println(strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	fmt.Println("connected")
	forever()
}

func TestParseStat(t *testing.T) {
	st, ok := parseStat(7, []byte("7 (a ) (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20\n"))
	if !ok || st != (procStat{pid: 7, ppid: 1, pgid: 2, sid: 3, state: 'S', start: 4711}) {
		t.Errorf("%+v %v", st, ok)
	}
	for _, bad := range []string{"", "7 (a)", ")"} {
		if _, ok := parseStat(7, []byte(bad)); ok {
			t.Errorf("%q parsed", bad)
		}
	}
}
