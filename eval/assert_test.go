package eval_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

func TestAssertKnowsBothSides(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []string
	}{
		{`assert(1 + 1 == 3)`, []string{"left of '==':  2 (Int)", "right of '==': 3 (Int)"}},
		{`assert("1" != "1")`, []string{"left of '!=':  '1'", "right of '!=': '1'"}},
		{`assert(2 <= 1.5)`, []string{"left of '<=':  2 (Int)", "right of '<=': 1.5 (Float)"}},
		{`assert(3 in [1, 2])`, []string{"left of 'in':  3 (Int)", "right of 'in': [1, 2]"}},
		{`assert("a" not in {"a": 1})`, []string{"left of 'not in':  'a'", "right of 'not in': {'a': 1}"}},
		{`assert([1, 2] == [1, "2"])`, []string{"left of '==':  [1, 2]", "right of '==': [1, '2']"}},
		{`assert([1, [nil]] == true)`, []string{"left of '==':  [1, [nil]]", "right of '==': true"}},
		{"a = [1]\na.push(a)\nassert(a == 5)", []string{"left of '==':  [1, [1, [1, [1, [1, [1, [..., ...]]]]]]]", "right of '==': 5 (Int)"}},
		{`assert(1 == 2, "words")`, nil},
		{`assert(false)`, nil},
		{`assert("` + strings.Repeat("x", 400) + `" == "")`, []string{"left of '==':  '" + strings.Repeat("x", 299) + "...", "right of '==': ''"}},
	} {
		err := runSource(t, c.src, sense.Options{})
		var e *diag.Error
		if !errors.As(err, &e) || !slices.Equal(e.Notes, c.want) {
			t.Errorf("%s: %v, notes %q", c.src, err, e.Notes)
		}
	}
}

func TestAssertKeepsItsMeaning(t *testing.T) {
	for src, want := range map[string]string{
		`assert(1 == 2)`:   "[line 1] assertion failed",
		`assert(1 < "a")`:  "[line 1] '<' requires numeric operands, got Int and String",
		`assert(1 in 5)`:   "", // whatever `in` says
		"assert(1 == 1)\n": "nil",
		"assert = lambda x: raised\nraised = 1\nassert(1 == 2)\nassert(1 == 2)": "nil",
	} {
		err := runSource(t, src, sense.Options{})
		switch {
		case want == "nil" && err != nil, want != "nil" && err == nil:
			t.Errorf("%s: %v", src, err)
		case want != "nil" && want != "" && err.Error() != want:
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}

func TestCoverage(t *testing.T) {
	var v eval.Coverage
	src := "def f(x):\n    \"A docstring.\"\n    if x:\n        return 1\n    return 2\n\nfor i in [1, 2, 3]:\n    f(true)\n"
	if err := runSource(t, src, sense.Options{Coverage: &v}); err != nil {
		t.Fatal(err)
	}
	want := []eval.Line{{1, 1}, {3, 3}, {4, 3}, {5, 0}, {7, 1}, {8, 3}}
	if got := v.Lines("t.sns"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var sum eval.Coverage
	sum.Add(&v)
	sum.Add(&v)
	if got := sum.Lines("t.sns"); got[1].Count != 6 || !slices.Equal(sum.Files(), []string{"t.sns"}) {
		t.Errorf("added: %v of %v", got, sum.Files())
	}
}

func TestOnTestStart(t *testing.T) {
	var log []string
	o := sense.Options{OnTestStart: func(desc string) func(error) {
		if desc == "out" {
			return nil
		}
		return func(err error) { log = append(log, desc+" "+errText(err)) }
	}}
	if err := runSource(t, "test \"a\": assert(true)\ntest \"out\": assert(false)\ntest \"b\": assert(false)", o); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a ok", "b [line 3] assertion failed"}; !slices.Equal(log, want) {
		t.Errorf("got %q", log)
	}
}

func errText(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

func runSource(t *testing.T, src string, o sense.Options) error {
	t.Helper()
	r := sense.New(t.Context(), o)
	defer r.Close()
	return r.RunSource("t.sns", src)
}
