package builtins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/model"
)

// What a server asks of us is answered as the thread whose call is under way: its
// place decides what policy says and which model answers. Nothing is answered
// while no call is.

// talk is one talk of a thread with servers. The thread's goroutine is in the
// request, so whoever asks runs the answer, one at a time.
type talk struct {
	th    *eval.Thread
	turn  chan struct{} // holds one: who answers, or the end
	over  bool          // guarded by turn, as is what follows
	stop  context.CancelFunc
	fault any // what an answer panicked with, for the thread's goroutine
}

// newTalk makes a talk in which nothing is answered before during runs.
func newTalk(th *eval.Thread) *talk {
	x := &talk{th: th, turn: make(chan struct{}, 1)}
	x.turn <- struct{}{}
	return x
}

// answer runs f as the thread; false says that the talk is over.
func (x *talk) answer(ctx context.Context, f func(th *eval.Thread)) (answered bool, err error) {
	select {
	case x.turn <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-x.turn }()
	if x.over || x.fault != nil {
		return false, nil
	}
	x.th.Meanwhile(func() {
		defer func() {
			if x.fault = recover(); x.fault != nil {
				err = errEnding
				x.stop()
			}
		}()
		f(x.th)
	})
	return true, err
}

// finish waits for an answer that is being made and lets no other begin.
func (x *talk) finish() {
	x.turn <- struct{}{}
	x.over = true
	<-x.turn
}

// questions hands what a server asks to a talk that is under way.
type questions struct {
	mu   sync.Mutex
	live []*talk
}

// join has a talk answer what the server asks.
func (q *questions) join(x *talk) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.live = append(q.live, x)
}

// end takes a talk out; questions that come later find another or none.
func (q *questions) end(x *talk) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, y := range q.live {
		if x == y {
			q.live = append(q.live[:i:i], q.live[i+1:]...)
			return
		}
	}
}

func (q *questions) any() *talk {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.live) == 0 {
		return nil
	}
	return q.live[len(q.live)-1]
}

var (
	errNobody = errors.New("nothing is under way that could answer")
	errEnding = errors.New("the program is ending")
)

// ask has f run as a thread that talks with the server.
func (q *questions) ask(ctx context.Context, f func(th *eval.Thread)) error {
	for {
		x := q.any()
		if x == nil {
			return errNobody
		}
		answered, err := x.answer(ctx, f)
		if answered || err != nil {
			return err
		}
		q.end(x)
	}
}

// talk runs f, which talks to the server, without the lock, and answers
// meanwhile what the server asks. Its error ends the program.
func (s *MCPServer) talk(th *eval.Thread, f func(ctx context.Context)) error {
	x := newTalk(th)
	s.asks.join(x)
	defer s.asks.end(x)
	return x.during(f)
}

// during runs f without the lock; what servers ask is answered until it is over.
func (x *talk) during(f func(ctx context.Context)) error {
	x.th.Blocking(func(ctx context.Context) {
		ctx, x.stop = context.WithCancel(ctx)
		defer x.stop()
		<-x.turn
		defer x.finish()
		f(ctx)
	})
	if x.fault != nil {
		panic(x.fault) // where it belongs
	}
	return x.th.Stopped()
}

// handlers answer what the server asks.
func (s *MCPServer) handlers() mcp.Handlers {
	h := mcp.Handlers{
		Sample: func(ctx context.Context, r *mcp.SampleRequest) (out *mcp.SampleResult, err error) {
			if e := s.asks.ask(ctx, func(th *eval.Thread) { out, err = s.sample(th, r) }); e != nil {
				return nil, e
			}
			return out, err
		},
		Elicit: func(ctx context.Context, r *mcp.ElicitRequest) (out *mcp.ElicitResult, err error) {
			if e := s.asks.ask(ctx, func(th *eval.Thread) { out, err = s.elicit(th, r) }); e != nil {
				return &mcp.ElicitResult{Action: "decline"}, nil
			}
			return out, err
		},
		Log:             s.logged(),
		ResourceUpdated: s.resourceUpdated,
	}
	if len(s.deps.MCP.Roots) > 0 {
		h.Roots = func(ctx context.Context) (out []mcp.Root, err error) {
			if e := s.asks.ask(ctx, func(th *eval.Thread) { out, err = s.roots(th) }); e != nil {
				return nil, e
			}
			return out, err
		}
	}
	if s.deps.MCP.Progress != nil {
		h.Progress = s.progress
	}
	return h
}

// explicit checks a capability that only a rule can give.
func (s *MCPServer) explicit(th *eval.Thread, capability, what string) error {
	at := th.Place()
	if at.Permitted(capability) {
		return nil
	}
	s.record(at, what, "denied", capability)
	return fmt.Errorf("%s is not allowed here: the program's policy has no 'allow %s'", what, capability)
}

// record makes an entry of the richer audit.
func (s *MCPServer) record(at eval.Place, what, event, detail string) {
	_ = at.Log().Add(audit.Entry{ // a log that is full ends the program at its next entry
		Name: s.cfg.Name, Kind: "mcp", Event: event, Detail: detail, File: at.File(), Pos: at.Pos(), Lineage: at.Lineage(),
		Fields: []audit.Field{{Key: "asked", Value: what}}, Extra: true,
	})
}

// sample answers with the model that the place of the call has set.
func (s *MCPServer) sample(th *eval.Thread, r *mcp.SampleRequest) (*mcp.SampleResult, error) {
	if err := s.explicit(th, "mcp.sampling", "sampling"); err != nil {
		return nil, err
	}
	at := th.Place()
	v, _ := at.Delegation()
	m, ok := v.AsObject().(*Model)
	if !ok {
		return nil, errors.New("no model is set with 'set delegation'")
	}
	x := &exchange{t: th, at: at, m: m, began: time.Now()}
	x.req.System = r.System
	for _, msg := range r.Messages {
		role := model.RoleUser
		if msg.Role == "assistant" {
			role = model.RoleAssistant
		}
		x.req.Messages = append(x.req.Messages, model.Message{Role: role, Text: mcp.RenderBlocks(msg.Blocks)})
	}
	if n := len(x.req.Messages); n == 0 || x.req.Messages[n-1].Role != model.RoleUser {
		return nil, errors.New("the messages do not end with one of the user")
	}
	turn, err := x.turn()
	if err != nil {
		return nil, err
	}
	s.record(at, "sampling", "answered", m.name)
	stop := "endTurn"
	if turn.Truncated {
		stop = "maxTokens"
	}
	return &mcp.SampleResult{Model: m.name, Text: turn.Text, StopReason: stop}, m.audited(at)
}

func (s *MCPServer) roots(th *eval.Thread) ([]mcp.Root, error) {
	if err := s.explicit(th, "mcp.roots", "listing roots"); err != nil {
		return nil, err
	}
	var out []mcp.Root
	for _, dir := range s.deps.MCP.Roots {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		out = append(out, mcp.Root{URI: fileURI(abs), Name: filepath.Base(abs)})
	}
	return out, nil
}

// maxLogged bounds the lines of one server that are kept.
const maxLogged = 1000

// logged gives the handler of log lines: they go to --verbose and the audit.
func (s *MCPServer) logged() func(mcp.LogMessage) {
	var n atomic.Int64
	return func(m mcp.LogMessage) {
		if v := s.deps.MCP.Verbose; v != nil && n.Add(1) <= maxLogged {
			v(diag.Visible(fmt.Sprintf("mcp server '%s' says (%s): %s", m.Server, m.Level, clip(m.Text, 2000))))
		}
	}
}

// clip cuts a text to at most n bytes between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

func (s *MCPServer) progress(p mcp.Progress) {
	line := s.cfg.Name + "." + p.Tool + ": "
	switch {
	case p.Total > 0:
		line += fmt.Sprintf("%.0f %%", min(100, 100*p.Progress/p.Total))
	default:
		line += fmt.Sprint(p.Progress)
	}
	if p.Message != "" {
		line += " " + clip(p.Message, 200)
	}
	s.deps.MCP.Progress(strings.ReplaceAll(diag.Visible(line), "\n", " "))
}

// progressDone takes the line of progress away.
func (s *MCPServer) progressDone() {
	if s.deps.MCP.Progress != nil {
		s.deps.MCP.Progress("")
	}
}

// elicit asks the human at the terminal; without one it declines.
func (s *MCPServer) elicit(th *eval.Thread, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	at := th.Place()
	if !s.deps.MCP.Interactive || th.InAgent() {
		s.record(at, "elicitation", "declined", "no terminal")
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	form := &form{th: th}
	out := form.fill(s.cfg.Name, r)
	if form.err != nil {
		return &mcp.ElicitResult{Action: "cancel"}, nil
	}
	event := map[string]string{"accept": "accepted", "decline": "declined", "cancel": "cancelled"}[out.Action]
	s.record(at, "elicitation", event, "by the human at the terminal")
	return out, nil
}

// form asks for the fields of an elicitation, one after the other.
type form struct {
	th  *eval.Thread
	err error // the input ended or the program is interrupted
}

func (f *form) line(prompt ...string) string {
	if f.err == nil {
		f.err = f.th.Write(visibleLines(prompt...))
	}
	if f.err != nil {
		return ""
	}
	var s string
	s, f.err = f.th.ReadLine()
	return strings.TrimSpace(s)
}

// visibleLines joins lines that hold foreign text.
func visibleLines(lines ...string) string {
	for i, l := range lines {
		lines[i] = diag.Visible(l)
	}
	return strings.Join(lines, "\n")
}

func (f *form) fill(server string, r *mcp.ElicitRequest) *mcp.ElicitResult {
	question := []string{"The MCP server '" + server + "' asks: " + r.Message, "Answer it? [y/n] "}
	if r.URL != "" {
		question = append(question[:1], "It wants you to open this address:", "  "+r.URL, "Done? [y/n] ")
	}
	if a := strings.ToLower(f.line(question...)); a != "y" && a != "yes" {
		return &mcp.ElicitResult{Action: "decline"}
	}
	if r.URL != "" {
		return &mcp.ElicitResult{Action: "accept"}
	}
	out := eval.NewMap()
	schema, err := FromJSON(r.Schema)
	if m, ok := schema.AsMap(); err == nil && ok {
		if !f.fields(m, out) {
			return &mcp.ElicitResult{Action: "cancel"}
		}
	}
	content, err := ToJSON(out.Value())
	if err != nil {
		return &mcp.ElicitResult{Action: "cancel"}
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}
}

// fields asks for every property; false where it was given up.
func (f *form) fields(schema, out *eval.Map) bool {
	v, _ := schema.Get("properties")
	props, ok := v.AsMap()
	if !ok {
		return true
	}
	required := map[string]bool{}
	if v, _ = schema.Get("required"); v.IsSet() {
		if list, ok := v.AsArray(); ok {
			for _, x := range list.Values() {
				required[x.String()] = true
			}
		}
	}
	for _, name := range props.Keys() {
		p, _ := props.Get(name)
		m, ok := p.AsMap()
		if !ok {
			continue
		}
		if !f.field(name, m, required[name], out) {
			return false
		}
	}
	return true
}

// maxTries is how often one field is asked for.
const maxTries = 3

func (f *form) field(name string, p *eval.Map, required bool, out *eval.Map) bool {
	fallback, hasFallback := p.Get("default")
	for range maxTries {
		s := f.line("  " + fieldPrompt(name, p, required))
		if f.err != nil {
			return false
		}
		if s == "" && hasFallback {
			out.Set(name, fallback)
			return true
		}
		if s == "" && !required {
			return true
		}
		v, why := typedValue(p, s)
		if why == "" {
			why = fits(p, v)
		}
		if why == "" {
			out.Set(name, v)
			return true
		}
		f.err = f.th.Write("    " + diag.Visible(why) + "\n")
	}
	return false
}

func fieldPrompt(name string, p *eval.Map, required bool) string {
	text := name
	for _, key := range []string{"title", "description"} {
		if v, _ := p.Get(key); v.IsSet() && v.String() != name {
			text += ", " + clip(v.String(), 500)
		}
	}
	if v, _ := p.Get("enum"); v.IsSet() {
		text += " " + v.String()
	}
	if v, ok := p.Get("default"); ok {
		text += " (" + v.String() + ")"
	} else if !required {
		text += " (may be left out)"
	}
	return text + ": "
}

// typedValue reads what was typed as the property's type; why says what is
// wrong with it.
func typedValue(p *eval.Map, s string) (v eval.Value, why string) {
	kind, _ := p.Get("type")
	switch kind.String() {
	case "integer", "number":
		v, err := FromJSON([]byte(s))
		if _, ok := v.AsNumber(); err != nil || !ok {
			return v, "this must be a number"
		}
		return v, ""
	case "boolean":
		switch strings.ToLower(s) {
		case "y", "yes", "true":
			return eval.Bool(true), ""
		case "n", "no", "false":
			return eval.Bool(false), ""
		}
		return v, "this must be yes or no"
	case "array":
		list := eval.NewArray(0)
		for _, one := range strings.Split(s, ",") {
			list.Push(eval.String(strings.TrimSpace(one)))
		}
		return list.Value(), ""
	}
	return eval.String(s), ""
}

// fits says what is wrong with a value by the rest of the property's schema.
func fits(p *eval.Map, v eval.Value) string {
	schema, err := ToJSON(p.Value())
	if err != nil {
		return ""
	}
	text, err := ToJSON(v)
	if err != nil {
		return err.Error()
	}
	whole := json.RawMessage(`{"type":"object","properties":{"value":` + string(schema) + `}}`)
	if err := model.CheckArgs(whole, json.RawMessage(`{"value":`+string(text)+`}`)); err != nil {
		return err.Error()
	}
	return ""
}
