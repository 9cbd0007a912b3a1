package check

import (
	"fmt"
	"slices"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// name looks at a use of a name: whether something may have bound it by then.
func (c *checker) name(at place, x *ast.Ident) {
	bs := at.scope.lookup(x.Name)
	if len(bs) == 0 {
		if !c.table.builtin(x.Name) {
			c.undefined(at, x)
		}
		return
	}
	c.use(at, x)
	if c.table.builtin(x.Name) {
		return
	}
	var first *site
	for _, b := range bs {
		for _, s := range b.sites {
			if mayPrecede(b, s, at) {
				return
			}
			if first == nil || s.seq < first.seq {
				first = s
			}
		}
	}
	msg := fmt.Sprintf("undefined variable '%s'", x.Name)
	if first == nil {
		c.add(at, Error, "undefined-name", x.P, msg)
		return
	}
	c.add(at, Error, "used-before-set", x.P, msg, fmt.Sprintf("it is set only later, in line %d", first.pos.Line))
}

// mayPrecede reports whether a binding may have been made by s when the code at
// a place runs. Only within one frame and one life of the scope is the order
// that of the text.
func mayPrecede(b *binding, s *site, at place) bool {
	if s.frame != at.frame || b.scope.frame != at.frame || s.seq < at.seq {
		return true
	}
	for _, l := range s.loops {
		if slices.Contains(at.loops, l) && !slices.Contains(b.scope.loops, l) {
			return true // in an earlier round
		}
	}
	return false
}

// undefined reports a name that nothing around its place binds.
func (c *checker) undefined(at place, x *ast.Ident) {
	msg := fmt.Sprintf("undefined variable '%s'", x.Name)
	if b := c.elsewhere(at.scope.mod)[x.Name]; b != nil {
		c.add(at, Error, "undefined-name", x.P, msg,
			fmt.Sprintf("'%s' is set in line %d, but inside %s: it is not known outside", x.Name, b.sites[0].pos.Line, b.scope.what))
		return
	}
	c.add(at, Error, "undefined-name", x.P, msg, c.nearVisible(at.scope, x.Name)...)
}

// maxLookedAt bounds how many names a check compares for its hints: in a program
// with tens of thousands of mistakes the last ones have none.
const maxLookedAt = 1 << 20

// nearVisible is hint among the names that can be used in a scope.
func (c *checker) nearVisible(s *scope, name string) []string {
	if c.lookedAt > maxLookedAt {
		return nil
	}
	candidates := append(s.visible(), c.table.names()...)
	c.lookedAt += len(candidates)
	return hint(name, candidates)
}

// elsewhere gives the bindings of a module by their names, of several with one
// name the first. It is for the second pass, when all are known.
func (c *checker) elsewhere(m *module) map[string]*binding {
	if known, ok := c.bound[m]; ok {
		return known
	}
	known := map[string]*binding{}
	var walk func(s *scope)
	walk = func(s *scope) {
		for name, b := range s.names {
			if known[name] == nil && len(b.sites) > 0 {
				known[name] = b
			}
		}
		for _, k := range s.kids {
			walk(k)
		}
	}
	walk(m.scope)
	c.bound[m] = known
	return known
}

// visible lists the names that can be used in a scope, sorted.
func (s *scope) visible() []string {
	var out []string
	for ; s != nil; s = s.parent {
		for n := range s.names {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hint words the near name, where there is one, as a note.
func hint(name string, candidates []string) []string {
	if near := diag.Near(name, candidates); near != "" {
		return []string{"did you mean '" + near + "'?"}
	}
	return nil
}
