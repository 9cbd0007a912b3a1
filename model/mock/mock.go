// Package mock is a model that needs no network: it fills in a template, or
// plays a script of turns, so that programs and tool loops run offline.
package mock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/sense-lang/sense/model"
)

// The defaults of Options.
const (
	DefaultName       = "mock"
	DefaultTemplate   = "(mock reasoning about: {prompt})"
	DefaultConfidence = 0.5
)

// Options configure a mock; each zero value means its default.
type Options struct {
	// Name is the model's name; the default is DefaultName.
	Name string
	// Template is the answer, with {prompt} standing for the prompt; nil means
	// DefaultTemplate.
	Template *string
	// Confidence is that of every answer; nil means DefaultConfidence.
	Confidence *float64
	// Script, where not nil, are the turns that the mock gives, one for each
	// request whoever makes it; Template is then not used.
	Script []Turn
}

// Turn is one scripted turn: a text, or calls, or both.
type Turn struct {
	// Text is the answer; {result} in it stands for the last tool result of
	// the conversation.
	Text string
	// Calls are the calls it makes, in order.
	Calls []Call
}

// Call is one scripted call.
type Call struct {
	// Name is the tool's name as Sense writes it, such as
	// "filesystem.list_directory"; a name on the wire does too.
	Name string
	// Args is a JSON object; nil means {}. {result} within its texts stands
	// for the last tool result.
	Args json.RawMessage
}

// Client is a mock. Its tokens are words. It is a model.Client and a model.ToolSupport.
type Client struct {
	options Options
	mu      sync.Mutex
	next    int // the next turn of the script
}

// New gives a mock at the beginning of its script.
func New(o Options) *Client {
	if o.Name == "" {
		o.Name = DefaultName
	}
	return &Client{options: o}
}

// Provider is "mock".
func (c *Client) Provider() string { return "mock" }

// ModelID is Options.Name.
func (c *Client) ModelID() string { return c.options.Name }

// ToolSupport is nil for a scripted mock; any other cannot make calls.
func (c *Client) ToolSupport() error {
	if c.options.Script != nil {
		return nil
	}
	return errors.New("a mock without a script only fills in its template and calls no tools")
}

// Complete gives the template filled in, or the script's next turn.
func (c *Client) Complete(ctx context.Context, req *model.Request) (*model.Turn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := c.turn(req)
	if err != nil {
		return nil, err
	}
	confidence := DefaultConfidence
	if c.options.Confidence != nil {
		confidence = *c.options.Confidence
	}
	t.Confidence = &confidence
	t.Usage = usage(req, t)
	if req.Stream != nil {
		for _, piece := range strings.SplitAfter(t.Text, " ") {
			if piece != "" {
				req.Stream(piece)
			}
		}
	}
	return t, nil
}

// usage counts a token a word, of what is asked and of what is answered.
func usage(req *model.Request, t *model.Turn) model.Usage {
	words := func(s string) int64 { return int64(len(strings.Fields(s))) }
	u := model.Usage{InputTokens: words(req.System), OutputTokens: words(t.Text)}
	for _, m := range req.Messages {
		u.InputTokens += words(m.Text)
		for _, c := range m.Calls {
			u.InputTokens += words(string(c.Args))
		}
		for _, r := range m.Results {
			u.InputTokens += words(r.Text)
		}
	}
	for _, c := range t.Calls {
		u.OutputTokens += words(string(c.Args))
	}
	return u
}

func (c *Client) turn(req *model.Request) (*model.Turn, error) {
	if c.options.Script != nil {
		return c.scripted(req)
	}
	if len(req.Tools) > 0 {
		return nil, &model.Error{Kind: model.KindRequest, Msg: c.ToolSupport().Error()}
	}
	template := DefaultTemplate
	if c.options.Template != nil {
		template = *c.options.Template
	}
	return &model.Turn{Text: strings.ReplaceAll(template, "{prompt}", prompt(req)), Stop: "end_turn"}, nil
}

func (c *Client) scripted(req *model.Request) (*model.Turn, error) {
	n, ok := c.advance()
	if !ok {
		return nil, scriptError("the script has no turn left: it has %s, and this is request %d", plural(len(c.options.Script)), n+1)
	}
	turn := c.options.Script[n]
	result, has := lastResult(req)
	if !has {
		result = "{result}"
	}
	out := &model.Turn{Text: strings.ReplaceAll(turn.Text, "{result}", result), Stop: "end_turn"}
	for i, call := range turn.Calls {
		args, err := fill(call.Args, result)
		if err != nil {
			return nil, scriptError("the arguments of '%s' in turn %d of the script are not valid JSON: %v", call.Name, n+1, err)
		}
		out.Calls = append(out.Calls, model.ToolCall{ID: callID(n, i), Name: wireName(req.Tools, call.Name), Args: args})
		out.Stop = "tool_use"
	}
	return out, nil
}

// advance takes the next turn of the script. The count goes on at its end, so
// that every request too many says which it is.
func (c *Client) advance() (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.next
	c.next++
	return n, n < len(c.options.Script)
}

// fill puts a result into the texts of a call's arguments.
func fill(args json.RawMessage, result string) (json.RawMessage, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		return json.RawMessage("{}"), nil
	}
	var any json.RawMessage
	if err := json.Unmarshal(args, &any); err != nil {
		return nil, err
	}
	// In JSON {result} can stand only within a text.
	text, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(args, []byte("{result}"), text[1:len(text)-1]), nil
}

// prompt is the last thing the user said.
func prompt(req *model.Request) string {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if req.Messages[i].Role == model.RoleUser {
			return req.Messages[i].Text
		}
	}
	return ""
}

// lastResult is the text of the conversation's last tool result; false where it
// has none.
func lastResult(req *model.Request) (string, bool) {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if r := req.Messages[i].Results; len(r) > 0 {
			return r[len(r)-1].Text, true
		}
	}
	return "", false
}

// wireName is the name on the wire of the offered tool that a script names; a
// name nobody offers goes out as it is, as a model's invention would.
func wireName(tools []model.ToolSpec, name string) string {
	for _, t := range tools {
		if t.SenseName == name {
			return t.Name
		}
	}
	return name
}
