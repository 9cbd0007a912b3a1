package builtins

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/mcp/config"
)

// MCPOptions say how servers are connected to beyond what a program says. The
// zero MCPOptions ask nobody and show nothing.
type MCPOptions struct {
	// Yes lets commands from a project's file start without asking.
	Yes bool
	// Interactive says that somebody can answer questions on the terminal.
	Interactive bool
	// Roots are the folders that servers are told of.
	Roots []string
	// Verbose takes what servers log, one line each; nil drops it.
	Verbose func(string)
	// Progress shows how far a call has come, "" when it is over; nil shows
	// nothing.
	Progress func(string)
	// Notice takes lines that the user must see, such as that a server has
	// changed what it says of a tool; nil treats them as warnings.
	Notice func(string)
	// Locked refuses tools that sense.lock does not pin, or pins otherwise.
	Locked bool
	// Tokens keeps what logins to remote servers gave; nil keeps nothing.
	Tokens mcp.TokenStore
	// Folder gives the folder for what is too long for a model, made at its
	// first use; nil is one below the system's temporary folder.
	Folder func() (string, error)
	// MaxParallel bounds the calls of one turn that run side by side; 0 is 8.
	MaxParallel int
}

// useEntry finds the file's entry for a connection and fills in what the
// program left open.
func (d *Deps) useEntry(c *eval.Call, n *connection) error {
	set, err := d.configFiles(c.Thread.Place())
	if err != nil {
		return err
	}
	e := set.Entry(n.cfg.Name)
	if e == nil {
		return noEntry(n.cfg.Name, set)
	}
	if e.Disabled {
		return fail("connect_mcp(): server '%s' is disabled in %s", e.Name, e.File)
	}
	return d.fill(c.Thread, n, e)
}

func (d *Deps) configFiles(at eval.Place) (*config.Set, error) {
	set, err := config.LoadAll(scriptFolder(at), d.lookupEnv)
	if err != nil {
		return nil, fail("connect_mcp(): %v", err)
	}
	d.warnAbout(set.Warnings())
	return set, nil
}

func (d *Deps) warnAbout(warnings []string) {
	for _, w := range warnings {
		d.mu.Lock()
		known := d.warned[w]
		if d.warned == nil {
			d.warned = map[string]bool{}
		}
		d.warned[w] = true
		d.mu.Unlock()
		if !known {
			d.warn(w)
		}
	}
}

func noEntry(name string, set *config.Set) error {
	if len(set.Files) == 0 {
		return fail("connect_mcp(): no .mcp.json names a server '%s'; there is none beside the program or above it -- add one with: sense mcp add %s -- COMMAND", name, name)
	}
	var names []string
	for _, e := range set.Entries() {
		names = append(names, e.Name)
	}
	known := "it names none"
	if len(names) > 0 {
		known = "known: " + strings.Join(names, ", ")
	}
	return fail("connect_mcp(): no server '%s' in %s (%s)", name, set.Paths(), known)
}

// fill takes from an entry what the program did not say, and asks whether it
// may be used.
func (d *Deps) fill(th *eval.Thread, n *connection, e *config.Entry) error {
	if err := d.agree(th, e); err != nil {
		return err
	}
	r, err := e.Resolve(d.tapedEnv)
	if err != nil {
		return fail("connect_mcp(): %v", err)
	}
	d.addSecrets(r.Secrets...)
	own := n.cfg
	n.cfg, n.entry, n.always = r.Config, e, e.AlwaysLoad
	n.cfg.ConnectTimeout = own.ConnectTimeout
	if own.CallTimeout != 0 {
		n.cfg.CallTimeout = own.CallTimeout
	}
	if own.Tools != nil {
		n.cfg.Tools = own.Tools
	}
	return nil
}

// agree makes sure that the user wants a project's file to start a command.
func (d *Deps) agree(th *eval.Thread, e *config.Entry) error {
	trust, err := config.LoadTrust(config.TrustFile(d.lookupEnv))
	if err != nil {
		return fail("connect_mcp(): %v", err)
	}
	if trust.Has(e) {
		return nil
	}
	does := "start"
	if e.Command == "" {
		does = "send values of your environment to"
	}
	if d.MCP.Yes {
		line := visibleLines("sense: --yes lets the server '"+e.Name+"' of "+e.File+" "+does+": "+e.Shown()) + "\n"
		_, err := io.WriteString(th.Stderr(), line)
		return err
	}
	if !d.MCP.Interactive || th.InAgent() {
		return fail("connect_mcp(): server '%s' of %s would %s: %s -- nobody has agreed to that; run with --yes, or agree once with: sense mcp trust %s",
			e.Name, e.File, does, e.Shown(), e.Name)
	}
	return askTrust(th, trust, e, does)
}

func askTrust(th *eval.Thread, trust *config.Trust, e *config.Entry, does string) error {
	question := visibleLines("The server '"+e.Name+"' of "+e.File+" wants to "+does, "  "+e.Shown(),
		"May it? [y = this time, a = always, n = no] ")
	if err := th.Write(question); err != nil {
		return err
	}
	line, err := th.ReadLine()
	if err != nil && th.Stopped() != nil {
		return th.Stopped()
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	case "a", "always":
		if err := trust.Add(e, time.Now()); err != nil {
			return fail("connect_mcp(): %v", err)
		}
		return nil
	}
	return fail("connect_mcp(): server '%s' was not agreed to", e.Name)
}

// connectAll opens every server of a file, or of all files that count, side by
// side.
func (d *Deps) connectAll(c *eval.Call) (eval.Value, error) {
	at := c.Thread.Place()
	set, err := d.allFiles(c, at)
	if err != nil {
		return eval.Value{}, err
	}
	pins, err := d.lock(scriptFolder(at))
	if err != nil {
		return eval.Value{}, err
	}
	var servers []*MCPServer
	out := eval.NewMap()
	for _, e := range set.Entries() {
		if e.Disabled {
			continue
		}
		n := &connection{pins: pins, cfg: mcp.Config{Name: e.Name, ConnectTimeout: d.milliseconds("MCP_TIMEOUT")}}
		if e.Timeout == 0 {
			n.cfg.CallTimeout = d.milliseconds("MCP_TOOL_TIMEOUT")
		}
		s := d.newServer(c.Thread, n)
		out.Set(e.Name, d.declareServer(c, s))
		if err := d.fill(c.Thread, n, e); err != nil {
			if stop := c.Thread.Stopped(); stop != nil {
				return eval.Value{}, stop
			}
			s.broken = err
			continue
		}
		if err := n.allow(at); err != nil {
			s.broken = err
			continue
		}
		if err := n.intent(at); err != nil {
			return eval.Value{}, err
		}
		s.take(n)
		s.server = d.dialLater(c.Thread.Context(), s.cfg)
		servers = append(servers, s)
	}
	return out.Value(), waitAll(c.Thread, servers)
}

func (d *Deps) allFiles(c *eval.Call, at eval.Place) (*config.Set, error) {
	if len(c.Args) == 0 {
		return d.configFiles(at)
	}
	path, ok := c.Args[0].AsString()
	if !ok {
		return nil, fail("connect_mcp_all() expects the path of a file, got %s", c.Args[0].TypeName())
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(scriptFolder(at), path)
	}
	f, err := config.Load(path)
	if err != nil {
		return nil, fail("connect_mcp_all(): %v", err)
	}
	d.warnAbout(f.Warnings)
	return &config.Set{Files: []*config.File{f}}, nil
}

// waitAll waits until every server is connected or has failed.
func waitAll(th *eval.Thread, servers []*MCPServer) error {
	th.Blocking(func(ctx context.Context) {
		var all sync.WaitGroup
		for _, s := range servers {
			all.Go(func() { _ = s.server.Wait(ctx) }) // the outcome is the server's status
		}
		all.Wait()
	})
	return th.Stopped()
}

// mcpStatus gives where every connection of the program stands, by name.
func (d *Deps) mcpStatus(*eval.Call) (eval.Value, error) {
	d.mu.Lock()
	servers := append([]*MCPServer(nil), d.servers...)
	d.mu.Unlock()
	m := eval.NewMap()
	for _, s := range servers {
		m.Set(s.cfg.Name, eval.String(string(s.status())))
	}
	return m.Value(), nil
}
