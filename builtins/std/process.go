package std

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/tape"
)

func processMembers(l *Library) []member {
	return []member{
		{"run(command, args?, input?, cwd?, env?, timeout?)",
			"runs a command, without a shell, to its end: a Map of status, output and error (what it wrote to its standard error)", l.processRun},
	}
}

// maxOutput bounds what a command may write.
const maxOutput = 64 << 20

// command is what processRun was asked for.
type command struct {
	cfg     mcp.Config
	input   string
	timeout time.Duration
}

func (a *args) command() (c command, err error) {
	if c.cfg.Command, err = a.text(0); err != nil {
		return c, err
	}
	if c.cfg.Args, err = a.strings(1); err != nil {
		return c, err
	}
	if c.input, err = a.textOr(2, ""); err != nil {
		return c, err
	}
	if c.cfg.Dir, err = a.textOr(3, ""); err != nil {
		return c, err
	}
	env, err := a.pairs(4)
	if err != nil {
		return c, err
	}
	for _, word := range append([]string{c.cfg.Dir}, c.cfg.Args...) {
		if strings.ContainsRune(word, 0) {
			return c, a.fail("an argument holds a zero byte")
		}
	}
	c.cfg.Env = map[string]string{}
	for _, p := range env {
		if p.key == "" || strings.ContainsAny(p.key, "=\x00") || strings.ContainsRune(p.value, 0) {
			return c, a.fail("%s cannot be the name of a variable, or its value holds a zero byte", eval.Quote(p.key))
		}
		c.cfg.Env[p.key] = p.value
	}
	c.timeout, err = a.duration(5, 0)
	return c, err
}

func (l *Library) processRun(a *args) (eval.Value, error) {
	c, err := a.command()
	if err != nil {
		return eval.Value{}, err
	}
	if err := a.require(capRun); err != nil {
		return eval.Value{}, err
	}
	for name, value := range c.cfg.Env {
		l.secret(name, value)
	}
	r, err := l.commandResult(a, c)
	if stop := a.stopped(); stop != nil {
		_ = a.note("", errors.New("interrupted")) // the program ends either way
		return eval.Value{}, stop
	}
	if err := a.note(commandLine(c), err); err != nil {
		return eval.Value{}, err
	}
	return newMap("status", eval.Int(int64(r.Status)), "output", eval.String(r.Output), "error", eval.String(r.Error)), nil
}

// commandResult runs a command, or plays what a tape has of it.
func (l *Library) commandResult(a *args, c command) (r *processAnswer, err error) {
	a.Thread.Blocking(func(ctx context.Context) {
		r, err = tape.Through(l.o.Tape, tape.Process, c.cfg.Command, c.ask(), func() (*processAnswer, error) {
			r, err := l.runCommand(ctx, c)
			if err != nil {
				return nil, a.processFault(c, err)
			}
			return &processAnswer{r.Status, foreignText(r.Stdout), foreignText(r.Stderr)}, nil
		})
	})
	if errors.Is(err, context.Canceled) {
		err = a.fail("%s was ended", eval.Quote(c.cfg.Command))
	}
	return r, a.worded(err)
}

// processFault words why a command has no result, except that the library was
// closed: a tape must know that by itself.
func (a *args) processFault(c command, err error) error {
	what := eval.Quote(c.cfg.Command)
	switch {
	case errors.Is(err, mcp.ErrOutput):
		return a.fail("%s wrote over %d MiB", what, maxOutput>>20)
	case errors.Is(err, context.DeadlineExceeded):
		return diag.New(diag.Timeout, "%s: %s did not end within %s", a.who, what, words(c.timeout))
	case errors.Is(err, context.Canceled):
		return err
	}
	return a.fail("%v", err)
}

// runCommand runs a command until ctx or the library ends it.
func (l *Library) runCommand(ctx context.Context, c command) (*mcp.CommandResult, error) {
	defer l.busy()()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	if c.timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	return mcp.RunCommand(ctx, &l.watch, c.cfg, c.input, maxOutput)
}

// commandLine words a command for the audit.
func commandLine(c command) string {
	words := []string{c.cfg.Command}
	for _, w := range c.cfg.Args {
		if w == "" || strings.ContainsAny(w, " \t\r\n'\"") {
			w = eval.Quote(w)
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// foreign makes a String of bytes from outside.
func foreign(b []byte) eval.Value { return eval.String(foreignText(b)) }

// foreignText makes text of bytes from outside.
func foreignText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// words gives a duration as people say it.
func words(d time.Duration) string {
	if d == time.Second {
		return "1 second"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " seconds"
}
