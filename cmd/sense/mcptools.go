package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
)

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// withServer makes a command that connects to one server and does something
// with it.
func withServer(c *cobra.Command, f func(ctx context.Context, s *mcp.Server, args []string) error) *cobra.Command {
	m := &mcpClient{}
	m.flags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		defer m.close(c.Context())
		s, err := m.connect(c.Context(), args[0])
		if err == nil {
			err = f(c.Context(), s, args[1:])
		}
		return ended(c.Context(), err)
	}
	return c
}

func mcpToolsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "tools NAME",
		Short: "Show the tools of a server",
		Long: `Show the tools of a server with their arguments and their whole descriptions, as
a model would read them. Invisible characters are shown by their codes: a
description that has some may hide instructions.`,
		Example: "  sense mcp tools fs\n  sense mcp tools fs --json",
		Args:    nameArg,
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the whole schemas")
	return withServer(c, func(_ context.Context, s *mcp.Server, _ []string) error {
		if asJSON {
			return printJSON(toolsJSON(s.Tools()))
		}
		printTools(s)
		return nil
	})
}

// toolJSON is a tool as --json prints it.
type toolJSON struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  mcp.Annotations `json:"annotations"`
}

func toolsJSON(tools []*mcp.Tool) []toolJSON {
	out := []toolJSON{}
	for _, t := range tools {
		out = append(out, toolJSON{t.Name, t.Description, t.Schema, t.OutputSchema, t.Annotations})
	}
	return out
}

func printTools(s *mcp.Server) {
	tools := s.Tools()
	if len(tools) == 0 {
		fmt.Fprintf(stdout, "'%s' offers no tools.\n", s.Name())
		return
	}
	hidden := false
	for i, t := range tools {
		if i > 0 {
			fmt.Fprintln(stdout)
		}
		fmt.Fprintf(stdout, "%s%s%s\n", diag.Visible(t.Name), signature(t.Schema), hints(&t.Annotations))
		for line := range strings.Lines(strings.TrimSpace(t.Description)) {
			fmt.Fprintf(stdout, "    %s\n", diag.Visible(strings.TrimRight(line, "\r\n")))
		}
		if invisible(t.Name + t.Description + string(t.Schema)) {
			hidden = true
			fmt.Fprintln(stdout, "    ! This tool's text holds invisible characters. Do not trust it blindly.")
		}
	}
	if hidden {
		fmt.Fprintln(stdout, "\nInvisible characters are taken out before a model sees the text.")
	}
}

// invisible reports whether a text holds characters that nobody sees.
func invisible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && r != '\r' && r != utf8.RuneError && diag.Hidden(r)
	})
}

// signature writes a schema's arguments as those of a tool of Sense.
func signature(schema json.RawMessage) string {
	v, err := builtins.FromJSON(schema)
	m, ok := v.AsMap()
	if err != nil || !ok {
		return "()"
	}
	required := map[string]bool{}
	if list, ok := member(m, "required").AsArray(); ok {
		for _, x := range list.Values() {
			required[x.String()] = true
		}
	}
	props, ok := member(m, "properties").AsMap()
	if !ok {
		return "()"
	}
	var must, may []string
	for _, name := range props.Keys() {
		p, _ := props.Get(name)
		text := diag.Visible(name) + ": " + typeOf(p)
		if required[name] {
			must = append(must, text)
		} else {
			may = append(may, text+"?")
		}
	}
	return "(" + strings.Join(append(must, may...), ", ") + ")"
}

func member(m *eval.Map, key string) eval.Value {
	v, ok := m.Get(key)
	if !ok {
		return eval.Nil()
	}
	return v
}

// typeOf names the type of a property.
func typeOf(p eval.Value) string {
	m, ok := p.AsMap()
	if !ok {
		return "any"
	}
	if _, ok := m.Get("enum"); ok {
		return "one of " + diag.Visible(member(m, "enum").String())
	}
	names := map[string]string{"string": "String", "integer": "Int", "number": "Number", "boolean": "Bool", "array": "Array", "object": "Map"}
	if n, ok := names[member(m, "type").String()]; ok {
		return n
	}
	return "any"
}

// hints writes what a server claims of a tool.
func hints(a *mcp.Annotations) string {
	var out []string
	if a.ReadOnly {
		out = append(out, "only reads")
	}
	if a.Destructive != nil && *a.Destructive {
		out = append(out, "may destroy")
	}
	if len(out) == 0 {
		return ""
	}
	return "  [" + strings.Join(out, ", ") + "]"
}

func mcpResourcesCommand() *cobra.Command {
	return withServer(&cobra.Command{
		Use: "resources NAME", Short: "Show the resources of a server", Example: "  sense mcp resources docs", Args: nameArg,
	}, func(ctx context.Context, s *mcp.Server, _ []string) error {
		list, err := s.Resources(ctx)
		if err != nil {
			return mcpError("cannot list the resources of '%s': %v", s.Name(), err)
		}
		templates, err := s.ResourceTemplates(ctx)
		if err != nil {
			return mcpError("cannot list the resource templates of '%s': %v", s.Name(), err)
		}
		if len(list)+len(templates) == 0 {
			fmt.Fprintf(stdout, "'%s' offers no resources.\n", s.Name())
		}
		for _, r := range list {
			described(r.URI, r.MIMEType, r.Name, r.Description)
		}
		for _, r := range templates {
			described(r.URITemplate, r.MIMEType, r.Name, r.Description)
		}
		return nil
	})
}

// described prints one thing with what is said of it.
func described(what string, more ...string) {
	line := diag.Visible(what)
	for _, s := range more {
		if s = strings.Join(strings.Fields(s), " "); s != "" && s != what {
			line += "  " + diag.Visible(s)
		}
	}
	fmt.Fprintln(stdout, line)
}

func mcpReadCommand() *cobra.Command {
	return withServer(&cobra.Command{
		Use:     "read NAME URI",
		Short:   "Print a resource of a server",
		Example: "  sense mcp read docs docs://index",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("'%s' needs the name of a server and the uri of a resource\n'sense mcp resources NAME' shows them.", c.CommandPath())
			}
			return nil
		},
	}, func(ctx context.Context, s *mcp.Server, args []string) error {
		blocks, err := s.Read(ctx, args[0])
		if err != nil {
			return mcpError("cannot read '%s' of '%s': %v", args[0], s.Name(), err)
		}
		printForeign(mcp.RenderBlocks(blocks))
		return nil
	})
}

// printForeign prints text of a server: as it is into a pipe, made visible on a
// terminal.
func printForeign(text string) {
	if stdout.tty {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			lines[i] = diag.Visible(strings.TrimSuffix(l, "\r"))
		}
		text = strings.Join(lines, "\n")
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	fmt.Fprint(stdout, text)
}

func mcpPromptsCommand() *cobra.Command {
	return withServer(&cobra.Command{
		Use: "prompts NAME", Short: "Show the prompts of a server", Example: "  sense mcp prompts docs", Args: nameArg,
	}, func(ctx context.Context, s *mcp.Server, _ []string) error {
		list, err := s.Prompts(ctx)
		if err != nil {
			return mcpError("cannot list the prompts of '%s': %v", s.Name(), err)
		}
		if len(list) == 0 {
			fmt.Fprintf(stdout, "'%s' offers no prompts.\n", s.Name())
		}
		for _, p := range list {
			var args []string
			for _, a := range p.Arguments {
				name := diag.Visible(a.Name)
				if !a.Required {
					name += "?"
				}
				args = append(args, name)
			}
			described(p.Name+"("+strings.Join(args, ", ")+")", p.Description)
		}
		return nil
	})
}

func mcpPromptCommand() *cobra.Command {
	return withServer(&cobra.Command{
		Use:     "prompt NAME PROMPT [key=value ...]",
		Short:   "Print a prompt of a server, filled in",
		Example: "  sense mcp prompt docs summarise topic=actions",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("'%s' needs the name of a server and of a prompt\n'sense mcp prompts NAME' shows them.", c.CommandPath())
			}
			return nil
		},
	}, func(ctx context.Context, s *mcp.Server, args []string) error {
		filled, err := pairsOf("a prompt", "=", "key=value", args[1:])
		if err != nil {
			return mcpError("%v", err)
		}
		r, err := s.Prompt(ctx, args[0], filled)
		if err != nil {
			return mcpError("cannot get the prompt '%s' of '%s': %v", args[0], s.Name(), err)
		}
		for _, m := range r.Messages {
			fmt.Fprintf(stdout, "%s:\n", diag.Visible(m.Role))
			printForeign(mcp.RenderBlocks(m.Blocks))
		}
		return nil
	})
}
