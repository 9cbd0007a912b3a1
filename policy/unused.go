package policy

import (
	"fmt"
	"strings"

	"github.com/sense-lang/sense/internal/near"
)

// Warning is a rule that covers no capability of a program.
type Warning struct {
	Rule Rule
	// Hint is the capability or pattern that was probably meant, or empty.
	Hint string
}

// String gives the warning as one line without the rule's place.
func (w Warning) String() string {
	line := fmt.Sprintf("policy rule '%s' matches no capability of this program", w.Rule)
	if w.Hint != "" {
		line += fmt.Sprintf(" — did you mean '%s'?", w.Hint)
	}
	return line
}

// Unused gives the rules that cover none of the known capabilities, with a hint
// where a known one is near; of very many rules only the first get one. A known
// entry "c.*" stands for a connection whose tools are not known: any rule below c
// is then taken to be used.
func Unused(rules []Rule, known []string) []Warning {
	x := newIndex(known)
	var warnings []Warning
	for _, r := range rules {
		if r.Pattern == "" {
			continue
		}
		if pat := compile(r.Pattern); !x.used(&pat) {
			warnings = append(warnings, Warning{Rule: r, Hint: x.hint(pat.text)})
		}
	}
	return warnings
}

// maxCompared bounds how many pairs of names hints compare in all.
const maxCompared = 200_000

// hint gives what was probably meant by a pattern that covers nothing.
func (x *index) hint(text string) string {
	if x.longer.holds(parts(text), x) {
		return text + ".*"
	}
	if x.compared > maxCompared {
		return ""
	}
	x.compared += len(x.names)
	best, distance := "", 0
	for _, k := range x.names {
		limit := min(3, max(1, min(len(text), len(k))/4))
		d := near.Edits(strings.ToLower(text), strings.ToLower(k), limit)
		if d <= limit && (best == "" || d < distance) {
			best, distance = k, d
		}
	}
	return best
}
