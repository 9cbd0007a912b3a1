package diag

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printer shows errors to people. Its zero value works: no colour, no excerpts.
type Printer struct {
	// Source gives the text of a file, for excerpts; nil knows none.
	Source func(file string) (string, bool)
	// Color marks the parts with ANSI colours.
	Color bool

	// last is the file that was shown last, where many errors are to be shown.
	last *cachedLines
}

const (
	red   = "\x1b[1;31m"
	dim   = "\x1b[2m"
	reset = "\x1b[0m"
)

// Print writes an error: one line that says what is wrong, then where, the
// line of source with a caret, notes, and the chain of calls.
func (p Printer) Print(w io.Writer, err error) {
	var e *Error
	if !errors.As(err, &e) {
		fmt.Fprintf(w, "%s %s\n", p.paint(red, "SenseError:"), Visible(err.Error()))
		return
	}
	p.print(w, "SenseError:", prefix(err, e), e)
}

// PrintAs is Print with another word before the message, which stands without
// its line.
func (p Printer) PrintAs(w io.Writer, word string, e *Error) { p.print(w, word, e.Msg, e) }

func (p Printer) print(w io.Writer, word, msg string, e *Error) {
	fmt.Fprintf(w, "%s %s\n", p.paint(red, word), Visible(msg))
	for _, n := range e.Notes {
		fmt.Fprintf(w, "  %s\n", Visible(n))
	}
	p.place(w, e.File, e.Pos)
	p.stack(w, e)
}

// prefix gives the text of err, which may be wrapped around e.
func prefix(err error, e *Error) string {
	if err == error(e) {
		return e.Error()
	}
	return err.Error()
}

func (p Printer) paint(color, s string) string {
	if !p.Color {
		return s
	}
	return color + s + reset
}

func (p Printer) place(w io.Writer, file string, at Pos) {
	if !at.IsValid() {
		return
	}
	name := file
	if name == "" {
		name = "<input>"
	}
	fmt.Fprintf(w, "  %s %s:%d:%d\n", p.paint(dim, "-->"), Visible(name), at.Line, at.Col)
	if p.Source == nil {
		return
	}
	line, ok := p.line(file, int(at.Line))
	if !ok {
		return
	}
	text, caret := excerpt(line, int(at.Col))
	num := fmt.Sprint(at.Line)
	fmt.Fprintf(w, "  %s %s\n", p.paint(dim, num+" |"), text)
	fmt.Fprintf(w, "  %s %s%s\n", p.paint(dim, strings.Repeat(" ", len(num))+" |"), strings.Repeat(" ", caret), p.paint(red, "^"))
}

// maxExcerpt is how many columns of a line are shown.
const maxExcerpt = 100

// excerpt gives the part of a line around a column and where the caret stands.
func excerpt(line string, col int) (text string, caret int) {
	var cells []string
	for _, r := range line {
		cells = append(cells, Visible(string(r)))
	}
	at := min(max(col-1, 0), len(cells))
	from := max(0, at-maxExcerpt/2)
	to := min(len(cells), from+maxExcerpt)
	text = strings.Join(cells[from:to], "")
	caret = width(strings.Join(cells[from:min(at, to)], ""))
	if from > 0 {
		text, caret = "..."+text, caret+3
	}
	if to < len(cells) {
		text += "..."
	}
	return text, caret
}

// width counts terminal columns: wide characters take two, marks none.
func width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r), r == '\u200d':
		case wide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

func wide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff)
}

func (p Printer) stack(w io.Writer, e *Error) {
	if len(e.Stack) == 0 {
		return
	}
	fmt.Fprintln(w, "  calls, the deepest last:")
	for i, f := range e.Stack {
		if e.Elided > 0 && i == len(e.Stack)/2 {
			fmt.Fprintf(w, "    ... %d more ...\n", e.Elided)
		}
		name := f.File
		if name == "" {
			name = "<input>"
		}
		fmt.Fprintf(w, "    %s, called at %s:%d\n", Visible(f.Name), Visible(name), f.Pos.Line)
	}
}

// Visible gives s with control characters, and others that would not show or
// would change how a terminal shows what follows, escaped. Line ends become
// \n, so that foreign text never makes a line of its own.
func Visible(s string) string {
	clean := true
	for i, r := range s {
		if hidden(s, i, r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case !hidden(s, i, r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == utf8.RuneError:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// hidden reports whether Visible escapes r, which stands at s[i].
func hidden(s string, i int, r rune) bool {
	if r == utf8.RuneError {
		return !strings.HasPrefix(s[i:], "\uFFFD")
	}
	return Hidden(r)
}

// Hidden reports whether a character may do something to a terminal, a line of
// a log or a reader's eye: controls, line separators, changes of direction, the
// invisible and tags. Joiners and direction marks are none: emoji and Persian
// need them.
func Hidden(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL, C1
	case r == 0x2028, r == 0x2029: // line and paragraph separators
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // direction
	case r == 0x200b, r == 0x2060, r == 0xfeff: // invisible
	case r >= 0xe0000 && r <= 0xe007f: // tags
	default:
		return false
	}
	return true
}
