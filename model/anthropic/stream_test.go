package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/modeltest"
)

// events writes a stream of events given as data.
func events(data ...string) string {
	var out strings.Builder
	for _, d := range data {
		var e struct{ Type string }
		_ = json.Unmarshal([]byte(d), &e)
		fmt.Fprintf(&out, "event: %s\ndata: %s\n\n", e.Type, d)
	}
	return out.String()
}

const (
	start = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"usage":{"input_tokens":7,"output_tokens":1}}}`
	begin = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	hello = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`
	block = `{"type":"content_block_stop","index":0}`
	stop  = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`
	end   = `{"type":"message_stop"}`
)

func TestStream(t *testing.T) {
	s := serve(t, modeltest.Text("Hello, wörld: 日本!"))
	turn, shown, err := s.Stream()
	if err != nil || turn.Text != "Hello, wörld: 日本!" || len(shown) < 2 || strings.Join(shown, "") != turn.Text || turn.Usage != (model.Usage{InputTokens: 10, OutputTokens: 5}) || turn.Stop != "end_turn" {
		t.Errorf("got %+v, shown %q, %v", turn, shown, err)
	}
	if s.Requests()[0].Body["stream"] != true {
		t.Errorf("asked %v", s.Requests()[0].Body)
	}
}

func TestServerThatDoesNotStream(t *testing.T) {
	s := serve(t, modeltest.Turn{Text: ptr("a <b>"), Calls: []modeltest.Call{modeltest.CallOf("add", `{"a":9007199254740993}`)}})
	s.NoStream = true
	turn, shown, err := s.Stream()
	want := []model.ToolCall{{ID: "call_1_0", Name: "add", Args: json.RawMessage(`{"a":9007199254740993}`)}}
	if err != nil || turn.Text != "a <b>" || strings.Join(shown, "") != "a <b>" || !reflect.DeepEqual(turn.Calls, want) || turn.Usage != (model.Usage{InputTokens: 10, OutputTokens: 5}) {
		t.Errorf("got %+v, shown %q, %v", turn, shown, err)
	}
}

func TestStreamForms(t *testing.T) {
	usual := events(start, begin, hello, block, stop, end)
	for name, raw := range map[string]string{
		"as usual":                 usual,
		"CRLF":                     strings.ReplaceAll(usual, "\n", "\r\n"),
		"pings, comments":          ": hi\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n" + usual,
		"unknown events":           events(start, `{"type":"weather","is":"fine"}`, begin, hello, block, stop, end),
		"no names":                 strings.ReplaceAll(usual, "event: ", "id: "),
		"without the stop event":   events(start, begin, hello, block, stop),
		"without the last line":    strings.TrimSuffix(usual, "\n\n"),
		"data on two lines":        strings.ReplaceAll(usual, `,"index"`, ",\ndata: \"index\""),
		"OpenAI's end":             usual + "data: [DONE]\n\n",
		"an unknown kind of delta": events(start, begin, `{"type":"content_block_delta","index":0,"delta":{"type":"smell_delta"}}`, hello, block, stop, end),
	} {
		t.Run(name, func(t *testing.T) {
			turn, shown, err := serve(t, modeltest.Stream(raw)).Stream()
			if err != nil || turn.Text != "hello" || strings.Join(shown, "") != "hello" || turn.Usage != (model.Usage{InputTokens: 7, OutputTokens: 9}) {
				t.Errorf("got %+v, shown %q, %v", turn, shown, err)
			}
		})
	}
}

// B03: arguments that were cut off stay as they came; nobody makes {} of them.
func TestB03CutOffArguments(t *testing.T) {
	raw := events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"add","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\": 9007199254740993, \"b"}}`,
		block, `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}`, end)
	s := serve(t, modeltest.Stream(raw), modeltest.Text("done"))
	turn, _, err := s.Stream()
	want := []model.ToolCall{{ID: "t", Name: "add", Args: json.RawMessage(`{"a": 9007199254740993, "b`)}}
	if err != nil || !turn.Truncated || !reflect.DeepEqual(turn.Calls, want) {
		t.Fatalf("got %+v, %v", turn, err)
	}
	// The wire has no form for such arguments, but the call must be answered.
	req := modeltest.ToolRequest()
	req.Messages = append(req.Messages, turn.Message(), model.Message{Role: model.RoleTool, Results: []model.ToolResult{{CallID: "t", Text: "error: no"}}})
	s.Ask(t, req)
	if got := modeltest.Summary(s.Requests()[1:]); !strings.Contains(got, "assistant:call({}) | user:result(error: no)") {
		t.Errorf("asked %s", got)
	}
}

func TestStreamFailures(t *testing.T) {
	for _, tt := range []struct {
		name string
		turn modeltest.Turn
		kind model.Kind
		want string
	}{
		{"ends without a stop reason", modeltest.Stream(events(start, begin, hello, block)), model.KindConnection, "the answer was cut off before its end"},
		{"message_stop without a stop reason", modeltest.Stream(events(start, begin, hello, block, end)), model.KindConnection, "cut off"},
		{"empty", modeltest.Stream(""), model.KindConnection, "cut off"},
		{"cut within an event", modeltest.Stream(events(start, begin) + "event: content_block_delta\ndata: {\"type\":"), model.KindConnection, "cut off"},
		{"the connection drops", modeltest.Turn{Text: ptr(strings.Repeat("x", 100)), CutAt: 600}, model.KindConnection, "was closed before the whole answer had come"},
		{"an error", modeltest.Stream(events(start, begin, hello) + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"), model.KindAnswer, "the service reports an error: Overloaded"},
		{"no JSON", modeltest.Stream("event: message_start\ndata: hello\n\n"), model.KindAnswer, "not a JSON object"},
		{"no start", modeltest.Stream(events(begin, hello, stop)), model.KindAnswer, "does not begin with a message"},
		{"a start without a message", modeltest.Stream(events(`{"type":"message_start"}`)), model.KindAnswer, "begins without a message"},
		{"a block without a kind", modeltest.Stream(events(start, `{"type":"content_block_start","index":0}`)), model.KindAnswer, "not made of blocks"},
		{"a block out of order", modeltest.Stream(events(start, strings.Replace(begin, `"index":0`, `"index":5`, 1))), model.KindAnswer, "do not fit together"},
		{"a piece of no block", modeltest.Stream(events(start, hello, stop)), model.KindAnswer, "do not fit together"},
		{"a negative index", modeltest.Stream(events(start, begin, strings.Replace(hello, `"index":0`, `"index":-1`, 1))), model.KindAnswer, "do not fit together"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.turn, modeltest.Text("again"))
			req := modeltest.Question("q")
			req.Stream = func(string) {}
			s.Options.Retries = new(int)
			s.Fail(t, req, tt.kind, tt.want)
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestBrokenStreams(t *testing.T) { modeltest.BrokenStreams(t, serve, events(start, begin, hello)) }

func TestStreamRecoversBeforeItBegins(t *testing.T) {
	s := serve(t, modeltest.Status(500, `{}`), modeltest.Turn{Drop: true}, modeltest.Text("fine"))
	if turn, _, err := s.Stream(); err != nil || turn.Text != "fine" {
		t.Errorf("got %+v, %v", turn, err)
	}
}

// Whatever a service answers, there is a turn or an error in words.
func FuzzAnswer(f *testing.F) {
	f.Add(answer(`{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"n","input":{}}`, ended), false)
	f.Add(answer(`{"type":"thinking"},{"type":"server_tool_use","input":1}`, ended), false)
	f.Add(events(start, begin, hello, block, stop, end), true)
	f.Add(events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}`, block, stop), true)
	s := modeltest.New(modeltest.Anthropic)
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, raw string, stream bool) {
		first := modeltest.Raw(raw)
		req := modeltest.Question("q")
		if stream {
			first = modeltest.Stream(raw)
			req.Stream = func(string) {}
		}
		s.Add(first)
		c := New(model.Options{BaseURL: s.URL, HTTPClient: s.Client(), Retries: new(int)})
		turn, err := c.Complete(context.Background(), req)
		if (turn == nil) == (err == nil) {
			t.Errorf("got %+v and %v", turn, err)
		}
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("error %q", err)
			}
			return
		}
		// It can be sent back: the library finds a form for it.
		req.Messages = append(req.Messages, turn.Message(), model.Message{Role: model.RoleUser, Text: "go on"})
		req.Stream = nil
		s.Add(modeltest.Text("done"))
		_, _ = c.Complete(context.Background(), req)
	})
}
