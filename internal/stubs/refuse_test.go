package stubs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sense-lang/sense/internal/stubs"
)

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestRefusal(t *testing.T) {
	long := strings.Repeat("n", 65)
	tests := []struct {
		name string
		kind stubs.Kind
		body string
		want string
	}{
		{"plain", stubs.OpenAI, `{"messages": [{"role": "user", "content": "hi"}]}`, ""},
		{"plain", stubs.Anthropic, `{"max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}`, ""},
		{"no tools", stubs.OpenAI, `{"tools": []}`, "tools: [] is too short"},
		{"null tools", stubs.OpenAI, `{"tools": null}`, ""},
		{"dot in a name", stubs.OpenAI, `{"tools": [{"function": {"name": "a.b"}}]}`, "tools: name 'a.b' does not match '^[a-zA-Z0-9_-]{1,64}$'"},
		{"long name", stubs.Anthropic, `{"max_tokens": 1, "tools": [{"name": "` + long + `"}]}`, "tools: name '" + long + "' does not match '^[a-zA-Z0-9_-]{1,64}$'"},
		{"no name", stubs.Anthropic, `{"max_tokens": 1, "tools": [{}]}`, "tools: name '' does not match '^[a-zA-Z0-9_-]{1,64}$'"},
		{"same name", stubs.OpenAI, `{"tools": [{"function": {"name": "a"}}, {"function": {"name": "a"}}]}`, "tools: tool names must be unique"},
		{"no max_tokens", stubs.Anthropic, `{"messages": []}`, "max_tokens: Field required"},
		{"zero max_tokens", stubs.Anthropic, `{"max_tokens": 0}`, "max_tokens: Field required"},
		{"no content", stubs.OpenAI, `{"messages": [{"role": "user"}]}`, "messages: content is missing"},
		{"result without call", stubs.OpenAI, `{"messages": [{"role": "tool", "tool_call_id": "x", "content": ""}]}`,
			"messages: no tool call for the result(s) ['x']"},
		{"call without result", stubs.OpenAI, `{"messages": [{"role": "assistant", "tool_calls": [{"id": "b"}, {"id": "a"}]}]}`,
			"messages: tool call(s) ['a', 'b'] have no result"},
		{"call passed over", stubs.OpenAI, `{"messages": [{"role": "assistant", "tool_calls": [{"id": "a"}]}, {"role": "user", "content": "x"}]}`,
			"messages: tool call(s) ['a'] have no result"},
		{"calls answered one by one", stubs.OpenAI, `{"messages": [{"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]},
			{"role": "tool", "tool_call_id": "a", "content": ""}, {"role": "tool", "tool_call_id": "b", "content": ""}]}`, ""},
		{"calls must be answered in one go", stubs.Anthropic, `{"max_tokens": 1, "messages": [
			{"role": "assistant", "content": [{"type": "tool_use", "id": "a"}, {"type": "tool_use", "id": "b"}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]}`,
			"messages: tool call(s) ['b'] have no result"},
		{"answered in one go", stubs.Anthropic, `{"max_tokens": 1, "messages": [
			{"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]}`, ""},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind)+" "+tt.name, func(t *testing.T) {
			if got := stubs.Refusal(tt.kind, decode(t, tt.body)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
