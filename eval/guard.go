package eval

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/policy"
)

// policyBox is the rules of one scope of the running program, kept among its
// names.
type policyBox struct {
	hdr
	scope policy.Scope
}

// Place is where a call is written, while it runs.
type Place struct {
	th   *Thread
	info *scopeInfo
	fr   fp
	pos  diag.Pos
}

// Place gives the place of the running builtin's call, looking through builtins
// that call others: for a tool that a model asked for it is the place of
// ask_with_tools.
func (th *Thread) Place() Place {
	w := th.walk(th.native)
	s, ok := w.up()
	if !ok {
		return Place{th: th}
	}
	return Place{th, s.info, w.fr, *s.pos}
}

// Pos gives the position of the call.
func (p Place) Pos() diag.Pos { return p.pos }

// File gives the file of the call.
func (p Place) File() string {
	if p.info == nil {
		return ""
	}
	return p.info.file
}

// Log gives the audit of the run.
func (p Place) Log() *audit.Log { return p.th.in.cfg.Audit }

// Lineage gives the agents, tools and actions around the call, outermost first.
func (p Place) Lineage() []string {
	if p.info == nil {
		return nil
	}
	return p.info.lineage
}

// chain gives the scopes with rules around a place.
func chain(th *Thread, info *scopeInfo, fr fp) policy.Chain {
	var out policy.Chain
	for _, l := range info.policies {
		if v := l.get(fr, spillSlot); v.p != nil {
			out = append(out, &toPolicy(v).scope)
		}
	}
	return out
}

// callers gives the chains around the places of the active calls, nearest
// first, those of a thread's starter last.
func (p Place) callers() []policy.Chain {
	var out []policy.Chain
	if p.fr != nil {
		w := p.th.walk(p.fr)
		w.seg = p.th.segmentOf(p.fr)
		for {
			s, ok := w.up()
			if !ok {
				break
			}
			if c := chain(p.th, s.info, w.fr); len(c) > 0 {
				out = append(out, c)
			}
		}
	}
	return append(out, p.th.callers...)
}

// segmentOf gives the index of the segment that holds fr.
func (th *Thread) segmentOf(fr fp) int {
	for i := len(th.segs) - 1; i > 0; i-- {
		if a := addr(fr); a >= addr(first(th.segs[i].vals)) && a <= lastFrame(th.segs[i].vals) {
			return i
		}
	}
	return 0
}

// Decide says whether a capability may be used at a place.
func (p Place) Decide(capability string) policy.Decision {
	in := p.th.in
	if !in.policed && in.cfg.Ceiling == nil {
		return policy.Decision{Allowed: true}
	}
	return policy.Decide(in.cfg.Ceiling, capability, p.chain(), p.callers())
}

// Permitted reports whether a rule allows a capability at a place; that none
// denies it is not enough.
func (p Place) Permitted(capability string) bool {
	d := policy.Decide(p.th.in.cfg.Ceiling, capability, p.chain(), p.callers())
	return d.Allowed && (d.Rule != nil || d.Source != "")
}

// DecideTool is Decide for a tool of a connection, which rules may name too.
func (p Place) DecideTool(capability, tool string) policy.Decision {
	in := p.th.in
	if !in.policed && in.cfg.Ceiling == nil {
		return policy.Decision{Allowed: true}
	}
	return policy.DecideTool(in.cfg.Ceiling, capability, tool, p.chain(), p.callers())
}

// DeniedOf gives the capability that a denial by DecideTool is of: the tool's own,
// as a rule would write it, where that of the connection is not denied.
func (p Place) DeniedOf(capability, tool string) string {
	if p.Decide(capability).Allowed {
		return policy.Spell(policy.Join(capability, tool))
	}
	return capability
}

// DecidePart is Decide for a part of a whole, such as a module of Python: a
// rule for the whole counts wherever none names the part.
func (p Place) DecidePart(whole, part string) policy.Decision {
	in := p.th.in
	if !in.policed && in.cfg.Ceiling == nil {
		return policy.Decision{Allowed: true}
	}
	return policy.DecidePart(in.cfg.Ceiling, whole, part, p.chain(), p.callers())
}

func (p Place) chain() policy.Chain {
	if p.info == nil {
		return p.th.rules
	}
	return chain(p.th, p.info, p.fr)
}

// Delegation gives the value of the nearest `set delegation` outward from a
// place.
func (p Place) Delegation() (Value, bool) {
	return p.hidden(func(i *scopeInfo) []loc { return i.models })
}

// Budgets gives the values of every `set budget` in force at a place: those of
// the scopes around it and of the scopes around the active calls.
func (p Place) Budgets() []Value {
	var out []Value
	if p.info == nil {
		return p.th.budgets
	}
	out = appendBudgets(out, p.info, p.fr)
	w := p.th.walk(p.fr)
	w.seg = p.th.segmentOf(p.fr)
	for s, ok := w.up(); ok; s, ok = w.up() {
		out = appendBudgets(out, s.info, w.fr)
	}
	for _, b := range p.th.budgets {
		out = appendNew(out, b)
	}
	return out
}

func appendBudgets(out []Value, info *scopeInfo, fr fp) []Value {
	for _, l := range info.budgets {
		if v := l.get(fr, maxSlots+1); v.p != nil {
			out = appendNew(out, v)
		}
	}
	return out
}

func appendNew(out []Value, v Value) []Value {
	for _, o := range out {
		if same(o, v) {
			return out
		}
	}
	return append(out, v)
}

func (p Place) hidden(which func(*scopeInfo) []loc) (Value, bool) {
	if p.info == nil {
		return Value{}, false
	}
	for _, l := range which(p.info) {
		if v := l.get(p.fr, spillSlot); v.p != nil {
			return v, true
		}
	}
	return Value{}, false
}

// Note makes an audit entry of this place.
func (p Place) Note(name, kind, event, detail string) error {
	e := audit.Entry{Name: name, Kind: kind, Event: event, Detail: detail, File: p.File(), Pos: p.pos, Lineage: p.Lineage()}
	if p.th.in.full() {
		e.Calls, e.Fields = p.calls(), p.origin(nil)
	}
	return p.th.in.cfg.Audit.Add(e)
}

// Denied notes a denial and gives the error of it.
func (p Place) Denied(d policy.Decision, name, kind, capability, detail, message string) error {
	if err := p.Note(name, kind, "denied", detail); err != nil {
		return err
	}
	e := diag.New(diag.Policy, "%s", message)
	if n := d.Note(); n != "" {
		e.Notes = []string{n}
	}
	return e
}

// Require checks a capability for a tool, an action or another subject; kind is
// its kind in the audit, what its name in the message.
func (p Place) Require(what, name, kind, capability, detail string) error {
	d := p.Decide(capability)
	if d.Allowed {
		return nil
	}
	return p.Denied(d, name, kind, capability, "capability '"+capability+"' denied by policy"+detail,
		what+" '"+name+"' requires capability '"+capability+"', which is denied by policy")
}

// policyStmt compiles `policy:` rules, which are set in the innermost scope.
func (c *compiler) policyStmt(s *ast.PolicyStmt) stmt {
	b := c.home().names[hiddenPolicy]
	l, at := c.locOf(b), uint8(c.fn.spill)
	file := c.file
	return func(fr fp) (ctl, Value) {
		v := l.get(fr, at)
		if v.p == nil {
			v = mkPolicy(&policyBox{hdr: hdr{kPolicy}})
			l.set(fr, at, v)
		}
		in := threadOf(fr).in
		p := &toPolicy(v).scope
		if in.full() {
			notePolicy(fr, s)
		}
		for _, r := range s.Rules {
			in.policed = in.policed || !r.Allow
			p.Set(policy.Rule{Allow: r.Allow, Pattern: r.Capability.Name, File: file, Pos: r.P})
		}
		if s.Default != "" {
			in.policed = true
			p.SetDefaultDeny(file, s.P)
		}
		return ctlNext, Value{}
	}
}

// notePolicy notes a change of policy.
func notePolicy(fr fp, s *ast.PolicyStmt) {
	th := threadOf(fr)
	at := Place{th: th, fr: fr, pos: s.P}
	for _, r := range s.Rules {
		event := "deny"
		if r.Allow {
			event = "allow"
		}
		if err := at.Event("policy", r.Capability.Name, event, ""); err != nil {
			fail(fr, &s.P, err)
		}
	}
	if s.Default != "" {
		if err := at.Event("policy", "default", s.Default, ""); err != nil {
			fail(fr, &s.P, err)
		}
	}
}

// setStmt compiles `set name = value`.
func (c *compiler) setStmt(s *ast.SetStmt) stmt {
	v := c.expr(s.Value)
	if s.Name != "delegation" && s.Name != "budget" {
		return func(fr fp) (ctl, Value) {
			v(fr)
			failf(fr, &s.P, diag.Runtime, "unknown 'set' target '%s' (only 'delegation' is supported so far)", s.Name)
			return ctlNext, Value{}
		}
	}
	b := c.home().names[setName(s.Name)]
	l, at := c.locOf(b), uint8(c.fn.spill)
	return func(fr fp) (ctl, Value) {
		x := v(fr)
		if s.Name == "delegation" && typeName(x) != "Model" {
			failf(fr, &s.P, diag.Type, "'set delegation' requires a Model value, got %s", typeName(x))
		}
		if s.Name == "budget" {
			x = newBudget(fr, x, &s.P)
		}
		l.set(fr, at, x)
		return ctlNext, Value{}
	}
}

// newBudget makes what keeps account of a budget from here on.
func newBudget(fr fp, v Value, at *diag.Pos) Value {
	f := threadOf(fr).in.cfg.NewBudget
	if f == nil {
		failf(fr, at, diag.Runtime, "this program runs without budgets")
	}
	b, err := f(v)
	if err != nil {
		fail(fr, at, err)
	}
	return b
}

// Named is an Object that a declaration gives its name, as model does.
type Named interface{ SetName(name string) }

func (c *compiler) modelDecl(s *ast.ModelDecl) stmt {
	v := c.expr(s.Value)
	st := c.declare(s.Name).store()
	return func(fr fp) (ctl, Value) {
		x := v(fr)
		if typeName(x) != "Model" {
			failf(fr, &s.P, diag.Type, "'model %s' expects a Model, got %s", s.Name, typeName(x))
		}
		if n, ok := toBox(x).o.(Named); ok {
			n.SetName(s.Name)
		}
		st(fr, x)
		return ctlNext, Value{}
	}
}
