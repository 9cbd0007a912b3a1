package eval

import (
	"maps"
	"slices"

	"github.com/sense-lang/sense/ast"
)

// Coverage counts how often the lines of a program ran. The zero Coverage is
// ready for use, for one program; programs that run at the same time need one
// each.
type Coverage struct{ files map[string]map[int]*int64 }

// Line is a line with a statement, and how often one of them ran.
type Line struct {
	Number int
	Count  int64
}

// Files lists the files that were compiled, sorted.
func (v *Coverage) Files() []string { return slices.Sorted(maps.Keys(v.files)) }

// Lines gives a file's lines with statements, in order.
func (v *Coverage) Lines(file string) []Line {
	var out []Line
	for _, n := range slices.Sorted(maps.Keys(v.files[file])) {
		out = append(out, Line{n, *v.files[file][n]})
	}
	return out
}

// Add counts what another run counted.
func (v *Coverage) Add(o *Coverage) {
	for file, lines := range o.files {
		for n, count := range lines {
			*v.counter(file, n) += *count
		}
	}
}

func (v *Coverage) counter(file string, line int) *int64 {
	if v.files == nil {
		v.files = map[string]map[int]*int64{}
	}
	if v.files[file] == nil {
		v.files[file] = map[int]*int64{}
	}
	n := v.files[file][line]
	if n == nil {
		n = new(int64)
		v.files[file][line] = n
	}
	return n
}

// covered makes a statement count its line. A docstring is no code.
func (c *compiler) covered(s ast.Stmt, run stmt) stmt {
	v := c.in.cfg.Coverage
	if v == nil {
		return run
	}
	if x, ok := s.(*ast.ExprStmt); ok {
		if _, ok := x.X.(*ast.StringLit); ok {
			return run
		}
	}
	n := v.counter(c.file, int(s.Pos().Line))
	return func(fr fp) (ctl, Value) {
		*n++
		return run(fr)
	}
}
