// Package format writes Sense programs in their canonical form: four spaces,
// blocks on lines of their own, only the parentheses that precedence needs, long
// brackets broken one element a line. Comments, statements and meaning are kept,
// and formatting a second time changes nothing.
//
// The printer walks the tree; every node knows the tokens it came from, and
// comments are taken from their list where those tokens say that they belong: to
// the statement that follows, to the line they end, or to an element of a
// bracket.
package format

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/lexer"
	"github.com/sense-lang/sense/parser"
)

const (
	maxColumn   = 100
	indentation = "    "
)

// Source formats src. name is the file that errors name. An error is a
// *diag.Error where src is no valid program.
func Source(name string, src []byte) ([]byte, error) {
	toks, comments, err := lexer.Scan(name, string(src))
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseTokens(name, toks)
	if err != nil {
		return nil, err
	}
	p := &printer{src: string(src), toks: toks, comments: comments, match: matchBrackets(toks)}
	p.shebang()
	p.stmts(file.Body)
	p.tail(file.Body)
	if p.next != len(comments) {
		return nil, errors.New(name + ": internal error of the formatter: a comment was left over")
	}
	return p.out.Bytes(), nil
}

// printer writes the program to out. next is the first comment that is not yet
// written, depth the number of blocks around the current line.
type printer struct {
	src      string
	toks     []lexer.Token
	match    []int32
	comments []lexer.Comment
	next     int
	depth    int
	out      bytes.Buffer
}

// matchBrackets gives for each token that is a bracket the index of its partner.
func matchBrackets(toks []lexer.Token) []int32 {
	match := make([]int32, len(toks))
	var open []int32
	for i, t := range toks {
		switch t.Kind {
		case lexer.LParen, lexer.LBracket, lexer.LBrace, lexer.FString, lexer.FOpen:
			open = append(open, int32(i))
		case lexer.RParen, lexer.RBracket, lexer.RBrace, lexer.FEnd, lexer.FClose:
			j := open[len(open)-1]
			open = open[:len(open)-1]
			match[i], match[j] = j, int32(i)
		}
	}
	return match
}

// shebang copies a "#!" first line as it is.
func (p *printer) shebang() {
	src := strings.TrimPrefix(p.src, "\ufeff")
	if !strings.HasPrefix(src, "#!") {
		return
	}
	if i := strings.IndexAny(src, "\r\n"); i >= 0 {
		src = src[:i]
	}
	p.out.WriteString(src + "\n")
}

// at gives the index of the token with a text that stands at offset.
func (p *printer) at(offset int32) int {
	i, _ := slices.BinarySearchFunc(p.toks, offset, func(t lexer.Token, off int32) int {
		return cmp.Compare(t.Pos.Offset, off)
	})
	for p.toks[i].Kind.IsLayout() {
		i++
	}
	return i
}

func (p *printer) start(n ast.Node) int { return p.at(n.Pos().Offset) }

// lineEnd gives the index of the last token before the line end after token i.
func (p *printer) lineEnd(i int) int {
	for p.toks[i].Kind != lexer.Newline {
		i++
	}
	return i - 1
}

// blankBefore tells whether an empty line stands above the line on which the
// text at offset comes first.
func (p *printer) blankBefore(offset int32) bool {
	before := strings.TrimRight(p.src[:offset], " ")
	rest := trimLineEnd(before)
	if len(rest) == len(before) {
		return false
	}
	rest = strings.TrimRight(rest, " ")
	return len(trimLineEnd(rest)) < len(rest)
}

func trimLineEnd(s string) string {
	if t, ok := strings.CutSuffix(s, "\n"); ok {
		return strings.TrimSuffix(t, "\r")
	}
	return strings.TrimSuffix(s, "\r")
}

// blank writes an empty line where the source has some above offset, except at
// the top.
func (p *printer) blank(offset int32) {
	if p.out.Len() > 0 && p.blankBefore(offset) {
		p.out.WriteByte('\n')
	}
}

func (p *printer) indent(depth int) {
	for range depth {
		p.out.WriteString(indentation)
	}
}

// commentText gives a comment in its canonical form.
func commentText(c lexer.Comment) string {
	text := strings.TrimSpace(c.Text[1:])
	if text == "" {
		return "#"
	}
	return "# " + text
}

func (p *printer) ownLine(c lexer.Comment) {
	p.indent(p.depth)
	p.out.WriteString(commentText(c) + "\n")
}

// leading writes the comments above the statement that starts with token i.
func (p *printer) leading(i int) {
	for ; p.before(i); p.next++ {
		c := p.comments[p.next]
		p.blank(c.Pos.Offset)
		p.ownLine(c)
	}
}

// before tells whether the next comment stands before token i.
func (p *printer) before(i int) bool {
	return p.next < len(p.comments) && p.comments[p.next].Pos.Offset < p.toks[i].Pos.Offset
}

// trailing tells whether the next comment stands on the line that token i ends.
func (p *printer) trailing(i int) bool {
	return p.before(i+1) && !p.comments[p.next].Own
}

// line writes one logical line, which stands for the tokens from to to. The
// comments between them that find no place in a broken bracket go above it; one
// after it stays there.
func (p *printer) line(from, to int, l *line) {
	lo := p.next
	for p.before(to) {
		p.next++
	}
	hi := p.next
	text, above := p.render(l.finish(), p.depth, len(indentation)*p.depth, lo, hi)
	for _, c := range above {
		p.ownLine(c)
	}
	p.indent(p.depth)
	p.out.WriteString(text)
	if p.trailing(to) {
		p.out.WriteString("  " + commentText(p.comments[p.next]))
		p.next++
	}
	p.out.WriteByte('\n')
}

// tail writes the comments after the last statement, in the block that their
// column tells: the innermost that starts no further right.
func (p *printer) tail(body []ast.Stmt) {
	columns := p.openColumns(body)
	for ; p.next < len(p.comments); p.next++ {
		c := p.comments[p.next]
		p.depth = len(columns) - 1
		for p.depth > 0 && columns[p.depth] > c.Pos.Col {
			p.depth--
		}
		p.blank(c.Pos.Offset)
		p.ownLine(c)
	}
}

// openColumns gives the columns of the blocks that are open at the end of the
// text, outermost first.
func (p *printer) openColumns(body []ast.Stmt) []int32 {
	columns := []int32{1}
	for len(body) > 0 {
		b := lastBlock(body[len(body)-1])
		if b == nil || p.toks[p.at(b.P.Offset)+1].Kind != lexer.Newline {
			break
		}
		body = b.Stmts
		columns = append(columns, body[0].Pos().Col)
	}
	return columns
}

// lastBlock gives the block that ends s, nil where none does.
func lastBlock(s ast.Stmt) *ast.Block {
	var last *ast.Block
	ast.Walk(s, func(n ast.Node) bool {
		if b, ok := n.(*ast.Block); ok {
			last = b
			return false
		}
		_, isExpr := n.(ast.Expr)
		return !isExpr
	})
	return last
}
