package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Object reads a JSON object; false for anything else.
func Object(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return nil, false
	}
	return m, true
}

// List reads a JSON array; false for anything else.
func List(raw json.RawMessage) ([]json.RawMessage, bool) {
	var l []json.RawMessage
	if json.Unmarshal(raw, &l) != nil || l == nil {
		return nil, false
	}
	return l, true
}

// Absent reports whether a member is missing or null.
func Absent(raw json.RawMessage) bool {
	t := bytes.TrimSpace(raw)
	return len(t) == 0 || string(t) == "null"
}

// Text reads a JSON string; "" for anything else.
func Text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// Int reads a whole number, however it is written; 0 for anything else.
func Int(raw json.RawMessage) int64 {
	s := strings.TrimSpace(string(raw))
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && f >= 0 && f < 1<<53 {
		return int64(f)
	}
	return 0
}

// ErrorIn finds the error that an answer with status 200 tells of; nil where it
// has none.
func ErrorIn(answer map[string]json.RawMessage) error {
	if Absent(answer["error"]) {
		return nil
	}
	whole, err := json.Marshal(map[string]json.RawMessage{"error": answer["error"]})
	if err != nil {
		return err
	}
	code, text := errorText(whole, "")
	if text == "" {
		text = code
	}
	e := Nonsense("the service reports an error: %s", text)
	if code == "insufficient_quota" {
		e.Kind = kindOf(0, code)
	}
	return e
}

// member is one entry of an object, in the order it was written.
type member struct {
	key   string
	value json.RawMessage
}

// members reads an object with the order of its entries; false for anything
// else. Of entries with one key the last counts.
func members(raw json.RawMessage) ([]member, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	list := []member{}
	at := map[string]int{}
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return nil, false
		}
		if i, twice := at[key]; twice {
			list[i].value = value
			continue
		}
		at[key] = len(list)
		list = append(list, member{key, value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	return list, true
}

// object writes an object from its entries.
func object(list []member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(m.key) // a string always has a form
		out = append(append(append(out, key...), ':'), m.value...)
	}
	return append(out, '}')
}

// array writes an array from its elements.
func array(list []json.RawMessage) json.RawMessage {
	return append(append([]byte{'['}, bytes.Join(asBytes(list), []byte(","))...), ']')
}

func asBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, r := range list {
		out[i] = r
	}
	return out
}
