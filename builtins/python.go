package builtins

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/pybridge"
)

// PyObject is a value that lives in the Python process.
type PyObject struct {
	deps   *Deps
	proc   *pybridge.Proc
	handle pybridge.Handle
}

// strTimeout bounds how long printing a Python value may take.
const strTimeout = 30 * time.Second

// ImportPython imports a Python module; the process starts with the first.
func (d *Deps) ImportPython(t *eval.Thread, module string) (eval.Value, error) {
	at := t.Place()
	if err := allowPython(at, module); err != nil {
		return eval.Value{}, err
	}
	p, err := d.startPython(t)
	if err != nil {
		return eval.Value{}, &diag.Error{Kind: diag.Import, Msg: "python module not found: '" + module + "' (" + err.Error() + ")", Cause: err}
	}
	v, err := d.inPython(t, p, diag.Import, func(ctx context.Context) (pybridge.Value, error) { return p.Import(ctx, module) })
	return v, err
}

// allowPython checks python.<module>; a rule for python covers every module
// that no rule of its own names.
func allowPython(at eval.Place, module string) error {
	capability := "python." + module
	d := at.DecidePart("python", capability)
	if d.Allowed {
		if err := at.Heed("python", module, capability, ""); err != nil {
			return err
		}
		return at.Intent("python", module, "importing", "")
	}
	return at.Denied(d, module, "python", capability, "capability '"+capability+"' denied by policy",
		"python module '"+module+"' requires capability '"+capability+"', which is denied by policy")
}

func (d *Deps) startPython(t *eval.Thread) (p *pybridge.Proc, err error) {
	t.Blocking(func(ctx context.Context) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.python == nil {
			mcp.Adopt()
			d.python, err = pybridge.Start(context.WithoutCancel(ctx), pybridge.Options{
				Python: d.getenv("SENSE_PYTHON"), Stdout: t.Stdout(), Stderr: t.Stderr(), Argv: d.Argv, Isolated: d.Confined,
				Besides: []string{d.watch.Variable()}})
		}
		p = d.python
	})
	if stop := t.Stopped(); stop != nil {
		return nil, stop
	}
	return p, err
}

func (d *Deps) closePython() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.python != nil {
		_ = d.python.Close() // it is gone either way
		mcp.SweepAdopted()   // what its modules started is not
		d.watch.Close()
	}
}

// inPython waits for the process while other threads run.
func (d *Deps) inPython(t *eval.Thread, p *pybridge.Proc, kind diag.Kind, f func(ctx context.Context) (pybridge.Value, error)) (eval.Value, error) {
	var got pybridge.Value
	var err error
	t.Blocking(func(ctx context.Context) { got, err = f(ctx) })
	if stop := t.Stopped(); stop != nil {
		return eval.Value{}, stop
	}
	var exit *pybridge.ExitError
	if errors.As(err, &exit) {
		return eval.Value{}, &diag.Error{Kind: diag.Interrupt, Msg: exit.Error(), Cause: exit}
	}
	if err != nil {
		return eval.Value{}, &diag.Error{Kind: kind, Msg: err.Error(), Cause: err}
	}
	return d.fromPython(p, got), nil
}

func (d *Deps) fromPython(p *pybridge.Proc, x pybridge.Value) eval.Value {
	if v, ok := fromScalar(x); ok {
		return v
	}
	switch x := x.(type) {
	case []any:
		a := eval.NewArray(len(x))
		for _, e := range x {
			a.Push(d.fromPython(p, e))
		}
		return a.Value()
	case pybridge.Handle:
		return eval.Obj(d.pyObject(p, x))
	}
	return eval.Nil()
}

// pyObject makes a value of a handle, which is given back when nothing holds
// the value any more.
func (d *Deps) pyObject(p *pybridge.Proc, h pybridge.Handle) *PyObject {
	o := &PyObject{d, p, h}
	runtime.AddCleanup(o, func(h pybridge.Handle) { p.Release(h) }, h)
	return o
}

// toPython makes what can be given to Python of a value.
func toPython(v eval.Value, depth int) (pybridge.Value, error) {
	if o, ok := v.AsObject().(*PyObject); ok {
		return o.handle, nil
	}
	if a, ok := v.AsArray(); ok {
		if depth > maxJSONDepth {
			return nil, fail("a list that is nested too deep or contains itself cannot be given to python")
		}
		out := make([]any, a.Len())
		for i := range out {
			x, err := toPython(a.At(i), depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = x
		}
		return out, nil
	}
	x, err := toPlain(v, 0)
	if err != nil || v.Kind() == eval.KMap {
		return nil, fail("a value of type %s cannot be given to python", v.TypeName())
	}
	return x, nil
}

func toPythonAll(vs []eval.Value) ([]pybridge.Value, error) {
	out := make([]pybridge.Value, len(vs))
	for i, v := range vs {
		if err := eval.CheckExtent(v); err != nil {
			return nil, err
		}
		x, err := toPython(v, 0)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// TypeName gives "Python".
func (o *PyObject) TypeName() string { return "Python" }

// String gives Python's str of the value.
func (o *PyObject) String() string {
	ctx, cancel := context.WithTimeout(context.Background(), strTimeout)
	defer cancel()
	s, err := o.proc.Str(ctx, o.handle)
	if err != nil {
		return "<python " + o.handle.Type + ": " + err.Error() + ">"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Attr reads an attribute. One that can be called is a function, unless it is a
// module or the like.
func (o *PyObject) Attr(t *eval.Thread, name string) (eval.Value, error) {
	v, err := o.deps.inPython(t, o.proc, diag.Runtime, func(ctx context.Context) (pybridge.Value, error) {
		return o.proc.Attr(ctx, o.handle, name)
	})
	if err != nil {
		return v, err
	}
	if p, ok := v.AsObject().(*PyObject); ok && p.handle.Callable {
		return p.function(), nil
	}
	return v, nil
}

// function makes a builtin of a Python callable that was read as a member.
func (o *PyObject) function() eval.Value {
	return eval.NewBuiltin(eval.Builtin{Name: "<python>." + o.handle.Name, Max: -1, Fn: func(c *eval.Call) (eval.Value, error) {
		args, err := toPythonAll(c.Args)
		if err != nil {
			return eval.Value{}, err
		}
		return o.deps.inPython(c.Thread, o.proc, diag.Runtime, func(ctx context.Context) (pybridge.Value, error) {
			return o.proc.Call(ctx, o.handle, args)
		})
	}})
}

// Index reads an element.
func (o *PyObject) Index(t *eval.Thread, i eval.Value) (eval.Value, error) {
	key, err := toPythonAll([]eval.Value{i})
	if err != nil {
		return eval.Value{}, err
	}
	return o.deps.inPython(t, o.proc, diag.Runtime, func(ctx context.Context) (pybridge.Value, error) {
		return o.proc.Index(ctx, o.handle, key[0])
	})
}

// SetIndex writes an element.
func (o *PyObject) SetIndex(t *eval.Thread, i, v eval.Value) error {
	kv, err := toPythonAll([]eval.Value{i, v})
	if err != nil {
		return err
	}
	_, err = o.deps.inPython(t, o.proc, diag.Runtime, func(ctx context.Context) (pybridge.Value, error) {
		return nil, o.proc.SetIndex(ctx, o.handle, kv[0], kv[1])
	})
	return err
}

// EqualTo compares as Python does.
func (o *PyObject) EqualTo(other eval.Object) bool {
	p, ok := other.(*PyObject)
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), strTimeout)
	defer cancel()
	eq, err := o.proc.Equal(ctx, o.handle, p.handle)
	return eq && err == nil
}
