// Command sense runs Sense programs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/diag"
)

// version is set when the binary is built.
var version = "0.1.0-dev"

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
	exitLimit  = 3
)

func main() { os.Exit(run(os.Args[1:])) }

// run runs one command line and gives the exit status.
func run(args []string) int {
	signal.Ignore(syscall.SIGPIPE)
	tuneGC()
	silenceLog()
	ctx, stop := interruptible()
	defer stop()
	root := rootCommand()
	root.SetArgs(args)
	return status(root.ExecuteContext(ctx))
}

// silenceLog keeps what net/http writes to the log, among it what servers send
// unasked, off the terminal.
func silenceLog() { log.SetOutput(io.Discard) }

// exitError carries a status whose message has been shown.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// status shows what is left to show of a command's error and gives its status.
func status(err error) int {
	if err == nil {
		return 0
	}
	var code exitError
	if errors.As(err, &code) {
		return int(code)
	}
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for i, line := range lines {
		lines[i] = diag.Visible(line) // what was typed or read may act on the terminal
	}
	fmt.Fprintf(os.Stderr, "sense: %s\n", strings.Join(lines, "\n"))
	return exitUsage
}

func rootCommand() *cobra.Command {
	c := &cobra.Command{
		Use:           "sense",
		Short:         "Sense runs small, safe automations that use models and MCP tools",
		Long:          rootLong,
		Example:       rootExample,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(c *cobra.Command, args []string) error { return startREPL(c.Context(), &runFlags{}) },
	}
	c.SetVersionTemplate("sense {{.Version}}\n")
	c.CompletionOptions.HiddenDefaultCmd = true
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%s\nRun '%s --help' for usage.", plainFlagError(err), c.CommandPath())
	})
	c.AddCommand(runCommand(), evalCommand(), testCommand(), checkCommand(), permissionsCommand(), replCommand(), fmtCommand(), memoryPathCommand(), applyCommand(), auditCommand(), mcpCommand(), inspectCommand())
	c.AddCommand(mcpConformanceCommand())
	return c
}

// plainFlagError words the error of a flag without what Go's packages put before it.
func plainFlagError(err error) string {
	text := err.Error()
	if _, why, ok := strings.Cut(text, " flag: strconv."); ok { // ParseUint: parsing "x": value out of range
		return text[:len(text)-len(why)-len("strconv.")] + why[strings.LastIndex(why, ": ")+2:]
	}
	return strings.Replace(text, " flag: time: ", " flag: ", 1)
}

const rootLong = `Sense is a small language for automations that are safe to leave alone: what a
program may do to the world is part of the program, and all of it is audited.

Without a command the interactive REPL starts.`

const rootExample = `  sense run script.sns            run a program
  sense run script.sns --dry-run  run it without committing any action
  sense test tests/               run the tests of a folder
  sense inspect script.sns        run it and use it from the browser
  sense                           type and try`

// noCommand refuses a first word that is no command, with the nearest one.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := fmt.Sprintf("unknown command '%s'", args[0])
	if strings.HasSuffix(args[0], ".sns") {
		return fmt.Errorf("%s -- to run a program: sense run %s", msg, args[0])
	}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		msg += fmt.Sprintf(" -- did you mean '%s'?", near[0])
	}
	return fmt.Errorf("%s\nRun 'sense --help' for the commands.", msg)
}

// pathArg demands exactly one path.
func pathArg(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return fmt.Errorf("'%s' needs a path\nRun '%s --help' for usage.", c.CommandPath(), c.CommandPath())
	case len(args) > 1:
		return fmt.Errorf("'%s' takes one path, got %d\nRun '%s --help' for usage.", c.CommandPath(), len(args), c.CommandPath())
	}
	return nil
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ sig syscall.Signal }

func (s signalled) Error() string { return "interrupted" }

// interrupts, once set, gets SIGINT in place of the process: an interactive
// session goes on after it.
var interrupts atomic.Pointer[chan os.Signal]

// signalledBy is the signal that asked us to end, 0 for none.
var signalledBy atomic.Int32

// interruptible gives a context that the first SIGINT, SIGTERM or SIGHUP ends; a
// second one ends the process at once, and its servers with it, as do SIGQUIT
// and SIGABRT. A hang-up that was ignored when we started, as nohup does, stays
// ignored.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	ch := make(chan os.Signal, 2)
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGABRT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	signal.Notify(ch, signals...)
	go func() {
		n := 0
		for s := range ch {
			sig := s.(syscall.Signal)
			if to := interrupts.Load(); to != nil && sig == syscall.SIGINT {
				select {
				case *to <- s:
				default: // one is waiting already
				}
				continue
			}
			cancel(signalled{sig}) // first: a program whose servers are gone must not go on
			if n++; n > 1 || sig == syscall.SIGQUIT || sig == syscall.SIGABRT {
				hardStop(128 + int(sig))
			}
			signalledBy.Store(int32(sig))
			go lastResort(128+int(sig), idlePatience, endPatience)
		}
	}()
	return ctx, func() { signal.Stop(ch); cancel(nil) }
}

const (
	// idlePatience is how long a command that runs nothing may go on after a
	// signal: it may wait for its input and look at no context.
	idlePatience = 300 * time.Millisecond
	// endPatience is how long a program and its servers may take to end. They
	// bound themselves; what is not bounded is a write that nobody reads.
	endPatience = 10 * time.Second
)

// lastResort ends the process where it has not ended by itself.
func lastResort(code int, idle, end time.Duration) {
	time.Sleep(idle)
	if !running() {
		lastWords(func() { fmt.Fprintln(os.Stderr, "sense: interrupted") })
		os.Exit(code)
	}
	time.Sleep(end)
	lastWords(func() { fmt.Fprintln(os.Stderr, "sense: interrupted; it did not end by itself") })
	hardStop(code)
}

// running reports whether the process has anything to close.
func running() bool {
	busy := current.Load() != nil || currentServers.Load() != nil
	also.Range(func(any, any) bool { busy = true; return false })
	return busy
}

// signalStatus gives the exit status of a signal that ended ctx, 0 for none.
func signalStatus(ctx context.Context) int {
	var s signalled
	if errors.As(context.Cause(ctx), &s) {
		return 128 + int(s.sig)
	}
	return 0
}

// failStatus gives the exit status of a program's error.
func failStatus(ctx context.Context, err error) int {
	if n := signalStatus(ctx); n != 0 {
		return n
	}
	if diag.KindOf(err) == diag.Limit && !errors.Is(err, syscall.EPIPE) {
		return exitLimit
	}
	return exitFailed
}
