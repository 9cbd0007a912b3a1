package builtins

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/model"
)

// MCPServer is a connection to an MCP server as a value.
type MCPServer struct {
	server     *mcp.Server
	capability string // "" asks for none
	tools      map[*mcp.Tool]eval.Value
}

// TypeName gives "McpServer".
func (s *MCPServer) TypeName() string { return "McpServer" }

// String gives <mcp server name (n tools)>.
func (s *MCPServer) String() string {
	return fmt.Sprintf("<mcp server %s (%d tools)>", s.server.Name(), len(s.server.Tools()))
}

// OwnerName stands before a method's name in messages.
func (s *MCPServer) OwnerName() string { return s.server.Name() }

// Method finds close.
func (s *MCPServer) Method(name string) *eval.Method {
	if name == "close" {
		return &serverClose
	}
	return nil
}

var serverClose = eval.Method{Name: "close", Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
	c.Thread.Blocking(func(context.Context) { _ = o.(*MCPServer).server.Close() }) // it is gone either way
	return eval.Nil(), c.Thread.Stopped()
}}

// Attr gives name and tools.
func (s *MCPServer) Attr(t *eval.Thread, name string) (eval.Value, error) {
	switch name {
	case "name":
		return eval.String(s.server.Name()), nil
	case "tools":
		return s.toolValues().Value(), nil
	}
	return eval.Value{}, fail("mcp server '%s' has no member '%s'", s.server.Name(), name)
}

// toolValues gives the tools; each tool is the same value every time.
func (s *MCPServer) toolValues() *eval.Array {
	out := eval.NewArray(0)
	for _, t := range s.server.Tools() {
		v, ok := s.tools[t]
		if !ok {
			v = eval.Obj(&MCPTool{s, t})
			s.tools[t] = v
		}
		out.Push(v)
	}
	return out
}

// MCPTool is a tool of an MCP server as a value.
type MCPTool struct {
	server *MCPServer
	tool   *mcp.Tool
}

// TypeName gives "Tool".
func (t *MCPTool) TypeName() string { return "Tool" }

// String gives <mcp tool server.name>.
func (t *MCPTool) String() string { return "<mcp tool " + t.fullName() + ">" }

func (t *MCPTool) fullName() string { return t.server.server.Name() + "." + t.tool.Name }

const connectUsage = "connect_mcp() expects (name: String, command: String, args: Array<String>, capability: String = nil)"

func (d *Deps) connectMCP(c *eval.Call) (eval.Value, error) {
	if len(c.Labels) > 0 {
		return eval.Value{}, fail("'connect_mcp' does not accept labeled arguments (%s)", c.Labels[0].Name)
	}
	cfg, capability, err := connectArgs(c.Args)
	if err != nil {
		return eval.Value{}, err
	}
	cfg.ConnectTimeout, cfg.CallTimeout = d.milliseconds("MCP_TIMEOUT"), d.milliseconds("MCP_TOOL_TIMEOUT")
	cfg.Warn = d.warn
	var server *mcp.Server
	c.Thread.Blocking(func(ctx context.Context) { server, err = d.mcp().Connect(ctx, cfg) })
	if stop := c.Thread.Stopped(); stop != nil {
		return eval.Value{}, stop
	}
	if err != nil {
		return eval.Value{}, &diag.Error{Kind: diag.MCP, Msg: "connect_mcp() failed to connect to '" + cfg.Name + "': " + err.Error(), Cause: err}
	}
	v := eval.Obj(&MCPServer{server, capability, map[*mcp.Tool]eval.Value{}})
	if d.OnDeclare != nil {
		at := c.Thread.Place()
		d.OnDeclare(eval.Declared{Kind: "mcp", Name: cfg.Name, Value: v, File: at.File(), Pos: at.Pos()})
	}
	return v, nil
}

func connectArgs(args []eval.Value) (cfg mcp.Config, capability string, err error) {
	if len(args) < 3 || len(args) > 4 {
		return cfg, "", fail("%s", connectUsage)
	}
	var ok bool
	if cfg.Name, ok = args[0].AsString(); !ok {
		return cfg, "", fail("connect_mcp()'s name argument must be a String")
	}
	if cfg.Command, ok = args[1].AsString(); !ok {
		return cfg, "", fail("connect_mcp()'s command argument must be a String")
	}
	list, ok := args[2].AsArray()
	if !ok {
		return cfg, "", fail("connect_mcp()'s args argument must be an Array of Strings")
	}
	for _, v := range list.Values() {
		s, ok := v.AsString()
		if !ok {
			return cfg, "", fail("connect_mcp()'s args argument must be an Array of Strings")
		}
		cfg.Args = append(cfg.Args, s)
	}
	if len(args) == 4 && !args[3].IsNil() {
		if capability, ok = args[3].AsString(); !ok {
			return cfg, "", fail("connect_mcp()'s capability argument must be a String")
		}
	}
	return cfg, capability, nil
}

// milliseconds reads a limit from the environment; anything but a number above
// zero is the default.
func (d *Deps) milliseconds(name string) time.Duration {
	n, err := strconv.ParseInt(d.getenv(name), 10, 64)
	if err != nil || n <= 0 || n > int64(24*time.Hour/time.Millisecond) {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

func (t *MCPTool) offer(v eval.Value) *offer {
	o := &offer{value: v, name: model.ToolName{Server: t.server.server.Name(), Tool: t.tool.Name}}
	schema := t.tool.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	desc := t.tool.Description
	if desc == "" {
		desc = "(no description provided)"
	}
	o.spec = model.ToolSpec{Description: desc, Schema: schema}
	o.call = func(th *eval.Thread, args json.RawMessage) (string, []model.Image, error) {
		r, err := t.run(th, args)
		if err != nil {
			return "", nil, th.Located(err)
		}
		return r.Text, images(r), nil
	}
	return o
}

func images(r *mcp.Result) []model.Image {
	var out []model.Image
	for _, b := range r.Blocks {
		if b.Type == "image" {
			out = append(out, model.Image{MIME: b.MIMEType, Data: b.Data})
		}
	}
	return out
}

// run makes one call: capability, arguments, the call itself, audit.
func (t *MCPTool) run(th *eval.Thread, args json.RawMessage) (*mcp.Result, error) {
	at := th.Place()
	if err := t.allow(at); err != nil {
		return nil, err
	}
	if err := model.CheckArgs(t.tool.Schema, args); err != nil {
		return nil, t.failed(at, err)
	}
	var r *mcp.Result
	var err error
	th.Blocking(func(ctx context.Context) { r, err = t.server.server.Call(ctx, t.tool.Name, args) })
	if stop := th.Stopped(); stop != nil {
		return nil, stop
	}
	if err == nil && r.IsError {
		err = fmt.Errorf("%s", r.Text)
	}
	if err != nil {
		return nil, t.failed(at, err)
	}
	return r, at.Note(t.fullName(), "tool", "called", "")
}

func (t *MCPTool) allow(at eval.Place) error {
	capability := t.server.capability
	if capability == "" {
		return nil
	}
	d := at.DecideTool(capability, t.tool.Name)
	if d.Allowed {
		return nil
	}
	return at.Denied(d, t.fullName(), "tool", capability, "capability '"+capability+"' denied by policy",
		"mcp tool '"+t.fullName()+"' requires capability '"+capability+"', which is denied by policy")
}

func (t *MCPTool) failed(at eval.Place, cause error) error {
	if err := at.Note(t.fullName(), "tool", "failed", cause.Error()); err != nil {
		return err
	}
	return &diag.Error{Kind: diag.MCP, Msg: "mcp tool '" + t.fullName() + "' failed: " + cause.Error(), Cause: cause}
}
