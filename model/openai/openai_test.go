package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, turns ...modeltest.Turn) *modeltest.Service {
	t.Helper()
	return modeltest.Serve(t, modeltest.OpenAI, func(o model.Options) model.Client { return New(o) }, turns...)
}

func TestDefaults(t *testing.T) {
	for _, tt := range []struct {
		c                        *Client
		provider, id, url, limit string
	}{
		{New(model.Options{}), "openai", "gpt-4o", "https://api.openai.com/v1", "max_completion_tokens"},
		{New(model.Options{ModelID: "m", BaseURL: "http://x/v1"}), "openai", "m", "http://x/v1", "max_completion_tokens"},
		{NewOllama(model.Options{}), "ollama", "llama3.2", "http://127.0.0.1:11434/v1", "max_tokens"},
		{NewCompatible(model.Options{BaseURL: "http://y"}), "openai-compatible", "default", "http://y", "max_tokens"},
	} {
		var _ model.Client = tt.c
		if tt.c.Provider() != tt.provider || tt.c.ModelID() != tt.id || tt.c.options.BaseURL != tt.url || tt.c.maxTokens != tt.limit {
			t.Errorf("got %+v, want %+v", tt.c, tt)
		}
	}
}

func TestOllamaURL(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "gpu-box": "http://gpu-box:11434/v1", "gpu-box:80": "http://gpu-box:80/v1", "0.0.0.0": "http://127.0.0.1:11434/v1",
		"http://h:1/v1": "http://h:1/v1", "https://h": "https://h/v1", "https://h/base/v1/": "https://h/base/v1/",
		"[::1]:99": "http://[::1]:99/v1", "https://[::1]": "https://[::1]/v1", "http://%zz": "http://%zz",
	} {
		if got := ollamaURL(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

func TestPlainQuestion(t *testing.T) {
	s := serve(t, modeltest.Text("4"))
	turn := s.Ask(t, modeltest.Question("What is 2 + 2?"))
	if turn.Text != "4" || turn.Calls != nil || turn.Stop != "stop" || turn.Truncated || turn.Confidence != nil || turn.Usage != (model.Usage{InputTokens: 10, OutputTokens: 5}) {
		t.Errorf("got %+v", turn)
	}
	if got, want := modeltest.Summary(s.Requests()), "tools= user:What is 2 + 2?\n"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	if got, want := modeltest.Sent(modeltest.OpenAI, s.Requests()), "openai /v1/chat/completions model=gpt-4o key=test-key-1234\n"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	for _, absent := range []string{"tools", "response_format", "max_tokens", "stream_options"} {
		if _, there := s.Requests()[0].Body[absent]; there {
			t.Errorf("%s was sent", absent)
		}
	}
}

func TestNoKeyNoHeader(t *testing.T) {
	s := serve(t, modeltest.Text("hi"))
	s.Options.APIKey = ""
	s.Ask(t, modeltest.Question("q"))
	if h := s.Requests()[0].Header; h.Get("Authorization") != "" {
		t.Errorf("sent %q", h.Get("Authorization"))
	}
}

func TestSystem(t *testing.T) {
	s := serve(t, modeltest.Text("a"), modeltest.Text("b"))
	s.Options.System = "Be brief."
	s.Ask(t, modeltest.Question("q"))
	own := modeltest.Question("q")
	own.System = "Be long."
	s.Ask(t, own)
	if got, want := modeltest.Summary(s.Requests()), "tools= system:Be brief. | user:q\ntools= system:Be long. | user:q\n"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
}

// B17: a temperature of 0 is sent; without one none is.
func TestB17TemperatureZero(t *testing.T) {
	for give, want := range map[float64]string{0: `"temperature":0`, 0.1: `"temperature":0.1`, 2: `"temperature":2`} {
		s := serve(t, modeltest.Text("x"))
		s.Options.Temperature = &give
		s.Ask(t, modeltest.Question("q"))
		if raw := string(s.Requests()[0].Raw); !strings.Contains(raw, want) {
			t.Errorf("sent %s, want %s", raw, want)
		}
	}
	s := serve(t, modeltest.Text("x"))
	s.Ask(t, modeltest.Question("q"))
	if raw := string(s.Requests()[0].Raw); strings.Contains(raw, "temperature") {
		t.Errorf("sent %s", raw)
	}
}

// B18: newer models are asked whatever the library thinks of them, the limit
// goes out under its newer name, and the service's own words come back.
func TestB18TheServiceDecides(t *testing.T) {
	warm, limit := 0.7, int64(50)
	for _, id := range []string{"o3-mini", "o1", "gpt-5", "gpt-6-sol", "gpt-6.1-sol", "gpt-6-astra", "text-davinci-003", "ünknown/модель:7b"} {
		s := serve(t, modeltest.Text("fine"), modeltest.Status(400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.7"}}`))
		s.Options.ModelID, s.Options.Temperature, s.Options.MaxTokens = id, &warm, &limit
		req := modeltest.Question("q")
		req.Tools = []model.ToolSpec{{Name: "t", Description: "d"}}
		if turn := s.Ask(t, req); turn.Text != "fine" {
			t.Errorf("%s: %+v", id, turn)
		}
		s.Fail(t, req, model.KindRequest, "Unsupported value: 'temperature' does not support 0.7")
		body := s.Requests()[0].Body
		if body["model"] != id || body["max_completion_tokens"] != json.Number("50") || body["max_tokens"] != nil {
			t.Errorf("%s: sent %v", id, body)
		}
	}
	s := serve(t, modeltest.Text("x"))
	s.Options.MaxTokens = &limit
	if _, err := NewCompatible(s.Options).Complete(context.Background(), modeltest.Question("q")); err != nil {
		t.Fatal(err)
	}
	if body := s.Requests()[0].Body; body["max_tokens"] != json.Number("50") || body["max_completion_tokens"] != nil {
		t.Errorf("a compatible server was sent %v", body)
	}
}

// A57: the wire carries text as it is.
func TestA57NoEscapes(t *testing.T) {
	s := serve(t, modeltest.Text(`<i>&</i> 😀`))
	text := "<b> & \"q\" \\u003c \u2028 世界"
	req := modeltest.Question(text)
	req.System = "a<b"
	req.Tools = []model.ToolSpec{{Name: "t", Description: "x <- y", Schema: json.RawMessage(`{"type":"object","properties":{"p":{"description":"<&>"}}}`)}}
	if turn := s.Ask(t, req); turn.Text != `<i>&</i> 😀` {
		t.Errorf("got %q", turn.Text)
	}
	got := s.Requests()[0]
	raw := string(got.Raw)
	for _, want := range []string{`"<b> & \"q\" \\u003c `, `a<b`, `x <- y`, `<&>`, "世界"} {
		if !strings.Contains(raw, want) {
			t.Errorf("%s is not in %s", want, raw)
		}
	}
	messages := got.Body["messages"].([]any)
	if back := messages[1].(map[string]any)["content"]; back != text {
		t.Errorf("read back %q, want %q", back, text)
	}
}

func TestToolLoop(t *testing.T) {
	s := serve(t,
		modeltest.Turn{Text: ptr("Let me see."), Calls: []modeltest.Call{modeltest.CallOf("add", `{"a":9007199254740993,"b":1.0}`), modeltest.CallOf("fs.list", `{}`)}},
		modeltest.Text("@results"))
	req := modeltest.ToolRequest()
	turn := s.Ask(t, req)
	if turn.Text != "Let me see." || len(turn.Calls) != 2 || turn.Calls[0].Name != "add" || turn.Calls[1].Name != "mcp__fs__list" || turn.Stop != "tool_calls" {
		t.Fatalf("got %+v", turn)
	}
	// A50: numbers come exactly as the model wrote them.
	if got := string(turn.Calls[0].Args); got != `{"a":9007199254740993,"b":1.0}` {
		t.Errorf("arguments %s", got)
	}
	req.Messages = append(req.Messages, turn.Message(), model.Message{Role: model.RoleTool, Results: []model.ToolResult{
		{CallID: turn.Calls[0].ID, Name: "add", Text: "9007199254740994"}, {CallID: turn.Calls[1].ID, Name: "mcp__fs__list", Text: ""}}})
	if turn = s.Ask(t, req); turn.Text != "9007199254740994|(no output)" {
		t.Errorf("got %q", turn.Text)
	}
	want := "tools=add,fs.list user:q | assistant:Let me see.call({\"a\": 9007199254740993, \"b\": 1.0})call({}) | tool:9007199254740994 | tool:(no output)\n"
	if got := modeltest.Summary(s.Requests()[1:]); got != want {
		t.Errorf("asked\n%swant\n%s", got, want)
	}
	if raw := string(s.Requests()[1].Raw); !strings.Contains(raw, `9007199254740993,\"b\":1.0`) {
		t.Errorf("the echo changed the digits: %s", raw)
	}
}

// Some servers of this wire refuse a conversation that holds arguments which are
// no object, so such a call goes back without them.
func TestBrokenArgumentsAreNotEchoed(t *testing.T) {
	s := serve(t,
		modeltest.Turn{Calls: []modeltest.Call{
			modeltest.CallOf("add", `"{\"a\": "`), modeltest.CallOf("add", `"[1]"`), modeltest.CallOf("add", `{"a":2}`)}},
		modeltest.Text("@results"))
	req := modeltest.ToolRequest()
	turn := s.Ask(t, req)
	if got := string(turn.Calls[0].Args); got != `{"a": ` {
		t.Fatalf("the caller sees %s", got)
	}
	results := make([]model.ToolResult, len(turn.Calls))
	for i, c := range turn.Calls {
		results[i] = model.ToolResult{CallID: c.ID, Name: "add", Text: "r"}
	}
	req.Messages = append(req.Messages, turn.Message(), model.Message{Role: model.RoleTool, Results: results})
	s.Ask(t, req)
	want := "tools=add,fs.list user:q | assistant:call({})call({})call({\"a\": 2}) | tool:r | tool:r | tool:r\n"
	if got := modeltest.Summary(s.Requests()[1:]); got != want {
		t.Errorf("asked\n%swant\n%s", got, want)
	}
}

// A26, A27, A29: schemas are completed on a copy and otherwise left alone.
func TestSchemas(t *testing.T) {
	given := json.RawMessage(`{"type":"object","zeta":1,"properties":{"xs":{"type":"array"},"n":{"$ref":"#/$defs/node"},"big":{"maximum":12345678901234567890}},"$defs":{"node":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`)
	before := string(given)
	req := modeltest.Question("q")
	req.Tools = []model.ToolSpec{{Name: "a", Schema: given}, {Name: "b", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "c"}, {Name: "d", Schema: json.RawMessage(`{"properties":{}}`)}}
	s := serve(t, modeltest.Text("ok"))
	s.Ask(t, req)
	if string(given) != before {
		t.Error("the given schema was changed")
	}
	raw := string(s.Requests()[0].Raw)
	for _, want := range []string{
		`{"type":"object","zeta":1,"properties":{"xs":{"type":"array","items":{}},"n":{"$ref":"#/$defs/node"},"big":{"maximum":12345678901234567890}},"$defs":{"node":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`,
		`"name":"b","parameters":{"type":"object","properties":{}}`, `"name":"c","parameters":{"type":"object","properties":{}}`, `"name":"d","parameters":{"type":"object","properties":{}}`,
	} {
		if !strings.Contains(raw, want) {
			t.Errorf("%s\nis not in\n%s", want, raw)
		}
	}
}

func TestStructuredAnswer(t *testing.T) {
	s := serve(t, modeltest.Text(`{"value":4}`), modeltest.Text(`{}`))
	req := modeltest.Question("q")
	req.Schema = json.RawMessage(`{"type":"object","properties":{"value":{"type":"integer"}},"required":["value"]}`)
	if turn := s.Ask(t, req); turn.Text != `{"value":4}` {
		t.Errorf("got %q", turn.Text)
	}
	want := `"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{"value":{"type":"integer"}},"required":["value"],"additionalProperties":false},"strict":true}}`
	if raw := string(s.Requests()[0].Raw); !strings.Contains(raw, want) {
		t.Errorf("sent %s", raw)
	}
	req.Schema = json.RawMessage(`{"type":"object","additionalProperties":{"type":"string"}}`)
	s.Ask(t, req)
	if raw := string(s.Requests()[1].Raw); !strings.Contains(raw, `"strict":false`) || strings.Contains(raw, `"additionalProperties":false`) {
		t.Errorf("an open object was sent as %s", raw)
	}
}

// A server without structured answers is asked in words, once.
func TestStructuredAnswerInWords(t *testing.T) {
	const refused = `{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."}}`
	s := serve(t, modeltest.Status(400, refused), modeltest.Text(`{"value":4}`), modeltest.Status(400, refused), modeltest.Status(400, refused), modeltest.Status(400, `{"error":{"message":"no"}}`))
	s.Options.System = "Be <brief>."
	req := modeltest.Question("q")
	req.Schema = json.RawMessage(`{"type":"object"}`)
	if turn := s.Ask(t, req); turn.Text != `{"value":4}` {
		t.Errorf("got %q", turn.Text)
	}
	if req.Schema == nil || req.System != "" {
		t.Error("the request was changed")
	}
	want := `tools= system:Be <brief>.\n\nAnswer with nothing but JSON that satisfies this JSON Schema: {"type":"object"} | user:q` + "\n"
	if got := modeltest.Summary(s.Requests()[1:2]); got != want || s.Requests()[1].Body["response_format"] != nil {
		t.Errorf("asked %s, want %s", got, want)
	}
	s.Fail(t, req, model.KindRequest, "is not supported with this model")
	s.Fail(t, req, model.KindRequest, "HTTP 400 Bad Request: no")
	if n := len(s.Requests()); n != 5 {
		t.Errorf("%d requests", n)
	}
}

func TestConversation(t *testing.T) {
	s := serve(t, modeltest.Text("ok"))
	req := &model.Request{Messages: []model.Message{
		{Role: model.RoleUser, Text: "one"}, {Role: model.RoleAssistant, Text: "1"}, {Role: model.RoleUser, Text: "two"},
		{Role: model.RoleAssistant}, // an empty answer has no form on the wire
		{Role: model.RoleUser, Text: "three"},
	}}
	s.Ask(t, req)
	if got, want := modeltest.Summary(s.Requests()), "tools= user:one | assistant:1 | user:two | user:three\n"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
}

func TestRefusedBeforeSending(t *testing.T) {
	s := serve(t)
	// B09: an empty prompt is an error of ours.
	s.Fail(t, modeltest.Question(" \n"), model.KindRequest, "the prompt is empty")
	s.Fail(t, &model.Request{}, model.KindRequest, "there is nothing to ask")
	for _, url := range []string{"ftp://x", "localhost:80", "http://", "://", ""} {
		bad := *s
		bad.Options.BaseURL = url
		if _, err := NewCompatible(bad.Options).Complete(context.Background(), modeltest.Question("q")); err == nil || !strings.Contains(err.Error(), "is not an http:// or https:// URL") {
			t.Errorf("%q: %v", url, err)
		}
	}
	bad := *s
	bad.Options.APIKey = "two words"
	bad.Fail(t, modeltest.Question("q"), model.KindAuth, "the API key holds a space")
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func ptr[T any](v T) *T { return &v }

func TestContextIsObeyedAtOnce(t *testing.T) {
	s := serve(t, modeltest.Turn{Hang: true})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := s.Complete(ctx, modeltest.Question("q"))
		done <- err
	}()
	for len(s.Requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("Complete did not return")
	}
	if _, err := s.Complete(ctx, modeltest.Question("q")); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func TestContextEndsTheWait(t *testing.T) {
	s := serve(t, modeltest.Status(500, `{}`))
	ctx, cancel := context.WithCancel(context.Background())
	s.Options.Sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	if _, err := s.Complete(ctx, modeltest.Question("q")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTimeout(t *testing.T) {
	s := serve(t, modeltest.Turn{Hang: true}, modeltest.Text("late"))
	s.Options.Timeout = 50 * time.Millisecond
	s.Fail(t, modeltest.Question("q"), model.KindTimeout, "no answer within 50ms")
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	s := serve(t)
	s.Options.BaseURL = "http://" + addr + "/v1"
	s.Fail(t, modeltest.Question("q"), model.KindConnection, "cannot connect to "+addr+": connection refused")
	if n := len(s.Waits); n != 2 {
		t.Errorf("waited %d times", n)
	}
	s.Options.BaseURL = "http://no-such-host.invalid/v1"
	s.Fail(t, modeltest.Question("q"), model.KindConnection, "no-such-host.invalid")
	s.Options.BaseURL = strings.Replace(s.URL, "http:", "https:", 1)
	s.Fail(t, modeltest.Question("q"), model.KindConnection, "")
}

func TestRedirectIsNotFollowed(t *testing.T) {
	other := serve(t, modeltest.Text("stolen"))
	s := serve(t, modeltest.Turn{Status: 307, Header: map[string]string{"Location": other.URL + "/chat/completions?k=1"}})
	e := s.Fail(t, modeltest.Question("q"), model.KindRequest, "redirects are not followed")
	if len(other.Requests()) != 0 || strings.Contains(e.Msg, "k=1") {
		t.Errorf("followed, or told too much: %q", e.Msg)
	}
}

func TestOwnHTTPClientIsUsed(t *testing.T) {
	s := serve(t, modeltest.Text("x"))
	used := false
	s.Options.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		used = true
		return s.Client().Transport.RoundTrip(r)
	})}
	s.Ask(t, modeltest.Question("q"))
	if !used || s.Options.HTTPClient.CheckRedirect != nil {
		t.Error("the client was not used, or was changed")
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
