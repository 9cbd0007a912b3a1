package eval

import (
	"fmt"
	"slices"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// ErrorValue is a caught error.
type ErrorValue struct{ err *diag.Error }

// NewError makes a value of an error.
func NewError(err *diag.Error) Value { return Obj(&ErrorValue{err}) }

// TypeName gives "Error".
func (e *ErrorValue) TypeName() string { return "Error" }

// String gives the message.
func (e *ErrorValue) String() string { return e.err.Msg }

// MemberNames lists the members.
func (e *ErrorValue) MemberNames() []string { return []string{"kind", "message", "line", "file"} }

// Attr gives kind, message, line and file.
func (e *ErrorValue) Attr(t *Thread, name string) (Value, error) {
	switch name {
	case "kind":
		return newStr(string(e.err.Kind)), nil
	case "message":
		return newStr(e.err.Msg), nil
	case "line":
		return mkInt(int64(e.err.Pos.Line)), nil
	case "file":
		return newStr(e.err.File), nil
	}
	return Value{}, diag.New(diag.Runtime, "error has no member '%s'", name)
}

// handler is a compiled catch.
type handler struct {
	set   func(fr fp, v Value)
	guard cond // nil catches all
	body  stmt
}

// tryStmt compiles try. Its blocks make no scope; only the name after catch is
// local to its block.
func (c *compiler) tryStmt(s *ast.TryStmt) stmt {
	var body stmt
	handlers := make([]handler, len(s.Catches))
	alts := []func(){func() { body = sequence(c.stmts(s.Body.Stmts)) }}
	for i, k := range s.Catches {
		alts = append(alts, func() { handlers[i] = c.handler(k) })
	}
	alts = append(alts, func() {}) // an error may leave the body anywhere
	c.branches(alts...)
	run := withHandlers(body, handlers)
	if s.Finally == nil {
		return run
	}
	return withFinally(run, sequence(c.stmts(s.Finally.Stmts)))
}

func (c *compiler) handler(k *ast.CatchClause) handler {
	sc := c.enter(nil, c.men.inner[k.Body], "", k.Name)
	sc.through = true
	b := sc.names[k.Name]
	c.nowSet(b)
	h := handler{set: storeLoc(c.locOf(b), uint8(c.fn.spill))}
	if k.Guard != nil {
		h.guard = c.cond(k.Guard)
	}
	h.body = sequence(c.stmts(k.Body.Stmts))
	if pro := c.leaveThrough(); pro != nil {
		set := h.set
		h.set = func(fr fp, v Value) { pro(fr); set(fr, v) }
	}
	return h
}

// leaveThrough closes the scope of a catch. Names bound while it was open are
// of the scope around it, whose slots lie above: those stay taken.
func (c *compiler) leaveThrough() func(fr fp) {
	next := c.fn.next
	pro := c.leave()
	c.fn.next = next
	return pro
}

// withHandlers runs body and, where it fails, the first handler that wants the
// error.
func withHandlers(body stmt, handlers []handler) stmt {
	return func(fr fp) (ctl, Value) {
		th := threadOf(fr)
		k, v, err := th.protect(fr, body)
		if err == nil {
			return k, v
		}
		if !Fatal(err) {
			e := NewError(err)
			for i := range handlers {
				h := &handlers[i]
				h.set(fr, e)
				if h.guard == nil || h.guard(fr) {
					return h.body(fr)
				}
			}
		}
		panic(&thrown{err})
	}
}

// withFinally runs fin however body ends; how fin ends counts where it leaves.
func withFinally(body, fin stmt) stmt {
	return func(fr fp) (ctl, Value) {
		k, v, err := threadOf(fr).protect(fr, body)
		if err != nil && Fatal(err) {
			panic(&thrown{err})
		}
		if fk, fv := fin(fr); fk != ctlNext {
			return fk, fv
		}
		if err != nil {
			panic(&thrown{err})
		}
		return k, v
	}
}

// protect runs a statement and gives what it raised as an error.
func (th *Thread) protect(fr fp, body stmt) (k ctl, v Value, err *diag.Error) {
	m := th.mark()
	tx := th.tx
	defer func() {
		if e := th.caught(m, recover(), nil); e != nil {
			th.tx = tx
			k, v, err = ctlNext, Value{}, th.located(fr, diag.Pos{}, e)
		}
	}()
	k, v = body(fr)
	return k, v, nil
}

// raiseStmt compiles raise: a String makes a new error, an error goes on with
// its own place and stack.
func (c *compiler) raiseStmt(s *ast.RaiseStmt) stmt {
	x := c.expr(s.Value)
	c.dead = true
	return func(fr fp) (ctl, Value) {
		v := x(fr)
		if isStr(v) {
			fail(fr, &s.P, &diag.Error{Kind: diag.Runtime, Msg: toStr(v).s})
		}
		if e, ok := v.AsObject().(*ErrorValue); ok {
			panic(&thrown{e.err})
		}
		failf(fr, &s.P, diag.Runtime, "raise expects a String or an error, got %s", typeName(v))
		return ctlNext, Value{}
	}
}

// transaction is a running transaction: the actions committed in it, in order.
type transaction struct {
	outer *transaction
	done  []*Action
}

// transaction compiles `transaction: body`: when the body fails, the actions
// committed in it are rolled back, the last first.
func (c *compiler) transaction(s *ast.TransactionStmt) stmt {
	var body stmt
	c.maybe(func() { body = sequence(c.stmts(s.Body.Stmts)) })
	at := c.site(&s.P)
	return func(fr fp) (ctl, Value) {
		th := threadOf(fr)
		tx := &transaction{outer: th.tx}
		th.tx = tx
		k, v, err := th.protect(fr, body)
		th.tx = tx.outer
		if err == nil {
			if tx.outer != nil {
				tx.outer.done = append(tx.outer.done, tx.done...)
			}
			return k, v
		}
		panic(&thrown{th.undoAll(fr, at, tx, err)})
	}
}

// undoAll rolls back the actions of a transaction that a cause ended, and gives
// the error that goes on, which tells of what is not undone. One that cannot be
// undone does not stop the others; at the end of the program nothing is.
func (th *Thread) undoAll(fr fp, at *site, tx *transaction, cause *diag.Error) *diag.Error {
	var notes []string
	for i := len(tx.done) - 1; i >= 0; i-- {
		a := tx.done[i]
		if a.state != "committed" {
			continue // the program has undone it itself
		}
		err := th.undoOne(fr, at, a, cause)
		if err == nil {
			continue
		}
		notes = append(notes, fmt.Sprintf("not undone: action '%s': %v", a.name(), err))
		if Fatal(err) {
			cause = asDiag(err)
		}
	}
	if notes != nil {
		e := *cause
		e.Notes = append(slices.Clip(e.Notes), notes...)
		cause = &e
	}
	return cause
}

// undoOne rolls one action back, unless the cause ends the program: then it
// notes that nobody does.
func (th *Thread) undoOne(fr fp, at *site, a *Action, cause *diag.Error) (err error) {
	if Fatal(cause) {
		if err := a.note(Place{th, at.info, fr, *at.pos}, "failed", "not rolled back: "+cause.Msg); err != nil {
			return err
		}
		return cause
	}
	m := th.mark()
	defer func() { err = th.caught(m, recover(), err) }()
	_, err = th.inNative(fr, at.off, at.id, func() (Value, error) { return a.undo(th) })
	return err
}
