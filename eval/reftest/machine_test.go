package reftest

import (
	"fmt"
	"strings"

	"github.com/sense-lang/sense/ast"
)

// scope is one scope of the running program.
type scope struct {
	vars   map[string]value
	parent *scope
	// rules are those of the policy statements that ran in it.
	rules map[string]bool
	// lineage is set in the scopes of agents, tools, actions and rollbacks.
	lineage string
	// body is the agent whose body's scope this is.
	body *agent
	// through is the scope of the one name of a catch: what else is bound there
	// belongs to the scope around it.
	through bool
}

func newScope(parent *scope) *scope { return &scope{vars: map[string]value{}, parent: parent} }

// find gives the nearest scope outward that has a name, nil where there is none.
func (s *scope) find(name string) *scope {
	for ; s != nil; s = s.parent {
		if _, ok := s.vars[name]; ok {
			return s
		}
	}
	return nil
}

// home is where declarations at this place bind.
func (s *scope) home() *scope {
	for s.through {
		s = s.parent
	}
	return s
}

// declare binds a name here.
func (s *scope) declare(name string, v value) { s.home().vars[name] = v }

// assign is name = v.
func (s *scope) assign(name string, v value) {
	if at := s.find(name); at != nil {
		at.vars[name] = v
		return
	}
	s.declare(name, v)
}

// lineageOf lists the agents, tools and actions around a scope, outermost first.
func lineageOf(s *scope) string {
	var out []string
	for ; s != nil; s = s.parent {
		if s.lineage != "" {
			out = append([]string{s.lineage}, out...)
		}
	}
	return strings.Join(out, " > ")
}

// failure is an error of the program; discard ends one that is too long to be
// worth comparing.
type failure struct {
	kind, msg string
	line      int
}

type discard struct{}

func (f *failure) text() string {
	if f.line == 0 {
		return f.msg
	}
	return fmt.Sprintf("[line %d] %s", f.line, f.msg)
}

// caught is a failure as a value.
type caught struct{ f *failure }

// machine runs one program.
type machine struct {
	out    strings.Builder
	tests  []string
	audit  []string
	steps  int
	depth  int
	line   int      // of the construct that runs
	where  *scope   // of the place of the running call of a builtin
	active []*scope // the places of the active calls, innermost last
	agent  *agent   // whose body runs
	tx     *transaction
	stops  []func() // end the bodies of agents that are still paused
}

type transaction struct {
	outer *transaction
	done  []*action
}

const (
	maxSteps = 12_000
	maxDepth = 60
)

func (m *machine) spend(n int) {
	if m.steps += n; m.steps > maxSteps {
		panic(discard{})
	}
}

// nested runs f one level deeper.
func (m *machine) nested(f func()) {
	if m.depth++; m.depth > maxDepth {
		panic(discard{})
	}
	f()
	m.depth--
}

func (m *machine) fail(kind, format string, args ...any) {
	panic(&failure{kind, fmt.Sprintf(format, args...), m.line})
}

// try runs f and gives the failure it ends in.
func (m *machine) try(f func()) (err *failure) {
	depth, calls, agent, where, tx := m.depth, m.calls(), m.agent, m.where, m.tx
	defer func() {
		if p := recover(); p != nil {
			f, is := p.(*failure)
			if !is {
				panic(p)
			}
			m.depth, m.agent, m.where, m.tx = depth, agent, where, tx
			m.unwind(calls)
			err = f
		}
	}()
	f()
	return nil
}

// calls counts the active calls of the body that runs: those of the program
// itself, or those that an agent's body made. The ones below belong to whoever
// started or resumed it last.
func (m *machine) calls() int {
	if m.agent == nil {
		return len(m.active)
	}
	return len(m.active) - m.agent.base
}

// unwind leaves calls until n of the running body's are active.
func (m *machine) unwind(n int) {
	if m.agent != nil {
		n += m.agent.base
	}
	m.active = m.active[:n]
}

// abandon ends the body of a paused agent.
func (m *machine) abandon(stop func()) {
	defer func() { _ = recover() }() // its discard
	stop()
}

// outcome is what a program did.
type outcome struct {
	out, err string
	tests    []string
	audit    []string
}

// interpret runs a program; ok is false where it took too long.
func interpret(f *ast.File) (o outcome, ok bool) {
	m := &machine{}
	defer func() {
		if p := recover(); p != nil && p != (discard{}) {
			panic(p)
		}
		for _, stop := range m.stops {
			m.abandon(stop)
		}
	}()
	builtins := newScope(nil)
	for name, b := range builtinTable {
		builtins.vars[name] = &builtin{name, b}
	}
	top := newScope(builtins)
	err := m.try(func() {
		if how, _ := m.stmts(f.Body, top, context{}); how != next {
			panic("a statement of the module left it")
		}
	})
	o = outcome{out: m.out.String(), tests: m.tests, audit: m.audit}
	if err != nil {
		o.err = err.kind + ": " + err.text()
	}
	return o, true
}
