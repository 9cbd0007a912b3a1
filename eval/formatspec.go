package eval

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sense-lang/sense/diag"
)

// spec is a format specification: [[fill]align][sign][0][width][,][.precision][type]
type spec struct {
	fill      rune
	align     byte // '<', '>', '^', '=' or 0
	sign      byte // '+', ' ' or 0
	width     int
	comma     bool
	precision int // -1: none
	kind      byte
}

// maxWidth bounds the width and the precision of a format.
const maxWidth = 10_000

// FormatValue gives a value's text by a format specification as Python's; an
// empty one gives the text that print shows.
func FormatValue(v Value, text string) (string, error) {
	if text == "" {
		return Text(v)
	}
	s, ok := parseSpec(text)
	if !ok {
		return "", diag.New(diag.Runtime, "unknown format '%s'", text)
	}
	return s.format(v, text)
}

func parseSpec(t string) (spec, bool) {
	s := spec{fill: ' ', precision: -1}
	t = s.alignment(t)
	if t != "" && (t[0] == '+' || t[0] == ' ') {
		s.sign, t = t[0], t[1:]
	}
	if t != "" && t[0] == '0' && s.align == 0 {
		s.fill, s.align, t = '0', '=', t[1:]
	}
	ok := true
	if s.width, t, ok = leadingInt(t); !ok {
		return s, false
	}
	if strings.HasPrefix(t, ",") {
		s.comma, t = true, t[1:]
	}
	if strings.HasPrefix(t, ".") {
		before := len(t) - 1
		if s.precision, t, ok = leadingInt(t[1:]); !ok || len(t) == before {
			return s, false
		}
	}
	if len(t) == 1 && strings.Contains("sdfeg%xXob", t) {
		s.kind, t = t[0], ""
	}
	return s, t == ""
}

// alignment takes fill and alignment off the front.
func (s *spec) alignment(t string) string {
	r, n := utf8.DecodeRuneInString(t)
	if n > 0 && len(t) > n && strings.IndexByte("<>^=", t[n]) >= 0 {
		s.fill, s.align = r, t[n]
		return t[n+1:]
	}
	if t != "" && strings.IndexByte("<>^=", t[0]) >= 0 {
		s.align = t[0]
		return t[1:]
	}
	return t
}

func leadingInt(t string) (n int, rest string, ok bool) {
	i := 0
	for i < len(t) && t[i] >= '0' && t[i] <= '9' {
		i++
	}
	if i == 0 {
		return 0, t, true
	}
	n, err := strconv.Atoi(t[:i])
	return n, t[i:], err == nil && n <= maxWidth
}

func (s spec) format(v Value, text string) (string, error) {
	bad := diag.New(diag.Runtime, "format '%s' does not fit a value of type %s", text, typeName(v))
	switch {
	case isIntish(v) && strings.IndexByte("\x00dxXob", s.kind) >= 0:
		if s.precision >= 0 {
			return "", bad
		}
		return s.number(intDigits(bigOf(v), s.kind)), nil
	case isNumber(v) && s.kind != 's' && strings.IndexByte("dxXob", s.kind) < 0:
		f, err := floatOf(v)
		if err != nil {
			return "", err
		}
		return s.number(s.float(f)), nil
	case s.kind != 0 && s.kind != 's' || s.comma || s.sign != 0 || s.align == '=':
		return "", bad
	}
	str, err := Text(v)
	if err != nil {
		return "", err
	}
	if s.precision >= 0 && utf8.RuneCountInString(str) > s.precision {
		str = string([]rune(str)[:s.precision])
	}
	return s.pad("", str, '<'), nil
}

func intDigits(b *big.Int, kind byte) string {
	base := map[byte]int{'x': 16, 'X': 16, 'o': 8, 'b': 2}[kind]
	if base == 0 {
		base = 10
	}
	t := b.Text(base)
	if kind == 'X' {
		t = strings.ToUpper(t)
	}
	return t
}

func (s spec) float(f float64) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return FormatFloat(f)
	}
	p := s.precision
	switch s.kind {
	case '%':
		return strconv.FormatFloat(f*100, 'f', orSix(p), 64) + "%"
	case 'f', 'e':
		return strconv.FormatFloat(f, s.kind, orSix(p), 64)
	case 'g':
		return generalFloat(f, orSix(p))
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
	} else if s.sign != 0 {
		sign = string(s.sign)
	}
	if s.comma {
		t = group(t)
	}
	return s.pad(sign, t, '>')
}

func group(t string) string {
	whole, rest := t, ""
	if i := strings.IndexAny(t, ".e%"); i >= 0 {
		whole, rest = t[:i], t[i:]
	}
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
	n := s.width - utf8.RuneCountInString(sign) - utf8.RuneCountInString(t)
	if n <= 0 {
		return sign + t
	}
	align := s.align
	if align == 0 {
		align = usual
	}
	fill := func(k int) string { return strings.Repeat(string(s.fill), k) }
	switch align {
	case '<':
		return sign + t + fill(n)
	case '^':
		return fill(n/2) + sign + t + fill(n-n/2)
	case '=':
		return sign + fill(n) + t
	}
	return fill(n) + sign + t
}
