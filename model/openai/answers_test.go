package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/modeltest"
)

func body(s string) string {
	return `{"id":"x","object":"chat.completion","created":0,"model":"m","choices":[` + s + `]}`
}

// Answers of many shapes: what local servers and gateways send.
func TestAnswers(t *testing.T) {
	call := func(fields string) string {
		return body(`{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` + fields + `]},"finish_reason":"tool_calls"}`)
	}
	tests := []struct {
		name, raw string
		text      string
		calls     []model.ToolCall
	}{
		{"B10 content null", body(`{"message":{"content":null},"finish_reason":"stop"}`), "", nil},
		{"B10 content absent", body(`{"message":{"role":"assistant"},"finish_reason":"stop"}`), "", nil},
		{"B10 content empty", body(`{"message":{"content":""},"finish_reason":"stop"}`), "", nil},
		{"B11 tool_calls empty", body(`{"message":{"content":"hello","tool_calls":[]},"finish_reason":"stop"}`), "hello", nil},
		{"tool_calls null", body(`{"message":{"content":"hello","tool_calls":null},"finish_reason":"stop"}`), "hello", nil},
		{"content in parts", body(`{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"},7]},"finish_reason":"stop"}`), "ab", nil},
		{"refusal", body(`{"message":{"content":null,"refusal":"I may not."},"finish_reason":"stop"}`), "I may not.", nil},
		{"unknown stop reason", body(`{"message":{"content":"x"},"finish_reason":"tired"}`), "x", nil},
		{"usage of another shape", `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1.0,"completion_tokens":null},"created":"now","id":5}`, "x", nil},
		{"several choices", body(`{"message":{"content":"x"},"finish_reason":"stop"},{"message":{"content":"y"},"finish_reason":"stop"}`), "x", nil},
		{"B04 arguments as an object", call(`{"function":{"name":"add","arguments":{"a": 9007199254740993}}}`), "", []model.ToolCall{{ID: "call_1", Name: "add", Args: json.RawMessage(`{"a": 9007199254740993}`)}}},
		{"B05 empty ids", call(`{"id":"","function":{"name":"add","arguments":"{}"}},{"id":null,"function":{"name":"add","arguments":"{}"}}`), "",
			[]model.ToolCall{{ID: "call_1", Name: "add", Args: json.RawMessage(`{}`)}, {ID: "call_2", Name: "add", Args: json.RawMessage(`{}`)}}},
		{"equal ids", call(`{"id":"z","function":{"name":"add","arguments":"{}"}},{"id":"z","function":{"name":"add","arguments":"{}"}}`), "",
			[]model.ToolCall{{ID: "z", Name: "add", Args: json.RawMessage(`{}`)}, {ID: "call_1", Name: "add", Args: json.RawMessage(`{}`)}}},
		{"an id that is a number", call(`{"id":5,"function":{"name":"add","arguments":"{}"}}`), "", []model.ToolCall{{ID: "5", Name: "add", Args: json.RawMessage(`{}`)}}},
		{"B01 broken arguments", call(`{"id":"1","function":{"name":"add","arguments":"{\"a\": "}},{"id":"2","function":{"name":"add","arguments":"{\"a\":2}"}}`), "",
			[]model.ToolCall{{ID: "1", Name: "add", Args: json.RawMessage(`{"a": `)}, {ID: "2", Name: "add", Args: json.RawMessage(`{"a":2}`)}}},
		{"no arguments", call(`{"id":"1","function":{"name":"add"}},{"id":"2","function":{"name":"add","arguments":" "}},{"id":"3","function":{"name":"add","arguments":null}}`), "",
			[]model.ToolCall{{ID: "1", Name: "add", Args: json.RawMessage(`{}`)}, {ID: "2", Name: "add", Args: json.RawMessage(`{}`)}, {ID: "3", Name: "add", Args: json.RawMessage(`{}`)}}},
		{"B12 a tool nobody offered", call(`{"id":"1","function":{"name":"nope","arguments":"[1]"}}`), "", []model.ToolCall{{ID: "1", Name: "nope", Args: json.RawMessage(`[1]`)}}},
		{"a call without a function", call(`{"id":"1"}`), "", []model.ToolCall{{ID: "1", Args: json.RawMessage(`{}`)}}},
	}
	for _, tt := range tests {
		for _, stream := range []bool{false, true} { // the latter: a server that does not stream
			t.Run(fmt.Sprintf("%s/%v", tt.name, stream), func(t *testing.T) {
				s := serve(t, modeltest.Raw(tt.raw), modeltest.Text("done"))
				req := modeltest.ToolRequest()
				var shown strings.Builder
				if stream {
					req.Stream = func(s string) { shown.WriteString(s) }
				}
				turn := s.Ask(t, req)
				if turn.Text != tt.text || fmt.Sprint(turn.Calls) != fmt.Sprint(tt.calls) {
					t.Fatalf("got %q %s, want %q %s", turn.Text, turn.Calls, tt.text, tt.calls)
				}
				if stream && tt.name != "refusal" && shown.String() != tt.text {
					t.Errorf("shown %q", shown.String())
				}
				answerAll(t, s, req, turn)
			})
		}
	}
}

// answerAll sends the turn and results for its calls back: the strict server
// must take them (B05, B08).
func answerAll(t *testing.T, s *modeltest.Service, req *model.Request, turn *model.Turn) {
	t.Helper()
	req.Messages = append(req.Messages, turn.Message())
	results := model.Message{Role: model.RoleTool}
	for _, c := range turn.Calls {
		results.Results = append(results.Results, model.ToolResult{CallID: c.ID, Name: c.Name, Text: "r"})
	}
	if len(turn.Calls) > 0 {
		req.Messages = append(req.Messages, results)
	} else {
		req.Messages = append(req.Messages, model.Message{Role: model.RoleUser, Text: "go on"})
	}
	if last := s.Ask(t, req); last.Text != "done" {
		t.Errorf("then got %+v", last)
	}
}

// Ids that a server makes up again each turn do not meet in a conversation.
func TestIDsStayUnique(t *testing.T) {
	again := `{"message":{"tool_calls":[{"id":"%s","function":{"name":"add","arguments":"{}"}}]},"finish_reason":"tool_calls"}`
	for _, id := range []string{"", "same"} {
		raw := body(fmt.Sprintf(again, id))
		s := serve(t, modeltest.Raw(raw), modeltest.Raw(raw), modeltest.Text("done"))
		req := modeltest.ToolRequest()
		seen := map[string]bool{}
		for range 2 {
			turn := s.Ask(t, req)
			if c := turn.Calls[0]; c.ID == "" || seen[c.ID] {
				t.Fatalf("id %q again", c.ID)
			}
			seen[turn.Calls[0].ID] = true
			req.Messages = append(req.Messages, turn.Message(), model.Message{Role: model.RoleTool, Results: []model.ToolResult{{CallID: turn.Calls[0].ID, Text: "r"}}})
		}
		s.Ask(t, req)
	}
}

// B07: a text cut off by the limit is marked.
func TestB07Truncated(t *testing.T) {
	for _, stream := range []bool{false, true} {
		s := serve(t, modeltest.Turn{Text: ptr("half an ans"), Finish: "length"})
		req := modeltest.Question("q")
		if stream {
			req.Stream = func(string) {}
		}
		if turn := s.Ask(t, req); !turn.Truncated || turn.Text != "half an ans" || turn.Stop != "length" {
			t.Errorf("got %+v", turn)
		}
	}
}
