package bignum

import (
	"math/big"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, n := range []int{1, 19, 20, chunk - 1, chunk, chunk + 1, 2 * chunk, 2*chunk + 1, 5*chunk + 7, 12345} {
		for _, base := range []int{10, 16} {
			for _, sign := range []string{"", "-", "+"} {
				digits := sign + strings.Repeat("9081726354", n/10+1)[:n]
				want, _ := new(big.Int).SetString(digits, base)
				got, ok := Parse(digits, base)
				if !ok || got.Cmp(want) != 0 {
					t.Errorf("%d digits of base %d with %q: %v", n, base, sign, ok)
				}
			}
		}
	}
}

func TestParseZeros(t *testing.T) {
	got, ok := Parse(strings.Repeat("0", 3*chunk)+"7", 10)
	if !ok || got.Int64() != 7 {
		t.Errorf("%v %v", got, ok)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, s := range []string{"", "-", "+", "--1", "+-1", "1.5", "1_0", " 1", "x", "12x",
		strings.Repeat("1", chunk) + "x", "x" + strings.Repeat("1", chunk*2), strings.Repeat("1", chunk) + "-" + strings.Repeat("1", chunk-1), strings.Repeat("9", maxDigits+1)} {
		if n, ok := Parse(s, 10); ok {
			t.Errorf("%.20s (%d): %v", s, len(s), n)
		}
	}
	if n, ok := Parse(strings.Repeat("f", MaxBits/4+1), 16); ok {
		t.Errorf("%d bits", n.BitLen())
	}
}

// A number of the greatest size is read in a second or so, not in minutes.
func TestParseLong(t *testing.T) {
	n, ok := Parse("1"+strings.Repeat("0", maxDigits-10), 10)
	if !ok || n.TrailingZeroBits() != maxDigits-10 {
		t.Errorf("%v", ok)
	}
}

func BenchmarkParse(b *testing.B) {
	s := strings.Repeat("7", 1_000_000)
	for b.Loop() {
		Parse(s, 10)
	}
}
