package main

import (
	"github.com/spf13/cobra"

	"github.com/sense-lang/sense"
)

func evalCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "eval CODE [flags] [-- ARGUMENTS]",
		Short: "Run code given on the command line",
		Long: `Run the code that CODE itself is. The value of a single expression is printed,
unless it is nil. Flags and arguments are as in 'sense run'.`,
		Example: `  sense eval '2 ** 100'
  sense eval 'import std.json
  print(json.dump({"a": [1, 2]}))'`,
		RunE: func(c *cobra.Command, words []string) error {
			code, err := f.split(c, words, "code")
			if err != nil || code == "" {
				return err
			}
			ctx := c.Context()
			return f.execute(ctx, map[string]string{"": code}, func(r *sense.Runtime) error {
				return r.NewSession(stdout).Run(ctx, code, true)
			})
		},
	}
	c.Flags().SetInterspersed(false)
	f.register(c)
	return c
}
