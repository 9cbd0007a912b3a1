package eval

import (
	"errors"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// testDecl compiles a test: its body runs in its own scope when it is reached,
// and a failure is recorded, not raised.
func (c *compiler) testDecl(s *ast.TestDecl) stmt {
	var body stmt
	c.maybe(func() { body = c.block(s.Body) })
	return func(fr fp) (ctl, Value) {
		th := threadOf(fr)
		k, v, err := th.runTest(fr, body)
		if k == ctlNext || err != nil {
			th.in.tested(s.Desc, err)
		}
		return k, v
	}
}

func (th *Thread) runTest(fr fp, body stmt) (k ctl, v Value, err error) {
	m := th.mark()
	defer func() {
		if err = th.caught(m, recover(), nil); err == nil {
			return
		}
		k, v = ctlNext, Value{}
		if Fatal(err) {
			panic(&thrown{err.(*diag.Error)})
		}
	}()
	k, v = body(fr)
	return k, v, nil
}

// Fatal reports whether an error ends the program whatever the script does.
func Fatal(err error) bool {
	var e *diag.Error
	return errors.As(err, &e) && (e.Kind == diag.Interrupt || e.Kind == diag.Limit)
}

func (in *Interp) tested(desc string, err error) {
	if f := in.cfg.OnTest; f != nil {
		f(desc, err)
	}
}

func (c *compiler) tryStmt(s *ast.TryStmt) stmt {
	return c.later(&s.P, "try")
}

func (c *compiler) raiseStmt(s *ast.RaiseStmt) stmt {
	return c.later(&s.P, "raise")
}

func (c *compiler) transaction(s *ast.TransactionStmt) stmt {
	return c.later(&s.P, "transaction")
}

func (c *compiler) fstring(e *ast.FString) expr {
	st := c.later(&e.P, "f-strings")
	return func(fr fp) Value { st(fr); return Value{} }
}

func (c *compiler) later(at *diag.Pos, what string) stmt {
	return func(fr fp) (ctl, Value) {
		failf(fr, at, diag.Runtime, "%s: not yet", what)
		return ctlNext, Value{}
	}
}
