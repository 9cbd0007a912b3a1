package mcp

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestSplitMessage(t *testing.T) {
	tests := []struct{ line, want string }{ // id|method|params|result|error, "-" for none of them all
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, `1|||{}|`},
		{` { "id" : "a" , "method" : "m" , "params" : [ 1 , 2 ] } ` + "\r", `"a"|"m"|[ 1 , 2 ]||`},
		{`{"method":"n"}`, `|"n"|||`},
		{`{"method":"n","params":null,"id":null}`, `null|"n"|||`},
		{`{"id":null,"error":{"code":1}}`, `null||||{"code":1}`},
		{`{"error":{"a":"}\"]{"},"id":7.0}`, `7.0||||{"a":"}\"]{"}`},
		{`{"id":1}`, `1||||`},
		{`{"id":1,"result":null}`, `1|||null|`},
		{`{"id":1,"result":"a\\","x":[{}]}`, `1|||"a\\"|`},
		{`{"id":1,"error":null,"result":true}`, `1|||true|`},
		{`{}`, "-"}, {`{"a":1}`, "-"}, {``, "-"}, {`[]`, "-"}, {`{not json`, "-"}, {`{"id":1`, "-"}, {`{"id":1}x`, "-"},
		{`{"id":}`, "-"}, {`{"id" 1}`, "-"}, {`{"id":1,}`, "-"}, {`{"method":7}`, "-"}, {`{"method":""}`, "-"}, {`{"id":1 "result":2}`, "-"},
		{`{"id":"unended}`, "-"}, {`{"id":[1}`, "-"}, {`{"id":{"a":"b"}`, "-"}, {`{"id":12"x"}`, "-"},
	}
	for _, tt := range tests {
		m, err := splitMessage([]byte(tt.line))
		got := string(bytes.Join([][]byte{m.id, m.method, m.params, m.result, m.rpcErr}, []byte("|")))
		if err != nil {
			got = "-"
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.line, got, tt.want)
		}
	}
}

func TestMessageParts(t *testing.T) {
	for raw, want := range map[string]int64{"7": 7, `"7"`: 7, "7.0": 7, "7e0": 7, "9007199254740993": 9007199254740993} {
		m := message{id: []byte(raw)}
		if id, ok := m.callID(); !ok || id != want {
			t.Errorf("%s: %d %v", raw, id, ok)
		}
	}
	for _, raw := range []string{"", "null", `"a"`, "1.5", "{}", `"`, "1e400"} {
		m := message{id: []byte(raw)}
		if id, ok := m.callID(); ok {
			t.Errorf("%q gives the id %d", raw, id)
		}
	}
	m, _ := splitMessage([]byte(`{"method":"a\u002fb"}`))
	if m.methodName() != "a/b" || m.isRequest() {
		t.Errorf("method %q, request %v", m.methodName(), m.isRequest())
	}
	if (&message{}).methodName() != "" {
		t.Error("a response has a method")
	}
}

func TestFramer(t *testing.T) {
	const ok = `{"id":1,"result":{}}`
	tests := []struct {
		name  string
		lines string
		want  int // messages
		bad   int // junk lines
	}{
		{"plain", ok, 1, 0},
		{"blank", "\n \n" + ok, 1, 0},
		{"junk", "hello\n{not json\n[1,2]\n[]\n[{},{}]\n[{}\n[{\"id\":1}x]\n[{\"id\":1},3]\n" + ok, 1, 8},
		{"batch", `[` + ok + ` , ` + ok + `]`, 2, 0},
		{"batch with an odd element", `[` + ok + `,{"a":1}]`, 1, 0},
		{"glued", "status: " + ok, 1, 0},
		{"glued behind braces", "a {b} {\"c\":1} " + ok, 1, 0},
		{"too many braces before", strings.Repeat("{", 20) + ok, 0, 1},
		{"indented", "{\n  \"id\": 1,\n  \"result\": {\n    \"a\": [\n    ]\n  }\n}", 1, 0},
		{"indented, first member on the first line", "{\"id\": 1,\n\"result\": 2\n}", 1, 0},
		{"indented, no message", "{\n  \"a\": 1\n}\n" + ok, 1, 1},
		{"given up for a message", "{\n  \"id\": 1,\n" + ok, 1, 0},
		{"wrong closing", "{\n\"id\": [\n}\n" + ok, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f framer
			msgs, bad := 0, 0
			for line := range strings.SplitSeq(tt.lines, "\n") {
				m, b := f.feed([]byte(line))
				msgs += len(m)
				if b {
					bad++
				}
			}
			if msgs != tt.want || bad != tt.bad {
				t.Errorf("%d messages and %d junk lines, want %d and %d", msgs, bad, tt.want, tt.bad)
			}
		})
	}
}

func TestDepth(t *testing.T) {
	for raw, want := range map[string]int{``: 0, `1`: 0, `"[[["`: 0, `[]`: 1, ` {"a":[{}]}`: 3, `["]]","[["]`: 1} {
		if got := jsonDepth([]byte(raw)); got != want {
			t.Errorf("%s: %d, want %d", raw, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for raw, want := range map[string]string{`{"a": 1.0}`: `{"a": 1.0}`, "{\n\"a\":\r\n \"<\\n\"}": `{"a":"<\n"}`, "{": "no", "": "no"} {
		got, ok := oneLine([]byte(raw))
		if !ok {
			got = []byte("no")
		}
		if string(got) != want {
			t.Errorf("%q: %s, want %s", raw, got, want)
		}
	}
}

// Whatever json takes for an object, splitMessage takes apart the same way.
func FuzzSplitMessage(f *testing.F) {
	for _, s := range []string{`{"id":1,"result":{"a":"\\\"}"}}`, `{"method":"x","params":[1,{}]}`, `[{"id":1}]`, "{\n\"id\":1\n}", `x{"id":1,"error":{}}`, `{"id":"\u0061","result":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var fr framer
		fr.feed(line)
		fr.feed([]byte("}"))
		m, err := splitMessage(line)
		var want map[string]json.RawMessage
		if json.Unmarshal(line, &want) != nil || len(want) == 0 || bytes.Contains(line, []byte(`\`)) {
			return
		}
		got := map[string][]byte{"id": m.id, "method": m.method, "params": m.params, "result": m.result, "error": m.rpcErr}
		if err != nil {
			if want["id"] != nil && want["method"] == nil && string(want["id"]) != "null" {
				t.Fatalf("%s: refused", line)
			}
			return
		}
		for key, value := range got {
			if value != nil && json.Valid(want[key]) && !bytes.Equal(bytes.TrimSpace(value), bytes.TrimSpace(want[key])) && string(want[key]) != "null" {
				t.Fatalf("%s: %s is %s, want %s", line, key, value, want[key])
			}
		}
	})
}

func FuzzParseResult(f *testing.F) {
	for _, s := range []string{`{"content":[{"type":"text","text":"a"}]}`, `{"content":"x","isError":true}`, `{"structuredContent":{"result":[1]},"content":[{"type":"text","text":"1"}]}`, `{"content":[{"type":"resource","resource":{"uri":"u","blob":"AA=="}}]}`, `{"content":[{"type":5},null,"s"]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := parseResult(raw)
		if err == nil && r.IsError && strings.TrimSpace(r.Text) == "" {
			t.Fatalf("%s: a failure without words", raw)
		}
		if tool, err := parseTool(raw); err == nil && (tool.Name == "" || tool.Schema[0] != '{') {
			t.Fatalf("%s: tool %+v", raw, tool)
		}
	})
}
