package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sense-lang/sense/diag"
)

// A2: every kind of change to any record is found.
func TestEveryChangeIsFound(t *testing.T) {
	text, head := write(t, filepath.Join(t.TempDir(), "a.jsonl"), 20)
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[:len(lines)-1]
	rnd := rand.New(rand.NewPCG(7, 7))
	join := func(parts ...[][]byte) []byte {
		var b []byte
		for _, p := range parts {
			b = append(b, bytes.Join(p, nil)...)
		}
		return b
	}
	changes := map[string]func() []byte{
		"flip": func() []byte {
			b := bytes.Clone(text)
			b[rnd.IntN(len(b))] ^= byte(1 << rnd.IntN(8))
			return b
		},
		"delete": func() []byte {
			i := rnd.IntN(len(lines))
			return join(lines[:i], lines[i+1:])
		},
		"swap": func() []byte {
			l := append([][]byte{}, lines...)
			i, j := rnd.IntN(len(l)), rnd.IntN(len(l)-1)
			if j >= i {
				j++
			}
			l[i], l[j] = l[j], l[i]
			return join(l)
		},
		"double":   func() []byte { i := rnd.IntN(len(lines)); return join(lines[:i+1], lines[i:]) },
		"truncate": func() []byte { return text[:rnd.IntN(len(text))] },
		"insert": func() []byte {
			i := rnd.IntN(len(text) - 1)
			return append(append(bytes.Clone(text[:i]), "x"...), text[i:]...)
		},
	}
	for name, change := range changes {
		for range 1000 {
			b := change()
			if rep, err := VerifyHead(bytes.NewReader(b), head); err == nil {
				t.Fatalf("%s: not found: %+v", name, rep)
			}
		}
	}
	// Without the head, whole entries missing at the end cannot be seen, but
	// nothing else slips through.
	for i := range lines {
		if rep, err := Verify(bytes.NewReader(join(lines[:i]))); err != nil || rep.Entries != int64(i) {
			t.Errorf("%d entries: %+v %v", i, rep, err)
		}
	}
}

func TestVerifySaysWhere(t *testing.T) {
	dir := t.TempDir()
	text, _ := write(t, filepath.Join(dir, "a.jsonl"), 4)
	write(t, filepath.Join(dir, "b.jsonl"), 1)
	other, _ := write(t, filepath.Join(dir, "b.jsonl"), 3) // the same entries one place further
	l, ol := strings.SplitAfter(string(text), "\n"), strings.SplitAfter(string(other), "\n")
	long := strings.Repeat("x", maxLine+1)
	cases := []struct{ name, text, want string }{
		{"changed", l[0] + strings.Replace(l[1], "called", "denied", 1), "audit log is broken at line 2: the entry was changed"},
		{"missing", l[0] + l[2], "audit log is broken at line 2: entry 2 is missing before entry 3"},
		{"first missing", l[1], "audit log is broken at line 1: entry 1 is missing before entry 2"},
		{"twice", l[0] + l[0], "audit log is broken at line 2: entry 1 stands where entry 2 belongs"},
		{"foreign", l[0] + l[1] + ol[2], "audit log is broken at line 3: the entry belongs to another log, or the one before it was replaced"},
		{"text", "hello\n", "audit log is broken at line 1: this is no audit entry"},
		{"empty line", l[0] + "\n", "audit log is broken at line 2: this is no audit entry"},
		{"no JSON", `x,"hash":"` + strings.Repeat("0", 64) + "\"}\n", "audit log is broken at line 1: this is no audit entry"},
		{"fields", `{"fields":[],"hash":"` + strings.Repeat("0", 64) + "\"}\n", "audit log is broken at line 1: this is no audit entry"},
		{"long", l[0] + long, "audit log is broken at line 2: a line is longer than 8388608 bytes"},
	}
	for _, c := range cases {
		_, err := Verify(strings.NewReader(c.text))
		var broken *BrokenError
		if err == nil || err.Error() != c.want || !errors.As(err, &broken) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	rep, err := Verify(strings.NewReader(l[0] + l[1][:20]))
	if err != nil || rep.Entries != 1 || rep.Unfinished != 20 || rep.End != int64(len(l[0])) {
		t.Errorf("where the log ends: %+v %v", rep, err)
	}
	if _, err := VerifyHead(strings.NewReader(l[0]), "x"); err == nil || !strings.Contains(err.Error(), "cut off or made anew") {
		t.Errorf("head: %v", err)
	}
	if _, err := Verify(io.MultiReader(strings.NewReader(l[0]), failing{})); err == nil || err.Error() != "disk gone" {
		t.Errorf("read error: %v", err)
	}
	if rep, err := Verify(strings.NewReader("")); err != nil || rep.Entries != 0 {
		t.Errorf("an empty log: %+v %v", rep, err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("disk gone") }

func TestShow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	s, err := OpenFile(path, FileOptions{Run: "r7"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Entry{
		{Kind: "tool", Name: "gh.create", Event: "called", File: "a.sns", Pos: line(3), Fields: []Field{{"bytes", 12}, {"ok", true}, {"who", "a\nb"}}},
		{Kind: "tool", Name: "gh.delete", Event: "denied", Detail: "capability 'x' denied by policy", Lineage: []string{"agent:a", "tool:b"}, Calls: []string{"f"}},
		{Kind: "irreversible", Name: "launch", Event: "committed", Pos: line(9)},
	} {
		e.Time = noon
		_ = s.Write(&e)
	}
	_ = s.Close()
	text, _ := os.ReadFile(path)
	cases := []struct{ filters, want string }{
		{"", "1 2 3"}, {"kind=tool", "1 2"}, {"name=gh.*", "1 2"}, {"name=*delete", "2"}, {"name=*.*", "1 2"}, {"event=denied", "2"},
		{"event=denied kind=irreversible", ""}, {"seq=3", "3"}, {"run=r7", "1 2 3"}, {"run=r8", ""}, {"file=a.sns", "1"}, {"line=9", "3"},
		{"detail=*policy", "2"}, {"lineage=tool:b", "2"}, {"calls=f", "2"}, {"bytes=12", "1"}, {"ok=true", "1"}, {"who=a*", "1"}, {"nope=1", ""},
	}
	for _, c := range cases {
		var filters []Filter
		for _, f := range strings.Fields(c.filters) {
			parsed, err := ParseFilter(f)
			if err != nil {
				t.Fatal(err)
			}
			filters = append(filters, parsed)
		}
		var got []string
		if _, err := Show(bytes.NewReader(text), filters, func(r *Record) error { got = append(got, fmt.Sprint(r.Seq)); return nil }); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.filters, got, c.want)
		}
	}
	var lines []string
	_, _ = Show(bytes.NewReader(text), nil, func(r *Record) error { lines = append(lines, r.String()); return nil })
	want := []string{
		`2026-01-02 12:00:00.000Z [a.sns:3] tool 'gh.create' -> called bytes=12 ok=true who=a\nb`,
		`2026-01-02 12:00:00.000Z tool 'gh.delete' -> denied (capability 'x' denied by policy) (via agent:a > tool:b)`,
		`2026-01-02 12:00:00.000Z [9] irreversible action 'launch' -> committed`,
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
	stop := errors.New("enough")
	if rep, err := Show(bytes.NewReader(text), nil, func(*Record) error { return stop }); !errors.Is(err, stop) || rep.Entries != 1 {
		t.Errorf("%+v %v", rep, err)
	}
	for _, bad := range []string{"", "x", "=y", " =y"} {
		if _, err := ParseFilter(bad); err == nil || !strings.HasPrefix(err.Error(), "a filter is key=value, got '") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	rec := Record{Seq: 1, Name: "n", Kind: "k", Event: "e", Time: noon, Line: 4, Fields: fieldMap{{"a", 1.5}, {"c", make(chan int)}}}
	if e := rec.Entry(); e.Name != "n" || e.Pos.Line != 4 || len(e.Fields) != 2 {
		t.Errorf("%+v", e)
	}
	if got := rec.String(); !strings.Contains(got, "a=1.5 c=0x") {
		t.Error(got)
	}
}

func FuzzVerify(f *testing.F) {
	rec := newRecord(&Entry{Kind: "tool", Name: "x", Fields: []Field{{"a", 1}}}, 1, "", "")
	line, _, _ := rec.seal()
	f.Add(line)
	f.Add([]byte(`{"seq":1,"fields":{"a":{}},"hash":"` + strings.Repeat("0", 64) + "\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rep, err := Show(bytes.NewReader(data), nil, func(r *Record) error {
			if i := strings.IndexFunc(r.String(), diag.Hidden); i >= 0 {
				t.Fatalf("%q", r.String())
			}
			return nil
		})
		if err == nil && rep.End+rep.Unfinished != int64(len(data)) {
			t.Fatalf("%+v of %d bytes", rep, len(data))
		}
	})
}
