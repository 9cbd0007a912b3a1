package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/mcp/config"
)

// addition is one `sense mcp add`.
type addition struct {
	env, headers, tools, scopes []string
	transport, capability, cwd  string
	envFile, clientID           string
	timeout                     time.Duration
	callbackPort                int
	user, replace               bool
}

func mcpAddCommand() *cobra.Command {
	a := &addition{}
	c := &cobra.Command{
		Use:   "add NAME [flags] -- COMMAND ARGS... | URL",
		Short: "Add a server to .mcp.json",
		Long: `Add a server to .mcp.json: a command that is started, which follows --, or the
address of a remote one. The file is the nearest .mcp.json here or above, up to
the project's root, or a new one here; --user writes the user's own. What you
add yourself may be started without asking.

Values may name variables of the environment: ${NAME} or ${NAME:-default}. They
are looked up when the server is used, so no secret needs to stand in the file.`,
		Example: `  sense mcp add fs -- npx -y @modelcontextprotocol/server-filesystem .
  sense mcp add db --env 'DB_PASSWORD=${DB_PASSWORD}' -- uvx mcp-server-sqlite --db-path data.db
  sense mcp add github https://api.example.com/mcp --header 'Authorization: Bearer ${GITHUB_TOKEN}'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("'%s' needs a name and, after --, a command, or an address\nRun '%s --help' for examples.", c.CommandPath(), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			dash := c.ArgsLenAtDash()
			e, err := a.entry(args, dash)
			if err != nil {
				return err
			}
			return ended(c.Context(), a.add(e))
		},
	}
	f := c.Flags()
	f.StringArrayVar(&a.env, "env", nil, "a variable NAME=VALUE for the command (repeatable)")
	f.StringVar(&a.envFile, "env-file", "", "a file of variables for the command")
	f.StringArrayVar(&a.headers, "header", nil, "a header 'Name: value' for a remote server (repeatable)")
	f.StringVar(&a.transport, "transport", "", "stdio, http or sse (default: stdio for a command, http for an address)")
	f.StringVar(&a.capability, "capability", "", "the capability that calls ask for (default mcp.NAME)")
	f.StringArrayVar(&a.tools, "tool", nil, "a tool, or a pattern such as 'read_*', to let through; without one all are (repeatable)")
	f.StringVar(&a.cwd, "cwd", "", "the folder to start the command in")
	f.DurationVar(&a.timeout, "call-timeout", 0, "how long a call may take (default 60s)")
	f.StringVar(&a.clientID, "client-id", "", "the client id of a login, where the server wants one registered beforehand")
	f.StringArrayVar(&a.scopes, "scope", nil, "a scope to ask for when logging in (repeatable)")
	f.IntVar(&a.callbackPort, "callback-port", 0, "the local port that the browser returns to when logging in")
	f.BoolVar(&a.user, "user", false, "write the user's own file instead of the project's")
	f.BoolVar(&a.replace, "replace", false, "replace a server of that name")
	return c
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// entry makes the entry that the command line describes.
func (a *addition) entry(args []string, dash int) (*config.Entry, error) {
	e := &config.Entry{
		Name: args[0], EnvFile: a.envFile, Cwd: a.cwd, Capability: a.capability, Tools: a.tools, Timeout: a.timeout,
	}
	if !serverName.MatchString(e.Name) {
		return nil, fmt.Errorf("'%s' cannot be a server's name: use letters, digits, _ - and .", diag.Visible(e.Name))
	}
	rest := args[1:]
	switch isURL := strings.Contains(rest[0], "://"); {
	case dash > 1 || dash == 0:
		return nil, fmt.Errorf("write the name before -- and the command after it: sense mcp add %s -- COMMAND", e.Name)
	case isURL && len(rest) > 1:
		return nil, fmt.Errorf("one address is enough; what is '%s'?", rest[1])
	case isURL:
		e.URL = rest[0]
	default:
		e.Command, e.Args = rest[0], rest[1:]
	}
	var err error
	if e.Transport, err = a.transportFor(e); err != nil {
		return nil, err
	}
	if e.Env, err = pairsOf("--env", "=", "NAME=VALUE", a.env); err != nil {
		return nil, err
	}
	if e.Headers, err = pairsOf("--header", ":", "'Name: value'", a.headers); err != nil {
		return nil, err
	}
	if a.clientID != "" || len(a.scopes) > 0 || a.callbackPort != 0 {
		e.OAuth = &config.OAuth{ClientID: a.clientID, Scopes: a.scopes, CallbackPort: a.callbackPort}
	}
	return e, a.check(e)
}

func (a *addition) transportFor(e *config.Entry) (string, error) {
	if a.transport == "" {
		if e.URL != "" {
			return "http", nil
		}
		return "", nil
	}
	t, err := config.Transport(a.transport)
	if err != nil {
		return "", fmt.Errorf("--transport %w", err)
	}
	if (t == "stdio") != (e.Command != "") {
		return "", fmt.Errorf("--transport %s does not fit %s", t, e.Shown())
	}
	return t, nil
}

func (a *addition) check(e *config.Entry) error {
	switch {
	case e.URL != "" && (len(e.Env) > 0 || e.EnvFile != "" || e.Cwd != ""):
		return fmt.Errorf("--env, --env-file and --cwd are for a command; a remote server takes --header")
	case e.Command != "" && len(e.Headers) > 0:
		return fmt.Errorf("--header is for a remote server; a command takes --env")
	case e.Command != "" && e.OAuth != nil:
		return fmt.Errorf("--client-id, --scope and --callback-port are for a remote server")
	case e.Timeout < 0:
		return fmt.Errorf("--call-timeout must not be negative")
	case e.URL != "" && !strings.Contains(e.URL, "${"):
		if err := config.CheckURL(e.URL); err != nil {
			return fmt.Errorf("the address %w", err)
		}
	}
	return nil
}

// pairsOf reads values of a repeated flag.
func pairsOf(flag, sep, form string, list []string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, s := range list {
		k, v, ok := strings.Cut(s, sep)
		k, v = strings.TrimSpace(k), strings.TrimSpace(v)
		if !ok || k == "" || strings.ContainsAny(k, " \r\n") || strings.ContainsAny(v, "\r\n\x00") {
			return nil, fmt.Errorf("%s wants %s, not '%s'", flag, form, diag.Visible(s))
		}
		out[k] = v
	}
	return out, nil
}

func (a *addition) add(e *config.Entry) error {
	path, err := a.file()
	if err != nil {
		return err
	}
	e.File, e.User = path, a.user
	if err := config.Add(path, e, a.replace); err != nil {
		if strings.Contains(err.Error(), "already") {
			return mcpError("%v; --replace puts this one in its place", err)
		}
		return mcpError("%v", err)
	}
	fmt.Fprintf(stdout, "Added '%s' to %s: %s\n", e.Name, path, e.Shown())
	a.remarks(e)
	trust, err := config.LoadTrust(config.TrustFile(environment))
	if err == nil && !trust.Has(e) {
		err = trust.Add(e, time.Now())
	}
	if err != nil {
		fmt.Fprintf(stdout, "It will be asked for before its first start: %v\n", err)
	}
	fmt.Fprintf(stdout, "See what it offers with: sense mcp tools %s\n", e.Name)
	return nil
}

// file gives the file to write.
func (a *addition) file() (string, error) {
	if a.user {
		if p := config.UserFile(environment); p != "" {
			return p, nil
		}
		return "", mcpError("there is no home folder for the user's own file")
	}
	for _, p := range config.Find(".", func(string) (string, bool) { return "", false }) {
		return p, nil
	}
	return filepath.Abs(config.ProjectFile)
}

// remarks tells what may surprise later.
func (a *addition) remarks(e *config.Entry) {
	for _, table := range []map[string]string{e.Env, e.Headers} {
		for k, v := range table {
			if config.SecretName(k) && !strings.Contains(v, "${") && v != "" {
				fmt.Fprintf(stdout, "Note: the value of %s now stands in the file. To keep it out, write '${NAME}' and set NAME in the environment.\n", k)
			}
		}
	}
	if e.Command != "" && !strings.ContainsAny(e.Command, "/\\$") {
		if _, err := exec.LookPath(e.Command); err != nil {
			fmt.Fprintf(stdout, "Note: '%s' is not found on PATH here.\n", diag.Visible(e.Command))
		}
	}
}

func mcpRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Aliases: []string{"rm"},
		Short:   "Take a server out of its file",
		Example: "  sense mcp remove fs",
		Args:    nameArg,
		RunE: func(c *cobra.Command, args []string) error {
			return ended(c.Context(), removeServer(args[0]))
		},
	}
}

func removeServer(name string) error {
	m := &mcpClient{}
	e, err := m.find(name)
	if err != nil {
		return err
	}
	if err := config.Remove(e.File, name); err != nil {
		return mcpError("%v", err)
	}
	fmt.Fprintf(stdout, "Removed '%s' from %s\n", diag.Visible(name), e.File)
	trust, err := loadTrust()
	if err != nil {
		return err
	}
	return trust.Forget(e)
}

// nameArg demands exactly the name of a server.
func nameArg(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("'%s' needs the name of one server\n'sense mcp list' shows them.", c.CommandPath())
	}
	return nil
}

func mcpTrustCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trust NAME",
		Short: "Agree that a project's server may be started",
		Long: `Show what a server of a project's .mcp.json would start and agree to it, for this
folder and this command. When the command, its arguments or the names of its
variables change, it is asked for again.`,
		Example: "  sense mcp trust fs",
		Args:    nameArg,
		RunE: func(c *cobra.Command, args []string) error {
			return ended(c.Context(), trustServer(args[0]))
		},
	}
}

func trustServer(name string) error {
	m := &mcpClient{}
	e, err := m.find(name)
	if err != nil {
		return err
	}
	trust, err := loadTrust()
	if err != nil {
		return err
	}
	if trust.Has(e) {
		fmt.Fprintf(stdout, "'%s' may be used already: %s\n", diag.Visible(name), e.Shown())
		return nil
	}
	if err := trust.Add(e, time.Now()); err != nil {
		return mcpError("%v", err)
	}
	fmt.Fprintf(stdout, "'%s' of %s may %s from now on: %s\n", diag.Visible(name), e.File, startsWhat(e), e.Shown())
	return nil
}

func mcpGetCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "get NAME",
		Short:   "Show how a server is configured",
		Example: "  sense mcp get fs",
		Args:    nameArg,
		RunE: func(c *cobra.Command, args []string) error {
			return ended(c.Context(), showServer(args[0]))
		},
	}
}

func showServer(name string) error {
	m := &mcpClient{}
	e, err := m.find(name)
	if err != nil {
		return err
	}
	trust, err := loadTrust()
	if err != nil {
		return err
	}
	row := func(key, value string) {
		if value != "" {
			fmt.Fprintf(stdout, "%-11s %s\n", key, diag.Visible(value))
		}
	}
	row("name", e.Name)
	row("file", e.File)
	row("transport", transportOf(e))
	if e.Command != "" {
		row("command", e.Shown())
	} else {
		row("url", e.URL)
	}
	for _, k := range sortedNames(e.Env) {
		row("env", k+"="+shownValue(k, e.Env[k]))
	}
	for _, k := range sortedNames(e.Headers) {
		row("header", k+": "+shownValue(k, e.Headers[k]))
	}
	row("env file", e.EnvFile)
	row("cwd", e.Cwd)
	row("capability", e.Asks())
	row("tools", strings.Join(e.Tools, " "))
	if e.Timeout > 0 {
		row("timeout", e.Timeout.String())
	}
	if e.Disabled {
		row("disabled", "yes")
	}
	if e.Needs() {
		row("agreed", map[bool]string{true: "yes", false: "no; agree with: sense mcp trust " + e.Name}[trust.Has(e)])
	}
	if _, err := e.Resolve(environment); err != nil {
		row("problem", err.Error())
	}
	return nil
}

// shownValue hides a literal secret.
func shownValue(name, value string) string {
	if config.SecretName(name) && !strings.Contains(value, "${") && value != "" {
		return "(hidden)"
	}
	return value
}

// openURL opens an address in the user's browser where that is possible.
func openURL(address string) {
	for _, name := range []string{"xdg-open", "open", "explorer.exe"} {
		if path, err := exec.LookPath(name); err == nil {
			cmd := exec.Command(path, address)
			if cmd.Start() == nil {
				go func() { _ = cmd.Wait() }() // whether it works shows in the browser
			}
			return
		}
	}
}

// hasDisplay reports whether a browser could show something here.
func hasDisplay() bool {
	return os.Getenv("SSH_CONNECTION") == "" && (os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" || filepath.Separator == '\\' || exists("/usr/bin/open"))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
