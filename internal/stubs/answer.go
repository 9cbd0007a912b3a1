package stubs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/internal/pyjson"
)

type object = map[string]any

// wireCall is a call with the name that was offered for it.
type wireCall struct {
	id, name string
	args     json.RawMessage
}

func wireCalls(turn Turn, n int, body object) []wireCall {
	offered := toolNames(body)
	var calls []wireCall
	for i, c := range turn.Calls {
		w := wireCall{id: c.ID, args: c.Arguments}
		if w.id == "" {
			w.id = fmt.Sprintf("call_%d_%d", n, i)
		}
		if w.args == nil {
			w.args = json.RawMessage("{}")
		}
		switch {
		case c.Offered == nil:
			w.name = wireName(offered, c.Name)
		case *c.Offered < len(offered):
			w.name = offered[*c.Offered]
		}
		calls = append(calls, w)
	}
	return calls
}

func toolNames(body object) []string {
	var names []string
	for _, t := range list(body["tools"]) {
		names = append(names, toolName(t))
	}
	return names
}

func toolName(tool any) string {
	t, _ := tool.(object)
	if name := str(t["name"]); name != "" {
		return name
	}
	f, _ := t["function"].(object)
	return str(f["name"])
}

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

func fold(s string) string {
	return notWord.ReplaceAllString(strings.TrimPrefix(strings.ToLower(s), "mcp__"), "")
}

// wireName finds the offered name that stands for one in Sense; an unknown one
// is called as it is.
func wireName(offered []string, name string) string {
	if at, ok := strings.CutPrefix(name, "@"); ok {
		if i, err := strconv.Atoi(at); err == nil && i < len(offered) {
			return offered[i]
		}
	}
	for _, o := range offered {
		if o == name {
			return o
		}
	}
	for _, o := range offered {
		if o != "" && fold(o) == fold(name) {
			return o
		}
	}
	return name
}

// text gives the turn's text, with "@results" filled in; nil where it has none.
func (t Turn) text(body object) any {
	switch {
	case t.Text == nil:
		return nil
	case *t.Text == "@results":
		return strings.Join(Results(body), "|")
	}
	return *t.Text
}

func (t Turn) usage() Usage {
	if t.Usage == nil {
		return Usage{Prompt: 10, Completion: 5, Total: 15}
	}
	return *t.Usage
}

func (t Turn) finish(toolUse, end string) string {
	switch {
	case t.Finish != "":
		return t.Finish
	case len(t.Calls) > 0:
		return toolUse
	}
	return end
}

// openAIArguments gives the text that goes into a call: a JSON string's text, so
// that a case can send broken JSON, otherwise the JSON as Python writes it.
func openAIArguments(raw json.RawMessage) string {
	v, err := pyjson.Parse(raw)
	if err != nil {
		return string(raw)
	}
	if s, ok := v.(string); ok {
		return s
	}
	return pyjson.Dumps(v, pyjson.Options{})
}

func answerOpenAI(w http.ResponseWriter, turn Turn, n int, body object) {
	msg := object{"role": "assistant", "content": turn.text(body)}
	var calls []any
	for _, c := range wireCalls(turn, n, body) {
		calls = append(calls, object{"id": c.id, "type": "function",
			"function": object{"name": c.name, "arguments": openAIArguments(c.args)}})
	}
	if calls != nil {
		msg["tool_calls"] = calls
	}
	finish := turn.finish("tool_calls", "stop")
	if body["stream"] == true {
		streamOpenAI(w, n, body["model"], msg, finish, turn.usage())
		return
	}
	out := object{"id": fmt.Sprintf("chatcmpl-%d", n), "object": "chat.completion", "created": 0,
		"model": body["model"], "usage": turn.usage(),
		"choices": []any{object{"index": 0, "message": msg, "finish_reason": finish}}}
	answer(w, http.StatusOK, encode(out), jsonType)
}

// streamOpenAI sends a message in pieces of seven code points, calls whole.
func streamOpenAI(w http.ResponseWriter, n int, model any, msg object, finish string, usage Usage) {
	var data strings.Builder
	send := func(delta object, finish any, extra object) {
		chunk := object{"id": fmt.Sprintf("chatcmpl-%d", n), "object": "chat.completion.chunk", "created": 0,
			"model": model, "choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}}
		for k, v := range extra {
			chunk[k] = v
		}
		fmt.Fprintf(&data, "data: %s\n\n", encode(chunk))
	}
	text := []rune(str(msg["content"]))
	for i := 0; i < len(text); i += 7 {
		send(object{"role": "assistant", "content": string(text[i:min(i+7, len(text))])}, nil, nil)
	}
	for i, c := range list(msg["tool_calls"]) {
		call := object{"index": i}
		for k, v := range c.(object) {
			call[k] = v
		}
		send(object{"role": "assistant", "tool_calls": []any{call}}, nil, nil)
	}
	send(object{}, finish, object{"usage": usage})
	data.WriteString("data: [DONE]\n\n")
	answer(w, http.StatusOK, []byte(data.String()), "text/event-stream")
}

func answerAnthropic(w http.ResponseWriter, turn Turn, n int, body object) {
	content := []any{}
	if text := turn.text(body); text != nil {
		content = append(content, object{"type": "text", "text": text})
	}
	for _, c := range wireCalls(turn, n, body) {
		content = append(content, object{"type": "tool_use", "id": c.id, "name": c.name, "input": c.args})
	}
	u := turn.usage()
	out := object{"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": body["model"],
		"content": content, "stop_reason": turn.finish("tool_use", "end_turn"), "stop_sequence": nil,
		"usage": object{"input_tokens": u.Prompt, "output_tokens": u.Completion}}
	if body["stream"] == true {
		streamAnthropic(w, out, content)
		return
	}
	answer(w, http.StatusOK, encode(out), jsonType)
}

// streamAnthropic sends the message as the events of a stream: each block opened,
// filled by one delta and closed.
func streamAnthropic(w http.ResponseWriter, out object, content []any) {
	var data strings.Builder
	send := func(event string, v object) {
		v["type"] = event
		fmt.Fprintf(&data, "event: %s\ndata: %s\n\n", event, encode(v))
	}
	start := object{}
	for k, v := range out {
		start[k] = v
	}
	start["content"], start["stop_reason"] = []any{}, nil
	send("message_start", object{"message": start})
	for i, c := range content {
		block := c.(object)
		open := object{"type": "text", "text": ""}
		delta := object{"type": "text_delta", "text": block["text"]}
		if block["type"] == "tool_use" {
			open = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": string(block["input"].(json.RawMessage))}
		}
		send("content_block_start", object{"index": i, "content_block": open})
		send("content_block_delta", object{"index": i, "delta": delta})
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": out["stop_reason"], "stop_sequence": nil}, "usage": out["usage"]})
	send("message_stop", object{})
	answer(w, http.StatusOK, []byte(data.String()), "text/event-stream")
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // only what came from JSON is in it
	}
	return data
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func str(v any) string {
	s, _ := v.(string)
	return s
}
