package reftest

import (
	"iter"

	"github.com/sense-lang/sense/ast"
)

func (s *scope) setRules(rules []ast.PolicyRule) {
	if s.rules == nil {
		s.rules = map[string]bool{}
	}
	for _, r := range rules {
		s.rules[r.Capability.Name] = r.Allow
	}
}

// ruling gives the nearest scope outward with a rule for a capability.
func (s *scope) ruling(capability string) *scope {
	for ; s != nil; s = s.parent {
		if _, ok := s.rules[capability]; ok {
			return s
		}
	}
	return nil
}

func (s *scope) within(outer *scope) bool {
	for ; s != nil; s = s.parent {
		if s == outer {
			return true
		}
	}
	return false
}

// allowed says whether the place of the running call may use a capability: its
// own scopes decide first; then a deny at the place of any active call holds,
// unless that rule's scope is around this place, which then has a nearer allow.
func (m *machine) allowed(capability string) bool {
	if at := m.where.ruling(capability); at != nil && !at.rules[capability] {
		return false
	}
	for _, place := range m.active {
		at := place.ruling(capability)
		if at != nil && !at.rules[capability] && !m.where.within(at) {
			return false
		}
	}
	return true
}

// require checks the capabilities of a subject; it runs denied before it fails.
func (m *machine) require(caps []ast.Capability, subject, what, name, detail string, denied func()) {
	for _, c := range caps {
		if m.allowed(c.Name) {
			continue
		}
		m.note(subject, "denied", "capability '"+c.Name+"' denied by policy"+detail)
		denied()
		m.fail("policy", "%s '%s' requires capability '%s', which is denied by policy", what, name, c.Name)
	}
}

// tool is a declared tool.
type tool struct {
	decl  *ast.ToolDecl
	scope *scope
}

func (t *tool) call(m *machine, args []argument) value {
	d := t.decl
	line, where := m.line, m.where
	vals := m.arrange(d.Name, d.Params, args)
	m.require(d.Requires, "tool '"+d.Name+"'", "tool", d.Name, "", func() {})
	m.checkTypes(d.Name, d.Params, vals)
	m.note("tool '"+d.Name+"'", "called", "")
	v := m.enter(func() value {
		s := newScope(t.scope)
		s.lineage = "tool:" + d.Name
		m.bind(s, d.Params, vals)
		return m.run(d.Body, s)
	})
	m.line, m.where = line, where
	if d.Result != nil && !fits(d.Result, v) {
		m.fail("type", "'%s' declared to return %s, got %s", d.Name, d.Result, typeName(v))
	}
	return v
}

// actionDecl is a declared action, action a prepared one.
type actionDecl struct {
	decl  *ast.ActionDecl
	scope *scope
}

type action struct {
	of       *actionDecl
	args     []value
	state    string
	approved bool
	body     *scope // of the committed body
}

func (d *actionDecl) kind() string {
	if d.decl.Reversible {
		return "reversible"
	}
	return "irreversible"
}

func (d *actionDecl) subject() string { return d.kind() + " action '" + d.decl.Name + "'" }

func (d *actionDecl) prepare(m *machine, args []argument) value {
	vals := m.arrange(d.decl.Name, d.decl.Params, args)
	m.checkTypes(d.decl.Name, d.decl.Params, vals)
	m.note(d.subject(), "prepared", "")
	return &action{of: d, args: vals, state: "prepared"}
}

func (a *action) member(m *machine, name string) value {
	method := func(run func(m *machine) value) value {
		return &builtin{a.of.decl.Name + "." + name, builtinFunc{0, 0, "", func(m *machine, _ []value) value { return run(m) }}}
	}
	switch name {
	case "name":
		return a.of.decl.Name
	case "kind":
		return a.of.kind()
	case "state":
		return a.state
	case "approved":
		return a.approved
	case "verify":
		return method(a.verify)
	case "approve":
		return method(a.approve)
	case "commit":
		return method(a.commit)
	case "rollback":
		return method(a.undo)
	}
	m.fail("runtime", "action '%s' has no member '%s'", a.of.decl.Name, name)
	return nil
}

func (a *action) require(m *machine, detail, state string) {
	m.require(a.of.decl.Requires, a.of.subject(), "action", a.of.decl.Name, detail, func() { a.state = state })
}

func (a *action) verify(m *machine) value {
	name := a.of.decl.Name
	if a.state != "prepared" {
		m.fail("runtime", "cannot verify action '%s' — its state is '%s', not 'prepared'", name, a.state)
	}
	a.require(m, "", "denied")
	a.state = "verified"
	m.note(a.of.subject(), "verified", "")
	return a
}

func (a *action) approve(m *machine) value {
	if a.state != "prepared" && a.state != "verified" {
		m.fail("runtime", "cannot approve action '%s' — its state is '%s', not 'prepared'/'verified'", a.of.decl.Name, a.state)
	}
	a.approved = true
	return a
}

func (a *action) commit(m *machine) (v value) {
	d := a.of.decl
	if a.state != "verified" {
		m.fail("runtime", "action '%s' must be verified before .commit() (current state: '%s')", d.Name, a.state)
	}
	a.require(m, "", "denied")
	if d.Approval && !a.approved {
		m.note(a.of.subject(), "denied", "requires approval")
		m.fail("approval", "action '%s' requires approval before commit() — call %s.approve() first", d.Name, d.Name)
	}
	line, where := m.line, m.where
	err := m.try(func() {
		v = m.enter(func() value {
			s := newScope(a.of.scope)
			s.lineage = a.of.kind() + ":" + d.Name
			a.body = s
			m.bind(s, d.Params, append([]value(nil), a.args...))
			return m.run(d.Body, s)
		})
	})
	m.line, m.where = line, where
	if err != nil {
		a.state = "failed"
		m.noteAt(0, a.of.subject(), "failed", err.text())
		panic(err)
	}
	a.state = "committed"
	if m.tx != nil {
		m.tx.done = append(m.tx.done, a)
	}
	m.note(a.of.subject(), "committed", "")
	return v
}

func (a *action) undo(m *machine) (v value) {
	d := a.of.decl
	if !d.Reversible {
		m.fail("runtime", "cannot rollback '%s' — only a reversible action can be rolled back", d.Name)
	}
	if a.state != "committed" {
		m.fail("runtime", "cannot rollback action '%s' — its state is '%s', not 'committed'", d.Name, a.state)
	}
	a.require(m, " (rollback)", "committed")
	line, where := m.line, m.where
	err := m.try(func() {
		v = m.enter(func() value {
			s := newScope(a.body)
			s.lineage = "rollback:" + d.Name
			return m.run(d.Rollback, s)
		})
	})
	m.line, m.where = line, where
	if err != nil {
		m.note(a.of.subject(), "failed", "rollback body failed: "+err.text())
		panic(err)
	}
	a.state = "rolled_back"
	m.note(a.of.subject(), "rolled_back", "")
	return v
}

// agent is a declared agent. Its body is a coroutine: pause gives control back
// to start or resume.
type agent struct {
	name    string
	decl    *ast.AgentDecl
	scope   *scope // it was declared in
	body    *scope // of its body, once started
	status  string
	reason  value
	resumed value
	step    func() (struct{}, bool)
	yield   func(struct{}) bool
	base    int // active calls that are not its own
}

func (a *agent) member(m *machine, name string) value {
	switch name {
	case "status":
		return a.status
	case "name":
		return a.name
	case "pause_reason":
		return a.reason
	}
	from := a.scope
	if a.body != nil {
		from = a.body
	}
	if at := from.find(name); at != nil {
		return at.vars[name]
	}
	m.fail("runtime", "agent '%s' has no member '%s'", a.name, name)
	return nil
}

func (m *machine) start(args []value) value {
	a, ok := args[0].(*agent)
	if !ok {
		m.fail("runtime", "start() expects an Agent, got %s", typeName(args[0]))
	}
	if a.status != "created" {
		m.fail("runtime", "agent '%s' has already been started (status: %s) — an agent can only be started once in this version", a.name, a.status)
	}
	var stop func()
	a.step, stop = iter.Pull(func(yield func(struct{}) bool) {
		a.yield = yield
		a.body = newScope(a.scope)
		a.body.lineage, a.body.body = "agent:"+a.name, a
		m.run(a.decl.Body, a.body)
	})
	m.stops = append(m.stops, stop)
	m.advance(a)
	return a
}

// advance runs an agent until it pauses or ends.
func (m *machine) advance(a *agent) {
	a.status = "running"
	line, where, active, agent, tx, depth := m.line, m.where, m.active, m.agent, m.tx, m.depth
	m.active = append(m.active[:len(m.active):len(m.active)], m.where)
	m.agent, m.tx = a, nil
	a.base = len(m.active)
	paused := false
	err := m.try(func() { _, paused = a.step() })
	m.line, m.where, m.active, m.agent, m.tx, m.depth = line, where, active, agent, tx, depth
	switch {
	case err != nil:
		a.status = "failed"
		panic(err)
	case !paused:
		a.status = "completed"
	}
}

func (m *machine) resume(args []value) value {
	a, ok := args[0].(*agent)
	if !ok {
		m.fail("runtime", "resume() expects an Agent, got %s", typeName(args[0]))
	}
	if a.status != "paused" {
		m.fail("runtime", "cannot resume agent '%s' — status is '%s', not 'paused'", a.name, a.status)
	}
	a.resumed = null{}
	if len(args) == 2 {
		a.resumed = args[1]
	}
	m.advance(a)
	return a
}

func (m *machine) pause(args []value) value {
	var a *agent
	for s := m.where; s != nil && a == nil; s = s.parent {
		a = s.body
	}
	if a == nil || a.status != "running" {
		m.fail("runtime", "pause() can only be called inside a running agent's body")
	}
	if a != m.agent {
		panic(discard{}) // it waits in the start or resume of another
	}
	a.reason = null{}
	if len(args) == 1 {
		a.reason = args[0]
	}
	a.status = "paused"
	line, where, depth, tx, calls := m.line, m.where, m.depth, m.tx, m.active[a.base:]
	if !a.yield(struct{}{}) {
		panic(discard{})
	}
	// The calls that are active now are those of whoever resumed it, and its own.
	m.active = append(m.active[:len(m.active):len(m.active)], calls...)
	m.line, m.where, m.depth, m.tx = line, where, depth, tx
	return a.resumed
}
