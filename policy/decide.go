package policy

// Chain is the scopes around a place, innermost first; scopes without rules
// are left out.
type Chain []*Scope

// Decision is the answer to whether a capability may be used.
type Decision struct {
	Allowed bool
	// Rule is the rule that decided, nil where none did.
	Rule *Rule
	// Source names where the rule came from: "script", "--deny", "--allow",
	// "sense.toml", "--strict"; empty where nothing decided.
	Source string
}

// Note says which rule decided, as a line to stand below an error; empty where
// nothing did.
func (d Decision) Note() string {
	switch {
	case d.Rule == nil && d.Source == "":
		return ""
	case d.Rule == nil:
		return "decided by " + d.Source
	case d.Source != Script:
		return "decided by '" + d.Rule.String() + "' of " + d.Source
	case d.Rule.place() == "":
		return "decided by '" + d.Rule.String() + "'"
	}
	return "decided by '" + d.Rule.String() + "' at " + d.Rule.place()
}

// The sources of a decision that are not named by a [Ceiling]'s caller.
const (
	Script = "script"
	Strict = "--strict"
)

// Decide says whether a capability, in its normal spelling, may be used at a
// place. callers are the chains around the places of the active calls, nearest
// first. A nil Ceiling forbids nothing.
func Decide(c *Ceiling, capability string, place Chain, callers []Chain) Decision {
	if c == nil && len(place) == 0 && len(callers) == 0 {
		return Decision{Allowed: true}
	}
	if c != nil {
		if d := c.check(capability); !d.Allowed {
			return d
		}
	}
	q := query{parents: c.isStrict()}
	if d := walk(capability, q, place, callers); d.Rule != nil {
		return d
	}
	if c.isStrict() {
		return Decision{Source: Strict}
	}
	return Decision{Allowed: true}
}

// DecideTool says whether one tool of a connection may be called. Besides the
// connection's capability it checks "capability.tool" against the rules that
// speak of the connection's tools; both must pass. Rules that cover the
// connection as a whole, and defaults, are spent on the first check. It serves
// as well for a module below "python" and for a host below "net.http".
func DecideTool(c *Ceiling, capability, tool string, place Chain, callers []Chain) Decision {
	d := Decide(c, capability, place, callers)
	if !d.Allowed || c == nil && len(place) == 0 && len(callers) == 0 {
		return d
	}
	full := Join(capability, tool)
	n := segments(capability)
	if c != nil {
		if d := c.checkTool(capability, n, full); !d.Allowed {
			return d
		}
	}
	if t := walk(full, query{above: n}, place, callers); t.Rule != nil {
		return t
	}
	return d
}

// DecidePart says whether part, a capability below whole such as a module below
// "python", may be used. A rule for the whole counts as one for the part,
// wherever none names the part itself; of a ceiling's allows either is enough.
func DecidePart(c *Ceiling, whole, part string, place Chain, callers []Chain) Decision {
	if c == nil && len(place) == 0 && len(callers) == 0 {
		return Decision{Allowed: true}
	}
	if c != nil {
		d := c.check(part)
		if !d.Allowed && d.Rule == nil {
			d = c.check(whole)
		}
		if !d.Allowed {
			return d
		}
	}
	if d := walk(part, query{parents: c.isStrict(), as: whole}, place, callers); d.Rule != nil {
		return d
	}
	if c.isStrict() {
		return Decision{Source: Strict}
	}
	return Decision{Allowed: true}
}

// walk asks the place and then every caller. Its Decision has no Rule where no
// scope says anything.
func walk(capability string, q query, place Chain, callers []Chain) Decision {
	result, _ := nearest(capability, q, place)
	if result.Rule != nil && !result.Allowed {
		return result
	}
	var last Chain
	for _, caller := range callers {
		if len(caller) == 0 || same(caller, last) {
			continue
		}
		last = caller
		d, scope := nearest(capability, q, caller)
		switch {
		case d.Rule == nil:
		case !d.Allowed && !place.holds(scope):
			return d
		case d.Allowed && result.Rule == nil:
			result = d
		}
	}
	return result
}

// nearest gives what the innermost scope of a chain with a rule says, and that
// scope.
func nearest(capability string, q query, chain Chain) (Decision, *Scope) {
	for _, s := range chain {
		r := s.find(capability, q)
		if r == nil {
			continue
		}
		source := Script
		if s.strict && r == s.fallback {
			source = Strict
		}
		return Decision{Allowed: r.Allow, Rule: r, Source: source}, s
	}
	return Decision{}, nil
}

// holds reports whether a scope is one of the chain's. Where the place allows,
// a denying scope among its own stands further out and was lifted there.
func (c Chain) holds(scope *Scope) bool {
	for _, s := range c {
		if s == scope {
			return true
		}
	}
	return false
}

// same reports whether two chains share their storage, as those of recursive
// calls do.
func same(a, b Chain) bool {
	return len(a) == len(b) && &a[0] == &b[0]
}
