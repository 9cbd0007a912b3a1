package audit

import (
	"math"
	"os"
	"strings"
	"testing"
)

// closing is a sink whose end can be wished for.
type closing struct{ err error }

func (closing) Write(*Entry) error { return nil }
func (c closing) Close() error     { return c.err }

func TestLogCloses(t *testing.T) {
	l := &Log{Sink: closing{}}
	if err := l.Close(); err != nil || l.Sink != nil {
		t.Errorf("%v, %v", err, l.Sink)
	}
	if err := l.Close(); err != nil {
		t.Errorf("again: %v", err)
	}
	l.Sink = closing{os.ErrClosed}
	if err := l.Close(); err == nil || !strings.HasPrefix(err.Error(), "audit: ") {
		t.Errorf("got %v", err)
	}
}

// TestFieldsThatAreNoJSON writes values that JSON does not know, and reads
// objects that are none.
func TestFieldsThatAreNoJSON(t *testing.T) {
	b, err := fieldMap{{Key: "n", Value: math.NaN()}, {Key: "c", Value: make(chan int)}, {Key: "e", Value: complex(1, 2)}}.MarshalJSON()
	if err != nil || !strings.HasPrefix(string(b), `{"n":"NaN","c":"0x`) || !strings.HasSuffix(string(b), `"e":"(1+2i)"}`) {
		t.Errorf("%s, %v", b, err)
	}
	for _, text := range []string{"", "[]", "{\"a\"", "{\"a\":", "{\"a\":}", "{\"a\":1,,", "{\"a\":1 x"} {
		var m fieldMap
		if err := m.UnmarshalJSON([]byte(text)); err == nil && text != "{\"a\":1 x" {
			t.Errorf("%q was read as %v", text, m)
		}
	}
}

// TestFilesThatCannotBeProtected opens a file whose mode nobody can change.
func TestFilesThatCannotBeProtected(t *testing.T) {
	const path = "/proc/self/comm"
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		t.Skip("no /proc")
	}
	if _, err := OpenFile(path, FileOptions{}); err == nil || !strings.Contains(err.Error(), "cannot protect audit file") {
		t.Errorf("got %v", err)
	}
}
