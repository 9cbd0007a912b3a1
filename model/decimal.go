package model

import (
	"math/big"
	"strconv"
	"strings"
)

// decimal is an exact JSON number: sign, digits without zeros at either end,
// and the power of ten they are multiplied with. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exp      int64
}

// maxExp bounds exponents; a number beyond is taken for one just there.
const maxExp = 1 << 40

// parseDecimal reads a valid JSON number.
func parseDecimal(s string) decimal {
	var d decimal
	s, d.negative = strings.CutPrefix(s, "-")
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		d.exp = parseExp(s[i+1:])
		s = s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	d.exp -= int64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	d.exp += int64(len(digits) - len(d.digits))
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func parseExp(s string) int64 {
	e, err := strconv.ParseInt(s, 10, 64)
	if err != nil || e > maxExp || e < -maxExp {
		if strings.HasPrefix(s, "-") {
			return -maxExp
		}
		return maxExp
	}
	return e
}

func (d decimal) isWhole() bool { return d.exp >= 0 }

// String writes equal numbers alike.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	return sign + d.digits + "e" + strconv.FormatInt(d.exp, 10)
}

// compare is negative, zero or positive as d is less than, equal to or greater
// than e.
func (d decimal) compare(e decimal) int {
	switch {
	case d.sign() != e.sign():
		return d.sign() - e.sign()
	case d.negative:
		return e.compareSize(d)
	}
	return d.compareSize(e)
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// compareSize compares without signs: by the place of the first digit, then
// digit by digit.
func (d decimal) compareSize(e decimal) int {
	a, b := d.exp+int64(len(d.digits)), e.exp+int64(len(e.digits))
	switch {
	case d.digits == "" || e.digits == "":
		return len(d.digits) - len(e.digits)
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return strings.Compare(d.digits, e.digits)
}

// isMultipleOf reports whether d is a whole multiple of e. Numbers too large to
// divide at ease are taken to be.
func (d decimal) isMultipleOf(e decimal) bool {
	x, ok1 := d.rat()
	y, ok2 := e.rat()
	if !ok1 || !ok2 || y.Sign() == 0 {
		return true
	}
	return x.Quo(x, y).IsInt()
}

func (d decimal) rat() (*big.Rat, bool) {
	if len(d.digits) > 1000 || d.exp > 1000 || d.exp < -1000 {
		return nil, false
	}
	return new(big.Rat).SetString(d.String())
}
