package repl

import (
	"context"
	"fmt"
	"strings"
)

// helpText is what :help prints.
const helpText = `  :help           this text
  :type EXPR      the type of a value
  :doc NAME       what is known about a name
  :load FILE      run a file in this session
  :quit           leave (also exit, quit, Ctrl-D)
A line that ends in ':' opens a block; an empty line closes it.
Open brackets and """ strings go on over several lines.
Ctrl-C drops what is typed, or stops what is running.
`

// commands are the names of the session's own commands.
var commands = []Candidate{
	{":help", "lists the commands"}, {":type", "the type of a value"}, {":doc", "about a name"},
	{":load", "runs a file"}, {":quit", "leaves"},
}

// isCommand reports whether a line is for the session itself.
func isCommand(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), ":") }

// command runs a line that begins with ":".
func (s *session) command(ctx context.Context, line string) error {
	word, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSpace(arg)
	needs := map[string]string{":type": "an expression", ":doc": "a name", ":load": "a file"}[word]
	if needs != "" && arg == "" {
		return s.complain("%s needs %s, as in '%s %s'", word, needs, word, map[string]string{":type": "1 + 2", ":doc": "print", ":load": "file.sns"}[word])
	}
	switch word {
	case ":quit", ":exit", ":q":
		return errLeave
	case ":help", ":h", ":?":
		return s.say(helpText)
	case ":load":
		return s.run(ctx, func(ctx context.Context) error { return s.Engine.Load(ctx, arg) })
	case ":type":
		return s.answer(ctx, func(ctx context.Context) (string, error) { return s.Engine.TypeOf(ctx, arg) })
	case ":doc":
		return s.answer(ctx, func(context.Context) (string, error) { return s.Engine.Doc(arg) })
	}
	return s.complain("unknown command '%s' — :help lists them", word)
}

// answer prints what the engine says to a question.
func (s *session) answer(ctx context.Context, ask func(context.Context) (string, error)) error {
	var text string
	var askErr error
	err := s.run(ctx, func(ctx context.Context) error {
		text, askErr = ask(ctx)
		return askErr
	})
	if err != nil || askErr != nil {
		return err
	}
	return s.say(strings.TrimSuffix(text, "\n") + "\n")
}

// say prints text.
func (s *session) say(text string) error {
	_, err := fmt.Fprint(s.Out, text)
	return err
}

// complain prints one line of an error of the session itself.
func (s *session) complain(format string, args ...any) error {
	if err := s.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.Err, "SenseError: "+format+"\n", args...)
	return err
}
