package builtins

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/mcp/config"
	"github.com/sense-lang/sense/policy"
)

const connectUsage = "connect_mcp() expects (name: String, command: String, args: Array<String>, capability: String = nil)"

// connectLabels are the labels that connect_mcp takes.
var connectLabels = []string{
	"command", "args", "capability", "url", "transport", "env", "headers", "cwd", "timeout", "connect_timeout", "tools", "wait",
}

// connection is what a connect_mcp asks for.
type connection struct {
	cfg        mcp.Config
	capability string // that the program gave, "" for none
	always     bool   // its tools are always offered to models
	later      bool   // return without waiting
	entry      *config.Entry
	pins       *config.Lock
}

// needs gives the capabilities that the server's tools ask for: the one that the
// program gave and, of a server of a file, always the file's, since a program
// must not rename what rules speak of. Where rules stand above the program, no
// server is without one.
func (n *connection) needs(confined bool) []string {
	var out []string
	if n.capability != "" {
		out = append(out, policy.Name(n.capability))
	}
	switch {
	case n.entry != nil:
		if own := policy.Name(n.entry.Asks()); !slices.Contains(out, own) {
			out = append(out, own)
		}
	case out == nil && confined:
		out = append(out, policy.Join("mcp", n.cfg.Name))
	}
	return out
}

func (d *Deps) connectMCP(c *eval.Call) (eval.Value, error) {
	n, err := d.connectArgs(c)
	if err != nil {
		return eval.Value{}, err
	}
	if n.fromFile() {
		if err := d.useEntry(c, n); err != nil {
			return eval.Value{}, err
		}
	} else if err := d.expandConfig(&n.cfg); err != nil {
		return eval.Value{}, err
	}
	if err := n.allow(c.Thread.Place()); err != nil {
		return eval.Value{}, err
	}
	if err := n.intent(c.Thread.Place()); err != nil {
		return eval.Value{}, err
	}
	if n.pins, err = d.lock(scriptFolder(c.Thread.Place())); err != nil {
		return eval.Value{}, err
	}
	s := d.newServer(c.Thread, n)
	if n.later {
		s.unmet = true
		s.server = d.dialLater(c.Thread.Context(), s.cfg)
		return d.declareServer(c, s), nil
	}
	err = s.connect(c.Thread, func(ctx context.Context) (err error) {
		s.server, err = d.dial(ctx, s.cfg)
		return err
	})
	if err != nil {
		if aerr := c.Thread.Place().Event("connection", n.cfg.Name, "failed", err.Error()); aerr != nil {
			return eval.Value{}, aerr
		}
		return eval.Value{}, err
	}
	if err := c.Thread.Place().Event("connection", n.cfg.Name, "connected", ""); err != nil {
		return eval.Value{}, err
	}
	return d.declareServer(c, s), nil
}

// intent writes down what is about to be started or reached.
func (n *connection) intent(at eval.Place) error {
	how := n.cfg.URL
	if n.cfg.Command != "" {
		how = strings.Join(append([]string{n.cfg.Command}, n.cfg.Args...), " ")
	}
	return at.Intent("connection", n.cfg.Name, "connecting", how)
}

// fromFile reports whether a file says how to reach the server.
func (n *connection) fromFile() bool { return n.cfg.Command == "" && n.cfg.URL == "" }

// declareServer tells the host of a new server and notes it for mcp_status.
func (d *Deps) declareServer(c *eval.Call, s *MCPServer) eval.Value {
	v := eval.Obj(s)
	d.mu.Lock()
	d.servers = append(d.servers, s)
	d.mu.Unlock()
	if d.OnDeclare != nil {
		at := c.Thread.Place()
		d.OnDeclare(eval.Declared{Kind: "mcp", Name: s.cfg.Name, Value: v, File: at.File(), Pos: at.Pos()})
	}
	return v
}

// allow checks the capabilities of connecting itself.
func (n *connection) allow(at eval.Place) error {
	capabilities := []string{"mcp.connect"}
	if n.cfg.Command != "" {
		capabilities = append(capabilities, "process.run")
	}
	for _, capability := range capabilities {
		d := at.Decide(capability)
		if d.Allowed {
			continue
		}
		return at.Denied(d, n.cfg.Name, "tool", capability, "capability '"+capability+"' denied by policy",
			"connect_mcp(\""+n.cfg.Name+"\") requires capability '"+capability+"', which is denied by policy")
	}
	return nil
}

// connectArgs reads the arguments, those of the original's form first.
func (d *Deps) connectArgs(c *eval.Call) (*connection, error) {
	n := &connection{}
	args := len(c.Args)
	if args < 1 || args > 4 || args == 2 && len(c.Labels) == 0 {
		return nil, fail("%s", connectUsage)
	}
	var ok bool
	if n.cfg.Name, ok = c.Args[0].AsString(); !ok {
		return nil, fail("connect_mcp()'s name argument must be a String")
	}
	n.cfg.ConnectTimeout, n.cfg.CallTimeout = d.milliseconds("MCP_TIMEOUT"), d.milliseconds("MCP_TOOL_TIMEOUT")
	seen := map[string]bool{}
	for i, name := range connectLabels[:3] {
		if i+1 < args {
			seen[name] = true
			if err := n.set(name, c.Args[i+1]); err != nil {
				return nil, err
			}
		}
	}
	for _, l := range c.Labels {
		if seen[l.Name] {
			return nil, fail("connect_mcp() got more than one value for '%s'", l.Name)
		}
		seen[l.Name] = true
		if err := n.set(l.Name, l.Value); err != nil {
			return nil, err
		}
	}
	return n, n.complete(seen)
}

// complete refuses arguments that do not go together.
func (n *connection) complete(seen map[string]bool) error {
	switch {
	case n.cfg.Command != "" && n.cfg.URL != "":
		return fail("connect_mcp() got both a command and a url")
	case n.cfg.Command == "" && seen["command"]:
		return fail("connect_mcp()'s command argument must not be empty")
	case n.cfg.URL == "" && seen["url"]:
		return fail("connect_mcp()'s url argument must not be empty")
	case n.cfg.Command == "" && seen["args"]:
		return fail("connect_mcp()'s args argument needs a command")
	case n.cfg.Command == "" && seen["cwd"]:
		return fail("connect_mcp()'s cwd argument needs a command")
	case n.cfg.Command == "" && seen["env"]:
		return fail("connect_mcp()'s env argument needs a command")
	case n.cfg.URL == "" && seen["headers"]:
		return fail("connect_mcp()'s headers argument needs a url")
	case n.fromFile() && seen["transport"]:
		return fail("connect_mcp()'s transport argument needs a command or a url")
	}
	return nil
}

// set takes one argument.
//
//nolint:funlen // one case an argument
func (n *connection) set(name string, v eval.Value) (err error) {
	switch name {
	case "command":
		n.cfg.Command, err = textOf(name, v)
	case "args":
		n.cfg.Args, err = textsOf(name, v)
	case "capability":
		if !v.IsNil() {
			n.capability, err = textOf(name, v)
		}
	case "url":
		n.cfg.URL, err = textOf(name, v)
	case "transport":
		if n.cfg.Transport, err = textOf(name, v); err == nil && !slices.Contains([]string{"stdio", "http", "sse"}, n.cfg.Transport) {
			err = fail("connect_mcp()'s transport argument must be \"stdio\", \"http\" or \"sse\", got %s", eval.Quote(n.cfg.Transport))
		}
	case "env":
		n.cfg.Env, err = tableOf(name, v)
	case "headers":
		n.cfg.Headers, err = tableOf(name, v)
	case "cwd":
		n.cfg.Dir, err = textOf(name, v)
	case "timeout":
		n.cfg.CallTimeout, err = secondsOf(name, v)
	case "connect_timeout":
		n.cfg.ConnectTimeout, err = secondsOf(name, v)
	case "tools":
		n.cfg.Tools, err = textsOf(name, v)
	case "wait":
		wait, ok := v.AsBool()
		if n.later = !wait; !ok {
			err = fail("connect_mcp()'s wait argument must be a Bool")
		}
	default:
		err = fail("connect_mcp(): unknown argument '%s' -- supported: %s", name, strings.Join(connectLabels, ", "))
	}
	return err
}

func textOf(name string, v eval.Value) (string, error) {
	s, ok := v.AsString()
	if !ok {
		return "", fail("connect_mcp()'s %s argument must be a String", name)
	}
	return s, nil
}

func textsOf(name string, v eval.Value) ([]string, error) {
	list, ok := v.AsArray()
	if !ok {
		return nil, fail("connect_mcp()'s %s argument must be an Array of Strings", name)
	}
	var out []string
	for _, x := range list.Values() {
		s, ok := x.AsString()
		if !ok {
			return nil, fail("connect_mcp()'s %s argument must be an Array of Strings", name)
		}
		out = append(out, s)
	}
	return out, nil
}

func tableOf(name string, v eval.Value) (map[string]string, error) {
	m, ok := v.AsMap()
	if !ok {
		return nil, fail("connect_mcp()'s %s argument must be a Map of Strings", name)
	}
	out := map[string]string{}
	for _, k := range m.Keys() {
		x, _ := m.Get(k)
		s, ok := x.AsString()
		if !ok {
			return nil, fail("connect_mcp()'s %s argument must be a Map of Strings, but '%s' is %s", name, k, x.TypeName())
		}
		out[k] = s
	}
	return out, nil
}

func secondsOf(name string, v eval.Value) (time.Duration, error) {
	s, ok := v.AsNumber()
	if !ok || !(s > 0) || s > 24*60*60 {
		return 0, fail("connect_mcp()'s %s argument must be a number of seconds above 0 and up to a day", name)
	}
	return seconds(s), nil
}

// expandConfig puts the environment's values into what a program wrote.
// Command and arguments stay as they are.
func (d *Deps) expandConfig(cfg *mcp.Config) (err error) {
	x := &config.Expander{Env: d.tapedEnv}
	expand := func(field, s string) string {
		out, e := x.Expand(s)
		if e != nil && err == nil {
			err = fail("connect_mcp(\"%s\"): %s %v", cfg.Name, field, e)
		}
		return out
	}
	cfg.URL = expand("url", cfg.URL)
	for name, table := range map[string]map[string]string{"env": cfg.Env, "headers": cfg.Headers} {
		for _, k := range sortedKeys(table) {
			table[k] = expand(name+"."+k, table[k])
			if config.SecretName(k) {
				x.Secrets = append(x.Secrets, config.SecretParts(table[k])...)
			}
		}
	}
	if err == nil && cfg.URL != "" {
		if e := config.CheckURL(cfg.URL); e != nil {
			err = fail("connect_mcp(\"%s\"): url %v", cfg.Name, e)
		}
	}
	d.addSecrets(x.Secrets...)
	return err
}

func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// lookupEnv looks up a variable; an empty one counts as not set.
func (d *Deps) lookupEnv(name string) (string, bool) {
	v := d.getenv(name)
	return v, v != ""
}

// tapedEnv is lookupEnv through the tape; what servers get of the environment is
// secret.
func (d *Deps) tapedEnv(name string) (string, bool) {
	return d.Tape.Env(name, func() (string, bool) {
		v, ok := d.lookupEnv(name)
		d.secret(v)
		return v, ok
	})
}

func (d *Deps) addSecrets(values ...string) {
	for _, v := range values {
		d.secret(v)
	}
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

// connectFailed words a failure to connect, with what helps where a file
// describes the server.
func connectFailed(name string, err error, e *config.Entry) error {
	msg := "connect_mcp() failed to connect to '" + name + "': " + err.Error()
	var auth *mcp.NeedsAuthError
	if errors.As(err, &auth) && e != nil && !e.HasAuthorization() {
		msg += "; log in with: sense mcp login " + name
	}
	return &diag.Error{Kind: diag.MCP, Msg: msg, Cause: err}
}

// scriptFolder gives the folder of the program that calls.
func scriptFolder(at eval.Place) string {
	if f := at.File(); f != "" && f != "-" {
		return filepath.Dir(f)
	}
	return "."
}
