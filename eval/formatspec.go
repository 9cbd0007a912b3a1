package eval

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// spec formats by a specification.
type spec struct{ ast.Format }

// FormatValue gives a value's text by a format specification as Python's; an
// empty one gives the text that print shows.
func FormatValue(v Value, text string) (string, error) {
	if text == "" {
		return Text(v)
	}
	f, err := ast.ParseFormat(text)
	if err != nil {
		return "", diag.New(diag.Runtime, "unknown format '%s'", text)
	}
	return spec{f}.format(v, text)
}

func (s spec) format(v Value, text string) (string, error) {
	switch {
	case isIntish(v) && strings.IndexByte("\x00dx", s.Verb) >= 0:
		if s.Precision >= 0 {
			return "", misfit(text, v)
		}
		base := 10
		if s.Verb == 'x' {
			base = 16
		}
		return s.number(bigOf(v).Text(base)), nil
	case isNumber(v) && strings.IndexByte("sdx", s.Verb) < 0:
		f, err := floatOf(v)
		if err != nil {
			return "", err
		}
		return s.number(s.float(f)), nil
	case s.Verb != 0 && s.Verb != 's' || s.Comma || s.Sign != 0 || s.Zero:
		return "", misfit(text, v)
	}
	str, err := Text(v)
	if err != nil {
		return "", err
	}
	if s.Precision >= 0 && utf8.RuneCountInString(str) > s.Precision {
		str = string([]rune(str)[:s.Precision])
	}
	return s.pad("", str, '<'), nil
}

func misfit(text string, v Value) error {
	return diag.New(diag.Runtime, "format '%s' does not fit a value of type %s", text, typeName(v))
}

// isFixed reports whether the specification is no more than .nf.
func (s spec) isFixed() bool {
	return s.Verb == 'f' && s.Width == 0 && s.Sign == 0 && !s.Comma && !s.Zero
}

func finite(f float64) bool { return f-f == 0 }

func (s spec) float(f float64) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return FormatFloat(f)
	}
	p := s.Precision
	switch s.Verb {
	case '%':
		return strconv.FormatFloat(f*100, 'f', orSix(p), 64) + "%"
	case 'f', 'e':
		return strconv.FormatFloat(f, s.Verb, orSix(p), 64)
	}
	if p >= 0 {
		return generalFloat(f, p)
	}
	return FormatFloat(f)
}

func orSix(p int) int {
	if p < 0 {
		return 6
	}
	return p
}

// generalFloat is Python's 'g': p digits, an exponent only where it is needed.
func generalFloat(f float64, p int) string {
	p = max(p, 1)
	e := strconv.FormatFloat(f, 'e', p-1, 64)
	exp, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	if exp < -4 || exp >= p {
		m := e[:strings.IndexByte(e, 'e')]
		return trimZeros(m) + e[strings.IndexByte(e, 'e'):]
	}
	return trimZeros(strconv.FormatFloat(f, 'f', p-1-exp, 64))
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// number puts sign, separators and padding to the digits of a number.
func (s spec) number(t string) string {
	sign := ""
	if strings.HasPrefix(t, "-") {
		sign, t = "-", t[1:]
	} else if s.Sign == '+' || s.Sign == ' ' {
		sign = string(s.Sign)
	}
	if s.Comma {
		width := 0
		if s.Zero && s.Align == 0 {
			width = s.Width - len(sign)
		}
		t = group(t, width)
	}
	return s.pad(sign, t, '>')
}

// group puts commas between the thousands, and zeros before them up to a width;
// the zeros are grouped too, and none begins with a comma.
func group(t string, width int) string {
	whole, rest := t, ""
	if i := strings.IndexAny(t, ".e%"); i >= 0 {
		whole, rest = t[:i], t[i:]
	}
	n := len(whole)
	for n+(n-1)/3 < width-len(rest) {
		n++
	}
	whole = strings.Repeat("0", n-len(whole)) + whole
	var b strings.Builder
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String() + rest
}

func (s spec) pad(sign, t string, usual byte) string {
	n := s.Width - utf8.RuneCountInString(sign) - utf8.RuneCountInString(t)
	if n <= 0 {
		return sign + t
	}
	align := s.Align
	if align == 0 {
		align = usual
	}
	if s.Zero && s.Align == 0 {
		return sign + strings.Repeat("0", n) + t
	}
	fill := func(k int) string { return strings.Repeat(string(s.Fill), k) }
	switch align {
	case '<':
		return sign + t + fill(n)
	case '^':
		return fill(n/2) + sign + t + fill(n-n/2)
	}
	return fill(n) + sign + t
}
