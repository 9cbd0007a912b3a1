package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// maxDepth is how deep a result may nest; deeper ones come from faulty or
// hostile servers and would burden everyone downstream.
const maxDepth = 200

// wireResult is a tools/call result as it comes.
type wireResult struct {
	Content    json.RawMessage `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	Meta       json.RawMessage `json:"_meta"`
	ResultType string          `json:"resultType"`
}

// wireBlock is the union of all content blocks.
type wireBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Data     string          `json:"data"`
	MIMEType string          `json:"mimeType"`
	URI      string          `json:"uri"`
	Name     string          `json:"name"`
	Resource json.RawMessage `json:"resource"`
}

// wireResource is the contents of one resource.
type wireResource struct {
	URI      string  `json:"uri"`
	Name     string  `json:"name"`
	MIMEType string  `json:"mimeType"`
	Text     *string `json:"text"`
	Blob     string  `json:"blob"`
}

// parseResult reads the result of a call. It is lenient: a block it cannot
// read is named, never the reason to lose the others.
func parseResult(raw json.RawMessage) (*Result, error) {
	if depth := jsonDepth(raw); depth > maxDepth {
		return nil, fmt.Errorf("the server's answer is nested %d deep, more than %d", depth, maxDepth)
	}
	r, ok := quickResult(raw)
	if !ok {
		var err error
		if r, err = anyResult(raw); err != nil {
			return nil, err
		}
	}
	r.Text = renderResult(r)
	if r.IsError && strings.TrimSpace(r.Text) == "" {
		r.Text = "the tool reports a failure and gives no reason"
	}
	return r, nil
}

// anyResult reads what quickResult leaves.
func anyResult(raw json.RawMessage) (*Result, error) {
	var w wireResult
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, badAnswer(err)
	}
	return &Result{IsError: w.IsError, Meta: notNull(w.Meta), Structured: notNull(w.Structured), Blocks: parseBlocks(w.Content)}, nil
}

func badAnswer(err error) error {
	return fmt.Errorf("the server's answer is not valid: %s", clean(jsonFault(err), 200))
}

// jsonFault words why JSON could not be read, without the names of our types.
func jsonFault(err error) string {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return err.Error()
	}
	what := "of that JSON type"
	for _, name := range []string{"object", "array", "string", "number", "bool"} {
		if strings.HasPrefix(kind.Value, name) { // a number comes with its digits
			what = "of JSON type " + name
		}
	}
	if kind.Field == "" {
		return "it cannot be " + what
	}
	return "'" + kind.Field + "' cannot be " + what
}

func notNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// parseBlocks reads a content list; a single block or a bare string, which
// some servers send, counts as a list of one.
func parseBlocks(raw json.RawMessage) []Block {
	if raw = notNull(raw); len(raw) == 0 {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	blocks := make([]Block, len(list))
	for i, one := range list {
		blocks[i] = parseBlock(one)
	}
	return blocks
}

func parseBlock(raw json.RawMessage) Block {
	var w wireBlock
	if err := json.Unmarshal(raw, &w); err != nil {
		var kind struct {
			Type any `json:"type"`
		}
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return Block{Type: "text", Text: text}
		}
		_ = json.Unmarshal(raw, &kind)
		name, _ := kind.Type.(string)
		return Block{Type: "unreadable " + name}
	}
	b := Block{Type: w.Type, Text: w.Text, MIMEType: w.MIMEType, URI: w.URI, Name: w.Name}
	if w.Data != "" {
		b.Data = decodeBase64(w.Data)
	}
	if w.Type == "resource" && len(w.Resource) > 0 {
		var res wireResource
		_ = json.Unmarshal(w.Resource, &res)
		b = res.block()
	}
	return b
}

// block gives a resource's contents as a content block.
func (w *wireResource) block() Block {
	b := Block{Type: "resource", URI: w.URI, Name: w.Name, MIMEType: w.MIMEType}
	if w.Text != nil {
		b.Text = *w.Text
	} else if w.Blob != "" {
		b.Data = decodeBase64(w.Blob)
	}
	return b
}

// decodeBase64 takes the standard alphabet with or without padding; what is
// neither gives nil.
func decodeBase64(s string) []byte {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		data, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	}
	if err != nil {
		return nil
	}
	return data
}

// renderResult writes a result as the text a model reads.
func renderResult(r *Result) string {
	text := RenderBlocks(r.Blocks)
	if r.Structured == nil || repeats(r.Blocks, text, r.Structured) {
		return text
	}
	if text == "" {
		return string(r.Structured)
	}
	return text + "\n" + string(r.Structured)
}

// RenderBlocks writes content blocks as text: the text of text blocks and text
// resources, a note in brackets for every other, joined by newlines.
func RenderBlocks(blocks []Block) string {
	if len(blocks) == 1 && blocks[0].Type == "text" {
		return blocks[0].Text
	}
	parts := make([]string, len(blocks))
	for i := range blocks {
		parts[i] = renderBlock(&blocks[i])
	}
	return strings.Join(parts, "\n")
}

func renderBlock(b *Block) string {
	switch b.Type {
	case "text":
		return b.Text
	case "image", "audio":
		return binaryNote(b)
	case "resource":
		if b.Data == nil && (b.Text != "" || b.MIMEType == "" || strings.HasPrefix(b.MIMEType, "text/")) {
			return b.Text
		}
		return binaryNote(b)
	case "resource_link":
		if b.Name != "" && b.Name != b.URI {
			return fmt.Sprintf("[resource link %s, %s]", b.URI, b.Name)
		}
		return fmt.Sprintf("[resource link %s]", b.URI)
	case "":
		return "[content block without a type]"
	}
	return fmt.Sprintf("[content block of type '%s']", clean(b.Type, 60))
}

func binaryNote(b *Block) string {
	note := b.Type
	if b.MIMEType != "" {
		note += " " + b.MIMEType
	}
	note += fmt.Sprintf(", %d bytes", len(b.Data))
	if b.URI != "" {
		note += ", " + b.URI
	}
	return "[" + note + "]"
}

// wrappers are the member names under which server libraries put a value that
// is no object, to make it structured content. They tell nothing.
var wrappers = map[string]bool{"result": true, "content": true, "text": true, "output": true, "value": true}

// repeats says whether the structured content is only a copy of the text: the
// same JSON, or one value in a wrapper, either whole or one list element per
// block.
func repeats(blocks []Block, text string, structured json.RawMessage) bool {
	if text == "" {
		return false
	}
	if bytes.Equal(structured, []byte(text)) {
		return true
	}
	want, ok := decodeExact(structured)
	if !ok {
		return false
	}
	if sameValue(text, want) {
		return true
	}
	object, _ := want.(map[string]any)
	if len(object) != 1 {
		return false
	}
	var inner any
	for name, value := range object {
		if !wrappers[name] {
			return false
		}
		inner = value
	}
	if sameValue(text, inner) {
		return true
	}
	list, _ := inner.([]any)
	if len(list) == 0 || len(list) != len(blocks) {
		return false
	}
	for i, element := range list {
		if !sameValue(blocks[i].Text, element) {
			return false
		}
	}
	return true
}

// Wrapped says whether the structured content is nothing but the text under a
// name that a server library gave it, such as {"result": "..."}.
func (r *Result) Wrapped() bool {
	want, ok := decodeExact(r.Structured)
	object, _ := want.(map[string]any)
	if !ok || len(object) != 1 || sameValue(r.Text, want) {
		return false
	}
	return repeats(r.Blocks, r.Text, r.Structured)
}

// sameValue says whether text is value, or value's JSON.
func sameValue(text string, value any) bool {
	if s, ok := value.(string); ok && s == text {
		return true
	}
	got, ok := decodeExact([]byte(text))
	return ok && reflect.DeepEqual(got, value)
}

// decodeExact decodes JSON and keeps the digits of numbers.
func decodeExact(raw []byte) (any, bool) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil || dec.More() {
		return nil, false
	}
	return v, true
}
