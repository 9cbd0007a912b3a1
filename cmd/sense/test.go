package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/testrun"
)

func testCommand() *cobra.Command {
	var f testFlags
	c := &cobra.Command{
		Use:   "test PATH",
		Short: "Run the tests of a file or folder",
		Long: `Run the test blocks of a file, or of the files of a folder that are named test_*.sns or *_test.sns.

With --record each file's exchanges with models, MCP servers, people, clock and
chance are written to a tape beside it, FILE.tape; with --replay they come from
there, with no network and no server.`,
		Args: pathArg,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), args[0]) },
	}
	f.world.registerWorld(c)
	c.Flags().BoolVar(&f.record, "record", false, "write a tape beside each file")
	c.Flags().BoolVar(&f.replay, "replay", false, "play the tape beside each file")
	return c
}

// testFlags are the flags of `sense test`.
type testFlags struct {
	record, replay bool
	world          runFlags
}

func (f *testFlags) run(ctx context.Context, path string) error {
	if f.record && f.replay {
		return fmt.Errorf("--record and --replay exclude each other")
	}
	ok, err := testrun.Run(path, testrun.Options{Stdout: programOutput(f.world.raw), Stderr: flushed{os.Stderr}, Run: func(path string, out io.Writer, report func(string, error)) error {
		return f.file(ctx, path, out, report)
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
}

// file runs one test file.
func (f *testFlags) file(ctx context.Context, path string, out io.Writer, report func(string, error)) error {
	r := &f.world
	r.program, r.record, r.replay = path, "", ""
	if f.record {
		r.record = path + ".tape"
	}
	if f.replay {
		r.replay = path + ".tape"
	}
	o, err := r.options()
	if err != nil {
		return err
	}
	o.Stdout = out
	o.OnTest = func(desc string, err error) { report(desc, r.clean(err)) }
	rt := sense.New(ctx, o)
	current.Store(rt)
	err = rt.RunFile(path)
	finish(ctx, rt)
	return r.clean(err)
}

// clean takes secrets out of the text of an error.
func (f *runFlags) clean(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); f.redactor.Redact(text) != text {
		return errors.New(f.redactor.Redact(text))
	}
	return err
}

// flushed writes after what standard output still keeps back, so that the two
// are in order on a terminal.
type flushed struct{ w io.Writer }

func (f flushed) Write(b []byte) (int, error) {
	_ = stdout.Flush() // an error shows at the end
	return f.w.Write(b)
}
