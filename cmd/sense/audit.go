package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/audit"
)

func auditCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Check and read audit files",
		Long:  "Check and read the files that 'sense run --audit FILE' writes.",
		Args:  noSubcommand,
		RunE:  func(c *cobra.Command, args []string) error { return c.Help() },
	}
	c.AddCommand(auditVerifyCommand(), auditShowCommand())
	return c
}

func auditVerifyCommand() *cobra.Command {
	var head string
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "Tell whether an audit file is whole, and where it ends",
		Long: `Tell whether an audit file is whole: each entry carries the hash of the one
before, so a changed, missing or moved entry shows. Entries cut off at the end show
only with --head, the last hash as it was noted elsewhere.`,
		Args: pathArg,
		RunE: func(c *cobra.Command, args []string) error { return verifyAudit(args[0], head) },
	}
	c.Flags().StringVar(&head, "head", "", "the hash that the last entry must have")
	return c
}

func verifyAudit(path, head string) error {
	f, err := os.Open(path)
	if err != nil {
		return auditFailed(fmt.Errorf("cannot read the audit: %w", err))
	}
	defer f.Close()
	check := audit.Verify
	if head != "" {
		check = func(r io.Reader) (audit.Report, error) { return audit.VerifyHead(r, head) }
	}
	rep, err := check(bufio.NewReader(f))
	if err != nil {
		return auditFailed(fmt.Errorf("%s: %w", path, err))
	}
	fmt.Fprintf(stdout, "%s: %d entries, whole and in order; the last has the hash %s\n", path, rep.Entries, orNone(rep.Head))
	if rep.Unfinished > 0 {
		fmt.Fprintf(stdout, "%d bytes of an entry that was never finished follow: the program was stopped there\n", rep.Unfinished)
	}
	return stdout.Flush()
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

func showAudit(path string, texts []string) error {
	var filters []audit.Filter
	for _, t := range texts {
		f, err := audit.ParseFilter(t)
		if err != nil {
			return err
		}
		filters = append(filters, f)
	}
	f, err := os.Open(path)
	if err != nil {
		return auditFailed(fmt.Errorf("cannot read the audit: %w", err))
	}
	defer f.Close()
	_, err = audit.Show(bufio.NewReader(f), filters, func(r *audit.Record) error {
		_, err := fmt.Fprintln(stdout, r)
		return err
	})
	if err != nil {
		return auditFailed(fmt.Errorf("%s: %w", path, err))
	}
	return stdout.Flush()
}

func auditFailed(err error) error {
	errPrinter(nil).Print(flushed{os.Stderr}, err)
	return exitError(exitFailed)
}

func auditShowCommand() *cobra.Command {
	var filters []string
	c := &cobra.Command{
		Use:     "show FILE",
		Short:   "Show the entries of an audit file",
		Example: "  sense audit show run.jsonl --filter event=denied --filter name=email.send",
		Args:    pathArg,
		RunE:    func(c *cobra.Command, args []string) error { return showAudit(args[0], filters) },
	}
	c.Flags().StringArrayVar(&filters, "filter", nil, "only entries whose KEY has the VALUE, as KEY=VALUE (repeatable)")
	return c
}
