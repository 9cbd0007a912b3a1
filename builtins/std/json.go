package std

import (
	"strings"

	"github.com/sense-lang/sense/eval"
)

func jsonMembers(*Library) []member {
	return []member{
		{"parse(text)", "the value of JSON text; whole numbers keep all their digits", jsonParse},
		{"dump(value, indent?)", "the JSON text of a value, on one line or indented by so many spaces", jsonDump},
	}
}

func jsonParse(a *args) (eval.Value, error) {
	s, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	v, err := parseJSON(s)
	if err != nil {
		return eval.Value{}, a.fail("%v", err)
	}
	return v, nil
}

// maxIndent bounds how far one level of JSON is indented.
const maxIndent = 16

func jsonDump(a *args) (eval.Value, error) {
	n, err := a.intOr(1, -1, 0, maxIndent)
	if err != nil {
		return eval.Value{}, err
	}
	w := jsonWriter{pretty: n >= 0, indent: strings.Repeat(" ", max(int(n), 0)), stopped: a.stopped}
	if err := w.value(a.vals[0], 0); err != nil {
		if stop := a.stopped(); stop != nil {
			return eval.Value{}, stop
		}
		return eval.Value{}, a.fail("%v", err)
	}
	return eval.String(w.b.String()), nil
}
