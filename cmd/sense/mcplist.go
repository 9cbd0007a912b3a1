package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/mcp/config"
)

// listed is one server as `sense mcp list` shows it.
type listed struct {
	Name      string   `json:"name"`
	Status    string   `json:"status"`
	Tools     []string `json:"tools"`
	Transport string   `json:"transport"`
	Target    string   `json:"target"`
	File      string   `json:"file"`
	Error     string   `json:"error,omitempty"`
	hint      string
}

func mcpListCommand() *cobra.Command {
	m := &mcpClient{}
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "Show the servers that are configured here and whether they work",
		Long: `Show the servers that are configured here and whether they work. All are tried
side by side. A command of a project's file that nobody has agreed to is shown
and not started.`,
		Example: "  sense mcp list\n  sense mcp list --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			defer m.close(c.Context())
			return ended(c.Context(), m.list(c.Context(), asJSON))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	m.flags(c)
	return c
}

// flags are those of every command that connects.
func (m *mcpClient) flags(c *cobra.Command) {
	c.Flags().BoolVar(&m.yes, "yes", false, "start what a project's .mcp.json names without asking")
	c.Flags().DurationVar(&m.timeout, "timeout", 0, "how long to wait for the server (default 60s)")
}

func (m *mcpClient) list(ctx context.Context, asJSON bool) error {
	if err := m.open(); err != nil {
		return err
	}
	trust, err := loadTrust()
	if err != nil {
		return err
	}
	entries := m.set.Entries()
	rows := make([]listed, len(entries))
	m.start()
	var all sync.WaitGroup
	for i, e := range entries {
		all.Go(func() { rows[i] = m.check(ctx, e, trust.Has(e) || m.yes) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if asJSON {
		return printJSON(rows)
	}
	return m.printList(rows)
}

// check tries one server.
func (m *mcpClient) check(ctx context.Context, e *config.Entry, agreed bool) listed {
	row := listed{Name: e.Name, Tools: []string{}, Transport: transportOf(e), Target: e.Shown(), File: e.File}
	switch {
	case e.Disabled:
		row.Status = string(mcp.Disabled)
		return row
	case !agreed:
		row.Status = "not agreed"
		row.hint = "look at its command, then: sense mcp trust " + e.Name
		return row
	}
	cfg, err := m.resolve(e)
	if err != nil {
		row.Status, row.Error = string(mcp.Failed), serverSecrets.Redact(err.Error())
		return row
	}
	s, err := m.start().Connect(ctx, cfg)
	if err != nil {
		row.Status, row.Error = string(mcp.Failed), serverSecrets.Redact(err.Error())
		var auth *mcp.NeedsAuthError
		if errors.As(err, &auth) {
			row.Status = string(mcp.NeedsAuth)
			if !e.HasAuthorization() {
				row.hint = "log in with: sense mcp login " + e.Name
			}
		}
		return row
	}
	row.Status = string(s.Status())
	for _, t := range s.Tools() {
		row.Tools = append(row.Tools, t.Name)
	}
	return row
}

func transportOf(e *config.Entry) string {
	switch {
	case e.Transport != "":
		return e.Transport
	case e.Command != "":
		return "stdio"
	}
	return "http"
}

func (m *mcpClient) printList(rows []listed) error {
	if len(rows) == 0 {
		fmt.Fprintln(stdout, "No MCP servers are configured here. Add one, such as:")
		fmt.Fprintln(stdout, "  sense mcp add fs -- npx -y @modelcontextprotocol/server-filesystem .")
		return nil
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATUS\tTOOLS\tBY\tWHAT")
	for _, r := range rows {
		tools := "-"
		if r.Status == string(mcp.Connected) {
			tools = strconv.Itoa(len(r.Tools))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", cell(r.Name), r.Status, tools, r.Transport, cell(r.Target))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		for _, s := range []string{r.Error, r.hint} {
			if s != "" {
				fmt.Fprintf(stdout, "%s: %s\n", diag.Visible(r.Name), diag.Visible(s))
			}
		}
	}
	return nil
}

// cell makes a text fit for a table.
func cell(s string) string { return strings.ReplaceAll(diag.Visible(s), "\t", " ") }

// printJSON prints a value. Characters that would not show, or would act on a
// terminal, are written by their codes, which mean the same to a program.
func printJSON(v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	for _, r := range b.String() {
		var err error
		switch hidden := unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r >= 0x7f && r < 0xa0; {
		case hidden && r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			_, err = fmt.Fprintf(stdout, `\u%04x\u%04x`, hi, lo)
		case hidden:
			_, err = fmt.Fprintf(stdout, `\u%04x`, r)
		default:
			_, err = io.WriteString(stdout, string(r))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
