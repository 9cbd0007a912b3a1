package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/repl"
)

func replCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "repl",
		Short: "Type and try",
		Long:  "Type and try: an interactive session. ':help' tells what it can do; 'exit' leaves.",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, args []string) error { return startREPL(c.Context(), f) },
	}
	f.registerWorld(c)
	return c
}

func startREPL(ctx context.Context, f *runFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	tty := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	typed := make(chan os.Signal, 1)
	interrupts.Store(&typed)
	defer interrupts.Store(nil)
	stdin := repl.NewInput(os.Stdin) // shared: a program may ask for the next line
	o.Stdin = stdin.Program()
	r := sense.New(ctx, o)
	current.Store(r)
	err = repl.Run(ctx, repl.Options{
		Engine: engine{r.NewSession(o.Stdout), f.redactor}, Version: version,
		In: stdin, Out: stdout, Err: flushed{os.Stderr},
		Interrupts: typed,
		Terminal:   tty && os.Getenv("TERM") != "dumb", Echo: tty,
		Color: tty && os.Getenv("NO_COLOR") == "", History: repl.DefaultHistory(), Redact: f.redactor.Redact,
	})
	failures := finish(ctx, r)
	if flushErr := stdout.Flush(); err == nil {
		err = flushErr
	}
	for _, e := range failures {
		safely(os.Stderr, e, nil, f.redactor)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, repl.ErrInterrupted):
		return exitError(130)
	}
	return exitError(failStatus(ctx, err))
}

// engine drives a session for the REPL.
type engine struct {
	s       *sense.Session
	secrets *audit.Redactor
}

// Run runs one input; its error is rendered with the input's own text.
func (e engine) Run(ctx context.Context, src string, echo bool) error {
	return e.shown(e.s.Run(ctx, src, echo), map[string]string{"": src})
}

// Complete gives what may follow what is typed.
func (e engine) Complete(prefix string) []repl.Candidate {
	var out []repl.Candidate
	for _, n := range e.s.Complete(prefix) {
		out = append(out, repl.Candidate{Name: n.Name, Detail: n.Type})
	}
	return out
}

// Doc says what is known about a name.
func (e engine) Doc(name string) (string, error) { return e.s.Doc(name) }

// TypeOf gives the type of an expression's value.
func (e engine) TypeOf(ctx context.Context, src string) (string, error) {
	v, err := e.s.Eval(ctx, src)
	if err != nil {
		return "", e.shown(err, map[string]string{"": src})
	}
	return v.TypeName(), nil
}

// Load runs a file in the session.
func (e engine) Load(ctx context.Context, path string) error {
	return e.shown(e.s.Load(ctx, path), nil)
}

// shown renders an error; one that no session outlives stops it.
func (e engine) shown(err error, sources map[string]string) error {
	if err == nil {
		return nil
	}
	var b strings.Builder
	safely(&b, err, sources, e.secrets)
	out := errors.New(strings.TrimSuffix(b.String(), "\n"))
	if diag.KindOf(err) == diag.Limit {
		return repl.Stop(out)
	}
	return out
}
