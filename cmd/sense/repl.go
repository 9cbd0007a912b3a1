package main

import (
	"context"

	"github.com/spf13/cobra"
)

func replCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "repl",
		Short: "Type and try",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, args []string) error { return startREPL(c.Context()) },
	}
}

func startREPL(ctx context.Context) error { return nil }
