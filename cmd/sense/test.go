package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/testrun"
)

func testCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test PATH",
		Short: "Run the tests of a file or folder",
		Long:  "Run the test blocks of a file, or of the files of a folder that are named test_*.sns or *_test.sns.",
		Args:  pathArg,
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			ok, err := testrun.Run(args[0], testrun.Options{Stdout: stdout, Stderr: flushed{os.Stderr}, Run: func(path string, out io.Writer, report func(string, error)) error {
				r := sense.New(ctx, sense.Options{Stdout: out, Stderr: os.Stderr, Stdin: os.Stdin, Getenv: os.Getenv, Environ: os.Environ, FSRoots: workingFolder, OnTest: report})
				current.Store(r)
				err := r.RunFile(path)
				finish(ctx, r)
				return err
			}})
			if err != nil {
				errPrinter(nil).Print(flushed{os.Stderr}, err)
				return exitError(exitFailed)
			}
			_ = stdout.Flush() // nobody is left to tell
			if n := signalStatus(ctx); n != 0 {
				return exitError(n)
			}
			if !ok {
				return exitError(exitFailed)
			}
			return nil
		},
	}
}

// flushed writes after what standard output still keeps back, so that the two
// are in order on a terminal.
type flushed struct{ w io.Writer }

func (f flushed) Write(b []byte) (int, error) {
	_ = stdout.Flush() // an error shows at the end
	return f.w.Write(b)
}
