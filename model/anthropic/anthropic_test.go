package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
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
	return modeltest.Serve(t, modeltest.Anthropic, func(o model.Options) model.Client { return New(o) }, turns...)
}

func ptr[T any](v T) *T { return &v }

func TestDefaults(t *testing.T) {
	c := New(model.Options{})
	var _ model.Client = c
	if c.Provider() != "anthropic" || c.ModelID() != "claude-sonnet-5" || c.options.BaseURL != "https://api.anthropic.com" || *c.options.MaxTokens != 1024 {
		t.Errorf("got %+v", c)
	}
	for _, url := range []string{"http://h", "http://h/", "http://h/v1", "http://h/v1/"} {
		if got := New(model.Options{BaseURL: url}).options.BaseURL; got != "http://h" {
			t.Errorf("%s gives %s", url, got)
		}
	}
}

func TestPlainQuestion(t *testing.T) {
	s := serve(t, modeltest.Text("teal"))
	turn := s.Ask(t, modeltest.Question("Name a colour."))
	if turn.Text != "teal" || turn.Calls != nil || turn.Stop != "end_turn" || turn.Truncated || turn.Confidence != nil || turn.Usage != (model.Usage{InputTokens: 10, OutputTokens: 5}) {
		t.Errorf("got %+v", turn)
	}
	if got, want := modeltest.Summary(s.Requests())+modeltest.Sent(modeltest.Anthropic, s.Requests()), "tools= user:Name a colour.\nanthropic /v1/messages model=claude-sonnet-5 max_tokens=1024 key=test-key-1234\n"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	h := s.Requests()[0].Header
	if h.Get("Authorization") != "Bearer test-key-1234" || h.Get("X-Api-Key") != "test-key-1234" || h.Get("Traceparent") != "" {
		t.Errorf("headers %v", h)
	}
}

// Nothing of the environment counts, not even for what is not given.
func TestEnvironmentIsIgnored(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"} {
		t.Setenv(name, "from-the-environment")
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Own: from-the-environment")
	s := serve(t, modeltest.Text("x"), modeltest.Text("y"))
	s.Ask(t, modeltest.Question("q"))
	s.Options.APIKey = ""
	s.Ask(t, modeltest.Question("q"))
	if h := s.Requests()[1].Header; h.Get("Authorization") != "" || h.Get("X-Api-Key") != "" {
		t.Errorf("without a key sent %v", h)
	}
	for _, r := range s.Requests() {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "from-the-environment") {
				t.Errorf("%s: %v", name, values)
			}
		}
	}
}

// B17, B18: the options go out as given, whatever the library thinks of them.
func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		temperature *float64
		limit       *int64
		want        string
	}{
		{ptr(0.0), ptr(int64(7)), "model=m temperature=0 max_tokens=7"},
		{ptr(0.25), nil, "model=m temperature=0.25 max_tokens=1024"},
		{nil, ptr(int64(1_000_000)), "model=m max_tokens=1e+06"}, // the library would demand a stream
	} {
		s := serve(t, modeltest.Text("x"))
		s.Options.ModelID, s.Options.Temperature, s.Options.MaxTokens = "m", tt.temperature, tt.limit
		s.Ask(t, modeltest.Question("q"))
		if got := modeltest.Sent(modeltest.Anthropic, s.Requests()); !strings.Contains(got, tt.want+" key=") {
			t.Errorf("sent %q, want %q", got, tt.want)
		}
		if raw := string(s.Requests()[0].Raw); (tt.temperature == nil) == strings.Contains(raw, "temperature") {
			t.Errorf("sent %s", raw)
		}
	}
}

func TestSystem(t *testing.T) {
	s := serve(t, modeltest.Text("a"), modeltest.Text("b"), modeltest.Text("c"))
	s.Ask(t, modeltest.Question("q"))
	s.Options.System = "Be brief."
	s.Ask(t, modeltest.Question("q"))
	own := modeltest.Question("q")
	own.System = "Be <long>."
	s.Ask(t, own)
	for i, want := range []string{"", `"system":[{"text":"Be brief.","type":"text"}]`, `"system":[{"text":"Be <long>.","type":"text"}]`} {
		raw := string(s.Requests()[i].Raw)
		if !strings.Contains(raw, want) || want == "" && strings.Contains(raw, "system") {
			t.Errorf("sent %s, want %s", raw, want)
		}
	}
}

// A57: the wire carries text as it is.
func TestA57NoEscapes(t *testing.T) {
	s := serve(t, modeltest.Text(`<i>&</i> 😀`))
	text := "<b> & \"q\" \\u003c \u2028 世界"
	if turn := s.Ask(t, modeltest.Question(text)); turn.Text != `<i>&</i> 😀` {
		t.Errorf("got %q", turn.Text)
	}
	got := s.Requests()[0]
	if raw := string(got.Raw); !strings.Contains(raw, `<b> & \"q\" \\u003c `) {
		t.Errorf("sent %s", raw)
	}
	if got := modeltest.Summary(s.Requests()); got != `tools= user:<b> & "q" \\u003c \u2028 \u4e16\u754c`+"\n" {
		t.Errorf("read back %s", got)
	}
}

// B08, B09: all results of a turn go into one message, blank texts are not
// repeated, and a result without text gets some.
func TestToolLoop(t *testing.T) {
	for _, stream := range []bool{false, true} {
		s := serve(t,
			modeltest.Turn{Text: ptr(""), Calls: []modeltest.Call{modeltest.CallOf("add", `{"a":9007199254740993,"b":1.0}`), modeltest.CallOf("fs.list", `{}`), modeltest.CallOf("nope", `{"<":"&"}`)}},
			modeltest.Text("@results"))
		req := modeltest.ToolRequest()
		if stream {
			req.Stream = func(string) {}
		}
		turn := s.Ask(t, req)
		want := []model.ToolCall{{ID: "call_1_0", Name: "add", Args: json.RawMessage(`{"a":9007199254740993,"b":1.0}`)}, {ID: "call_1_1", Name: "mcp__fs__list", Args: json.RawMessage(`{}`)}, {ID: "call_1_2", Name: "nope", Args: json.RawMessage(`{"<":"&"}`)}}
		if !reflect.DeepEqual(turn.Calls, want) || turn.Stop != "tool_use" {
			t.Fatalf("got %s", turn.Calls)
		}
		for _, keepRaw := range []bool{true, false} { // a replayed turn has no Raw
			message := turn.Message()
			if !keepRaw {
				message.Raw = nil
				s.Add(modeltest.Text("@results"))
			}
			again := *req
			again.Messages = append(append([]model.Message{}, req.Messages...), message, model.Message{Role: model.RoleTool, Results: []model.ToolResult{
				{CallID: "call_1_0", Text: "9007199254740994"}, {CallID: "call_1_1", Text: " \n"}, {CallID: "call_1_2", Text: "error: no such tool 'nope'", IsError: true}}})
			if turn := s.Ask(t, &again); turn.Text != "9007199254740994|(no output)|error: no such tool 'nope'" {
				t.Errorf("got %q", turn.Text)
			}
			last := s.Requests()[len(s.Requests())-1]
			line := "tools=add,fs.list user:q | assistant:call({\"a\": 9007199254740993, \"b\": 1.0}) call({}) call({\"<\": \"&\"}) | user:result(9007199254740994) result((no output)) result(error: no such tool 'nope')\n"
			if got := modeltest.Summary([]modeltest.Request{last}); got != line {
				t.Errorf("asked\n%swant\n%s", got, line)
			}
			if raw := string(last.Raw); strings.Count(raw, `"is_error":true`) != 1 || strings.Contains(raw, `"is_error":false`) || !strings.Contains(raw, `9007199254740993,"b":1.0`) {
				t.Errorf("sent %s", raw)
			}
		}
	}
}

func TestImages(t *testing.T) {
	s := serve(t, modeltest.Text("seen"))
	req := modeltest.Question("q")
	req.Messages = append(req.Messages,
		model.Message{Role: model.RoleAssistant, Calls: []model.ToolCall{{ID: "1", Name: "shot", Args: json.RawMessage(`{}`)}}},
		model.Message{Role: model.RoleTool, Results: []model.ToolResult{{CallID: "1", Text: "[image]", Images: []model.Image{{MIME: "image/png", Data: []byte{1, 2}}, {MIME: "image/tiff", Data: []byte{3}}}}}})
	s.Ask(t, req)
	raw := string(s.Requests()[0].Raw)
	if !strings.Contains(raw, `"media_type":"image/png"`) || !strings.Contains(raw, `"data":"AQI="`) || strings.Contains(raw, "tiff") {
		t.Errorf("sent %s", raw)
	}
}

// A26 to A29: schemas are completed on a copy; what the service refuses at the
// root is told in the description.
func TestSchemas(t *testing.T) {
	union := json.RawMessage(`{"type":"object","properties":{"a":{},"xs":{"type":"array"}},"anyOf":[{"required":["a"]},{"required": ["b"]}],"$defs":{"n":{"items":{"$ref":"#/$defs/n"}}}}`)
	before := string(union)
	req := modeltest.Question("q")
	req.Tools = []model.ToolSpec{{Name: "u", Description: "Does.", Schema: union}, {Name: "v", Schema: union}, {Name: "w"}, {Name: "x", Schema: json.RawMessage(`7`)}}
	s := serve(t, modeltest.Text("ok"))
	s.Ask(t, req)
	if string(union) != before {
		t.Error("the given schema was changed")
	}
	raw := string(s.Requests()[0].Raw)
	told := `The arguments must also satisfy this JSON Schema: {\"anyOf\": [{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}"`
	for _, want := range []string{
		`"input_schema":{"type":"object","properties":{"a":{},"xs":{"type":"array","items":{}}},"$defs":{"n":{"items":{"$ref":"#/$defs/n"}}}}`,
		`"description":"Does.\n\n` + told, `"description":"` + told, `{"input_schema":{"type":"object","properties":{}},"name":"w"}`, `{"input_schema":{"type":"object","properties":{}},"name":"x"}`,
	} {
		if !strings.Contains(raw, want) {
			t.Errorf("%s\nis not in\n%s", want, raw)
		}
	}
}

func TestStructuredAnswer(t *testing.T) {
	s := serve(t, modeltest.Text(`{"value":4}`))
	req := modeltest.Question("q")
	req.Schema = json.RawMessage(`{"type":"object","properties":{"value":{"type":"integer","maximum":12345678901234567890},"o":{"type":"object","properties":{}}},"required":["value"]}`)
	s.Ask(t, req)
	want := `"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"value":{"type":"integer","maximum":12345678901234567890},"o":{"type":"object","properties":{},"additionalProperties":false}},"required":["value"],"additionalProperties":false}}}`
	if raw := string(s.Requests()[0].Raw); !strings.Contains(raw, want) {
		t.Errorf("sent %s", raw)
	}
}

// A model without structured answers is asked in words.
func TestStructuredAnswerInWords(t *testing.T) {
	s := serve(t, modeltest.Status(400, `{"error":{"message":"output_config.format: this model does not support structured outputs"}}`), modeltest.Text(`{}`))
	req := modeltest.Question("q")
	req.Schema = json.RawMessage(`{"type":"object"}`)
	s.Ask(t, req)
	last := s.Requests()[1]
	if raw := string(last.Raw); last.Body["output_config"] != nil || !strings.Contains(raw, `"text":"Answer with nothing but JSON that satisfies this JSON Schema: {\"type\":\"object\"}"`) {
		t.Errorf("sent %s", raw)
	}
}

func answer(content, rest string) string {
	return `{"id":"m","type":"message","role":"assistant","model":"x","content":[` + content + `],` + rest + `}`
}

const ended = `"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}`

func TestAnswers(t *testing.T) {
	text := `{"type":"text","text":"%s"}`
	for _, tt := range []struct {
		name, raw, text string
		calls           []model.ToolCall
	}{
		{"several blocks", answer(fmt.Sprintf(text, "one ")+`,{"type":"thinking","thinking":"hidden","signature":"s"},`+fmt.Sprintf(text, "two"), ended), "one two", nil},
		{"no blocks", answer("", ended), "", nil},
		{"a block of another kind", answer(`{"type":"hologram","x":{"y":1}},`+fmt.Sprintf(text, "x"), ended), "x", nil},
		{"unknown stop reason", answer(fmt.Sprintf(text, "x"), `"stop_reason":"tired"`), "x", nil},
		{"usage null", answer(fmt.Sprintf(text, "x"), `"stop_reason":"end_turn","usage":null`), "x", nil},
		{"B05 empty ids", answer(`{"type":"tool_use","id":"","name":"add","input":{}},{"type":"tool_use","name":"add","input":null}`, `"stop_reason":"tool_use"`), "",
			[]model.ToolCall{{ID: "call_1", Name: "add", Args: json.RawMessage(`{}`)}, {ID: "call_2", Name: "add", Args: json.RawMessage(`{}`)}}},
		{"input that is no object", answer(`{"type":"tool_use","id":"a","name":"add","input":[1]}`, `"stop_reason":"tool_use"`), "",
			[]model.ToolCall{{ID: "a", Name: "add", Args: json.RawMessage(`[1]`)}}},
		{"B12 a tool nobody offered", answer(`{"type":"tool_use","id":"a","name":"nope","input":{"a":1.0}}`, `"stop_reason":"tool_use"`), "",
			[]model.ToolCall{{ID: "a", Name: "nope", Args: json.RawMessage(`{"a":1.0}`)}}},
	} {
		for _, stream := range []bool{false, true} { // the latter: a server that does not stream
			t.Run(fmt.Sprintf("%s/%v", tt.name, stream), func(t *testing.T) {
				s := serve(t, modeltest.Raw(tt.raw), modeltest.Text("done"))
				req := modeltest.ToolRequest()
				var shown strings.Builder
				if stream {
					req.Stream = func(s string) { shown.WriteString(s) }
				}
				turn := s.Ask(t, req)
				if turn.Text != tt.text || fmt.Sprint(turn.Calls) != fmt.Sprint(tt.calls) || stream && shown.String() != tt.text {
					t.Fatalf("got %q %s, shown %q; want %q %s", turn.Text, turn.Calls, shown.String(), tt.text, tt.calls)
				}
				// The strict server must take the turn back.
				req.Messages = append(req.Messages, turn.Message())
				next := model.Message{Role: model.RoleUser, Text: "go on"}
				if turn.Calls != nil {
					next = model.Message{Role: model.RoleTool}
					for _, c := range turn.Calls {
						next.Results = append(next.Results, model.ToolResult{CallID: c.ID, Text: "r"})
					}
				}
				req.Messages = append(req.Messages, next)
				if last := s.Ask(t, req); last.Text != "done" {
					t.Errorf("then got %+v", last)
				}
				if raw := string(s.Requests()[1].Raw); strings.Contains(tt.raw, "thinking") && !strings.Contains(raw, `"signature":"s"`) || strings.Contains(tt.raw, "hologram") && !strings.Contains(raw, `{"type":"hologram","x":{"y":1}}`) {
					t.Errorf("the echo lost a block: %s", raw)
				}
			})
		}
	}
}

// B07: what a limit cuts off is marked.
func TestB07Truncated(t *testing.T) {
	for _, stop := range []string{"max_tokens", "model_context_window_exceeded"} {
		s := serve(t, modeltest.Turn{Text: ptr("half an ans"), Finish: stop})
		if turn := s.Ask(t, modeltest.Question("q")); !turn.Truncated || turn.Text != "half an ans" || turn.Stop != stop {
			t.Errorf("got %+v", turn)
		}
	}
}

func TestCachedTokensCount(t *testing.T) {
	s := serve(t, modeltest.Raw(answer("", `"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":30,"cache_creation_input_tokens":400}`)))
	if turn := s.Ask(t, modeltest.Question("q")); turn.Usage != (model.Usage{InputTokens: 431, OutputTokens: 2}) {
		t.Errorf("got %+v", turn.Usage)
	}
}

func TestFailures(t *testing.T) {
	say := func(kind, msg string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + msg + `"}}`
	}
	for _, tt := range []struct {
		name string
		turn modeltest.Turn
		sent int
		kind model.Kind
		want string
	}{
		{"401", modeltest.Status(401, say("authentication_error", "invalid x-api-key test-key-1234")), 1, model.KindAuth, "HTTP 401 Unauthorized: invalid x-api-key [key]"},
		{"404", modeltest.Status(404, say("not_found_error", "model: no-such-model")), 1, model.KindRequest, "HTTP 404 Not Found: model: no-such-model"},
		{"400", modeltest.Status(400, say("invalid_request_error", "your credit balance is too low")), 1, model.KindRequest, "HTTP 400 Bad Request: your credit balance is too low"},
		{"429", modeltest.Status(429, say("rate_limit_error", "slow down")), 3, model.KindRateLimit, "HTTP 429 Too Many Requests: slow down"},
		{"500", modeltest.Status(500, say("api_error", "it burns")), 3, model.KindServer, "HTTP 500 Internal Server Error: it burns"},
		{"B16 529", modeltest.Status(529, say("overloaded_error", "Overloaded")), 3, model.KindRateLimit, "HTTP 529 Overloaded: Overloaded"},
		{"B16 a page", modeltest.Turn{Status: 502, Raw: ptr("<html><title>Bad</title>")}, 3, model.KindServer, "HTTP 502 Bad Gateway: a web page titled 'Bad'"},
		{"no body", modeltest.Turn{Status: 503, Raw: ptr("")}, 3, model.KindServer, "HTTP 503 Service Unavailable"},
		{"dropped", modeltest.Turn{Drop: true}, 3, model.KindConnection, "was closed before the whole answer had come"},
		{"B22 cut in the body", modeltest.Turn{Text: ptr(strings.Repeat("x", 500)), CutAt: 200}, 3, model.KindConnection, "was closed before the whole answer had come"},
		{"redirect", modeltest.Turn{Status: 307, Header: map[string]string{"Location": "https://other.example/x"}}, 1, model.KindRequest, "redirected to https://other.example/x; redirects are not followed"},
		{"B22 no JSON", modeltest.Raw("hello"), 1, model.KindAnswer, "the answer is not valid JSON"},
		{"a page with 200", modeltest.Raw("<html><body>Welcome to the proxy</body></html>"), 1, model.KindAnswer, "the service answered with a web page, not JSON"},
		{"nothing with 200", modeltest.Raw(""), 1, model.KindAnswer, "the service answered with nothing"},
		{"another shape", modeltest.Raw(`{"hello": "world"}`), 1, model.KindAnswer, "the answer holds no message"},
		{"a list", modeltest.Raw(`[1]`), 1, model.KindAnswer, "the answer is not a JSON object"},
		{"content of another shape", modeltest.Raw(`{"content":["x"],"stop_reason":"end_turn"}`), 1, model.KindAnswer, "not made of blocks"},
		{"no stop_reason", modeltest.Raw(answer("", `"stop_reason":null`)), 1, model.KindAnswer, "no stop_reason"},
		{"an error with 200", modeltest.Raw(say("api_error", "provider is down")), 1, model.KindAnswer, "the service reports an error: provider is down"},
		{"refusal", modeltest.Raw(answer("", `"stop_reason":"refusal"`)), 1, model.KindAnswer, "the model declined to answer (refusal)"},
		{"usage of another shape", modeltest.Raw(answer("", `"stop_reason":"end_turn","usage":[1]`)), 1, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.turn, tt.turn, tt.turn, tt.turn)
			if tt.kind == "" { // odd, but there is an answer
				s.Ask(t, modeltest.Question("q"))
			} else {
				s.Fail(t, modeltest.Question("q"), tt.kind, tt.want)
			}
			if n := len(s.Requests()); n != tt.sent {
				t.Errorf("%d requests, want %d", n, tt.sent)
			}
		})
	}
	s := serve(t)
	s.Fail(t, modeltest.Question(""), model.KindRequest, "the prompt is empty")
	s.Options.BaseURL = "nowhere"
	s.Fail(t, modeltest.Question("q"), model.KindRequest, "the base URL 'nowhere' is not an http:// or https:// URL")
}

func TestRecovers(t *testing.T) {
	for _, bad := range []modeltest.Turn{modeltest.Status(529, `{}`), {Drop: true}, {Text: ptr(strings.Repeat("x", 500)), CutAt: 300}} {
		s := serve(t, bad, bad, modeltest.Text("fine"))
		if turn := s.Ask(t, modeltest.Question("q")); turn.Text != "fine" || len(s.Waits) != 2 {
			t.Errorf("got %+v after %v", turn, s.Waits)
		}
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
	s.Options.BaseURL = "http://" + addr
	s.Fail(t, modeltest.Question("q"), model.KindConnection, "cannot connect to "+addr+": connection refused")
}

func TestTimeoutAndContext(t *testing.T) {
	s := serve(t, modeltest.Turn{Hang: true}, modeltest.Turn{Hang: true})
	s.Options.Timeout = 50 * time.Millisecond
	s.Fail(t, modeltest.Question("q"), model.KindTimeout, "no answer within 50ms")
	s.Options.Timeout = 0
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Complete(ctx, modeltest.Question("q")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// One client serves many at once, each with its own conversation.
func TestConcurrent(t *testing.T) {
	s := serve(t)
	var turns []modeltest.Turn
	for range 20 {
		turns = append(turns, modeltest.Text("@results"))
	}
	s.Add(turns...)
	c := New(s.Options)
	failed := make(chan string, 20)
	for i := range 20 {
		go func() {
			want := fmt.Sprintf("result %d", i)
			req := modeltest.ToolRequest()
			if i%2 == 0 {
				req.Stream = func(string) {}
			}
			req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Calls: []model.ToolCall{{ID: "a", Name: "add"}}},
				model.Message{Role: model.RoleTool, Results: []model.ToolResult{{CallID: "a", Text: want}}})
			turn, err := c.Complete(context.Background(), req)
			switch {
			case err != nil:
				failed <- err.Error()
			case turn.Text != want:
				failed <- turn.Text + " is not " + want
			default:
				failed <- ""
			}
		}()
	}
	for range 20 {
		if why := <-failed; why != "" {
			t.Error(why)
		}
	}
}

// L6: no failure shows the key, wherever the service puts it.
func TestNoKeyInErrors(t *testing.T) {
	const key = "test-key-1234"
	for _, turn := range []modeltest.Turn{
		modeltest.Status(401, `{"error":{"message":"bad key `+key+`"}}`),
		{Status: 500, Raw: ptr("x-api-key: " + key)},
		modeltest.Raw(key + " is no JSON"),
		modeltest.Raw(`{"error":{"message":"` + key + `"}}`),
		modeltest.Stream("event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"" + key + "\"}}\n\n"),
		{Status: 302, Header: map[string]string{"Location": "http://h/" + key}},
		{Status: 500, Raw: ptr(strings.Repeat("x", 292) + key)}, // cut within the key
	} {
		s := serve(t, turn, turn, turn)
		req := modeltest.Question("q")
		req.Stream = func(string) {}
		_, err := s.Complete(context.Background(), req)
		var e *model.Error
		if !errors.As(err, &e) || strings.Contains(err.Error(), key[:6]) {
			t.Errorf("got %v", err)
		}
	}
}
