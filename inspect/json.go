package inspect

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/sense-lang/sense/eval"
)

// member is a key of a JSON object with its value.
type member struct {
	key   string
	value any
}

// object is a JSON object whose keys keep their order.
type object []member

// array is a JSON array.
type array []any

// with appends members.
func (o object) with(more ...member) object { return append(o, more...) }

// orNil gives JSON's null for the empty text.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// texts makes a JSON array of strings.
func texts(ss []string) array {
	out := make(array, len(ss))
	for i, s := range ss {
		out[i] = s
	}
	return out
}

// encoder writes answers. Every text passes through redact on its way.
type encoder struct {
	b      bytes.Buffer
	redact func(string) string
}

// encode writes object, array, json.RawMessage, bool, int, float64, string and
// nil.
func (e *encoder) encode(v any) {
	switch v := v.(type) {
	case object:
		e.object(v)
	case array:
		e.array(v)
	case json.RawMessage:
		e.b.Write(v)
	case bool:
		e.b.WriteString(strconv.FormatBool(v))
	case int:
		e.b.WriteString(strconv.Itoa(v))
	case float64:
		e.float(v)
	case string:
		e.text(v)
	default:
		e.b.WriteString("null")
	}
}

func (e *encoder) object(o object) {
	e.b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			e.b.WriteByte(',')
		}
		e.text(m.key)
		e.b.WriteByte(':')
		e.encode(m.value)
	}
	e.b.WriteByte('}')
}

func (e *encoder) array(a array) {
	e.b.WriteByte('[')
	for i, v := range a {
		if i > 0 {
			e.b.WriteByte(',')
		}
		e.encode(v)
	}
	e.b.WriteByte(']')
}

func (e *encoder) float(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.text(eval.Float(f).String())
		return
	}
	e.b.WriteString(strconv.FormatFloat(f, 'f', -1, 64))
}

// text writes a string so that it is safe inside HTML as well.
func (e *encoder) text(s string) {
	b, err := json.Marshal(e.redact(s))
	if err != nil {
		b = []byte(`""`) // a string cannot fail to be written
	}
	e.b.Write(b)
}

// Bounds of what an answer shows of one value.
const (
	maxValueDepth = 100
	maxText       = 256 << 10
	maxItems      = 10_000
)

// plain makes JSON of a value: Ints keep all their digits, whatever has no form
// in JSON becomes the text that print shows.
type plain struct{ items int }

// jsonOf gives a value as JSON, or as text where it is too large or too deep.
func jsonOf(v eval.Value) any {
	p := &plain{}
	out := p.value(v, 0)
	if p.items > maxItems {
		return textOf(v)
	}
	return out
}

func (p *plain) value(v eval.Value, depth int) any {
	if p.items++; p.items > maxItems {
		return nil
	}
	switch v.Kind() {
	case eval.KNil, eval.KUnset:
		return nil
	case eval.KBool:
		b, _ := v.AsBool()
		return b
	case eval.KInt, eval.KBig:
		return json.RawMessage(v.String())
	case eval.KFloat:
		f, _ := v.AsFloat()
		return floatJSON(f)
	case eval.KArray, eval.KMap:
		if depth >= maxValueDepth {
			return "…"
		}
		return p.container(v, depth)
	}
	s := textOf(v)
	p.items += len(s) / 64 // long texts count as many
	return s
}

// floatJSON keeps the point of a whole Float, as the language prints it.
func floatJSON(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return f
	}
	return json.RawMessage(eval.Float(f).String())
}

func (p *plain) container(v eval.Value, depth int) any {
	if a, ok := v.AsArray(); ok {
		out := array{}
		for i := 0; i < a.Len() && p.items <= maxItems; i++ {
			out = append(out, p.value(a.At(i), depth+1))
		}
		return out
	}
	m, _ := v.AsMap()
	out := object{}
	for _, k := range m.Keys() {
		if p.items > maxItems {
			break
		}
		x, _ := m.Get(k)
		out = append(out, member{k, p.value(x, depth+1)})
	}
	return out
}

// textOf gives what print shows of a value, cut where it is long.
func textOf(v eval.Value) string {
	s, err := eval.Text(v)
	if err != nil {
		return "<" + v.TypeName() + ": " + err.Error() + ">"
	}
	return clip(s, maxText)
}

// clip shortens a text to about limit bytes, on the border of a character.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "… (" + strconv.Itoa(len(s)-cut) + " more bytes)"
}
