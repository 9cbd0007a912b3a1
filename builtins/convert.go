package builtins

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/internal/bignum"
)

func builtinInt(c *eval.Call) (eval.Value, error) {
	v := c.Args[0]
	switch v.Kind() {
	case eval.KInt, eval.KBig:
		return v, nil
	}
	if b, ok := v.AsBool(); ok {
		if b {
			return eval.Int(1), nil
		}
		return eval.Int(0), nil
	}
	if f, ok := v.AsFloat(); ok && !math.IsNaN(f) && !math.IsInf(f, 0) {
		if math.Abs(f) < 1<<62 {
			return eval.Int(int64(f)), nil
		}
		i, _ := big.NewFloat(f).Int(nil)
		return eval.BigInt(i), nil
	}
	if s, ok := v.AsString(); ok {
		if n, ok := parseShort(s); ok {
			return eval.Int(n), nil
		}
		if i, ok := parseInt(s); ok {
			return eval.BigInt(i), nil
		}
	}
	return eval.Value{}, cannotConvert(v, "Int")
}

// maxQuoted bounds how much of a text a message shows, in bytes.
const maxQuoted = 1000

func cannotConvert(v eval.Value, to string) error {
	if s, ok := v.AsString(); ok {
		if len(s) > maxQuoted {
			s = strings.ToValidUTF8(s[:maxQuoted], "") + "..."
		}
		return fail("cannot convert %s to %s", eval.Quote(s), to)
	}
	s, err := eval.Text(v)
	if err != nil {
		return err
	}
	return fail("cannot convert %s to %s", s, to)
}

// parseShort reads up to 18 plain digits, as nearly all that is read is.
func parseShort(s string) (n int64, ok bool) {
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

// parseInt reads an Int as Python's int() does: spaces around, a sign, any
// decimal digits, single underscores between them.
func parseInt(s string) (*big.Int, bool) {
	s, ok := plainDigits(strings.TrimFunc(s, unicode.IsSpace))
	if !ok {
		return nil, false
	}
	body := strings.TrimLeft(s, "+-")
	if len(s)-len(body) > 1 || body == "" || strings.Trim(body, "0123456789") != "" {
		return nil, false
	}
	return bignum.Parse(s, 10)
}

// plainDigits turns the decimal digits of any script into ASCII and takes out
// underscores between digits; ok is false where one stands elsewhere.
func plainDigits(s string) (string, bool) {
	var b strings.Builder
	rs := []rune(s)
	for i, r := range rs {
		switch {
		case r == '_':
			if i == 0 || i == len(rs)-1 || !unicode.Is(unicode.Nd, rs[i-1]) || !unicode.Is(unicode.Nd, rs[i+1]) {
				return "", false
			}
		case r < 128:
			b.WriteRune(r)
		case unicode.Is(unicode.Nd, r):
			b.WriteByte('0' + digitValue(r))
		default:
			return "", false
		}
	}
	return b.String(), true
}

// digitValue gives the value of a decimal digit of any script: the table's
// ranges begin at a zero and hold whole rows of ten.
func digitValue(r rune) byte {
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	return 0
}

func builtinFloat(c *eval.Call) (eval.Value, error) {
	v := c.Args[0]
	if b, ok := v.AsBool(); ok {
		if b {
			return eval.Float(1), nil
		}
		return eval.Float(0), nil
	}
	if f, ok := v.AsNumber(); ok {
		if _, isFloat := v.AsFloat(); !isFloat && math.IsInf(f, 0) {
			return eval.Value{}, fail("integer too large to convert to Float")
		}
		return eval.Float(f), nil
	}
	if s, ok := v.AsString(); ok {
		if f, ok := parseFloat(s); ok {
			return eval.Float(f), nil
		}
	}
	return eval.Value{}, cannotConvert(v, "Float")
}

// parseFloat reads a Float as Python's float() does.
func parseFloat(s string) (float64, bool) {
	s, ok := plainDigits(strings.TrimFunc(s, unicode.IsSpace))
	if !ok {
		return 0, false
	}
	body := strings.ToLower(strings.TrimLeft(s, "+-"))
	if len(s)-len(body) > 1 || body == "" {
		return 0, false
	}
	switch body {
	case "nan":
		return math.NaN(), true
	case "inf", "infinity":
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil
	}
	if strings.Trim(body, "0123456789.e+-") != "" || strings.HasPrefix(body, "e") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange)
}
