package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
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
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return decodeValue(dec, 0)
}

func decodeValue(dec *json.Decoder, depth int) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	open, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth >= maxDepth {
		return nil, fmt.Errorf("nested over %d deep", maxDepth)
	}
	if open == '[' {
		return decodeList(dec, depth)
	}
	return decodeObject(dec, depth)
}

func decodeList(dec *json.Decoder, depth int) (any, error) {
	list := []any{}
	for dec.More() {
		v, err := decodeValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.Token()
	return list, err
}

func decodeObject(dec *json.Decoder, depth int) (any, error) {
	o := &object{values: map[string]any{}}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		v, err := decodeValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		if _, twice := o.values[key]; twice {
			return nil, fmt.Errorf("the key %s stands there twice", shortQuote(key))
		}
		o.keys = append(o.keys, key)
		o.values[key] = v
	}
	_, err := dec.Token()
	return o, err
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
