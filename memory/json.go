package memory

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sense-lang/sense/internal/bignum"
)

// maxNesting is how deep lists may stand within each other, so that one that contains itself is noticed.
const maxNesting = 1000

// Entry is one entry of a Map.
type Entry struct {
	Key   string
	Value any
}

// Map is a JSON object with its entries in order.
type Map []Entry

// EncodeJSON writes a value as Python's json.dumps does, so that the text is the same as the original's: a space
// behind "," and ":", all but ASCII escaped, floats in their shortest form with a point or an exponent, and NaN,
// Infinity and -Infinity as these words.
//
// A value is nil, a bool, an int, an int64, a *big.Int, a float64, a string, a []any or a Map of values. Anything else,
// and lists nested more than 1000 deep (such as one that contains itself), is an error.
func EncodeJSON(value any) (string, error) {
	var b strings.Builder
	if err := encode(&b, value, 0); err != nil {
		return "", err
	}
	return b.String(), nil
}

func encode(b *strings.Builder, value any, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("the value is nested more than %d deep or contains itself", maxNesting)
	}
	switch v := value.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int:
		b.WriteString(strconv.Itoa(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case *big.Int:
		b.WriteString(v.String())
	case float64:
		b.WriteString(formatFloat(v))
	case string:
		quote(b, v)
	case []any:
		return encodeList(b, v, depth)
	case Map:
		return encodeMap(b, v, depth)
	default:
		return fmt.Errorf("a %T can not be stored", value)
	}
	return nil
}

func encodeList(b *strings.Builder, list []any, depth int) error {
	b.WriteByte('[')
	for i, item := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := encode(b, item, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func encodeMap(b *strings.Builder, entries Map, depth int) error {
	b.WriteByte('{')
	for i, e := range entries {
		if i > 0 {
			b.WriteString(", ")
		}
		quote(b, e.Key)
		b.WriteString(": ")
		if err := encode(b, e.Value, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// formatFloat writes a float as Python's repr does, infinities and not-a-number as its json module does.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

const hex = "0123456789abcdef"

// quote writes a string in ASCII only. What is no UTF-8 becomes the replacement character.
func quote(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r <= '~':
			b.WriteRune(r)
		case shortEscape(r) != 0:
			b.WriteByte('\\')
			b.WriteByte(shortEscape(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			escape(b, high)
			escape(b, low)
		default:
			escape(b, r)
		}
	}
	b.WriteByte('"')
}

func escape(b *strings.Builder, r rune) {
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(hex[r>>shift&0xf])
	}
}

func shortEscape(r rune) byte {
	switch r {
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	}
	return 0
}

// DecodeJSON reads a text that EncodeJSON or Python's json.dumps wrote. Whole numbers come back as int64 or, where that
// is too small, *big.Int; numbers with a point or an exponent as float64; lists as []any and objects as Map. Of equal
// keys of an object the last counts, in the place of the first.
func DecodeJSON(text string) (any, error) {
	d := decoder{text: text}
	value, err := d.value(0)
	if err == nil {
		if d.space(); d.at < len(d.text) {
			err = d.fail("there is more behind the value")
		}
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

type decoder struct {
	text string
	at   int
}

func (d *decoder) fail(what string) error {
	return fmt.Errorf("the stored value is damaged: %s at byte %d", what, d.at)
}

func (d *decoder) space() {
	for d.at < len(d.text) && strings.IndexByte(" \t\r\n", d.text[d.at]) >= 0 {
		d.at++
	}
}

// next skips space and gives the byte that follows, 0 at the end.
func (d *decoder) next() byte {
	d.space()
	if d.at == len(d.text) {
		return 0
	}
	return d.text[d.at]
}

func (d *decoder) value(depth int) (any, error) {
	if depth > maxNesting {
		return nil, d.fail("it is nested too deep")
	}
	switch d.next() {
	case '"':
		return d.str()
	case '[':
		return d.list(depth)
	case '{':
		return d.object(depth)
	}
	for _, word := range words() {
		if strings.HasPrefix(d.text[d.at:], word.text) {
			d.at += len(word.text)
			return word.value, nil
		}
	}
	return d.number()
}

type word struct {
	text  string
	value any
}

// words lists the values that are written as a word.
func words() [6]word {
	return [...]word{
		{"null", nil}, {"true", true}, {"false", false},
		{"NaN", math.NaN()}, {"Infinity", math.Inf(1)}, {"-Infinity", math.Inf(-1)},
	}
}

// number reads a number by the grammar of JSON.
func (d *decoder) number() (any, error) {
	start := d.at
	if d.at < len(d.text) && d.text[d.at] == '-' {
		d.at++
	}
	first := d.at
	whole := d.digits()
	if whole == 0 || whole > 1 && d.text[first] == '0' {
		d.at = start
		return nil, d.fail("no value")
	}
	float := false
	if strings.HasPrefix(d.text[d.at:], ".") {
		d.at++
		float = true
		if d.digits() == 0 {
			return nil, d.fail("no digit behind the point")
		}
	}
	if d.at < len(d.text) && d.text[d.at]|0x20 == 'e' {
		d.at++
		float = true
		if d.at < len(d.text) && (d.text[d.at] == '+' || d.text[d.at] == '-') {
			d.at++
		}
		if d.digits() == 0 {
			return nil, d.fail("no digit in the exponent")
		}
	}
	return parseNumber(d.text[start:d.at], float)
}

func (d *decoder) digits() int {
	start := d.at
	for d.at < len(d.text) && '0' <= d.text[d.at] && d.text[d.at] <= '9' {
		d.at++
	}
	return d.at - start
}

func parseNumber(text string, float bool) (any, error) {
	if float {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // too big is infinite, as in Python
			return nil, err
		}
		return f, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	n, ok := bignum.Parse(text, 10)
	if !ok {
		return nil, fmt.Errorf("the stored value is damaged: %.20s is no number", text)
	}
	return n, nil
}

func (d *decoder) list(depth int) (any, error) {
	d.at++
	list := []any{}
	if d.next() == ']' {
		d.at++
		return list, nil
	}
	for {
		item, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
		more, err := d.more(']')
		if err != nil || !more {
			return list, err
		}
	}
}

// more reads the comma before another element, or the end.
func (d *decoder) more(end byte) (bool, error) {
	c := d.next()
	if c != ',' && c != end || c == 0 {
		return false, d.fail("',' or '" + string(end) + "' is missing")
	}
	d.at++
	return c == ',', nil
}

func (d *decoder) object(depth int) (any, error) {
	d.at++
	entries, places := Map{}, map[string]int{}
	if d.next() == '}' {
		d.at++
		return entries, nil
	}
	for {
		if d.next() != '"' {
			return nil, d.fail("a key is missing")
		}
		key, err := d.str()
		if err != nil {
			return nil, err
		}
		if d.next() != ':' {
			return nil, d.fail("':' is missing")
		}
		d.at++
		value, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if place, ok := places[key]; ok {
			entries[place].Value = value
		} else {
			places[key] = len(entries)
			entries = append(entries, Entry{key, value})
		}
		more, err := d.more('}')
		if err != nil || !more {
			return entries, err
		}
	}
}

// str reads a string.
func (d *decoder) str() (string, error) {
	d.at++
	var b strings.Builder
	for {
		plain := strings.IndexFunc(d.text[d.at:], func(r rune) bool { return r < ' ' || r == '"' || r == '\\' })
		if plain < 0 {
			d.at = len(d.text)
			return "", d.fail("the string has no end")
		}
		b.WriteString(strings.ToValidUTF8(d.text[d.at:d.at+plain], "\uFFFD"))
		d.at += plain
		switch d.text[d.at] {
		case '"':
			d.at++
			return b.String(), nil
		case '\\':
			r, err := d.escaped()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
		default:
			return "", d.fail("a control character in a string")
		}
	}
}

// escaped reads an escape. Half of a surrogate pair becomes the replacement character.
func (d *decoder) escaped() (rune, error) {
	if d.at+1 == len(d.text) {
		return 0, d.fail("the string has no end")
	}
	c := d.text[d.at+1]
	if c == 'u' {
		return d.unicode()
	}
	place := strings.IndexByte(`"\/bfnrt`, c)
	if place < 0 {
		return 0, d.fail("an unknown escape")
	}
	d.at += 2
	return rune("\"\\/\b\f\n\r\t"[place]), nil
}

func (d *decoder) unicode() (rune, error) {
	unit, ok := d.unit()
	if !ok {
		return 0, d.fail("an incomplete escape")
	}
	if utf16.IsSurrogate(unit) {
		back := d.at
		low, ok := d.unit()
		if pair := utf16.DecodeRune(unit, low); ok && pair != utf8.RuneError {
			return pair, nil
		}
		d.at = back
		return utf8.RuneError, nil
	}
	return unit, nil
}

// unit reads four hexadecimal digits behind a backslash and a "u".
func (d *decoder) unit() (rune, bool) {
	rest := d.text[d.at:]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(rest[2:6], 16, 16)
	if err != nil {
		return 0, false
	}
	d.at += 6
	return rune(n), true
}
