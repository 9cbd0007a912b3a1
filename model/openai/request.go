package openai

import (
	openai "github.com/sashabaranov/go-openai"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/internal/wire"
)

// request writes a request as the library has it.
func (c *Client) request(req *model.Request) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: neutral, Messages: c.messages(req)}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, openai.Tool{
			Type:     openai.ToolTypeFunction,
			Function: &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: wire.ToolSchema(t.Schema)},
		})
	}
	if req.Schema != nil {
		schema, strict := wire.AnswerSchema(req.Schema)
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "answer", Schema: schema, Strict: strict},
		}
	}
	return out
}

// messages writes the conversation. A turn of the model without text and calls
// is left out: the wire has no form for it.
func (c *Client) messages(req *model.Request) []openai.ChatCompletionMessage {
	var out []openai.ChatCompletionMessage
	system := req.System
	if system == "" {
		system = c.options.System
	}
	if !wire.Blank(system) {
		out = append(out, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: system})
	}
	for _, m := range req.Messages {
		switch m.Role {
		case model.RoleUser:
			out = append(out, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: m.Text})
		case model.RoleAssistant:
			if m.Text != "" || len(m.Calls) > 0 {
				out = append(out, assistant(m))
			}
		case model.RoleTool:
			for _, r := range m.Results {
				out = append(out, openai.ChatCompletionMessage{
					Role: openai.ChatMessageRoleTool, Content: wire.ResultText(r), ToolCallID: r.CallID,
				})
			}
		}
	}
	return out
}

func assistant(m model.Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: m.Text}
	for _, call := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{
			ID: call.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: call.Name, Arguments: string(wire.Arguments(call.Args))},
		})
	}
	return out
}
