package openai

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

// events writes a stream whose events have the given choices.
func events(choices ...string) string {
	var out strings.Builder
	for _, c := range choices {
		fmt.Fprintf(&out, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[%s]}\n\n", c)
	}
	return out.String()
}

func delta(fields string) string { return `{"index":0,"delta":{` + fields + `},"finish_reason":null}` }

const stop = `{"index":0,"delta":{},"finish_reason":"stop"}`

func TestStream(t *testing.T) {
	s := serve(t, modeltest.Text("Hello, wörld: 日本!"), modeltest.Calls(modeltest.CallOf("add", `{"a":9007199254740993}`), modeltest.CallOf("fs.list", `{}`)))
	turn, shown, err := s.Stream()
	if err != nil || turn.Text != "Hello, wörld: 日本!" || len(shown) < 2 || strings.Join(shown, "") != turn.Text || turn.Usage != (model.Usage{InputTokens: 10, OutputTokens: 5}) || turn.Stop != "stop" {
		t.Errorf("got %+v, shown %q, %v", turn, shown, err)
	}
	body := s.Requests()[0].Body
	if body["stream"] != true || !reflect.DeepEqual(body["stream_options"], map[string]any{"include_usage": true}) {
		t.Errorf("asked %v", body)
	}
	turn, shown, err = s.Stream()
	want := []model.ToolCall{{ID: "call_2_0", Name: "add", Args: json.RawMessage(`{"a":9007199254740993}`)}, {ID: "call_2_1", Name: "mcp__fs__list", Args: json.RawMessage(`{}`)}}
	if err != nil || !reflect.DeepEqual(turn.Calls, want) || shown != nil {
		t.Errorf("got %s, shown %q, %v", turn.Calls, shown, err)
	}
}

func TestStreamCalls(t *testing.T) {
	piece := func(fields string) string { return delta(`"tool_calls":[` + fields + `]`) }
	two := []model.ToolCall{{ID: "a", Name: "add", Args: json.RawMessage(`{"a":1}`)}, {ID: "b", Name: "add", Args: json.RawMessage(`{"a":2}`)}}
	for _, tt := range []struct {
		name   string
		pieces []string
		want   []model.ToolCall
	}{
		{"B19 later pieces with null", []string{
			piece(`{"index":0,"id":"a","type":"function","function":{"name":"add","arguments":""}}`),
			piece(`{"index":0,"id":null,"type":null,"function":{"name":null,"arguments":"{\"a\""}}`),
			piece(`{"index":0,"id":"","function":{"name":"","arguments":":1}"}}`)}, two[:1]},
		{"B20 every index 0", []string{
			piece(`{"index":0,"id":"a","function":{"name":"add","arguments":"{\"a\":1}"}}`),
			piece(`{"index":0,"id":"b","function":{"name":"add","arguments":"{\"a\":2}"}}`)}, two},
		{"B20 every index 0, in pieces", []string{
			piece(`{"index":0,"id":"a","function":{"name":"add","arguments":"{\"a\":"}}`), piece(`{"index":0,"function":{"arguments":"1}"}}`),
			piece(`{"index":0,"id":"b","function":{"name":"add","arguments":"{\"a\":"}}`), piece(`{"index":0,"function":{"arguments":"2}"}}`)}, two},
		{"no index", []string{
			piece(`{"id":"a","function":{"name":"add","arguments":"{\"a\":"}}`), piece(`{"function":{"arguments":"1}"}}`),
			piece(`{"id":"b","function":{"name":"add","arguments":"{\"a\":2}"}}`)}, two},
		{"interleaved", []string{
			piece(`{"index":0,"id":"a","function":{"name":"add","arguments":"{\"a\":"}},{"index":1,"id":"b","function":{"name":"add","arguments":"{\"a\":"}}`),
			piece(`{"index":1,"function":{"arguments":"2}"}},{"index":0,"function":{"arguments":"1}"}}`)}, two},
		{"the id in every piece", []string{
			piece(`{"index":0,"id":"a","function":{"name":"add","arguments":"{\"a\":"}}`), piece(`{"index":0,"id":"a","function":{"name":"add","arguments":"1}"}}`)}, two[:1]},
		{"no ids, no index, whole calls", []string{
			piece(`{"function":{"name":"add","arguments":{"a":1}}}`), piece(`{"function":{"name":"add","arguments":{"a":2}}}`)},
			[]model.ToolCall{{ID: "call_1", Name: "add", Args: json.RawMessage(`{"a":1}`)}, {ID: "call_2", Name: "add", Args: json.RawMessage(`{"a":2}`)}}},
		{"the id comes late", []string{
			piece(`{"index":0,"function":{"name":"add","arguments":"{\"a\":"}}`), piece(`{"index":0,"id":"a","function":{"arguments":"1}"}}`)}, two[:1]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, modeltest.Stream(events(append(tt.pieces, stop)...)+"data: [DONE]\n\n"))
			turn, _, err := s.Stream()
			if err != nil || !reflect.DeepEqual(turn.Calls, tt.want) {
				t.Errorf("got %s, %v, want %s", turn.Calls, err, tt.want)
			}
		})
	}
}

func TestStreamForms(t *testing.T) {
	text := delta(`"content":"hello"`)
	for name, raw := range map[string]string{
		"as usual":                  events(text, stop) + "data: [DONE]\n\n",
		"without [DONE]":            events(text, stop),
		"without the last empty":    strings.TrimSuffix(events(text, stop), "\n"),
		"without any last line end": strings.TrimSuffix(events(text, stop), "\n\n"),
		"CRLF":                      strings.ReplaceAll(events(text, stop)+"data: [DONE]\n\n", "\n", "\r\n"),
		"comments and other fields": ": ping\n\nretry: 5\nid: 7\nevent: x\n" + events(text) + ": ping\n\n\n" + events(stop),
		"no space after data":       strings.ReplaceAll(events(text, stop), "data: ", "data:"),
		"one event on two lines":    strings.ReplaceAll(events(text, stop), `,"choices"`, ",\ndata: \"choices\""),
		"usage at the end":          events(text, stop) + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n",
		"null choices":              events(text) + "data: {\"choices\":null}\n\n" + events(stop),
		"stop beside the text":      events(`{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}`),
		"an empty data line":        "data:\n\n" + events(text, stop),
		"many empty pieces":         strings.Repeat(events(delta(`"content":""`)), 1000) + events(text, stop),
		"another choice":            events(text, `{"index":1,"delta":{"content":"other"},"finish_reason":"stop"}`, stop),
		"delta null":                events(text, `{"index":0,"delta":null,"finish_reason":"stop"}`),
		"what follows [DONE]":       events(text, stop) + "data: [DONE]\n\n" + events(text),
	} {
		t.Run(name, func(t *testing.T) {
			turn, shown, err := serve(t, modeltest.Stream(raw)).Stream()
			if err != nil || turn.Text != "hello" || strings.Join(shown, "") != "hello" {
				t.Errorf("got %+v, shown %q, %v", turn, shown, err)
			}
		})
	}
}

func TestStreamFailures(t *testing.T) {
	text := delta(`"content":"hello"`)
	for _, tt := range []struct {
		name string
		turn modeltest.Turn
		kind model.Kind
		want string
	}{
		{"ends without a stop reason", modeltest.Stream(events(text)), model.KindConnection, "the answer was cut off before its end"},
		{"[DONE] without a stop reason", modeltest.Stream(events(text) + "data: [DONE]\n\n"), model.KindConnection, "cut off"},
		{"empty", modeltest.Stream(""), model.KindConnection, "cut off"},
		{"only [DONE]", modeltest.Stream("data: [DONE]\n\n"), model.KindConnection, "cut off"},
		{"cut within an event", modeltest.Stream(events(text) + `data: {"choices":[{"ind`), model.KindConnection, "cut off"},
		{"the connection drops", modeltest.Turn{Text: ptr(strings.Repeat("x", 100)), CutAt: 600}, model.KindConnection, "was closed before the whole answer had come"},
		{"no JSON", modeltest.Stream("data: hello\n\n"), model.KindAnswer, "not a JSON object"},
		{"an error", modeltest.Stream(events(text) + "data: {\"error\":{\"message\":\"overloaded\"}}\n\n"), model.KindAnswer, "the service reports an error: overloaded"},
		{"an error as text", modeltest.Stream("data: {\"error\":\"out of memory\"}\n\n"), model.KindAnswer, "out of memory"},
		{"another shape", modeltest.Stream(events(delta(`"content":{}`), stop)), model.KindAnswer, "neither text nor a list"},
		{"a huge event", modeltest.Stream("data: " + strings.Repeat("x", 17<<20)), model.KindAnswer, "larger than 16 MiB"},
		{"a page", modeltest.Turn{Raw: ptr("<html>hi"), Header: map[string]string{"Content-Type": "text/html"}}, model.KindAnswer, "a web page, not JSON"},
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

func TestBrokenStreams(t *testing.T) {
	modeltest.BrokenStreams(t, serve, events(delta(`"content":"hello"`)))
}

func TestStreamRecoversBeforeItBegins(t *testing.T) {
	s := serve(t, modeltest.Status(500, `{}`), modeltest.Turn{Drop: true}, modeltest.Text("fine"))
	if turn, _, err := s.Stream(); err != nil || turn.Text != "fine" {
		t.Errorf("got %+v, %v", turn, err)
	}
}

func TestStreamContextEnds(t *testing.T) {
	s := serve(t, modeltest.Text(strings.Repeat("word ", 1000)))
	ctx, cancel := context.WithCancel(context.Background())
	req := modeltest.Question("q")
	req.Stream = func(string) { cancel() }
	if turn, err := s.Complete(ctx, req); err != context.Canceled && turn == nil {
		t.Errorf("got %+v, %v", turn, err)
	}
}

// Whatever a service answers, there is a turn or an error in words.
func FuzzAnswer(f *testing.F) {
	f.Add(body(`{"message":{"content":"x"},"finish_reason":"stop"}`), false)
	f.Add(body(`{"message":{"tool_calls":[{"id":1,"index":-1,"function":{"arguments":[]}}]},"finish_reason":"stop"}`), false)
	f.Add(events(delta(`"tool_calls":[{"index":0,"function":{"name":"add"}}]`), stop), true)
	f.Add("data: {\"error\":null,\"choices\":[{}]}\n\n", true)
	s := modeltest.New(modeltest.OpenAI)
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, raw string, stream bool) {
		answer := modeltest.Raw(raw)
		req := modeltest.Question("q")
		if stream {
			answer = modeltest.Stream(raw)
			req.Stream = func(string) {}
		}
		s.Add(answer)
		turn, err := New(model.Options{BaseURL: s.URL, HTTPClient: s.Client(), Retries: new(int)}).Complete(context.Background(), req)
		if (turn == nil) == (err == nil) {
			t.Errorf("got %+v and %v", turn, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("error %q", err)
		}
	})
}
