package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/internal/wire"
)

// echo is a turn as it is repeated to the service: with the blocks that Turn
// has no room for, such as signed thinking, and without those that the service
// refuses.
type echo struct {
	blocks []anthropic.ContentBlockParamUnion
}

// finish gives an answer as a turn.
func finish(msg *anthropic.Message, req *model.Request) (*model.Turn, error) {
	var text strings.Builder
	var calls []model.ToolCall
	for _, b := range msg.Content {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "tool_use":
			calls = append(calls, model.ToolCall{ID: b.ID, Name: b.Name, Args: b.Input})
		}
	}
	wire.FinishCalls(calls, req)
	t := &model.Turn{
		Text: text.String(), Calls: calls, Stop: string(msg.StopReason), Raw: &echo{blocks(msg, calls)},
		Usage: model.Usage{
			InputTokens:  msg.Usage.InputTokens + msg.Usage.CacheReadInputTokens + msg.Usage.CacheCreationInputTokens,
			OutputTokens: msg.Usage.OutputTokens,
		},
	}
	switch msg.StopReason {
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		t.Truncated = true
	case anthropic.StopReasonRefusal:
		if t.Text == "" && len(calls) == 0 {
			return nil, wire.Nonsense("the model declined to answer (refusal)")
		}
	}
	return t, nil
}

// blocks gives an answer's content as it is sent back; calls are its calls with
// their final ids.
func blocks(msg *anthropic.Message, calls []model.ToolCall) []anthropic.ContentBlockParamUnion {
	var out []anthropic.ContentBlockParamUnion
	next := 0
	for _, b := range msg.Content {
		switch b.Type {
		case "text":
			if !wire.Blank(b.Text) {
				out = append(out, anthropic.NewTextBlock(b.Text))
			}
		case "tool_use":
			c := calls[next]
			next++
			out = append(out, anthropic.NewToolUseBlock(c.ID, wire.Arguments(c.Args), c.Name))
		default:
			out = append(out, b.ToParam())
		}
	}
	return out
}

// wholeAnswer checks an answer that came in one piece.
func wholeAnswer(body []byte) ([]byte, error) {
	_, _, err := readWhole(body)
	return body, err
}

// readWhole reads an answer's members and its blocks.
func readWhole(body []byte) (top map[string]json.RawMessage, content []map[string]json.RawMessage, err error) {
	top, ok := wire.Object(body)
	if !ok {
		return nil, nil, wire.Nonsense("the answer is not a JSON object")
	}
	if err := wire.ErrorIn(top); err != nil {
		return nil, nil, err
	}
	list, ok := wire.List(top["content"])
	if !ok {
		return nil, nil, wire.Nonsense("the answer holds no message (no content)")
	}
	for _, raw := range list {
		block, err := readBlock(raw)
		if err != nil {
			return nil, nil, err
		}
		content = append(content, block)
	}
	if wire.Text(top["stop_reason"]) == "" {
		return nil, nil, wire.Nonsense("the answer does not say that it is complete (no stop_reason)")
	}
	return top, content, nil
}

func readBlock(raw json.RawMessage) (map[string]json.RawMessage, error) {
	block, ok := wire.Object(raw)
	if !ok || wire.Text(block["type"]) == "" {
		return nil, wire.Nonsense("the answer's content is not made of blocks")
	}
	return block, nil
}

// wholeAsStream gives an answer that came in one piece as the events of a
// stream.
func wholeAsStream(body []byte) ([]byte, error) {
	top, content, err := readWhole(body)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	send := func(name string, v any) {
		if err == nil {
			err = writeEvent(&out, name, v)
		}
	}
	type fields map[string]any
	stop, usage := top["stop_reason"], top["usage"]
	if wire.Absent(usage) {
		usage = json.RawMessage("{}")
	}
	top["content"], top["stop_reason"] = json.RawMessage("[]"), json.RawMessage("null")
	send("message_start", fields{"message": top})
	for i, block := range content {
		text := block["text"]
		if wire.Text(block["type"]) == "text" {
			block["text"] = json.RawMessage(`""`)
		}
		send("content_block_start", fields{"index": i, "content_block": block})
		if wire.Text(block["type"]) == "text" {
			send("content_block_delta", fields{"index": i, "delta": fields{"type": "text_delta", "text": text}})
		}
		send("content_block_stop", fields{"index": i})
	}
	send("message_delta", fields{"delta": fields{"stop_reason": stop}, "usage": usage})
	send("message_stop", fields{})
	return out.Bytes(), err
}

// writeEvent writes one event, its name also as the data's type.
func writeEvent(out *bytes.Buffer, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	m, _ := wire.Object(data)
	m["type"] = json.RawMessage(`"` + name + `"`)
	if data, err = json.Marshal(m); err != nil {
		return err
	}
	out.WriteString("event: " + name + "\ndata: ")
	out.Write(data)
	out.WriteString("\n\n")
	return nil
}
