package main

import (
	"fmt"

	"github.com/spf13/cobra"
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
	c.AddCommand(mcpResourcesCommand(), mcpReadCommand(), mcpPromptsCommand(), mcpPromptCommand(), mcpLoginCommand(), mcpLogoutCommand(), mcpPinCommand())
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
