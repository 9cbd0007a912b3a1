package tape

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/sense-lang/sense/diag"
)

// miss words why no exchange fits: how the nearest one that is left differs. It
// is called with t.mu held.
func (t *Tape) miss(kind, who string, want any) error {
	name := (&Exchange{Kind: kind, Who: who}).name()
	near, elsewhere := t.nearest(kind, who, want)
	switch {
	case near != nil:
		where, a, b := difference("", near.ask, want)
		return fmt.Errorf("the exchange with %s differs from line %d of the tape%s: the tape has %s, the program has %s",
			name, near.line, at(where), short(a), short(b))
	case elsewhere != nil:
		return fmt.Errorf("the tape has no further exchange with %s; line %d is one with %s", name, elsewhere.line, elsewhere.name())
	}
	return fmt.Errorf("the tape has no further exchange with %s", name)
}

// nearest gives the exchange left of a kind and a partner that has the most in
// common with a question, and the first one left with another partner.
func (t *Tape) nearest(kind, who string, want any) (near, elsewhere *played) {
	most := -1
	for _, p := range t.left {
		switch {
		case p.used || p.Kind != kind:
		case p.Who != who:
			if elsewhere == nil {
				elsewhere = p
			}
		default:
			if n := alike(p.ask, want); n > most {
				near, most = p, n
			}
		}
	}
	return near, elsewhere
}

// alike counts the plain values that two questions have in common.
func alike(a, b any) int {
	n := 0
	switch av := a.(type) {
	case map[string]any:
		bv, _ := b.(map[string]any)
		for k, x := range av {
			if y, ok := bv[k]; ok {
				n += alike(x, y)
			}
		}
	case []any:
		bv, _ := b.([]any)
		for i := range min(len(av), len(bv)) {
			n += alike(av[i], bv[i])
		}
	default:
		if a == b {
			n = 1
		}
	}
	return n
}

// missing stands for a part that only one side has.
type missing struct{}

// difference finds the first place where two values differ.
func difference(path string, a, b any) (where string, x, y any) {
	switch av := a.(type) {
	case map[string]any:
		if bv, ok := b.(map[string]any); ok {
			return mapDifference(path, av, bv)
		}
	case []any:
		if bv, ok := b.([]any); ok {
			return listDifference(path, av, bv)
		}
	}
	return path, a, b
}

func mapDifference(path string, a, b map[string]any) (string, any, any) {
	var keys []string
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		x, okA := a[k]
		y, okB := b[k]
		switch {
		case !okA:
			return path + "." + k, missing{}, y
		case !okB:
			return path + "." + k, x, missing{}
		case !reflect.DeepEqual(x, y):
			return difference(path+"."+k, x, y)
		}
	}
	return path, a, b
}

func listDifference(path string, a, b []any) (string, any, any) {
	for i := range max(len(a), len(b)) {
		here := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i >= len(a):
			return here, missing{}, b[i]
		case i >= len(b):
			return here, a[i], missing{}
		case !reflect.DeepEqual(a[i], b[i]):
			return difference(here, a[i], b[i])
		}
	}
	return path, a, b
}

func at(where string) string {
	if where == "" {
		return ""
	}
	return " at " + diag.Visible(strings.TrimPrefix(where, "."))
}

// maxShown is how much of a value a message shows.
const maxShown = 120

func short(v any) string {
	if _, ok := v.(missing); ok {
		return "nothing"
	}
	s, err := marshal(v)
	if err != nil {
		return "?"
	}
	if r := []rune(s); len(r) > maxShown {
		s = string(r[:maxShown]) + "..."
	}
	return diag.Visible(s)
}
