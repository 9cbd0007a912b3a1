package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/mcp/config"
)

// currentServers are the servers of a `sense mcp` command, for a second
// interrupt.
var currentServers atomic.Pointer[mcp.Manager]

// serverSecrets are those of the servers that a `sense mcp` command uses.
var serverSecrets = &audit.Redactor{}

// mcpClient is what the commands that talk to servers share.
type mcpClient struct {
	yes     bool
	timeout time.Duration
	set     *config.Set
	manager *mcp.Manager
}

// open reads the configuration and shows what is odd about it.
func (m *mcpClient) open() error {
	set, err := config.LoadAll(".", environment)
	if err != nil {
		return mcpError("%v", err)
	}
	m.set = set
	for _, w := range set.Warnings() {
		fmt.Fprintf(flushed{os.Stderr}, "sense: %s\n", diag.Visible(w))
	}
	return nil
}

// mcpError makes an error of the user's words.
func mcpError(format string, args ...any) error { return diag.New(diag.MCP, format, args...) }

// ended shows an error of a command and gives its exit status.
func ended(ctx context.Context, err error) error {
	flushErr := stdout.Flush()
	if n := signalStatus(ctx); n != 0 {
		return exitError(n)
	}
	if err == nil {
		err = flushErr
	}
	if err == nil || stdout.broken {
		return nil
	}
	var code exitError
	if errors.As(err, &code) {
		return err
	}
	safely(flushed{os.Stderr}, err, nil, serverSecrets)
	return exitError(exitFailed)
}

// entry finds a server by name.
func (m *mcpClient) entry(name string) (*config.Entry, error) {
	if e := m.set.Entry(name); e != nil {
		return e, nil
	}
	if len(m.set.Files) == 0 {
		return nil, mcpError("there is no .mcp.json here or above, so no server '%s'; add one with: sense mcp add %s -- COMMAND", name, name)
	}
	var names []string
	for _, e := range m.set.Entries() {
		names = append(names, e.Name)
	}
	if len(names) == 0 {
		return nil, mcpError("%s names no servers; add one with: sense mcp add %s -- COMMAND", m.set.Paths(), name)
	}
	return nil, mcpError("no server '%s' in %s; there are: %s", name, m.set.Paths(), strings.Join(names, ", "))
}

// find reads the configuration and finds a server in it.
func (m *mcpClient) find(name string) (*config.Entry, error) {
	if err := m.open(); err != nil {
		return nil, err
	}
	return m.entry(name)
}

// loadTrust reads which servers of projects the user agreed to.
func loadTrust() (*config.Trust, error) {
	trust, err := config.LoadTrust(config.TrustFile(environment))
	if err != nil {
		return nil, mcpError("%v", err)
	}
	return trust, nil
}

// resolve gives the configuration to connect to an entry with.
func (m *mcpClient) resolve(e *config.Entry) (mcp.Config, error) {
	r, err := e.Resolve(environment)
	if err != nil {
		return mcp.Config{}, mcpError("%v", err)
	}
	serverSecrets.Add(r.Secrets...)
	cfg := r.Config
	cfg.ConnectTimeout = milliseconds("MCP_TIMEOUT")
	if cfg.CallTimeout == 0 {
		cfg.CallTimeout = milliseconds("MCP_TOOL_TIMEOUT")
	}
	if m.timeout > 0 {
		cfg.ConnectTimeout, cfg.CallTimeout = m.timeout, m.timeout
	}
	cfg.Warn = func(s string) { fmt.Fprintf(flushed{os.Stderr}, "sense: %s\n", diag.Visible(serverSecrets.Redact(s))) }
	return cfg, nil
}

// milliseconds reads a limit from the environment; anything but a number above
// zero is the default.
func milliseconds(name string) time.Duration {
	n, err := strconv.ParseInt(os.Getenv(name), 10, 64)
	if err != nil || n <= 0 || n > int64(24*time.Hour/time.Millisecond) {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// start gives the manager, made at the first use.
func (m *mcpClient) start() *mcp.Manager {
	if m.manager == nil {
		m.manager = mcp.NewManager()
		m.manager.SweepAdopted = true
		m.manager.Tokens = tokens()
		currentServers.Store(m.manager)
	}
	return m.manager
}

// close ends all servers.
func (m *mcpClient) close(ctx context.Context) {
	switch {
	case m.manager == nil:
	case ctx.Err() != nil:
		m.manager.Abort()
	default:
		m.manager.CloseAll()
	}
}

// connect connects to one server by name.
func (m *mcpClient) connect(ctx context.Context, name string) (*mcp.Server, error) {
	e, err := m.find(name)
	if err != nil {
		return nil, err
	}
	if err := m.agree(e); err != nil {
		return nil, err
	}
	cfg, err := m.resolve(e)
	if err != nil {
		return nil, err
	}
	line := &progressLine{}
	if interactive() {
		line.show("connecting to '" + name + "' ...")
	}
	s, err := m.start().Connect(ctx, cfg)
	line.show("")
	if err != nil {
		return nil, connectError(e, err)
	}
	return s, nil
}

// connectError words a failure to connect, with what can be done about it.
func connectError(e *config.Entry, err error) error {
	msg := fmt.Sprintf("cannot connect to '%s': %v", e.Name, err)
	var auth *mcp.NeedsAuthError
	var late *mcp.TimeoutError
	switch {
	case errors.As(err, &auth) && e.HasAuthorization():
		msg += "; look at its value with: sense mcp get " + e.Name
	case errors.As(err, &auth):
		msg += "; log in with: sense mcp login " + e.Name
	case errors.As(err, &late):
		msg += "; a first start that downloads something may need longer: --timeout 120s, or MCP_TIMEOUT in milliseconds"
	}
	return &diag.Error{Kind: diag.MCP, Msg: msg, Cause: err}
}

// agree makes sure that the user wants a project's file to start a command.
func (m *mcpClient) agree(e *config.Entry) error {
	trust, err := loadTrust()
	if err != nil {
		return err
	}
	if trust.Has(e) {
		return nil
	}
	does := startsWhat(e)
	if m.yes {
		fmt.Fprintf(flushed{os.Stderr}, "sense: --yes lets the server '%s' %s: %s\n", diag.Visible(e.Name), does, e.Shown())
		return nil
	}
	if !interactive() {
		return mcpError("the server '%s' of %s would %s: %s -- nobody has agreed to that; look at it and say --yes, or agree once with: sense mcp trust %s",
			e.Name, e.File, does, e.Shown(), e.Name)
	}
	fmt.Fprintf(stdout, "The server '%s' of %s wants to %s\n  %s\nMay it? [y = this time, a = always, n = no] ", diag.Visible(e.Name), diag.Visible(e.File), does, e.Shown())
	if err := stdout.Flush(); err != nil {
		return err
	}
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n') // no answer is no
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	case "a", "always":
		return trust.Add(e, time.Now())
	}
	return mcpError("the server '%s' was not agreed to", e.Name)
}

func startsWhat(e *config.Entry) string {
	if e.Command == "" {
		return "send values of your environment to"
	}
	return "start"
}
