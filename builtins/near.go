package builtins

import (
	"strings"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/internal/near"
)

// didYouMean proposes the known name nearest to one that is not known, or lists
// all where they are few; it begins with what joins it to a message.
func didYouMean(name string, known []string) string {
	best, distance := "", 0
	for _, k := range known {
		limit := max(1, len(k)/3)
		d := near.Edits(strings.ToLower(name), strings.ToLower(k), limit)
		if len(name) > 2 && strings.Contains(strings.ToLower(k), strings.ToLower(name)) {
			d = 1
		}
		if d <= limit && (best == "" || d < distance) {
			best, distance = k, d
		}
	}
	switch {
	case best != "":
		return " -- did you mean '" + best + "'?"
	case len(known) == 0:
		return " -- there is none"
	case len(known) <= 10:
		return " -- there are: " + strings.Join(known, ", ")
	}
	return ""
}

// DidYouMean is what a message about an unknown name ends with: the known one
// nearest to it, or all of a few.
func DidYouMean(name string, known []string) string { return didYouMean(name, known) }

// builtinFind gives the tool, or other element with a name, of an Array.
func builtinFind(c *eval.Call) (eval.Value, error) {
	list, ok := c.Args[0].AsArray()
	if !ok {
		return eval.Value{}, fail("find() expects an Array of tools, got %s", c.Args[0].TypeName())
	}
	name, ok := c.Args[1].AsString()
	if !ok {
		return eval.Value{}, fail("find() expects a name as a String, got %s", c.Args[1].TypeName())
	}
	v, names := eval.Keyed(list, name)
	if !v.IsSet() {
		return eval.Value{}, fail("find() knows no '%s'%s", name, didYouMean(name, names))
	}
	return v, nil
}
