package builtins

import (
	"encoding/json"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/policy"
)

// What follows lets a console show servers, tools and skills, and call tools.

// Name gives the name the server was connected under.
func (s *MCPServer) Name() string { return s.server.Name() }

// Capabilities gives what a call of the server's tools needs.
func (s *MCPServer) Capabilities() []string { return s.needs }

// Status says how the connection is, in one word.
func (s *MCPServer) Status() string { return string(s.server.Status()) }

// ToolValues gives the server's tools; each is the same value every time.
func (s *MCPServer) ToolValues() []eval.Value { return s.toolValues().Values() }

// Name gives the tool's name as its server spells it.
func (t *MCPTool) Name() string { return t.tool.Name }

// Description gives what the server says of the tool, "" for nothing.
func (t *MCPTool) Description() string { return t.tool.Description }

// Schema gives the JSON Schema of the arguments as the server wrote it; it may
// be empty.
func (t *MCPTool) Schema() json.RawMessage { return t.tool.Schema }

// Decide says whether a call from the place would be allowed.
func (t *MCPTool) Decide(at eval.Place) policy.Decision {
	d := policy.Decision{Allowed: true}
	for _, capability := range t.server.needs {
		if d = at.DecideTool(capability, t.tool.Name); !d.Allowed {
			break
		}
	}
	return d
}

// CallText calls the tool with a JSON object of arguments and gives the text of
// its result.
func (t *MCPTool) CallText(th *eval.Thread, args json.RawMessage) (string, error) {
	r, err := t.run(th, args)
	if err != nil {
		return "", err
	}
	return r.Text, nil
}

// Name gives the skill's name.
func (s *Skill) Name() string { return s.name }

// Description gives the word on how to use the tools.
func (s *Skill) Description() string { return s.description }

// Tools gives the tools it bundles.
func (s *Skill) Tools() []eval.Value { return s.tools.Values() }

// TypeSchema gives the JSON Schema of an annotation, {} where anything goes.
func TypeSchema(t *ast.TypeExpr) json.RawMessage { return json.RawMessage(typeSchema(t)) }
