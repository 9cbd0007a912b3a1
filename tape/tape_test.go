package tape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/model"
)

func play(t *testing.T, text string) *Tape {
	t.Helper()
	tp, err := Play(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

func TestRecordAndPlay(t *testing.T) {
	var b strings.Builder
	rec, err := Record(&b)
	if err != nil {
		t.Fatal(err)
	}
	rec.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	for _, e := range []Exchange{
		{Kind: Human, Ask: json.RawMessage(`"who?"`), Answer: json.RawMessage(`"ann <b> hunter2"`)},
		{Kind: Tool, Who: "fs", Ask: json.RawMessage(`{"a":1}`), Error: "no"},
	} {
		if err := rec.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	want := header + "\n" + `{"kind":"human","ask":"who?","answer":"ann <b> ***"}` + "\n" + `{"kind":"mcp.call","who":"fs","ask":{"a":1},"error":"no"}` + "\n"
	if b.String() != want {
		t.Fatalf("tape is\n%s, want\n%s", b.String(), want)
	}
	p := play(t, b.String())
	if !p.Playing() || p.Recording() || p.Left() != 2 {
		t.Fatalf("playing %v, recording %v, left %d", p.Playing(), p.Recording(), p.Left())
	}
	e, err := p.Next(Human, "", "who?")
	if err != nil || string(e.Answer) != `"ann <b> ***"` {
		t.Fatalf("got %v, %v", e, err)
	}
	if e, err = p.Next(Tool, "fs", map[string]int{"a": 1}); err != nil || e.Error != "no" {
		t.Fatalf("got %v, %v", e, err)
	}
	if _, err = p.Next(Tool, "fs", nil); err == nil || err.Error() != "the tape has no further exchange with mcp.call 'fs'" {
		t.Fatalf("got %v", err)
	}
}

func TestMismatch(t *testing.T) {
	tests := []struct{ tape, ask, want string }{
		{`{"a":[1,{"b":"x"}]}`, `{"a":[1,{"b":"y"}]}`, `at a[1].b: the tape has "x", the program has "y"`},
		{`{"a":1}`, `{"a":1,"c":2}`, `at c: the tape has nothing, the program has 2`},
		{`{"a":[1,2]}`, `{"a":[1]}`, `at a[1]: the tape has 2, the program has nothing`},
		{`9007199254740993`, `9007199254740992`, `: the tape has 9007199254740993, the program has 9007199254740992`},
		{`"a"`, `["a"]`, `: the tape has "a", the program has ["a"]`},
	}
	for _, tt := range tests {
		p := play(t, header+"\n"+`{"kind":"model","who":"m","ask":`+tt.tape+`,"answer":1}`+"\n")
		_, err := p.Next(Model, "m", json.RawMessage(tt.ask))
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s beside %s: got %v, want %s", tt.ask, tt.tape, err, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	p := play(t, header+"\n"+`{"kind":"http","who":"h","ask":{"method":"GET","url":"/a"}}`+"\n"+
		`{"kind":"http","who":"h","ask":{"method":"POST","url":"/b","body":"x"}}`+"\n"+`{"kind":"process","who":"ls","ask":1}`+"\n")
	for _, tt := range []struct {
		kind, who string
		ask       any
		want      string
	}{
		{HTTP, "h", map[string]string{"method": "POST", "url": "/b", "body": "y"},
			`the exchange with http 'h' differs from line 3 of the tape at body: the tape has "x", the program has "y"`},
		{HTTP, "other", nil, "the tape has no further exchange with http 'other'; line 2 is one with http 'h'"},
		{Env, "HOME", nil, "the tape has no further exchange with env 'HOME'"},
	} {
		_, err := p.Next(tt.kind, tt.who, tt.ask)
		if errText(err) != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("Err gives %v, want the first miss", err)
	}
	if err := (*Tape)(nil).Err(); err != nil {
		t.Errorf("no tape has the error %v", err)
	}
}

func TestThrough(t *testing.T) {
	var b strings.Builder
	rec, _ := Record(&b)
	late := diag.New(diag.Timeout, "too late")
	set, unset := func() (string, bool) { return "v", true }, func() (string, bool) { return "", false }
	world := func(tp *Tape) (out []string) {
		_, err := Through(tp, Process, "ls", 1, func() (int, error) { return 0, late })
		out = append(out, string(diag.KindOf(err)), errText(err))
		_, err = Through(tp, Process, "ls", 2, func() (int, error) { return 0, errors.New("plain") })
		out = append(out, string(diag.KindOf(err)), errText(err))
		for name, look := range map[string]func() (string, bool){"SET": set, "UNSET": unset} {
			if v, ok := tp.Env(name, look); ok != (name == "SET") || ok && v != "v" {
				t.Errorf("%s is %q, %v", name, v, ok)
			}
		}
		return out
	}
	first := world(rec)
	if _, err := Through(rec, Process, "ls", 3, func() (int, error) { return 0, context.Canceled }); !errors.Is(err, context.Canceled) || strings.Contains(b.String(), "cancel") {
		t.Errorf("the end of the program gave %v and the tape\n%s", err, b.String())
	}
	set, unset = unset, set // a tape that plays asks nobody
	p := play(t, b.String())
	if again := world(p); strings.Join(first, "|") != strings.Join(again, "|") || again[0] != "timeout" || again[2] != "runtime" || p.Left() != 0 {
		t.Errorf("recorded %q, played %q, left %d", first, again, p.Left())
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	p := play(t, header+"\n"+`{"kind":"model","who":"m","ask":1,"answer":"one"}`+"\n\n"+`{"kind":"model","who":"m","ask":2,"answer":"two"}`+"\n")
	for _, n := range []int{2, 1} {
		if _, err := p.Next(Model, "m", n); err != nil {
			t.Error(err)
		}
	}
	if p.Left() != 0 {
		t.Errorf("%d left", p.Left())
	}
}

func TestBadTapes(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"hello":                      "line 1: this is no tape",
		header + "\nx":               "line 2: this is no exchange",
		header + "\n{\"kind\":\"\"}": "line 2: this is no exchange",
		header + "\n{\"kind\":\"model\",\"zz\":1}": "line 2: this is no exchange",
	} {
		_, err := Play(strings.NewReader(text))
		if got := errText(err); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// scripted answers with its turns and remembers what it was asked.
type scripted struct{ turns []any }

func (s *scripted) Provider() string { return "p" }
func (s *scripted) ModelID() string  { return "id" }
func (s *scripted) Complete(_ context.Context, _ *model.Request) (*model.Turn, error) {
	next := s.turns[0]
	s.turns = s.turns[1:]
	if err, ok := next.(error); ok {
		return nil, err
	}
	return next.(*model.Turn), nil
}

func TestClient(t *testing.T) {
	real := &scripted{turns: []any{
		&model.Turn{Calls: []model.ToolCall{{ID: "toolu_9f3", Name: "f", Args: json.RawMessage(`{"n": 1.0`)}}, Usage: model.Usage{InputTokens: 3, OutputTokens: 4}},
		&model.Turn{Text: "done"},
		errors.New("429: slow down"),
	}}
	var b strings.Builder
	rec, _ := Record(&b)
	conversation := func(c model.Client) (out []string) {
		req := &model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: "go"}}, Tools: []model.ToolSpec{{Name: "f", Description: "d"}}}
		turn, err := c.Complete(context.Background(), req)
		if err != nil {
			return []string{err.Error()}
		}
		out = append(out, turn.Calls[0].Name, string(turn.Calls[0].Args))
		req.Messages = append(req.Messages, turn.Message(), model.Message{Role: model.RoleTool, Results: []model.ToolResult{{CallID: turn.Calls[0].ID, Text: "r"}}})
		if turn, err = c.Complete(context.Background(), req); err != nil {
			return append(out, err.Error())
		}
		_, err = c.Complete(context.Background(), &model.Request{})
		return append(out, turn.Text, errText(err))
	}
	first := conversation(rec.Client("p", "id", func() model.Client { return real }))
	if strings.Contains(b.String(), "toolu_9f3") || !strings.Contains(b.String(), "call_1") {
		t.Errorf("the id is not numbered:\n%s", b.String())
	}
	again := conversation(play(t, b.String()).Client("p", "id", func() model.Client { t.Error("a playing tape made a client"); return nil }))
	if strings.Join(first, "|") != strings.Join(again, "|") || first[len(first)-1] != "429: slow down" {
		t.Errorf("recorded %q, played %q", first, again)
	}
}

// What a stream has shown is shown again, also where it broke off and was asked
// for again, and where it came to nothing.
func TestStreams(t *testing.T) {
	real := streams{{[]string{"he", "llo"}, "hello"}, {[]string{"hel", "\n", "good day"}, "good day"}, {[]string{"he"}, ""}, {nil, ""}}
	want := []string{"hello hello <nil>", "hel\ngood day good day <nil>", "he - broken", " - broken"}
	talk := func(c model.Client) (out []string) {
		for range want {
			var shown strings.Builder
			turn, err := c.Complete(context.Background(), &model.Request{Stream: func(s string) { shown.WriteString(s) }})
			text := "-"
			if turn != nil {
				text = turn.Text
			}
			out = append(out, fmt.Sprint(shown.String(), " ", text, " ", err))
		}
		return out
	}
	var b strings.Builder
	rec, _ := Record(&b)
	if got := talk(rec.Client("p", "id", func() model.Client { return &real })); !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
	if got := talk(play(t, b.String()).Client("p", "id", nil)); !slices.Equal(got, want) {
		t.Errorf("played %q, want %q", got, want)
	}
	if n := strings.Count(b.String(), `"shown"`); n != 2 {
		t.Errorf("%d of the exchanges say what was shown:\n%s", n, b.String())
	}
}

// streams is a model that shows pieces and gives a text, or fails without one.
type streams []struct {
	pieces []string
	text   string
}

func (s *streams) Provider() string { return "p" }
func (s *streams) ModelID() string  { return "id" }

func (s *streams) Complete(_ context.Context, req *model.Request) (*model.Turn, error) {
	next := (*s)[0]
	*s = (*s)[1:]
	for _, p := range next.pieces {
		req.Stream(p)
	}
	if next.text == "" {
		return nil, errors.New("broken")
	}
	return &model.Turn{Text: next.text}, nil
}

func FuzzPlay(f *testing.F) {
	f.Add(header + "\n" + `{"kind":"model","who":"m","ask":1,"answer":"one"}`)
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Play(strings.NewReader(s))
		if err != nil {
			return
		}
		if _, err := p.Next(Model, "m", 1); err == nil && p.Left() < 0 {
			t.Error("fewer than none left")
		}
	})
}

// endless gives one byte for ever and counts how much was read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

// What is no tape is not read to its end to see that.
func TestPlayOfWhatHasNoEnd(t *testing.T) {
	in := &endless{}
	if _, err := Play(in); err == nil || err.Error() != "line 1: this is no tape" {
		t.Error(err)
	}
	if in.read > 64<<10 {
		t.Errorf("%d bytes were read", in.read)
	}
}
