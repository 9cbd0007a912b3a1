package builtins

import (
	"net/http"
	"sync"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/memory"
	"github.com/sense-lang/sense/pybridge"
	"github.com/sense-lang/sense/tape"
)

// Deps is what the builtins need of the world outside the program.
type Deps struct {
	// Getenv looks up an environment variable; nil knows none.
	Getenv func(name string) string
	// HTTPClient makes the requests of model clients; nil is the default.
	HTTPClient *http.Client
	// Warn takes one-line warnings that are no errors; nil drops them.
	Warn func(string)
	// OnDeclare is told of skills and servers; nil tells nobody.
	OnDeclare func(eval.Declared)
	// Secret is told of every secret that the program comes to use; nil tells
	// nobody.
	Secret func(string)
	// Tape records what the program exchanges with the world, or plays it; nil
	// does neither.
	Tape *tape.Tape
	// Confined says that rules stand above the program: Python starts without the
	// user's own modules and without our environment, and the tools of a server to
	// which nobody gave a capability ask for mcp.NAME.
	Confined bool
	// MemoryRoots are the folders that persistent memories must lie in; nil lets
	// them lie anywhere. SENSE_MEMORY_DIR is always one of them.
	MemoryRoots []string
	// Argv is what Python programs see as sys.argv.
	Argv []string

	// MCP says how servers are connected to.
	MCP MCPOptions

	once    sync.Once
	manager *mcp.Manager

	mu      sync.Mutex
	usage   usageTable
	stores  map[string]*memory.Store
	servers []*MCPServer    // in the order of their connecting
	warned  map[string]bool // remarks on files that were made
	saved   *outputs
	python  *pybridge.Proc
	watch   mcp.Watch // over what Python starts
}

func (d *Deps) getenv(name string) string {
	if d.Getenv == nil {
		return ""
	}
	return d.Getenv(name)
}

func (d *Deps) secret(s string) {
	if d.Secret != nil && s != "" {
		d.Secret(s)
	}
}

func (d *Deps) warn(s string) {
	if d.Warn != nil {
		d.Warn(s)
	}
}

// mcp gives the manager of the program's servers, made at the first use.
func (d *Deps) mcp() *mcp.Manager {
	d.once.Do(func() {
		d.manager = mcp.NewManager()
		d.manager.SweepAdopted = true
		d.manager.Tokens = d.MCP.Tokens
	})
	return d.manager
}

// outputs gives what keeps texts that are too long for a model.
func (d *Deps) outputs() *outputs {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.saved == nil {
		d.saved = &outputs{deps: d}
	}
	return d.saved
}

// Close ends every MCP server; abort gives them less time.
func (d *Deps) Close(abort bool) {
	d.once.Do(func() {})
	d.closeStores()
	d.closePython()
	d.outputs().close()
	switch {
	case d.manager == nil:
	case abort:
		d.manager.Abort()
	default:
		d.manager.CloseAll()
	}
}

// worldly lists the builtins that reach out of the program.
func (d *Deps) worldly() []eval.Builtin {
	return []eval.Builtin{
		{Name: "inference", Max: -1, Labels: true, Fn: d.inference},
		{Name: "ask", Min: 1, Max: 1, Labels: true, Fn: d.ask},
		{Name: "ask_with_memory", Min: 2, Max: 2, Labels: true, Fn: d.askWithMemory},
		{Name: "ask_with_tools", Min: 2, Max: 2, Labels: true, Fn: d.askWithTools},
		{Name: "skill", Min: 3, Max: 3, Fn: d.skill},
		{Name: "connect_mcp", Max: -1, Labels: true, Fn: d.connectMCP},
	}
}
