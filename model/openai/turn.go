package openai

import (
	"encoding/json"
	"io"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/internal/wire"
)

// turn is a model's turn while it comes in.
type turn struct {
	text    strings.Builder
	refusal string
	calls   []model.ToolCall
	open    []openCall // one for each of calls
	stop    string
	usage   model.Usage
}

// openCall is how the pieces of a call are known in a stream.
type openCall struct {
	index *int
	id    string
	args  []byte
}

func newCall(tc openai.ToolCall) model.ToolCall {
	return model.ToolCall{ID: tc.ID, Name: tc.Function.Name, Args: json.RawMessage(tc.Function.Arguments)}
}

func usage(u *openai.Usage) model.Usage {
	if u == nil {
		return model.Usage{}
	}
	return model.Usage{InputTokens: int64(u.PromptTokens), OutputTokens: int64(u.CompletionTokens)}
}

// collect reads a stream to its end.
func collect(s *openai.ChatCompletionStream, req *model.Request) (*model.Turn, error) {
	t := &turn{}
	for {
		piece, err := s.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if piece.Usage != nil {
			t.usage = usage(piece.Usage)
		}
		for _, c := range piece.Choices {
			if c.Index == 0 {
				t.add(c, req.Stream)
			}
		}
	}
	for i := range t.open {
		t.calls[i].Args = t.open[i].args
	}
	return t.finish(req)
}

func (t *turn) add(c openai.ChatCompletionStreamChoice, show func(string)) {
	if c.Delta.Content != "" {
		t.text.WriteString(c.Delta.Content)
		show(c.Delta.Content)
	}
	t.refusal += c.Delta.Refusal
	for _, piece := range c.Delta.ToolCalls {
		i := t.callOf(piece)
		if t.calls[i].Name == "" {
			t.calls[i].Name = piece.Function.Name
		}
		if t.open[i].id == "" {
			t.open[i].id, t.calls[i].ID = piece.ID, piece.ID
		}
		t.open[i].args = append(t.open[i].args, piece.Function.Arguments...)
	}
	if c.FinishReason != "" {
		t.stop = string(c.FinishReason)
	}
}

// callOf finds the call that a piece belongs to, or begins one. A new id begins
// one even under a used index: some servers give every call the index 0. A
// piece without id and index belongs to the last call, unless it names a
// function again.
func (t *turn) callOf(piece openai.ToolCall) int {
	for i := len(t.open) - 1; i >= 0; i-- {
		o := &t.open[i]
		sameIndex := piece.Index != nil && o.index != nil && *piece.Index == *o.index
		switch {
		case piece.ID != "" && piece.ID == o.id && (sameIndex || piece.Index == nil || o.index == nil):
			return i
		case piece.ID != "" && o.id != "":
		case sameIndex:
			return i
		case piece.Index == nil && piece.ID == "" && i == len(t.open)-1 && piece.Function.Name == "":
			return i
		}
	}
	t.calls = append(t.calls, model.ToolCall{})
	t.open = append(t.open, openCall{index: piece.Index})
	return len(t.calls) - 1
}

// finish gives the turn as the caller reads it.
func (t *turn) finish(req *model.Request) (*model.Turn, error) {
	wire.FinishCalls(t.calls, req)
	out := &model.Turn{
		Text: refusedText(t.text.String(), t.refusal), Calls: t.calls, Stop: t.stop,
		Truncated: t.stop == string(openai.FinishReasonLength), Usage: t.usage,
	}
	return out, stopError(out)
}
