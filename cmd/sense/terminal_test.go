package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestTerminalText(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain\n\ttext", "plain\n\ttext"},
		{"\x1b]52;c;aGk=\x07", `\x1b]52;c;aGk=\x07`},
		{"a\rb\x7f\x00", `a\x0db\x7f\x00`},
		{"\u009b31m", `\x9b31m`},
		{"raw \x9b31m \xff", `raw \x9b31m \xff`},
		{"👨\u200d👩\u200d👧 می\u200cخواهم e\u0301 日本", "👨\u200d👩\u200d👧 می\u200cخواهم e\u0301 日本"},
		{"half \xe6\x97", `half \xe6\x97`},
		{"\ufffd", "\ufffd"},
	}
	for _, tt := range tests {
		for _, step := range []int{1, 2, 3, 1000} {
			var b bytes.Buffer
			w := &terminalText{w: &b}
			for rest := []byte(tt.in); len(rest) > 0; {
				n := min(step, len(rest))
				if m, err := w.Write(rest[:n]); m != n || err != nil {
					t.Fatalf("Write gave %d, %v", m, err)
				}
				rest = rest[n:]
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("%q by %d: %q, want %q", tt.in, step, b.String(), tt.want)
			}
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestTerminalTextTellsOfErrors(t *testing.T) {
	w := &terminalText{w: brokenWriter{}}
	if _, err := w.Write([]byte("x")); err == nil {
		t.Error("a failed write is no error")
	}
	w.rest = []byte{0xe6}
	if err := w.Flush(); err == nil {
		t.Error("a failed flush is no error")
	}
}

func FuzzEscapeControls(f *testing.F) {
	f.Add([]byte("a\x1b[2J\u009b\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, r := range string(escapeControls(b)) {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q lets %q through", b, r)
			}
		}
	})
}

func TestSettings(t *testing.T) {
	tests := []struct{ text, want string }{
		{"allow = [\"a.b\"]\nstrict = true\nmax_steps = 5\ntimeout = \"30s\"\nmax_memory = \"1G\"\nmax_output = \"1M\"\naudit = \"log.jsonl\"", ""},
		{"alow = []", "unknown key 'alow'"},
		{"allow = 3", "incompatible types"},
		{"allow = [", "line 1"},
		{"timeout = \"soon\"", "'soon' is no time"},
		{"timeout = \"-1s\"", "is no time"},
		{"max_memory = \"much\"", "max_memory: 'much' is no size"},
		{"max_output = \"-1\"", "max_output: '-1' is no size"},
		{"max_steps = -1", "must not be negative"},
		{"max_depth = -1", "must not be negative"},
		{"audit = \"sqlite:x.db\"", "a database is not supported"},
	}
	for _, tt := range tests {
		s, err := parseSettings(tt.text)
		switch {
		case tt.want == "" && (err != nil || s.memory != 1<<30 || s.output != 1<<20 || s.timeout.Seconds() != 30):
			t.Errorf("%s: %+v, %v", tt.text, s, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestTighter(t *testing.T) {
	for _, c := range [][3]int{{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {3, 5, 3}, {5, 3, 3}} {
		if got := tighter(c[0], c[1]); got != c[2] {
			t.Errorf("tighter(%d, %d) = %d", c[0], c[1], got)
		}
	}
}
