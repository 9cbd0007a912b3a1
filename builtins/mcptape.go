package builtins

import (
	"context"
	"encoding/json"

	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/tape"
)

// mcpConn is a connection to an MCP server, or what a tape has of one.
type mcpConn interface {
	Call(ctx context.Context, tool string, args json.RawMessage) (*mcp.Result, error)
	Close() error
	Complete(ctx context.Context, of mcp.CompletionOf) (*mcp.Completion, error)
	Err() error
	Instructions() string
	Name() string
	Ping(ctx context.Context) error
	Prompt(ctx context.Context, name string, args map[string]string) (*mcp.PromptResult, error)
	Prompts(ctx context.Context) ([]mcp.Prompt, error)
	Read(ctx context.Context, uri string) ([]mcp.Block, error)
	Reconnect(ctx context.Context) error
	ResourceTemplates(ctx context.Context) ([]mcp.ResourceTemplate, error)
	Resources(ctx context.Context) ([]mcp.Resource, error)
	Status() mcp.Status
	Subscribe(ctx context.Context, uri string) error
	Tools() []*mcp.Tool
	Wait(ctx context.Context) error
}

// dial connects to a server, through the tape where there is one.
func (d *Deps) dial(ctx context.Context, cfg mcp.Config) (mcpConn, error) {
	if d.Tape == nil {
		s, err := d.mcp().Connect(ctx, cfg)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	c := &tapedConn{tape: d.Tape, name: cfg.Name, status: mcp.Connected}
	seen, err := tape.Through(d.Tape, tape.Connect, cfg.Name, connectAsk{cfg.Command, cfg.Args, cfg.URL}, func() (connectAnswer, error) {
		s, err := d.mcp().Connect(ctx, cfg)
		if err != nil {
			return connectAnswer{}, err
		}
		c.real = s
		return connectAnswer{s.Instructions(), bareTools(s.Tools())}, nil
	})
	if err != nil {
		return nil, err
	}
	c.instructions = seen.Instructions
	for i := range seen.Tools {
		c.tools = append(c.tools, &seen.Tools[i])
	}
	return c, nil
}

// dialLater is dial without the wait; a tape does not tell the two apart.
func (d *Deps) dialLater(ctx context.Context, cfg mcp.Config) mcpConn {
	if d.Tape == nil {
		return d.mcp().Start(ctx, cfg)
	}
	c, err := d.dial(ctx, cfg)
	if err != nil {
		return &tapedConn{tape: d.Tape, name: cfg.Name, status: mcp.Failed, err: err}
	}
	return c
}

// connectAsk and connectAnswer are a connection as a tape holds it.
type connectAsk struct {
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	URL     string   `json:"url,omitempty"`
}

type connectAnswer struct {
	Instructions string     `json:"instructions,omitempty"`
	Tools        []mcp.Tool `json:"tools"`
}

// bareTools copies tools without what leads back to the server.
func bareTools(ts []*mcp.Tool) []mcp.Tool {
	out := make([]mcp.Tool, len(ts))
	for i, t := range ts {
		out[i] = *t
		out[i].Server = nil
	}
	return out
}

// tapedConn is a connection whose exchanges go through a tape. real is nil
// where the tape plays. Its list of tools is that of the connecting.
type tapedConn struct {
	tape         *tape.Tape
	real         *mcp.Server
	name         string
	instructions string
	tools        []*mcp.Tool
	status       mcp.Status
	err          error
}

func (c *tapedConn) Name() string         { return c.name }
func (c *tapedConn) Instructions() string { return c.instructions }
func (c *tapedConn) Tools() []*mcp.Tool   { return c.tools }
func (c *tapedConn) Status() mcp.Status   { return c.status }
func (c *tapedConn) Err() error           { return c.err }

// Wait gives how connecting ended.
func (c *tapedConn) Wait(context.Context) error { return c.err }

// Close ends the connection; that is no exchange.
func (c *tapedConn) Close() error {
	c.status = mcp.Closed
	if c.real != nil {
		return c.real.Close()
	}
	return nil
}

// mcpAsk is a request to a server as a tape holds it.
type mcpAsk struct {
	Method string          `json:"method"`
	Name   string          `json:"name,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Of     any             `json:"of,omitempty"`
}

// through passes one request through the tape.
func through[T any](c *tapedConn, ask mcpAsk, real func(s *mcp.Server) (T, error)) (T, error) {
	return tape.Through(c.tape, tape.Tool, c.name, ask, func() (T, error) { return real(c.real) })
}

// done passes a request without an answer through the tape.
func (c *tapedConn) done(ask mcpAsk, real func(s *mcp.Server) error) error {
	_, err := through(c, ask, func(s *mcp.Server) (bool, error) { return true, real(s) })
	return err
}

// Call calls a tool. A closed connection is told by itself.
func (c *tapedConn) Call(ctx context.Context, tool string, args json.RawMessage) (*mcp.Result, error) {
	if c.status == mcp.Closed {
		return nil, mcp.ErrClosed
	}
	return through(c, mcpAsk{Method: "tools/call", Name: tool, Args: args}, func(s *mcp.Server) (*mcp.Result, error) { return s.Call(ctx, tool, args) })
}

// Complete asks for completions of an argument.
func (c *tapedConn) Complete(ctx context.Context, of mcp.CompletionOf) (*mcp.Completion, error) {
	return through(c, mcpAsk{Method: "completion/complete", Of: of}, func(s *mcp.Server) (*mcp.Completion, error) { return s.Complete(ctx, of) })
}

// Ping asks whether the server answers.
func (c *tapedConn) Ping(ctx context.Context) error {
	return c.done(mcpAsk{Method: "ping"}, func(s *mcp.Server) error { return s.Ping(ctx) })
}

// Prompt gets a prompt filled in.
func (c *tapedConn) Prompt(ctx context.Context, name string, args map[string]string) (*mcp.PromptResult, error) {
	return through(c, mcpAsk{Method: "prompts/get", Name: name, Of: args}, func(s *mcp.Server) (*mcp.PromptResult, error) { return s.Prompt(ctx, name, args) })
}

// Prompts lists the prompts.
func (c *tapedConn) Prompts(ctx context.Context) ([]mcp.Prompt, error) {
	return through(c, mcpAsk{Method: "prompts/list"}, func(s *mcp.Server) ([]mcp.Prompt, error) { return s.Prompts(ctx) })
}

// Read reads a resource.
func (c *tapedConn) Read(ctx context.Context, uri string) ([]mcp.Block, error) {
	return through(c, mcpAsk{Method: "resources/read", Name: uri}, func(s *mcp.Server) ([]mcp.Block, error) { return s.Read(ctx, uri) })
}

// Reconnect connects anew.
func (c *tapedConn) Reconnect(ctx context.Context) error {
	return c.done(mcpAsk{Method: "reconnect"}, func(s *mcp.Server) error { return s.Reconnect(ctx) })
}

// ResourceTemplates lists the templates of resources.
func (c *tapedConn) ResourceTemplates(ctx context.Context) ([]mcp.ResourceTemplate, error) {
	return through(c, mcpAsk{Method: "resources/templates/list"}, func(s *mcp.Server) ([]mcp.ResourceTemplate, error) { return s.ResourceTemplates(ctx) })
}

// Resources lists the resources.
func (c *tapedConn) Resources(ctx context.Context) ([]mcp.Resource, error) {
	return through(c, mcpAsk{Method: "resources/list"}, func(s *mcp.Server) ([]mcp.Resource, error) { return s.Resources(ctx) })
}

// Subscribe asks to be told of changes of a resource.
func (c *tapedConn) Subscribe(ctx context.Context, uri string) error {
	return c.done(mcpAsk{Method: "resources/subscribe", Name: uri}, func(s *mcp.Server) error { return s.Subscribe(ctx, uri) })
}
