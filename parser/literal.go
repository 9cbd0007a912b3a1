package parser

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/internal/bignum"
	"github.com/sense-lang/sense/lexer"
)

// intLit makes an integer of a token, with Big where 64 bits are too few.
func (p *parser) intLit(at ast.At, t *lexer.Token) *ast.IntLit {
	text, base := t.Value(), 10
	if len(text) > 2 && text[1]|0x20 == 'x' {
		text, base = text[2:], 16
	}
	n, err := strconv.ParseInt(text, base, 64)
	if err == nil {
		return &ast.IntLit{At: at, Value: n}
	}
	b, ok := bignum.Parse(text, base)
	if !ok {
		p.failAt(at.P, fmt.Sprintf("integer too large (limit %d bits)", bignum.MaxBits))
	}
	return &ast.IntLit{At: at, Big: b}
}

// floatLit makes a float of a token. One too big for 64 bits is infinite.
func floatLit(at ast.At, t *lexer.Token) *ast.FloatLit {
	f, _ := strconv.ParseFloat(t.Value(), 64)
	return &ast.FloatLit{At: at, Value: f}
}

// setDoc makes a string that stands first in a body its docstring.
func setDoc(b *ast.Block) *ast.Block {
	s, ok := b.Stmts[0].(*ast.ExprStmt)
	if !ok {
		return b
	}
	if lit, ok := s.X.(*ast.StringLit); ok {
		b.Doc, b.HasDoc = cleanDoc(lit.Value), true
	}
	return b
}

// cleanDoc takes from a docstring the indentation that its lines share and the
// empty lines at its ends; the first line does not count for the indentation.
func cleanDoc(s string) string {
	lines := strings.Split(expandTabs(s), "\n")
	margin := -1
	for _, l := range lines[1:] {
		if n := len(l) - len(strings.TrimLeft(l, " ")); n < len(l) && (margin < 0 || n < margin) {
			margin = n
		}
	}
	lines[0] = strings.TrimLeft(lines[0], " ")
	for i := 1; i < len(lines); i++ {
		lines[i] = lines[i][min(max(margin, 0), len(lines[i])):]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	return strings.Join(lines, "\n")
}

// expandTabs replaces every tab by spaces up to the next column of eight.
func expandTabs(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	var b strings.Builder
	col := 0
	for _, r := range s {
		switch r {
		case '\t':
			n := 8 - col%8
			b.WriteString("        "[:n])
			col += n
		case '\n', '\r':
			b.WriteRune(r)
			col = 0
		default:
			b.WriteRune(r)
			col++
		}
	}
	return b.String()
}
