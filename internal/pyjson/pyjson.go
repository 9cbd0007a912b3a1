// Package pyjson writes JSON the way Python's json.dumps does, byte for byte:
// the conformance corpus records requests and results in that form. It reads
// JSON with the order of keys and the digits of numbers kept.
package pyjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Object is a JSON object in the order of its keys; of a key that comes twice
// the place is the first and the value the last, as in a Python dict.
type Object struct {
	Keys   []string
	Values map[string]any
}

// Set adds or replaces a member.
func (o *Object) Set(key string, v any) {
	if o.Values == nil {
		o.Values = map[string]any{}
	}
	if _, ok := o.Values[key]; !ok {
		o.Keys = append(o.Keys, key)
	}
	o.Values[key] = v
}

// Options say how Dumps writes. The zero value is json.dumps(v).
type Options struct {
	// SortKeys orders the keys of objects by code point.
	SortKeys bool
	// Unicode leaves characters beyond ASCII as they are (ensure_ascii=False).
	Unicode bool
}

// Parse reads one JSON value: nil, bool, string, json.Number, []any or *Object.
// Anything after the value is an error.
func Parse(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := parse(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("extra data after the JSON value")
	}
	return v, nil
}

func parse(d *json.Decoder) (any, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('['):
		return parseArray(d)
	case json.Delim('{'):
		return parseObject(d)
	}
	return tok, nil
}

func parseArray(d *json.Decoder) (any, error) {
	list := []any{}
	for d.More() {
		v, err := parse(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}

func parseObject(d *json.Decoder) (any, error) {
	o := &Object{Values: map[string]any{}}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parse(d)
		if err != nil {
			return nil, err
		}
		o.Set(key.(string), v) // the decoder lets nothing else stand for a key
	}
	_, err := d.Token()
	return o, err
}

// Dumps writes what Parse gives, and also map[string]any (keys sorted), ints and
// floats. Other types panic: they are a mistake of the caller.
func Dumps(v any, opt Options) string {
	var b strings.Builder
	write(&b, v, opt)
	return b.String()
}

func write(b *strings.Builder, v any, opt Options) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case string:
		writeString(b, v, opt.Unicode)
	case json.Number:
		b.WriteString(Number(v))
	case int:
		b.WriteString(strconv.Itoa(v))
	case float64:
		b.WriteString(Float(v))
	case []any:
		writeArray(b, v, opt)
	case *Object:
		keys := v.Keys
		if opt.SortKeys {
			keys = slices.Sorted(slices.Values(keys))
		}
		writeObject(b, keys, v.Values, opt)
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		writeObject(b, keys, v, opt)
	default:
		panic(fmt.Sprintf("pyjson: cannot write a %T", v))
	}
}

func writeArray(b *strings.Builder, list []any, opt Options) {
	b.WriteByte('[')
	for i, x := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		write(b, x, opt)
	}
	b.WriteByte(']')
}

func writeObject(b *strings.Builder, keys []string, values map[string]any, opt Options) {
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		writeString(b, k, opt.Unicode)
		b.WriteString(": ")
		write(b, values[k], opt)
	}
	b.WriteByte('}')
}

var short = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\f': `\f`, '\b': `\b`}

func writeString(b *strings.Builder, s string, unicode bool) {
	b.WriteByte('"')
	for _, r := range s {
		esc, ok := short[r]
		switch {
		case ok:
			b.WriteString(esc)
		case r >= ' ' && (r < 0x7f || unicode):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
}

// Number gives the text that Python prints for a number it read from JSON: an
// integer with all its digits, a float by its shortest repr.
func Number(n json.Number) string {
	s := n.String()
	if !strings.ContainsAny(s, ".eE") {
		if i, ok := new(big.Int).SetString(s, 10); ok {
			return i.String()
		}
	}
	f, err := n.Float64()
	if err != nil && !math.IsInf(f, 0) {
		return s
	}
	return Float(f)
}

// Float gives Python's text for a float in JSON: its repr, Infinity and NaN.
func Float(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case math.IsNaN(f):
		return "NaN"
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	exp, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	if exp < -4 || exp >= 16 {
		return s
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
