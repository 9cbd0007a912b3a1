// Package bignum reads long whole numbers in less than quadratic time.
package bignum

import "math/big"

// MaxBits bounds the size of a number, as it does in the language.
const MaxBits = 10_000_000

// maxDigits is how many decimal digits MaxBits may take.
const maxDigits = 3_010_300

// chunk is how many digits math/big reads at once.
const chunk = 2000

// Parse reads digits of base 10 or 16, with a sign before them or none. ok is
// false for anything else and for a number of more than MaxBits.
func Parse(digits string, base int) (n *big.Int, ok bool) {
	neg := false
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		neg, digits = digits[0] == '-', digits[1:]
	}
	if len(digits) > maxDigits || digits == "" || digits[0] == '-' || digits[0] == '+' {
		return nil, false
	}
	if n = parse(digits, base, map[int]*big.Int{}); n == nil || n.BitLen() > MaxBits {
		return nil, false
	}
	if neg {
		n.Neg(n)
	}
	return n, true
}

// parse reads the halves of digits apart and puts them together; powers keeps
// base to the power of lengths of halves.
func parse(digits string, base int, powers map[int]*big.Int) *big.Int {
	if len(digits) <= chunk {
		if n, ok := new(big.Int).SetString(digits, base); ok && digits[0] != '-' && digits[0] != '+' {
			return n
		}
		return nil
	}
	low := chunk
	for low*2 < len(digits) {
		low *= 2
	}
	hi := parse(digits[:len(digits)-low], base, powers)
	lo := parse(digits[len(digits)-low:], base, powers)
	if hi == nil || lo == nil {
		return nil
	}
	p := powers[low]
	if p == nil {
		p = new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(low)), nil)
		powers[low] = p
	}
	return hi.Add(hi.Mul(hi, p), lo)
}
