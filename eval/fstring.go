package eval

import (
	"strconv"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// fpiece is a compiled part of an f-string.
type fpiece struct {
	text   string
	x      expr
	at     diag.Pos
	spec   string
	format spec
	known  bool // format is spec's
}

// fstring compiles f"text {x:spec}".
func (c *compiler) fstring(e *ast.FString) expr {
	pieces := make([]fpiece, len(e.Parts))
	for i, p := range e.Parts {
		pieces[i] = fpiece{text: p.Text, spec: p.Spec, at: e.P}
		if p.X != nil {
			pieces[i].x, pieces[i].at = c.expr(p.X), p.X.Pos()
		}
		if f, err := ast.ParseFormat(p.Spec); err == nil && p.Spec != "" {
			pieces[i].format, pieces[i].known = spec{f}, true
		}
	}
	return func(fr fp) Value {
		var room [96]byte
		b := room[:0]
		for i := range pieces {
			p := &pieces[i]
			if p.x == nil {
				b = append(b, p.text...)
				continue
			}
			var err error
			if b, err = p.append(fr, b, p.x(fr)); err != nil {
				fail(fr, &p.at, err)
			}
		}
		return newText(b)
	}
}

// append appends the text of a value.
func (p *fpiece) append(fr fp, b []byte, v Value) ([]byte, error) {
	switch {
	case p.spec == "" && isStr(v):
		return appendLarge(fr, b, toStr(v).s)
	case p.spec == "" && isInt(v):
		return strconv.AppendInt(b, toInt(v), 10), nil
	case p.spec == "" && isFloat(v):
		return appendFloat(b, toFloat(v)), nil
	case p.known && p.format.isFixed() && isNumber(v):
		if f, err := floatOf(v); err == nil && finite(f) {
			return strconv.AppendFloat(b, f, 'f', orSix(p.format.Precision), 64), nil
		}
	}
	var s string
	var err error
	if p.known {
		s, err = p.format.format(v, p.spec)
	} else {
		s, err = FormatValue(v, p.spec)
	}
	if err != nil {
		return b, err
	}
	return appendLarge(fr, b, s)
}

// appendLarge appends text, which may be so much that room is asked for first.
func appendLarge(fr fp, b []byte, s string) ([]byte, error) {
	if len(s) >= largeValue || len(b) >= largeValue && len(b)+len(s) > cap(b) {
		if err := threadOf(fr).Reserve(int64(2*len(b) + len(s))); err != nil {
			return b, err
		}
	}
	return append(b, s...), nil
}
