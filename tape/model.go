package tape

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sense-lang/sense/model"
)

// modelAsk is a request as a tape holds it.
type modelAsk struct {
	Provider string          `json:"provider"`
	Model    string          `json:"model"`
	System   string          `json:"system,omitempty"`
	Messages []modelMessage  `json:"messages"`
	Tools    []modelTool     `json:"tools,omitempty"`
	Schema   json.RawMessage `json:"schema,omitempty"`
}

type modelMessage struct {
	Role    model.Role    `json:"role"`
	Text    string        `json:"text,omitempty"`
	Calls   []modelCall   `json:"calls,omitempty"`
	Results []modelResult `json:"results,omitempty"`
}

type modelCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

type modelResult struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Error  bool   `json:"error,omitempty"`
	Images int    `json:"images,omitempty"`
}

// modelTool is an offered tool; its description and schema count by their hash.
type modelTool struct {
	Name string `json:"name"`
	Hash string `json:"hash"`
}

// modelAnswer is a turn as a tape holds it.
type modelAnswer struct {
	Text       string      `json:"text"`
	Shown      *string     `json:"shown,omitempty"` // what a stream has shown, where that is not the text
	Calls      []modelCall `json:"calls,omitempty"`
	Stop       string      `json:"stop,omitempty"`
	Truncated  bool        `json:"truncated,omitempty"`
	Confidence *float64    `json:"confidence,omitempty"`
	Input      int64       `json:"input_tokens"`
	Output     int64       `json:"output_tokens"`
}

// Client wraps a model's client: it records its exchanges, or plays them. make
// is not called by a tape that plays. who is the provider and the model's id.
func (t *Tape) Client(provider, modelID string, make func() model.Client) model.Client {
	c := &client{tape: t, provider: provider, id: modelID, ids: map[string]string{}}
	if !t.Playing() {
		c.real = make()
	}
	return c
}

type client struct {
	tape         *Tape
	real         model.Client
	provider, id string

	mu  sync.Mutex
	ids map[string]string // a model's own ids of calls to numbered ones
}

func (c *client) Provider() string { return c.provider }
func (c *client) ModelID() string  { return c.id }

// ToolSupport is that of the real client; a tape has what it has.
func (c *client) ToolSupport() error {
	if s, ok := c.real.(model.ToolSupport); ok {
		return s.ToolSupport()
	}
	return nil
}

// Complete asks the tape, or the model and records what it says.
func (c *client) Complete(ctx context.Context, req *model.Request) (*model.Turn, error) {
	ask := c.ask(req)
	if c.tape.Playing() {
		return c.play(ask, req)
	}
	turn, shown, err := c.listen(ctx, req)
	e := Exchange{Kind: Model, Who: c.id}
	raw, merr := marshal(ask)
	if merr != nil {
		return nil, merr
	}
	e.Ask = json.RawMessage(raw)
	if err != nil && ctx.Err() != nil {
		return nil, err // the program's end is no exchange
	}
	if err != nil {
		e.Error = err.Error()
	}
	if err == nil || shown != nil {
		if raw, merr = marshal(c.answer(turn, shown)); merr != nil {
			return nil, merr
		}
		e.Answer = json.RawMessage(raw)
	}
	if aerr := c.tape.Add(e); aerr != nil {
		return nil, aerr
	}
	return turn, err
}

func (c *client) play(ask modelAsk, req *model.Request) (*model.Turn, error) {
	e, err := c.tape.Next(Model, c.id, ask)
	if err != nil {
		return nil, err
	}
	var a modelAnswer
	if e.Answer != nil || e.Error == "" {
		if err := json.Unmarshal(e.Answer, &a); err != nil {
			return nil, fmt.Errorf("the tape's answer cannot be read: %w", err)
		}
	}
	a.show(req.Stream)
	if e.Error != "" {
		return nil, errors.New(e.Error)
	}
	turn := &model.Turn{Text: a.Text, Stop: a.Stop, Truncated: a.Truncated, Confidence: a.Confidence,
		Usage: model.Usage{InputTokens: a.Input, OutputTokens: a.Output}}
	for _, k := range a.Calls {
		turn.Calls = append(turn.Calls, model.ToolCall{ID: k.ID, Name: k.Name, Args: json.RawMessage(k.Args)})
	}
	return turn, nil
}

// listen asks the model and gives what its stream has shown, too: one that broke
// off and was asked for again has shown more than the text.
func (c *client) listen(ctx context.Context, req *model.Request) (turn *model.Turn, shown *string, err error) {
	if req.Stream == nil {
		turn, err = c.real.Complete(ctx, req)
		return turn, nil, err
	}
	var all strings.Builder
	heard := *req
	heard.Stream = func(piece string) {
		all.WriteString(piece)
		req.Stream(piece)
	}
	turn, err = c.real.Complete(ctx, &heard)
	if s := all.String(); turn == nil && s != "" || turn != nil && s != turn.Text {
		shown = &s
	}
	return turn, shown, err
}

// show plays what a stream has shown.
func (a *modelAnswer) show(show func(string)) {
	text := a.Text
	if a.Shown != nil {
		text = *a.Shown
	}
	if show != nil && text != "" {
		show(text)
	}
}

func (c *client) ask(req *model.Request) modelAsk {
	a := modelAsk{Provider: c.provider, Model: c.id, System: req.System, Schema: req.Schema, Messages: []modelMessage{}}
	for _, m := range req.Messages {
		out := modelMessage{Role: m.Role, Text: m.Text, Calls: c.calls(m.Calls)}
		for _, r := range m.Results {
			out.Results = append(out.Results, modelResult{c.number(r.CallID), r.Text, r.IsError, len(r.Images)})
		}
		a.Messages = append(a.Messages, out)
	}
	for _, t := range req.Tools {
		a.Tools = append(a.Tools, modelTool{t.Name, hash(t)})
	}
	return a
}

// hash gives the hash of what is offered. The spaces of a schema do not count: a
// tape keeps none of them.
func hash(t model.ToolSpec) string {
	var b bytes.Buffer
	b.WriteString(t.Description + "\x00")
	if json.Compact(&b, t.Schema) != nil {
		b.Write(t.Schema)
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:8])
}

func (c *client) answer(t *model.Turn, shown *string) modelAnswer {
	if t == nil {
		return modelAnswer{Shown: shown}
	}
	return modelAnswer{Shown: shown, Text: t.Text, Calls: c.calls(t.Calls), Stop: t.Stop, Truncated: t.Truncated, Confidence: t.Confidence,
		Input: t.Usage.InputTokens, Output: t.Usage.OutputTokens}
}

func (c *client) calls(calls []model.ToolCall) []modelCall {
	var out []modelCall
	for _, k := range calls {
		out = append(out, modelCall{c.number(k.ID), k.Name, string(k.Args)})
	}
	return out
}

// number gives a call's id as a tape has it: call_1, call_2 in order. A tape
// that plays gives these to the program, so they stay as they are.
func (c *client) number(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.ids[id]; ok {
		return n
	}
	n := fmt.Sprintf("call_%d", len(c.ids)+1)
	if c.tape.Playing() {
		n = id
	}
	c.ids[id] = n
	return n
}
