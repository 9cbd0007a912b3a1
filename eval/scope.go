package eval

import (
	"slices"

	"github.com/sense-lang/sense/ast"
)

// Names are resolved before a program runs. Sense writes "the nearest existing
// binding, else a new one here", which depends on the order in which code runs;
// but the scopes that may hold a name are known. So each scope gets a binding
// for every name that some statement of it may bind there; a use holds the
// bindings that may be meant, innermost first, and takes the first that is set.
// A flow analysis notes where a binding is certainly set: there the search ends,
// and nearly always that is the first candidate.

// binding is a name in a scope.
type binding struct {
	name     string
	scope    *scope
	explicit bool    // bound by more than plain assignment
	set      bool    // certainly set at the place being compiled
	tested   bool    // some use looks whether it is set: cleared when the scope is entered
	captured bool    // a nested function uses it: it lives in a cell
	spilled  bool    // no slot was left: it lives in the function's spill
	slot     int     // in the frame or the spill
	global   *Global // in a module's own scope
}

// scope is a lexical scope while it is compiled.
type scope struct {
	parent  *scope
	fn      *fnCtx
	names   map[string]*binding
	order   []*binding
	inner   map[string]bool // names that functions nested in it mention
	info    *scopeInfo
	lineage string
	// through is a scope for the one name of a catch: what is assigned in its
	// block belongs to the scope around it.
	through bool
	first   int // slots of the function in use when it was entered
}

// scopeInfo is what the place of a call must know of its scopes at run time.
type scopeInfo struct {
	file     string
	lineage  []string // agents, tools and actions around it, outermost first
	policies []loc    // the scopes that may hold rules, innermost first
	models   []loc    // the scopes that may set a delegation, innermost first
	budgets  []loc    // the scopes that may set a budget, innermost first
	mod      *Module
	agents   []loc // the agent whose body is around it, if any
}

// fnCtx is a function, module, tool, action or agent body while it is compiled.
type fnCtx struct {
	parent  *scope // where it is declared; nil for a module
	next    int    // free slot
	size    int    // slots of the frame
	spills  int
	spill   int // slot that holds the spill, 0: none
	upvals  []*binding
	sites   []*site
	inLoop  int
	isFunc  bool // return ends it
	maxNest int
}

// The names under which a scope keeps what is no variable.
const (
	hiddenPolicy = "\x00policy"
	hiddenModel  = "\x00delegation"
	hiddenBudget = "\x00budget"
	hiddenAgent  = "\x00agent"
)

// maxSlots bounds the names in a frame; the slot of a function's spill and the
// header of the next frame's window come after them.
const (
	maxSlots  = 230
	spillSlot = maxSlots + 1
)

// loc is a place where a value may be, seen from one function.
type loc struct {
	kind locKind
	i    int
	g    *Global
}

type locKind uint8

const (
	locSlot locKind = iota
	locCellSlot
	locUp
	locGlobal
	locSpill
	locSpillCell
)

// enter opens a scope for a block's statements. extra names are bound by the
// construct itself, such as parameters.
func (c *compiler) enter(stmts []ast.Stmt, inner map[string]bool, lineage string, extra ...string) *scope {
	s := &scope{parent: c.sc, fn: c.fn, names: map[string]*binding{}, inner: inner, lineage: lineage, first: c.fn.next}
	c.sc = s
	for _, n := range extra {
		c.bind(s, n, true)
	}
	for _, d := range declared(stmts) {
		if b := s.names[d.name]; b != nil {
			b.explicit = b.explicit || d.explicit
			continue
		}
		if !d.explicit && c.certain(s.parent, d.name) {
			continue // an outer binding takes every assignment
		}
		c.bind(s, d.name, d.explicit)
	}
	s.info = c.scopeInfo(s)
	return s
}

// certain reports whether a scope outward from s certainly has name.
func (c *compiler) certain(s *scope, name string) bool {
	for ; s != nil; s = s.parent {
		if b := s.names[name]; b != nil && b.set {
			return true
		}
	}
	return c.in.universe[name] != nil
}

func (c *compiler) bind(s *scope, name string, explicit bool) *binding {
	b := &binding{name: name, scope: s, explicit: explicit}
	s.names[name] = b
	s.order = append(s.order, b)
	if c.mod != nil && s == c.mod.top {
		b.global = c.mod.global(name)
		return b
	}
	b.captured = s.inner[name] || s.inner[allNames]
	fn := s.fn
	if fn.next >= maxSlots {
		fn.spill, fn.size = spillSlot, max(fn.size, spillSlot+1)
		b.spilled, b.slot = true, fn.spills
		fn.spills++
		return b
	}
	b.slot = fn.next
	fn.next++
	fn.size = max(fn.size, fn.next)
	return b
}

// leave closes the innermost scope and gives the prologue that must run when
// it is entered.
func (c *compiler) leave() func(fr fp) {
	s := c.sc
	c.sc = s.parent
	s.fn.next = s.first
	for _, b := range s.order {
		b.set = false
	}
	return s.prologue()
}

// prologue makes the cells of a scope and clears the slots that some use tests.
func (s *scope) prologue() func(fr fp) {
	var cells, clears, spillCells, spillClears []int
	for _, b := range s.order {
		switch {
		case b.global != nil:
		case b.spilled && b.captured:
			spillCells = append(spillCells, b.slot)
		case b.spilled:
			spillClears = append(spillClears, b.slot)
		case b.captured:
			cells = append(cells, b.slot)
		case b.tested:
			clears = append(clears, b.slot)
		}
	}
	if spillCells != nil || spillClears != nil {
		return spillPrologue(s.fn, cells, clears, spillCells, spillClears)
	}
	return plainPrologue(cells, clears)
}

func plainPrologue(cells, clears []int) func(fr fp) {
	switch {
	case len(cells) == 0 && len(clears) == 0:
		return nil
	case len(cells) == 0 && len(clears) == 1:
		i := uint8(clears[0])
		return func(fr fp) {
			if fr[i].p != nil {
				fr[i].p = nil
			}
		}
	}
	return func(fr fp) {
		for _, i := range clears {
			fr[uint8(i)] = Value{}
		}
		for _, i := range cells {
			fr[uint8(i)] = mkCell(&cell{hdr: hdr{kCell}})
		}
	}
}

func spillPrologue(fn *fnCtx, cells, clears, spillCells, spillClears []int) func(fr fp) {
	base := plainPrologue(cells, clears)
	return func(fr fp) {
		if base != nil {
			base(fr)
		}
		sp := toSpill(fr[uint8(fn.spill)])
		for _, i := range spillClears {
			sp.v[i] = Value{}
		}
		for _, i := range spillCells {
			sp.v[i] = mkCell(&cell{hdr: hdr{kCell}})
		}
	}
}

func (c *compiler) scopeInfo(s *scope) *scopeInfo {
	info := &scopeInfo{file: c.file, mod: c.mod}
	if p := s.parent; p != nil {
		info.lineage = p.info.lineage
		if s.lineage == "" && p.fn == s.fn && s.names[hiddenPolicy] == nil && s.names[hiddenModel] == nil && s.names[hiddenBudget] == nil {
			return p.info
		}
	}
	if s.lineage != "" {
		info.lineage = append(slices.Clip(info.lineage), s.lineage)
	}
	info.policies = c.hidden(s, hiddenPolicy)
	info.models = c.hidden(s, hiddenModel)
	info.budgets = c.hidden(s, hiddenBudget)
	info.agents = c.hidden(s, hiddenAgent)
	return info
}

func (c *compiler) hidden(s *scope, name string) []loc {
	var out []loc
	for ; s != nil; s = s.parent {
		if b := s.names[name]; b != nil {
			b.tested = true
			out = append(out, c.locOf(b))
		}
	}
	return out
}

// locOf gives the place of b seen from the function being compiled.
func (c *compiler) locOf(b *binding) loc {
	switch {
	case b.global != nil:
		return loc{kind: locGlobal, g: b.global}
	case b.scope.fn != c.fn:
		return loc{kind: locUp, i: c.upval(c.fn, b)}
	case b.spilled && b.captured:
		return loc{kind: locSpillCell, i: b.slot}
	case b.spilled:
		return loc{kind: locSpill, i: b.slot}
	case b.captured:
		return loc{kind: locCellSlot, i: b.slot}
	}
	return loc{kind: locSlot, i: b.slot}
}

// upval gives the index of b among the cells that fn carries.
func (c *compiler) upval(fn *fnCtx, b *binding) int {
	if i := slices.Index(fn.upvals, b); i >= 0 {
		return i
	}
	if p := fn.parent.fn; p != b.scope.fn {
		c.upval(p, b) // the function between carries it as well
	}
	fn.upvals = append(fn.upvals, b)
	return len(fn.upvals) - 1
}

// candidates gives the bindings that a use of name may mean, innermost first,
// and whether the last of them is certainly set. A name that ends nowhere is
// looked for among the builtins by the caller.
func (c *compiler) candidates(name string) (bs []*binding, certain bool) {
	for s := c.sc; s != nil; s = s.parent {
		b := s.names[name]
		if b == nil && c.mod.open && s == c.mod.top && name[0] != 0 {
			b = c.bind(s, name, false)
		}
		if b == nil {
			continue
		}
		bs = append(bs, b)
		if b.set {
			return bs, true
		}
	}
	return bs, false
}

// home gives the scope that assignments and declarations at this place bind in.
func (c *compiler) home() *scope {
	s := c.sc
	for s.through {
		s = s.parent
	}
	return s
}

// nowSet notes that b is certainly set from here on.
func (c *compiler) nowSet(b *binding) {
	if b.set || b.global != nil && c.mod.open {
		return
	}
	b.set = true
	c.trail = append(c.trail, b)
}

// branches compiles alternatives of which exactly one runs, and keeps as
// certain what is certain after each that comes to its end.
func (c *compiler) branches(alts ...func()) {
	var counts map[*binding]int
	live, wasDead := 0, c.dead
	for _, alt := range alts {
		at := len(c.trail)
		c.dead = wasDead
		alt()
		if !c.dead {
			live++
			for _, b := range c.trail[at:] {
				if counts == nil {
					counts = map[*binding]int{}
				}
				if b.set {
					counts[b]++
				}
			}
		}
		c.undo(at)
	}
	c.dead = live == 0
	for b, n := range counts {
		if n == live {
			c.nowSet(b)
		}
	}
}

// undo takes back what became certain since the trail was at long.
func (c *compiler) undo(at int) {
	for _, b := range c.trail[at:] {
		b.set = false
	}
	c.trail = c.trail[:at]
}

// maybe compiles code that may not run, or not to its end.
func (c *compiler) maybe(f func()) { c.branches(f, func() {}) }
