package anthropic

import (
	"encoding/base64"
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/internal/wire"
)

// params writes a request as the library has it.
func (c *Client) params(req *model.Request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{
		Model:     c.options.ModelID,
		MaxTokens: 1, // edit puts the true number in its place
	}
	system := req.System
	if system == "" {
		system = c.options.System
	}
	if !wire.Blank(system) {
		p.System = []anthropic.TextBlockParam{{Text: system}}
	}
	for _, m := range req.Messages {
		if out, ok := message(m); ok {
			p.Messages = append(p.Messages, out)
		}
	}
	for _, t := range req.Tools {
		p.Tools = append(p.Tools, tool(t))
	}
	if req.Schema != nil {
		schema, _ := wire.AnswerSchema(req.Schema)
		p.OutputConfig.Format = param.Override[anthropic.JSONOutputFormatParam](
			json.RawMessage(`{"type":"json_schema","schema":` + string(schema) + `}`))
	}
	return p
}

func tool(t model.ToolSpec) anthropic.ToolUnionParam {
	schema, told := wire.WithoutUnions(wire.ToolSchema(t.Schema))
	out := &anthropic.ToolParam{Name: t.Name, InputSchema: param.Override[anthropic.ToolInputSchemaParam](schema)}
	text := t.Description
	if told != "" && text != "" {
		text += "\n\n"
	}
	if text += told; text != "" {
		out.Description = anthropic.String(text)
	}
	return anthropic.ToolUnionParam{OfTool: out}
}

// message writes one entry of the conversation; false where the wire has no
// form for it, as for a turn of the model without text and calls.
func message(m model.Message) (anthropic.MessageParam, bool) {
	var blocks []anthropic.ContentBlockParamUnion
	switch m.Role {
	case model.RoleUser:
		if wire.Blank(m.Text) {
			break
		}
		return anthropic.NewUserMessage(anthropic.NewTextBlock(m.Text)), true
	case model.RoleTool:
		// All results of a turn belong into one message.
		for _, r := range m.Results {
			blocks = append(blocks, result(r))
		}
		return anthropic.NewUserMessage(blocks...), len(blocks) > 0
	case model.RoleAssistant:
		if echo, ok := m.Raw.(*echo); ok {
			blocks = echo.blocks
		} else {
			blocks = assistant(m)
		}
		return anthropic.NewAssistantMessage(blocks...), len(blocks) > 0
	}
	return anthropic.MessageParam{}, false
}

func assistant(m model.Message) []anthropic.ContentBlockParamUnion {
	var blocks []anthropic.ContentBlockParamUnion
	if !wire.Blank(m.Text) {
		blocks = append(blocks, anthropic.NewTextBlock(m.Text))
	}
	for _, c := range m.Calls {
		blocks = append(blocks, anthropic.NewToolUseBlock(c.ID, wire.Arguments(c.Args), c.Name))
	}
	return blocks
}

func result(r model.ToolResult) anthropic.ContentBlockParamUnion {
	out := &anthropic.ToolResultBlockParam{ToolUseID: r.CallID}
	if r.IsError {
		out.IsError = anthropic.Bool(true)
	}
	out.Content = append(out.Content, anthropic.ToolResultBlockParamContentUnion{
		OfText: &anthropic.TextBlockParam{Text: wire.ResultText(r)},
	})
	for _, img := range r.Images {
		kind := anthropic.Base64ImageSourceMediaType(img.MIME)
		switch kind {
		case anthropic.Base64ImageSourceMediaTypeImageJPEG, anthropic.Base64ImageSourceMediaTypeImagePNG,
			anthropic.Base64ImageSourceMediaTypeImageGIF, anthropic.Base64ImageSourceMediaTypeImageWebP:
			source := &anthropic.Base64ImageSourceParam{Data: base64.StdEncoding.EncodeToString(img.Data), MediaType: kind}
			out.Content = append(out.Content, anthropic.ToolResultBlockParamContentUnion{
				OfImage: &anthropic.ImageBlockParam{Source: anthropic.ImageBlockParamSourceUnion{OfBase64: source}},
			})
		}
	}
	return anthropic.ContentBlockParamUnion{OfToolResult: out}
}
