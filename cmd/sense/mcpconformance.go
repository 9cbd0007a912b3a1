package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/mcp"
)

// mcpConformanceCommand is what the official conformance suite for MCP clients
// runs.
func mcpConformanceCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "mcp-conformance URL",
		Short:  "Play one scenario of the MCP client conformance suite",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := mcp.RunConformance(c.Context(), args[0], os.Getenv); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return exitError(exitFailed)
			}
			return nil
		},
	}
}
