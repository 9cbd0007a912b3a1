package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep arguments and schemas may nest.
const maxDepth = 64

// object is a JSON object with the order of its keys.
type object struct {
	keys   []string
	values map[string]any
}

func (o *object) get(key string) (any, bool) {
	v, ok := o.values[key]
	return v, ok
}

// decodeJSON reads one JSON value: nil, bool, json.Number, string, []any or
// *object. Numbers keep their digits; a key given twice and nesting over
// maxDepth are errors.
func decodeJSON(raw []byte) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errors.New("there is nothing, not even {}")
	}
	if !json.Valid(raw) {
		var whole json.RawMessage
		return nil, fmt.Errorf("not valid JSON: %w", json.Unmarshal(raw, &whole))
	}
	d := decoder{raw: raw}
	return d.value(0)
}

// decoder reads JSON that is known to be valid. Arguments are read at every
// call, and this takes a fraction of the time of encoding/json's tokens.
type decoder struct {
	raw []byte
	at  int
}

// next gives the first character that is no space, from where the decoder is on.
func (d *decoder) next() byte {
	for d.raw[d.at] <= ' ' {
		d.at++
	}
	return d.raw[d.at]
}

func (d *decoder) value(depth int) (any, error) {
	switch c := d.next(); c {
	case '[', '{':
		if depth >= maxDepth {
			return nil, fmt.Errorf("nested over %d deep", maxDepth)
		}
		d.at++
		if c == '[' {
			return d.list(depth)
		}
		return d.object(depth)
	case '"':
		return d.text(), nil
	case 't':
		d.at += len("true")
		return true, nil
	case 'f':
		d.at += len("false")
		return false, nil
	case 'n':
		d.at += len("null")
		return nil, nil
	}
	begun := d.at
	for d.at < len(d.raw) && strings.IndexByte("+-.0123456789eE", d.raw[d.at]) >= 0 {
		d.at++
	}
	return json.Number(d.raw[begun:d.at]), nil
}

// text reads a string.
func (d *decoder) text() string {
	begun, plain := d.at, true
	for d.at++; d.raw[d.at] != '"'; d.at++ {
		if d.raw[d.at] == '\\' {
			plain = false
			d.at++
		}
	}
	d.at++
	if inner := d.raw[begun+1 : d.at-1]; plain && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(d.raw[begun:d.at], &s) // it is valid
	return s
}

func (d *decoder) list(depth int) (any, error) {
	list := []any{}
	for d.next() != ']' {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if d.next() == ',' {
			d.at++
		}
	}
	d.at++
	return list, nil
}

func (d *decoder) object(depth int) (any, error) {
	o := &object{values: map[string]any{}}
	for d.next() != '}' {
		key := d.text()
		d.next() // the colon
		d.at++
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if _, twice := o.values[key]; twice {
			return nil, fmt.Errorf("the key %s stands there twice", shortQuote(key))
		}
		o.keys = append(o.keys, key)
		o.values[key] = v
		if d.next() == ',' {
			d.at++
		}
	}
	d.at++
	return o, nil
}

// kindOf is the name that JSON Schema has for a value's type. A whole number is
// an integer however it is written.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if parseDecimal(string(v)).isWhole() {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// kindWords says what a value is.
func kindWords(v any) string { return typeWords(kindOf(v)) }

func typeWords(name string) string {
	switch name {
	case "boolean":
		return "true or false"
	case "null":
		return "null"
	case "array", "integer", "object":
		return "an " + name
	}
	return "a " + name
}

// canonical writes a value so that equal values are written alike.
func canonical(v any) string {
	switch v := v.(type) {
	case json.Number:
		return parseDecimal(string(v)).String()
	case string:
		return strconv.Quote(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = canonical(e)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *object:
		keys := append([]string(nil), v.keys...)
		sort.Strings(keys)
		parts := make([]string, len(keys))
		for i, k := range keys {
			parts[i] = strconv.Quote(k) + ":" + canonical(v.values[k])
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return fmt.Sprint(v)
}

// shortQuote quotes a text for a message, cut to 60 characters.
func shortQuote(s string) string { return strconv.Quote(shorten(s)) }
