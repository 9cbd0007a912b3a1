package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/check"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

func permissionsCommand() *cobra.Command {
	f := &runFlags{}
	asJSON := false
	c := &cobra.Command{
		Use:   "permissions FILE",
		Short: "Show what a program may do, and which rule decides it",
		Long: `Show, without running it, which capabilities a program and its modules ask for,
whether policy allows them, and which rule decides: one of the program, or one of
the flags --allow, --deny, --policy and --strict, which are those of 'sense run', or
of a sense.toml.`,
		Args: pathArg,
		RunE: func(c *cobra.Command, args []string) error { return permissions(args[0], f, asJSON) },
	}
	f.registerPolicy(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print them as JSON")
	return c
}

// permissions shows the needs of a program under the flags.
func permissions(path string, f *runFlags, asJSON bool) error {
	src, err := source(path)
	if err != nil {
		errPrinter(nil).Print(os.Stderr, err)
		return exitError(exitFailed)
	}
	f.program = path
	if err := f.configure(); err != nil {
		return err
	}
	ceiling, err := f.ceiling()
	if err != nil {
		return err
	}
	o := check.Options{Ceiling: ceiling}
	if ceiling != nil {
		o.ReadFile = eval.ReadWithin(f.moduleRoots())
	}
	r := check.Source(path, src, o)
	for _, g := range r.Findings {
		if g.Code == "syntax" {
			errPrinter(map[string]string{path: src}).Print(os.Stderr, diag.At(diag.Syntax, g.File, g.Pos, "%s", g.Msg))
			return exitError(exitFailed)
		}
	}
	if asJSON {
		return writeJSON(needsJSON(r.Needs))
	}
	if len(r.Needs) == 0 {
		fmt.Fprintf(stdout, "%s needs no capability\n", path)
	} else {
		showNeeds(stdout, r.Needs)
	}
	for _, g := range r.Findings {
		if g.Code == "unused-rule" || g.Code == "approval-on-tool" {
			fmt.Fprintf(stdout, "%s: %s (%s:%d)\n", g.Level, diag.Visible(g.Msg), diag.Visible(fileName(g.File)), g.Pos.Line)
		}
	}
	return stdout.Flush()
}
