package eval

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/policy"
)

// Host runs f as a call from outside the program, on a thread of its own, so
// that several may go on at once; what f calls may wait without holding up the
// program or other such calls. name says whose call it is, for messages about
// waits. The policy of the main module holds; StandAt says otherwise. Errors of
// Sense code come back.
func (in *Interp) Host(name string, f func(th *Thread) (Value, error)) (v Value, err error) {
	in.lock.acquire()
	defer in.lock.release()
	th := in.newThread(in.ctx, name)
	defer in.dropThread(th)
	th.native, th.used = th.base(), slotArgs
	th.StandAt(Value{})
	m := th.mark()
	defer func() { err = th.caught(m, recover(), err) }()
	return f(th)
}

// StandAt makes a thread of Host call as if from where the tool, the action or
// the agent v was declared: the rules around that place hold, and those of the
// main module as a caller's. With any other value, the zero Value included, it
// calls from the main module.
func (th *Thread) StandAt(v Value) {
	main := th.in.mainRules()
	th.rules, th.callers = main, nil
	if fn := declaredFunc(v); fn != nil {
		th.rules = fn.rulesAround()
		if len(main) > 0 {
			th.callers = []policy.Chain{main}
		}
	}
}

// declaredFunc gives the body of a tool, an action or an agent.
func declaredFunc(v Value) *Func {
	switch o := v.AsObject().(type) {
	case *Tool:
		return o.fn
	case *ActionDecl:
		return o.fn
	case *Action:
		return o.decl.fn
	case *Agent:
		return o.fn
	}
	return nil
}

// mainRules gives the rules that the main module has set for itself.
func (in *Interp) mainRules() policy.Chain {
	if in.mainModule == nil {
		return nil
	}
	if g := in.mainModule.names[hiddenPolicy]; g != nil && g.v.p != nil {
		return policy.Chain{&toPolicy(g.v).scope}
	}
	return nil
}

// rulesAround gives the rules of the scopes around a declaration, innermost
// first. Seen from the body they are in names of a module or in cells.
func (f *Func) rulesAround() policy.Chain {
	var out policy.Chain
	for _, l := range f.proto.around {
		var v Value
		switch l.kind {
		case locUp:
			v = f.cells[l.i].v
		case locGlobal:
			v = l.g.v
		}
		if v.p != nil {
			out = append(out, &toPolicy(v).scope)
		}
	}
	return out
}

// Result gives the type a call of the tool is declared to return, nil for none.
func (t *Tool) Result() *ast.TypeExpr { return t.decl.Result }

// Doc gives the docstring of the tool's body, "" without one.
func (t *Tool) Doc() string { return t.decl.Body.Doc }

// HasRollback reports whether the action has a rollback block.
func (d *ActionDecl) HasRollback() bool { return d.decl.Rollback != nil }

// Doc gives the docstring of the action's body, "" without one.
func (d *ActionDecl) Doc() string { return d.decl.Body.Doc }

// Approved reports whether the action was approved.
func (a *Action) Approved() bool { return a.approved }

// Async reports whether the agent runs in the background.
func (a *Agent) Async() bool { return a.decl.Async }

// Doc gives the agent's docstring, "" without one.
func (a *Agent) Doc() string { return a.decl.Body.Doc }

// PauseReason gives what the agent last paused for, nil where it never did.
func (a *Agent) PauseReason() Value { return a.reason }

// Failure gives the error that ended the agent, nil where it did not fail.
func (a *Agent) Failure() error { return a.err }
