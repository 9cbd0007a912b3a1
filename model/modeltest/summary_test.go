package modeltest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sense-lang/sense/model/modeltest"
)

func request(t *testing.T, path, key, body string) modeltest.Request {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	r := modeltest.Request{Path: path, Key: key}
	if err := d.Decode(&r.Body); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSummaries compares with what the corpus's own runner writes.
func TestSummaries(t *testing.T) {
	asked := []modeltest.Request{
		request(t, "/v1/chat/completions", "k", `{"model": "gpt", "temperature": 0.70000001, "max_completion_tokens": 100000,
			"tools": [
				{"function": {"name": "mcp__kit__z", "description": "Zé", "parameters": {"type": "object", "properties": {}, "required": [], "anyOf": [{"items": {}}]}}},
				{"name": "a", "input_schema": {"x": []}}],
			"messages": [
				{"role": "user", "content": "say \"hi\"\n`+strings.Repeat("x", 200)+strings.Repeat("y", 199)+`"},
				{"role": "assistant", "content": null, "tool_calls": [
					{"function": {"arguments": "{\"b\":1,\"a\":2.0}"}}, {"function": {"arguments": "{oops"}}, {"function": {"arguments": ""}}]},
				{"role": "user", "content": [
					{"type": "text", "text": "t"}, {"type": "tool_use", "input": {"k": 1.5, "é": 12345678901234567890}},
					{"type": "tool_result", "content": [{"text": "r"}]}, {"type": "tool_result", "content": "s"}]}]}`),
		request(t, "/v1/chat/completions", "k", `{"model": "m"}`),
	}
	want := `tools=a,kit.z user:say "hi"\nx*200` + strings.Repeat("y", 199) +
		` | assistant:call({"a": 2.0, "b": 1})call({oops)call({}) | user:t call({"k": 1.5, "\\u00e9": 12345678901234567890}) result(r) result(s)` + "\ntools= \n"
	if got := modeltest.Summary(asked); got != want {
		t.Errorf("Summary\n%s\nwant\n%s", got, want)
	}
	want = "openai /v1/chat/completions model=gpt temperature=0.7 max_completion_tokens=100000 key=k\nopenai /v1/chat/completions model=m key=k\n"
	if got := modeltest.Sent(modeltest.OpenAI, asked); got != want {
		t.Errorf("Sent\n%s\nwant\n%s", got, want)
	}
	want = `a null {"x": []}` + "\n" + `kit.z "Z\u00e9" {"anyOf": [{}], "type": "object"}` + "\n"
	if got := modeltest.Schemas(asked); got != want {
		t.Errorf("Schemas\n%s\nwant\n%s", got, want)
	}
	if got := modeltest.Schemas(asked[1:]); got != "" {
		t.Errorf("Schemas without tools = %q", got)
	}
}
