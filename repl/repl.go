package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Engine runs what is typed in. Its methods are called one at a time, except
// Complete, which is called while the user types and must be quick.
type Engine interface {
	// Run parses and runs one input in the session's lasting scope; with echo it
	// prints the value of an expression that is the last statement. Its error is
	// ready to be shown. It ends soon after ctx does.
	Run(ctx context.Context, src string, echo bool) error
	// Complete gives what may follow a dotted name as far as it is typed: for
	// "kit.wo" the members of kit whose names begin with "wo", without "kit.".
	Complete(prefix string) []Candidate
	// Doc gives what is known about a name.
	Doc(name string) (string, error)
	// TypeOf evaluates an expression and gives the type of its value.
	TypeOf(ctx context.Context, src string) (string, error)
	// Load runs a file in the session's scope.
	Load(ctx context.Context, path string) error
}

// Candidate is a possible completion.
type Candidate struct {
	Name string
	// Detail says what the name is, such as "Tool"; it may be empty.
	Detail string
}

// Options say how a session runs. Engine, In, Out and Err are needed.
type Options struct {
	Engine  Engine
	Version string
	// In is where inputs come from when there is no terminal. Programs have to
	// read its Program.
	In *Input
	// Out gets prompts and answers; it is flushed before a read where it has a
	// method Flush. Err gets errors.
	Out, Err io.Writer
	// Interrupts tells of Ctrl-C where the terminal is not being edited on: it
	// drops a half-read input, or ends running code; a second one while code is
	// running ends the session with ErrInterrupted.
	Interrupts <-chan os.Signal
	// Terminal makes the session edit lines on the terminal that standard input
	// and output are, with a history, completion and colours, and echo values.
	Terminal bool
	// Echo makes values be echoed without Terminal, as on a terminal that cannot
	// edit lines.
	Echo bool
	// Color turns highlighting on.
	Color bool
	// History is the file that keeps the inputs of a terminal; empty for none.
	History string
	// Redact takes secrets out of what goes into the history; nil takes none.
	Redact func(string) string
}

// ErrInterrupted ends a session whose code did not stop at the first Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// Stop marks an error of an Engine that ends the session, such as a limit that
// no code may exceed. Run shows it and gives it back.
func Stop(err error) error { return &stopError{err} }

type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }
func (e *stopError) Unwrap() error { return e.err }

const (
	prompt     = "sense> "
	morePrompt = "...    "
)

// Run holds a session until its user leaves, which is no error. An error is one
// that Stop made, ErrInterrupted, the end of ctx, or that input or output failed.
func Run(ctx context.Context, o Options) error {
	s := &session{Options: o}
	if _, err := fmt.Fprintf(s.Out, "Sense %s — interactive REPL ('exit' to quit)\n", s.Version); err != nil {
		return err
	}
	if s.Terminal {
		return s.edit(ctx)
	}
	return s.pipe(ctx)
}

// session is a running session.
type session struct {
	Options
}

// errLeave says that the user wants to leave.
var errLeave = errors.New("leave")

// take runs one complete input. Its error ends the session.
func (s *session) take(ctx context.Context, src string) error {
	word := strings.TrimSpace(src)
	switch {
	case word == "":
		return nil
	case word == "exit" || word == "quit":
		return errLeave
	case word[0] == ':':
		return s.command(ctx, word)
	}
	return s.run(ctx, func(ctx context.Context) error {
		return s.Engine.Run(ctx, src, s.Echo || s.Terminal)
	})
}

// run lets the engine work until it is done or interrupted, and shows its error.
func (s *session) run(ctx context.Context, work func(context.Context) error) error {
	s.In.give(true)
	err := s.guard(ctx, work)
	s.In.give(false)
	if err == nil {
		return ctx.Err()
	}
	if errors.Is(err, errGivenUp) {
		return ErrInterrupted
	}
	if flushErr := s.flush(); flushErr != nil {
		return flushErr
	}
	if _, werr := fmt.Fprintln(s.Err, err); werr != nil {
		return werr
	}
	var stop *stopError
	if errors.As(err, &stop) {
		return stop.err
	}
	return ctx.Err()
}

// errGivenUp says that work went on after it was interrupted.
var errGivenUp = errors.New("given up")

// guard ends the work's context at an interrupt, and waits no more at a second.
func (s *session) guard(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	select {
	case <-s.Interrupts: // came too late for what ran before
	default:
	}
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	for interrupted := false; ; interrupted = true {
		select {
		case err := <-done:
			return err
		case <-s.Interrupts:
			if interrupted {
				return errGivenUp
			}
			cancel(ErrInterrupted)
		}
	}
}

// flush brings buffered output out.
func (s *session) flush() error {
	if f, ok := s.Out.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}

// ask prints a prompt.
func (s *session) ask(prompt string) error {
	if _, err := io.WriteString(s.Out, prompt); err != nil {
		return err
	}
	return s.flush()
}
