package std

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/sense-lang/sense/eval"
)

// maxDump bounds the text that one call makes of a value: values may share
// parts, so that a small one can be an endless text.
const maxDump = 256 << 20

// jsonWriter writes a value as JSON.
type jsonWriter struct {
	b       strings.Builder
	pretty  bool
	indent  string
	stopped func() error // why the program must end
	count   int
}

func (w *jsonWriter) value(v eval.Value, depth int) error {
	if w.count++; w.count%4096 == 0 {
		if err := w.stopped(); err != nil {
			return err
		}
	}
	if w.b.Len() > maxDump {
		return fmt.Errorf("the text would be over %d MiB", maxDump>>20)
	}
	switch v.Kind() {
	case eval.KNil:
		w.b.WriteString("null")
	case eval.KBool, eval.KInt, eval.KBig:
		w.b.WriteString(v.String())
	case eval.KFloat:
		f, _ := v.AsFloat()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("JSON has no number %s", v.String())
		}
		w.b.WriteString(v.String())
	case eval.KString:
		s, _ := v.AsString()
		writeJSONText(&w.b, s)
	case eval.KArray, eval.KMap:
		if depth >= maxJSONDepth {
			return fmt.Errorf("the value nests over %d deep, or holds itself", maxJSONDepth)
		}
		return w.nested(v, depth+1)
	default:
		return errors.New("JSON has nothing for a " + v.TypeName())
	}
	return nil
}

func (w *jsonWriter) nested(v eval.Value, depth int) error {
	if a, ok := v.AsArray(); ok {
		return w.list('[', ']', a.Len(), depth, func(i int) error { return w.value(a.At(i), depth) })
	}
	m, _ := v.AsMap()
	place := 0
	return w.list('{', '}', m.Len(), depth, func(int) error {
		k, x, next := m.Next(place)
		place = next
		writeJSONText(&w.b, k)
		w.b.WriteString(": ")
		return w.value(x, depth)
	})
}

// list writes n elements between brackets.
func (w *jsonWriter) list(open, end byte, n, depth int, element func(i int) error) error {
	w.b.WriteByte(open)
	for i := range n {
		if i > 0 {
			w.b.WriteByte(',')
			if !w.pretty {
				w.b.WriteByte(' ')
			}
		}
		w.line(depth)
		if err := element(i); err != nil {
			return err
		}
	}
	if n > 0 {
		w.line(depth - 1)
	}
	w.b.WriteByte(end)
	return nil
}

// line begins a line where the text is indented.
func (w *jsonWriter) line(depth int) {
	if !w.pretty {
		return
	}
	w.b.WriteByte('\n')
	for range depth {
		w.b.WriteString(w.indent)
	}
}

// writeJSONText writes a string; characters beyond ASCII stay as they are.
func writeJSONText(b *strings.Builder, s string) {
	const short = "\b\f\n\r\t"
	const letters = "bfnrt"
	b.WriteByte('"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
			continue
		}
		b.WriteString(s[from:i])
		from = i + 1
		b.WriteByte('\\')
		if at := strings.IndexByte(short, c); at >= 0 {
			b.WriteByte(letters[at])
		} else if c == '"' || c == '\\' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(b, "u%04x", c)
		}
	}
	b.WriteString(s[from:])
	b.WriteByte('"')
}
