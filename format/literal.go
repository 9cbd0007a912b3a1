package format

import (
	"math"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/ast"
)

// literal adds an expression of a single token.
func (p *printer) literal(l *line, x ast.Expr) {
	switch x := x.(type) {
	case *ast.Ident:
		l.add(x.Name)
	case *ast.IntLit:
		if x.Big != nil {
			l.add(x.Big.String())
			return
		}
		l.buf = strconv.AppendInt(l.buf, x.Value, 10)
	case *ast.FloatLit:
		l.add(p.float(x))
	case *ast.StringLit:
		l.add(quote(x.Value))
	case *ast.BoolLit:
		l.buf = strconv.AppendBool(l.buf, x.Value)
	case *ast.NilLit:
		l.add("nil")
	}
}

// float gives the shortest spelling without an exponent. One too big for 64 bits
// keeps its digits.
func (p *printer) float(x *ast.FloatLit) string {
	if math.IsInf(x.Value, 0) {
		return p.toks[p.start(x)].Value()
	}
	s := strconv.FormatFloat(x.Value, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "\r", `\r`)

// quote spells a string: in one line with escapes, or, where it holds a line
// end, in triple quotes with its lines as they are.
func quote(s string) string {
	if !strings.Contains(s, "\n") {
		return `"` + escapes.Replace(s) + `"`
	}
	var b strings.Builder
	b.WriteString(`"""`)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			n := len(s[i:]) - len(strings.TrimLeft(s[i:], `"`))
			run := s[i : i+n]
			if n >= 3 || i+n == len(s) {
				run = strings.Repeat(`\"`, n)
			}
			b.WriteString(run)
			i += n - 1
		case '\\':
			b.WriteString(`\\`)
		case '\r':
			b.WriteString(`\r`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString(`"""`)
	return b.String()
}
