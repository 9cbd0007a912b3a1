package eval

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/internal/regular"
)

// Module is a file's names, shared by all its importers.
type Module struct {
	name  string
	path  string
	names map[string]*Global
	order []string
	top   *scope
	main  bool // the program itself
	open  bool // names may still be added, as in the REPL
}

func newModule(name, path string) *Module {
	return &Module{name: name, path: path, names: map[string]*Global{}}
}

// NewGoModule makes a module of values.
func NewGoModule(name string, members map[string]Value) *Module {
	m := newModule(name, "")
	for _, n := range slices.Sorted(maps.Keys(members)) {
		m.global(n).v = members[n]
	}
	return m
}

func moduleName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// TypeName gives "Module".
func (m *Module) TypeName() string { return "Module" }

// String gives <module name>.
func (m *Module) String() string { return "<module " + m.name + ">" }

// Attr gives a name of the module. The builtins can be reached through it too.
func (m *Module) Attr(t *Thread, name string) (Value, error) {
	if v, ok := m.lookup(t.in, name); ok {
		return v, nil
	}
	return Value{}, diag.New(diag.Runtime, "module '%s' has no member '%s'", m.name, name).DidYouMean(name, m.Names())
}

func (m *Module) lookup(in *Interp, name string) (Value, bool) {
	if g := m.names[name]; g != nil && g.v.p != nil {
		return g.v, true
	}
	if g := in.universe[name]; g != nil {
		return g.v, true
	}
	return Value{}, false
}

// Names lists the names that are set, in order of appearance.
func (m *Module) Names() []string {
	var out []string
	for _, n := range m.order {
		if m.names[n].v.p != nil && n[0] != 0 {
			out = append(out, n)
		}
	}
	return out
}

func (m *Module) global(name string) *Global {
	if g := m.names[name]; g != nil {
		return g
	}
	g := &Global{}
	m.names[name] = g
	m.order = append(m.order, name)
	return g
}

// runModule compiles a file and runs it in a frame above fr.
func (in *Interp) runModule(th *Thread, fr fp, m *Module, f *ast.File) error {
	c := &compiler{in: in, file: f.Name, mod: m}
	fn := c.module(f.Body)
	th.run(fr, slotArgs, 0, fn, nil)
	return nil
}

// Session is a module that grows, as the REPL's.
type Session struct {
	in  *Interp
	mod *Module
}

// NewSession opens a module that grows with each input.
func (in *Interp) NewSession() *Session {
	m := newModule("repl", "")
	m.open, m.main = true, true
	return &Session{in, m}
}

// Names lists what the session has bound.
func (s *Session) Names() []string { return s.mod.Names() }

// Lookup gives the value of a name of the session or a builtin.
func (s *Session) Lookup(name string) (Value, bool) {
	if g := s.mod.names[name]; g != nil && g.v.p != nil {
		return g.v, true
	}
	if g := s.in.builtin(name); g != nil {
		return g.v, true
	}
	return Value{}, false
}

// Run runs one input until it is done or ctx ends. Where it is a single
// expression, its value is given.
func (s *Session) Run(ctx context.Context, f *ast.File) (Value, error) {
	return s.in.during(ctx, func(th *Thread) (Value, error) {
		if s.mod.top != nil {
			for _, b := range s.mod.top.order {
				b.set = false
			}
		}
		c := &compiler{in: s.in, file: f.Name, mod: s.mod}
		return th.run(th.base(), slotArgs, 0, c.input(f.Body), nil), nil
	})
}

// single gives the expression of an input that is nothing else.
func single(body []ast.Stmt) (ast.Expr, bool) {
	if len(body) != 1 {
		return nil, false
	}
	x, ok := body[0].(*ast.ExprStmt)
	if !ok {
		return nil, false
	}
	if _, ok := x.X.(*ast.AssignExpr); ok {
		return nil, false
	}
	return x.X, true
}

// input compiles one input of a session; a single expression is its result.
func (c *compiler) input(body []ast.Stmt) *Func {
	if x, ok := single(body); ok {
		return c.chunk(body, func() stmt { return returns(c.expr(x)) })
	}
	return c.module(body)
}

// importStmt compiles import.
func (c *compiler) importStmt(s *ast.ImportStmt) stmt {
	st := c.declare(s.BoundName()).store()
	call := c.site(&s.P)
	file := c.file
	return func(fr fp) (ctl, Value) {
		st(fr, threadOf(fr).importModule(fr, call, s.Python, s.Path, s.Dotted, file))
		return ctlNext, Value{}
	}
}

// fromStmt compiles from m import a, b.
func (c *compiler) fromStmt(s *ast.FromStmt) stmt {
	call := c.site(&s.P)
	file := c.file
	stores := make([]func(fr fp, v Value), len(s.Names))
	for i, n := range s.Names {
		stores[i] = c.declare(n.BoundName()).store()
	}
	return func(fr fp) (ctl, Value) {
		th := threadOf(fr)
		m := th.importModule(fr, call, s.Python, s.Path, s.Dotted, file)
		for i, n := range s.Names {
			v, err := th.attr(m, n.Name)
			if err != nil {
				fail(fr, &s.P, err)
			}
			stores[i](fr, v)
		}
		return ctlNext, Value{}
	}
}

// importModule gives the module that an import names, loading it the first
// time.
func (th *Thread) importModule(fr fp, s *site, python bool, path string, dotted bool, file string) Value {
	if python {
		return th.importPython(fr, s, path)
	}
	name := path
	if dotted {
		path = strings.ReplaceAll(path, ".", "/") + ".sns"
	}
	abs := resolvePath(path, file)
	in := th.in
	if dotted && in.cfg.Builtin != nil {
		if v, ok := th.builtinModule(name, abs); ok {
			return v
		}
	}
	if err := th.awaitModule(abs); err != nil {
		fail(fr, s.pos, err)
	}
	if m := in.modules[abs]; m != nil {
		return Obj(m)
	}
	m, err := th.load(fr, s, abs, path, file)
	if err != nil {
		if dotted {
			err = in.withModules(name, abs, err)
		}
		fail(fr, s.pos, err)
	}
	return Obj(m)
}

// loading is a module whose body runs.
type loading struct {
	by   *Thread
	done []*waiter
}

// awaitModule waits while another thread loads a module. One that this thread
// loads, or a thread that waits for it, would be waited for without end.
func (th *Thread) awaitModule(abs string) error {
	for {
		l := th.in.loading[abs]
		if l == nil {
			return nil
		}
		for t := th; t != nil; t = t.starter {
			if t == l.by {
				return diag.New(diag.Import, "circular import detected: %s", abs)
			}
		}
		w := &waiter{}
		l.done = append(l.done, w)
		if _, err := th.wait(w, 0, "import of '"+abs+"'"); err != nil {
			return err
		}
	}
}

// builtinModule gives a module that is part of the binary, unless a file of
// that name stands beside the importer.
func (th *Thread) builtinModule(path, abs string) (Value, bool) {
	if _, err := os.Stat(abs); err == nil {
		return Value{}, false
	}
	if m := th.in.modules[path]; m != nil {
		return Obj(m), true
	}
	members, ok := th.in.cfg.Builtin(path)
	if !ok {
		return Value{}, false
	}
	m := NewGoModule(path, members)
	th.in.modules[path] = m
	return Obj(m), true
}

// withModules adds the modules that there are to the error of a name below the
// same first word that is none.
func (in *Interp) withModules(name, abs string, err error) error {
	first, _, _ := strings.Cut(name, ".")
	var near []string
	for _, m := range in.cfg.BuiltinModules {
		if strings.HasPrefix(m, first+".") {
			near = append(near, m)
		}
	}
	if _, missing := os.Stat(abs); len(near) == 0 || !errors.Is(missing, fs.ErrNotExist) {
		return err
	}
	return diag.New(diag.Import, "module not found: '%s' (there are %s; and no file %s)", name, strings.Join(near, ", "), abs)
}

func (th *Thread) importPython(fr fp, s *site, path string) Value {
	imp := th.in.cfg.ImportPython
	if imp == nil {
		failf(fr, s.pos, diag.Import, "python module not found: '%s' (this program runs without Python)", path)
	}
	v, err := th.inNative(fr, s.off, s.id, func() (Value, error) { return imp(th, path) })
	if err != nil {
		fail(fr, s.pos, err)
	}
	return v
}

// resolvePath gives the absolute path of an import, relative to the file it
// stands in.
func resolvePath(path, file string) string {
	if !filepath.IsAbs(path) && file != "" {
		path = filepath.Join(filepath.Dir(file), path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func (th *Thread) load(fr fp, s *site, abs, path, file string) (*Module, error) {
	in := th.in
	src, err := in.cfg.ReadFile(abs)
	if err != nil {
		e := diag.New(diag.Import, "module not found: '%s' (resolved to %s)%s", path, abs, reason(err))
		if name := "std." + moduleName(path); slices.Contains(in.cfg.BuiltinModules, name) {
			e.Notes = []string{"there is a standard module: import " + name}
		}
		return nil, e
	}
	f, err := in.cfg.Parse(shortName(abs, file), string(src))
	if err != nil {
		return nil, discreet(path, abs, err)
	}
	m := newModule(moduleName(abs), abs)
	l := &loading{by: th}
	in.loading[abs] = l
	defer func() {
		delete(in.loading, abs)
		for _, w := range l.done {
			in.wake(w)
		}
	}()
	c := &compiler{in: in, file: f.Name, mod: m}
	body := c.module(f.Body)
	if IsSource(abs) {
		th.run(fr, s.off, s.id, body, nil)
	} else if _, err := th.attempt(func() Value { return th.run(fr, s.off, s.id, body, nil) }); err != nil {
		return nil, discreet(path, abs, err)
	}
	in.modules[abs] = m
	return m, nil
}

// sourceExt is how the names of programs end.
const sourceExt = ".sns"

// IsSource reports whether a file looks like a program: its name ends in .sns,
// and so does that of the file it is a symbolic link to.
func IsSource(path string) bool {
	if filepath.Ext(path) != sourceExt {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	return err != nil || filepath.Ext(real) == sourceExt
}

// discreet takes the words of a file out of an error of importing it, unless
// its name says that it is a program: a program may import any file, and must
// not learn from messages what is in it.
func discreet(path, abs string, err error) error {
	if IsSource(abs) || Fatal(err) {
		return err
	}
	line := 0
	if e, ok := errors.AsType[*diag.Error](err); ok {
		line = int(e.Pos.Line)
	}
	return diag.New(diag.Import, "module '%s' does not run (line %d; its text is not shown, since its name does not end in %s)", path, line, sourceExt)
}

// maxModule bounds a module's source in bytes.
const maxModule = 64 << 20

// ReadModule reads a module's source: a regular file of up to 64 MiB. A device
// or a pipe might never end.
func ReadModule(path string) ([]byte, error) { return regular.Read(path, maxModule) }

// reason says why a module cannot be read, where it is not simply missing.
func reason(err error) string {
	var long regular.TooLongError
	switch {
	case errors.Is(err, fs.ErrPermission):
		return ": permission denied"
	case errors.As(err, &long), errors.Is(err, errOutside):
		return ": " + err.Error()
	}
	return ""
}

// shortName names a module's file as its importer is named: relative where
// that is.
func shortName(abs, importer string) string {
	if importer == "" || filepath.IsAbs(importer) {
		return abs
	}
	wd, err := os.Getwd()
	if err != nil {
		return abs
	}
	rel, err := filepath.Rel(wd, abs)
	if err != nil || strings.HasPrefix(rel, "..") {
		return abs
	}
	return rel
}

// chunk compiles a piece of a session by f.
func (c *compiler) chunk(stmts []ast.Stmt, f func() stmt) *Func {
	c.men = findMentions(stmts)
	c.fn = &fnCtx{next: slotArgs, size: slotArgs, isFunc: false}
	c.moduleScope(stmts)
	c.sc = c.mod.top
	run := f()
	p := &proto{name: "<module " + c.mod.name + ">", file: c.file, arity: 255}
	p.body = func(fr fp) Value { _, v := run(fr); return v }
	c.finish(p)
	return newFunc(p)
}

// Modules lists the modules loaded so far, by path.
func (in *Interp) Modules() []string {
	var out []string
	for p := range in.modules {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}
