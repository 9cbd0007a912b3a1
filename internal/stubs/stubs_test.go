package stubs_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/sense-lang/sense/internal/stubs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, kind stubs.Kind, turns string, strict bool) *stubs.Stub {
	t.Helper()
	parsed, err := stubs.ParseTurns(turns)
	if err != nil {
		t.Fatal(err)
	}
	s := stubs.New(kind, parsed, strict)
	t.Cleanup(s.Close)
	return s
}

// post sends a request as a vendor's client would and gives status and body.
func post(t *testing.T, s *stubs.Stub, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.URL()+"/ask?v=1", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer test-key")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// want fails unless got holds every text.
func want(t *testing.T, got string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("%s\nlacks %s", got, text)
		}
	}
}

const twoTools = `"tools": [{"function": {"name": "mcp__kit__echo"}}, {"function": {"name": "other"}}]`

func TestOpenAITurns(t *testing.T) {
	s := start(t, stubs.OpenAI, `[
		{"text": "hello"},
		{"text": "busy", "calls": [{"name": "kit.echo", "arguments": {"b":1,"a":"é"}}, {"name": "@1"}, {"offered": 0, "id": "mine", "arguments": "{broken"}, {"name": "nobody"}]},
		{"text": "@results"},
		{"text": "cut", "finish": "length", "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}}]`, false)
	code, got := post(t, s, `{"model": "m", "messages": []}`)
	if code != 200 {
		t.Errorf("status %d", code)
	}
	want(t, got, `"content":"hello"`, `"finish_reason":"stop"`, `"model":"m"`, `"id":"chatcmpl-1"`, `"prompt_tokens":10`)
	_, got = post(t, s, `{`+twoTools+`}`)
	want(t, got, `"name":"mcp__kit__echo"`, `"arguments":"{\"b\": 1, \"a\": \"\\u00e9\"}"`, `"id":"call_2_0"`, `"name":"other"`,
		`"arguments":"{}"`, `"id":"mine"`, `"arguments":"{broken"`, `"name":"nobody"`, `"finish_reason":"tool_calls"`, `"content":"busy"`)
	_, got = post(t, s, `{"messages": [{"role": "user", "content": "q"}, {"role": "tool", "content": "one"}, {"role": "tool", "content": [{"text": "t"}, {"text": "wo"}]}]}`)
	want(t, got, `"content":"one|two"`)
	_, got = post(t, s, `{}`)
	want(t, got, `"finish_reason":"length"`, `"total_tokens":3`)
	code, got = post(t, s, `{}`)
	if code != 500 {
		t.Errorf("status %d once the turns are used up", code)
	}
	want(t, got, "stub has no turn left")
}

func TestAnthropicTurns(t *testing.T) {
	s := start(t, stubs.Anthropic, `[
		{"text": "on it", "calls": [{"name": "kit.echo", "arguments": {"n": 12345678901234567890}}]},
		{"text": "@results"}]`, false)
	_, got := post(t, s, `{"tools": [{"name": "mcp__kit__echo"}]}`)
	want(t, got, `{"text":"on it","type":"text"}`, `"type":"tool_use"`, `"input":{"n":12345678901234567890}`, `"stop_reason":"tool_use"`, `"output_tokens":5`)
	_, got = post(t, s, `{"messages": [{"role": "user", "content": [{"type": "tool_result", "content": "a"}, {"type": "tool_result", "content": [{"text": "b"}]}]}]}`)
	want(t, got, `"text":"a|b"`, `"stop_reason":"end_turn"`)
}

func TestStreams(t *testing.T) {
	turn := `[{"text": "eight ch", "calls": [{"name": "kit.echo", "arguments": {"a": 1}}]}]`
	_, got := post(t, start(t, stubs.OpenAI, turn, false), `{"stream": true, `+twoTools+`}`)
	want(t, got, `"content":"eight c"`, `"content":"h"`, `"index":0`, `"finish_reason":"tool_calls"`, "data: [DONE]\n\n")
	_, got = post(t, start(t, stubs.Anthropic, turn, false), `{"stream": true, "tools": [{"name": "kit_echo"}]}`)
	want(t, got, "event: message_start\n", `"text":"eight ch"`, `"partial_json":"{\"a\": 1}"`, `"stop_reason":"tool_use"`, "event: message_stop\n")
}

func TestFaults(t *testing.T) {
	s := start(t, stubs.OpenAI, `[{"status": 429, "body": {"error": 1}}, {"status": 503}, {"raw": "<html>"}, {"status": 502, "raw": "bad"}, {"drop": true}]`, false)
	for _, w := range []struct {
		code int
		body string
	}{{429, `{"error": 1}`}, {503, `{}`}, {200, `<html>`}, {502, `bad`}} {
		if code, got := post(t, s, `{}`); code != w.code || got != w.body {
			t.Errorf("got %d %s, want %d %s", code, got, w.code, w.body)
		}
	}
	if code, got := post(t, s, `{}`); code != 0 || !strings.Contains(got, "EOF") {
		t.Errorf("a dropped connection gave %d %s", code, got)
	}
	if code, _ := post(t, s, `no json`); code != 400 {
		t.Errorf("a request that is no JSON gave %d", code)
	}
	resp, err := http.Get(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNotImplemented {
		t.Errorf("GET gave %d", resp.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestStrictRefuses(t *testing.T) {
	s := start(t, stubs.Anthropic, `[{"text": "kept for later"}]`, true)
	code, got := post(t, s, `{"messages": []}`)
	if code != 400 {
		t.Errorf("status %d", code)
	}
	want(t, got, `"invalid_request_error"`, `"max_tokens: Field required"`)
	_, got = post(t, s, `{"max_tokens": 5}`)
	want(t, got, "kept for later")
	if n := len(s.Asked()); n != 2 {
		t.Errorf("%d requests kept, want 2", n)
	}
}

func TestParseTurnsRefuses(t *testing.T) {
	if _, err := stubs.ParseTurns(`{"text": 1}`); err == nil {
		t.Error("no error")
	}
}

func TestHelpersMakeTurns(t *testing.T) {
	s := stubs.New(stubs.OpenAI, []stubs.Turn{stubs.ToolCall("other", `{"x":1}`), stubs.Text("done")}, false)
	defer s.Close()
	_, got := post(t, s, `{`+twoTools+`}`)
	want(t, got, `"name":"other"`, `{\"x\": 1}`)
	_, got = post(t, s, `{}`)
	want(t, got, `"content":"done"`)
	env := strings.Join(s.Env(), " ")
	want(t, env, "OPENAI_API_KEY=test-key", "OPENAI_BASE_URL=http://127.0.0.1:", "/v1")
}

func TestRequestsSentSchemas(t *testing.T) {
	s := start(t, stubs.OpenAI, `[{"text": "a"}, {"text": "b"}]`, false)
	body := map[string]any{
		"model": "gpt", "temperature": 0.70000001, "max_completion_tokens": 100000,
		"tools": []any{
			map[string]any{"function": map[string]any{"name": "mcp__kit__z", "description": "Zé",
				"parameters": map[string]any{"type": "object", "properties": map[string]any{}, "required": []any{}, "anyOf": []any{map[string]any{"items": map[string]any{}}}}}},
			map[string]any{"name": "a", "input_schema": map[string]any{"x": []any{}}},
		},
		"messages": []any{
			map[string]any{"role": "user", "content": "say \"hi\"\n" + strings.Repeat("x", 200) + strings.Repeat("y", 199)},
			map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
				map[string]any{"function": map[string]any{"arguments": `{"b":1,"a":2}`}},
				map[string]any{"function": map[string]any{"arguments": `{oops`}},
				map[string]any{"function": map[string]any{"arguments": ``}}}},
			map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "text", "text": "t"},
				map[string]any{"type": "tool_use", "input": map[string]any{"k": 1.5}},
				map[string]any{"type": "tool_result", "content": []any{map[string]any{"text": "r"}}},
				map[string]any{"type": "tool_result", "content": "s"}}},
			map[string]any{"role": "system"},
		},
	}
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	post(t, s, string(data))
	post(t, s, `{}`)
	wantRequests := `tools=a,kit.z user:say "hi"\nx*200` + strings.Repeat("y", 199) +
		` | assistant:call({"a": 2, "b": 1})call({oops)call({}) | user:t call({"k": 1.5}) result(r) result(s) | system:None` + "\ntools= \n"
	if got := s.Requests(); got != wantRequests {
		t.Errorf("Requests() =\n%s\nwant\n%s", got, wantRequests)
	}
	wantSent := "openai /v1/ask?v=1 model=gpt temperature=0.7 max_completion_tokens=100000 key=test-key\nopenai /v1/ask?v=1 model=None key=test-key\n"
	if got := s.Sent(); got != wantSent {
		t.Errorf("Sent() =\n%s\nwant\n%s", got, wantSent)
	}
	wantSchemas := `a null {"x": []}` + "\n" + `kit.z "Z\u00e9" {"anyOf": [{}], "type": "object"}` + "\n"
	if got := s.Schemas(); got != wantSchemas {
		t.Errorf("Schemas() =\n%s\nwant\n%s", got, wantSchemas)
	}
}
