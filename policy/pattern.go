package policy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is a rule's pattern, taken apart once when the rule is set.
type pattern struct {
	text string
	// segs are the segments of a pattern with a wildcard; nil for an exact name.
	segs []string
	// length is what "longer beats shorter" compares, in code points.
	length int
}

// compile takes a pattern apart. Text that is no pattern stands for itself, so
// that a rule never covers more than it says.
func compile(text string) pattern {
	if normal, err := Normal(text); err == nil {
		text = normal
	}
	p := pattern{text: text, length: utf8.RuneCountInString(text)}
	if strings.Contains(text, "*") {
		for rest := text; rest != ""; {
			var seg string
			seg, rest = cut(rest)
			p.segs = append(p.segs, seg)
		}
	}
	return p
}

// matches reports whether p covers a capability in its normal spelling.
func (p *pattern) matches(capability string) bool {
	if p.segs == nil {
		return p.text == capability
	}
	rest := capability
	for i, want := range p.segs {
		if rest == "" {
			return false
		}
		if want == "*" && i == len(p.segs)-1 {
			return true
		}
		var seg string
		seg, rest = cut(rest)
		if !glob(want, seg) {
			return false
		}
	}
	return rest == ""
}

// parentOf reports whether the exact name p stands above a capability, as
// "mcp" stands above "mcp.github".
func (p *pattern) parentOf(capability string) bool {
	return p.segs == nil && len(capability) > len(p.text) &&
		capability[len(p.text)] == '.' && capability[:len(p.text)] == p.text
}

// size gives the number of segments.
func (p *pattern) size() int {
	if p.segs != nil {
		return len(p.segs)
	}
	return segments(p.text)
}

// below reports whether p names something below a connection's capability of n
// segments, such as its tools.
func (p *pattern) below(capability string, n int) bool {
	if p.size() <= n {
		return false
	}
	if p.segs == nil {
		return p.parent(n) == capability
	}
	rest := capability
	for _, want := range p.segs[:n] {
		var seg string
		seg, rest = cut(rest)
		if !glob(want, seg) {
			return false
		}
	}
	return true
}

// parent gives the first n segments of an exact name.
func (p *pattern) parent(n int) string {
	rest := p.text
	for range n {
		_, rest = cut(rest)
	}
	return strings.TrimSuffix(p.text[:len(p.text)-len(rest)], ".")
}

// cut splits the first segment off a normal spelling; a quoted one loses its
// quotes and keeps its escapes.
func cut(name string) (seg, rest string) {
	if name[0] != '"' {
		seg, rest, _ = strings.Cut(name, ".")
		return seg, rest
	}
	end := closing(name)
	if end < 0 {
		return name, ""
	}
	return name[1:end], strings.TrimPrefix(name[end+1:], ".")
}

// closing gives the index of the quote that closes the one name begins with,
// -1 where there is none.
func closing(name string) int {
	for i := 1; i < len(name); i++ {
		switch name[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// segments counts the segments of a normal spelling.
func segments(name string) int {
	n := 0
	for name != "" {
		_, name = cut(name)
		n++
	}
	return n
}

// glob reports whether text is what a segment describes, where "*" stands for
// any run of characters. It takes time in proportion to both lengths at most.
func glob(want, text string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(text) {
		switch {
		case i < len(want) && want[i] == '*':
			star, mark = i, j
			i++
		case i < len(want) && want[i] == text[j]:
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(want[i:], "*") == ""
}

// Normal gives the spelling of a capability or pattern in which this package
// compares them: quotes only around segments that need them. It says what is
// wrong with text that is neither.
func Normal(text string) (string, error) {
	segs, err := split(text)
	if err != nil {
		return "", err
	}
	for i, seg := range segs {
		if err := checkStars(segs, i); err != nil {
			return "", fmt.Errorf("%w in '%s'", err, text)
		}
		segs[i] = quote(seg)
	}
	return strings.Join(segs, "."), nil
}

var (
	errEmpty    = errors.New("a capability needs a name")
	errStarAt   = errors.New("a '*' inside a segment is possible in the last one only")
	errStarLone = errors.New("a '*' inside a segment is for the tools of a connection, after its name,")
)

// checkStars says what is wrong with the wildcards of segs[i].
func checkStars(segs []string, i int) error {
	seg := segs[i]
	switch {
	case seg == "*" || !strings.Contains(seg, "*"):
		return nil
	case i < len(segs)-1:
		return errStarAt
	case i == 0:
		return errStarLone
	}
	return nil
}

// split takes a capability or pattern as people write it apart into plain
// segments.
func split(text string) ([]string, error) {
	if text == "" {
		return nil, errEmpty
	}
	var segs []string
	for rest := text; ; {
		seg, after, err := splitOne(rest)
		if err != nil {
			return nil, fmt.Errorf("%w in '%s'", err, text)
		}
		segs = append(segs, seg)
		if after == "" {
			return segs, nil
		}
		if after[0] != '.' {
			return nil, fmt.Errorf("expected '.' after a quoted segment in '%s'", text)
		}
		rest = after[1:]
	}
}

// splitOne reads one segment; after begins with what follows it.
func splitOne(text string) (seg, after string, err error) {
	if text == "" || text[0] == '.' {
		return "", "", errors.New("empty segment")
	}
	if text[0] == '"' {
		end := closing(text)
		if end < 0 {
			return "", "", errors.New("unclosed quote")
		}
		seg, err = strconv.Unquote(text[:end+1])
		if err != nil {
			return "", "", errors.New("malformed quoted segment")
		}
		return seg, text[end+1:], nil
	}
	end := strings.IndexByte(text, '.')
	if end < 0 {
		end = len(text)
	}
	seg = text[:end]
	if strings.ContainsFunc(seg, needsQuotes) {
		return "", "", fmt.Errorf("segment %s needs quotes", strconv.Quote(seg))
	}
	return seg, text[end:], nil
}

// needsQuotes reports whether a character may stand in a quoted segment only.
func needsQuotes(r rune) bool {
	return r == '"' || r == '\\' || r == '.' || r == utf8.RuneError || !strconv.IsPrint(r) || unicode.IsSpace(r)
}

// quote gives a plain segment's normal spelling.
func quote(seg string) string {
	if seg == "" || strings.ContainsFunc(seg, needsQuotes) {
		return strconv.Quote(seg)
	}
	return seg
}

// Join appends a segment, which may be any text, to a capability: the name of
// a tool to that of its connection, a host to "net.http".
func Join(capability, segment string) string {
	return capability + "." + quote(segment)
}

// Name gives the normal spelling of a capability that comes as any text, such
// as the one given to connect_mcp: text that is no capability is cut at its
// dots, and what is odd between them quoted.
func Name(text string) string {
	segs, err := split(text)
	if err != nil {
		segs = strings.Split(text, ".")
	}
	for i, seg := range segs {
		segs[i] = quote(seg)
	}
	return strings.Join(segs, ".")
}

// Spell gives a capability or pattern as a Sense program has to write it:
// every segment that is no name in quotes.
func Spell(capability string) string {
	segs, err := split(capability)
	if err != nil {
		return strconv.Quote(capability)
	}
	for i, seg := range segs {
		if !isName(strings.ReplaceAll(seg, "*", "_")) {
			segs[i] = strconv.Quote(seg)
		}
	}
	return strings.Join(segs, ".")
}

// isName reports whether a segment can be written without quotes.
func isName(seg string) bool {
	for i, r := range seg {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return seg != ""
}
