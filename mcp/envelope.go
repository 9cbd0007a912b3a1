package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// message is one JSON-RPC message taken apart: each field is the raw JSON of
// that member, nil where the message has none. The fields share the memory of
// the line they were read from.
type message struct {
	id, method, params, result, rpcErr []byte
}

var errNotMessage = errors.New("not a JSON-RPC message")

// splitMessage finds the members of the JSON object in line. It follows
// strings and brackets only and leaves the values unchecked: whoever decodes
// one finds out whether it is valid, so a large result is not parsed twice.
func splitMessage(line []byte) (message, error) {
	var m message
	i := skipSpace(line, 0)
	if i >= len(line) || line[i] != '{' {
		return m, errNotMessage
	}
	i = skipSpace(line, i+1)
	if i < len(line) && line[i] == '}' {
		return m, errNotMessage
	}
	for {
		keyEnd := skipString(line, i)
		if keyEnd < 0 {
			return m, errNotMessage
		}
		key := line[i+1 : keyEnd-1]
		if i = skipSpace(line, keyEnd); i >= len(line) || line[i] != ':' {
			return m, errNotMessage
		}
		i = skipSpace(line, i+1)
		end := skipValue(line, i)
		if end < 0 {
			return m, errNotMessage
		}
		m.set(string(key), bytes.TrimRight(line[i:end], " \t\r\n"))
		if i = skipSpace(line, end); i >= len(line) {
			return m, errNotMessage
		}
		if line[i] == '}' {
			break
		}
		if line[i] != ',' {
			return m, errNotMessage
		}
		i = skipSpace(line, i+1)
	}
	if skipSpace(line, i+1) != len(line) || !m.plausible() {
		return m, errNotMessage
	}
	return m, nil
}

func (m *message) set(key string, value []byte) {
	if string(value) == "null" && key != "id" && key != "result" {
		return
	}
	switch key {
	case "id":
		m.id = value
	case "method":
		m.method = value
	case "params":
		m.params = value
	case "result":
		m.result = value
	case "error":
		m.rpcErr = value
	}
}

// plausible says whether the members make a request, a notification or a
// response. A response without result and error is let through, for its call
// to fail soon.
func (m *message) plausible() bool {
	if m.method != nil {
		return len(m.method) > 2 && m.method[0] == '"'
	}
	return m.id != nil || m.rpcErr != nil
}

// methodName gives the method without quotes, "" for a response.
func (m *message) methodName() string {
	if m.method == nil {
		return ""
	}
	if bytes.IndexByte(m.method, '\\') < 0 {
		return string(m.method[1 : len(m.method)-1])
	}
	var s string
	_ = json.Unmarshal(m.method, &s)
	return s
}

// isRequest says whether the message wants an answer.
func (m *message) isRequest() bool { return m.method != nil && m.id != nil && string(m.id) != "null" }

// callID reads the id of a response to one of our requests, which are numbers.
// It takes 7, 7.0 and "7" alike, since servers differ; ok is false for
// anything else.
func (m *message) callID() (id int64, ok bool) {
	raw := m.id
	if len(raw) >= 2 && raw[0] == '"' {
		raw = raw[1 : len(raw)-1]
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// clone copies the message out of the line's memory.
func (m message) clone() message {
	for _, f := range []*[]byte{&m.id, &m.method, &m.params, &m.result, &m.rpcErr} {
		*f = bytes.Clone(*f)
	}
	return m
}

// splitBatch gives the elements of a JSON array of objects, nil when line is
// none.
func splitBatch(line []byte) [][]byte {
	var out [][]byte
	i := skipSpace(line, 0)
	if i >= len(line) || line[i] != '[' {
		return nil
	}
	for {
		i = skipSpace(line, i+1)
		if i >= len(line) || line[i] != '{' {
			return nil
		}
		end := skipValue(line, i)
		if end < 0 {
			return nil
		}
		out = append(out, line[i:end])
		if i = skipSpace(line, end); i >= len(line) {
			return nil
		}
		if line[i] == ']' {
			break
		}
		if line[i] != ',' {
			return nil
		}
	}
	if skipSpace(line, i+1) != len(line) {
		return nil
	}
	return out
}

// salvage finds a JSON-RPC message that follows other text on the same line,
// as when a server prints a status without a line end. It tries the first few
// places that may begin one and gives nil when there is none.
func salvage(line []byte) []byte {
	const tries = 16
	at := 0
	for range tries {
		i := bytes.IndexByte(line[at:], '{')
		if i < 0 {
			return nil
		}
		at += i
		if m, err := splitMessage(line[at:]); err == nil && (m.result != nil || m.rpcErr != nil || m.method != nil) {
			return line[at:]
		}
		at++
	}
	return nil
}

// unfinished says whether line begins a JSON object that further lines may
// end, as a server that indents its messages writes it.
func unfinished(line []byte) bool {
	i := skipSpace(line, 0)
	if i >= len(line) || line[i] != '{' {
		return false
	}
	next := skipSpace(line, i+1)
	return next >= len(line) || line[next] == '"' && skipValue(line, i) < 0
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipString gives the index after the string that begins at i, or -1.
func skipString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	for i++; ; {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return -1
		}
		end := i + j
		slashes := 0
		for end-slashes > i && b[end-slashes-1] == '\\' {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			return i
		}
	}
}

// skipValue gives the index after the value that begins at i, or -1 when it
// does not end within b.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		end, _ := skipNested(b, i)
		return end
	case ',', '}', ']', ':':
		return -1
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' {
		if b[i] == '"' || b[i] == '{' || b[i] == '[' || b[i] == ':' {
			return -1
		}
		i++
	}
	return i
}

// skipNested gives the index after the object or array that begins at i, or
// -1, and how deep it nests.
func skipNested(b []byte, i int) (end, deepest int) {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1, deepest
			}
			continue
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, deepest
			}
		}
		i++
	}
	return -1, deepest
}

// jsonDepth tells how deep objects and arrays nest in raw.
func jsonDepth(raw []byte) int {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' && raw[i] != '[' {
		return 0
	}
	_, deepest := skipNested(raw, i)
	return deepest
}

// oneLine gives raw as valid JSON without line ends, unchanged where it has
// none; ok is false when it is no valid JSON.
func oneLine(raw []byte) (out []byte, ok bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw, true
	}
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return nil, false
	}
	return buf.Bytes(), true
}

// encode is json.Marshal without the HTML escapes.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
