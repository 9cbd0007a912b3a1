package audit

import "strings"

// shape is a known kind of key: a prefix and what must follow it.
type shape struct {
	prefix string
	// min is the least number of characters after the prefix.
	min int
	// solid is the least length of a run of letters and digits, with a digit,
	// among them: words joined by "-" and "_" have none.
	solid int
	// first is the least length of the run of letters and digits right after the
	// prefix, where words joined by "_" are the likelier reading.
	first int
	// exact says that there are exactly min.
	exact bool
	// upper says that only capitals and digits follow.
	upper bool
}

// shapes are looked up by their first character.
var shapes = [256][]shape{
	's': {{prefix: "sk-", min: 16, solid: 16}, {prefix: "sk_live_", min: 16, first: 16}, {prefix: "sk_test_", min: 16, first: 16}},
	'r': {{prefix: "rk_live_", min: 16, first: 16}},
	'g': {{prefix: "ghp_", min: 30, solid: 30}, {prefix: "gho_", min: 30, solid: 30}, {prefix: "ghu_", min: 30, solid: 30},
		{prefix: "ghs_", min: 30, solid: 30}, {prefix: "ghr_", min: 30, solid: 30},
		{prefix: "github_pat_", min: 22, solid: 20}, {prefix: "glpat-", min: 16, solid: 8}},
	'x': {{prefix: "xoxb-", min: 12, solid: 8}, {prefix: "xoxp-", min: 12, solid: 8}, {prefix: "xoxa-", min: 12, solid: 8},
		{prefix: "xoxs-", min: 12, solid: 8}, {prefix: "xapp-", min: 12, solid: 8}},
	'A': {{prefix: "AKIA", min: 16, exact: true, upper: true}, {prefix: "ASIA", min: 16, exact: true, upper: true},
		{prefix: "AIza", min: 35, exact: true}},
	'h': {{prefix: "hf_", min: 30, solid: 30}},
	'n': {{prefix: "npm_", min: 30, solid: 30}},
	'p': {{prefix: "pypi-", min: 40, solid: 16}},
}

// shapeAt gives the length of what at s[i] looks like a key, 0 where nothing
// does. A key begins where a word begins.
func shapeAt(s string, i int) int {
	switch s[i] {
	case '-':
		return pemAt(s[i:])
	case 'e':
		if startsWord(s, i) {
			return jwtAt(s[i:])
		}
		return 0
	case 'B', 'b':
		if startsWord(s, i) {
			return bearerAt(s[i:])
		}
		return 0
	}
	list := shapes[s[i]]
	if list == nil || !startsWord(s, i) {
		return 0
	}
	for _, sh := range list {
		if strings.HasPrefix(s[i:], sh.prefix) {
			if n := sh.length(s[i+len(sh.prefix):]); n > 0 {
				return len(sh.prefix) + n
			}
		}
	}
	return 0
}

// startsWord reports whether s[i] is not in the middle of a word or of words
// that are joined.
func startsWord(s string, i int) bool {
	return i == 0 || !isToken(s[i-1])
}

// length gives the number of characters after the prefix that belong to the
// key, 0 where it is none.
func (sh shape) length(rest string) int {
	n := 0
	for n < len(rest) && (isToken(rest[n]) && !sh.upper || isUpper(rest[n]) || isDigit(rest[n])) {
		n++
	}
	if n < sh.min || sh.exact && n != sh.min || sh.solid > 0 && !isSolid(rest[:n], sh.solid) {
		return 0
	}
	if i := strings.IndexAny(rest[:n], "-_"); i >= 0 && i < sh.first {
		return 0
	}
	return n
}

// isSolid reports whether s has a run of at least n letters and digits with a
// digit among them.
func isSolid(s string, n int) bool {
	length, digit := 0, false
	for i := range len(s) {
		if !isAlnum(s[i]) {
			length, digit = 0, false
			continue
		}
		length++
		digit = digit || isDigit(s[i])
		if length >= n && digit {
			return true
		}
	}
	return false
}

// jwtAt gives the length of a JSON web token: three dotted parts of base64, the
// first of them a JSON object.
func jwtAt(s string) int {
	if !strings.HasPrefix(s, "eyJ") {
		return 0
	}
	n := 0
	for range 2 {
		part := run(s[n:])
		n += part
		if part < 8 || n >= len(s) || s[n] != '.' {
			return 0
		}
		n++
	}
	return n + run(s[n:])
}

// bearerAt gives the length of an Authorization value with a long token:
// "Bearer x" or "Basic x".
func bearerAt(s string) int {
	for _, scheme := range []string{"bearer ", "basic "} {
		if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
			continue
		}
		n := len(scheme)
		for n < len(s) && (isToken(s[n]) || strings.IndexByte(bearerMore, s[n]) >= 0) {
			n++
		}
		token := s[len(scheme):n]
		if isVersion(token) || scheme == "basic " && !beginsBase64(token) {
			continue
		}
		if isSolid(token, minBearer) {
			return n
		}
	}
	return 0
}

// isVersion reports whether s begins as the number of a version does, which
// follows many a name that ends in "bearer" or "basic": v1.2.
func isVersion(s string) bool {
	major, rest, ok := strings.Cut(strings.TrimPrefix(s, "v"), ".")
	minor, _, more := strings.Cut(rest, ".")
	return ok && more && isNumber(major) && isNumber(minor)
}

// isNumber reports whether s has up to four digits and nothing else.
func isNumber(s string) bool {
	return s != "" && len(s) <= 4 && strings.Trim(s, "0123456789") == ""
}

// beginsBase64 reports whether s may be what follows "Basic": base64 from its
// first character on, as joined words are not.
func beginsBase64(s string) bool {
	i := strings.IndexAny(s, "-_.")
	return i < 0 || i >= minBearer
}

// minBearer is the least run of letters and digits in a token of that header.
const minBearer = 14

// bearerMore are the characters that tokens of that header have besides those
// of words.
const bearerMore = "./+=~"

const (
	pemBegin = "-----BEGIN "
	pemKey   = "PRIVATE KEY"
	pemEnd   = "-----END "
)

// pemAt gives the length of a private key in PEM form; one whose end is missing
// goes to the end of the text.
func pemAt(s string) int {
	if !strings.HasPrefix(s, pemBegin) {
		return 0
	}
	head := s[:min(len(s), 80)]
	if !strings.Contains(head, pemKey) {
		return 0
	}
	end := strings.Index(s, pemEnd)
	if end < 0 {
		return len(s)
	}
	rest := s[end+len(pemEnd):]
	if tail := strings.Index(rest[:min(len(rest), 80)], "-----"); tail >= 0 {
		return end + len(pemEnd) + tail + len("-----")
	}
	return len(s)
}

// run gives the number of token characters s begins with.
func run(s string) int {
	n := 0
	for n < len(s) && isToken(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isAlnum(c byte) bool { return isDigit(c) || isUpper(c) || c >= 'a' && c <= 'z' }
func isToken(c byte) bool { return isAlnum(c) || c == '-' || c == '_' }
