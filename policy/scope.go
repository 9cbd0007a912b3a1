package policy

import (
	"fmt"

	"github.com/sense-lang/sense/diag"
)

// Rule allows or denies the capabilities that a pattern covers.
type Rule struct {
	Allow bool
	// Pattern is a capability or a pattern as written; see [Normal] for what is
	// possible. It is empty for the default of a scope.
	Pattern string
	// File and Pos say where the rule stands; both are zero for a rule that
	// comes from a flag or a configuration file.
	File string
	Pos  diag.Pos
}

// String gives the rule as it is written in a program.
func (r Rule) String() string {
	switch {
	case r.Pattern == "":
		return "default deny"
	case r.Allow:
		return "allow " + r.Pattern
	}
	return "deny " + r.Pattern
}

// place gives "file:line", with as much of it as is known.
func (r Rule) place() string {
	switch {
	case !r.Pos.IsValid():
		return r.File
	case r.File == "":
		return fmt.Sprintf("line %d", r.Pos.Line)
	}
	return fmt.Sprintf("%s:%d", r.File, r.Pos.Line)
}

// Scope holds the rules that one scope of the running program has set; a later
// rule for the same pattern replaces the earlier one. The zero Scope is ready
// for use. A Scope is not safe for concurrent use: the evaluator runs one
// statement at a time.
type Scope struct {
	rules []entry
	// byText finds a rule by its pattern; built when there are many.
	byText map[string]int
	// wild counts the rules with a wildcard.
	wild     int
	fallback *Rule
	strict   bool
}

// entry is a rule with its pattern taken apart. The Rule is never written
// again, so that a Decision can point to it.
type entry struct {
	rule *Rule
	pat  pattern
}

// manyRules is the number of rules from which a map finds exact names faster
// than a look at each of them.
const manyRules = 12

// Set adds a rule.
func (s *Scope) Set(r Rule) {
	e := entry{rule: &r, pat: compile(r.Pattern)}
	if i := s.index(e.pat.text); i >= 0 {
		s.rules[i] = e
		return
	}
	s.rules = append(s.rules, e)
	if e.pat.segs != nil {
		s.wild++
	}
	switch {
	case s.byText != nil:
		s.byText[e.pat.text] = len(s.rules) - 1
	case len(s.rules) == manyRules:
		s.byText = make(map[string]int, 2*manyRules)
		for i := range s.rules {
			s.byText[s.rules[i].pat.text] = i
		}
	}
}

// SetDefaultDeny makes deny what the scope says about every capability that no
// rule of it covers.
func (s *Scope) SetDefaultDeny(file string, pos diag.Pos) {
	s.fallback = &Rule{File: file, Pos: pos}
	s.strict = false
}

// SetStrict is SetDefaultDeny for the outermost scope of a program that runs
// with --strict, which is then named as what decided.
func (s *Scope) SetStrict() {
	if s.fallback == nil {
		s.fallback = &Rule{}
		s.strict = true
	}
}

// Empty reports whether the scope says nothing and can be left out of a Chain.
func (s *Scope) Empty() bool { return len(s.rules) == 0 && s.fallback == nil }

// Rules gives the rules in the order in which their patterns were first set,
// the default last.
func (s *Scope) Rules() []Rule {
	rules := make([]Rule, 0, len(s.rules)+1)
	for i := range s.rules {
		rules = append(rules, *s.rules[i].rule)
	}
	if s.fallback != nil {
		rules = append(rules, *s.fallback)
	}
	return rules
}

// Find gives the rule of this scope that decides about a capability: exact
// beats wildcard, longer beats shorter, deny beats allow; then the default.
func (s *Scope) Find(capability string) (Rule, bool) {
	if r := s.find(capability, query{}); r != nil {
		return *r, true
	}
	return Rule{}, false
}

// query says which rules of a scope count.
type query struct {
	// above is zero, or the number of segments of a connection's capability:
	// then only rules with more segments count, those that speak of its tools.
	above int
	// parents makes a deny cover what stands below its name, in strict mode.
	parents bool
	// as is empty, or the name of a whole: what a rule says about just that name
	// it says about the capability too.
	as string
}

// index gives the place of the rule with just this pattern, -1 if there is none.
func (s *Scope) index(text string) int {
	if s.byText != nil {
		if i, ok := s.byText[text]; ok {
			return i
		}
		return -1
	}
	for i := range s.rules {
		if s.rules[i].pat.text == text {
			return i
		}
	}
	return -1
}

// find gives the deciding rule or nil.
func (s *Scope) find(capability string, q query) *Rule {
	if i := s.index(capability); i >= 0 && s.rules[i].pat.segs == nil {
		return s.rules[i].rule
	}
	if s.wild > 0 || q.parents || q.as != "" {
		if r := s.findWild(capability, q); r != nil {
			return r
		}
	}
	if q.above > 0 {
		return nil
	}
	return s.fallback
}

// findWild gives the best rule that covers a capability it does not name.
func (s *Scope) findWild(capability string, q query) *Rule {
	var best *Rule
	bestLen := 0
	for i := range s.rules {
		e := &s.rules[i]
		length := e.pat.length
		switch {
		case q.above > 0 && e.pat.size() <= q.above:
			continue
		case e.pat.segs != nil && e.pat.matches(capability):
		case q.parents && !e.rule.Allow && e.pat.parentOf(capability):
			// As if "name.*" stood there, but a rule that does stand there goes first.
			length++
		case q.as != "" && e.pat.segs == nil && e.pat.text == q.as:
		default:
			continue
		}
		if best == nil || length > bestLen || length == bestLen && best.Allow && !e.rule.Allow {
			best, bestLen = e.rule, length
		}
	}
	return best
}
