//go:build linux

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense/internal/real"
)

// What a fault may cost: the error is there at its deadline and this long after
// it at the latest, everything is closed this soon, and all of it takes this much
// memory at the peak.
const (
	overDeadline = time.Second
	closeLimit   = 5 * time.Second
	memoryLimit  = 150 << 20
)

// figureCase is a fault with what must come of it. Without a deadline the error,
// or the answer, comes at once.
type figureCase struct {
	name, mode, arg string
	deadline        time.Duration
	want            string // what the error says; "" for an answer
}

// figureCases are the rows of faults of servers over stdio, each with the figures
// above. What exactly is said and done is looked at by the other tests.
var figureCases = []figureCase{
	{"A14 text and junk on standard output", "banner", "", 0, ""},
	{"M10 nothing but junk", "endlessjunk", "", 0, "over 100 lines in a row"},
	{"A07 exits at the start", "exit3", "", 0, "exited with status 3"},
	{"A45 exits in a call", "die", "", 0, "exited with status 9"},
	{"half a line, then exits", "halfline", "", 0, "exited with status 0"},
	{"A08 never answers initialize", "mute", "", 300 * time.Millisecond, "no answer to initialize"},
	{"M6 never lists its tools", "hanglist", "", 300 * time.Millisecond, "no answer to tools/list"},
	{"A41 never answers a call", "hangcall", "", 300 * time.Millisecond, "timed out"},
	{"M6 answers with a wrong id", "wrongid", "", 300 * time.Millisecond, "timed out"},
	{"ignores unknown methods", "deaf", "", 0, ""},
	{"answers {} to unknown methods", "agreeable", "", 0, ""},
	{"a revision of the future", "protocol", "2099-01-01", 0, "2099-01-01"},
	{"duplicates", "duplicate", "", 0, ""},
	{"CRLF", "crlf", "", 0, ""},
	{"bad UTF-8", "badutf8", "", 0, ""},
	{"float id", "floatid", "", 0, ""},
	{"string id", "stringid", "", 0, ""},
	{"A49 error with id null", "nullid", "", 0, "could not parse"},
	{"batch", "batch", "", 0, ""},
	{"indented JSON", "pretty", "", 0, ""},
	{"result and error", "both", "", 0, "no (JSON-RPC error 5)"},
	{"neither result nor error", "neither", "", 0, "neither result nor error"},
	{"200,000 lines on standard error", "stderr", "", time.Second, ""},
	{"10 MB in a line", "huge", "10", time.Second, ""},
	{"M4 100 MB in a line", "huge", "100", time.Second, "message larger than 64 MiB"},
	{"A18 no line end", "noline", "", time.Second, "message larger than 64 MiB"},
	{"M4 nested 12,000 deep", "deep", "", 0, "nested 12002 deep"},
	{"M9 endless pages", "endlesspages", "", 0, "more than 100 pages"},
	{"M9 20,000 tools", "many", "", 0, "more than 10000 tools"},
	{"stops reading", "noread", "", 300 * time.Millisecond, "timed out"},
	{"only asks, never reads", "pingflood", "", 300 * time.Millisecond, "no answer to initialize"},
	{"A09 ignores the end of its input", "noeof", "", 0, ""},
	{"A09 ignores SIGTERM, too", "sigign", "", 0, ""},
	{"M7 leaves a process behind", "orphan", "", 0, ""},
	{"M7 leaves a session behind", "setsid", "", 0, ""},
	{"M7 breeds", "breed", "", 0, ""},
	{"A58 cancels the call", "cancels", "", 0, "quota used up"},
}

// TestFaultFigures measures what each fault costs a program that meets it, in a
// process of its own; of the time the best of several tries counts.
func TestFaultFigures(t *testing.T) {
	if os.Getenv(real.Variable) == "" {
		t.Skip("figures are taken by: make real")
	}
	for _, c := range figureCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			looked(t, c, "")
		})
	}
}

// looked measures a fault until time, too, is within its limits.
func looked(t *testing.T, c figureCase, url string) {
	for try := 1; ; try++ {
		f := measure(t, c, url)
		if (c.want == "") != (f.Err == "") || !strings.Contains(f.Err, c.want) {
			t.Fatalf("the error is %q, want %q", f.Err, c.want)
		}
		if f.Peak > memoryLimit {
			t.Errorf("%d MiB at the peak", f.Peak>>20)
		}
		if f.Took <= c.deadline+overDeadline && f.Closed <= closeLimit {
			t.Logf("%.2f s after a deadline of %v, closed in %.2f s, %d MiB", (f.Took - c.deadline).Seconds(), c.deadline, f.Closed.Seconds(), f.Peak>>20)
			return
		}
		if try == 5 {
			t.Fatalf("took %v with a deadline of %v, and %v to close", f.Took, c.deadline, f.Closed)
		}
	}
}

// figures are what a program met with a fault reports.
type figures struct {
	Err          string
	Took, Closed time.Duration
	Peak         int64 // resident memory, in bytes
}

// measure has a process of its own meet a fault, that of the server at url where
// one is given, and looks for what it leaves.
func measure(t *testing.T, c figureCase, url string) (f figures) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), real.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe)
	order, _ := json.Marshal(map[string]any{"Mode": c.mode, "Arg": c.arg, "Deadline": c.deadline, "URL": url}) // texts and a number
	cmd.Env = append(os.Environ(), faultVariable+"=meet", argVariable+"="+string(order))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &f)
	}
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr.String())
	}
	mark := fmt.Sprintf("%s=%d-", markVariable, cmd.Process.Pid)
	if left := carrying(mark); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
	return f
}

// meet connects to a fault server, makes a call, closes, and reports.
func meet(order string) {
	var o struct {
		Mode, Arg, URL string
		Deadline       time.Duration
	}
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		fmt.Println(err)
		return
	}
	cfg, _ := faulty(o.Mode, o.Arg)
	if o.URL != "" {
		cfg = Config{Name: "web", URL: o.URL, ConnectTimeout: patience, CallTimeout: patience}
	}
	if o.Deadline > 0 && o.Deadline < time.Second {
		cfg.CallTimeout = o.Deadline
		if o.Mode == "mute" || o.Mode == "hanglist" || o.Mode == "pingflood" {
			cfg.ConnectTimeout = o.Deadline
		}
	}
	text := "hello"
	if o.Mode == "noread" {
		text = strings.Repeat("x", 1<<20)
	}
	m := NewManager()
	var f figures
	begun := time.Now()
	s, err := m.Connect(context.Background(), cfg)
	if err == nil {
		begun = time.Now()
		_, err = s.Call(context.Background(), "echo", json.RawMessage(`{"text":"`+text+`"}`))
	}
	f.Took = time.Since(begun)
	if err != nil {
		f.Err = err.Error()
	}
	begun = time.Now()
	m.CloseAll()
	f.Closed = time.Since(begun)
	f.Peak = peakMemory()
	out, _ := json.Marshal(f) // a text and numbers
	fmt.Println(string(out))
}

// peakMemory is the most memory that this process had resident, in bytes.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var kb int64
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, _ = fmt.Sscan(rest, &kb) // 0 where there is none
	return kb << 10
}
