package modeltest

import (
	"encoding/json"
	"fmt"
)

// Turn is one scripted answer. Its JSON form is that of the conformance
// corpus: {"text": "..."}, {"calls": [...]}, {"status": 429, "body": {...}},
// {"raw": "..."} or {"drop": true}.
type Turn struct {
	// Text is the answer's text; nil is none (null on OpenAI's wire).
	// "@results" stands for the last tool results of the request, joined by |.
	Text *string `json:"text,omitempty"`
	// Calls are the calls the model makes.
	Calls []Call `json:"calls,omitempty"`
	// Finish replaces the stop reason.
	Finish string `json:"finish,omitempty"`
	// Usage replaces 10 prompt and 5 completion tokens.
	Usage *Usage `json:"usage,omitempty"`
	// Status, where not 0, is answered with Body in place of a turn.
	Status int             `json:"status,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	// Raw, where not nil, is the whole body of the answer.
	Raw *string `json:"raw,omitempty"`
	// Drop closes the connection without an answer.
	Drop bool `json:"drop,omitempty"`
	// Header is added to the answer's.
	Header map[string]string `json:"header,omitempty"`
	// CutAt closes the connection after so many bytes of the body; 0 does not.
	CutAt int `json:"cut_at,omitempty"`
	// Hang does not answer until the client or the server goes.
	Hang bool `json:"hang,omitempty"`
}

// Call is one call of a scripted turn.
type Call struct {
	// Name is the tool's name as Sense writes it; the offered tool whose wire
	// name stands for it is called, "@2" being the third. A name that nobody
	// offers goes out as it is.
	Name string `json:"name,omitempty"`
	// Offered, where not nil, counts the called tool among those offered.
	Offered *int `json:"offered,omitempty"`
	// Arguments is a JSON value, {} by default. On OpenAI's wire a string
	// stands for the text of the arguments.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// ID replaces an id made up from the request's number.
	ID *string `json:"id,omitempty"`
}

// Usage counts tokens as OpenAI names them.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// ParseTurns reads a JSON array of turns.
func ParseTurns(data []byte) ([]Turn, error) {
	var turns []Turn
	if err := json.Unmarshal(data, &turns); err != nil {
		return nil, fmt.Errorf("turns: %w", err)
	}
	return turns, nil
}

// Text is a turn that answers with a text.
func Text(s string) Turn { return Turn{Text: &s} }

// Calls is a turn that makes calls.
func Calls(calls ...Call) Turn { return Turn{Calls: calls} }

// CallOf is a call with arguments given as JSON.
func CallOf(name, args string) Call { return Call{Name: name, Arguments: json.RawMessage(args)} }

// Status is a refusal with a body given as JSON.
func Status(status int, body string) Turn { return Turn{Status: status, Body: json.RawMessage(body)} }

// Raw is an answer whose body is exactly s, with status 200.
func Raw(s string) Turn { return Turn{Raw: &s} }

// Stream is an event stream whose body is exactly s.
func Stream(s string) Turn {
	return Turn{Raw: &s, Header: map[string]string{"Content-Type": "text/event-stream"}}
}
