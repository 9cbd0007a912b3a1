package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Repr quotes s the way Python's repr does, which is how messages show a piece
// of text: 'x', "it's", '\xa0', 'a\nb'.
func Repr(s string) string {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte(quote)
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			fmt.Fprintf(&b, `\x%02x`, s[i])
			continue
		}
		reprRune(&b, r, quote)
	}
	b.WriteByte(quote)
	return b.String()
}

func reprRune(b *strings.Builder, r rune, quote byte) {
	switch {
	case r == rune(quote) || r == '\\':
		b.WriteByte('\\')
		b.WriteRune(r)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case unicode.IsPrint(r):
		b.WriteRune(r)
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}
