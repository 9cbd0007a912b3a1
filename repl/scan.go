package repl

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sense-lang/sense/lexer"
)

// pieceKind says what a piece of an input is.
type pieceKind uint8

const (
	plain pieceKind = iota
	keyword
	name
	text
	number
	comment
	opening
	closing
	mark
)

// piece is a part of an input: src[start:end]. Spaces and line ends between
// pieces belong to none.
type piece struct {
	kind       pieceKind
	start, end int
}

// scan cuts an input into pieces. It takes text that is still being typed: a
// string without its end runs to the end of its line, one in three quotes to the
// end of the input; open then gives those quotes, otherwise "". An f-string is a
// name and the strings that its quotes make.
func scan(src string) (pieces []piece, open string) {
	operand := false // an operand ends here, on this line
	for i := 0; i < len(src); {
		start := i
		r, size := utf8.DecodeRuneInString(src[i:])
		kind := mark
		switch {
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			operand = operand && r != '\n' && r != '\r'
			i += size
			continue
		case r == '#':
			kind, i = comment, lineEnd(src, i)
		case strings.HasPrefix(src[i:], `"""`) || strings.HasPrefix(src[i:], `'''`):
			kind = text
			i, open = longString(src, i+3, src[i:i+3])
		case r == '"' || r == '\'':
			kind, i = text, shortString(src, i+1, src[i])
		case r == '_' || unicode.IsLetter(r):
			i += word(src[i:], func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) })
			kind = wordKind(src[start:i])
		case unicode.IsDigit(r):
			kind = number
			i += word(src[i:], func(r rune) bool { return unicode.IsDigit(r) || unicode.IsLetter(r) || r == '.' || r == '_' })
		case r == '{' && operand:
			i += size // no map, but a block as in other languages
		default:
			kind, i = markKind(r), i+size
		}
		operand = (kind == name || kind == text || kind == number || kind == closing) && !strings.Contains(src[start:i], "\n")
		pieces = append(pieces, piece{kind, start, i})
	}
	return pieces, open
}

// lineEnd gives the place where the line around src[i] ends.
func lineEnd(src string, i int) int {
	if n := strings.IndexAny(src[i:], "\r\n"); n >= 0 {
		return i + n
	}
	return len(src)
}

// longString gives the end of a string in three quotes whose text begins at
// src[i], and those quotes again where it has no end yet.
func longString(src string, i int, quotes string) (end int, open string) {
	for i < len(src) {
		switch {
		case src[i] == '\\':
			i = min(i+2, len(src))
		case strings.HasPrefix(src[i:], quotes):
			return i + 3, ""
		default:
			i++
		}
	}
	return len(src), quotes
}

// shortString gives the end of a string whose text begins at src[i].
func shortString(src string, i int, quote byte) int {
	for i < len(src) && src[i] != '\n' && src[i] != '\r' {
		switch src[i] {
		case '\\':
			i = min(i+2, len(src))
		case quote:
			return i + 1
		default:
			i++
		}
	}
	return i
}

// word gives the length of the longest first part of s whose characters all
// belong.
func word(s string, belongs func(rune) bool) int {
	if n := strings.IndexFunc(s, func(r rune) bool { return !belongs(r) }); n >= 0 {
		return n
	}
	return len(s)
}

func wordKind(w string) pieceKind {
	if lexer.Keyword(w) != lexer.Ident {
		return keyword
	}
	return name
}

func markKind(r rune) pieceKind {
	switch r {
	case '(', '[', '{':
		return opening
	case ')', ']', '}':
		return closing
	}
	return mark
}

// state says how far an input is.
type state struct {
	// open: a bracket or a string is not closed yet.
	open bool
	// block: the last line with anything in it opens a block or is inside one.
	block bool
}

// stateOf looks at an input that was read or typed so far.
func stateOf(src string) state {
	pieces, open := scan(src)
	depth := 0
	last := -1 // the last piece that is no comment
	for i, p := range pieces {
		switch p.kind {
		case opening:
			depth++
		case closing:
			depth = max(0, depth-1)
		}
		if p.kind != comment {
			last = i
		}
	}
	s := state{open: open != "" || depth > 0}
	if last < 0 {
		return s
	}
	p := pieces[last]
	header := src[p.start:p.end] == ":"
	s.block = header || indented(src, statementStart(src, pieces[:last+1]))
	return s
}

// statementStart gives the place of the first piece of the last statement: the
// last piece that begins a line outside brackets and strings.
func statementStart(src string, pieces []piece) int {
	start, depth, from := 0, 0, 0
	for _, p := range pieces {
		if depth == 0 && p.kind != comment && (from == 0 || strings.ContainsAny(src[from:p.start], "\r\n")) {
			start = p.start
		}
		switch p.kind {
		case opening:
			depth++
		case closing:
			depth = max(0, depth-1)
		}
		from = p.end
	}
	return start
}

// indented reports whether src[i] does not stand at the beginning of its line.
func indented(src string, i int) bool {
	return i > 0 && src[i-1] != '\n' && src[i-1] != '\r'
}

// finished reports whether an input that was typed on a terminal is complete
// when Enter is pressed.
func finished(src string) bool {
	s := stateOf(src)
	if s.open {
		return false
	}
	return !s.block || blank(src[strings.LastIndexByte(src, '\n')+1:])
}

// blank reports whether a line has nothing in it.
func blank(line string) bool { return strings.TrimSpace(line) == "" }
