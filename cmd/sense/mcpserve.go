package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/mcp/fileserver"
	"github.com/sense-lang/sense/mcp/serve"
)

// serving is one `sense mcp serve`.
type serving struct {
	run                     runFlags
	builtin, http, tokenEnv string
	readOnly                bool
}

func mcpServeCommand() *cobra.Command {
	s := &serving{}
	c := &cobra.Command{
		Use:   "serve FILE | --builtin filesystem DIR",
		Short: "Be an MCP server: for a program's tools and actions, or a folder's files",
		Long: `Be an MCP server over standard input and output, or with --http over streamable
HTTP.

With a FILE, the program runs and then its tools and actions are offered to any
MCP client: tools as they are, actions by prepare_NAME, describe_action,
approve_action (which asks the client's user), commit_action and rollback_action;
and what it offers by std.serve, resources and prompts.
Policy, audit and approvals hold as in 'sense run', whose flags it takes. What
the program prints goes to standard error.

The built-in server 'filesystem' offers the files of one folder, and nothing
outside it, by the tools and argument names of the well-known filesystem server.`,
		Example: `  sense mcp serve tools.sns
  sense mcp serve tools.sns --http 127.0.0.1:8080 --token-env SERVE_TOKEN --audit audit.jsonl
  sense mcp serve --builtin filesystem ./notes --read-only`,
		Args: pathArg,
		RunE: func(c *cobra.Command, args []string) error {
			if s.builtin != "" || c.Flags().Changed("builtin") {
				return s.files(c.Context(), args[0])
			}
			return s.program(c.Context(), args[0])
		},
	}
	f := c.Flags()
	f.StringVar(&s.builtin, "builtin", "", "the built-in server to be: filesystem")
	f.BoolVar(&s.readOnly, "read-only", false, "with --builtin: offer no tool that changes anything")
	f.StringVar(&s.http, "http", "", "serve over HTTP at this address, such as 127.0.0.1:8080")
	f.StringVar(&s.tokenEnv, "token-env", "", "with --http: the environment variable that holds the token clients must send")
	s.run.register(c)
	return c
}

// files serves a folder.
func (s *serving) files(ctx context.Context, dir string) error {
	if s.builtin != "filesystem" {
		return fmt.Errorf("no built-in server '%s'; there is: filesystem", s.builtin)
	}
	if s.http != "" {
		return fmt.Errorf("the built-in server answers on standard input and output only")
	}
	return s.ended(ctx, fileserver.Serve(ctx, dir, s.readOnly, os.Stdin, os.Stdout))
}

// ended shows how serving ended.
func (s *serving) ended(ctx context.Context, err error) error {
	if n := signalStatus(ctx); n != 0 {
		return exitError(n)
	}
	if err != nil && !errors.Is(err, ctx.Err()) {
		safely(os.Stderr, err, nil, s.run.redactor)
		return exitError(exitFailed)
	}
	return nil
}

// program runs a program and serves what it declares.
func (s *serving) program(ctx context.Context, path string) error {
	if s.readOnly {
		return fmt.Errorf("--read-only is for --builtin; what a program may do is for its policy, or --deny")
	}
	token, err := s.token()
	if err != nil {
		return err
	}
	o, err := s.run.options()
	if err != nil {
		return err
	}
	src, err := sense.ReadSource(path)
	if err != nil {
		return s.ended(ctx, err)
	}
	declared := &sense.Declarations{}
	o.Stdout, o.Stdin, o.AskApproval, o.OnDeclare = os.Stderr, nil, nil, declared.Add
	o.MCP.Interactive, o.MCP.Progress = false, nil
	r := sense.New(ctx, o)
	current.Store(r)
	if err = r.RunSource(path, src); err == nil {
		err = s.serve(ctx, r, path, declared, token)
	}
	failures := finish(ctx, r)
	for _, f := range failures {
		safely(os.Stderr, f, nil, s.run.redactor)
	}
	if n := signalStatus(ctx); n == 0 && err != nil && !errors.Is(err, ctx.Err()) {
		safely(os.Stderr, err, nil, s.run.redactor)
		return exitError(failStatus(ctx, err))
	}
	return s.ended(ctx, nil)
}

// serve offers what a program declared.
func (s *serving) serve(ctx context.Context, r *sense.Runtime, path string, declared *sense.Declarations, token string) error {
	name := strings.TrimSuffix(filepath.Base(path), ".sns")
	server, err := sense.NewMCPServer(r, name, path, declared)
	if err != nil {
		return err
	}
	if s.http == "" {
		return serve.Stdio(ctx, server, os.Stdin, os.Stdout)
	}
	l, err := net.Listen("tcp", s.http)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", s.http, bareNet(err))
	}
	fmt.Fprintf(os.Stderr, "sense: serving %s at http://%s%s (Ctrl+C to stop)\n", path, l.Addr(), serve.Path)
	return serve.HTTP(ctx, server, l, token)
}

// token gives the token that clients must send; without one only this machine
// is served.
func (s *serving) token() (string, error) {
	switch {
	case s.tokenEnv != "" && s.http == "":
		return "", fmt.Errorf("--token-env goes with --http")
	case s.tokenEnv != "":
		if token := os.Getenv(s.tokenEnv); len(token) >= 16 {
			return token, nil
		}
		return "", fmt.Errorf("the environment variable %s must hold a token of 16 characters or more", s.tokenEnv)
	case s.http != "" && !loopback(s.http):
		return "", fmt.Errorf("--http %s would serve the whole network: give a token with --token-env, or an address of this machine such as 127.0.0.1:8080", s.http)
	}
	return "", nil
}

// loopback reports whether an address can be reached from this machine only.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
