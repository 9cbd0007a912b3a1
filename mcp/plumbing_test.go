package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	tests := []struct {
		name, in string
		want     []string
		err      error
	}{
		{"empty", "", nil, io.EOF},
		{"lines", "a\n\nb\n", []string{"a", "", "b"}, io.EOF},
		{"no end", "a\nb", []string{"a", "b"}, io.EOF},
		{"long", long + "\nb\n", []string{long, "b"}, io.EOF},
		{"long without end", long, []string{long}, io.EOF},
		{"just fits", strings.Repeat("y", 299_999) + "\n", []string{strings.Repeat("y", 299_999)}, io.EOF},
		{"too long", "a\n" + strings.Repeat("y", 300_001), []string{"a"}, errTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lr := newLineReader(strings.NewReader(tt.in), 300_000)
			var got []string
			for {
				line, _, err := lr.next()
				if err != nil {
					if err != tt.err {
						t.Errorf("error %v, want %v", err, tt.err)
					}
					break
				}
				got = append(got, string(line))
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") || len(got) != len(tt.want) {
				t.Errorf("%d lines, want %d", len(got), len(tt.want))
			}
		})
	}
	failing := newLineReader(io.MultiReader(strings.NewReader(long), errReader{}), 300_000)
	if _, _, err := failing.next(); err != errBroken {
		t.Errorf("error %v", err)
	}
}

var errBroken = errors.New("broken")

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errBroken }

// recorder is a pipe's writing end that a test can hold up.
type recorder struct {
	bytes.Buffer
	hold   chan struct{}
	closed chan struct{}
	err    error
}

func (r *recorder) Write(b []byte) (int, error) {
	select {
	case <-r.hold:
	case <-r.closed:
		return 0, os.ErrClosed
	}
	if r.err != nil {
		return 0, r.err
	}
	return r.Buffer.Write(b)
}

func (r *recorder) Close() error { close(r.closed); return nil }

func TestWriteQueue(t *testing.T) {
	w := &recorder{hold: make(chan struct{}), closed: make(chan struct{})}
	q := newWriteQueue(w, func(error) {})
	for i, text := range []string{"one ", "two ", "three ", "four "} {
		if err := q.put(int64(i+1), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if !q.drop(3) || q.drop(3) || q.drop(99) {
		t.Error("drop is wrong about what it dropped")
	}
	if err := q.put(5, make([]byte, maxQueued)); err != errNotReading {
		t.Errorf("putting too much: %v", err)
	}
	close(w.hold)
	for deadline := time.Now().Add(10 * time.Second); ; {
		q.mu.Lock()
		idle := len(q.list) == 0 && !q.busy
		q.mu.Unlock()
		if idle {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the queue does not empty")
		}
		runtime.Gosched()
	}
	q.close()
	q.close()
	if got := w.String(); got != "one two four " {
		t.Errorf("written %q", got)
	}
	if err := q.put(9, nil); err != ErrClosed {
		t.Errorf("putting after the close: %v", err)
	}
}

func TestWriteQueueCloseUnblocks(t *testing.T) {
	w := &recorder{hold: make(chan struct{}), closed: make(chan struct{})}
	q := newWriteQueue(w, func(err error) { t.Errorf("told of %v", err) })
	_ = q.put(1, []byte("stuck"))
	q.close()
	if w.Len() != 0 {
		t.Errorf("written %q", w.String())
	}
}

func TestWriteQueueFails(t *testing.T) {
	w := &recorder{hold: make(chan struct{}), closed: make(chan struct{}), err: errBroken}
	close(w.hold)
	told := make(chan error, 2)
	q := newWriteQueue(w, func(err error) { told <- err })
	_ = q.put(1, []byte("x"))
	if err := <-told; err != errBroken {
		t.Errorf("told of %v", err)
	}
	if err := q.put(2, []byte("y")); err != ErrClosed {
		t.Errorf("putting after a failure: %v", err)
	}
	q.close()
}

func TestRing(t *testing.T) {
	var r ring
	if r.text() != "" || r.tail() != "" {
		t.Error("a new ring holds something")
	}
	var all strings.Builder
	for i := range 30_000 {
		line := fmt.Sprintf("line %d\n", i)
		all.WriteString(line)
		_, _ = r.Write([]byte(line))
	}
	want := all.String()[all.Len()-ringSize:]
	if r.text() != want {
		t.Error("the ring does not hold the last 64 KiB")
	}
	_, _ = r.Write([]byte(all.String()))
	if r.text() != want {
		t.Error("the ring does not take one large write")
	}
	var small ring
	_, _ = small.Write([]byte("a\n\n  b\x1b[31m\r\nc\nd\ne\nf\n"))
	if got := small.tail(); got != `b\u001b[31m | c | d | e | f` {
		t.Errorf("tail %q", got)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		" a\nb\tc ": "a b c", "\x1b]52;x\a": `\u001b]52;x\u0007`, "e\u202ex\u200b": `e\u202ex\u200b`, "日本🦊": "日本🦊", "\xff": "\ufffd",
	} {
		if got := clean(in, 100); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := clean(strings.Repeat("é", 10), 3); got != "ééé..." { // A20
		t.Errorf("cut %q", got)
	}
}

func TestErrorTexts(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{&TimeoutError{After: 60 * time.Second}, "timed out after 60 s"},
		{&TimeoutError{After: 1500 * time.Millisecond, Unsent: true}, "timed out after 1.5 s; the server does not read its input"},
		{&TimeoutError{After: 6 * time.Second, Method: "initialize", Stderr: "npm warn"}, "no answer to initialize in 6 s; its standard error ends: npm warn"},
		{&ExitError{Status: "exited with status 3", Early: true, Stderr: "x"}, "the server exited with status 3 before it answered; its standard error ends: x"},
		{&RPCError{Code: -1, Message: "a\nb", Data: []byte("null")}, "a b (JSON-RPC error -1)"},
		{lostError(nil), "the connection is closed"},
		{lostError(ErrClosed), "the connection is closed"},
		{lostError(errBroken), "the connection is closed: broken"},
	}
	for _, tt := range tests {
		if tt.err.Error() != tt.want {
			t.Errorf("%q, want %q", tt.err, tt.want)
		}
	}
}

// A01, A02, A06: how commands are found.
func TestFinder(t *testing.T) {
	files := fstest.MapFS{
		"bin/tool": {Mode: 0o755}, "bin/plain": {Mode: 0o644}, "bin/folder/x": {Mode: 0o755}, "bin2/folder": {Mode: 0o755},
		"here/fake": {Mode: 0o755}, "here/both": {Mode: 0o755}, "bin2/both": {Mode: 0o755},
		"win/npx.cmd": {Mode: 0o644}, "win/node.exe": {Mode: 0o644}, "win/npx": {Mode: 0o644},
	}
	stat := func(path string) (fs.FileInfo, error) {
		path = strings.TrimPrefix(path, "/")
		if path == "fake" || path == "both" {
			path = "here/" + path
		}
		return files.Stat(path)
	}
	unix := finder{path: "/bin:/bin2", stat: stat}
	dotted := finder{path: ".:/bin:/bin2", stat: stat}
	empty := finder{path: ":/bin", stat: stat}
	windows := finder{windows: true, path: "/none;/win", pathExt: ".COM;.EXE;.CMD", stat: stat}
	tests := []struct {
		f             finder
		command, want string
	}{
		{unix, "tool", "/bin/tool"},
		{unix, "folder", "/bin2/folder"},
		{unix, "plain", "command 'plain' was not found on PATH"},
		{unix, "none", "command 'none' was not found on PATH"},
		{unix, "/bin/tool", "/bin/tool"},
		{unix, "/bin/plain", "command '/bin/plain' is not executable"},
		{unix, "/bin/folder", "command '/bin/folder' is a folder"},
		{unix, "/bin/none", "command '/bin/none' does not exist"},
		{unix, "", "the command is empty"},
		{unix, "a\x00b", `the command "a\x00b" holds a zero byte`},
		{dotted, "fake", "command 'fake' was found on PATH only through its relative entry '.', which is not safe to start; write './fake'"},
		{dotted, "both", "/bin2/both"},
		{empty, "fake", "command 'fake' was found on PATH only through its relative entry '.', which is not safe to start; write './fake'"},
		{finder{path: "/none", dir: "/bin", stat: stat}, "./tool", "/bin/tool"},
		{windows, "npx", "/win/npx.cmd"},
		{windows, "node", "/win/node.exe"},
		{windows, "node.exe", "/win/node.exe"},
		{windows, "none", "command 'none' was not found on PATH"},
		{finder{windows: true, path: "/win", stat: stat}, "npx", "/win/npx.cmd"},
	}
	for _, tt := range tests {
		got, err := tt.f.find(tt.command)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q on %q: %s, want %s", tt.command, tt.f.path, got, tt.want)
		}
	}
}

func TestSystemFinder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := systemFinder(map[string]string{"PATH": dir}, "").find("mine"); err != nil || got != filepath.Join(dir, "mine") {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := systemFinder(nil, "").find("mine"); err == nil {
		t.Error("found on our own PATH")
	}
}

func TestCheckBatch(t *testing.T) {
	if err := checkBatch("C:/x/NPX.CMD", []string{"-y", "pkg", "a b"}); err != nil {
		t.Error(err)
	}
	if err := checkBatch("C:/x/node.exe", []string{`"&calc`}); err != nil {
		t.Error(err)
	}
	if err := checkBatch("C:/x/npx.cmd", []string{"a&calc"}); err == nil || !strings.Contains(err.Error(), "argument 'a&calc' cannot be handed safely") {
		t.Error(err)
	}
}

// A03, A04, A05: the environment of a server.
func TestServerEnv(t *testing.T) {
	ours := []string{"PATH=/bin", "HOME=/h", "OPENAI_API_KEY=k", "LC_ALL=C", "SHELL=() { :; }", "odd", "Path=x"}
	got := strings.Join(serverEnv("linux", ours, map[string]string{"X": "1", "HOME": "/other"}), " ")
	if want := "HOME=/other LC_ALL=C PATH=/bin X=1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got = strings.Join(serverEnv("windows", []string{"Path=C:", "SystemRoot=R", "ComSpec=c", "PATHEXT=.E", "ProgramData=d", "TEMP=t", "AppData=a", "KEY=k"}, nil), " ")
	if want := "APPDATA=a COMSPEC=c PATH=C: PATHEXT=.E PROGRAMDATA=d SYSTEMROOT=R TEMP=t"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
