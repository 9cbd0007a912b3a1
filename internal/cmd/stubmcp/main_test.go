package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

const hello = `{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}`

func call(id int, name, args string) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": %q, "arguments": %s}}`, id, name, args)
}

// sessions are talks with the server: options, then what is sent.
var sessions = []struct {
	name string
	args []string
	in   []string
	code int
}{
	{"all tools", nil, []string{hello, `{"jsonrpc": "2.0", "method": "notifications/initialized"}`, `{"id": 1, "method": "tools/list"}`,
		call(2, "echo", `{"text": "hé\n"}`), call(3, "add", `{"a": 1, "b": 2}`), call(4, "add", `{"a": 1.5, "b": 2}`), call(5, "add", `{"a": 1.5, "b": 2.5}`),
		call(6, "add", `{"a": 123456789012345678901234567890, "b": 1}`), call(7, "fail", `{}`), call(8, "big", `{"n": 5}`), call(9, "unicode", `{}`),
		call(10, "getenv", `{"name": "NO_SUCH_VARIABLE"}`), call(11, "multi", `{}`), call(12, "image", `{}`), call(13, "structured", `{}`),
		call(14, "nobody", `{}`), call(15, "pwd", `{}`), `{"id": "s", "method": "ping"}`, `{"id": 16, "method": "what/ever"}`}, 0},
	{"wrong arguments", nil, []string{call(1, "echo", `{}`), call(2, "echo", `{"text": 1}`), call(3, "add", `{"a": "1", "b": 2}`),
		call(4, "add", `{"a": true, "b": 2}`), call(5, "big", `{"n": 1.0}`), call(6, "getenv", `{"name": null}`)}, 0},
	{"input that is no request", nil, []string{``, `{`, `{"id": 1}`, `{"method": "ping"}`, `{"id": 1, "method": "ping"}`}, 0},
	{"only and extra", []string{"--only", "echo,add", "--extra", "x y", "--extra", "größe", "--bare", "b"},
		[]string{`{"id": 1, "method": "tools/list"}`, call(2, "x y", `{}`), call(3, "b", `{}`), call(4, "größe", `{}`)}, 0},
	{"empty", []string{"--list-empty"}, []string{`{"id": 1, "method": "tools/list"}`}, 0},
	{"rich", []string{"--only", "echo", "--rich"}, []string{`{"id": 1, "method": "tools/list"}`, call(2, "rich", `{"unit": "F", "n": [1.0, 2, null], "ü": {"b": 1, "a": 2}}`)}, 0},
	{"pages", []string{"--pages", "--only", "echo,add,fail"}, []string{`{"id": 1, "method": "tools/list"}`, `{"id": 2, "method": "tools/list", "params": {"cursor": "2"}}`}, 0},
	{"die", nil, []string{call(1, "die", `{}`), call(2, "echo", `{"text": "x"}`)}, 3},
	{"die on", []string{"--die-on", "echo"}, []string{call(1, "echo", `{"text": "x"}`)}, 3},
	{"hang on", []string{"--hang-on", "echo"}, []string{call(1, "echo", `{"text": "x"}`), call(2, "fail", `{}`)}, 0},
	{"rpc error", []string{"--rpc-error", "echo"}, []string{call(1, "echo", `{"text": "x"}`)}, 0},
	{"ask client", []string{"--ask-client"}, []string{call(1, "multi", `{}`), `{"id": 9, "method": "ping"}`, `{"id": "ping-1", "result": {}}`,
		call(2, "multi", `{}`), `{"id": "ping-1", "error": {}}`, call(3, "multi", `{}`)}, 0},
	{"chatter", []string{"--chatter"}, []string{`{"id": 1, "method": "ping"}`}, 0},
	{"no init", []string{"--no-init"}, []string{hello, `{"id": 1, "method": "ping"}`}, 0},
	{"protocol", []string{"--protocol", "2024-11-05"}, []string{hello, `{"id": 1, "method": "initialize"}`}, 0},
	{"default protocol", nil, []string{`{"id": 1, "method": "initialize"}`}, 0},
	{"noise", []string{"--noise"}, []string{`{"id": 1, "method": "ping"}`}, 0},
	{"exit now", []string{"--exit-now", "7"}, nil, 7},
	{"slow and stay", []string{"--slow", "0.01", "--stay", "0.01"}, []string{`{"id": 1, "method": "ping"}`}, 0},
}

func TestSessions(t *testing.T) {
	wants := map[string][]string{
		"all tools":       {`"protocolVersion": "2025-11-25"`, `"text": "h\u00e9\n"`, `"text": "3"`, `"text": "3.5"`, `"text": "4"`, `"text": "123456789012345678901234567891"`, `"isError": true`, `"xxxxx"`, `"Unknown tool: nobody"`, `-32601`, `"structuredContent": {"n": 3}`},
		"wrong arguments": {`'text' is a required property`, `'text' is not of type 'string'`, `'a' is not of type 'number'`, `'n' is not of type 'integer'`},
		"pages":           {`"nextCursor": "2"`},
		"rich":            {`{\"n\": [1.0, 2, null], \"unit\": \"F\", \"\u00fc\": {\"a\": 2, \"b\": 1}}`},
		"rpc error":       {`-32000`, `the stub's backend is gone`},
		"ask client":      {`"method": "ping"`, `"text": "one"`, `the client did not answer a ping`},
		"chatter":         {"stub: not a JSON-RPC message\n{"},
		"protocol":        {`"2024-11-05"`},
		"noise":           {"stub: this line goes to standard error"},
		"exit now":        {"stub: refusing to start"},
	}
	for _, s := range sessions {
		t.Run(s.name, func(t *testing.T) {
			var out, errs strings.Builder
			if code := run(s.args, strings.NewReader(strings.Join(s.in, "\n")), &out, &errs); code != s.code {
				t.Errorf("status %d, want %d", code, s.code)
			}
			for _, want := range wants[s.name] {
				if !strings.Contains(out.String()+errs.String(), want) {
					t.Errorf("%s%s\nlacks %s", out.String(), errs.String(), want)
				}
			}
		})
	}
}

// TestTwin holds the same talks with the Python server and compares every line.
func TestTwin(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to compare with")
	}
	for _, s := range sessions {
		t.Run(s.name, func(t *testing.T) {
			in := strings.Join(s.in, "\n")
			var out, errs, pyErrs strings.Builder
			run(s.args, strings.NewReader(in), &out, &errs)
			cmd := exec.Command(python, append([]string{"../../../testdata/conformance/stub_mcp.py"}, s.args...)...)
			cmd.Stdin, cmd.Stderr = strings.NewReader(in), &pyErrs
			pyOut, _ := cmd.Output() // the status is compared below
			if got := cmd.ProcessState.ExitCode(); got != s.code {
				t.Errorf("the Python server ends with %d, want %d", got, s.code)
			}
			if errs.String() != pyErrs.String() {
				t.Errorf("standard error %q, the Python server's %q", errs.String(), pyErrs.String())
			}
			got, want := strings.Split(out.String(), "\n"), strings.Split(string(pyOut), "\n")
			if len(got) != len(want) {
				t.Fatalf("%d lines, the Python server has %d:\n%s\n%s", len(got), len(want), out.String(), pyOut)
			}
			for i := range got {
				if !reflect.DeepEqual(value(got[i]), value(want[i])) {
					t.Errorf("line %d\n%s\nthe Python server's\n%s", i+1, got[i], want[i])
				}
			}
		})
	}
}

// value is what a line holds: JSON, or else its text.
func value(line string) any {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return line
	}
	return v
}

func TestWrongUse(t *testing.T) {
	for _, args := range [][]string{{"--nope"}, {"word"}, {"--slow", "x"}} {
		var errs strings.Builder
		if code := run(args, strings.NewReader(""), &errs, &errs); code != 2 || errs.Len() == 0 {
			t.Errorf("%v: status %d, message %q", args, code, errs.String())
		}
	}
}
