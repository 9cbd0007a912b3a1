package eval

import (
	"time"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/diag"
)

// ActionDecl is a declared action; calling it prepares an Action.
type ActionDecl struct {
	fn       *Func
	decl     *ast.ActionDecl
	requires []string
}

// TypeName gives "Action".
func (d *ActionDecl) TypeName() string { return "Action" }

// String gives <reversible action name>.
func (d *ActionDecl) String() string { return "<" + d.kind() + " action " + d.decl.Name + ">" }

// Name gives the action's name.
func (d *ActionDecl) Name() string { return d.decl.Name }

// Params gives the parameters as declared.
func (d *ActionDecl) Params() []*ast.Param { return d.decl.Params }

// Requires gives the capabilities that its steps need.
func (d *ActionDecl) Requires() []string { return d.requires }

// NeedsApproval reports whether commit needs an approval.
func (d *ActionDecl) NeedsApproval() bool { return d.decl.Approval }

// Reversible reports whether it can be rolled back.
func (d *ActionDecl) Reversible() bool { return d.decl.Reversible }

func (d *ActionDecl) kind() string {
	if d.decl.Reversible {
		return "reversible"
	}
	return "irreversible"
}

// CallWith checks the arguments and prepares the action; nothing runs.
func (d *ActionDecl) CallWith(c *Call) (Value, error) {
	if len(c.Labels) > 0 && !labelsEverywhere {
		return Value{}, noLabels(Obj(d))
	}
	p := d.fn.proto
	args, err := p.arrange(c.Args, c.Labels)
	if err != nil {
		return Value{}, err
	}
	args = c.Thread.filled(d.fn, args) // an approval is for these, whatever happens meanwhile
	if err := p.checkValues(args); err != nil {
		return Value{}, err
	}
	a := &Action{decl: d, args: args, state: "prepared"}
	if err := a.note(c.Thread.Place(), "prepared", ""); err != nil {
		return Value{}, err
	}
	return Obj(a), nil
}

func (c *compiler) actionDecl(s *ast.ActionDecl) stmt {
	t := c.declare(s.Name)
	kind := "irreversible"
	if s.Reversible {
		kind = "reversible"
	}
	f := function{name: s.Name, params: s.Params, body: s.Body, doc: s.Body.Doc, lineage: kind + ":" + s.Name, unchecked: true}
	if s.Rollback != nil {
		f.prepare = func(*scope) func(fr fp) { return c.rollback(s) }
	}
	p := c.function(f)
	p.pos, p.decl = s.P, s
	st, mk, requires := t.store(), c.closure(p), capabilityNames(s.Requires)
	file := c.file
	return func(fr fp) (ctl, Value) {
		v := Obj(&ActionDecl{mk(fr), s, requires})
		st(fr, v)
		threadOf(fr).in.declared("action", s.Name, v, file, s.P, s.Body.Doc)
		return ctlNext, Value{}
	}
}

// rollback compiles a rollback body inside the body it undoes, whose names it
// sees. It is compiled first, since it may run when the body left early.
func (c *compiler) rollback(s *ast.ActionDecl) func(fr fp) {
	p := c.function(function{name: s.Name, body: s.Rollback, lineage: "rollback:" + s.Name})
	mk := c.closure(p)
	return func(fr fp) {
		if th := threadOf(fr); th.committing != nil {
			th.committing.rollback = mk(fr)
			th.committing = nil
		}
	}
}

// Action is a prepared action on its way.
type Action struct {
	decl     *ActionDecl
	args     []Value
	state    string
	approved bool
	digest   string    // of the arguments, when they were approved
	until    time.Time // when the approval ends; zero for never
	busy     bool      // it is being committed or rolled back
	rollback *Func     // undoes the committed body
}

// TypeName gives "Action".
func (a *Action) TypeName() string { return "Action" }

// String gives <action name (kind) state=s>.
func (a *Action) String() string {
	return "<action " + a.name() + " (" + a.decl.kind() + ") state=" + a.state + ">"
}

// OwnerName stands before a method's name in messages.
func (a *Action) OwnerName() string { return a.name() }

// State gives the state the action is in.
func (a *Action) State() string { return a.state }

// Decl gives the declaration it was prepared from.
func (a *Action) Decl() *ActionDecl { return a.decl }

// Args gives the arguments it was prepared with.
func (a *Action) Args() []Value { return a.args }

func (a *Action) name() string { return a.decl.decl.Name }

func (a *Action) note(at Place, event, detail string) error {
	return at.Note(a.name(), a.decl.kind(), event, detail)
}

// noteFailure notes that the body failed. The detail says in which line, so the
// entry itself names none.
func (a *Action) noteFailure(at Place, err error) error {
	return at.th.in.cfg.Audit.Add(audit.Entry{Name: a.name(), Kind: a.decl.kind(), Event: "failed", Detail: err.Error(),
		File: at.File(), Pos: at.pos, Lineage: at.Lineage(), Unplaced: true})
}

// Method finds verify, approve, commit and rollback.
func (a *Action) Method(name string) *Method {
	switch name {
	case "verify":
		return &verifyMethod
	case "approve":
		return &approveMethod
	case "commit":
		return &commitMethod
	case "rollback":
		return &rollbackMethod
	case "describe":
		return &describeMethod
	}
	return nil
}

var (
	verifyMethod   = Method{Name: "verify", Fn: func(c *Call, o Object) (Value, error) { return o.(*Action).verify(c.Thread) }}
	approveMethod  = Method{Name: "approve", Labels: true, Fn: func(c *Call, o Object) (Value, error) { return o.(*Action).approve(c) }}
	commitMethod   = Method{Name: "commit", Fn: func(c *Call, o Object) (Value, error) { return o.(*Action).commit(c.Thread) }}
	rollbackMethod = Method{Name: "rollback", Fn: func(c *Call, o Object) (Value, error) { return o.(*Action).undo(c.Thread) }}
)

// Attr gives the members that are values.
func (a *Action) Attr(t *Thread, name string) (Value, error) {
	switch name {
	case "name":
		return newStr(a.name()), nil
	case "kind":
		return newStr(a.decl.kind()), nil
	case "state":
		return newStr(a.state), nil
	case "approved":
		return mkBool(a.approved), nil
	case "args":
		return a.argsMap(), nil
	}
	return Value{}, diag.New(diag.Runtime, "action '%s' has no member '%s'", a.name(), name)
}

// require checks the capabilities of a step; a denial leads to the state given.
func (a *Action) require(at Place, detail, denied string) error {
	for _, capability := range a.decl.requires {
		if err := at.Require("action", a.name(), a.decl.kind(), capability, detail); err != nil {
			a.state = denied
			return err
		}
	}
	return nil
}

func (a *Action) verify(th *Thread) (Value, error) {
	if a.state != "prepared" {
		return Value{}, diag.New(diag.Runtime, "cannot verify action '%s' — its state is '%s', not 'prepared'", a.name(), a.state)
	}
	at := th.Place()
	if err := a.require(at, "", "denied"); err != nil {
		return Value{}, err
	}
	a.state = "verified"
	return Obj(a), a.note(at, "verified", "")
}

func (a *Action) commit(th *Thread) (Value, error) {
	if a.state != "verified" {
		return Value{}, diag.New(diag.Runtime, "action '%s' must be verified before .commit() (current state: '%s')", a.name(), a.state)
	}
	if err := a.begin(); err != nil {
		return Value{}, err
	}
	defer a.end()
	at := th.Place()
	if err := a.mayCommit(at); err != nil {
		return Value{}, err
	}
	if f := th.in.cfg.OnCommit; f != nil {
		if err := f(a); err != nil {
			return Value{}, err
		}
	}
	if th.in.cfg.DryRun {
		a.state = "committed"
		return mkNil(), a.note(at, "committed", "dry run — body not executed")
	}
	return a.runBody(th, at)
}

// begin keeps every other thread, and the bodies themselves, from a second
// commit or rollback: a person who is asked, and a body that waits, let others
// run. end lets go of it.
func (a *Action) begin() error {
	if !a.busy {
		a.busy = true
		return nil
	}
	doing := "committed"
	if a.state == "committed" {
		doing = "rolled back"
	}
	return diag.New(diag.Runtime, "action '%s' is being %s already", a.name(), doing)
}

func (a *Action) end() { a.busy = false }

// mayCommit checks policy, what was untrusted and the approval.
func (a *Action) mayCommit(at Place) error {
	if err := a.require(at, "", "denied"); err != nil {
		return err
	}
	for _, capability := range a.decl.requires {
		if err := at.Heed(a.decl.kind(), a.name(), capability, ""); err != nil {
			return err
		}
	}
	return a.approvalHolds(at)
}

// runBody runs the body; what it is about to do is on the disk first.
func (a *Action) runBody(th *Thread, at Place) (Value, error) {
	if err := at.Intent(a.decl.kind(), a.name(), "committing", "", a.digestField(th)...); err != nil {
		return Value{}, err
	}
	v, err := th.attempt(func() Value {
		th.committing = a
		return th.runInner(a.decl.fn, a.args)
	})
	th.committing = nil
	if err != nil {
		a.state = "failed"
		if nerr := a.noteFailure(at, err); nerr != nil {
			return Value{}, nerr
		}
		return Value{}, err
	}
	a.state = "committed"
	if th.tx != nil {
		th.tx.done = append(th.tx.done, a)
	}
	return v, a.note(at, "committed", "")
}

// digestField gives the arguments' digest where somebody keeps it.
func (a *Action) digestField(th *Thread) []audit.Field {
	if !th.in.full() {
		return nil
	}
	return []audit.Field{{Key: "digest", Value: th.in.Digest(a.args)}}
}

func (a *Action) undo(th *Thread) (Value, error) {
	if !a.decl.decl.Reversible {
		return Value{}, diag.New(diag.Runtime, "cannot rollback '%s' — only a reversible action can be rolled back", a.name())
	}
	if a.state != "committed" {
		return Value{}, diag.New(diag.Runtime, "cannot rollback action '%s' — its state is '%s', not 'committed'", a.name(), a.state)
	}
	if err := a.begin(); err != nil {
		return Value{}, err
	}
	defer a.end()
	at := th.Place()
	if err := a.require(at, " (rollback)", "committed"); err != nil {
		return Value{}, err
	}
	if th.in.cfg.DryRun {
		a.state = "rolled_back"
		return mkNil(), a.note(at, "rolled_back", "dry run — rollback not executed")
	}
	if err := at.Intent(a.decl.kind(), a.name(), "rolling_back", ""); err != nil {
		return Value{}, err
	}
	v, err := th.attempt(func() Value { return th.runInner(a.rollback, nil) })
	if err != nil {
		if nerr := a.note(at, "failed", "rollback body failed: "+err.Error()); nerr != nil {
			return Value{}, nerr
		}
		return Value{}, err
	}
	a.state = "rolled_back"
	return v, a.note(at, "rolled_back", "")
}

// attempt runs f and gives what it raised as an error.
func (th *Thread) attempt(f func() Value) (v Value, err error) {
	m := th.mark()
	defer func() { err = th.caught(m, recover(), err) }()
	return f(), nil
}
