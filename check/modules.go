package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/parser"
)

// module is a file's code, or a standard module.
type module struct {
	name  string
	file  string // as messages name it
	scope *scope
	// std are the members of a standard module, nil for a file.
	std map[string]eval.Value
}

// loading is a module that is being read. top says that only statements of
// modules themselves, which certainly run, have led to it.
type loading struct {
	abs string
	top bool
}

// module walks a file. abs is "" for the program itself.
func (c *checker) module(f *ast.File, abs string) *module {
	m := &module{name: moduleName(f.Name), file: f.Name}
	if abs != "" {
		c.modules[abs] = m
	}
	if !slices.Contains(c.files, f.Name) {
		c.files = append(c.files, f.Name)
	}
	fr := &frame{module: true}
	m.scope = &scope{frame: fr, mod: m, names: map[string]*binding{}, what: "the module"}
	m.scope.declare(f.Body)
	w := &walker{c: c, mod: m, at: place{scope: m.scope, frame: fr}}
	w.stmts(f.Body)
	return m
}

func moduleName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// imports walks import and from.
func (w *walker) imports(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ImportStmt:
		m := w.load(s.P, s.Python, s.Path, s.Dotted)
		w.set(s.BoundName(), true, site{pos: s.P, kind: types{"Module"}, mod: m, decl: s})
	case *ast.FromStmt:
		m := w.load(s.P, s.Python, s.Path, s.Dotted)
		for i := range s.Names {
			n := &s.Names[i]
			w.set(n.BoundName(), true, site{pos: n.P, mod: m, from: n.Name, decl: n})
			if m != nil {
				w.later(func(at place) { w.c.imported(at, m, n.Name, n.P) })
			}
		}
	}
}

// load gives the module that an import names, nil where it is not known what is
// in it.
func (w *walker) load(pos diag.Pos, python bool, path string, dotted bool) *module {
	if python {
		w.later(func(at place) { w.c.needs.python(at, path, pos) })
		return nil
	}
	file := path
	if dotted {
		file = strings.ReplaceAll(path, ".", "/") + ".sns"
	}
	abs, shown := w.resolve(file)
	if dotted && isStd(path) {
		if _, err := os.Stat(abs); err != nil {
			return w.standard(pos, path, abs)
		}
		w.add(Note, "shadowed-module", pos, "'"+path+"' is the file "+shown+" here, not the standard module")
	}
	if m := w.c.modules[abs]; m != nil {
		w.circular(pos, abs)
		return m
	}
	return w.read(pos, file, abs, shown)
}

func (w *walker) standard(pos diag.Pos, path, abs string) *module {
	members, ok := w.c.table.standard(path)
	if !ok {
		w.add(Error, "no-module", pos, fmt.Sprintf("module not found: '%s' (resolved to %s)", path, abs), hint(path, w.c.table.modules())...)
		return nil
	}
	if m := w.c.modules[path]; m != nil {
		return m
	}
	m := &module{name: path, std: members}
	w.c.modules[path] = m
	return m
}

// circular reports an import of a module that is still being read, where the
// way here is certain to be gone.
func (w *walker) circular(pos diag.Pos, abs string) {
	certain := w.at.frame.module
	for i := len(w.c.loading) - 1; i >= 0 && certain; i-- {
		if w.c.loading[i].abs == abs {
			w.add(Error, "circular-import", pos, "circular import detected: "+abs)
			return
		}
		certain = w.c.loading[i].top
	}
}

func (w *walker) read(pos diag.Pos, path, abs, shown string) *module {
	src, err := w.c.o.ReadFile(abs)
	if err != nil {
		w.add(Error, "no-module", pos, fmt.Sprintf("module not found: '%s' (resolved to %s)", path, abs))
		return nil
	}
	f, err := parser.Parse(shown, string(src))
	if !eval.IsSource(abs) {
		w.c.foreign[shown] = true
	}
	if err != nil {
		level := Error
		if w.at.guard != "" {
			level = Warning
		}
		if !w.at.dead {
			w.c.syntax(shown, level, err)
		}
		return nil
	}
	w.c.loading = append(w.c.loading, &loading{abs, w.at.frame.module})
	defer func() { w.c.loading = w.c.loading[:len(w.c.loading)-1] }()
	return w.c.module(f, abs)
}

// resolve gives the absolute path of an import and how messages name the file.
func (w *walker) resolve(path string) (abs, shown string) {
	shown = path
	if !filepath.IsAbs(path) && w.mod.file != "" {
		shown = filepath.Join(filepath.Dir(w.mod.file), path)
	}
	abs, err := filepath.Abs(shown)
	if err != nil {
		return shown, shown
	}
	return abs, shown
}

// imported looks at one name of a from.
func (c *checker) imported(at place, m *module, name string, pos diag.Pos) {
	if !m.has(c, name) {
		c.add(at, Error, "no-member", pos, fmt.Sprintf("module '%s' has no member '%s'", m.name, name), hint(name, m.members())...)
	}
}

func (m *module) has(c *checker, name string) bool {
	if m.std != nil {
		_, ok := m.std[name]
		return ok || c.table.assignable[name]
	}
	return m.scope.names[name] != nil || c.table.assignable[name]
}

// members lists a module's names, sorted.
func (m *module) members() []string {
	var out []string
	for n := range m.std {
		out = append(out, n)
	}
	if m.scope != nil {
		for n := range m.scope.names {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
