package builtins

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/internal/bignum"
)

// maxJSONDepth bounds how deep JSON from outside may nest.
const maxJSONDepth = 200

// FromJSON makes a value of JSON text. Objects become Maps in the order of
// their keys; numbers keep their digits: one with a point or an exponent is a
// Float, any other an Int of any size.
func FromJSON(raw []byte) (eval.Value, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := decodeValue(dec, 0)
	if err != nil {
		return eval.Value{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return eval.Value{}, fail("more text follows the JSON value")
	}
	return v, nil
}

func decodeValue(dec *json.Decoder, depth int) (eval.Value, error) {
	t, err := dec.Token()
	if err != nil {
		return eval.Value{}, err
	}
	if depth > maxJSONDepth {
		return eval.Value{}, fail("JSON nested over %d deep", maxJSONDepth)
	}
	switch t := t.(type) {
	case nil:
		return eval.Nil(), nil
	case bool:
		return eval.Bool(t), nil
	case string:
		return eval.String(t), nil
	case json.Number:
		return number(string(t))
	case json.Delim:
		if t == '[' {
			return decodeArray(dec, depth)
		}
		return decodeObject(dec, depth)
	}
	return eval.Value{}, fail("unexpected JSON token")
}

func number(s string) (eval.Value, error) {
	if strings.ContainsAny(s, ".eE") {
		f, _ := strconv.ParseFloat(s, 64) // out of range gives an infinity
		return eval.Float(f), nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return eval.Int(n), nil
	}
	b, ok := bignum.Parse(s, 10)
	if !ok {
		return eval.Value{}, fail("integer too large (limit %d bits)", bignum.MaxBits)
	}
	return eval.BigInt(b), nil
}

func decodeArray(dec *json.Decoder, depth int) (eval.Value, error) {
	a := eval.NewArray(0)
	for dec.More() {
		v, err := decodeValue(dec, depth+1)
		if err != nil {
			return eval.Value{}, err
		}
		a.Push(v)
	}
	_, err := dec.Token()
	return a.Value(), err
}

func decodeObject(dec *json.Decoder, depth int) (eval.Value, error) {
	m := eval.NewMap()
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return eval.Value{}, err
		}
		v, err := decodeValue(dec, depth+1)
		if err != nil {
			return eval.Value{}, err
		}
		m.Set(k.(string), v)
	}
	_, err := dec.Token()
	return m.Value(), err
}

// ToJSON writes a value of Int, Float, String, Bool, Nil, Array and Map as JSON
// text, numbers with all their digits.
func ToJSON(v eval.Value) ([]byte, error) {
	if err := eval.CheckExtent(v); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := encodeValue(&b, v, 0); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func encodeValue(b *bytes.Buffer, v eval.Value, depth int) error {
	if depth > maxJSONDepth {
		return fail("a value nested over %d deep cannot be written as JSON", maxJSONDepth)
	}
	switch v.Kind() {
	case eval.KNil:
		b.WriteString("null")
	case eval.KBool, eval.KInt, eval.KBig:
		b.WriteString(v.String())
	case eval.KFloat:
		f, _ := v.AsFloat()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fail("%s cannot be written as JSON", v.String())
		}
		b.WriteString(v.String())
	case eval.KString:
		s, _ := v.AsString()
		return encodeText(b, s)
	case eval.KArray:
		return encodeArray(b, v, depth)
	case eval.KMap:
		return encodeMap(b, v, depth)
	default:
		return fail("a value of type %s cannot be written as JSON", v.TypeName())
	}
	return nil
}

func encodeText(b *bytes.Buffer, s string) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(s)
	b.Truncate(b.Len() - 1) // the line end that Encode adds
	return err
}

func encodeArray(b *bytes.Buffer, v eval.Value, depth int) error {
	a, _ := v.AsArray()
	b.WriteByte('[')
	for i := range a.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encodeValue(b, a.At(i), depth+1); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func encodeMap(b *bytes.Buffer, v eval.Value, depth int) error {
	m, _ := v.AsMap()
	b.WriteByte('{')
	for i, k := range m.Keys() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encodeText(b, k); err != nil {
			return err
		}
		b.WriteByte(':')
		x, _ := m.Get(k)
		if err := encodeValue(b, x, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}
