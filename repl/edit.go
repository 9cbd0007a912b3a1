package repl

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/reeflective/readline"
	"github.com/reeflective/readline/inputrc"
	"golang.org/x/term"
)

// editor reads one input that was edited on a terminal: readline.ErrInterrupt
// for Ctrl-C, io.EOF for Ctrl-D.
type editor interface {
	Readline() (string, error)
}

// edit holds a session on a terminal.
func (s *session) edit(ctx context.Context) error {
	past, err := openHistory(s.History, s.Redact)
	if err != nil {
		if err := s.complain("%s", err); err != nil {
			return err
		}
	}
	return s.converse(ctx, s.editor(past))
}

// converse takes what is typed until the user leaves.
func (s *session) converse(ctx context.Context, ed editor) error {
	for {
		if err := s.flush(); err != nil {
			return err
		}
		src, err := typed(ctx, ed)
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := s.take(ctx, src); err != nil {
			return leaving(err)
		}
	}
}

// typed waits for an input or for the end of ctx, after which the terminal is
// as it was, although the editor still waits for a key.
func typed(ctx context.Context, ed editor) (string, error) {
	fd := int(os.Stdin.Fd())
	before, stateErr := term.GetState(fd)
	done := make(chan lineRead, 1)
	go func() {
		line, err := ed.Readline()
		done <- lineRead{line, err}
	}()
	select {
	case got := <-done:
		return got.line, got.err
	case <-ctx.Done():
		if stateErr == nil {
			_, _ = os.Stdout.WriteString("\x1b[?2004l\r\n") // no bracketed paste any more
			_ = term.Restore(fd, before)
		}
		return "", ctx.Err()
	}
}

// editor makes a line editor of the session.
func (s *session) editor(past *history) *readline.Shell {
	rl := readline.NewShell()
	rl.Prompt.Primary(func() string { return prompt })
	rl.Prompt.Secondary(func() string { return morePrompt })
	rl.AcceptMultiline = func(line []rune) bool {
		src := string(line)
		return isCommand(src) || finished(src)
	}
	if s.Color {
		rl.SyntaxHighlighter = func(line []rune) string { return highlight(string(line)) }
	}
	rl.PasteTransformer = func(text string) string { return strings.ReplaceAll(text, "\t", "    ") }
	rl.Completer = s.completer
	rl.History.Add("sense", past)
	configure(rl)
	return rl
}

// configure sets what the session needs, whatever the user's inputrc says.
func configure(rl *readline.Shell) {
	for name, value := range map[string]any{
		"enable-bracketed-paste":  true,
		"multiline-column-custom": morePrompt, // turns prompts of further lines on
		// Tab first shows what there is, then goes through it.
		"menu-complete-display-prefix": true,
		// Letters of any script, not escape codes for them.
		"input-meta": true, "output-meta": true, "convert-meta": false,
		// The editor would colour comments by a pattern of its own, in strings
		// too; this one matches nothing.
		"comment-begin": "#$^",
	} {
		_ = rl.Config.Set(name, value)
	}
	for _, keys := range rl.Config.Binds {
		delete(keys, inputrc.Unescape(`\M-#`)) // would insert that pattern
	}
}

// completer gives the editor what may follow at the cursor. The editor counts
// a prefix in bytes where it should count characters, so that one with others
// than ASCII gets no completion.
func (s *session) completer(line []rune, cursor int) readline.Completions {
	found := s.complete(string(line[:min(cursor, len(line))]))
	if found.typed == "" || strings.ContainsFunc(found.typed, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return readline.Completions{}
	}
	list := make([]readline.Completion, 0, len(found.list))
	for _, c := range found.list {
		list = append(list, readline.Completion{Value: found.before + c.Name, Display: c.Name, Description: c.Detail})
	}
	out := readline.CompleteRaw(list)
	out.PREFIX = found.typed
	return out
}
