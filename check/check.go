// Package check finds mistakes in Sense programs without running them, and says
// what a program needs and which rule decides it. What it reports as an error is
// certain to fail where it is reached; what may be meant, because a test or a
// try stands around it, is a warning.
//
// A check has two passes. The first (walk.go) follows the order of evaluation,
// finds every scope and every place that binds a name (scope.go), and notes what
// has to be looked at. The second looks, when all that can bind a name in any
// module is known: names.go, calls.go, types.go, and needs.go for capabilities.
package check

import (
	"cmp"
	"errors"
	"slices"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/parser"
	"github.com/sense-lang/sense/policy"
)

// Level says how bad a finding is.
type Level string

// The levels. Only an Error makes a check fail.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Note    Level = "note"
)

// Finding is one thing that a check found.
type Finding struct {
	Level Level
	// Code names the sort of finding, such as "undefined-name".
	Code string
	File string
	Pos  diag.Pos
	Msg  string
	// Notes are further lines, such as a near name.
	Notes []string
}

// Options say what a program is checked against. The zero Options read modules
// from disk and know no ceiling.
type Options struct {
	// ReadFile reads a module; nil is eval.ReadModule.
	ReadFile func(path string) ([]byte, error)
	// Ceiling is what flags and configuration permit; nil permits everything.
	Ceiling *policy.Ceiling
}

// Report is what a check found in a program and its modules.
type Report struct {
	// Findings are in order of file, the program's own first, and of place.
	Findings []Finding
	// Needs are the capabilities that the program asks for.
	Needs []Need
	// Files are the program and its modules, in the order they were read.
	Files []string
}

// Failed reports whether there is an error among the findings.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Level == Error })
}

// Count gives the number of findings of a level.
func (r *Report) Count(l Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == l {
			n++
		}
	}
	return n
}

// Source checks a program; name is the file that its imports are relative to.
// A program that cannot be read at all has the one finding that says so.
func Source(name, src string, o Options) *Report {
	c := newChecker(o)
	f, err := parser.Parse(name, src)
	if err != nil {
		c.syntax(name, Error, err)
		return c.report()
	}
	return c.program(f)
}

// File checks a parsed program.
func File(f *ast.File, o Options) *Report { return newChecker(o).program(f) }

// checker is one check.
type checker struct {
	o        Options
	table    *table
	modules  map[string]*module // by absolute path
	loading  []*loading
	main     *module
	files    []string
	foreign  map[string]bool // imported files that do not look like programs
	findings []Finding
	// later is what the second pass looks at, in the order of the walk.
	later []func()
	// rebound are the builtins that some code assigns.
	rebound map[string]bool
	types   map[ast.Expr]types
	// bindings are the types of names, as far as they were asked for.
	bindings map[*binding]types
	needs    needs
	// bound are the bindings of modules by name, as far as they were asked for.
	bound map[*module]map[string]*binding
	// lookedAt counts the names that hints were looked for among.
	lookedAt int
}

func newChecker(o Options) *checker {
	if o.ReadFile == nil {
		o.ReadFile = eval.ReadModule
	}
	return &checker{o: o, table: shared(), modules: map[string]*module{}, rebound: map[string]bool{}, foreign: map[string]bool{},
		types: map[ast.Expr]types{}, bindings: map[*binding]types{},
		bound: map[*module]map[string]*binding{}}
}

func (c *checker) program(f *ast.File) *Report {
	c.main = c.module(f, "")
	for i := 0; i < len(c.later); i++ {
		c.later[i]()
	}
	c.unusedRules()
	return c.report()
}

func (c *checker) report() *Report {
	for i, f := range c.findings {
		if c.foreign[f.File] { // a program must not make us show what is in any file
			c.findings[i].Msg, c.findings[i].Notes = "this does not run (its text is not shown, since the file's name does not end in .sns)", nil
		}
	}
	order := c.order()
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(order[a.File]-order[b.File], int(a.Pos.Offset-b.Pos.Offset))
	})
	same := func(a, b Finding) bool {
		return a.File == b.File && a.Pos == b.Pos && a.Code == b.Code && a.Msg == b.Msg
	}
	return &Report{Findings: slices.CompactFunc(c.findings, same), Needs: c.needs.list(c), Files: c.files}
}

// order gives each file's place among those of the program.
func (c *checker) order() map[string]int {
	order := make(map[string]int, len(c.files))
	for i, f := range c.files {
		order[f] = i
	}
	return order
}

// syntax reports a text that is no program.
func (c *checker) syntax(name string, level Level, err error) {
	f := Finding{Level: level, Code: "syntax", File: name, Msg: err.Error()}
	var e *diag.Error
	if errors.As(err, &e) {
		f.Pos, f.Msg, f.Notes = e.Pos, e.Msg, e.Notes
	}
	if !slices.Contains(c.files, name) {
		c.files = append(c.files, name)
	}
	c.findings = append(c.findings, f)
}

// add reports something at a place of the program. What a test or a try around
// it may expect is no error.
func (c *checker) add(at place, level Level, code string, pos diag.Pos, msg string, notes ...string) {
	if at.dead {
		return
	}
	if level == Error && at.guard != "" {
		level = Warning
		notes = append(notes, "the "+at.guard+" around it gets this error")
	}
	c.findings = append(c.findings, Finding{Level: level, Code: code, File: at.scope.mod.file, Pos: pos, Msg: msg, Notes: notes})
}
