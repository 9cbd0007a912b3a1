package eval

import (
	"context"

	"github.com/sense-lang/sense/audit"
)

// Heed is asked before a call that policy allows: once an untrusted capability
// was used, the ceiling may want a person's yes for this one. tool, which may be
// empty, is a tool of a connection or a host below the capability. It takes note
// of what is untrusted itself.
func (p Place) Heed(kind, name, capability, tool string) error {
	in := p.th.in
	c := in.cfg.Ceiling
	if c == nil {
		return nil
	}
	if refusal, asks := c.AsksAfterUntrusted(capability, tool); asks && in.untrusted != "" {
		what := kind + " '" + name + "' needs '" + capability + "' after untrusted '" + in.untrusted + "'"
		if yes, err := p.askPerson(kind, name, what); err != nil {
			return err
		} else if !yes {
			return p.Denied(refusal, name, kind, capability, "capability '"+capability+"' denied by policy after untrusted '"+in.untrusted+"'",
				what+", and nobody said yes: denied by policy")
		}
	}
	if in.untrusted == "" && c.IsUntrusted(capability, tool) {
		in.untrusted = name
	}
	return nil
}

// askPerson asks and notes the answer.
func (p Place) askPerson(kind, name, what string) (bool, error) {
	ask := p.th.in.cfg.AskPerson
	if ask == nil {
		return false, nil
	}
	var got Approval
	p.th.Blocking(func(ctx context.Context) { got = ask(ctx, name, what) })
	if err := p.th.Stopped(); err != nil {
		return false, err
	}
	event := "refused"
	if got.Yes {
		event = "allowed"
	}
	return got.Yes, p.Event(kind, name, event, what, audit.Field{Key: "by", Value: got.By})
}
