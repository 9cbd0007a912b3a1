package repl

import "strings"

// colours are the terminal's own, so that they suit light and dark screens.
var colours = map[pieceKind]string{
	keyword: "\x1b[35m",
	text:    "\x1b[32m",
	number:  "\x1b[36m",
	comment: "\x1b[90m",
}

const noColour = "\x1b[0m"

// highlight colours an input as it is typed; without the colours it is the same
// text.
func highlight(src string) string {
	if strings.HasPrefix(src, ":") {
		n := word(src, func(r rune) bool { return r > ' ' })
		return colours[keyword] + src[:n] + noColour + src[n:]
	}
	pieces, _ := scan(src)
	var b strings.Builder
	done := 0
	for _, p := range pieces {
		colour := colours[p.kind]
		if colour == "" {
			continue
		}
		b.WriteString(src[done:p.start])
		b.WriteString(colour)
		b.WriteString(src[p.start:p.end])
		b.WriteString(noColour)
		done = p.end
	}
	b.WriteString(src[done:])
	return b.String()
}
