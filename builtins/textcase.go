package builtins

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// upperText gives the capitals of a text. Some letters have two or three: "ß"
// becomes "SS".
func upperText(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	long := longUpper()
	for _, r := range s {
		if u, ok := long[r]; ok {
			b.WriteString(u)
		} else {
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// lowerText gives the small letters of a text. A capital sigma at the end of a
// word has a form of its own, and the I with a dot keeps it.
func lowerText(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch {
		case r == 'İ':
			b.WriteString("i\u0307")
		case r == 'Σ' && endsWord(s, i):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// endsWord reports whether the sigma at i has a letter before it and none after.
func endsWord(s string, i int) bool {
	before := strings.TrimRightFunc(s[:i], caseless)
	after := strings.TrimLeftFunc(s[i+len("Σ"):], caseless)
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	return cased(last) && !cased(next)
}

func cased(r rune) bool { return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt) }

// caseless reports whether r may stand inside a word without being a letter.
func caseless(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune("'.:·’", r)
}

// longUpper gives the letters whose capitals are several, by Unicode's
// SpecialCasing.
var longUpper = sync.OnceValue(func() map[rune]string {
	pairs := strings.Fields(longUppers)
	m := make(map[rune]string, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		r, _ := utf8.DecodeRuneInString(pairs[i])
		m[r] = pairs[i+1]
	}
	return m
})

const longUppers = "" +
	"ß SS ŉ ʼN ǰ J\u030c ΐ Ι\u0308\u0301 ΰ Υ\u0308\u0301 և ԵՒ ẖ H\u0331 ẗ T\u0308 " +
	"ẘ W\u030a ẙ Y\u030a ẚ Aʾ ὐ Υ\u0313 ὒ Υ\u0313\u0300 ὔ Υ\u0313\u0301 ὖ Υ\u0313\u0342 ᾀ ἈΙ " +
	"ᾁ ἉΙ ᾂ ἊΙ ᾃ ἋΙ ᾄ ἌΙ ᾅ ἍΙ ᾆ ἎΙ ᾇ ἏΙ ᾈ ἈΙ " +
	"ᾉ ἉΙ ᾊ ἊΙ ᾋ ἋΙ ᾌ ἌΙ ᾍ ἍΙ ᾎ ἎΙ ᾏ ἏΙ ᾐ ἨΙ " +
	"ᾑ ἩΙ ᾒ ἪΙ ᾓ ἫΙ ᾔ ἬΙ ᾕ ἭΙ ᾖ ἮΙ ᾗ ἯΙ ᾘ ἨΙ " +
	"ᾙ ἩΙ ᾚ ἪΙ ᾛ ἫΙ ᾜ ἬΙ ᾝ ἭΙ ᾞ ἮΙ ᾟ ἯΙ ᾠ ὨΙ " +
	"ᾡ ὩΙ ᾢ ὪΙ ᾣ ὫΙ ᾤ ὬΙ ᾥ ὭΙ ᾦ ὮΙ ᾧ ὯΙ ᾨ ὨΙ " +
	"ᾩ ὩΙ ᾪ ὪΙ ᾫ ὫΙ ᾬ ὬΙ ᾭ ὭΙ ᾮ ὮΙ ᾯ ὯΙ ᾲ ᾺΙ " +
	"ᾳ ΑΙ ᾴ ΆΙ ᾶ Α\u0342 ᾷ Α\u0342Ι ᾼ ΑΙ ῂ ῊΙ ῃ ΗΙ ῄ ΉΙ " +
	"ῆ Η\u0342 ῇ Η\u0342Ι ῌ ΗΙ ῒ Ι\u0308\u0300 ΐ Ι\u0308\u0301 ῖ Ι\u0342 ῗ Ι\u0308\u0342 ῢ Υ\u0308\u0300 " +
	"ΰ Υ\u0308\u0301 ῤ Ρ\u0313 ῦ Υ\u0342 ῧ Υ\u0308\u0342 ῲ ῺΙ ῳ ΩΙ ῴ ΏΙ ῶ Ω\u0342 " +
	"ῷ Ω\u0342Ι ῼ ΩΙ ﬀ FF ﬁ FI ﬂ FL ﬃ FFI ﬄ FFL ﬅ ST " +
	"ﬆ ST ﬓ ՄՆ ﬔ ՄԵ ﬕ ՄԻ ﬖ ՎՆ ﬗ ՄԽ "
