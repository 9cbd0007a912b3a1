//go:build linux

package sense_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sense-lang/sense/internal/real"
)

// chaos is what the judge of TestRealResilience does to the requests of a model,
// named by its id, and whether the model answers in the end.
var chaos = []struct {
	id, behaviours string
	answers        bool
}{
	{"fine", ``, true},
	{"slow-down", `{"type": "fail", "status": 429, "retry_after": 0.3, "times": 2}`, true},
	{"unavailable", `{"type": "fail", "status": 503, "retry_after": 1.2}`, true},
	{"broken", `{"type": "fail", "status": 500, "retry_after": 0, "times": 2}`, true},
	{"gateway", `{"type": "fail", "status": 502}, {"type": "fail", "status": 504}`, true},
	{"overloaded", `{"type": "fail", "status": 529}`, true},
	{"timed-out", `{"type": "fail", "status": 408}`, true},
	{"conflict", `{"type": "fail", "status": 409}`, true},
	{"down", `{"type": "fail", "status": 500, "retry_after": 0.1, "times": null}`, false},
	{"bad-request", `{"type": "fail", "status": 400}`, false},
	{"bad-key", `{"type": "fail", "status": 401}`, false},
	{"forbidden", `{"type": "fail", "status": 403}`, false},
	{"no-model", `{"type": "fail", "status": 404}`, false},
	{"bad-shape", `{"type": "fail", "status": 422}`, false},
	{"stream-dropped", `{"type": "stream_fault", "kind": "disconnect", "after_chunks": 2}`, true},
	{"stream-cut", `{"type": "stream_fault", "kind": "truncate", "after_chunks": 2, "times": 2}`, true},
	{"stream-garbled", `{"type": "stream_fault", "kind": "malformed"}`, true},
	{"stream-refused", `{"type": "fail", "status": 503, "retry_after": 0.1}, {"type": "stream_fault", "kind": "truncate", "after_chunks": 0}`, true},
	{"tool-fine", ``, true},
	{"tool-unknown", `{"type": "tool_fault", "kind": "unknown_tool"}`, true},
	{"tool-garbled", `{"type": "tool_fault", "kind": "malformed_arguments"}`, true},
}

// resilient asks each model of chaos once.
const resilient = `tool add(a: Int, b: Int) returns Int "Adds": return a + b
def question(provider, id):
    model m = inference(provider, id, timeout: 60)
    set delegation = m
    if id.starts_with("tool-"): return ask_with_tools("add for " + id, [add]).value
    if id.starts_with("stream-"): return ask("tell me about " + id, stream: true).value
    return ask("tell me about " + id).value
import std.env
provider = env.args()[0]
for id in env.args().slice(1, 99):
    try:
        text = question(provider, id)
        print("")
        print(id, "answered", len(text) > 0)
    catch e:
        print(id, "failed", e.kind, e.message)
`

// TestRealResilience has llmock, from PyPI, break the connection to a model in
// every way it knows, and judge how the model client takes it.
func TestRealResilience(t *testing.T) {
	llmock := filepath.Join(real.Python(t, "llmock"), "llmock")
	for _, wire := range []string{"openai", "anthropic"} {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			port := real.Port(t)
			judge := serving(t, exec.Command(llmock, "serve", "-p", itoa(port), "--log-level", "warning"), port)
			out := askChaos(t, wire, judge)
			for _, c := range chaos {
				want := c.id + " answered true\n"
				if !c.answers {
					want = c.id + " failed model "
				}
				if !strings.Contains(out, want) {
					t.Errorf("%s\nlacks %s", out, want)
				}
			}
			report := exec.Command(llmock, "report", "--strict", "--url", judge)
			verdict, err := report.CombinedOutput()
			t.Logf("%s", verdict)
			if err != nil || !strings.Contains(string(verdict), "PASS") {
				t.Errorf("the judge is not content: %v\n%s", err, out)
			}
		})
	}
}

// askChaos tells the judge what to do and runs the program against it.
func askChaos(t *testing.T, wire, judge string) string {
	t.Helper()
	args := []string{"run", "chaos.sns", "--", wire}
	for _, c := range chaos {
		args = append(args, c.id)
		if c.behaviours != "" {
			var list []map[string]any
			if err := json.Unmarshal([]byte("["+c.behaviours+"]"), &list); err != nil {
				t.Fatal(err)
			}
			for _, b := range list {
				b["match"] = map[string]any{"model": c.id}
			}
			postJSON(t, judge+"/_llmock/scenario", map[string]any{"behaviors": list})
		}
	}
	base := map[string]string{"openai": "OPENAI_BASE_URL=" + judge + "/v1", "anthropic": "ANTHROPIC_BASE_URL=" + judge + "/anthropic"}[wire]
	return runModels(t, "chaos.sns", resilient, base, args...)
}

// runModels runs a program against a service and gives what it printed.
func runModels(t *testing.T, name, program, base string, args ...string) string {
	t.Helper()
	r := runWith(t, t.TempDir(), map[string]string{name: program}, []string{base, "OPENAI_API_KEY=test-key-1234", "ANTHROPIC_API_KEY=test-key-1234"}, args...)
	if r.code != 0 {
		t.Fatalf("status %d\n%s%s", r.code, r.out, r.err)
	}
	return r.out
}

func postJSON(t *testing.T, url string, body any) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(url, "application/json", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode > 299 {
		t.Fatalf("%s: %s %s", url, res.Status, text)
	}
}

// aimockTurns is what aimock answers, by the model's id.
func aimockTurns() string {
	type m = map[string]any
	match := func(id string, more m) m {
		out := m{"model": id}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	call := func(name, args string) m {
		return m{"toolCalls": []m{{"name": name, "arguments": args}}}
	}
	text := func(s string) m { return m{"content": s, "usage": m{"input_tokens": 7, "output_tokens": 3}} }
	fixtures := []m{
		{"match": match("plain", nil), "response": text("hello there")},
		{"match": match("typed", nil), "response": text(`{"name": "Ada", "year": 1815}`)},
		{"match": match("loop", m{"hasToolResult": false}), "response": call("add", `{"a": 9007199254740992, "b": 1}`)},
		{"match": match("loop", nil), "response": text("the sum is there")},
		{"match": match("bad-args", m{"hasToolResult": false}), "response": call("add", `{"a": `)},
		{"match": match("bad-args", nil), "response": text("sorry")},
		{"match": match("unknown", m{"hasToolResult": false}), "response": call("nope", `{}`)},
		{"match": match("unknown", nil), "response": text("no such thing")},
		{"match": match("endless", nil), "response": call("add", `{"a": 1, "b": 1}`)},
		{"match": match("cut", nil), "response": m{"content": "half an ans", "finishReason": "length"}},
		{"match": match("refused", nil), "response": m{"error": m{"message": "you shall not", "type": "invalid_request_error"}, "status": 400}},
		{"match": match("busy", m{"sequenceIndex": 0}), "response": m{"error": m{"message": "slow down", "type": "rate_limit_error"}, "status": 429}},
		{"match": match("busy", nil), "response": text("at last")},
		{"match": match("stops", nil), "truncateAfterChunks": 2, "response": text("this answer never comes to its end")},
	}
	data, _ := json.MarshalIndent(m{"fixtures": fixtures}, "", " ") // plain maps are always JSON
	return string(data)
}

// withAimock asks each model of aimockTurns.
const withAimock = `import std.env
provider = env.args()[0]
made = {"times": 0}
tool add(a: Int, b: Int) returns Int "Adds":
    made["times"] += 1
    made["last"] = a + b
    return a + b
def m(id):
    return inference(provider, id, timeout: 60)
model fallback_model = m("plain")

a = m("plain").ask("hi")
print(a.value, a.usage["input_tokens"], a.usage["output_tokens"])
print(m("plain").ask("hi", stream: true).value)
print(m("typed").ask("who?", returns: {"name": "String", "year": "Int"}).value["year"] + 1)
print("typed", m("typed").ask("who?", returns: {"name": "String", "year": "Int"}, stream: true).value)
def loop(id, streamed):
    model looping = m(id)
    set delegation = looping
    return ask_with_tools("add them", [add], stream: streamed).value
print(loop("loop", false), made)
print(loop("loop", true), made)
for id in ["bad-args", "unknown"]:
    print(id, loop(id, false), made["times"])
try:
    loop("endless", false)
catch e:
    print(e.kind, e.message, made["times"])
try:
    cut = m("cut").ask("go on")
    print(cut.value, cut.truncated)
catch e:
    print(e.kind, e.message)
try:
    m("refused").ask("please")
catch e:
    print(e.kind, e.message)
print(inference(provider, "refused", fallback: fallback_model).ask("please").value)
print(m("busy").ask("now?").value)
try:
    m("stops").ask("tell", stream: true)
catch e:
    print(e.kind, e.message)
set budget = {"calls": 1}
m("plain").ask("one")
try:
    m("plain").ask("two")
catch e:
    print(e.kind, e.message)
`

// TestRealAimock runs answers, streams, typed answers, tool loops and faults
// against aimock, from npm, on both wires.
func TestRealAimock(t *testing.T) {
	llmock := real.Module(t, "@copilotkit/aimock/dist/cli.js")
	for _, wire := range []string{"openai", "anthropic"} {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			fixtures := filepath.Join(t.TempDir(), "turns.json")
			writeFile(t, fixtures, aimockTurns())
			port := real.Port(t)
			vendor := serving(t, exec.Command(real.Command(t, "node"), llmock, "-p", itoa(port), "-f", fixtures), port)
			base := map[string]string{"openai": "OPENAI_BASE_URL=" + vendor + "/v1", "anthropic": "ANTHROPIC_BASE_URL=" + vendor}[wire]
			out := runModels(t, "aimock.sns", withAimock, base, "run", "aimock.sns", wire)
			for _, want := range aimockWant {
				if !strings.Contains(out, want) {
					t.Errorf("%s\nlacks %s", out, want)
				}
			}
		})
	}
}

// aimockWant is what the program prints, but for the address in one message.
var aimockWant = []string{
	"hello there 7 3\nhello there\nhello there\n1816\n",
	`{"name": "Ada", "year": 1815}` + "\ntyped {name: Ada, year: 1815}\n",
	"the sum is there {times: 1, last: 9007199254740993}\nthe sum is there\nthe sum is there {times: 2, last: 9007199254740993}\n",
	"bad-args sorry 2\nunknown no such thing 2\n",
	"model model 'looping' did not produce a final answer within 10 tool-call iterations 12\n",
	"half an ans true\n",
	"model model 'refused' failed: HTTP 400 Bad Request: you shall not\nhello there\nat last\n",
	"model model 'stops' failed: the connection to ", " was closed before the whole answer had come\n",
	"model the budget is used up (1 of 1 calls)\n",
}

// TestRealQueryDatabase runs examples/query-database.sns against the SQLite server
// from PyPI: it prints what the stand-in has it print, and nothing is deleted.
func TestRealQueryDatabase(t *testing.T) {
	server := filepath.Join(real.Python(t, "older"), "mcp-server-sqlite")
	db := filepath.Join(t.TempDir(), "shop.db")
	fill := `db = ` + connectCall("db", server, "--db-path", db) + `
for query in ["CREATE TABLE customers (id INTEGER, name TEXT, city TEXT)", "CREATE TABLE orders (id INTEGER, customer INTEGER, total INTEGER)"]:
    db.call("create_table", query: query)
db.call("write_query", query: "INSERT INTO customers VALUES (1, 'Ann', 'Bergen'), (2, 'Bob', 'Oslo')")
db.call("write_query", query: "INSERT INTO orders VALUES (1, 1, 100), (2, 1, 35), (3, 2, 40), (4, 2, 30), (5, 2, 10)")
`
	if r := runWith(t, t.TempDir(), map[string]string{"fill.sns": fill}, nil, "run", "fill.sns"); r.code != 0 {
		t.Fatalf("status %d\n%s%s", r.code, r.out, r.err)
	}
	for range 2 { // what was there is still there
		out, stderr, status := runExample(t, []string{"SQLITE_SERVER=" + server}, "examples/query-database.sns", db)
		if want := readFile(t, "testdata/examples/query-database.out"); status != 0 || out != want {
			t.Errorf("status %d\n%s%s", status, diffText("out", want, out), stderr)
		}
	}
}
