package eval

import (
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// fpiece is a compiled part of an f-string.
type fpiece struct {
	text string
	x    expr
	at   diag.Pos
	spec string
}

// fstring compiles f"text {x:spec}".
func (c *compiler) fstring(e *ast.FString) expr {
	pieces := make([]fpiece, len(e.Parts))
	for i, p := range e.Parts {
		pieces[i] = fpiece{text: p.Text, spec: p.Spec, at: e.P}
		if p.X != nil {
			pieces[i].x, pieces[i].at = c.expr(p.X), p.X.Pos()
		}
	}
	return func(fr fp) Value {
		var b strings.Builder
		room := 0
		for i := range pieces {
			p := &pieces[i]
			if p.x == nil {
				b.WriteString(p.text)
				continue
			}
			s, err := FormatValue(p.x(fr), p.spec)
			if err != nil {
				fail(fr, &p.at, err)
			}
			if len(s) >= largeValue || b.Len()+len(s) > room && b.Len() >= largeValue {
				room = 2*b.Len() + len(s)
				if err := threadOf(fr).Reserve(int64(room)); err != nil {
					fail(fr, &p.at, err)
				}
			}
			b.WriteString(s)
		}
		return newStr(b.String())
	}
}
