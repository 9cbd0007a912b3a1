package lexer

import "unicode"

func (s *scanner) number() {
	p := s.pos()
	if end := s.hex(); end > 0 {
		s.emit(Int, p, end)
		return
	}
	end, wide := s.digits(s.off)
	k := Int
	if end+1 < len(s.src) && s.src[end] == '.' {
		if frac, w := s.digits(end + 1); frac > end+1 {
			k, end, wide = Float, frac, wide+w
		}
	}
	if exp, w := s.exponent(end); exp > end {
		k, end, wide = Float, exp, wide+w
	}
	s.emit(k, p, end)
	s.wide += wide
}

// hex gives the end of the hexadecimal number here, 0 where there is none.
func (s *scanner) hex() int {
	i := s.off
	if i+2 >= len(s.src) || s.src[i] != '0' || s.src[i+1]|0x20 != 'x' || !isHex(s.src[i+2]) {
		return 0
	}
	i += 2
	for i < len(s.src) && (isHex(s.src[i]) || s.src[i] == '_' && i+1 < len(s.src) && s.src[i-1] != '_' && isHex(s.src[i+1])) {
		i++
	}
	return i
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// exponent gives the end of the exponent at i, i where there is none. Letters
// after a number that make none are left to be a name.
func (s *scanner) exponent(i int) (end, wide int) {
	if i >= len(s.src) || s.src[i]|0x20 != 'e' {
		return i, 0
	}
	first := i + 1
	if first < len(s.src) && (s.src[first] == '+' || s.src[first] == '-') {
		first++
	}
	if end, wide = s.digits(first); end > first {
		return end, wide
	}
	return i, 0
}

// digits gives the end of the run of decimal digits at i, and how many of its
// bytes continue a code point. A "_" may stand between two digits.
func (s *scanner) digits(i int) (end, wide int) {
	start := i
	for i < len(s.src) {
		if isDigit(s.src[i]) || s.src[i] == '_' && i > start && s.src[i-1] != '_' && s.digitAt(i+1) {
			i++
			continue
		}
		r, size := wideRune(s.src[i:])
		if !unicode.IsDigit(r) {
			break
		}
		i += size
		wide += size - 1
	}
	return i, wide
}

func (s *scanner) digitAt(i int) bool {
	if i >= len(s.src) {
		return false
	}
	r, _ := wideRune(s.src[i:])
	return isDigit(s.src[i]) || unicode.IsDigit(r)
}
