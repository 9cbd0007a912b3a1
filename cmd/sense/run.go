package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/diag"
)

func runCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run FILE [flags] [-- ARGUMENTS]",
		Short: "Run a program",
		Long: `Run a program. FILE may be -, which reads the program from standard input.

Flags stand before or after FILE. What follows --, or the first word after FILE
that is no flag, is for the program itself: std.env.args() gives it.`,
		RunE: func(c *cobra.Command, words []string) error {
			path, err := f.split(c, words, "a path")
			if err != nil || path == "" {
				return err
			}
			return runFile(c.Context(), path, f)
		},
	}
	c.Flags().SetInterspersed(false)
	f.register(c)
	return c
}

// split takes the words that follow a command's own flags apart: the program,
// then flags of ours, then the program's arguments, which follow "--" or begin
// at the first word that is no flag. It is empty where help was asked for.
func (f *runFlags) split(c *cobra.Command, words []string, what string) (program string, err error) {
	if len(words) == 0 {
		return "", fmt.Errorf("'%s' needs %s\nRun '%s --help' for usage.", c.CommandPath(), what, c.CommandPath())
	}
	if err := c.Flags().Parse(words[1:]); err != nil {
		return "", c.FlagErrorFunc()(c, err)
	}
	if help, err := c.Flags().GetBool("help"); err == nil && help {
		return "", c.Help()
	}
	f.args = c.Flags().Args()
	return words[0], nil
}

// output is standard output, written in large pieces: flushed when the program
// waits, reads, fails or ends, and soon after a line on a terminal.
type output struct {
	mu     sync.Mutex
	w      *bufio.Writer
	tty    bool
	broken bool
}

var stdout = &output{w: bufio.NewWriterSize(os.Stdout, 32<<10), tty: term.IsTerminal(int(os.Stdout.Fd()))}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.w.Write(b)
	if err == nil && o.tty {
		err = o.w.Flush()
	}
	return n, o.check(err)
}

// check notes that nobody reads any more.
func (o *output) check(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		o.broken = true
	}
	return err
}

// Flush writes what is kept back.
func (o *output) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.check(o.w.Flush())
}

// flushSoon flushes every so often while a program runs.
func (o *output) flushSoon(ctx context.Context) {
	t := time.NewTicker(50 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			_ = o.Flush() // an error shows at the next write
		case <-ctx.Done():
			return
		}
	}
}

// errPrinter shows errors on standard error.
func errPrinter(sources map[string]string) diag.Printer {
	color := term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("NO_COLOR") == ""
	return diag.Printer{Source: sense.Sources(sources), Color: color}
}

// safely shows an error without secrets, also in the excerpt, which may be cut
// in the middle of one.
func safely(w io.Writer, err error, sources map[string]string, secrets *audit.Redactor) {
	p := errPrinter(sources)
	whole := p.Source
	p.Source = func(file string) (string, bool) {
		s, ok := whole(file)
		return secrets.Redact(s), ok
	}
	var b strings.Builder
	p.Print(&b, err)
	fmt.Fprint(w, secrets.Redact(b.String()))
}

// current is the program that runs, for a second interrupt.
var current atomic.Pointer[sense.Runtime]

// also are the programs that run beside each other, for the same.
var also sync.Map

// hardStop ends the process at once, but not before its servers.
func hardStop(code int) {
	also.Range(func(r, _ any) bool { r.(*sense.Runtime).Kill(); return true })
	if r := current.Load(); r != nil {
		r.Kill()
	}
	if m := currentServers.Load(); m != nil {
		m.Abort()
	}
	os.Exit(code)
}

// lastWords lets a process that must end say so, where somebody reads.
func lastWords(say func()) {
	said := make(chan struct{})
	go func() { say(); close(said) }()
	select {
	case <-said:
	case <-time.After(2 * time.Second):
	}
}

// giveUp ends the process where its program does not end.
func (f *runFlags) giveUp(why error) {
	lastWords(func() {
		_ = stdout.Flush() // nobody is left to tell
		safely(os.Stderr, why, nil, f.redactor)
	})
	if sig := signalledBy.Load(); sig != 0 {
		hardStop(128 + int(sig))
	}
	hardStop(exitLimit)
}

// read reads the program within the time that it has: a pipe may never end.
func (f *runFlags) read(path string) (string, error) {
	if f.timeout > 0 {
		late := time.AfterFunc(f.timeout, func() {
			f.giveUp(diag.New(diag.Limit, "time limit of %s reached before the program was read", f.timeout))
		})
		defer late.Stop()
	}
	return source(path)
}

func runFile(ctx context.Context, path string, f *runFlags) error {
	f.program = path
	src, err := f.read(path)
	if err != nil {
		errPrinter(nil).Print(os.Stderr, err)
		return exitError(exitFailed)
	}
	run := func() error {
		return f.execute(ctx, map[string]string{path: src}, func(r *sense.Runtime) error { return r.RunSource(path, src) })
	}
	if f.plan == "" {
		return run()
	}
	if !f.dry {
		return fmt.Errorf("--plan goes with --dry-run: it writes what a run would commit")
	}
	p := &plan{Program: path, Source: sourceHash(src), Actions: []planAction{}}
	f.onCommit = p.record(current.Load, func(s string) string { return f.redactor.Redact(s) })
	if err := run(); err != nil {
		return err
	}
	if err := p.save(f.plan); err != nil {
		errPrinter(nil).Print(os.Stderr, fmt.Errorf("cannot write the plan: %w", err))
		return exitError(exitFailed)
	}
	return nil
}

// execute runs a program as the flags say; sources are its texts that are in no
// file.
func (f *runFlags) execute(ctx context.Context, sources map[string]string, run func(r *sense.Runtime) error) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	flushCtx, stopFlush := context.WithCancel(ctx)
	defer stopFlush()
	go stdout.flushSoon(flushCtx)
	if f.dry {
		fmt.Fprint(stdout, "DRY RUN — no actions will actually commit\n\n")
	}
	if o.Limits.Time > 0 { // also where nobody reads what is left to say
		late := time.AfterFunc(o.Limits.Time+idlePatience+2*endPatience, func() { hardStop(exitLimit) })
		defer late.Stop()
	}
	r := sense.New(ctx, o)
	current.Store(r)
	if f.timeout > 0 { // the program ends at its limit; a write that nobody reads does not
		last := time.AfterFunc(f.timeout+endPatience, func() {
			fmt.Fprintf(os.Stderr, "sense: time limit of %s reached; it did not end by itself\n", f.timeout)
			hardStop(exitLimit)
		})
		defer last.Stop()
	}
	err = run(r)
	failures := finish(ctx, r)
	if f.dry {
		fmt.Fprint(stdout, sense.Summary(r.Audit()))
	}
	if f.usage {
		fmt.Fprint(flushed{os.Stderr}, r.UsageSummary())
	}
	err = report(ctx, err, failures, sources, f.redactor)
	if err == nil && f.strict && len(failures) > 0 {
		return exitError(exitFailed)
	}
	return err
}

func source(path string) (string, error) {
	if path != "-" {
		return sense.ReadSource(path)
	}
	b, err := io.ReadAll(os.Stdin)
	if err != nil {
		return "", fmt.Errorf("cannot read standard input: %w", err)
	}
	return string(b), nil
}

// finish ends what the program started.
func finish(ctx context.Context, r *sense.Runtime) []error {
	if ctx.Err() != nil {
		r.Abort()
		return nil
	}
	return r.Close()
}

// report shows how a program ended.
func report(ctx context.Context, err error, failures []error, sources map[string]string, secrets *audit.Redactor) error {
	flushErr := stdout.Flush()
	if stdout.broken { // nobody reads any more: a quiet end
		return exitError(exitFailed)
	}
	show := func(err error) { safely(os.Stderr, err, sources, secrets) }
	defer func() { // the program's own error comes first
		for _, f := range failures {
			show(f)
		}
	}()
	if err == nil && flushErr != nil {
		err = fmt.Errorf("cannot write the output: %w", flushErr)
	}
	if err == nil {
		return nil
	}
	if code, text, ok := sense.ExitStatus(err); ok {
		if text != "" {
			fmt.Fprintln(os.Stderr, secrets.Redact(text))
		}
		return exitError(code)
	}
	show(err)
	return exitError(failStatus(ctx, err))
}
