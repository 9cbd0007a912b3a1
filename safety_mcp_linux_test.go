package sense_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestHostileAnswersTakeLittleMemory has servers answer with more, and deeper,
// than anybody can use: the program gets an answer or an error, and our own
// process, whose peak the system keeps, stays below 150 MB.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	tests := []struct {
		mode, arg string
		want      string // the beginning of the program's line
	}{
		{"huge", "10", "got 10485760"}, {"huge", "17", "got 17825792"}, {"huge", "100", "failed mcp tool 'kit.t' failed: "},
		{"forever", "", "failed mcp tool 'kit.t' failed: "}, {"deep", "12000", "failed mcp tool 'kit.t' failed: "},
	}
	for _, tt := range tests {
		t.Run(tt.mode+tt.arg, func(t *testing.T) {
			program := hostile("kit", tt.mode, tt.arg) + "t = kit.tools[0]\ntry:\n    print(\"got\", len(t()))\ncatch e:\n    print(\"failed\", e.message)\nx = ask_human(\"\")\n"
			line, took, peak := peakAtQuestion(t, program)
			if !strings.HasPrefix(line, tt.want) {
				t.Errorf("it said %q", line)
			}
			if peak > 150<<10 {
				t.Errorf("our process took %d KiB", peak)
			}
			t.Logf("%v, peak %d MiB: %.100s", took.Round(time.Millisecond), peak>>10, line)
		})
	}
}

// peakAtQuestion runs a program until its first line and gives it, the time
// since it was started, and the most memory that its process took, in KiB.
func peakAtQuestion(t *testing.T, program string) (line string, took time.Duration, peak int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "main.sns")
	writeFile(t, path, program)
	cmd := exec.Command(binary(t, "sense"), "run", path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	r := bufio.NewReader(stdout)
	line, err = r.ReadString('\n')
	if err != nil {
		t.Fatalf("it said %q: %v", line, err)
	}
	took = time.Since(began)
	status := readFile(t, fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	_, after, _ := strings.Cut(status, "VmHWM:")
	if peak, err = strconv.Atoi(strings.Fields(after)[0]); err != nil {
		t.Fatal(err)
	}
	_ = stdin.Close()
	_, _ = io.Copy(io.Discard, r)
	_ = cmd.Wait()
	return line, took, peak
}

// TestSchemasReachNothing lists and calls tools whose schemas refer to files, to
// a server and to themselves: no file is opened, nobody is connected to.
func TestSchemasReachNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var reached atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			_ = c.Close()
		}
	}()
	away := t.TempDir()
	writeFile(t, filepath.Join(away, "schema.json"), `{"type":"object"}`)
	web, file := "http://"+l.Addr().String()+"/s.json", "file://"+away+"/schema.json"
	var schemas []string
	for _, ref := range []string{web, file, web + "#/a", "schema.json", away + "/schema.json", "../schema.json", "#", "#/$defs/a", "#/properties/x", "urn:x", "https://json-schema.org/draft/2020-12/schema"} {
		schemas = append(schemas, `{"$ref":"`+ref+`"}`,
			`{"type":"object","properties":{"x":{"$ref":"`+ref+`"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
			`{"type":"object","$id":"`+ref+`","properties":{"x":{"$dynamicRef":"`+ref+`"}}}`, `{"$schema":"`+ref+`","type":"object"}`)
	}
	dir := t.TempDir()
	watch := watchOpens(t, away)
	calls := "for t in kit.tools:\n    try:\n        print(t.name, t.schema)\n        t(x: 1)\n    catch e:\n        print(e.message)\n"
	began := time.Now()
	r := runIn(t, dir, map[string]string{"main.sns": hostile("kit", "refs", strings.Join(schemas, "\n")) + calls + "print(\"end\")\n"}, "run", "main.sns")
	if !strings.HasSuffix(r.out, "end\n") || r.code != 0 || strings.Contains(r.err, "goroutine ") {
		t.Errorf("%+v", r)
	}
	t.Logf("%d schemas listed and called in %v", len(schemas), time.Since(began).Round(time.Millisecond))
	if got := watch.seen(); len(got) > 0 {
		t.Errorf("opened: %v", got)
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d connections", n)
	}
	if _, err := os.ReadFile(filepath.Join(away, "schema.json")); err != nil || len(watch.seen()) == 0 {
		t.Errorf("the watch sees nothing: %v", err)
	}
}
