package lexer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unquote gives the text that a string literal stands for: without its quotes,
// with its escapes resolved and every line end as "\n". raw must be the Text of
// a String token. Without escapes the result is a part of raw.
func Unquote(raw string) string {
	n := len(quotesOf(raw))
	return unescape(raw[n : len(raw)-n])
}

// quotesOf gives the quotes that a string literal at the beginning of s opens
// with: one, or three of the same.
func quotesOf(s string) string {
	if len(s) >= 3 && s[1] == s[0] && s[2] == s[0] {
		return s[:3]
	}
	return s[:1]
}

// unescape resolves the escapes of what stands between quotes.
func unescape(body string) string {
	if strings.IndexByte(body, '\r') >= 0 {
		body = PlainLines(body)
	}
	i := strings.IndexByte(body, '\\')
	if i < 0 {
		return body
	}
	var b strings.Builder
	b.Grow(len(body))
	for ; i >= 0; i = strings.IndexByte(body, '\\') {
		b.WriteString(body[:i])
		b.WriteByte(escaped(body[i+1]))
		body = body[i+2:]
	}
	b.WriteString(body)
	return b.String()
}

// unbrace gives what a piece of text in an f-string stands for: its escapes and
// its doubled braces resolved.
func unbrace(raw string) string {
	if !strings.ContainsAny(raw, "{}") {
		return unescape(raw)
	}
	raw = PlainLines(raw)
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '\\':
			b.WriteString(unescape(raw[i : i+2]))
			i++
		case c == '{' || c == '}':
			b.WriteByte(c)
			i++
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escaped gives what a backslash before c stands for; of a code point of several
// bytes c is the first one, which stands for itself.
func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	}
	return c
}

// PlainLines gives s with every line end, "\r\n" or a lone "\r" too, as "\n".
func PlainLines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// plainDigits gives a number's text without "_" and with the digits of any
// script as 0 to 9.
func plainDigits(s string) string {
	if strings.IndexByte(s, '_') >= 0 {
		s = strings.ReplaceAll(s, "_", "")
	}
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return strings.Map(asciiDigit, s)
		}
	}
	return s
}

// asciiDigit uses that every range of unicode.Nd holds whole runs of ten digits
// from zero on.
func asciiDigit(r rune) rune {
	for _, x := range unicode.Nd.R16 {
		if r >= rune(x.Lo) && r <= rune(x.Hi) {
			return '0' + (r-rune(x.Lo))%10
		}
	}
	for _, x := range unicode.Nd.R32 {
		if r >= rune(x.Lo) && r <= rune(x.Hi) {
			return '0' + (r-rune(x.Lo))%10
		}
	}
	return r
}
