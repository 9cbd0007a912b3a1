package eval_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/diag"
)

func TestErrorsOfNamesSayWhatMayBeMeant(t *testing.T) {
	mean := func(name string) []string { return []string{"did you mean '" + name + "'?"} }
	many := "m = {}\nfor i in range(300):\n    m[f\"name{i}\"] = i\n"
	for _, c := range []struct {
		src  string
		want []string
	}{
		{`prnt("x")`, mean("print")},
		{"counter = 1\ndef f():\n    return conter\nf()", mean("counter")},
		{"def f(amount):\n    return ammount\nf(1)", mean("amount")},
		{"far = 1\nprint(zzzzzz)", nil},
		{"print(later)\nlater = 1", nil},
		{"x = None", []string{"write nil"}},
		{"import std.json\nstd.json.parse(\"1\")", []string{"a standard module goes by its last name: after import std.json, json.parse(...)"}},
		{"x = {\"name\": 1}\nx[\"nmae\"]", mean("name")},
		{"x = {\"name\": 1}\nx.remove(\"nmae\")", mean("name")},
		{"x = {\"name\": 1}\nx[\"other\"]", nil},
		{many + "m[\"name300\"]", nil},
		{"def f(first, second = 2): return first\nf(1, secnd: 3)", mean("second")},
		{"from std.json import prse", mean("parse")},
		{"import std.json\njson.prse(\"1\")", mean("parse")},
		{"import std.http\nhttp.get(\"http://127.0.0.1\", timout: 3)", mean("timeout")},
		{"model m = inference(\"mock\")\nc = conversation(m)\nc.aks(\"3\")", mean("ask")},
		{"try:\n    raise \"x\"\ncatch e:\n    e.mesage", mean("message")},
		{"agent helper:\n    total = 1\nhelper.stats", mean("status")},
	} {
		err := runSource(t, c.src, sense.Options{})
		var e *diag.Error
		if !errors.As(err, &e) || !slices.Equal(e.Notes, c.want) {
			t.Errorf("%s:\n%v, notes %q", c.src, err, e.Notes)
		}
	}
}

// Of very many unknown names only the first are compared with those there are.
func TestGuessesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("amount = 1\nif false:\n")
	for i := range 100 {
		fmt.Fprintf(&b, "    print(zz%d)\n", i)
	}
	err := runSource(t, b.String()+"ammount", sense.Options{})
	var e *diag.Error
	if !errors.As(err, &e) || e.Msg != "undefined variable 'ammount'" || e.Notes != nil {
		t.Errorf("%v", err)
	}
}
