package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense/diag"
)

// write makes a log of n entries and gives its text and its head.
func write(t *testing.T, path string, n int) (text []byte, head string) {
	t.Helper()
	s, err := OpenFile(path, FileOptions{Run: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		e := Entry{Kind: "tool", Name: fmt.Sprintf("t%d", i), Event: "called", Detail: "why\n\x1b[2J \u009b", File: "a.sns", Pos: line(int32(i)),
			Time: noon.Add(time.Duration(i) * time.Second), Lineage: []string{"agent:a"}, Calls: []string{"f", "g"},
			Fields: []Field{{"z", 1}, {"a", "<b>"}, {"nan", math.NaN()}}, Durable: i == 1}
		if err := s.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	count, head := s.Head()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(path)
	if err != nil || int(count) != bytes.Count(text, []byte("\n")) {
		t.Fatal(count, err)
	}
	return text, head
}

func TestFileIsWhatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	text, head := write(t, path, 3)
	rep, err := Verify(bytes.NewReader(text))
	if err != nil || rep.Entries != 3 || rep.Head != head || rep.End != int64(len(text)) || rep.Unfinished != 0 {
		t.Errorf("%+v %v", rep, err)
	}
	if i := strings.IndexFunc(strings.ReplaceAll(string(text), "\n", ""), diag.Hidden); i >= 0 {
		t.Errorf("the file acts on a terminal: %q", text)
	}
	first := strings.SplitN(string(text), "\n", 2)[0]
	want := `{"seq":1,"prev":"","run":"r1","time":"2026-01-02T12:00:00Z","kind":"tool","name":"t0","event":"called",` +
		`"detail":"why\n\u001b[2J \u009b","file":"a.sns","col":1,"lineage":["agent:a"],"calls":["f","g"],` +
		`"fields":{"z":1,"a":"<b>","nan":"NaN"},"hash":"`
	if !strings.HasPrefix(first, want) {
		t.Errorf("got  %s\nwant %s", first, want)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	text, head = write(t, path, 2) // goes on
	if rep, err = VerifyHead(bytes.NewReader(text), head); err != nil || rep.Entries != 5 || !rep.HeadFound {
		t.Errorf("%+v %v", rep, err)
	}
}

func TestModeIsTightened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, path, 1)
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
}

func TestRecoversFromAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	text, _ := write(t, path, 3)
	whole := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	for _, cut := range []int{whole + 1, whole + 50, len(text) - 1, 1, 18, 100} {
		if err := os.WriteFile(path, text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenFile(path, FileOptions{Clock: func() time.Time { return noon }, Sync: true})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if err := s.Write(&Entry{Name: "next"}); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		got, _ := os.ReadFile(path)
		var shown []string
		rep, err := Show(bytes.NewReader(got), nil, func(r *Record) error { shown = append(shown, r.Name+" "+r.Event); return nil })
		if err != nil || rep.Unfinished != 0 || shown[len(shown)-2] != "log recovered" || shown[len(shown)-1] != "next " {
			t.Errorf("cut at %d: %+v %v %v", cut, rep, err, shown)
		}
	}
	if err := os.WriteFile(path, text[:1], 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenFile(path, FileOptions{}) // the machine's clock
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte("my notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := filepath.Join(dir, "lines.txt")
	if err := os.WriteFile(lines, []byte("my\nnotes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	_ = os.Symlink(text, link)
	inUse := filepath.Join(dir, "used.jsonl")
	s, err := OpenFile(inUse, FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cases := []struct{ path, want string }{
		{dir, "is no ordinary file"},
		{link, "is no ordinary file"},
		{filepath.Join(dir, "no", "where"), "cannot open audit file '" + filepath.Join(dir, "no", "where") + "': no such file or directory"},
		{text, "cannot append to '" + text + "': this is no audit log"},
		{lines, "cannot append to '" + lines + "': audit log is broken at line 1: this is no audit entry"},
		{inUse, "audit file '" + inUse + "' is in use by another run"},
	}
	for _, c := range cases {
		s, err := OpenFile(c.path, FileOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.path, err, c.want)
		}
		if s != nil {
			t.Errorf("%s: a sink with an error", c.path)
		}
	}
	if b, _ := os.ReadFile(text); string(b) != "my notes" {
		t.Error("another file was changed")
	}
}

// faulty fails at the n-th operation and writes half before it does.
type faulty struct {
	*os.File
	left       int
	noTruncate bool
}

var errFull = errors.New("no space left on device")

func (f *faulty) next() error {
	if f.left--; f.left < 0 {
		return errFull
	}
	return nil
}

func (f *faulty) Write(p []byte) (int, error) {
	if err := f.next(); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, &os.PathError{Op: "write", Path: "secret-path", Err: err}
	}
	return f.File.Write(p)
}

func (f *faulty) Sync() error {
	if err := f.next(); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faulty) Truncate(n int64) error {
	if f.noTruncate {
		return errFull
	}
	return f.File.Truncate(n)
}

// A4: whichever write or sync fails, nothing of the entry stays, and what was
// acknowledged is there.
func TestEveryFailure(t *testing.T) {
	for n := range 12 {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		s, err := OpenFile(path, FileOptions{Sync: true})
		if err != nil {
			t.Fatal(err)
		}
		f := &faulty{File: s.f.(*os.File), left: n}
		s.f = f
		acknowledged := 0
		for range 6 {
			err := s.Write(&Entry{Name: "x"})
			if err == nil {
				acknowledged++
				continue
			}
			if err.Error() != "cannot write the audit file: no space left on device" {
				t.Fatalf("got %v", err)
			}
		}
		f.left = 100
		if err := s.Write(&Entry{Name: "room again"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(path)
		rep, err := Verify(bytes.NewReader(text))
		if err != nil || rep.Entries != int64(acknowledged)+1 || rep.Unfinished != 0 {
			t.Errorf("failure %d: %d acknowledged, %+v %v", n, acknowledged, rep, err)
		}
	}
}

func TestBrokenForGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	s, err := OpenFile(path, FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{File: s.f.(*os.File), left: 1, noTruncate: true}
	s.f = f
	if err := s.Write(&Entry{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(&Entry{Name: "y"}); err == nil {
		t.Fatal("no error")
	}
	f.left = 100
	if err := s.Write(&Entry{Name: "z"}); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("an entry after half of another: %v", err)
	}
	f.left = 0
	if err := s.Close(); !errors.Is(err, errFull) {
		t.Errorf("close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if err := s.Write(&Entry{}); err == nil || err.Error() != "the audit file is closed" {
		t.Errorf("write after close: %v", err)
	}
	if err := (&FileSink{f: f}).recover(3); err == nil || err.Error() != "cannot take off an unfinished entry: no space left on device" {
		t.Errorf("recover: %v", err)
	}
}

func TestOddEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	s, err := OpenFile(path, FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(&Entry{Time: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("a year that JSON cannot hold")
	}
	var many []Field
	for i := range 200 {
		many = append(many, Field{fmt.Sprint(i), strings.Repeat("x", maxText)})
	}
	if err := s.Write(&Entry{Fields: many}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a huge entry: %v", err)
	}
	long := strings.Repeat("é", maxText) // A20: cut at a character's end
	if err := s.Write(&Entry{Name: "n", Detail: "x" + long, Fields: []Field{{"k", long}, {"tag", "\U000e0041"}, {"ch", make(chan int)}}}); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	text, _ := os.ReadFile(path)
	var got Record
	if _, err := Show(bytes.NewReader(text), nil, func(r *Record) error { got = *r; return nil }); err != nil {
		t.Fatal(err)
	}
	if want := "x" + long[:maxText-2] + fmt.Sprintf("… (%d bytes)", len(long)+1); got.Detail != want {
		t.Errorf("detail ends %q", got.Detail[len(got.Detail)-40:])
	}
	if got.Fields[1].Value != "\U000e0041" || !strings.HasPrefix(fmt.Sprint(got.Fields[2].Value), "0x") {
		t.Errorf("fields %v", got.Fields[1:])
	}
}

// Killed at any moment, a written entry is whole, and the next run goes on.
func TestKilled(t *testing.T) {
	if os.Getenv("AUDIT_TEST_FILE") != "" {
		writeForEver(os.Getenv("AUDIT_TEST_FILE"))
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	acknowledged := 0
	for range 10 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "AUDIT_TEST_FILE="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1+rand.IntN(300)) // one byte an entry
		n, err := io.ReadFull(out, buf)
		_ = cmd.Process.Kill()
		rest, _ := io.ReadAll(out)
		_ = cmd.Wait()
		if err != nil {
			t.Fatal(err)
		}
		acknowledged += n + len(rest)
		text, _ := os.ReadFile(path)
		rep, err := Verify(bytes.NewReader(text))
		if err != nil || rep.Entries < int64(acknowledged) {
			t.Fatalf("%d acknowledged: %+v %v", acknowledged, rep, err)
		}
	}
}

func writeForEver(path string) {
	s, err := OpenFile(path, FileOptions{})
	for err == nil {
		if err = s.Write(&Entry{Kind: "tool", Name: "x", Detail: strings.Repeat("y", 500), Time: time.Now()}); err == nil {
			_, err = os.Stdout.Write([]byte{'.'})
		}
	}
	os.Exit(1)
}

func BenchmarkFileWrite(b *testing.B) {
	s, err := OpenFile(filepath.Join(b.TempDir(), "a.jsonl"), FileOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	e := Entry{Kind: "tool", Name: "x", Event: "called", Time: noon, Pos: line(4)}
	for b.Loop() {
		if err := s.Write(&e); err != nil {
			b.Fatal(err)
		}
	}
}
