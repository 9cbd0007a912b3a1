package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/testrun"
)

func testCommand() *cobra.Command {
	var f testFlags
	c := &cobra.Command{
		Use:   "test PATH",
		Short: "Run the tests of a file or folder",
		Long: `Run the test blocks of a file, or of the files of a folder that are named test_*.sns or *_test.sns.

A failed assert of a comparison shows both sides. What other errors say besides
their message is shown with --verbose, on a terminal, and in the reports of
--json and --junit.

With --record each file's exchanges with models, MCP servers, people, clock and
chance are written to a tape beside it, FILE.tape; with --replay they come from
there, with no network and no server.`,
		Args: pathArg,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), args[0]) },
	}
	f.world.registerWorld(c)
	fl := c.Flags()
	fl.StringVar(&f.filter, "filter", "", "run only the tests whose description matches this regular expression")
	fl.BoolVar(&f.failFast, "fail-fast", false, "end with the first failure")
	fl.IntVarP(&f.jobs, "jobs", "j", 1, "run so many files at the same time")
	fl.BoolVar(&f.coverage, "coverage", false, "show which lines of the programs ran")
	fl.BoolVar(&f.json, "json", false, "report as JSON")
	fl.StringVar(&f.junit, "junit", "", "write a report as JUnit XML to this file besides")
	fl.BoolVar(&f.watch, "watch", false, "run again whenever a program changes")
	fl.BoolVar(&f.record, "record", false, "write a tape beside each file")
	fl.BoolVar(&f.replay, "replay", false, "play the tape beside each file")
	return c
}

// testFlags are the flags of `sense test`.
type testFlags struct {
	filter         string
	failFast       bool
	coverage, json bool
	junit          string
	watch          bool
	jobs           int
	record, replay bool
	mu             sync.Mutex // guards world while files run beside each other
	world          runFlags
}

// options gives the options of a run.
func (f *testFlags) options(ctx context.Context) (testrun.Options, error) {
	o := testrun.Options{Stdout: programOutput(f.world.raw), Stderr: flushed{errorOutput(f.world.raw)}, FailFast: f.failFast, Workers: f.jobs, Coverage: f.coverage, JSON: f.json, JUnit: f.junit}
	o.Timings, o.Notes = f.world.verbose, f.world.verbose || term.IsTerminal(int(os.Stdout.Fd()))
	switch {
	case f.record && f.replay:
		return o, errors.New("--record and --replay exclude each other")
	case f.jobs < 1:
		return o, fmt.Errorf("-j must be at least 1, got %d", f.jobs)
	}
	if f.filter != "" {
		re, err := regexp.Compile(f.filter)
		if err != nil {
			return o, fmt.Errorf("--filter: %w", err)
		}
		o.Filter = re.MatchString
	}
	o.Run = func(path string, out, errs io.Writer, cover *eval.Coverage, start func(string) func(error)) error {
		set, err := f.prepare(path)
		if err != nil {
			return err
		}
		set.Stdout, set.Stderr, set.Coverage = out, errs, cover
		set.OnTestStart = func(desc string) func(error) {
			ended := start(desc)
			if ended == nil {
				return nil
			}
			return func(err error) { ended(f.world.clean(err)) }
		}
		return f.file(ctx, path, set)
	}
	return o, nil
}

func (f *testFlags) run(ctx context.Context, path string) error {
	o, err := f.options(ctx)
	if err != nil {
		return err
	}
	ok := true
	if f.watch {
		err = testrun.Watch(ctx, path, o, nil)
	} else {
		ok, err = testrun.Run(path, o)
	}
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

// prepare gives the options of a test file's run.
func (f *testFlags) prepare(path string) (sense.Options, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &f.world
	r.program, r.record, r.replay = path, "", ""
	if f.record {
		r.record = path + ".tape"
	}
	if f.replay {
		r.replay = path + ".tape"
	}
	o, err := r.options()
	if f.jobs > 1 { // one input cannot serve several
		o.Stdin = nil
	}
	return o, err
}

// file runs one test file.
func (f *testFlags) file(ctx context.Context, path string, o sense.Options) error {
	rt := sense.New(ctx, o)
	also.Store(rt, true)
	defer also.Delete(rt)
	err := rt.RunFile(path)
	finish(ctx, rt)
	return f.world.clean(err)
}

// clean takes secrets out of the text of an error and of its notes.
func (f *runFlags) clean(err error) error {
	if err == nil {
		return nil
	}
	text := f.redactor.Redact(err.Error())
	var e *diag.Error
	if !errors.As(err, &e) {
		if text != err.Error() {
			return errors.New(text)
		}
		return err
	}
	c := *e
	c.Msg, c.Notes = f.redactor.Redact(e.Msg), nil
	for _, n := range e.Notes {
		c.Notes = append(c.Notes, f.redactor.Redact(n))
	}
	return &c
}

// flushed writes after what standard output still keeps back, so that the two
// are in order on a terminal.
type flushed struct{ w io.Writer }

func (f flushed) Write(b []byte) (int, error) {
	_ = stdout.Flush() // an error shows at the end
	return f.w.Write(b)
}
