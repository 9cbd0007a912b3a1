package policy

import "fmt"

// Ceiling is what flags and configuration permit at most; no rule of a program
// can lift it. The zero Ceiling forbids nothing. Denies beat allows. As soon as
// anything is allowed by name, only that is possible. A denied name takes
// everything below it along: denying "email" denies "email.send".
type Ceiling struct {
	denies []bound
	// allows are lists of which each that is not empty must cover a capability;
	// the first is the user's own.
	allows [][]bound
	strict bool
	// untrusted and asks are for [Ceiling.AskAfterUntrusted].
	untrusted, asks []bound
}

// bound is one pattern of a ceiling and where it came from.
type bound struct {
	entry
	source string
}

// Allow adds patterns to what the user permits, from source such as "--allow".
// It says which pattern is malformed.
func (c *Ceiling) Allow(source string, patterns ...string) error {
	if len(c.allows) == 0 {
		c.allows = [][]bound{nil}
	}
	bounds, err := bind(source, true, patterns)
	c.allows[0] = append(c.allows[0], bounds...)
	return err
}

// Restrict adds a list of its own that must cover a capability as well: what a
// project's file allows can only narrow what the user permits. An empty list
// changes nothing.
func (c *Ceiling) Restrict(source string, patterns ...string) error {
	if len(c.allows) == 0 {
		c.allows = [][]bound{nil}
	}
	bounds, err := bind(source, true, patterns)
	c.allows = append(c.allows, bounds)
	return err
}

// Deny adds patterns that are denied whatever else is said.
func (c *Ceiling) Deny(source string, patterns ...string) error {
	bounds, err := bind(source, false, patterns)
	c.denies = append(c.denies, bounds...)
	return err
}

// SetStrict makes deny the answer where no rule says anything, and lets a deny
// of the program cover what stands below its name. It is no ceiling: the
// program may allow itself.
func (c *Ceiling) SetStrict() { c.strict = true }

// Strict reports whether strict mode is on; a nil Ceiling is not strict.
func (c *Ceiling) Strict() bool { return c.isStrict() }

// Rules gives all patterns as rules whose File is their source.
func (c *Ceiling) Rules() []Rule {
	var rules []Rule
	if c == nil {
		return rules
	}
	for _, list := range append([][]bound{c.denies}, c.allows...) {
		for i := range list {
			r := *list[i].rule
			r.File = list[i].source
			rules = append(rules, r)
		}
	}
	return rules
}

func (c *Ceiling) isStrict() bool { return c != nil && c.strict }

// bind compiles patterns up to the first malformed one.
func bind(source string, allow bool, patterns []string) ([]bound, error) {
	var bounds []bound
	for _, p := range patterns {
		normal, err := Normal(p)
		if err != nil {
			return bounds, fmt.Errorf("%s: %w", source, err)
		}
		e := entry{rule: &Rule{Allow: allow, Pattern: normal}, pat: compile(normal)}
		bounds = append(bounds, bound{entry: e, source: source})
	}
	return bounds, nil
}

// check says whether the ceiling permits a capability.
func (c *Ceiling) check(capability string) Decision {
	for i := range c.denies {
		b := &c.denies[i]
		if b.pat.matches(capability) || b.pat.parentOf(capability) {
			return Decision{Rule: b.rule, Source: b.source}
		}
	}
	for _, list := range c.allows {
		if len(list) > 0 && !covered(list, capability) {
			return Decision{Source: list[0].source}
		}
	}
	return Decision{Allowed: true}
}

// checkTool says whether the ceiling permits full, a tool of a connection whose
// capability has n segments and is itself permitted. An allow that names tools
// of the connection leaves only those that some allow covers.
func (c *Ceiling) checkTool(capability string, n int, full string) Decision {
	for i := range c.denies {
		if b := &c.denies[i]; b.pat.matches(full) {
			return Decision{Rule: b.rule, Source: b.source}
		}
	}
	for _, list := range c.allows {
		for i := range list {
			if list[i].pat.below(capability, n) && !covered(list, full) {
				return Decision{Source: list[i].source}
			}
		}
	}
	return Decision{Allowed: true}
}

// covered reports whether a pattern of the list covers a capability.
func covered(list []bound, capability string) bool {
	for i := range list {
		if list[i].pat.matches(capability) {
			return true
		}
	}
	return false
}
