package builtins

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/eval"
)

// shape is what an answer must have: one type, or a Map of fields.
type shape struct {
	text   string
	plain  *ast.TypeExpr
	fields []field
}

type field struct {
	name string
	typ  *ast.TypeExpr
}

// String names the shape for messages.
func (s *shape) String() string { return s.text }

// shapeOf reads the value of a returns option.
func shapeOf(v eval.Value) (*shape, error) {
	if s, ok := v.AsString(); ok {
		t, err := knownType(s)
		return &shape{text: s, plain: t}, err
	}
	m, ok := v.AsMap()
	if !ok {
		return nil, fail("expected a type as String or a Map of them, got %s", v.TypeName())
	}
	if m.Len() == 0 {
		return nil, fail("the Map names no fields")
	}
	s := &shape{}
	var parts []string
	for _, k := range m.Keys() {
		x, _ := m.Get(k)
		text, ok := x.AsString()
		if !ok {
			return nil, fail("the type of '%s' must be a String, got %s", k, x.TypeName())
		}
		t, err := knownType(text)
		if err != nil {
			return nil, err
		}
		s.fields = append(s.fields, field{k, t})
		parts = append(parts, k+": "+text)
	}
	s.text = "{" + strings.Join(parts, ", ") + "}"
	return s, nil
}

func knownType(text string) (*ast.TypeExpr, error) {
	t, ok := eval.ParseType(text)
	if !ok || !answerable(t) {
		return nil, fail("'%s' is no type that an answer can have -- use Int, Float, String, Bool, Array<...> or Map<...>", text)
	}
	return t, nil
}

func answerable(t *ast.TypeExpr) bool {
	switch t.Name {
	case "Int", "Float", "String", "Bool", "Any":
		return len(t.Args) == 0
	case "Array", "Map":
		return len(t.Args) == 0 || len(t.Args) == 1 && answerable(t.Args[0])
	}
	return false
}

// schema gives the JSON Schema: an object with the fields, or with the one key
// value, since the root of a vendor's schema is an object.
func (s *shape) schema() json.RawMessage {
	fields := s.fields
	if s.plain != nil {
		fields = []field{{"value", s.plain}}
	}
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	names := []string{}
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		_ = encodeText(&b, f.name) // writing to memory does not fail
		b.WriteByte(':')
		b.WriteString(answerSchema(f.typ))
		names = append(names, f.name)
	}
	list, _ := json.Marshal(names)
	b.WriteString(`},"required":`)
	b.Write(list)
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes()
}

func answerSchema(t *ast.TypeExpr) string {
	if t.Name == "Map" && len(t.Args) == 1 {
		return `{"type":"object","additionalProperties":` + answerSchema(t.Args[0]) + `}`
	}
	if t.Name == "Array" && len(t.Args) == 1 {
		return `{"type":"array","items":` + answerSchema(t.Args[0]) + `}`
	}
	return typeSchema(t)
}

// read takes the value out of an answer's text.
func (s *shape) read(text string) (eval.Value, error) {
	inside := unfence(text)
	v, err := FromJSON([]byte(inside))
	if s.plain != nil && s.plain.Name == "String" && v.TypeName() != "String" && !strings.HasPrefix(inside, "{") {
		// Any words are a String, also those that happen to read as a number. What
		// begins like an object is the vendor's form, and broken or wrong.
		return eval.String(strings.TrimSpace(text)), nil
	}
	if err != nil {
		return eval.Value{}, fail("it is no JSON (%v)", err)
	}
	if s.plain != nil {
		if m, ok := v.AsMap(); ok && m.Len() == 1 {
			if inner, ok := m.Get("value"); ok {
				v = inner
			}
		}
		return fit(v, s.plain, "the answer")
	}
	m, ok := v.AsMap()
	if !ok {
		return eval.Value{}, fail("it is no JSON object")
	}
	out := eval.NewMap()
	for _, f := range s.fields {
		x, ok := m.Get(f.name)
		if !ok {
			return eval.Value{}, fail("the key '%s' is missing", f.name)
		}
		if x, err = fit(x, f.typ, "'"+f.name+"'"); err != nil {
			return eval.Value{}, err
		}
		out.Set(f.name, x)
	}
	return out.Value(), nil
}

// unfence takes a code block's marks off: models like to write them.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "```") {
		return text
	}
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "```"))
}

// fit checks a value against a type; a whole Float stands for an Int.
func fit(v eval.Value, t *ast.TypeExpr, what string) (eval.Value, error) {
	if f, ok := v.AsFloat(); ok && t.Name == "Int" && f == float64(int64(f)) {
		return eval.Int(int64(f)), nil
	}
	if eval.CheckType(t, v) {
		return v, nil
	}
	return eval.Value{}, fail("%s must be %s, got %s", what, t.String(), v.TypeName())
}
