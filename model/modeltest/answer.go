package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// obj is a JSON object.
type obj = map[string]any

// call is a Call with its wire name, id and arguments settled.
type call struct {
	name, id string
	args     json.RawMessage
}

// scripted writes the answer of a turn and its content type.
func (s *Server) scripted(turn Turn, n int, body map[string]any) ([]byte, string) {
	if turn.Text != nil && *turn.Text == "@results" {
		joined := strings.Join(results(body), "|")
		turn.Text = &joined
	}
	if turn.Usage == nil {
		turn.Usage = &Usage{10, 5}
	}
	calls := settle(turn, n, body)
	stream := body["stream"] == true && !s.NoStream
	if s.wire == OpenAI {
		out := openAIAnswer(turn, calls, n, body)
		if stream {
			return openAIStream(out), "text/event-stream"
		}
		return encode(out), "application/json"
	}
	out := anthropicAnswer(turn, calls, n, body)
	if stream {
		return anthropicStream(out), "text/event-stream"
	}
	return encode(out), "application/json"
}

func settle(turn Turn, n int, body map[string]any) []call {
	var out []call
	for i, c := range turn.Calls {
		got := call{name: WireName(body, c.Name), id: fmt.Sprintf("call_%d_%d", n, i), args: c.Arguments}
		if c.Offered != nil {
			got.name = offered(body)[*c.Offered]
		}
		if c.ID != nil {
			got.id = *c.ID
		}
		if got.args == nil {
			got.args = json.RawMessage("{}")
		}
		out = append(out, got)
	}
	return out
}

func finish(turn Turn, calls []call, with, without string) string {
	switch {
	case turn.Finish != "":
		return turn.Finish
	case len(calls) > 0:
		return with
	}
	return without
}

func openAIAnswer(turn Turn, calls []call, n int, body map[string]any) obj {
	msg := obj{"role": "assistant", "content": turn.Text}
	var list []any
	for _, c := range calls {
		args := string(c.args)
		var text string
		if json.Unmarshal(c.args, &text) == nil {
			args = text
		}
		list = append(list, obj{"id": c.id, "type": "function", "function": obj{"name": c.name, "arguments": args}})
	}
	if list != nil {
		msg["tool_calls"] = list
	}
	u := turn.Usage
	return obj{
		"id": "chatcmpl-" + strconv.Itoa(n), "object": "chat.completion", "created": 0, "model": body["model"],
		"usage":   obj{"prompt_tokens": u.PromptTokens, "completion_tokens": u.CompletionTokens, "total_tokens": u.PromptTokens + u.CompletionTokens},
		"choices": []any{obj{"index": 0, "message": msg, "finish_reason": finish(turn, calls, "tool_calls", "stop")}},
	}
}

// openAIStream writes an answer as events: text in pieces of seven characters,
// arguments in halves.
func openAIStream(answer obj) []byte {
	var out bytes.Buffer
	choice := answer["choices"].([]any)[0].(obj)
	msg := choice["message"].(obj)
	send := func(delta obj, finish, usage any) {
		e := obj{"id": answer["id"], "object": "chat.completion.chunk", "created": 0, "model": answer["model"],
			"choices": []any{obj{"index": 0, "delta": delta, "finish_reason": finish}}}
		if usage != nil {
			e["usage"] = usage
		}
		fmt.Fprintf(&out, "data: %s\n\n", encode(e))
	}
	if text := msg["content"].(*string); text != nil {
		for _, piece := range pieces(*text, 7) {
			send(obj{"role": "assistant", "content": piece}, nil, nil)
		}
	}
	list, _ := msg["tool_calls"].([]any)
	for i, c := range list {
		f := c.(obj)["function"].(obj)
		halves := pieces(f["arguments"].(string), (len(f["arguments"].(string))+1)/2)
		send(obj{"tool_calls": []any{obj{"index": i, "id": c.(obj)["id"], "type": "function", "function": obj{"name": f["name"], "arguments": ""}}}}, nil, nil)
		for _, half := range halves {
			send(obj{"tool_calls": []any{obj{"index": i, "id": nil, "function": obj{"name": nil, "arguments": half}}}}, nil, nil)
		}
	}
	send(obj{}, choice["finish_reason"], answer["usage"])
	out.WriteString("data: [DONE]\n\n")
	return out.Bytes()
}

// pieces cuts a text into pieces of n characters.
func pieces(s string, n int) []string {
	var out []string
	r := []rune(s)
	for len(r) > 0 {
		k := min(max(n, 1), len(r))
		out = append(out, string(r[:k]))
		r = r[k:]
	}
	return out
}

func anthropicAnswer(turn Turn, calls []call, n int, body map[string]any) obj {
	content := []any{}
	if turn.Text != nil {
		content = append(content, obj{"type": "text", "text": *turn.Text})
	}
	for _, c := range calls {
		content = append(content, obj{"type": "tool_use", "id": c.id, "name": c.name, "input": c.args})
	}
	return obj{
		"id": "msg_" + strconv.Itoa(n), "type": "message", "role": "assistant", "model": body["model"], "content": content,
		"stop_reason": finish(turn, calls, "tool_use", "end_turn"), "stop_sequence": nil,
		"usage": obj{"input_tokens": turn.Usage.PromptTokens, "output_tokens": turn.Usage.CompletionTokens},
	}
}

func anthropicStream(answer obj) []byte {
	var out bytes.Buffer
	send := func(name string, e obj) {
		e["type"] = name
		fmt.Fprintf(&out, "event: %s\ndata: %s\n\n", name, encode(e))
	}
	start := obj{}
	for k, v := range answer {
		start[k] = v
	}
	start["content"], start["stop_reason"] = []any{}, nil
	usage := answer["usage"].(obj)
	start["usage"] = obj{"input_tokens": usage["input_tokens"], "output_tokens": 1}
	send("message_start", obj{"message": start})
	send("ping", obj{})
	for i, b := range answer["content"].([]any) {
		block := b.(obj)
		delta := func(d obj) { send("content_block_delta", obj{"index": i, "delta": d}) }
		if block["type"] == "text" {
			send("content_block_start", obj{"index": i, "content_block": obj{"type": "text", "text": ""}})
			for _, piece := range pieces(block["text"].(string), 7) {
				delta(obj{"type": "text_delta", "text": piece})
			}
		} else {
			send("content_block_start", obj{"index": i, "content_block": obj{"type": "tool_use", "id": block["id"], "name": block["name"], "input": obj{}}})
			args := string(block["input"].(json.RawMessage))
			for _, half := range pieces(args, (len(args)+1)/2) {
				delta(obj{"type": "input_json_delta", "partial_json": half})
			}
		}
		send("content_block_stop", obj{"index": i})
	}
	send("message_delta", obj{"delta": obj{"stop_reason": answer["stop_reason"], "stop_sequence": nil}, "usage": obj{"output_tokens": usage["output_tokens"]}})
	send("message_stop", obj{})
	return out.Bytes()
}

// encode writes JSON without escapes for web pages.
func encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // the values are our own
	}
	return bytes.TrimSpace(out.Bytes())
}

// offered gives the names of the tools that a request offers.
func offered(body map[string]any) []string {
	var out []string
	for _, t := range list(body["tools"]) {
		out = append(out, toolName(t))
	}
	return out
}

func toolName(t any) string {
	m, _ := t.(obj)
	if f, ok := m["function"].(obj); ok {
		m = f
	}
	name, _ := m["name"].(string)
	return name
}

func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.TrimPrefix(strings.ToLower(s), "mcp__"))
}

// WireName finds the offered tool that stands for a name as Sense writes it:
// the name itself, "@2" for the third, or the one with the same letters and
// digits. A name that nobody offers is given back.
func WireName(body map[string]any, name string) string {
	all := offered(body)
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "@")); err == nil && strings.HasPrefix(name, "@") && n >= 0 && n < len(all) {
		return all[n]
	}
	for _, o := range all {
		if o == name {
			return o
		}
	}
	for _, o := range all {
		if o != "" && fold(o) == fold(name) {
			return o
		}
	}
	return name
}

// results gives the texts of the tool results in a request's last turn.
func results(body map[string]any) []string {
	var out []string
	messages := list(body["messages"])
	for i := len(messages) - 1; i >= 0; i-- {
		m, _ := messages[i].(obj)
		if m["role"] == "tool" {
			out = append([]string{plainText(m["content"])}, out...)
			continue
		}
		for _, b := range blocks(m) {
			if b["type"] == "tool_result" {
				out = append(out, plainText(b["content"]))
			}
		}
		break
	}
	return out
}

// plainText gives content that is a text or a list of blocks with text.
func plainText(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	var out strings.Builder
	for _, p := range list(content) {
		m, _ := p.(obj)
		s, _ := m["text"].(string)
		out.WriteString(s)
	}
	return out.String()
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func blocks(m obj) []obj {
	var out []obj
	for _, b := range list(m["content"]) {
		if o, ok := b.(obj); ok {
			out = append(out, o)
		}
	}
	return out
}
