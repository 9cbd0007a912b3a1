package sense_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/mcp"
)

const offering = `import std.serve
policy:
    deny files.read
notes = {"today": "tea", "monday": "milk"}
def note(day):
    """A note of a day"""
    if day in notes: return notes[day]
tool secret() requires files.read "Denied": return "never"
tool change(text: String) "Changes today's note":
    notes["today"] = text
    serve.updated("notes://today")
    return "changed"
def greet(who, style = "short"):
    """Greets somebody"""
    return f"Greet {who}, {style}."
def talk():
    return {"description": "A talk", "messages": [{"role": "assistant", "content": "Hello."}, {"content": {"type": "image", "data": "AAA=", "mimeType": "image/png"}}, "Bye."]}
def ask_first():
    return "So " + ask_human("What?")
serve.resource("notes://today", lambda (): notes["today"], name: "Today", description: "Of today", mime: "text/plain")
serve.resource("notes://day/{day}", note, complete: {"day": lambda typed: notes.keys()})
serve.resource("notes://list", lambda (): [{"text": "one", "uri": "notes://1"}, {"blob": "AAA=", "mimeType": "image/png"}])
serve.resource("notes://data", lambda (): {"n": 9007199254740993})
serve.resource("notes://secret", secret)
serve.resource("notes://broken", lambda (): 1 / 0)
serve.prompt("greet", greet, complete: {"style": ["short", "sweet", "long"]})
serve.prompt("talk", talk, description: "Talks")
serve.prompt("odd", lambda (): [{"role": "king", "content": "x"}])
serve.prompt("number", lambda (): 7)
serve.prompt("asks", ask_first)
`

// What a program offers reaches a client as the protocol has it, through policy and
// into the audit.
func TestServedResources(t *testing.T) {
	s, _, audit := serveProgram(t, offering, "")
	list, err := s.Resources(t.Context())
	if err != nil || len(list) != 5 || list[0].URI != "notes://today" || list[0].Name != "Today" || list[0].Description != "Of today" || list[0].MIMEType != "text/plain" {
		t.Errorf("resources %+v, %v", list, err)
	}
	templates, err := s.ResourceTemplates(t.Context())
	if err != nil || len(templates) != 1 || templates[0].URITemplate != "notes://day/{day}" || templates[0].Description != "A note of a day" {
		t.Errorf("templates %+v, %v", templates, err)
	}
	for uri, want := range map[string]string{
		"notes://today":      "text:tea:text/plain:notes://today",
		"notes://day/monday": "text:milk::notes://day/monday",
		"notes://list":       "text:one::notes://1 blob:2:image/png:notes://list",
		"notes://data":       `text:{"n":9007199254740993}:application/json:notes://data`,
		"notes://day/never":  "there is no resource 'notes://day/never'",
		"notes://other":      "not found",
		"notes://secret":     "tool 'secret' requires capability 'files.read', which is denied by policy",
		"notes://broken":     "Division by zero",
	} {
		blocks, err := s.Read(t.Context(), uri)
		var got []string
		for _, b := range blocks {
			kind, text := "text", b.Text
			if text == "" {
				kind, text = "blob", fmt.Sprint(len(b.Data))
			}
			got = append(got, fmt.Sprintf("%s:%s:%s:%s", kind, text, b.MIMEType, b.URI))
		}
		if text := strings.Join(got, " "); err == nil && text != want || err != nil && !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("%s: %s, %v", uri, text, err)
		}
		if err != nil && strings.Contains(err.Error(), "[line") {
			t.Errorf("%s: a client has no use for a line: %v", uri, err)
		}
	}
	for _, want := range []string{"resource 'notes://day/monday' -> called", "tool 'secret' -> denied"} {
		if !strings.Contains(audit(), want) {
			t.Errorf("the audit lacks %s:\n%s", want, audit())
		}
	}
}

func TestServedPrompts(t *testing.T) {
	s, _, audit := serveProgram(t, offering, `{"answer":"this"}`)
	list, err := s.Prompts(t.Context())
	if err != nil || len(list) != 5 || list[1].Name != "greet" || list[1].Description != "Greets somebody" ||
		fmt.Sprintf("%+v", list[1].Arguments) != "[{Name:who Title: Description: Required:true} {Name:style Title: Description: Required:false}]" {
		t.Errorf("prompts %+v, %v", list, err)
	}
	for call, want := range map[string]string{
		"greet who=Ann":            "user text Greet Ann, short.",
		"greet who=Ann style=long": "user text Greet Ann, long.",
		"greet":                    "the prompt 'greet' needs the argument 'who'",
		"greet who=Ann age=3":      "the prompt 'greet' has no argument 'age'",
		"talk":                     "assistant text Hello.|user image |user text Bye.",
		"odd":                      "message 1 of the prompt 'odd' has the role 'king' (there are user and assistant)",
		"number":                   "message 1 of the prompt 'number' must be a String or a content block, got Int",
		"asks":                     "user text So this",
		"none":                     "prompt 'none' not found",
	} {
		words := strings.Fields(call)
		args := map[string]string{}
		for _, w := range words[1:] {
			name, value, _ := strings.Cut(w, "=")
			args[name] = value
		}
		p, err := s.Prompt(t.Context(), words[0], args)
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", call, err)
			}
			continue
		}
		var got []string
		for _, m := range p.Messages {
			got = append(got, m.Role+" "+m.Blocks[0].Type+" "+m.Blocks[0].Text)
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%s: %s", call, text)
		}
	}
	if !strings.Contains(audit(), "prompt 'greet' -> called") {
		t.Errorf("the audit says\n%s", audit())
	}
}

func TestServedCompletion(t *testing.T) {
	s, _, _ := serveProgram(t, offering, "")
	for _, tt := range []struct {
		of   mcp.CompletionOf
		want string
	}{
		{mcp.CompletionOf{Prompt: "greet", Argument: "style", Value: "s"}, "[short sweet]"},
		{mcp.CompletionOf{Prompt: "greet", Argument: "who", Value: "s"}, "[]"},
		{mcp.CompletionOf{Prompt: "talk", Argument: "x"}, "[]"},
		{mcp.CompletionOf{URITemplate: "notes://day/{day}", Argument: "day", Value: "m"}, "[today monday]"},
		{mcp.CompletionOf{Prompt: "none", Argument: "x"}, "there is no prompt 'none'"},
		{mcp.CompletionOf{URITemplate: "x://{y}", Argument: "y"}, "there is no resource 'x://{y}'"},
	} {
		c, err := s.Complete(t.Context(), tt.of)
		if err != nil && !strings.Contains(err.Error(), tt.want) || err == nil && fmt.Sprint(c.Values) != tt.want {
			t.Errorf("%+v: %+v, %v", tt.of, c, err)
		}
	}
}

// A client that follows a resource is told of a change, until it follows it no more.
func TestServedUpdates(t *testing.T) {
	told := make(chan string, 100)
	s, _, _ := serveTo(t, offering, mcp.Handlers{ResourceUpdated: func(uri string) { told <- uri }})
	if err := s.Subscribe(t.Context(), "notes://today"); err != nil {
		t.Fatal(err)
	}
	// The stream that tells of it may begin after the answer.
	for begun := false; !begun; {
		callServed(t, s, "change", `{"text":"coffee"}`)
		select {
		case uri := <-told:
			if begun = true; uri != "notes://today" {
				t.Errorf("told of %s", uri)
			}
		case <-time.After(50 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("nobody is told")
		}
	}
	blocks, err := s.Read(t.Context(), "notes://today")
	if err != nil || blocks[0].Text != "coffee" {
		t.Errorf("%+v, %v", blocks, err)
	}
	if err := s.Unsubscribe(t.Context(), "notes://today"); err != nil {
		t.Error(err)
	}
}

// Mistakes in an offer are told where the offer is made.
func TestOffersRefused(t *testing.T) {
	for call, want := range map[string]string{
		`serve.resource("notes", f)`:                        "'notes' is no URI such as notes://today or notes://{day}",
		`serve.resource("a://x y", f)`:                      "'a://x y' is no URI",
		`serve.resource("a://{b", f)`:                       "'a://{b' is no URI",
		`serve.resource("a://{?b}", f)`:                     "the template 'a://{?b}' has '{?b}': only {name} and {+name} are known",
		`serve.resource("a://{b}/{b}", lambda b: b)`:        "the template 'a://{b}/{b}' has 'b' twice",
		`serve.resource("a://{b}", f)`:                      "the template has {b}, but the function has no parameter 'b'",
		`serve.resource("a://b", lambda b: b)`:              "the function needs 'b', but the URI has no {b}",
		`serve.resource("a://b", 7)`:                        "expects a function or a tool of the program for 'read', got Int",
		`serve.resource("a://b", len)`:                      "expects a function or a tool of the program for 'read', got Function",
		`serve.resource("t://1", f)`:                        "the resource 't://1' is offered already",
		`serve.prompt("p", f)`:                              "the prompt 'p' is offered already",
		`serve.prompt("", f)`:                               "'name' must be 1 to 128 bytes without control characters",
		`serve.prompt("q", f, complete: {"x": []})`:         "'complete' speaks of 'x', which is no parameter of the function",
		`serve.prompt("q", g, complete: {"x": 1})`:          "'complete' needs an Array or a function for 'x', got Int",
		`serve.prompt("q", g, complete: 1)`:                 "expects a Map for 'complete', got Int",
		`serve.ask({})`:                                     "'questions' must hold 1 to 32 questions, got 0",
		`serve.ask({"a": 1})`:                               "the question 'a' must be a Map, got Int",
		`serve.ask({"a": {}})`:                              "the question 'a' needs a form, a prompt or roots: true",
		`serve.ask({"a": {"form": 1}})`:                     "the form of the question 'a' must be a Map",
		`serve.ask({"a": {"prompt": "x", "max_token": 1}})`: "the question 'a' has 'max_token', which does not belong there",
		`serve.ask({"a": {"prompt": 1}})`:                   "'prompt' of the question 'a' must be a String, got Int",
		`serve.ask({"a": {"prompt": "", "max_tokens": 0}})`: "'max_tokens' of the question 'a' must be an Int from 1 to 1048576, got 0",
		`serve.ask({"a": {"roots": false}})`:                "'roots' of the question 'a' must be true",
		`serve.roots()`:                                     "only a tool that `sense mcp serve` offers has a client to ask",
	} {
		r := sense.New(context.Background(), sense.Options{})
		src := "import std.serve\ndef f(): return \"x\"\ndef g(x): return x\nserve.resource(\"t://1\", f)\nserve.prompt(\"p\", f)\n" + call + "\n"
		if err := r.RunSource("p.sns", src); err == nil || !strings.Contains(err.Error(), "[line 6] ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", call, err)
		}
		r.Close()
	}
}

// What a program offers when it serves already comes too late, and says so.
func TestOffersComeBeforeServing(t *testing.T) {
	s, _, _ := serveProgram(t, `import std.serve
tool late() "Late": serve.prompt("p", lambda (): "x")
tool who() "Who calls": return serve.client()
`, "")
	if r := callServed(t, s, "late", `{}`); !r.IsError || r.Text != "std.serve.prompt: the program serves already, so the prompt 'p' comes too late" {
		t.Errorf("%+v", r)
	}
	if r := callServed(t, s, "who", `{}`); r.IsError || !strings.Contains(r.Text, `"elicitation":false,"sampling":false,"roots":`) {
		t.Errorf("%+v", r)
	}
}
