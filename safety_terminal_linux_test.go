package sense_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// onTerminal runs sense on a terminal of its own, types keys, and gives every
// byte that reached the terminal.
func onTerminal(t *testing.T, dir, keys string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	defer master.Close()
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	quiet(t, slave)
	cmd := exec.Command(binary(t, "sense"), args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm", "NO_COLOR=1"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	if _, err := master.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	var out []byte
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		out = append(out, buf[:n]...)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			break // the other side is closed
		}
	}
	_ = cmd.Wait() // the output is looked at
	return string(out)
}

// quiet makes a terminal pass on what is written, and show no keys.
func quiet(t *testing.T, slave *os.File) {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	state.Oflag &^= unix.OPOST
	state.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, state); err != nil {
		t.Fatal(err)
	}
}

// acts gives the bytes of a text that act on a terminal.
func acts(text string) (found []string) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && n == 1 {
			found = append(found, fmt.Sprintf("%q at %d", text[i:i+n], i))
		}
		i += n
	}
	return found
}

// TestNothingActsOnTheTerminal shows text of strangers on a real terminal in
// every way there is, and looks for a byte that acts on it.
func TestNothingActsOnTheTerminal(t *testing.T) {
	dir := t.TempDir()
	all := strings.Join(escapes, " ")
	writeFile(t, filepath.Join(dir, "foreign.txt"), strings.ToValidUTF8(all, "?"))
	foreign := "import std.fs\ns = fs.read(\"foreign.txt\")\n"
	server := hostile("kit", "ansi")
	action := "irreversible action pay(to: String) requires approval:\n    \"\"\"pays\"\"\"\n    pass\na = pay(s)\na.verify()\ntry:\n    a.commit()\ncatch e:\n    print(e.message)\n"
	programs := map[string]string{
		"print":      foreign + "print(s)\nprint([s], {\"k\": s}, f\"{s}\")\n",
		"raise":      foreign + "raise s\n",
		"raised":     foreign + "def f(x):\n    raise s + x\nf(s)\n",
		"question":   foreign + "print(ask_human(s))\n",
		"describe":   foreign + strings.Replace(action, "try:", "print(a.describe())\ntry:", 1),
		"approval":   foreign + action,
		"audit":      foreign + "tool t(x: String) \"x\":\n    raise x\ntry:\n    t(s)\ncatch e:\n    print(e)\nprint(audit_log(), audit())\n",
		"result":     server + "print(kit.tools[0]())\n",
		"tool":       server + "print(kit.tools, kit.tools[0].description, kit.tools[0].schema)\n",
		"model":      server + "model m = inference(\"mock\", \"x\", script: [\"call kit.t {}\", \"{result}\"])\nset delegation = m\nprint(ask_with_tools(\"go\", kit.tools).value)\n",
		"assert":     foreign + "test \"t\":\n    assert s == \"x\"\n",
		"no member":  foreign + "m = {}\nprint(m[s])\n",
		"type error": foreign + "print(s + 1, int(s))\n",
		"agent":      foreign + "async agent a:\n    raise s\nstart(a)\n",
	}
	for name, program := range programs {
		writeFile(t, filepath.Join(dir, name+".sns"), program)
		flags := [][]string{{"run", "--audit", "a.jsonl", "--verbose"}}
		switch name {
		case "approval":
			flags = [][]string{{"run", "--ask-approval"}, {"run", "--dry-run"}}
		case "assert":
			flags = [][]string{{"test"}}
		}
		for _, f := range flags {
			out := onTerminal(t, dir, "n\nn\n", append(f, name+".sns")...)
			if len(out) == 0 {
				t.Errorf("%s: nothing was shown", name)
			}
			if got := acts(out); len(got) > 0 {
				t.Errorf("%s %v: %d bytes act on the terminal, %v\n%q", name, f, len(got), got[:min(3, len(got))], out)
			}
		}
	}
	for _, args := range [][]string{{"audit", "show", "a.jsonl"}, {"check", "raise.sns"}, {"permissions", "raise.sns"}, {"run", "\x1b[31m.sns"}, {"\x1b[31m"}, {"run", "--\x1b[31m"}, {"fmt", "\x1b]0;x\a"}, {"audit", "show", "\x1b[2J"},
		{"audit", "verify", "\u009b2J"}, {"run", "--policy", "\x1b[2J", "raise.sns"}, {"run", "--allow", "\x1b[2J", "raise.sns"}, {"run", "--audit", "\x1b[2J/x", "raise.sns"}, {"test", "\x1b[2J"}, {"inspect", "\x1b[2J"}, {"apply", "\x1b[2J"}, {"memory-path", "\x1b[2J"}} {
		if got := acts(onTerminal(t, dir, "", args...)); len(got) > 0 {
			t.Errorf("%q: %v", args, got)
		}
	}
	plain := runIn(t, dir, nil, "run", "print.sns")
	if want := strings.ToValidUTF8(all, "?") + "\n"; !strings.HasPrefix(plain.out, want) {
		t.Errorf("in a pipe the bytes are not those printed: %q", plain.out)
	}
	if out := onTerminal(t, dir, "", "run", "--raw", "print.sns"); !strings.HasPrefix(out, strings.ToValidUTF8(all, "?")) {
		t.Errorf("--raw changes them: %q", out)
	}
}
