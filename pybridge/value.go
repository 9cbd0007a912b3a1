package pybridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Value is what crosses the bridge: nil, a bool, an int64, a *big.Int where that is too small, a float64 (infinities
// and not-a-number too), a string, a []any of values, or a Handle to anything else that lives in Python. Arguments may
// also be ints.
//
// Lists are copied: changing one does not change the other side's. Tuples, dicts, sets and bytes are handles.
type Value = any

// Handle stands for an object that lives in the Python process. Its zero value stands for nothing.
type Handle struct {
	ID       int64  // number of the object, never used twice by a Proc
	Type     string // name of its type in Python, such as "tuple"
	Name     string // the name it was read or imported by; for messages
	Module   bool   // it is a module that Import gave
	Callable bool   // Call makes sense
}

// maxDepth is how deep lists given to Python may be nested, so that one that contains itself is noticed.
const maxDepth = 200

// appendValue writes a value for Python: JSON in which an object is a tag for what JSON has no form for.
func appendValue(b []byte, value Value, depth int) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case *big.Int:
		return append(v.Append(append(b, `{"i":"`...), 16), `"}`...), nil
	case float64:
		return appendFloat(b, v), nil
	case string:
		return appendString(b, v)
	case Handle:
		return append(strconv.AppendInt(append(b, `{"h":`...), v.ID, 10), '}'), nil
	case []any:
		return appendList(b, v, depth)
	}
	return nil, fmt.Errorf("a %T can not be given to python", value)
}

func appendList(b []byte, list []any, depth int) ([]byte, error) {
	if depth == maxDepth {
		return nil, errors.New("a list that is nested too deep or contains itself can not be given to python")
	}
	b = append(b, '[')
	for i, item := range list {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendValue(b, item, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// appendFloat writes a float so that Python reads a float: with a point or an exponent.
func appendFloat(b []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return append(strconv.AppendFloat(append(b, `{"f":"`...), f, 'g', -1, 64), `"}`...)
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, 'g', -1, 64)
	if !bytes.ContainsAny(b[start:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// appendString writes a string; what is no UTF-8 becomes the replacement character.
func appendString(b []byte, s string) ([]byte, error) {
	text, err := json.Marshal(s)
	return append(b, text...), err
}

// decodeValue reads a value from Python.
func decodeValue(raw json.RawMessage) (Value, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("python's answer can not be read: %w", err)
	}
	return fromWire(value)
}

func fromWire(value any) (Value, error) {
	switch v := value.(type) {
	case json.Number:
		return fromNumber(v.String())
	case []any:
		for i, item := range v {
			var err error
			if v[i], err = fromWire(item); err != nil {
				return nil, err
			}
		}
		return v, nil
	case map[string]any:
		return fromTag(v)
	}
	return value, nil
}

func fromNumber(text string) (Value, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		return f, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err
}

func fromTag(tag map[string]any) (Value, error) {
	if digits, ok := tag["i"].(string); ok {
		n, ok := new(big.Int).SetString(digits, 16)
		if !ok {
			return nil, fmt.Errorf("python's answer has a bad number %.20q", digits)
		}
		if n.IsInt64() {
			return n.Int64(), nil
		}
		return n, nil
	}
	if text, ok := tag["f"].(string); ok {
		return strconv.ParseFloat(text, 64)
	}
	number, _ := tag["h"].(json.Number)
	id, err := number.Int64()
	if err != nil {
		return nil, errors.New("python's answer has an object of no known kind")
	}
	h := Handle{ID: id}
	h.Type, _ = tag["t"].(string)
	h.Callable, _ = tag["c"].(bool)
	return h, nil
}
