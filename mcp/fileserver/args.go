package fileserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// kind is the shape of an argument.
type kind int

const (
	kindString kind = iota
	kindCount       // a whole number
	kindBool
	kindStrings
	kindEdits
)

// param describes one argument of a tool; it makes both the schema that clients see and the check of what they send.
type param struct {
	name     string
	kind     kind
	required bool
	about    string
	def      any      // value of an argument that was left out, nil for none
	choices  []string // the only values allowed, nil for any
	min      int      // fewest elements of a list
}

// edit is one replacement of edit_file.
type edit struct{ old, new string }

// args holds checked arguments by name; what was left out and has no default is absent.
type args map[string]any

func (a args) text(name string) string      { s, _ := a[name].(string); return s }
func (a args) flag(name string) bool        { b, _ := a[name].(bool); return b }
func (a args) count(name string) int        { n, _ := a[name].(int); return n }
func (a args) strings(name string) []string { s, _ := a[name].([]string); return s }

// schema gives the JSON Schema of the parameters.
func schema(params []param) json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for _, p := range params {
		properties[p.name] = p.schema()
		if p.required {
			required = append(required, p.name)
		}
	}
	object := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		object["required"] = required
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic("fileserver: schema of a tool: " + err.Error()) // the table is constant and tested
	}
	return text
}

func (p param) schema() map[string]any {
	s := map[string]any{}
	switch p.kind {
	case kindString:
		s["type"] = "string"
	case kindCount:
		s["type"] = "number"
	case kindBool:
		s["type"] = "boolean"
	case kindStrings:
		s["type"], s["items"] = "array", map[string]any{"type": "string"}
	case kindEdits:
		s["type"], s["items"] = "array", editSchema()
	}
	if p.about != "" {
		s["description"] = p.about
	}
	if p.def != nil {
		s["default"] = p.def
	}
	if p.choices != nil {
		s["enum"] = p.choices
	}
	if p.min > 0 {
		s["minItems"] = p.min
	}
	return s
}

func editSchema() map[string]any {
	text := func(about string) map[string]any { return map[string]any{"type": "string", "description": about} }
	return map[string]any{
		"type": "object",
		"properties": map[string]any{
			"oldText": text("The text to replace"),
			"newText": text("The text to put in its place"),
		},
		"required": []string{"oldText", "newText"},
	}
}

// check decodes the arguments of a call of tool and tests them against params. The error names every fault in the
// words of the npm server.
func check(tool string, params []param, raw json.RawMessage) (args, error) {
	sent, err := decode(raw)
	if err != nil {
		return nil, err
	}
	var faults []string
	checked := args{}
	for _, p := range params {
		value, ok := sent[p.name]
		if !ok && !p.required {
			if p.def != nil {
				checked[p.name] = p.def
			}
			continue
		}
		if !ok {
			value = absent{}
		}
		good, bad := p.convert(value)
		faults = append(faults, bad...)
		checked[p.name] = good
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("MCP error -32602: Input validation error: Invalid arguments for tool %s: %s",
			tool, strings.Join(faults, "\n"))
	}
	return checked, nil
}

// decode reads an object of arguments, keeping every digit of its numbers; none at all is an empty object.
func decode(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var sent map[string]any
	if err := decoder.Decode(&sent); err != nil {
		return nil, fmt.Errorf("MCP error -32602: Input validation error: the arguments are no JSON object")
	}
	return sent, nil
}

// absent stands for a required argument that was not sent.
type absent struct{}

// convert gives the Go value of an argument, or what is wrong with it.
func (p param) convert(value any) (any, []string) {
	switch p.kind {
	case kindBool:
		return expect[bool](value, "boolean", p.name)
	case kindCount:
		return toCount(value, p.name)
	case kindStrings:
		return toStrings(value, p)
	case kindEdits:
		return toEdits(value, p.name)
	}
	text, bad := expect[string](value, "string", p.name)
	if bad == nil && p.choices != nil && !contains(p.choices, text.(string)) {
		bad = []string{fmt.Sprintf(`Invalid option: expected one of "%s" at %s`, strings.Join(p.choices, `"|"`), p.name)}
	}
	return text, bad
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}

func expect[T any](value any, want, at string) (any, []string) {
	if good, ok := value.(T); ok {
		return good, nil
	}
	return nil, []string{wrong(want, value, at)}
}

func wrong(want string, value any, at string) string {
	return fmt.Sprintf("Invalid input: expected %s, received %s at %s", want, typeName(value), at)
}

// toCount takes a whole number of at least 0, written 3, 3.0 or 3e0; what no int can hold is as good as the largest.
func toCount(value any, at string) (any, []string) {
	number, ok := value.(json.Number)
	if !ok {
		return nil, []string{wrong("number", value, at)}
	}
	if len(number) > 400 { // big.Rat would spell out any exponent
		return nil, []string{"Invalid input: number out of range at " + at}
	}
	if f, err := number.Float64(); err == nil && math.Abs(f) > 1e300 || err != nil {
		return nil, []string{"Invalid input: number out of range at " + at}
	}
	exact, ok := new(big.Rat).SetString(number.String())
	switch {
	case !ok || !exact.IsInt():
		return nil, []string{"Invalid input: expected a whole number at " + at}
	case exact.Sign() < 0:
		return nil, []string{"Too small: expected number to be >=0 at " + at}
	case !exact.Num().IsInt64():
		return math.MaxInt, nil
	}
	return int(min(exact.Num().Int64(), math.MaxInt)), nil
}

func toStrings(value any, p param) (any, []string) {
	list, ok := value.([]any)
	if !ok {
		return nil, []string{wrong("array", value, p.name)}
	}
	if len(list) < p.min {
		return nil, []string{fmt.Sprintf("Too small: expected array to have >=%d items at %s", p.min, p.name)}
	}
	texts, faults := make([]string, len(list)), []string(nil)
	for i, one := range list {
		text, bad := expect[string](one, "string", fmt.Sprintf("%s[%d]", p.name, i))
		texts[i], _ = text.(string)
		faults = append(faults, bad...)
	}
	return texts, faults
}

func toEdits(value any, at string) (any, []string) {
	list, ok := value.([]any)
	if !ok {
		return nil, []string{wrong("array", value, at)}
	}
	edits, faults := make([]edit, len(list)), []string(nil)
	for i, one := range list {
		where := fmt.Sprintf("%s[%d]", at, i)
		object, ok := one.(map[string]any)
		if !ok {
			faults = append(faults, wrong("object", one, where))
			continue
		}
		for _, field := range []struct {
			name string
			into *string
		}{{"oldText", &edits[i].old}, {"newText", &edits[i].new}} {
			var sent any = absent{}
			if v, ok := object[field.name]; ok {
				sent = v
			}
			text, bad := expect[string](sent, "string", where+"."+field.name)
			*field.into, _ = text.(string)
			faults = append(faults, bad...)
		}
	}
	return edits, faults
}

// typeName names the type of a decoded JSON value as the npm server's messages do.
func typeName(value any) string {
	switch value.(type) {
	case absent:
		return "undefined"
	case nil:
		return "null"
	case string:
		return "string"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "array"
	}
	return "object"
}
