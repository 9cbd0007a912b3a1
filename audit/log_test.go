package audit

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sense-lang/sense/diag"
)

func line(n int32) diag.Pos { return diag.Pos{Line: n, Col: 1} }

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestLine(t *testing.T) {
	cases := []struct {
		e    Entry
		want string
	}{
		{Entry{Kind: "tool", Name: "x", Event: "called", Pos: line(7)}, "[line 7] tool 'x' -> called"},
		{Entry{Kind: "reversible", Name: "x", Event: "committed", Pos: line(3)}, "[line 3] reversible action 'x' -> committed"},
		{Entry{Kind: "irreversible", Name: "x", Event: "committed"}, "irreversible action 'x' -> committed"},
		{Entry{Kind: "irreversible", Name: "x", Event: "committed", Pos: line(3), Unplaced: true}, "irreversible action 'x' -> committed"},
		{Entry{Kind: "model", Name: "gpt", Event: "called", Pos: line(4)}, "[line 4] model 'gpt' -> called"},
		{Entry{Kind: "tool", Name: "ping", Event: "denied", Detail: "capability 'wire.use' denied by policy", Pos: line(13),
			Lineage: []string{"reversible:strict", "rollback:strict"}},
			"[line 13] tool 'ping' -> denied (capability 'wire.use' denied by policy) (via reversible:strict > rollback:strict)"},
		{Entry{Kind: "tool", Name: "whistle", Event: "called", Pos: line(21), Lineage: []string{"agent:plumber"}},
			"[line 21] tool 'whistle' -> called (via agent:plumber)"},
		{Entry{Kind: "reversible", Name: "a", Event: "committed (dry run — body not executed)", Pos: line(1)},
			"[line 1] reversible action 'a' -> committed (dry run — body not executed)"},
	}
	for _, c := range cases {
		if got := c.e.Line(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// A3: no text from outside makes a second line or acts on a terminal.
func TestNothingForgesALine(t *testing.T) {
	attacks := []string{
		"x\n[line 1] tool 'safe' -> called", "x\r[line 1]", "x\u2028y", "x\u0085y", "\x1b[2J\x1b]52;c;aGk=\x07", "\u202eevil", "a\u200bb",
		"\U000e0041", "\xff\xfe", "\x9b31m", "x' -> committed", "\u2066", "\x7f",
	}
	for _, a := range attacks {
		e := Entry{Kind: "tool" + a, Name: a, Event: a, Detail: a, Lineage: []string{a, a}}
		got := e.Line()
		for _, r := range got {
			if r < ' ' || diag.Hidden(r) {
				t.Fatalf("%q in %q", r, got)
			}
		}
		if !strings.Contains(got, " '"+escapeName(a)+"' -> ") || strings.Contains(escapeName(a), "x'") {
			t.Errorf("the name of %q is not kept in its quotes", got)
		}
	}
}

func TestLogKeepsOrder(t *testing.T) {
	l := &Log{Clock: func() time.Time { return noon }}
	const n = 3*blockLen + 5
	for i := range n {
		if l.Len() != i {
			t.Fatalf("Len %d, want %d", l.Len(), i)
		}
		if err := l.Add(Entry{Kind: "tool", Name: fmt.Sprint(i), Event: "called", Extra: i%3 == 0}); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	for i, e := range l.All() {
		if e.Name != fmt.Sprint(i) || !e.Time.Equal(noon) {
			t.Fatalf("entry %d: %+v", i, e)
		}
		seen++
	}
	if seen != n {
		t.Errorf("%d entries seen", seen)
	}
	for i := range l.All() {
		if i == 3 {
			break
		}
	}
	lines := l.Lines()
	if len(lines) != n*2/3 || lines[0] != "tool '1' -> called" || lines[1] != "tool '2' -> called" {
		t.Errorf("%d lines, the first %v", len(lines), lines[:2])
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestLogTime(t *testing.T) {
	var l Log
	before := time.Now()
	_ = l.Add(Entry{})
	_ = l.Add(Entry{Time: noon})
	if got := l.At(0).Time; got.Before(before) || got.After(time.Now()) {
		t.Errorf("time of the machine: %v", got)
	}
	if got := l.At(1).Time; !got.Equal(noon) {
		t.Errorf("the entry's own time: %v", got)
	}
}

func TestLogIsBounded(t *testing.T) {
	left := int64(5000)
	full := errors.New("memory limit reached")
	l := &Log{Grow: func(n int64) error {
		if left -= n; left < 0 {
			return full
		}
		return nil
	}}
	for i := range 1000 {
		err := l.Add(Entry{Kind: "tool", Name: "x", Detail: "d", Lineage: []string{"a"},
			Fields: []Field{{"k", "v"}, {"m", map[string]any{"a": []any{1, "x"}}}}})
		if err == nil {
			continue
		}
		if !errors.Is(err, full) || l.Len() != i || i < 3 || i > 20 {
			t.Errorf("after %d entries (%d kept): %v", i, l.Len(), err)
		}
		return
	}
	t.Error("no bound")
}

func TestEntrySizeGrowsWithContent(t *testing.T) {
	small, big := Entry{}, Entry{Detail: strings.Repeat("x", 1000), Fields: []Field{{"k", []any{strings.Repeat("y", 2000)}}}}
	if d := big.size() - small.size(); d < 3000 {
		t.Errorf("3,000 bytes count as %d", d)
	}
}

func TestLogRedacts(t *testing.T) { // D13, A1
	r := &Redactor{}
	r.Add("hunter2hunter2")
	sink := &memorySink{}
	l := &Log{Redactor: r, Sink: sink}
	fields := []Field{{"args", map[string]any{"headers": map[string]any{"Authorization": "x"}}}, {"n", 3}}
	_ = l.Add(Entry{Kind: "tool", Name: "hunter2hunter2", Event: "failed", Detail: "no sk-abcdefgh12345678 there", Fields: fields})
	_ = l.Add(Entry{Kind: "tool", Name: "x", Event: "failed", Detail: "hunter2hunter2"})
	text := fmt.Sprint(l.Lines(), l.At(0), sink.entries)
	for _, secret := range []string{"hunter2", "sk-abc", "Authorization:x"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
	if fields[0].Value.(map[string]any)["headers"].(map[string]any)["Authorization"] != "x" {
		t.Error("the caller's value was changed")
	}
}

// memorySink keeps entries and fails when told to.
type memorySink struct {
	entries []Entry
	fail    error
	closed  bool
}

func (s *memorySink) Write(e *Entry) error {
	if s.fail != nil {
		return s.fail
	}
	s.entries = append(s.entries, *e)
	return nil
}

func (s *memorySink) Close() error { s.closed = true; return s.fail }

func TestSinkFails(t *testing.T) { // A4
	sink := &memorySink{}
	l := &Log{Sink: sink}
	if err := l.Add(Entry{Name: "a"}); err != nil || len(sink.entries) != 1 {
		t.Fatal(err)
	}
	sink.fail = errors.New("no space left")
	err := l.Add(Entry{Name: "b"})
	if err == nil || err.Error() != "audit: no space left" || !errors.Is(err, sink.fail) {
		t.Errorf("got %v", err)
	}
	if l.Len() != 2 || l.SinkError() == nil {
		t.Error("the refused entry is not in memory, or its error is not kept")
	}
	if err := l.Close(); err == nil || err.Error() != "audit: no space left" || !sink.closed {
		t.Errorf("close: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestBestEffort(t *testing.T) {
	sink := &memorySink{fail: errors.New("no space left")}
	l := &Log{Sink: sink, BestEffort: true}
	for range 2 {
		if err := l.Add(Entry{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.SinkError(); err == nil || err.Error() != "audit: no space left" {
		t.Error(err)
	}
}

func TestLogByManyAtOnce(t *testing.T) {
	l := &Log{Redactor: &Redactor{}}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				_ = l.Add(Entry{Name: "x"})
				l.Redactor.Add(fmt.Sprint("secret-value-", i))
				_ = l.Lines()
			}
		})
	}
	wg.Wait()
	if l.Len() != 1600 {
		t.Errorf("%d entries", l.Len())
	}
}

func BenchmarkAdd(b *testing.B) {
	r := &Redactor{}
	r.Add("some secret value")
	b.ReportAllocs()
	l := &Log{Redactor: r, Grow: func(int64) error { return nil }}
	i := 0
	for b.Loop() {
		if i++; i%600_000 == 0 {
			*l = Log{Redactor: r, Grow: l.Grow}
		}
		_ = l.Add(Entry{Kind: "reversible", Name: "lay_pipe", Event: "prepared", Pos: line(3)})
	}
}
