package serve

import (
	"github.com/mark3labs/mcp-go/server"

	gomcp "github.com/mark3labs/mcp-go/mcp"

	"github.com/sense-lang/sense/mcp"
)

// kind is what a question asks for.
type kind int

const (
	listRoots kind = iota
	elicitation
	sampling
)

func kindOf(q mcp.Question) kind {
	switch {
	case q.Form != nil:
		return elicitation
	case q.MaxTokens > 0:
		return sampling
	}
	return listRoots
}

// textForm is the form of a question that is answered by a text.
func textForm() map[string]any {
	return map[string]any{
		"type":       "object",
		"properties": map[string]any{answerKey: map[string]any{"type": "string", "title": "Answer"}},
		"required":   []string{answerKey},
	}
}

// textOf gives the text of an answer to textForm. A client that calls its only value
// by another name is understood.
func textOf(a *mcp.Answer) (string, error) {
	if a.Err != nil {
		return "", a.Err
	}
	text, ok := a.Fields[answerKey].(string)
	if len(a.Fields) == 1 {
		for _, only := range a.Fields {
			text, ok = only.(string)
		}
	}
	if !ok {
		return "", errNoAnswer
	}
	return text, nil
}

// addQuestion adds a question to what goes to the client.
func addQuestion(b *server.InputRequestBuilder, q mcp.Question) {
	switch kindOf(q) {
	case elicitation:
		b.Elicit(q.Name, gomcp.ElicitationParams{Mode: gomcp.ElicitationModeForm, Message: q.Message, RequestedSchema: q.Form})
	case sampling:
		b.Sample(q.Name, gomcp.CreateMessageParams{
			Messages:  []gomcp.SamplingMessage{{Role: gomcp.RoleUser, Content: gomcp.NewTextContent(q.Prompt)}},
			MaxTokens: q.MaxTokens, SystemPrompt: q.System,
		})
	case listRoots:
		b.Roots(q.Name)
	}
}

// allFailed gives each question the same error.
func allFailed(questions []mcp.Question, err error) []mcp.Answer {
	out := make([]mcp.Answer, len(questions))
	for i := range out {
		out[i].Err = err
	}
	return out
}

// answersTo finds the answers in what a client brings; not ok when one is missing.
func answersTo(questions []mcp.Question, responses gomcp.InputResponses) ([]mcp.Answer, bool) {
	out := make([]mcp.Answer, len(questions))
	for i, q := range questions {
		ok := false
		switch kindOf(q) {
		case elicitation:
			ok = takeForm(&out[i], server.ElicitationResponse(responses, q.Name))
		case sampling:
			ok = takeWords(&out[i], server.SamplingResponse(responses, q.Name))
		case listRoots:
			ok = takeRoots(&out[i], server.RootsResponse(responses, q.Name))
		}
		if !ok {
			return nil, false
		}
	}
	return out, true
}

func takeForm(a *mcp.Answer, e *gomcp.ElicitationResult) bool {
	if e == nil {
		return false
	}
	content, ok := e.Content.(map[string]any)
	if e.Action != gomcp.ElicitationResponseActionAccept || !ok {
		a.Err = errNoAnswer
	}
	a.Fields = content
	return true
}

func takeWords(a *mcp.Answer, m *gomcp.CreateMessageResult) bool {
	if m == nil {
		return false
	}
	switch c := m.Content.(type) {
	case gomcp.TextContent:
		a.Text = c.Text
		return true
	case map[string]any:
		if text, ok := c["text"].(string); ok && c["type"] == "text" {
			a.Text = text
			return true
		}
	}
	a.Err = errNoWords
	return true
}

func takeRoots(a *mcp.Answer, m *gomcp.ListRootsResult) bool {
	if m == nil {
		return false
	}
	for _, r := range m.Roots {
		a.Roots = append(a.Roots, mcp.Root{URI: r.URI, Name: r.Name})
	}
	return true
}
