package eval

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// Tool is a tool of the program. Calling it checks the number of arguments, the
// capability and the types, in that order, and is audited.
type Tool struct {
	fn       *Func
	decl     *ast.ToolDecl
	requires []string
}

// TypeName gives "Tool".
func (t *Tool) TypeName() string { return "Tool" }

// String gives <tool name>.
func (t *Tool) String() string { return "<tool " + t.decl.Name + ">" }

// Name gives the tool's name.
func (t *Tool) Name() string { return t.decl.Name }

// KeyName is the name that find and indexing know it by.
func (t *Tool) KeyName() string { return t.decl.Name }

// Description gives what the tool does, for a model; ok is false without one.
func (t *Tool) Description() (text string, ok bool) { return t.decl.Desc, t.decl.HasDesc }

// Async reports whether a call gives a Future.
func (t *Tool) Async() bool { return t.decl.Async }

// Params gives the parameters as declared.
func (t *Tool) Params() []*ast.Param { return t.decl.Params }

// Requires gives the capabilities a call needs.
func (t *Tool) Requires() []string { return t.requires }

// CallWith calls the tool.
func (t *Tool) CallWith(c *Call) (Value, error) {
	args, err := t.begin(c)
	if err != nil {
		return Value{}, err
	}
	th := c.Thread
	if t.decl.Async {
		return th.spawnTool(t, args)
	}
	v := th.runInner(t.fn, args)
	return v, t.fn.proto.checkResult(v)
}

// begin makes the checks of a call and notes it.
func (t *Tool) begin(c *Call) ([]Value, error) {
	if len(c.Labels) > 0 && !labelsEverywhere {
		return nil, noLabels(Obj(t))
	}
	p := t.fn.proto
	args, err := p.arrange(c.Args, c.Labels)
	if err != nil {
		return nil, err
	}
	at := c.Thread.Place()
	for _, capability := range t.requires {
		if err := at.Require("tool", t.decl.Name, "tool", capability, ""); err != nil {
			return nil, err
		}
		if err := at.Heed("tool", t.decl.Name, capability, ""); err != nil {
			return nil, err
		}
	}
	if err := p.checkValues(args); err != nil {
		return nil, err
	}
	return args, at.Note(t.decl.Name, "tool", "called", "")
}

// runInner runs a function as a call of the running builtin.
func (th *Thread) runInner(fn *Func, args []Value) Value {
	word := siteOf(th.native)&siteIDMask | uint64(th.used)<<siteOffShift | siteNative
	return th.run(th.native, th.used, word, fn, args)
}

func capabilityNames(cs []ast.Capability) []string {
	var out []string
	for _, c := range cs {
		out = append(out, c.Name)
	}
	return out
}

func (c *compiler) toolDecl(s *ast.ToolDecl) stmt {
	t := c.declare(s.Name)
	p := c.function(function{name: s.Name, params: s.Params, result: s.Result, body: s.Body, doc: s.Desc,
		lineage: "tool:" + s.Name, unchecked: true})
	p.pos, p.decl = s.P, s
	st, mk, requires := t.store(), c.closure(p), capabilityNames(s.Requires)
	file := c.file
	return func(fr fp) (ctl, Value) {
		v := Obj(&Tool{mk(fr), s, requires})
		st(fr, v)
		threadOf(fr).in.declared("tool", s.Name, v, file, s.P, s.Desc)
		return ctlNext, Value{}
	}
}

// declared tells the host that something came into being.
func (in *Interp) declared(kind, name string, v Value, file string, at diag.Pos, doc string) {
	in.cfg.Audit.Redactor.Public(name)
	if f := in.cfg.OnDeclare; f != nil {
		f(Declared{kind, name, v, file, at, doc})
	}
}

func (c *compiler) memoryDecl(s *ast.MemoryDecl) stmt {
	st := c.declare(s.Name).store()
	call := c.site(&s.P)
	file := c.file
	return func(fr fp) (ctl, Value) {
		th := threadOf(fr)
		v, err := th.inNative(fr, call.off, call.id, func() (Value, error) {
			o, err := th.openMemory(s, file)
			return Obj(o), err
		})
		if err != nil {
			fail(fr, &s.P, err)
		}
		st(fr, v)
		th.in.declared("memory", s.Name, v, file, s.P, "")
		return ctlNext, Value{}
	}
}

func (th *Thread) openMemory(s *ast.MemoryDecl, file string) (Object, error) {
	cfg := &th.in.cfg
	switch {
	case s.Persistent && cfg.PersistentMemory == nil, !s.Persistent && cfg.SessionMemory == nil:
		return nil, diag.New(diag.Runtime, "this program runs without memories")
	case s.Persistent:
		return cfg.PersistentMemory(th, s.Name, s.Text, s.HasText, file)
	}
	return cfg.SessionMemory(s.Name, s.Text), nil
}

// Attr gives name, doc and params.
func (t *Tool) Attr(_ *Thread, name string) (Value, error) {
	doc := t.decl.Body.Doc
	if !t.decl.Body.HasDoc {
		doc = t.decl.Desc
	}
	return declAttr("Tool", t.fn.proto, doc, name)
}

// Attr gives name, doc and params.
func (d *ActionDecl) Attr(_ *Thread, name string) (Value, error) {
	return declAttr("Action", d.fn.proto, d.decl.Body.Doc, name)
}

func declAttr(typ string, p *proto, doc, name string) (Value, error) {
	switch name {
	case "name":
		return newStr(p.name), nil
	case "doc":
		if doc == "" {
			return mkNil(), nil
		}
		return newStr(doc), nil
	case "params":
		return Strings(p.paramNames()), nil
	}
	return Value{}, diag.New(diag.Runtime, "cannot access member '%s' on type %s", name, typ)
}
