// Package serve is Sense's MCP server: it offers tools, resources and prompts to any
// client, over standard input and output ([Stdio]) or over streamable HTTP ([HTTP]).
//
// The protocol is mcp-go's. What is added here: arguments reach a tool byte for
// byte (mcp-go would round large numbers), messages are bounded, everything
// asked for is answered before the end of the input ends the server, and a tool
// can ask the client's user for a decision in every revision of the protocol.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	gomcp "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/sense-lang/sense/mcp"
)

// maxMessage bounds one message in bytes.
const maxMessage = 64 << 20

// Server is what is offered. Do not change it while it is served.
type Server struct {
	Name, Version string
	// Instructions tell a client's model how to use the server; "" for none.
	Instructions string
	Tools        []Tool
	Resources    []Resource
	Prompts      []Prompt

	followers followers
}

// Tool is one tool.
type Tool struct {
	Name, Description string
	// Schema is the JSON Schema of the arguments.
	Schema json.RawMessage
	// ReadOnly and Destructive are hints for the client.
	ReadOnly, Destructive bool
	// Requires lists the capabilities that a call needs, for the client's
	// information.
	Requires []string
	// Call runs the tool. args is a JSON object, as the client wrote it. An
	// error is told to the client as the tool's failure; ErrAsk has the user
	// asked first. Several calls may run at once.
	Call func(ctx context.Context, c *Call) (*Result, error)
}

// Call is one call of a tool.
type Call struct {
	Args json.RawMessage
	// URI is that of the resource to read, "" for anything else.
	URI string
	// Client is the client's name as it told it, "" where it did not.
	Client string
	// Answer is what the user answered to the question that an earlier try
	// asked with Ask; nil on the first try.
	Answer *Answer
	// Ask asks the client's user a question in the middle of the call and gives
	// the answer as text. It waits, with ctx; the error says why there is none.
	Ask func(ctx context.Context, question string) (string, error)
	// Can says what the client can be asked for.
	Can mcp.CanAsk
	// Put puts several questions to the client at once and gives an answer to each, in
	// their order; the error says why none was put.
	Put func(ctx context.Context, questions []mcp.Question) ([]mcp.Answer, error)
	// Progress tells the client how far the call is; total may be nil and message
	// "". It does nothing for a client that does not want to know.
	Progress func(done float64, total *float64, message string)
	// Log sends a line to the client's log; level is one of the protocol's, such as
	// "info".
	Log func(level, text string)
}

// Answer is a user's decision.
type Answer struct {
	// Approved is true only for a plain yes.
	Approved bool
	// Reason is what the user said to it, "" for nothing.
	Reason string
}

// Result is what a call gave.
type Result struct {
	Text string
	// Structured is a JSON object, nil for none. A resource and a prompt give all that
	// they give by it: the protocol's result of resources/read or prompts/get.
	Structured json.RawMessage
	// Blocks are content blocks of the protocol as JSON, such as an image; they
	// stand in the place of Text. None means that Text is the only block.
	Blocks []json.RawMessage
}

// Ask is an error of Call that has the client's user asked for a yes or no; the
// call is then made again with the answer.
type Ask struct{ Message string }

// Error says that a question is open.
func (a *Ask) Error() string { return "the user has to be asked: " + a.Message }

// rawKey is the only member of arguments that hide their exact text from the
// JSON decoder of mcp-go.
const rawKey = "\x00raw"

// build makes the server of mcp-go. The calls must be ended after it.
func (s *Server) build(ctx context.Context) (*server.MCPServer, *calls) {
	open := newCalls(ctx)
	// The list of tools stays as it is; that it may change is said for the clients
	// that keep a stream of notifications open, which mcp-go else ends before it begins.
	opts := []server.ServerOption{server.WithToolCapabilities(true), server.WithElicitation(), server.WithLogging(), server.WithRecovery(),
		server.WithResourceRecovery(), server.WithLogger(slog.New(slog.DiscardHandler))}
	if s.Instructions != "" {
		opts = append(opts, server.WithInstructions(s.Instructions))
	}
	srv := server.NewMCPServer(s.Name, s.Version, append(opts, s.offers(open)...)...)
	s.followers.serve(srv)
	for i := range s.Tools {
		t := &s.Tools[i]
		srv.AddTool(t.describe(), func(ctx context.Context, req gomcp.CallToolRequest) (*gomcp.CallToolResult, error) {
			return t.handle(ctx, open, req)
		})
	}
	for i := range s.Resources {
		s.Resources[i].add(srv, open)
	}
	for i := range s.Prompts {
		s.Prompts[i].add(srv, open)
	}
	return srv, open
}

func (t *Tool) describe() gomcp.Tool {
	d := gomcp.NewToolWithRawSchema(t.Name, t.Description, t.Schema)
	readOnly, destructive := t.ReadOnly, t.Destructive
	d.Annotations = gomcp.ToolAnnotation{ReadOnlyHint: &readOnly, DestructiveHint: &destructive}
	if len(t.Requires) > 0 {
		d.Meta = gomcp.NewMetaFromMap(map[string]any{"sense/requires": t.Requires})
	}
	return d
}

const (
	questionKey = "approve"
	reasonKey   = "reason"
)

// handle runs a call of mcp-go, or goes on with one that waits for an answer.
func (t *Tool) handle(ctx context.Context, open *calls, req gomcp.CallToolRequest) (*gomcp.CallToolResult, error) {
	args, err := exactArgs(req.Params.Arguments)
	if err != nil {
		return failure(err), nil
	}
	c := &Call{Args: args}
	if a := server.ElicitationResponse(req.Params.InputResponses, questionKey); a != nil {
		c.Answer = answerOf(a)
	}
	o, err := open.handle(ctx, &work{what: "the tool '" + t.Name + "'", run: t.Call}, c, &req.Params.MultiRoundTripParams, req.Params.Meta)
	switch {
	case err != nil:
		return nil, err
	case o.questions != nil:
		return o.questions.ToolResult(), nil
	}
	return finish(o.result, o.err), nil
}

// finish gives what a call came to as mcp-go has it.
func finish(r *Result, err error) *gomcp.CallToolResult {
	var ask *Ask
	if errors.As(err, &ask) {
		return question(ask)
	}
	if err != nil {
		return failure(err)
	}
	out := gomcp.NewToolResultText(r.Text)
	if len(r.Blocks) > 0 {
		if out.Content, err = contentOf(r.Blocks); err != nil {
			return failure(err)
		}
	}
	if r.Structured != nil {
		out.StructuredContent = r.Structured
	}
	return out
}

// contentOf reads content blocks.
func contentOf(blocks []json.RawMessage) ([]gomcp.Content, error) {
	var list []gomcp.Content
	for i, raw := range blocks {
		block, err := gomcp.UnmarshalContent(raw)
		if err != nil {
			return nil, fmt.Errorf("content block %d of the tool's result is not valid: %w", i+1, err)
		}
		list = append(list, block)
	}
	return list, nil
}

func failure(err error) *gomcp.CallToolResult { return gomcp.NewToolResultError(err.Error()) }

// exactArgs gives the arguments as the client wrote them.
func exactArgs(v any) (json.RawMessage, error) {
	if v == nil {
		return json.RawMessage("{}"), nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the arguments must be a JSON object")
	}
	if text, ok := m[rawKey].(string); ok && len(m) == 1 {
		return json.RawMessage(text), nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("the arguments are not usable: %w", err)
	}
	return raw, nil
}

// question asks the client's user.
func question(a *Ask) *gomcp.CallToolResult {
	return server.NewInputRequestBuilder("").Elicit(questionKey, gomcp.ElicitationParams{
		Mode: gomcp.ElicitationModeForm, Message: a.Message,
		RequestedSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				questionKey: map[string]any{"type": "boolean", "title": "Approve", "description": "yes lets it happen"},
				reasonKey:   map[string]any{"type": "string", "title": "Reason", "description": "why, for the record"},
			},
			"required": []string{questionKey},
		},
	}).ToolResult()
}

func answerOf(a *gomcp.ElicitationResult) *Answer {
	if a.Action != gomcp.ElicitationResponseActionAccept {
		return &Answer{}
	}
	content, _ := a.Content.(map[string]any)
	yes, _ := content[questionKey].(bool)
	reason, _ := content[reasonKey].(string)
	return &Answer{Approved: yes, Reason: reason}
}

// hideArgs puts the arguments of a call into a text, where no decoder rounds
// them. A message that is no plain call stays as it is.
func hideArgs(line []byte) []byte {
	var msg map[string]json.RawMessage
	if json.Unmarshal(line, &msg) != nil || string(msg["method"]) != `"tools/call"` {
		return line
	}
	var params map[string]json.RawMessage
	if json.Unmarshal(msg["params"], &params) != nil || len(params["arguments"]) == 0 || params["arguments"][0] != '{' {
		return line
	}
	text, err := json.Marshal(map[string]string{rawKey: string(params["arguments"])})
	if err != nil {
		return line
	}
	params["arguments"] = text
	if msg["params"], err = json.Marshal(params); err != nil {
		return line
	}
	out, err := json.Marshal(msg)
	if err != nil {
		return line
	}
	return out
}
