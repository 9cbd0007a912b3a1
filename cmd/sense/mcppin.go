package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/mcp/config"
)

func mcpPinCommand() *cobra.Command {
	m := &mcpClient{}
	var check bool
	c := &cobra.Command{
		Use:   "pin [NAME ...]",
		Short: "Pin what servers say of their tools in sense.lock",
		Long: `Pin the names, descriptions, schemas and hints of the tools of the servers named, or
of all, in sense.lock. From then on a tool that says something else is shown when
a program runs, and with 'sense run --locked' it is refused. What changed since
the last time is shown: look at it before you keep the file.`,
		Example: "  sense mcp pin\n  sense mcp pin fs\n  sense mcp pin --check   (exit status 1 if anything changed; writes nothing)",
		RunE: func(c *cobra.Command, names []string) error {
			defer m.close(c.Context())
			return ended(c.Context(), m.pin(c.Context(), names, check))
		},
	}
	c.Flags().BoolVar(&check, "check", false, "only compare; exit status 1 if anything changed")
	m.flags(c)
	return c
}

func (m *mcpClient) pin(ctx context.Context, names []string, check bool) error {
	if err := m.open(); err != nil {
		return err
	}
	if len(names) == 0 {
		for _, e := range m.set.Entries() {
			if !e.Disabled {
				names = append(names, e.Name)
			}
		}
	}
	if len(names) == 0 {
		return mcpError("there are no servers to pin; add one with: sense mcp add NAME -- COMMAND")
	}
	lock, err := config.LoadLock(m.lockPath())
	if err != nil {
		return mcpError("%v", err)
	}
	changed := false
	for _, name := range names {
		differs, err := m.pinOne(ctx, lock, name)
		if err != nil {
			return err
		}
		changed = changed || differs
	}
	switch {
	case check && changed:
		return exitError(exitFailed)
	case check:
		return nil
	}
	if err := lock.Save(); err != nil {
		return mcpError("%v", err)
	}
	fmt.Fprintf(stdout, "Pinned in %s\n", lock.Path())
	return nil
}

// pinOne pins one server and shows what is different.
func (m *mcpClient) pinOne(ctx context.Context, lock *config.Lock, name string) (differs bool, err error) {
	s, err := m.connect(ctx, name)
	if err != nil {
		return false, err
	}
	tools := s.Tools()
	known := lock.Has(name)
	changes := lock.Compare(name, tools)
	fmt.Fprintf(stdout, "%s: %d tools\n", diag.Visible(name), len(tools))
	if known {
		for _, c := range changes {
			what := "changed its " + c.What
			if c.What == "new" || c.What == "gone" {
				what = "is " + c.What
			}
			fmt.Fprintf(stdout, "  %s %s\n", diag.Visible(c.Tool), what)
		}
	}
	lock.Set(name, tools)
	return len(changes) > 0, nil
}

// lockPath gives the lock file to write: the one there is, else one beside the
// nearest file of servers.
func (m *mcpClient) lockPath() string {
	if p := config.FindLock("."); p != "" {
		return p
	}
	for _, f := range m.set.Files {
		if !f.User {
			return filepath.Join(filepath.Dir(f.Path), config.LockFile)
		}
	}
	return config.LockFile
}
