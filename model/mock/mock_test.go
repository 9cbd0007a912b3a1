package mock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/sense-lang/sense/model"
)

func question(s string) *model.Request {
	return &model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: s}}}
}

func ask(t *testing.T, c *Client, req *model.Request) *model.Turn {
	t.Helper()
	turn, err := c.Complete(context.Background(), req)
	if err != nil {
		t.Fatalf("Complete: %v", err)
	}
	return turn
}

func ptr[T any](v T) *T { return &v }

func TestTemplate(t *testing.T) {
	for _, tt := range []struct {
		options    Options
		prompt     string
		want       string
		confidence float64
		name       string
	}{
		{Options{}, "why?", "(mock reasoning about: why?)", 0.5, "mock"},
		{Options{Name: "n", Template: ptr("<{prompt}> and <{prompt}>"), Confidence: ptr(1.0)}, "{prompt} {x} {}", "<{prompt} {x} {}> and <{prompt} {x} {}>", 1, "n"},
		{Options{Template: ptr(""), Confidence: ptr(0.0)}, "q", "", 0, "mock"},
		{Options{Template: ptr("{x} %s {} {result} no place")}, "q", "{x} %s {} {result} no place", 0.5, "mock"},
		{Options{}, "", "(mock reasoning about: )", 0.5, "mock"},
	} {
		c := New(tt.options)
		turn := ask(t, c, question(tt.prompt))
		if turn.Text != tt.want || *turn.Confidence != tt.confidence || c.ModelID() != tt.name || c.Provider() != "mock" {
			t.Errorf("got %q %v %s, want %+v", turn.Text, *turn.Confidence, c.ModelID(), tt)
		}
	}
}

func TestTemplateTakesTheLastPrompt(t *testing.T) {
	req := &model.Request{System: "s", Messages: []model.Message{{Role: model.RoleUser, Text: "one"}, {Role: model.RoleAssistant, Text: "1"}, {Role: model.RoleUser, Text: "two"}}}
	if turn := ask(t, New(Options{Template: ptr("{prompt}")}), req); turn.Text != "two" {
		t.Errorf("got %q", turn.Text)
	}
	if turn := ask(t, New(Options{}), &model.Request{}); turn.Text != "(mock reasoning about: )" {
		t.Errorf("got %q", turn.Text)
	}
}

func TestToolsNeedAScript(t *testing.T) {
	c := New(Options{})
	var support model.ToolSupport = c
	err := support.ToolSupport()
	if err == nil || !strings.Contains(err.Error(), "a mock without a script") {
		t.Errorf("got %v", err)
	}
	req := question("q")
	req.Tools = []model.ToolSpec{{Name: "t"}}
	if _, got := c.Complete(context.Background(), req); got == nil || got.Error() != err.Error() {
		t.Errorf("Complete: %v", got)
	}
	if err := New(Options{Script: []Turn{}}).ToolSupport(); err != nil {
		t.Errorf("with a script: %v", err)
	}
}

func TestScript(t *testing.T) {
	c := New(Options{Script: []Turn{
		{Calls: []Call{{Name: "filesystem.list_directory", Args: json.RawMessage(`{"path":"."}`)}, {Name: "own"}}},
		{Text: "Next.", Calls: []Call{{Name: "nobody.offers", Args: json.RawMessage(`{"found":"<{result}>","n":9007199254740993}`)}}},
		{Text: "The files are {result}, I said {result}."},
	}})
	req := question("q")
	req.Tools = []model.ToolSpec{{Name: "mcp__filesystem__list_directory", SenseName: "filesystem.list_directory"}, {Name: "own"}}
	answer := func(turn *model.Turn, texts ...string) {
		m := model.Message{Role: model.RoleTool}
		for i, s := range texts {
			m.Results = append(m.Results, model.ToolResult{CallID: turn.Calls[i].ID, Text: s})
		}
		req.Messages = append(req.Messages, turn.Message(), m)
	}
	turn := ask(t, c, req)
	want := []model.ToolCall{{ID: "call_1_1", Name: "mcp__filesystem__list_directory", Args: json.RawMessage(`{"path":"."}`)}, {ID: "call_1_2", Name: "own", Args: json.RawMessage(`{}`)}}
	if turn.Text != "" || turn.Stop != "tool_use" || !reflect.DeepEqual(turn.Calls, want) {
		t.Fatalf("got %+v", turn)
	}
	answer(turn, "first", "a \"b\"\n<c>")
	turn = ask(t, c, req)
	var args struct {
		Found string
		N     json.Number
	}
	if err := json.Unmarshal(turn.Calls[0].Args, &args); err != nil || args.Found != "<a \"b\"\n<c>>" || args.N != "9007199254740993" {
		t.Errorf("arguments %s: %v", turn.Calls[0].Args, err)
	}
	if turn.Text != "Next." || turn.Calls[0].Name != "nobody.offers" || turn.Calls[0].ID != "call_2_1" {
		t.Errorf("got %+v", turn)
	}
	answer(turn, "{result}")
	if turn = ask(t, c, req); turn.Text != "The files are {result}, I said {result}." || turn.Calls != nil || turn.Stop != "end_turn" {
		t.Errorf("got %+v", turn)
	}
	for n := 4; n < 6; n++ {
		_, err := c.Complete(context.Background(), req)
		var e *model.Error
		if want := fmt.Sprintf("the script has no turn left: it has 3 turns, and this is request %d", n); !errors.As(err, &e) || e.Msg != want || e.Kind != model.KindScript {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestScriptFaults(t *testing.T) {
	if _, err := New(Options{Script: []Turn{{}}}).Complete(context.Background(), question("q")); err != nil {
		t.Errorf("an empty turn: %v", err)
	}
	_, err := New(Options{Script: []Turn{}}).Complete(context.Background(), question("q"))
	if err == nil || err.Error() != "the script has no turn left: it has 0 turns, and this is request 1" {
		t.Errorf("an empty script: %v", err)
	}
	c := New(Options{Script: []Turn{{Text: "{result}"}, {Calls: []Call{{Name: "t", Args: json.RawMessage(`{"a":`)}}}}})
	if turn := ask(t, c, question("q")); turn.Text != "{result}" {
		t.Errorf("without a result: %q", turn.Text)
	}
	if _, err := c.Complete(context.Background(), question("q")); err == nil || !strings.Contains(err.Error(), "the arguments of 't' in turn 2 of the script are not valid JSON") {
		t.Errorf("broken arguments: %v", err)
	}
	if _, err := c.Complete(context.Background(), question("q")); err == nil || !strings.Contains(err.Error(), "it has 2 turns, and this is request 3") {
		t.Errorf("at the end: %v", err)
	}
}

func TestStream(t *testing.T) {
	for _, text := range []string{"one two  three\n", "", "word", " "} {
		var shown []string
		req := question("q")
		req.Stream = func(s string) { shown = append(shown, s) }
		turn := ask(t, New(Options{Script: []Turn{{Text: text}}}), req)
		if strings.Join(shown, "") != text || turn.Text != text {
			t.Errorf("shown %q of %q", shown, text)
		}
		for _, piece := range shown {
			if piece == "" {
				t.Errorf("an empty piece in %q", shown)
			}
		}
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := New(Options{Script: []Turn{{Text: "x"}}})
	if _, err := c.Complete(ctx, question("q")); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if turn := ask(t, c, question("q")); turn.Text != "x" {
		t.Errorf("a request that was never made took a turn: %+v", turn)
	}
}

// Requests from many places take each turn once.
func TestConcurrent(t *testing.T) {
	var script []Turn
	for i := range 50 {
		script = append(script, Turn{Text: fmt.Sprintf("%02d", i)})
	}
	c := New(Options{Script: script})
	got := make([]string, len(script))
	var wg sync.WaitGroup
	for i := range script {
		wg.Go(func() {
			if turn, err := c.Complete(context.Background(), question("q")); err == nil {
				got[i] = turn.Text
			}
		})
	}
	wg.Wait()
	sort.Strings(got)
	for i, s := range got {
		if s != fmt.Sprintf("%02d", i) {
			t.Fatalf("got %q", got)
		}
	}
}

func TestParseTurn(t *testing.T) {
	for _, tt := range []struct {
		in, want, err string
	}{
		{"hello", `{"Text":"hello","Calls":null}`, ""},
		{"", `{"Text":"","Calls":null}`, ""},
		{"call me maybe", `{"Text":"call me maybe","Calls":null}`, ""},
		{"call home", `{"Text":"call home","Calls":null}`, ""},
		{"recall x {}", `{"Text":"recall x {}","Calls":null}`, ""},
		{"call a {} then", `{"Text":"call a {} then","Calls":null}`, ""},
		{"call a {}\nand more", `{"Text":"call a {}\nand more","Calls":null}`, ""},
		{`call filesystem.list_directory {"path": "."}`, `{"Text":"","Calls":[{"Name":"filesystem.list_directory","Args":{"path":"."}}]}`, ""},
		{"  call a {}\r\n call  b   {\"x\": {\"y\": \"} {\"}}  \n", `{"Text":"","Calls":[{"Name":"a","Args":{}},{"Name":"b","Args":{"x":{"y":"} {"}}}]}`, ""},
		{"call a {x}", "", "the arguments of 'a' in the script are not valid JSON: invalid character 'x'"},
		{`call a {"x": 1}}`, "", "not valid JSON"},
		{`call a {"x": `, "", "not valid JSON"},
		{`call a {"x": 1} then`, "", "not valid JSON"},
		{"call a [1]", "", "the arguments of 'a' in the script must be a JSON object"},
		{"call a [b]", `{"Text":"call a [b]","Calls":null}`, ""},
		{"call a {}\n\ncall b {}\n", `{"Text":"","Calls":[{"Name":"a","Args":{}},{"Name":"b","Args":{}}]}`, ""},
	} {
		turn, err := ParseTurn(tt.in)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: got %v, want %q", tt.in, err, tt.err)
			}
			continue
		}
		got, jsonErr := json.Marshal(turn)
		if err != nil || jsonErr != nil || string(got) != tt.want {
			t.Errorf("%q: got %s, %v, want %s", tt.in, got, err, tt.want)
		}
	}
}

// A word is a token, of all that is asked and answered.
func TestUsage(t *testing.T) {
	c := New(Options{Script: []Turn{{Calls: []Call{{Name: "f", Args: json.RawMessage(`{"a": 1}`)}}}, {Text: "three small words"}}})
	req := &model.Request{System: "be brief", Messages: []model.Message{{Role: model.RoleUser, Text: "go on now"}}, Tools: []model.ToolSpec{{Name: "f"}}}
	first, err := c.Complete(t.Context(), req)
	if err != nil || first.Usage != (model.Usage{InputTokens: 5, OutputTokens: 2}) {
		t.Fatalf("got %+v, %v", first, err)
	}
	req.Messages = append(req.Messages, first.Message(), model.Message{Role: model.RoleTool, Results: []model.ToolResult{{CallID: first.Calls[0].ID, Text: "a b"}}})
	second, err := c.Complete(t.Context(), req)
	if err != nil || second.Usage != (model.Usage{InputTokens: 9, OutputTokens: 3}) {
		t.Fatalf("got %+v, %v", second, err)
	}
}

func FuzzParseTurn(f *testing.F) {
	for _, s := range []string{"call a {}", "call  {}", "call a {\"x\":[}", "text", "call\n", "call a {}\ncall b {}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		turn, err := ParseTurn(s)
		if err == nil && turn.Calls == nil && turn.Text != s {
			t.Errorf("%q became the text %q", s, turn.Text)
		}
		for _, c := range turn.Calls {
			if c.Name == "" || !json.Valid(c.Args) {
				t.Errorf("%q has the call %+v", s, c)
			}
		}
	})
}
