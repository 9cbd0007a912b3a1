package eval

import (
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
		ended := th.in.testing(s.Desc)
		if ended == nil {
			return ctlNext, Value{}
		}
		k, v, err := th.runTest(fr, body)
		if k == ctlNext || err != nil {
			ended(err)
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
	e := asDiag(err)
	return e != nil && (e.Kind == diag.Interrupt || e.Kind == diag.Limit)
}

// testing gives what is to be told of the end of a test that is about to run;
// nil says that it does not run.
func (in *Interp) testing(desc string) (ended func(err error)) {
	if f := in.cfg.OnTestStart; f != nil {
		return f(desc)
	}
	return func(err error) {
		if f := in.cfg.OnTest; f != nil {
			f(desc, err)
		}
	}
}

// passStmt compiles pass, which does nothing; where the program has a name pass
// of its own it reads that, as it did before there was the word.
func (c *compiler) passStmt(s *ast.PassStmt) stmt {
	bs, _ := c.candidates("pass")
	var reads []expr
	for _, b := range bs {
		b.tested = true
		reads = append(reads, readLoc(c.locOf(b), uint8(c.fn.spill)))
	}
	return func(fr fp) (ctl, Value) {
		for _, r := range reads {
			r(fr)
		}
		return ctlNext, Value{}
	}
}
