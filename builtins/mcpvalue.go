package builtins

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/mcp/config"
)

// MCPServer is a connection to an MCP server as a value.
type MCPServer struct {
	deps   *Deps
	cfg    mcp.Config
	server mcpConn       // nil where broken
	unmet  bool          // begun without a wait, and no use has seen it connected
	broken error         // why it was not even tried, nil where it was
	needs  []string      // the capabilities that its tools ask for
	always bool          // its tools are always offered to models
	entry  *config.Entry // that describes it in a file, nil where the program does
	tools  map[*mcp.Tool]eval.Value
	asks   questions
	pins   *config.Lock          // nil pins nothing
	seen   map[string]config.Pin // what the tools were when last listed

	mu      sync.Mutex
	updated []string // resources that changed, since they were asked for
}

// newServer makes the value of a connection that is about to be made.
func (d *Deps) newServer(th *eval.Thread, n *connection) *MCPServer {
	s := &MCPServer{deps: d, tools: map[*mcp.Tool]eval.Value{}, seen: map[string]config.Pin{}, pins: n.pins}
	s.take(n)
	return s
}

// take makes a connection's configuration the server's.
func (s *MCPServer) take(n *connection) {
	s.cfg, s.needs, s.always, s.entry = n.cfg, n.needs(s.deps.Confined), n.always, n.entry
	s.cfg.Warn = s.deps.warn
	s.cfg.Frozen = s.deps.MCP.Locked
	s.cfg.Handlers = s.handlers()
}

// TypeName gives "McpServer".
func (s *MCPServer) TypeName() string { return "McpServer" }

// String gives <mcp server name (n tools)>.
func (s *MCPServer) String() string {
	n := 0
	if s.server != nil {
		n = len(s.server.Tools())
	}
	return fmt.Sprintf("<mcp server %s (%d tools)>", s.cfg.Name, n)
}

// OwnerName stands before a method's name in messages.
func (s *MCPServer) OwnerName() string { return s.cfg.Name }

// KeyName is the name that find and indexing know it by.
func (s *MCPServer) KeyName() string { return s.cfg.Name }

// Attr gives the members that are values.
func (s *MCPServer) Attr(t *eval.Thread, name string) (eval.Value, error) {
	switch name {
	case "name":
		return eval.String(s.cfg.Name), nil
	case "tools":
		if err := s.wait(t); err != nil {
			return eval.Value{}, err
		}
		return s.toolValues().Value(), nil
	case "status":
		return eval.String(string(s.status())), nil
	case "error":
		return s.errorText(), nil
	case "instructions":
		if err := s.wait(t); err != nil {
			return eval.Value{}, err
		}
		return textOrNil(s.server.Instructions()), nil
	}
	return eval.Value{}, fail("mcp server '%s' has no member '%s'", s.cfg.Name, name)
}

func textOrNil(s string) eval.Value {
	if s == "" {
		return eval.Nil()
	}
	return eval.String(s)
}

func (s *MCPServer) status() mcp.Status {
	if s.server == nil {
		return mcp.Failed
	}
	return s.server.Status()
}

func (s *MCPServer) errorText() eval.Value {
	err := s.broken
	if s.server != nil {
		err = s.server.Err()
	}
	if err == nil {
		return eval.Nil()
	}
	return eval.String(err.Error())
}

// wait waits for a connection that was begun without a wait.
func (s *MCPServer) wait(th *eval.Thread) error {
	if s.server == nil {
		return s.broken
	}
	status := s.server.Status()
	if status != mcp.Pending && !(s.unmet && status == mcp.Failed) {
		return nil
	}
	err := s.connect(th, s.server.Wait)
	s.unmet = s.unmet && err != nil
	return err
}

// connect runs f, which makes a connection, and words its failure.
func (s *MCPServer) connect(th *eval.Thread, f func(ctx context.Context) error) error {
	var err error
	if stop := s.talk(th, func(ctx context.Context) { err = f(ctx) }); stop != nil {
		return stop
	}
	if err != nil {
		return connectFailed(s.cfg.Name, err, s.entry)
	}
	return nil
}

// toolValues gives the tools; each tool is the same value every time.
func (s *MCPServer) toolValues() *eval.Array {
	out := eval.NewArray(0)
	for _, t := range s.listed() {
		out.Push(s.toolValue(t))
	}
	return out
}

// listed gives the tools as the server lists them now.
func (s *MCPServer) listed() []*mcp.Tool {
	if s.server == nil {
		return nil
	}
	return s.server.Tools()
}

func (s *MCPServer) toolValue(t *mcp.Tool) eval.Value {
	v, ok := s.tools[t]
	if !ok {
		v = eval.Obj(&MCPTool{server: s, tool: t, refused: s.inspect(t)})
		s.tools[t] = v
	}
	return v
}

// tool finds a tool by name.
func (s *MCPServer) tool(name string) (*MCPTool, error) {
	var names []string
	for _, t := range s.listed() {
		if t.Name == name {
			return s.toolValue(t).AsObject().(*MCPTool), nil
		}
		names = append(names, t.Name)
	}
	if names == nil && s.server != nil {
		if err := s.server.Err(); err != nil { // it never came to a list
			return nil, connectFailed(s.cfg.Name, err, s.entry)
		}
	}
	return nil, fail("mcp server '%s' has no tool '%s'%s", s.cfg.Name, name, didYouMean(name, names))
}

// Method finds the methods.
func (s *MCPServer) Method(name string) *eval.Method {
	if i := slices.IndexFunc(serverMethods, func(m eval.Method) bool { return m.Name == name }); i >= 0 {
		return &serverMethods[i]
	}
	return nil
}

// serverMethods are set below: they refer to functions that look them up.
var serverMethods = []eval.Method{
	serverMethod("close", 0, 0, false, closeServer),
	serverMethod("reconnect", 0, 0, false, reconnectServer),
	serverMethod("call", 1, 2, true, callTool),
	serverMethod("resources", 0, 0, false, listResources),
	serverMethod("resource_templates", 0, 0, false, listTemplates),
	serverMethod("read", 1, 1, false, readResource),
	serverMethod("subscribe", 1, 1, false, subscribeResource),
	serverMethod("updated", 0, 0, false, updatedResources),
	serverMethod("prompts", 0, 0, false, listPrompts),
	serverMethod("prompt", 1, 2, true, getPrompt),
	serverMethod("complete", 0, 0, true, completeArgument),
	serverMethod("ping", 0, 0, false, pingServer),
}

func serverMethod(name string, least, most int, labels bool, f func(c *eval.Call, s *MCPServer) (eval.Value, error)) eval.Method {
	return eval.Method{Name: name, Min: least, Max: most, Labels: labels, Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
		s := o.(*MCPServer)
		c.Name = s.cfg.Name + "." + name
		return f(c, s)
	}}
}

func closeServer(c *eval.Call, s *MCPServer) (eval.Value, error) {
	if s.server == nil {
		return eval.Nil(), nil
	}
	c.Thread.Blocking(func(context.Context) { _ = s.server.Close() }) // it is gone either way
	return eval.Nil(), c.Thread.Stopped()
}

func reconnectServer(c *eval.Call, s *MCPServer) (eval.Value, error) {
	if s.server == nil {
		return eval.Value{}, s.broken
	}
	return eval.Nil(), s.connect(c.Thread, s.server.Reconnect)
}

func pingServer(c *eval.Call, s *MCPServer) (eval.Value, error) {
	if err := s.request(c.Thread, "ping", s.ping); err != nil {
		return eval.Value{}, err
	}
	return eval.Bool(true), nil
}

func (s *MCPServer) ping(ctx context.Context) error { return s.server.Ping(ctx) }

// request runs f, which asks the server something other than a call, and words
// its failure; what says what was asked for.
func (s *MCPServer) request(th *eval.Thread, what string, f func(ctx context.Context) error) error {
	if err := s.wait(th); err != nil {
		return err
	}
	var err error
	if stop := s.talk(th, func(ctx context.Context) { err = f(ctx) }); stop != nil {
		return stop
	}
	if err != nil {
		return &diag.Error{Kind: diag.MCP, Msg: "mcp server '" + s.cfg.Name + "': " + what + " failed: " + err.Error(), Cause: err}
	}
	return nil
}
