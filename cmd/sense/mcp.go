package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/mcp/fileserver"
)

func mcpCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Work with MCP servers",
		Long: `Work with the MCP servers that .mcp.json names: add them, look at what they offer,
call their tools. A program connects to one of them with connect_mcp("name").`,
		Example: `  sense mcp add fs -- npx -y @modelcontextprotocol/server-filesystem .
  sense mcp list
  sense mcp tools fs
  sense mcp call fs list_directory path=.`,
		Args: noSubcommand,
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}
	c.AddCommand(mcpAddCommand(), mcpListCommand(), mcpGetCommand(), mcpRemoveCommand(), mcpTrustCommand(), mcpToolsCommand(), mcpCallCommand())
	c.AddCommand(mcpResourcesCommand(), mcpReadCommand(), mcpPromptsCommand(), mcpPromptCommand(), mcpLoginCommand(), mcpLogoutCommand())
	c.AddCommand(mcpServeCommand())
	return c
}

// noSubcommand refuses a word that is no subcommand.
func noSubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := fmt.Sprintf("unknown command '%s %s'", c.CommandPath(), args[0])
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		msg += fmt.Sprintf(" -- did you mean '%s'?", near[0])
	}
	return fmt.Errorf("%s\nRun '%s --help' for the commands.", msg, c.CommandPath())
}

func mcpServeCommand() *cobra.Command {
	var builtin string
	var readOnly bool
	c := &cobra.Command{
		Use:   "serve --builtin filesystem DIR",
		Short: "Be an MCP server over standard input and output",
		Long: `Be an MCP server over standard input and output. The built-in server 'filesystem'
offers the files of one folder, and nothing outside it, by the tools and argument
names of the well-known filesystem server.`,
		Example: "  sense mcp serve --builtin filesystem ./notes --read-only",
		Args:    pathArg,
		RunE: func(c *cobra.Command, args []string) error {
			if builtin != "filesystem" {
				return fmt.Errorf("no built-in server '%s'; there is: filesystem", builtin)
			}
			err := fileserver.Serve(c.Context(), args[0], readOnly, os.Stdin, os.Stdout)
			if n := signalStatus(c.Context()); n != 0 {
				return exitError(n)
			}
			if err != nil && !errors.Is(err, c.Context().Err()) {
				errPrinter(nil).Print(os.Stderr, err)
				return exitError(exitFailed)
			}
			return nil
		},
	}
	c.Flags().StringVar(&builtin, "builtin", "", "the built-in server to be: filesystem")
	c.Flags().BoolVar(&readOnly, "read-only", false, "offer no tool that changes anything")
	return c
}
