package builtins

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/model"
)

// Bounds of what a server may tell a model about one tool, in bytes.
const (
	maxDescription = 4 << 10
	maxSchema      = 64 << 10
)

// cleanSpec makes what a server says of a tool fit for a model: characters that
// nobody sees are taken out and the length is bounded. A schema that is too
// long becomes one that takes any object; the arguments are checked against the
// real one all the same.
func cleanSpec(name, desc string, schema json.RawMessage) (spec model.ToolSpec, warning string) {
	spec.Description = cutText(cleanText(desc), maxDescription)
	spec.Schema = cleanJSON(schema)
	if len(spec.Schema) > maxSchema {
		warning = fmt.Sprintf("the schema of mcp tool '%s' is too large for a model (%d bytes, limit %d) and left out", name, len(spec.Schema), maxSchema)
		spec.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		spec.Description = cutText(spec.Description, maxDescription-200) + "\n(The schema of the arguments is too large to be shown.)"
	}
	return spec, warning
}

// unseen reports whether a character is taken out of what a model reads.
func unseen(r rune) bool {
	return r != '\n' && r != '\t' && (diag.Hidden(r) || r == utf8.RuneError)
}

func cleanText(s string) string {
	if !strings.ContainsFunc(s, unseen) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, s)
}

// cutText bounds a text, between characters, and says that it was cut.
func cutText(s string, limit int) string {
	const mark = " ... (cut)"
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-len(mark)], "") + mark
}

// cleanJSON takes unseen characters out of the texts of a JSON value. One
// without any stays as it is, byte for byte.
func cleanJSON(raw json.RawMessage) json.RawMessage {
	if !strings.ContainsFunc(string(raw), unseen) && !strings.Contains(string(raw), `\u`) {
		return raw
	}
	v, err := FromJSON(raw)
	if err != nil {
		return raw
	}
	if !cleanValue(v) {
		return raw
	}
	out, err := ToJSON(cleaned(v))
	if err != nil {
		return raw
	}
	return out
}

// cleanValue reports whether a value holds a text to clean.
func cleanValue(v eval.Value) bool {
	if s, ok := v.AsString(); ok {
		return strings.ContainsFunc(s, unseen)
	}
	if a, ok := v.AsArray(); ok {
		for i := range a.Len() {
			if cleanValue(a.At(i)) {
				return true
			}
		}
	}
	if m, ok := v.AsMap(); ok {
		for _, k := range m.Keys() {
			x, _ := m.Get(k)
			if strings.ContainsFunc(k, unseen) || cleanValue(x) {
				return true
			}
		}
	}
	return false
}

func cleaned(v eval.Value) eval.Value {
	if s, ok := v.AsString(); ok {
		return eval.String(cleanText(s))
	}
	if a, ok := v.AsArray(); ok {
		out := eval.NewArray(a.Len())
		for i := range a.Len() {
			out.Push(cleaned(a.At(i)))
		}
		return out.Value()
	}
	if m, ok := v.AsMap(); ok {
		out := eval.NewMap()
		for _, k := range m.Keys() {
			x, _ := m.Get(k)
			out.Set(cleanText(k), cleaned(x))
		}
		return out.Value()
	}
	return v
}
