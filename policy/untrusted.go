package policy

// What a program has read from outside may mislead it, or its model. A ceiling
// may say which capabilities bring such text in, and which need a person's yes
// once one of them was used.

// Untrusted adds patterns of capabilities whose results come from strangers.
func (c *Ceiling) Untrusted(source string, patterns ...string) error {
	bounds, err := bind(source, true, patterns)
	c.untrusted = append(c.untrusted, bounds...)
	return err
}

// AskAfterUntrusted adds patterns of capabilities that a person is asked for
// once an untrusted one was used.
func (c *Ceiling) AskAfterUntrusted(source string, patterns ...string) error {
	bounds, err := bind(source, false, patterns)
	c.asks = append(c.asks, bounds...)
	return err
}

// IsUntrusted reports whether the results of a capability come from strangers.
// tool, which may be empty, is a tool of a connection or a host below it. A nil
// Ceiling trusts all.
func (c *Ceiling) IsUntrusted(capability, tool string) bool {
	return c != nil && concerns(c.untrusted, capability, tool) != nil
}

// AsksAfterUntrusted gives the decision that stands where nobody says yes to a
// capability after an untrusted one; ok is false where nobody has to be asked.
func (c *Ceiling) AsksAfterUntrusted(capability, tool string) (refusal Decision, ok bool) {
	if c == nil {
		return Decision{}, false
	}
	b := concerns(c.asks, capability, tool)
	if b == nil {
		return Decision{}, false
	}
	return Decision{Source: "'" + b.pat.text + "' of " + b.source}, true
}

// concerns gives a pattern that covers a capability, what stands below its name,
// or the tool.
func concerns(list []bound, capability, tool string) *bound {
	full := capability
	if tool != "" {
		full = Join(capability, tool)
	}
	for i := range list {
		p := &list[i].pat
		if p.matches(capability) || p.matches(full) || p.parentOf(full) {
			return &list[i]
		}
	}
	return nil
}
