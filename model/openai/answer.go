package openai

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/internal/wire"
)

// The answer's members that count, in the one form that the library reads.
// Servers differ: arguments come as objects, ids as null, content as a list.
type (
	answer struct {
		Choices []choice         `json:"choices"`
		Usage   map[string]int64 `json:"usage,omitempty"`
	}
	choice struct {
		Index        int      `json:"index"`
		Message      *message `json:"message,omitempty"`
		Delta        *message `json:"delta,omitempty"`
		FinishReason string   `json:"finish_reason,omitempty"`
	}
	message struct {
		Role      string     `json:"role"`
		Content   string     `json:"content,omitempty"`
		Refusal   string     `json:"refusal,omitempty"`
		ToolCalls []toolCall `json:"tool_calls,omitempty"`
	}
	toolCall struct {
		Index    *int     `json:"index,omitempty"`
		ID       string   `json:"id,omitempty"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments,omitempty"`
	}
)

// wholeAnswer checks an answer in one piece and gives it in the library's form,
// with exactly one choice.
func wholeAnswer(body []byte) ([]byte, error) {
	a, err := readWhole(body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(a)
}

// wholeAsStream gives an answer in one piece as a stream of one event.
func wholeAsStream(body []byte) ([]byte, error) {
	a, err := readWhole(body)
	if err != nil {
		return nil, err
	}
	a.Choices[0].Delta, a.Choices[0].Message = a.Choices[0].Message, nil
	for i := range a.Choices[0].Delta.ToolCalls {
		a.Choices[0].Delta.ToolCalls[i].Index = &i
	}
	return event(a)
}

func readWhole(body []byte) (*answer, error) {
	a, err := readAnswer(body, "message")
	switch {
	case err != nil:
		return nil, err
	case len(a.Choices) == 0:
		return nil, wire.Nonsense("the answer holds no message (no choices)")
	case a.Choices[0].Message == nil:
		return nil, wire.Nonsense("the answer holds no message")
	case a.Choices[0].FinishReason == "":
		return nil, wire.Nonsense("the answer does not say that it is complete (no finish_reason)")
	}
	a.Choices = a.Choices[:1]
	return a, nil
}

// event writes one event of a stream in the library's form.
func event(a *answer) ([]byte, error) {
	data, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return append(append([]byte("data: "), data...), "\n\n"...), nil
}

// streamState checks the events of one stream.
type streamState struct {
	complete bool // a finish_reason has come
}

func (s *streamState) event(_ string, data []byte) ([]byte, error) {
	if string(bytes.TrimSpace(data)) == wire.Done {
		return nil, io.EOF
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if !json.Valid(data) {
		return nil, wire.Garbled()
	}
	a, err := readAnswer(data, "delta")
	if err != nil {
		return nil, err
	}
	for _, c := range a.Choices {
		s.complete = s.complete || c.FinishReason != ""
	}
	return event(a)
}

func (s *streamState) end() error {
	if s.complete {
		return nil
	}
	return wire.CutOff()
}

// readAnswer reads an answer, or one event of a stream, whose messages stand
// under the given key.
func readAnswer(body []byte, key string) (*answer, error) {
	top, ok := wire.Object(body)
	if !ok {
		return nil, wire.Nonsense("the answer is not a JSON object")
	}
	if err := wire.ErrorIn(top); err != nil {
		return nil, err
	}
	a := &answer{Choices: []choice{}}
	if u, ok := wire.Object(top["usage"]); ok {
		a.Usage = map[string]int64{"prompt_tokens": wire.Int(u["prompt_tokens"]), "completion_tokens": wire.Int(u["completion_tokens"])}
	}
	list, _ := wire.List(top["choices"])
	for _, raw := range list {
		c, ok := wire.Object(raw)
		if !ok {
			return nil, wire.Nonsense("the answer's choices are not objects")
		}
		m, err := readMessage(c[key])
		if err != nil {
			return nil, err
		}
		got := choice{Index: int(wire.Int(c["index"])), FinishReason: wire.Text(c["finish_reason"])}
		if key == "delta" {
			got.Delta = m
		} else {
			got.Message = m
		}
		a.Choices = append(a.Choices, got)
	}
	return a, nil
}

// readMessage reads a message or a piece of one; nil where there is none.
func readMessage(raw json.RawMessage) (*message, error) {
	if wire.Absent(raw) {
		return nil, nil
	}
	m, ok := wire.Object(raw)
	if !ok {
		return nil, wire.Nonsense("the answer's message is not an object")
	}
	text, err := readContent(m["content"])
	if err != nil {
		return nil, err
	}
	out := &message{Role: "assistant", Content: text, Refusal: wire.Text(m["refusal"])}
	if wire.Absent(m["tool_calls"]) {
		return out, nil
	}
	calls, ok := wire.List(m["tool_calls"])
	if !ok {
		return nil, wire.Nonsense("the answer's tool calls are not a list")
	}
	for _, raw := range calls {
		call, err := readCall(raw)
		if err != nil {
			return nil, err
		}
		out.ToolCalls = append(out.ToolCalls, call)
	}
	return out, nil
}

// readContent reads text, or a list of parts of which the texts count.
func readContent(raw json.RawMessage) (string, error) {
	if wire.Absent(raw) {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	parts, ok := wire.List(raw)
	if !ok {
		return "", wire.Nonsense("the answer's content is neither text nor a list")
	}
	for _, p := range parts {
		if m, ok := wire.Object(p); ok {
			s += wire.Text(m["text"])
		}
	}
	return s, nil
}

func readCall(raw json.RawMessage) (toolCall, error) {
	out := toolCall{Type: "function"}
	m, ok := wire.Object(raw)
	if !ok {
		return out, wire.Nonsense("the answer's tool calls are not objects")
	}
	out.ID = readID(m["id"])
	if !wire.Absent(m["index"]) {
		i := int(wire.Int(m["index"]))
		out.Index = &i
	}
	f, ok := wire.Object(m["function"])
	if !ok && !wire.Absent(m["function"]) {
		return out, wire.Nonsense("the answer's tool call names no function")
	}
	out.Function = function{Name: wire.Text(f["name"]), Arguments: readArguments(f["arguments"])}
	return out, nil
}

// readID takes any text or number for an id.
func readID(raw json.RawMessage) string { return textOrSource(raw) }

// textOrSource gives the text of a JSON string, the JSON of another value, and
// "" where there is none.
func textOrSource(raw json.RawMessage) string {
	if wire.Absent(raw) {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// readArguments gives the text of the arguments; a server that sends a JSON
// value in place of text means that value.
func readArguments(raw json.RawMessage) string { return textOrSource(raw) }

// refusedText is the text of a turn in which the model refuses to answer.
func refusedText(text, refusal string) string {
	if text == "" {
		return refusal
	}
	return text
}

// stopError is the error of a turn whose stop reason leaves nothing to read.
func stopError(t *model.Turn) error {
	if t.Stop == "content_filter" && t.Text == "" && len(t.Calls) == 0 {
		return wire.Nonsense("the service's content filter withheld the answer")
	}
	return nil
}
