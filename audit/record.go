package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sense-lang/sense/diag"
)

// Record is an entry as it stands in a file.
type Record struct {
	// Seq counts the entries of the file from 1.
	Seq int64 `json:"seq"`
	// Prev is the hash of the entry before, empty for the first.
	Prev string `json:"prev"`
	// Run tells the runs of a program apart.
	Run     string    `json:"run,omitempty"`
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`
	Name    string    `json:"name"`
	Event   string    `json:"event"`
	Detail  string    `json:"detail,omitempty"`
	File    string    `json:"file,omitempty"`
	Line    int32     `json:"line,omitempty"`
	Col     int32     `json:"col,omitempty"`
	Lineage []string  `json:"lineage,omitempty"`
	Calls   []string  `json:"calls,omitempty"`
	Fields  fieldMap  `json:"fields,omitempty"`
	// Hash is that of the whole line without it.
	Hash string `json:"hash,omitempty"`
}

// maxText bounds the length of each text in a file, in bytes.
const maxText = 64 << 10

// newRecord gives the record of an entry, without its hash.
func newRecord(e *Entry, seq int64, prev, run string) Record {
	r := Record{
		Seq: seq, Prev: prev, Run: run, Time: e.Time.UTC(),
		Kind: shorten(e.Kind), Name: shorten(e.Name), Event: shorten(e.Event), Detail: shorten(e.Detail),
		File: e.File, Line: e.Pos.Line, Col: e.Pos.Col,
		Lineage: e.Lineage, Calls: e.Calls,
	}
	for _, f := range e.Fields {
		if s, ok := f.Value.(string); ok {
			f.Value = shorten(s)
		}
		r.Fields = append(r.Fields, f)
	}
	return r
}

// shorten cuts a text that is too long at a character's end and says so.
func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:cut], len(s))
}

// String gives the record as `sense audit show` prints it: one line, with
// nothing in it that acts on a terminal.
func (r *Record) String() string {
	var b strings.Builder
	b.WriteString(r.Time.Format("2006-01-02 15:04:05.000Z07:00 "))
	if r.Line > 0 {
		fmt.Fprintf(&b, "[%s] ", strings.TrimPrefix(fmt.Sprintf("%s:%d", diag.Visible(r.File), r.Line), ":"))
	}
	e := Entry{Kind: r.Kind, Name: r.Name, Event: r.Event, Detail: r.Detail, Lineage: r.Lineage}
	b.Write(e.appendText(nil))
	for _, f := range r.Fields {
		fmt.Fprintf(&b, " %s=%s", diag.Visible(f.Key), diag.Visible(valueText(f.Value)))
	}
	return b.String()
}

// Entry gives the entry that the record was made of.
func (r *Record) Entry() Entry {
	return Entry{
		Name: r.Name, Kind: r.Kind, Event: r.Event, Detail: r.Detail, File: r.File,
		Pos: diag.Pos{Line: r.Line, Col: r.Col}, Time: r.Time,
		Lineage: r.Lineage, Calls: r.Calls, Fields: r.Fields,
	}
}

// hashPart stands between a line's content and its hash.
const hashPart = `,"hash":"`

// seal gives the record's line, with its end, and its hash.
func (r *Record) seal() (line []byte, hash string, err error) {
	r.Hash = ""
	body, err := marshal(r)
	if err != nil {
		return nil, "", err
	}
	body = escapeJSON(body)
	sum := sha256.Sum256(body)
	hash = hex.EncodeToString(sum[:])
	line = append(body[:len(body)-1], hashPart...)
	line = append(line, hash...)
	return append(line, "\"}\n"...), hash, nil
}

// unseal reads a line, without its end, and checks its hash.
func unseal(line []byte) (*Record, error) {
	at := bytes.LastIndex(line, []byte(hashPart))
	if at < 0 || len(line) != at+len(hashPart)+2*sha256.Size+2 {
		return nil, errNoEntry
	}
	sum := sha256.Sum256(append(bytes.Clone(line[:at]), '}'))
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, errNoEntry
	}
	if r.Hash != hex.EncodeToString(sum[:]) {
		return nil, errChanged
	}
	return &r, nil
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// escapeJSON escapes what JSON may hold but a terminal must not see.
func escapeJSON(line []byte) []byte {
	if bytes.IndexFunc(line, diag.Hidden) < 0 {
		return line
	}
	var b bytes.Buffer
	for _, r := range string(line) {
		switch {
		case !diag.Hidden(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return b.Bytes()
}

// fieldMap is a JSON object that keeps its order.
type fieldMap []Field

// MarshalJSON writes the fields as one object.
func (m fieldMap) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range m {
		if i > 0 {
			b = append(b, ',')
		}
		key, _ := marshal(f.Key) // a string always can be
		value, err := marshal(f.Value)
		if err != nil { // no JSON: NaN, a channel
			value, _ = marshal(fmt.Sprint(f.Value))
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads an object.
func (m *fieldMap) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	open, err := dec.Token()
	if err != nil || open != json.Delim('{') {
		return errNoEntry
	}
	*m = nil
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return err
		}
		*m = append(*m, Field{Key: key.(string), Value: value})
	}
	return nil
}

// valueText gives a field's value as text.
func valueText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if text, err := marshal(v); err == nil {
		return string(text)
	}
	return fmt.Sprint(v)
}
