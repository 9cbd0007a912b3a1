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
// where a known one is near. A known entry "c.*" stands for a connection whose
// tools are not known: any rule below c is then taken to be used.
func Unused(rules []Rule, known []string) []Warning {
	var warnings []Warning
	for _, r := range rules {
		if r.Pattern == "" {
			continue
		}
		if pat := compile(r.Pattern); !used(&pat, known) {
			warnings = append(warnings, Warning{Rule: r, Hint: hint(pat.text, known)})
		}
	}
	return warnings
}

// used reports whether a pattern covers a known capability.
func used(pat *pattern, known []string) bool {
	for _, k := range known {
		if base, open := strings.CutSuffix(k, ".*"); open {
			if pat.matches(base) || pat.below(base, segments(base)) {
				return true
			}
		}
		if pat.matches(k) {
			return true
		}
	}
	return false
}

// hint gives what was probably meant by a pattern that covers nothing.
func hint(text string, known []string) string {
	best, distance := "", 0
	for _, k := range known {
		if strings.HasPrefix(k, text+".") {
			return text + ".*"
		}
		limit := min(3, max(1, min(len(text), len(k))/4))
		d := near.Edits(strings.ToLower(text), strings.ToLower(k), limit)
		if d <= limit && (best == "" || d < distance) {
			best, distance = k, d
		}
	}
	return best
}
