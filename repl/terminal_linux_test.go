package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// runOnTerminal is what the child of TestTerminal does: a session of the fake
// engine on its terminal.
func runOnTerminal() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	in := NewInput(os.Stdin)
	f := &fake{out: os.Stdout, in: in.Program(), running: make(chan struct{}, 9)}
	err := Run(ctx, Options{Engine: f, In: in, Out: os.Stdout, Err: os.Stderr, Interrupts: c,
		Terminal: true, Color: true, History: DefaultHistory()})
	fmt.Printf("left: %v\n", err)
}

// screen is a terminal: what was written to it, and its keyboard.
type screen struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	mu     sync.Mutex
	text   bytes.Buffer
	seen   int
	more   chan struct{}
}

// openScreen starts the session on a new terminal.
func openScreen(t *testing.T, state string) *screen {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100})
	}
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	rc := filepath.Join(t.TempDir(), "inputrc") // nobody answers questions about the cursor here
	if err := os.WriteFile(rc, []byte("set cursor-position-probe off\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, master: master, more: make(chan struct{}, 1), cmd: exec.Command(os.Args[0])}
	s.cmd.Env = append(os.Environ(), "REPL_TEST_TERMINAL=1", "XDG_STATE_HOME="+state, "TERM=xterm-256color", "INPUTRC="+rc)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	go s.watch()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		_ = master.Close()
		for range s.more { // until watch is done
		}
	})
	return s
}

// watch keeps what the session writes.
func (s *screen) watch() {
	defer close(s.more)
	buf := make([]byte, 4096)
	for {
		n, err := s.master.Read(buf)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		s.mu.Lock()
		s.text.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
		select {
		case s.more <- struct{}{}:
		default:
		}
	}
}

// see waits until the session has written a text after what was seen before.
func (s *screen) see(want string) {
	s.t.Helper()
	limit := time.NewTimer(30 * time.Second) // a failure's bound, not a measure
	defer limit.Stop()
	for {
		s.mu.Lock()
		text := s.text.String()
		s.mu.Unlock()
		if i := strings.Index(text[s.seen:], want); i >= 0 {
			s.seen += i + len(want)
			return
		}
		select {
		case <-s.more:
		case <-limit.C:
			s.t.Fatalf("no %q in %q", want, text[s.seen:])
		}
	}
}

// typeIn sends keys.
func (s *screen) typeIn(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

const up = "\x1b[A"

// A session as a person has it, C21 to C23.
func TestTerminal(t *testing.T) {
	state := t.TempDir()
	s := openScreen(t, state)
	s.see("sense> ")
	s.typeIn("1 + 1\r")
	s.see(`=> "1 + 1"`)
	s.see("sense> ")
	// A pasted function with an empty line inside is one input.
	s.typeIn("\x1b[200~def f():\r    return 1\r\r    return 2\r\x1b[201~\r")
	s.see(`=> "def f():\n    return 1\n\n    return 2\n"`)
	s.see("sense> ")
	// A bracket goes on over lines; a header opens a block that an empty line closes.
	s.typeIn("x = [1,\r2]\r")
	s.see(`=> "x = [1,\n2]"`)
	s.see("sense> ")
	s.typeIn("if x: # why\r    y\r\r")
	s.see(`=> "if x: # why\n    y\n"`)
	s.see("sense> ")
	// Ctrl-C drops a half-typed block and stops a loop; the session goes on.
	s.typeIn("if x:\r    half")
	s.see("half")
	s.typeIn("\x03")
	s.see("sense> ")
	s.typeIn("loop\r")
	s.see("\n") // the line is taken, and the terminal gives signals again
	s.waitCooked()
	s.typeIn("\x03")
	s.see("SenseError: interrupted")
	s.see("sense> ")
	// ... also one that waits for a line, which then takes no keys away.
	s.typeIn("ask\r")
	s.see("name?")
	s.waitCooked()
	s.typeIn("\x03")
	s.see("SenseError: interrupted")
	s.see("sense> ")
	s.typeIn("2 + 2\r")
	s.see(`=> "2 + 2"`)
	s.see("sense> ")
	// Completion and history.
	s.typeIn("kit.oth\t\r")
	s.see(`=> "kit.other"`)
	s.see("sense> ")
	s.typeIn(up + up + up + up + up + "\r")
	s.see(`=> "if x: # why\n    y`)
	s.see("sense> ")
	s.typeIn("é日本\r")
	s.see(`=> "é日本"`)
	s.see("sense> ")
	s.typeIn("\x04")
	s.see("left: <nil>")

	s = openScreen(t, state) // the next session remembers
	s.see("sense> ")
	s.typeIn(up + "\r")
	s.see(`=> "é日本"`)
	s.see("sense> ")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.see("left: context canceled")
	s.waitCooked()
}

// waitCooked waits until Ctrl-C at the terminal is a signal.
func (s *screen) waitCooked() {
	s.t.Helper()
	for range 3000 {
		state, err := unix.IoctlGetTermios(int(s.master.Fd()), unix.TCGETS)
		if err != nil || state.Lflag&unix.ISIG != 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatal("the terminal stays raw")
}
