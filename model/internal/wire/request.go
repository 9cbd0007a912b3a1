package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/model"
)

// NoOutput stands for a tool's result without any text, which vendors refuse.
const NoOutput = "(no output)"

// CheckRequest is the error of a request that no service would take.
func CheckRequest(o *model.Options, req *model.Request) error {
	refuse := func(kind model.Kind, msg string) error { return &model.Error{Kind: kind, Msg: msg} }
	if len(req.Messages) == 0 {
		return refuse(model.KindRequest, "there is nothing to ask")
	}
	if last := req.Messages[len(req.Messages)-1]; last.Role == model.RoleUser && Blank(last.Text) {
		return refuse(model.KindRequest, "the prompt is empty")
	}
	for _, r := range o.APIKey {
		if r <= ' ' || r == 0x7f {
			return refuse(model.KindAuth, "the API key holds a space, a line end or a control character")
		}
	}
	return nil
}

// Blank reports whether s has nothing to read.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

// ResultText is the text of a tool's result as it may be sent.
func ResultText(r model.ToolResult) string {
	if Blank(r.Text) {
		return NoOutput
	}
	return r.Text
}

// Number writes a float as JSON without loss.
func Number(f float64) json.RawMessage { return strconv.AppendFloat(nil, f, 'g', -1, 64) }

// FinishCalls makes calls fit to be answered: no arguments become {}, and each
// ID is present and differs from the others of the conversation.
func FinishCalls(calls []model.ToolCall, req *model.Request) {
	used := map[string]bool{}
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			used[c.ID] = true
		}
	}
	next := 1
	for i := range calls {
		c := &calls[i]
		if len(bytes.TrimSpace(c.Args)) == 0 {
			c.Args = json.RawMessage("{}")
		}
		for c.ID == "" || used[c.ID] {
			c.ID = "call_" + strconv.Itoa(next)
			next++
		}
		used[c.ID] = true
	}
}

// Arguments gives a call's arguments as they go back to the service. Anthropic has
// no form for what is no object, and of the servers that speak OpenAI's wire some
// refuse a whole conversation for it; the result beside it says what was wrong.
func Arguments(args json.RawMessage) json.RawMessage {
	if _, ok := Object(args); ok {
		return args
	}
	return json.RawMessage("{}")
}

// CheckURL is the error of an address that no request can be sent to.
func CheckURL(base string) error {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		shown := "is not an http:// or https:// URL"
		if err == nil {
			shown = "'" + redactURL(base) + "' " + shown
		}
		return &model.Error{Kind: model.KindRequest, Msg: "the base URL " + shown}
	}
	return nil
}

// WithSchema asks with f for a structured answer. Where the service refuses the
// wire's own way of asking, as older models and many local servers do, it asks
// once more in words. A request without a schema goes to f as it is.
func WithSchema(o *model.Options, req *model.Request, f func(*model.Request) (*model.Turn, error)) (*model.Turn, error) {
	turn, err := f(req)
	if err == nil || req.Schema == nil || !refusesSchema(err) {
		return turn, err
	}
	plain := *req
	plain.Schema = nil
	if plain.System == "" {
		plain.System = o.System
	}
	if plain.System != "" {
		plain.System += "\n\n"
	}
	plain.System += "Answer with nothing but JSON that satisfies this JSON Schema: " + string(req.Schema)
	return f(&plain)
}

// refusesSchema reports whether a service refused the part of a request that
// asks for a structured answer.
func refusesSchema(err error) bool {
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.KindRequest {
		return false
	}
	for _, word := range []string{"response_format", "json_schema", "output_config", "output_format", "structured output"} {
		if strings.Contains(strings.ToLower(e.Msg), word) {
			return true
		}
	}
	return false
}
