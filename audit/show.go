package audit

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/diag"
)

// Filter picks records by one of their parts.
type Filter struct {
	Key, Value string
}

// filterKeys are the parts of every record; other keys are those of fields.
var filterKeys = []string{"seq", "run", "kind", "name", "event", "detail", "file", "line", "lineage", "calls"}

// ParseFilter reads "key=value". A key is one of seq, run, kind, name, event,
// detail, file, line, lineage and calls, or that of a field of the entry. A
// value that begins or ends with "*" leaves that end open.
func ParseFilter(text string) (Filter, error) {
	key, value, ok := strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" {
		return Filter{}, fmt.Errorf("a filter is key=value, got '%s'; keys are %s, or a field's name", diag.Visible(text), strings.Join(filterKeys, ", "))
	}
	return Filter{Key: key, Value: value}, nil
}

// Match reports whether the record has what the filter asks for.
func (f Filter) Match(r *Record) bool {
	return slices.ContainsFunc(f.texts(r), f.fits)
}

// texts gives the texts of the record that the filter looks at.
func (f Filter) texts(r *Record) []string {
	switch f.Key {
	case "seq":
		return []string{strconv.FormatInt(r.Seq, 10)}
	case "run":
		return []string{r.Run}
	case "kind":
		return []string{r.Kind}
	case "name":
		return []string{r.Name}
	case "event":
		return []string{r.Event}
	case "detail":
		return []string{r.Detail}
	case "file":
		return []string{r.File}
	case "line":
		return []string{strconv.Itoa(int(r.Line))}
	case "lineage":
		return r.Lineage
	case "calls":
		return r.Calls
	}
	for _, field := range r.Fields {
		if field.Key == f.Key {
			return []string{valueText(field.Value)}
		}
	}
	return nil
}

// fits compares a text with the filter's value.
func (f Filter) fits(text string) bool {
	want, tail := strings.CutSuffix(f.Value, "*")
	want, head := strings.CutPrefix(want, "*")
	switch {
	case head && tail:
		return strings.Contains(text, want)
	case head:
		return strings.HasSuffix(text, want)
	case tail:
		return strings.HasPrefix(text, want)
	}
	return text == want
}

// Show gives the records of a log that pass every filter to see, in order, and
// stops at its first error. It verifies on the way: where the log is broken, the
// records before that place have been shown and the error says so.
func Show(r io.Reader, filters []Filter, see func(*Record) error) (Report, error) {
	return verify(r, "", func(rec *Record) error {
		for _, f := range filters {
			if !f.Match(rec) {
				return nil
			}
		}
		return see(rec)
	})
}
