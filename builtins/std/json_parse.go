package std

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sense-lang/sense/eval"
)

const (
	// maxJSONDepth bounds how deep JSON may nest.
	maxJSONDepth = 500
	// maxDigits bounds a whole number: reading one takes time in proportion to
	// the square of its length.
	maxDigits = 100_000
)

// jsonReader reads JSON (RFC 8259), strictly.
type jsonReader struct {
	s     string
	i     int
	depth int
	keys  map[string]eval.Value // seen before
}

// parseJSON makes a value of JSON text. Objects become Maps in the order of
// their keys, the last of equal keys counts. A number with a point or an
// exponent is a Float, any other an Int. The error says line and column.
func parseJSON(s string) (eval.Value, error) {
	r := &jsonReader{s: s}
	r.space()
	v, err := r.value()
	if err != nil {
		return eval.Value{}, err
	}
	r.space()
	if r.i < len(r.s) {
		return eval.Value{}, r.fault("more text after the value: %s", r.found())
	}
	return v, nil
}

// fault makes an error with the place that is reached.
func (r *jsonReader) fault(format string, list ...any) error {
	before := r.s[:r.i]
	line := strings.Count(before, "\n") + 1
	col := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("line %d, column %d: %s", line, col, fmt.Sprintf(format, list...))
}

// found words what stands at the place that is reached.
func (r *jsonReader) found() string {
	if r.i >= len(r.s) {
		return "the end of the text"
	}
	c, _ := utf8.DecodeRuneInString(r.s[r.i:])
	return eval.Quote(string(c))
}

func (r *jsonReader) space() {
	for r.i < len(r.s) {
		switch r.s[r.i] {
		case ' ', '\t', '\n', '\r':
			r.i++
		default:
			return
		}
	}
}

// peek gives the next byte, 0 at the end.
func (r *jsonReader) peek() byte {
	if r.i < len(r.s) {
		return r.s[r.i]
	}
	return 0
}

func (r *jsonReader) value() (eval.Value, error) {
	switch c := r.peek(); {
	case c == '{' || c == '[':
		return r.nested(c)
	case c == '"':
		s, err := r.text()
		return eval.String(s), err
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	}
	for _, w := range []struct {
		text string
		v    eval.Value
	}{{"true", eval.Bool(true)}, {"false", eval.Bool(false)}, {"null", eval.Nil()}} {
		if strings.HasPrefix(r.s[r.i:], w.text) {
			r.i += len(w.text)
			return w.v, nil
		}
	}
	return eval.Value{}, r.fault("expected a value, got %s", r.found())
}

func (r *jsonReader) nested(c byte) (eval.Value, error) {
	if r.depth++; r.depth > maxJSONDepth {
		return eval.Value{}, r.fault("nested over %d deep", maxJSONDepth)
	}
	defer func() { r.depth-- }()
	r.i++
	r.space()
	if c == '[' {
		return r.array()
	}
	return r.object()
}

func (r *jsonReader) array() (eval.Value, error) {
	out := eval.NewArray(0)
	if r.peek() == ']' {
		r.i++
		return out.Value(), nil
	}
	for {
		v, err := r.value()
		if err != nil {
			return eval.Value{}, err
		}
		out.Push(v)
		if done, err := r.next(']'); done || err != nil {
			return out.Value(), err
		}
	}
}

func (r *jsonReader) object() (eval.Value, error) {
	out := eval.NewMap()
	if r.peek() == '}' {
		r.i++
		return out.Value(), nil
	}
	for {
		if r.peek() != '"' {
			return eval.Value{}, r.fault("expected a key in double quotes, got %s", r.found())
		}
		key, err := r.text()
		if err != nil {
			return eval.Value{}, err
		}
		r.space()
		if r.peek() != ':' {
			return eval.Value{}, r.fault("expected ':' after the key, got %s", r.found())
		}
		r.i++
		r.space()
		v, err := r.value()
		if err != nil {
			return eval.Value{}, err
		}
		out.SetKey(r.key(key), v)
		if done, err := r.next('}'); done || err != nil {
			return out.Value(), err
		}
	}
}

// maxKeys bounds how many keys are kept to be shared.
const maxKeys = 1000

// key makes a String of a key; those of many records are one.
func (r *jsonReader) key(s string) eval.Value {
	if v, ok := r.keys[s]; ok {
		return v
	}
	v := eval.String(s)
	if r.keys == nil {
		r.keys = map[string]eval.Value{}
	}
	if len(r.keys) < maxKeys {
		r.keys[s] = v
	}
	return v
}

// next reads what follows an element: a comma, or the end.
func (r *jsonReader) next(end byte) (done bool, err error) {
	r.space()
	switch r.peek() {
	case end:
		r.i++
		return true, nil
	case ',':
		r.i++
		r.space()
		return false, nil
	}
	return false, r.fault("expected ',' or '%c', got %s", end, r.found())
}

// digits skips digits and says how many there were.
func (r *jsonReader) digits() int {
	from := r.i
	for r.i < len(r.s) && r.s[r.i] >= '0' && r.s[r.i] <= '9' {
		r.i++
	}
	return r.i - from
}

func (r *jsonReader) number() (eval.Value, error) {
	from := r.i
	if r.peek() == '-' {
		r.i++
	}
	zero := r.peek() == '0'
	n := r.digits()
	switch {
	case n == 0:
		return eval.Value{}, r.fault("expected a digit, got %s", r.found())
	case zero && n > 1:
		r.i = from
		return eval.Value{}, r.fault("a number must not begin with 0")
	}
	whole, err := r.fraction()
	if err != nil {
		return eval.Value{}, err
	}
	text := r.s[from:r.i]
	if !whole {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && math.IsInf(f, 0) {
			r.i = from
			return eval.Value{}, r.fault("the number is too large for a Float")
		}
		return eval.Float(f), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return eval.Int(n), nil
	}
	if n > maxDigits {
		r.i = from
		return eval.Value{}, r.fault("the number has over %d digits", maxDigits)
	}
	b, _ := new(big.Int).SetString(text, 10)
	return eval.BigInt(b), nil
}

// fraction skips a fraction and an exponent; whole is true where there is
// neither.
func (r *jsonReader) fraction() (whole bool, err error) {
	whole = true
	if r.peek() == '.' {
		r.i++
		whole = false
		if r.digits() == 0 {
			return false, r.fault("expected a digit, got %s", r.found())
		}
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		r.i++
		whole = false
		if c := r.peek(); c == '+' || c == '-' {
			r.i++
		}
		if r.digits() == 0 {
			return false, r.fault("expected a digit, got %s", r.found())
		}
	}
	return whole, nil
}

// text reads a string.
func (r *jsonReader) text() (string, error) {
	start := r.i
	r.i++
	from := r.i
	var b strings.Builder
	for r.i < len(r.s) {
		switch c := r.s[r.i]; {
		case c == '"':
			if b.Len() == 0 {
				s := r.s[from:r.i]
				r.i++
				return s, nil
			}
			b.WriteString(r.s[from:r.i])
			r.i++
			return b.String(), nil
		case c == '\\':
			b.WriteString(r.s[from:r.i])
			if err := r.escape(&b); err != nil {
				return "", err
			}
			from = r.i
		case c < ' ':
			return "", r.fault("a control character in a string must be written as an escape, got %s", r.found())
		default:
			r.i++
		}
	}
	r.i = start
	return "", r.fault("the string is not closed")
}

func (r *jsonReader) escape(b *strings.Builder) error {
	r.i++
	c := r.peek()
	if c == 'u' {
		return r.unicode(b)
	}
	const plain, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	at := strings.IndexByte(plain, c)
	if c == 0 || at < 0 {
		return r.fault(`unknown escape after '\': %s`, r.found())
	}
	b.WriteByte(meant[at])
	r.i++
	return nil
}

// unicode reads a \u escape, two of them where they are a pair. Half a pair
// stands for no character and becomes U+FFFD.
func (r *jsonReader) unicode(b *strings.Builder) error {
	c, err := r.hex()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(c) {
		at := r.i
		if strings.HasPrefix(r.s[r.i:], `\u`) {
			r.i++
			low, err := r.hex()
			if err != nil {
				return err
			}
			if pair := utf16.DecodeRune(c, low); pair != utf8.RuneError {
				b.WriteRune(pair)
				return nil
			}
			r.i = at
		}
		c = utf8.RuneError
	}
	b.WriteRune(c)
	return nil
}

// hex reads the letter u and four digits.
func (r *jsonReader) hex() (rune, error) {
	if len(r.s)-r.i >= 5 {
		if n, err := strconv.ParseUint(r.s[r.i+1:r.i+5], 16, 16); err == nil {
			r.i += 5
			return rune(n), nil
		}
	}
	return 0, r.fault(`'\u' needs four hexadecimal digits`)
}
