package audit

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Escape makes foreign text safe to stand in a line that people read: control
// characters, line separators, characters that turn the direction of writing
// and invisible tags are written as \n, \t, \x1b, \u202e; bytes that are no
// UTF-8 as \xff. Joiners stay, so that emoji and Persian stay whole. Text
// without any of these is given back as it is.
func Escape(s string) string {
	start := firstUnsafe(s)
	if start < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:start])
	for i := start; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case isUnsafe(r):
			writeEscaped(&b, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// firstUnsafe gives the place of the first byte that has to be escaped, -1
// where there is none.
func firstUnsafe(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if isUnsafe(r) || r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// isUnsafe reports whether a character may do something to a terminal, a line of
// a log or a reader's eye.
func isUnsafe(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL, C1
	case r == 0x2028, r == 0x2029: // line and paragraph separators
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // direction
	case r == 0x200b, r == 0x2060, r == 0xfeff: // invisible
	case r >= 0xe0000 && r <= 0xe007f: // tags
	default:
		return false
	}
	return true
}

// writeEscaped writes one unsafe character.
func writeEscaped(b *strings.Builder, r rune) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}
