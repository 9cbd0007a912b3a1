package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// standard turns JSON with comments and trailing commas into plain JSON of the
// same length, so that every offset stays right: what JSON lacks becomes
// spaces. What is wrong otherwise is left to the JSON reader.
func standard(src []byte) ([]byte, error) {
	out := bytes.Clone(src)
	if bytes.HasPrefix(out, []byte("\ufeff")) {
		blank(out[:3])
	}
	comma := -1    // the last comma after a value with nothing but space after it
	value := false // a value ends here
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"':
			comma, value = -1, true
			i = stringEnd(out, i)
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end, err := commentEnd(out, i)
			if err != nil {
				return nil, err
			}
			blank(out[i:end])
			i = end
		case c == ',':
			if comma = -1; value {
				comma = i
			}
			value = false
			i++
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma, value = -1, true
			i++
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		default:
			comma, value = -1, c != '{' && c != '[' && c != ':'
			i++
		}
	}
	return out, nil
}

// stringEnd gives the offset after the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func commentEnd(b []byte, i int) (int, error) {
	if b[i+1] == '/' {
		if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
			return i + n, nil
		}
		return len(b), nil
	}
	if n := bytes.Index(b[i+2:], []byte("*/")); n >= 0 {
		return i + 2 + n + 2, nil
	}
	return 0, &syntaxError{i, "a comment that is opened here is not closed"}
}

// blank overwrites text with spaces but keeps its line ends.
func blank(b []byte) {
	for i, c := range b {
		if c != '\n' && c != '\r' {
			b[i] = ' '
		}
	}
}

// syntaxError is a fault at an offset.
type syntaxError struct {
	at   int
	text string
}

func (e *syntaxError) Error() string { return e.text }

// member is one member of an object, with its place in the text.
type member struct {
	key        string
	keyAt      int // of the key's quote
	start, end int // of the value
}

// object is a JSON object in a text.
type object struct {
	src        []byte // plain JSON
	start, end int    // of its braces; end is after the last one
	members    []member
	byKey      map[string]int
}

func (o *object) value(m member) json.RawMessage { return o.src[m.start:m.end] }

func (o *object) find(key string) (member, bool) {
	if i, ok := o.byKey[key]; ok {
		return o.members[i], true
	}
	return member{}, false
}

// within reads the object that is the value of a member.
func (o *object) within(m member) (*object, error) { return readObject(o.src, m.start, m.end) }

// parseText reads a whole text, which must be one object.
func parseText(src []byte) (*object, error) {
	if !utf8.Valid(src) {
		return nil, &syntaxError{invalidAt(src), "the text is no valid UTF-8"}
	}
	plain, err := standard(src)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(plain)) == 0 {
		return nil, &syntaxError{0, "the file is empty"}
	}
	var any json.RawMessage
	if err := json.Unmarshal(plain, &any); err != nil {
		return nil, inOurWords(err, plain)
	}
	return readObject(plain, 0, len(plain))
}

func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(src)
}

// expectations say what must stand where the JSON reader met something else, by the
// end of its message.
var expectations = []struct{ ending, want string }{
	{"looking for beginning of value", "a value"},
	{"looking for beginning of object key string", "a name in double quotes"},
	{"after object key", "':'"},
	{"after object key:value pair", "',' or '}'"},
	{"after array element", "',' or ']'"},
	{"after top-level value", "the end of the file"},
	{"in string literal", "a text without line ends and control characters"},
	{"in string escape code", "one of \", \\, /, b, f, n, r, t, u after a backslash"},
	{"in \\u hexadecimal character escape", "four hexadecimal digits"},
}

// inOurWords gives a fault of the JSON reader its place and says what must stand
// there.
func inOurWords(err error, src []byte) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return &syntaxError{max(int(kind.Offset)-1, 0), "another kind of value must stand here"}
	}
	var s *json.SyntaxError
	if !errors.As(err, &s) {
		return err
	}
	at := min(max(int(s.Offset)-1, 0), len(src))
	message := s.Error()
	if at == len(src) || strings.HasPrefix(message, "unexpected end") {
		return &syntaxError{max(len(bytes.TrimRight(src, " \t\r\n"))-1, 0), "the file ends in the middle: a bracket or a quote is not closed"}
	}
	r, _ := utf8.DecodeRune(src[at:])
	for _, x := range expectations {
		if strings.HasSuffix(message, x.ending) {
			return &syntaxError{at, fmt.Sprintf("here must stand %s, not %s", x.want, strconv.QuoteRune(r))}
		}
	}
	return &syntaxError{at, fmt.Sprintf("%s does not belong into a number, true, false or null", strconv.QuoteRune(r))}
}

// atOffset gives a fault of the JSON reader its place.
func atOffset(err error, n int) error {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return &syntaxError{min(max(int(s.Offset)-1, 0), n), s.Error()}
	}
	return err
}

// readObject reads the members of the object in src[from:to], valid JSON.
func readObject(src []byte, from, to int) (*object, error) {
	text := src[from:to]
	dec := json.NewDecoder(bytes.NewReader(text))
	t, err := dec.Token()
	if err != nil {
		return nil, atOffset(err, to)
	}
	start := from + skip(text, 0)
	if t != json.Delim('{') {
		return nil, &syntaxError{start, "here must stand an object in braces"}
	}
	o := &object{src: src, start: start, byKey: map[string]int{}}
	for dec.More() {
		m := member{keyAt: from + skip(text, int(dec.InputOffset()))}
		key, err := dec.Token()
		if err != nil {
			return nil, atOffset(err, to)
		}
		m.key, _ = key.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, atOffset(err, to)
		}
		m.end = from + int(dec.InputOffset())
		m.start = m.end - len(raw)
		if _, twice := o.find(m.key); twice {
			return nil, &syntaxError{m.keyAt, fmt.Sprintf("the key %q stands here a second time", m.key)}
		}
		o.byKey[m.key] = len(o.members)
		o.members = append(o.members, m)
	}
	if _, err := dec.Token(); err != nil {
		return nil, atOffset(err, to)
	}
	o.end = from + int(dec.InputOffset())
	return o, nil
}

// skip gives the offset of the next byte from i on that is no space, colon or
// comma.
func skip(b []byte, i int) int {
	for i < len(b) && bytes.IndexByte([]byte(" \t\r\n:,"), b[i]) >= 0 {
		i++
	}
	return i
}

// placed words a fault with file, line and column.
func placed(path string, src []byte, err error) error {
	var s *syntaxError
	if !errors.As(err, &s) {
		return fmt.Errorf("%s: %w", path, err)
	}
	before := src[:min(s.at, len(src))]
	line := bytes.Count(before, []byte("\n")) + 1
	col := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("%s:%d:%d: %s", path, line, col, s.text)
}
