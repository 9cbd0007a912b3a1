package std

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/sense-lang/sense/eval"
)

func csvMembers(*Library) []member {
	return []member{
		{"parse(text, header?, separator?)", "the rows of CSV text as Arrays of Strings; with header: true as Maps by the names of the first row", csvParse},
		{"dump(rows, separator?)", "the CSV text of rows: Arrays, or Maps, whose keys are then written first", csvDump},
	}
}

// fieldRoom is the room of a field, in bytes, without its text.
const fieldRoom = 80

// separator reads the one character between fields.
func (a *args) separator(i int) (rune, error) {
	s, err := a.textOr(i, ",")
	if err != nil {
		return 0, err
	}
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || n != len(s) || strings.ContainsRune("\"\r\n\uFFFD", r) {
		return 0, a.fail("'separator' must be one character, no quote and no line end, got %s", eval.Quote(s))
	}
	return r, nil
}

func csvParse(a *args) (eval.Value, error) {
	text, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	header, err := a.bool(1)
	if err != nil {
		return eval.Value{}, err
	}
	comma, err := a.separator(2)
	if err != nil {
		return eval.Value{}, err
	}
	if err := a.Thread.Reserve(int64(strings.Count(text, string(comma))) * fieldRoom); err != nil {
		return eval.Value{}, err
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\uFEFF")))
	r.Comma, r.FieldsPerRecord = comma, -1
	rows := csvRows{r: r, header: header}
	out := eval.NewArray(0)
	for {
		if err := a.stopped(); err != nil {
			return eval.Value{}, err
		}
		v, err := rows.next()
		switch {
		case errors.Is(err, io.EOF):
			return out.Value(), nil
		case err != nil:
			return eval.Value{}, a.fail("%v", csvFault(err))
		case v.IsSet():
			out.Push(v)
		}
	}
}

// csvFault words an error of the reader.
func csvFault(err error) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return err
	}
	return fail("line %d, column %d: %v", p.Line, p.Column, p.Err)
}

// csvRows makes values of rows.
type csvRows struct {
	r      *csv.Reader
	header bool
	names  []string
}

// next gives the next row; no value for the row of names.
func (c *csvRows) next() (eval.Value, error) {
	fields, err := c.r.Read()
	if err != nil || !c.header {
		return eval.Strings(fields), err
	}
	line, _ := c.r.FieldPos(0)
	if c.names == nil {
		seen := map[string]bool{}
		for _, n := range fields {
			if seen[n] {
				return eval.Value{}, fail("line %d: the name %s stands twice in the first row", line, eval.Quote(n))
			}
			seen[n] = true
		}
		c.names = fields
		return eval.Value{}, nil
	}
	if len(fields) != len(c.names) {
		return eval.Value{}, fail("line %d: the row has %d field(s), the first row %d", line, len(fields), len(c.names))
	}
	m := eval.NewMap()
	for i, n := range c.names {
		m.Set(n, eval.String(fields[i]))
	}
	return m.Value(), nil
}

func csvDump(a *args) (eval.Value, error) {
	rows, err := a.array(0)
	if err != nil {
		return eval.Value{}, err
	}
	comma, err := a.separator(1)
	if err != nil {
		return eval.Value{}, err
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = comma
	var names []string
	room := 1 << 20
	for i := range rows.Len() {
		row := rows.At(i)
		if m, ok := row.AsMap(); ok && i == 0 {
			names = m.Keys()
			_ = w.Write(names) // a Builder takes everything
		}
		fields, err := csvFields(row, names)
		if err != nil {
			return eval.Value{}, a.fail("row %d: %v", i, err)
		}
		if len(fields) == 1 && fields[0] == "" {
			w.Flush()
			b.WriteString("\"\"\n") // an empty line would be no row
			continue
		}
		_ = w.Write(fields)
		if b.Len() > maxDump {
			return eval.Value{}, a.fail("the text would be over %d MiB", maxDump>>20)
		}
		if b.Len() > room {
			room = b.Len() / 2 * 3
			if err := a.Thread.Reserve(int64(b.Len()) * 3); err != nil { // as it grows it stands there twice
				return eval.Value{}, err
			}
		}
	}
	w.Flush()
	return eval.String(b.String()), nil
}

// csvFields gives the fields of a row; names are the keys of rows that are
// Maps, nil where the rows are Arrays.
func csvFields(row eval.Value, names []string) ([]string, error) {
	list, isArray := row.AsArray()
	m, isMap := row.AsMap()
	switch {
	case !isArray && !isMap:
		return nil, errors.New("a row must be an Array or a Map, got " + row.TypeName())
	case isArray != (names == nil):
		return nil, errors.New("rows must all be Arrays or all be Maps")
	case isArray:
		return csvTexts(list.Values())
	}
	vals := make([]eval.Value, len(names))
	for i, n := range names {
		v, ok := m.Get(n)
		if !ok {
			return nil, errors.New("no key " + eval.Quote(n))
		}
		vals[i] = v
	}
	if m.Len() != len(names) {
		return nil, errors.New("it has keys that the first row lacks")
	}
	return csvTexts(vals)
}

// csvTexts words the values of a row: nil as nothing, others as print does.
func csvTexts(vals []eval.Value) ([]string, error) {
	out := make([]string, len(vals))
	for i, v := range vals {
		switch v.Kind() {
		case eval.KNil:
		case eval.KString, eval.KInt, eval.KBig, eval.KFloat, eval.KBool:
			out[i] = v.String()
		default:
			return nil, errors.New("a field cannot be " + v.TypeName())
		}
	}
	return out, nil
}
