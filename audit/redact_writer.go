package audit

import (
	"io"
	"strings"
)

const (
	// maxHeld bounds how much text a Writer holds back for the rest of a secret.
	maxHeld = 64 << 10
	// maxShape bounds the length of a key of a known kind, other than PEM.
	maxShape = 8 << 10
)

// Writer takes secrets out of a stream whose pieces may end in the middle of
// one. It holds back as little as it can: only what may be the beginning of a
// secret. A Writer is for one goroutine.
type Writer struct {
	r *Redactor
	w io.Writer
	// held begins with the last byte written, which tells where a word begins,
	// once there is one.
	held    string
	written int // 1 once held begins with that byte
}

// Writer gives a Writer onto w. Call Flush at the end.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{r: r, w: w} }

// Write passes p on, or what is certain of it; it reports all of p as written.
func (w *Writer) Write(p []byte) (int, error) {
	w.held += string(p)
	if w.r == nil || len(w.held) > maxHeld {
		return len(p), w.Flush()
	}
	text, cut := w.r.stream(w.held, w.written)
	return len(p), w.emit(text, cut)
}

// Flush passes on what was held back.
func (w *Writer) Flush() error {
	if len(w.held) == w.written {
		return nil
	}
	if w.r == nil {
		return w.emit(w.held[w.written:], len(w.held))
	}
	return w.emit(w.r.redactFrom(w.held, w.written), len(w.held))
}

// emit writes text, which stands for all before cut.
func (w *Writer) emit(text string, cut int) error {
	if cut > w.written {
		w.held, w.written = w.held[cut-1:], 1
	}
	if text == "" {
		return nil
	}
	_, err := io.WriteString(w.w, text)
	return err
}

// stream gives s[from:] without secrets up to the first place, cut, where one
// may begin that is not complete.
func (r *Redactor) stream(s string, from int) (text string, cut int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var b strings.Builder
	for i := from; i < len(s); {
		n, mark := r.at(s, i)
		switch {
		case n > 0 && i+n < len(s):
			b.WriteString(mark)
			i += n
		case n > 0 || r.mayBegin(s, i):
			return b.String(), i
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String(), len(s)
}

// mayBegin reports whether s[i:] may be the first part of a secret.
func (r *Redactor) mayBegin(s string, i int) bool {
	rest := s[i:]
	if r.first[s[i]] && len(rest) < r.longest {
		for key, list := range r.byKey {
			if !strings.HasPrefix(rest, key) && !strings.HasPrefix(key, rest) {
				continue
			}
			for _, f := range list {
				if strings.HasPrefix(f.text, rest) {
					return true
				}
			}
		}
	}
	return shapeMayBegin(s, i)
}

// shapeMayBegin reports whether s[i:] may be the first part of a known kind of key.
func shapeMayBegin(s string, i int) bool {
	rest := s[i:]
	if s[i] == '-' {
		return partOf(rest, pemBegin) || strings.HasPrefix(rest, pemBegin) && len(rest) < 80
	}
	if len(rest) > maxShape || !startsWord(s, i) {
		return false
	}
	switch s[i] {
	case 'e':
		return partOf(rest, "eyJ") || strings.HasPrefix(rest, "eyJ") && allIn(rest, ".")
	case 'b', 'B':
		low := strings.ToLower(rest[:min(len(rest), 16)])
		for _, scheme := range []string{"bearer ", "basic "} {
			if partOf(low, scheme) || strings.HasPrefix(low, scheme) && allIn(rest[len(scheme):], bearerMore) {
				return true
			}
		}
		return false
	}
	for _, sh := range shapes[s[i]] {
		if partOf(rest, sh.prefix) || strings.HasPrefix(rest, sh.prefix) && allIn(rest, "") {
			return true
		}
	}
	return false
}

// partOf reports whether text is a proper first part of whole.
func partOf(text, whole string) bool {
	return len(text) < len(whole) && strings.HasPrefix(whole, text)
}

// allIn reports whether s has token characters and those of more only.
func allIn(s, more string) bool {
	for i := range len(s) {
		if !isToken(s[i]) && strings.IndexByte(more, s[i]) < 0 {
			return false
		}
	}
	return true
}
