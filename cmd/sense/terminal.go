package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"
)

// terminalText writes a program's output to a terminal: control characters
// other than line ends and tabs are shown escaped, so that text from outside
// cannot act on the terminal. Joiners and marks stay, as emoji and many scripts
// need them.
type terminalText struct {
	mu   sync.Mutex
	w    io.Writer
	rest []byte // the beginning of a character that has not come whole
}

// programOutput is where programs print: escaped on a terminal, unless raw,
// byte for byte anywhere else.
func programOutput(raw bool) io.Writer {
	if raw || !stdout.tty {
		return stdout
	}
	return &terminalText{w: stdout}
}

// errorOutput is where programs' reports go, in the same way.
func errorOutput(raw bool) io.Writer {
	if raw || !term.IsTerminal(int(os.Stderr.Fd())) {
		return os.Stderr
	}
	return &terminalText{w: os.Stderr}
}

// Write escapes and writes. It takes all of b where there is no error.
func (t *terminalText) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := append(t.rest, b...)
	keep := len(text)
	if n := unfinished(text); n > 0 {
		keep -= n
	}
	t.rest = append([]byte(nil), text[keep:]...)
	if _, err := t.w.Write(escapeControls(text[:keep])); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush writes what is kept back.
func (t *terminalText) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rest) > 0 {
		rest := t.rest
		t.rest = nil
		if _, err := t.w.Write(escapeControls(rest)); err != nil {
			return err
		}
	}
	if f, ok := t.w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}

// unfinished gives the length of a character at the end of b whose last bytes
// are missing.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// escapeControls writes C0 and C1 controls as \xNN, and bytes that are no text
// as well.
func escapeControls(b []byte) []byte {
	out := b[:0:0]
	done := 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		control := r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
		if broken := r == utf8.RuneError && n == 1; control || broken {
			out = append(out, b[done:i]...)
			if broken {
				r = rune(b[i])
			}
			out = fmt.Appendf(out, `\x%02x`, r)
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}
