package modeltest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post sends a body as a client would and gives status and answer.
func post(t *testing.T, s *Server, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest("POST", strings.TrimSuffix(s.URL, "/v1")+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("Authorization", "Bearer k")
	res, err := s.Client().Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(out)
}

const (
	ask      = `{"model":"m","messages":[{"role":"user","content":"q"}]}`
	askTools = `{"model":"m","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"mcp__my_fs__read_file","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{}}}}]}`
)

func TestParseTurns(t *testing.T) {
	turns, err := ParseTurns([]byte(`[{"text": null}, {"calls": [{"name": "a.b", "arguments": {"n": 9007199254740993}}, {"offered": 1, "id": ""}]}, {"status": 429, "body": {"x": 1}},
		{"raw": "<html>"}, {"drop": true}, {"text": "x", "finish": "length", "usage": {"prompt_tokens": 1, "completion_tokens": 2}}]`))
	if err != nil || len(turns) != 6 {
		t.Fatal(turns, err)
	}
	if string(turns[1].Calls[0].Arguments) != `{"n": 9007199254740993}` || *turns[1].Calls[1].Offered != 1 || *turns[1].Calls[1].ID != "" || turns[2].Status != 429 || *turns[3].Raw != "<html>" || !turns[4].Drop || turns[5].Usage.CompletionTokens != 2 {
		t.Errorf("got %+v", turns)
	}
	if _, err := ParseTurns([]byte(`{}`)); err == nil {
		t.Error("no array was accepted")
	}
}

func TestOpenAIServer(t *testing.T) {
	two := 1
	s := New(OpenAI, Text("<hi>"), Turn{Calls: []Call{CallOf("my-fs.read.file", `{"a":1.0}`), {Offered: &two}, CallOf("nope", `"{cut"`), CallOf("@1", `{}`)}}, Status(429, `{"e":1}`), Raw("page"), Turn{Drop: true})
	defer s.Close()
	for _, want := range []struct {
		status int
		text   string
	}{
		{200, `"message":{"content":"<hi>","role":"assistant"}`},
		{200, `"tool_calls":[{"function":{"arguments":"{\"a\":1.0}","name":"mcp__my_fs__read_file"},"id":"call_2_0","type":"function"},{"function":{"arguments":"{}","name":"add"},"id":"call_2_1","type":"function"},{"function":{"arguments":"{cut","name":"nope"},"id":"call_2_2","type":"function"},{"function":{"arguments":"{}","name":"add"}`},
		{429, `{"e":1}`}, {200, "page"}, {0, "EOF"}, {500, "stub has no turn left"},
	} {
		if status, text := post(t, s, "/v1/chat/completions", askTools); status != want.status || !strings.Contains(text, want.text) {
			t.Errorf("got %d %s, want %d %s", status, text, want.status, want.text)
		}
	}
	if n := len(s.Requests()); n != 6 || s.Left() != 0 || s.Requests()[0].Key != "k" {
		t.Errorf("%d requests, %d turns left", n, s.Left())
	}
	s.Add(Text("again"))
	if s.Left() != 1 {
		t.Error("the turn was not added")
	}
}

func TestRefusalsTakeNoTurn(t *testing.T) {
	s := New(Anthropic, Text("fine"))
	defer s.Close()
	for _, tt := range []struct{ path, body, want string }{
		{"/v1/messages", ask, "max_tokens: Field required"},
		{"/v1/messages", "[", "could not parse the JSON body"},
		{"/v1/v1/messages", ask, "unknown request URL: POST /v1/v1/messages"},
	} {
		if status, text := post(t, s, tt.path, tt.body); status != 400 || !strings.Contains(text, tt.want) {
			t.Errorf("got %d %s, want %s", status, text, tt.want)
		}
	}
	if s.Left() != 1 {
		t.Error("a refusal took a turn")
	}
	s.Lenient = true
	if status, _ := post(t, s, "/v1/messages", ask); status != 200 {
		t.Errorf("a lenient server answered %d", status)
	}
}

func TestRefusal(t *testing.T) {
	openAI := func(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }
	claude := func(messages string) string { return `{"model":"m","max_tokens":1,"messages":[` + messages + `]}` }
	tools := func(list string) string {
		return `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"q"}],"tools":[` + list + `]}`
	}
	user := `{"role":"user","content":"q"}`
	called := `{"role":"assistant","tool_calls":[{"id":"a","function":{}},{"id":"b","function":{}}]}`
	used := `{"role":"assistant","content":[{"type":"tool_use","id":"a","input":{}},{"type":"tool_use","id":"b","input":{}}]}`
	result := func(ids ...string) string {
		for i, id := range ids {
			ids[i] = `{"type":"tool_result","tool_use_id":"` + id + `","content":"r"}`
		}
		return `{"role":"user","content":[` + strings.Join(ids, ",") + `]}`
	}
	for _, tt := range []struct {
		wire       Wire
		body, want string
	}{
		{OpenAI, openAI(user), ""},
		{OpenAI, `{"messages":[` + user + `]}`, "model parameter"},
		{OpenAI, openAI(""), "at least one message"},
		{OpenAI, openAI(`{"role":"user"}`), "content is missing"},
		{OpenAI, openAI(user + "," + called), "[a b] have no result"},
		{OpenAI, openAI(user + "," + called + `,{"role":"tool","tool_call_id":"a","content":"r"}`), "[b] have no result"},
		{OpenAI, openAI(user + "," + called + `,{"role":"tool","tool_call_id":"a","content":"r"},{"role":"tool","tool_call_id":"b","content":"r"}`), ""},
		{OpenAI, openAI(user + "," + called + `,{"role":"tool","tool_call_id":"a"}`), "content is missing"},
		{OpenAI, openAI(user + `,{"role":"tool","tool_call_id":"z","content":"r"}`), "no tool call for the result z"},
		{OpenAI, openAI(user + `,{"role":"assistant","tool_calls":[{"id":""}]}`), "empty or not unique"},
		{OpenAI, tools(``), "tools: [] is too short"},
		{OpenAI, tools(`{"function":{"name":"a.b"}}`), "name 'a.b' does not match"},
		{OpenAI, tools(`{"function":{"name":"a","parameters":{"type":"object","properties":{}}}},{"function":{"name":"a","parameters":{"type":"object","properties":{}}}}`), "must be unique"},
		{OpenAI, tools(`{"function":{"name":"a","parameters":{"type":"object"}}}`), "missing properties"},
		{OpenAI, tools(`{"function":{"name":"a","parameters":{"type":"object","properties":{"x":{"anyOf":[{"type":"array"}]}}}}}`), "array schema missing items"},
		{OpenAI, tools(`{"function":{"name":"a"}}`), "must be of type 'object'"},
		{OpenAI, `{"model":"m","messages":[` + user + `],"response_format":{"json_schema":{"strict":true,"schema":{"type":"object","properties":{"o":{"type":"object"}},"additionalProperties":false}}}}`, "additionalProperties"},
		{Anthropic, claude(user), ""},
		{Anthropic, claude(`{"role":"system","content":"s"}`), "unexpected role"},
		{Anthropic, claude(`{"role":"assistant","content":"s"}`), "unexpected role"},
		{Anthropic, claude(`{"role":"user","content":[]}`), "content is missing"},
		{Anthropic, claude(`{"role":"user","content":[{"type":"text","text":" "}]}`), "non-whitespace"},
		{Anthropic, claude(user + "," + used + "," + result("a", "b")), ""},
		{Anthropic, claude(user + "," + used + "," + result("a")), "[a b] have no result"},
		{Anthropic, claude(user + "," + used + "," + user), "[a b] have no result"},
		{Anthropic, claude(user + `,{"role":"assistant","content":[{"type":"tool_use","id":"a","input":"x"}]}`), "valid dictionary"},
		{Anthropic, claude(user + "," + used + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":""}]}]}`), "tool_result: text content blocks"},
		{Anthropic, claude(user + "," + used + "," + result("a", "b") + "," + used), "not unique"},
		{Anthropic, tools(`{"name":"a","input_schema":{"type":"object","anyOf":[]}}`), "at the top level"},
		{Anthropic, tools(`{"name":"a","input_schema":{"type":"object"}}`), ""},
	} {
		got := Refusal(tt.wire, decode([]byte(tt.body)))
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.body, got, tt.want)
		}
	}
}

func requests(bodies ...string) []Request {
	var out []Request
	for _, b := range bodies {
		out = append(out, Request{Path: "/p", Key: "k", Raw: []byte(b), Body: decode([]byte(b))})
	}
	return out
}

func TestSummary(t *testing.T) {
	got := Summary(requests(askTools,
		`{"messages":[{"role":"user","content":"é🦊\n\"x\" \\"},{"role":"assistant","content":null,"tool_calls":[{"function":{"arguments":"{\"b\":2.50,\"a\":[1e2,null,true,9007199254740993]}"}},{"function":{"arguments":"{cut"}},{"function":{"arguments":""}}]},{"role":"tool","content":"r"},{"role":"assistant","content":null}]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"t"},{"type":"tool_use","input":{"x":"é"}},{"type":"tool_result","content":[{"text":"a"},{"text":"b"}]},{"type":"tool_result","content":"c"}]},{"role":"user","content":"`+strings.Repeat("z", 250)+`y"}]}`))
	want := "tools=add,my_fs.read_file user:q\n" +
		`tools= user:\u00e9\ud83e\udd8a\n"x" \\ | assistant:call({"a": [100.0, null, true, 9007199254740993], "b": 2.5})call({cut)call({}) | tool:r | assistant:None` + "\n" +
		`tools= user:t call({"x": "\\u00e9"}) result(ab) result(c) | user:z*250y` + "\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSent(t *testing.T) {
	got := Sent(OpenAI, requests(`{"model":"m","temperature":0,"max_completion_tokens":64}`, `{"model":"m","temperature":0.2500000001,"max_tokens":7}`))
	if want := "openai /p model=m temperature=0 max_completion_tokens=64 key=k\nopenai /p model=m temperature=0.25 max_tokens=7 key=k\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSchemas(t *testing.T) {
	got := Schemas(requests(ask, `{"tools":[{"name":"b","description":"Ö","input_schema":{"type":"object","properties":{},"x":{"items":{},"enum":[]}}},{"function":{"name":"mcp__s__a","parameters":{"type":"object","required":["q"]}}}]}`))
	if want := `b "\u00d6" {"type": "object", "x": {"enum": []}}` + "\n" + `s.a null {"required": ["q"], "type": "object"}` + "\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := Schemas(nil); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestNumbersAsPythonWritesThem(t *testing.T) {
	for in, want := range map[string]string{"1": "1", "1.0": "1.0", "-0.5": "-0.5", "1e16": "1e+16", "1e15": "1000000000000000.0", "0.00001": "1e-05", "0.0001": "0.0001", "123456789012345678901234567890": "123456789012345678901234567890"} {
		if got := dumps(json.Number(in)); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestStreams(t *testing.T) {
	s := New(Anthropic, Text("Hello there"), Text("x"))
	defer s.Close()
	_, text := post(t, s, "/v1/messages", `{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":"q"}]}`)
	if !strings.HasPrefix(text, "event: message_start\n") || !strings.HasSuffix(text, "data: {\"type\":\"message_stop\"}\n\n") || !strings.Contains(text, `"text":"Hello t"`) {
		t.Errorf("got %s", text)
	}
	s.NoStream = true
	if _, text = post(t, s, "/v1/messages", `{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":"q"}]}`); !json.Valid([]byte(text)) {
		t.Errorf("got %s", text)
	}
}

func TestCutAndHang(t *testing.T) {
	s := New(OpenAI, Turn{Text: new(string), CutAt: 10}, Turn{Hang: true})
	if status, text := post(t, s, "/v1/chat/completions", ask); status != 0 || !strings.Contains(text, "EOF") {
		t.Errorf("got %d %s", status, text)
	}
	done := make(chan string)
	go func() {
		res, err := s.Client().Post(s.URL+"/chat/completions", "application/json", bytes.NewReader([]byte(ask)))
		if err == nil {
			res.Body.Close()
			done <- "an answer"
			return
		}
		done <- ""
	}()
	for len(s.Requests()) < 2 {
		runtime.Gosched()
	}
	s.Close()
	if got := <-done; got != "" {
		t.Errorf("got %s", got)
	}
}
