package parser

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/lexer"
)

// rulePattern is what a rule names: a capability, or several with a "*".
type rulePattern ast.Capability

func (r *rulePattern) capability() ast.Capability { return ast.Capability(*r) }

// pattern reads what a rule names.
func (p *parser) pattern() pattern {
	c := &rulePattern{At: ast.At{P: p.toks[p.i].Pos}}
	var segs []string
	for n := 0; ; n++ {
		pos := p.toks[p.i].Pos
		seg := p.segment(n)
		segs = append(segs, seg)
		last := !p.accept(lexer.Dot)
		if strings.Contains(seg, "*") && len(seg) > 1 && seg[0] != '"' {
			p.checkStar(pos, n == 0, last)
		}
		if last {
			c.Name = strings.Join(segs, ".")
			return c
		}
	}
}

func (p *parser) checkStar(pos diag.Pos, first, last bool) {
	switch {
	case !last:
		p.failAt(pos, "a '*' inside a segment is possible in the last one only")
	case first:
		p.failAt(pos, "a '*' inside a segment is for the tools of a connection, after its name")
	}
}

// segment reads the n-th segment of a pattern: a name, a string, or pieces of
// names with "*" between them, which have to touch.
func (p *parser) segment(n int) string {
	t := &p.toks[p.i]
	switch {
	case isWord(t.Kind) || t.Kind == lexer.Star:
	case n > 0 && t.Kind == lexer.String:
		p.i++
		return quotedSegment(t.Text)
	case n > 0:
		p.fail("expected a name after '.'")
	default:
		p.fail("expected a capability name")
	}
	var seg strings.Builder
	seg.WriteString(t.Text)
	for p.i++; ; p.i++ {
		next := &p.toks[p.i]
		touches := int(t.Pos.Offset)+seg.Len() == int(next.Pos.Offset)
		if !touches || !isWord(next.Kind) && next.Kind != lexer.Star && next.Kind != lexer.Int {
			return seg.String()
		}
		seg.WriteString(next.Text)
	}
}

// quotedSegment gives a segment that was written as a string: without quotes
// where it is a name, otherwise in those of Go.
func quotedSegment(literal string) string {
	text := lexer.Unquote(literal)
	for i, r := range text {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsNumber(r)) {
			return strconv.Quote(text)
		}
	}
	if text == "" {
		return `""`
	}
	return text
}
