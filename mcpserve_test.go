package sense_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/mcp/serve"
)

const servedProgram = `policy:
    deny files.delete
tool add(a: Int, b: Int = 1) returns Int "Adds":
    return a + b
tool info(name: String) "A Map":
    return {"name": name, "big": 9007199254740993}
tool list() "An Array":
    return [1, "two"]
tool nothing() "Nil": x = 1
tool remove(path: String) requires files.delete "Denied":
    return "removed " + path
tool breaks() "Fails": return 1 / 0
async tool later(x: Int) "A Future":
    return x * 2
tool picture(kind: String) "Content blocks":
    return {"content": [{"type": "text", "text": "one"}, {"type": kind, "data": "AAA=", "mimeType": "image/png"}]}
reversible action greet(who: String) requires greet.people, approval:
    "Greets someone."
    print("hello " + who)
    return "greeted " + who
rollback:
    print("bye " + who)
irreversible action shout(text: String):
    print(text)
irreversible action forbidden() requires files.delete:
    print("never")
`

// serveProgram serves a program over HTTP and connects to it; answer is what
// the user says to every question.
func serveProgram(t *testing.T, src, answer string) (s *mcp.Server, out *bytes.Buffer, audit func() string) {
	t.Helper()
	var h mcp.Handlers
	if answer != "" {
		h.Elicit = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(answer)}, nil
		}
	}
	return serveTo(t, src, h)
}

// serveTo is serveProgram for a client that answers and listens with h.
func serveTo(t *testing.T, src string, h mcp.Handlers) (s *mcp.Server, out *bytes.Buffer, audit func() string) {
	t.Helper()
	out = &bytes.Buffer{}
	declared := &sense.Declarations{}
	r := sense.New(context.Background(), sense.Options{Stdout: out, OnDeclare: declared.Add})
	if err := r.RunSource("p.sns", src); err != nil {
		t.Fatal(err)
	}
	server, err := sense.NewMCPServer(r, "p", "p.sns", declared)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve.HTTP(ctx, server, l, "") }()
	m := mcp.NewManager()
	t.Cleanup(func() {
		m.CloseAll()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.Close()
	})
	cfg := mcp.Config{Name: "p", URL: "http://" + l.Addr().String() + serve.Path, ConnectTimeout: time.Minute, CallTimeout: time.Minute, Handlers: h}
	if s, err = m.Connect(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	return s, out, func() string { return strings.Join(r.Audit().Lines(), "\n") }
}

func callServed(t *testing.T, s *mcp.Server, tool, args string) *mcp.Result {
	t.Helper()
	r, err := s.Call(context.Background(), tool, json.RawMessage(args))
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return r
}

func TestServedTools(t *testing.T) {
	s, _, audit := serveProgram(t, servedProgram, "")
	for _, tt := range []struct {
		tool, args, want string
		fails            bool
	}{
		{"add", `{"a":9007199254740992}`, "9007199254740993", false},
		{"add", `{"a":1,"b":2}`, "3", false},
		{"add", `{"b":2}`, "'add': argument 'a' is missing", true},
		{"add", `{"a":"x"}`, "'add': argument 'a' must be", true},
		{"add", `{"a":1,"bb":2}`, "'add' has no argument 'bb' -- did you mean 'b'?", true},
		{"info", `{"name":"x"}`, `{"name":"x","big":9007199254740993}`, false},
		{"list", `{}`, `[1,"two"]`, false},
		{"nothing", `{}`, "done", false},
		{"later", `{"x":21}`, "42", false},
		{"picture", `{"kind":"image"}`, "one\n[image image/png, 2 bytes]", false},
		{"picture", `{"kind":"resource"}`, "content block 2 of the tool's result is not valid", true},
		{"picture", `{"kind":"video"}`, `{"content":[{"type":"text","text":"one"},{"type":"video","data":"AAA=","mimeType":"image/png"}]}`, false},
		{"remove", `{"path":"x"}`, "tool 'remove' requires capability 'files.delete', which is denied by policy", true},
		{"breaks", `{}`, "division by zero", true},
	} {
		r := callServed(t, s, tt.tool, tt.args)
		if !strings.Contains(r.Text, tt.want) || r.IsError != tt.fails {
			t.Errorf("%s%s: %v %s", tt.tool, tt.args, r.IsError, r.Text)
		}
	}
	if r := callServed(t, s, "info", `{"name":"x"}`); string(r.Structured) != `{"name":"x","big":9007199254740993}` {
		t.Errorf("structured %s", r.Structured)
	}
	for _, want := range []string{"tool 'add' -> called", "tool 'remove' -> denied"} {
		if !strings.Contains(audit(), want) {
			t.Errorf("the audit lacks %s:\n%s", want, audit())
		}
	}
	for _, tool := range s.Tools() {
		if tool.Name == "remove" && (tool.Description != "Denied" || string(tool.Meta) != `{"sense/requires":["files.delete"]}`) {
			t.Errorf("%q %s", tool.Description, tool.Meta)
		}
	}
}

// prepareServed prepares an action and gives its id.
func prepareServed(t *testing.T, s *mcp.Server, tool, args string) string {
	t.Helper()
	var p struct{ ID, State string }
	r := callServed(t, s, tool, args)
	if err := json.Unmarshal(r.Structured, &p); err != nil || p.ID == "" || p.State != "prepared" {
		t.Fatalf("%s: %s", tool, r.Text)
	}
	return p.ID
}

func TestServedActions(t *testing.T) {
	s, out, audit := serveProgram(t, servedProgram, `{"approve":true,"reason":"go on"}`)
	id := `{"id":"` + prepareServed(t, s, "prepare_greet", `{"who":"Ann"}`) + `"}`
	for _, tt := range []struct {
		tool, want string
		fails      bool
	}{
		{"describe_action", `"state":"prepared"`, false},
		{"commit_action", "the action 'greet' needs an approval: call approve_action first", true},
		{"rollback_action", "cannot rollback action 'greet'", true},
		{"approve_action", `"approved":true`, false},
		{"approve_action", `"approved":true`, false},
		{"commit_action", `"result":"greeted Ann"`, false},
		{"commit_action", "must be verified before .commit()", true},
		{"rollback_action", `"state":"rolled_back"`, false},
	} {
		r := callServed(t, s, tt.tool, id)
		if !strings.Contains(r.Text, tt.want) || r.IsError != tt.fails {
			t.Errorf("%s: %v %s", tt.tool, r.IsError, r.Text)
		}
	}
	if out.String() != "hello Ann\nbye Ann\n" {
		t.Errorf("printed %q", out.String())
	}
	id = `{"id":"` + prepareServed(t, s, "prepare_shout", `{"text":"hey"}`) + `"}`
	if r := callServed(t, s, "commit_action", id); r.IsError || !strings.HasSuffix(out.String(), "hey\n") {
		t.Errorf("%s %q", r.Text, out.String())
	}
	id = `{"id":"` + prepareServed(t, s, "prepare_forbidden", `{}`) + `"}`
	if r := callServed(t, s, "commit_action", id); !r.IsError || !strings.Contains(r.Text, "denied by policy") {
		t.Errorf("%s", r.Text)
	}
	for args, want := range map[string]string{`{"id":"none"}`: "there is no prepared action 'none'", `{}`: "the argument 'id' is missing", `{"id":5}`: "the argument 'id' is missing"} {
		if r := callServed(t, s, "commit_action", args); !r.IsError || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %s", args, r.Text)
		}
	}
	for _, want := range []string{"'greet' -> prepared", "'greet' -> committed", "'greet' -> rolled_back"} {
		if !strings.Contains(audit(), want) {
			t.Errorf("the audit lacks %s:\n%s", want, audit())
		}
	}
}

// What a tool asks a human is asked of the client's user.
func TestServedToolsAsk(t *testing.T) {
	const src = `tool order(what: String) "Asks": return what + " for " + ask_human("For whom, " + what + "?")
`
	s, _, audit := serveProgram(t, src, `{"answer":"Zoë <&>"}`)
	if r := callServed(t, s, "order", `{"what":"tea"}`); r.IsError || r.Text != "tea for Zoë <&>" {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(audit(), "tool 'order' -> called") {
		t.Errorf("the audit says\n%s", audit())
	}
	s, _, _ = serveProgram(t, src, "")
	if _, err := s.Call(t.Context(), "order", json.RawMessage(`{"what":"tea"}`)); err == nil || !strings.Contains(err.Error(), "ask_human() got no answer: the client cannot ask its user") {
		t.Errorf("%v", err)
	}
	s, _, _ = serveProgram(t, src, `{"other":1}`)
	if r := callServed(t, s, "order", `{"what":"tea"}`); !r.IsError || !strings.Contains(r.Text, "ask_human() got no answer: the user of the client gave no answer") {
		t.Errorf("%+v", r)
	}
}

// What std.serve tells and asks the client of a served tool.
func TestServedToolsTellAndAsk(t *testing.T) {
	const src = `import std.serve
tool works() "Tells":
    serve.progress(0, 2)
    serve.progress(1, 2, "half")
    serve.log("a line")
    serve.log("bad", level: "error")
    return "worked"
tool fills() "Asks":
    m = serve.form("Who?", {"name": "String", "age": {"type": "integer", "default": 30}})
    return f"{m["name"]} {m["age"] + 1}"
tool thinks() "Asks a model":
    return serve.sample("Why?", max_tokens: 7, system: "be brief").upper()
tool denied() "May not":
    policy: deny serve.sample
    return serve.sample("Why?")
`
	var sampled, form string
	var mu sync.Mutex
	heard := map[string]bool{}
	hear := func(what ...any) { mu.Lock(); defer mu.Unlock(); heard[fmt.Sprint(what...)] = true }
	s, _, audit := serveTo(t, src, mcp.Handlers{
		Sample: func(_ context.Context, r *mcp.SampleRequest) (*mcp.SampleResult, error) {
			sampled = fmt.Sprint(r.System, r.Messages[0].Blocks[0].Text, r.MaxTokens)
			return &mcp.SampleResult{Model: "m", Text: "because"}, nil
		},
		Elicit: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			form = r.Message + string(r.Schema)
			return &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(`{"name":"Ann","age":30}`)}, nil
		},
		Log:      func(m mcp.LogMessage) { hear(m.Level, " ", m.Text) },
		Progress: func(p mcp.Progress) { hear(p.Progress, " ", p.Message) },
	})
	if err := s.SetLevel(t.Context(), "info"); err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]string{"works": "worked", "fills": "Ann 31", "thinks": "BECAUSE"} {
		if r := callServed(t, s, tool, `{}`); r.IsError || r.Text != want {
			t.Errorf("%s: %+v", tool, r)
		}
	}
	if r := callServed(t, s, "denied", `{}`); !r.IsError || !strings.Contains(r.Text, "std.serve.sample requires capability 'serve.sample', which is denied by policy") {
		t.Errorf("denied: %+v", r)
	}
	if sampled != "be briefWhy?7" {
		t.Errorf("the model was asked %q", sampled)
	}
	for _, want := range []string{"Who?", `"name":{"type":"string"}`, `"default":30`, `"required":["name"]`} {
		if !strings.Contains(strings.ReplaceAll(form, ": ", ":"), want) {
			t.Errorf("the form %s lacks %s", form, want)
		}
	}
	// What is told right before an answer may be lost on the way over HTTP.
	told := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Sorted(maps.Keys(heard))
	}
	all := []string{"0 ", "1 half", "error bad", "info a line"}
	for end := time.Now().Add(30 * time.Second); !slices.Equal(told(), all); {
		if time.Now().After(end) {
			t.Fatalf("heard %q, want %q", told(), all)
		}
		callServed(t, s, "works", `{}`)
	}
	if !strings.Contains(audit(), "std.serve.sample") {
		t.Errorf("the audit says\n%s", audit())
	}
	s, _, _ = serveTo(t, src, mcp.Handlers{}) // a client that can do nothing of it
	if r := callServed(t, s, "works", `{}`); r.IsError || r.Text != "worked" {
		t.Errorf("%+v", r)
	}
	for tool, want := range map[string]string{"fills": "std.serve.form: the client cannot ask its user", "thinks": "std.serve.sample: the client lends no model"} {
		if _, err := s.Call(t.Context(), tool, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

// Nobody but the user approves.
func TestServedApprovalIsRefused(t *testing.T) {
	for answer, want := range map[string]string{
		`{"approve":false}`: "the user did not approve the action 'greet'",
		"":                  "",
	} {
		s, out, _ := serveProgram(t, servedProgram, answer)
		id := `{"id":"` + prepareServed(t, s, "prepare_greet", `{"who":"Ann"}`) + `"}`
		r, err := s.Call(context.Background(), "approve_action", json.RawMessage(id))
		if err == nil && (!r.IsError || !strings.Contains(r.Text, want)) {
			t.Errorf("%q: %+v", answer, r)
		}
		if r := callServed(t, s, "commit_action", id); !r.IsError || out.Len() > 0 {
			t.Errorf("%q: committed all the same: %s", answer, r.Text)
		}
	}
}

func TestNothingToServe(t *testing.T) {
	for src, want := range map[string]string{
		"x = 1": "p.sns declares no tools and no actions, and offers no resources and no prompts, so there is nothing to serve",
		"irreversible action a():\n    print(1)\ntool prepare_a() \"x\": return 1\n": "p.sns declares 'prepare_a' in more than one sense",
	} {
		declared := &sense.Declarations{}
		r := sense.New(context.Background(), sense.Options{OnDeclare: declared.Add})
		if err := r.RunSource("p.sns", src); err != nil {
			t.Fatal(err)
		}
		if _, err := sense.NewMCPServer(r, "p", "p.sns", declared); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", src, err)
		}
		r.Close()
	}
}
