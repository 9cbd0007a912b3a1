package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/mcp"
)

func mcpLoginCommand() *cobra.Command {
	m := &mcpClient{}
	var stay bool
	c := &cobra.Command{
		Use:   "login NAME",
		Short: "Log in to a remote server",
		Long: `Log in to a remote server that wants it. The address to log in at is printed and,
where that is possible, opened in the browser, which comes back to a port of this
machine. What the login gives is kept in the system's keyring, or, where there is
none, in a file that only you can read, and used by 'sense run' as well.
SENSE_KEYRING=off in the environment keeps it in the file.`,
		Example: "  sense mcp login github",
		Args:    nameArg,
		RunE: func(c *cobra.Command, args []string) error {
			defer m.close(c.Context())
			return ended(c.Context(), m.login(c.Context(), args[0], stay))
		},
	}
	c.Flags().BoolVar(&stay, "no-browser", false, "only print the address")
	m.flags(c)
	return c
}

func (m *mcpClient) login(ctx context.Context, name string, stay bool) error {
	e, err := m.find(name)
	if err != nil {
		return err
	}
	if e.URL == "" {
		return mcpError("'%s' is a command, which has no login; give it its keys with --env when you add it", name)
	}
	if err := m.agree(e); err != nil {
		return err
	}
	cfg, err := m.resolve(e)
	if err != nil {
		return err
	}
	manager, kept := m.start(), logins()
	if kept == nil {
		return mcpError("there is no home folder to keep the login in")
	}
	manager.Tokens = kept
	asked := false
	manager.Browser = func(_ context.Context, address string) error {
		asked = true
		fmt.Fprintf(flushed{os.Stderr}, "Log in at this address:\n  %s\nWaiting for the browser to come back ...\n", address)
		if !stay && hasDisplay() {
			openURL(address)
		}
		return nil
	}
	if err := manager.Login(ctx, cfg); err != nil {
		var late *mcp.TimeoutError
		if asked && errors.As(err, &late) {
			return mcpError("cannot log in to '%s': nobody has logged in at the address in %v", name, late.After)
		}
		return mcpError("cannot log in to '%s': %v", name, err)
	}
	if !asked {
		fmt.Fprintf(stdout, "'%s' wants no login; it answers.\n", name)
		return nil
	}
	fmt.Fprintf(stdout, "Logged in to '%s'. The login is kept in %s.\n", name, kept.Where())
	return nil
}

func mcpLogoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "logout NAME",
		Short:   "Forget the login to a remote server",
		Example: "  sense mcp logout github",
		Args:    nameArg,
		RunE: func(c *cobra.Command, args []string) error {
			m := &mcpClient{}
			return ended(c.Context(), m.logout(args[0]))
		},
	}
}

func (m *mcpClient) logout(name string) error {
	e, err := m.find(name)
	if err != nil {
		return err
	}
	if e.URL == "" {
		return mcpError("'%s' is a command, which has no login", name)
	}
	cfg, err := m.resolve(e)
	if err != nil {
		return err
	}
	if err := m.start().Logout(cfg); err != nil {
		return mcpError("cannot log out of '%s': %v", name, err)
	}
	fmt.Fprintf(stdout, "Logged out of '%s'.\n", name)
	return nil
}
