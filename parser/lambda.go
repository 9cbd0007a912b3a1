package parser

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/lexer"
)

// isLambda tells a lambda from a name spelt so: a parameter follows, or () and a
// colon. In the head of a block that colon is the block's.
func (p *parser) isLambda() bool {
	switch p.peek() {
	case lexer.Ident:
		return true
	case lexer.LParen:
		return p.kindAt(2) == lexer.RParen && p.kindAt(3) == lexer.Colon && !p.inHead()
	}
	return false
}

// condition reads the expression in the head of a block.
func (p *parser) condition() ast.Expr {
	outer := p.head
	p.head = p.i
	x := p.expr()
	p.head = outer
	return x
}

// inHead reports whether the current token stands in the head of a block and in
// no brackets there.
func (p *parser) inHead() bool {
	if p.head < 0 {
		return false
	}
	depth := 0
	for i := p.head; i < p.i; i++ {
		depth += nesting(p.toks[i].Kind)
	}
	return depth == 0
}

// nesting gives 1 for what opens brackets and -1 for what closes them.
func nesting(k lexer.Kind) int {
	switch k {
	case lexer.LParen, lexer.LBracket, lexer.LBrace, lexer.FOpen:
		return 1
	case lexer.RParen, lexer.RBracket, lexer.RBrace, lexer.FClose:
		return -1
	}
	return 0
}

func (p *parser) lambda() ast.Expr {
	l := &ast.Lambda{At: ast.At{P: p.toks[p.i].Pos}}
	p.i++
	if p.accept(lexer.LParen) {
		p.i++
	} else {
		l.Params = p.lambdaParams()
	}
	p.expect(lexer.Colon, "expected ':' after the parameters of a lambda")
	l.Body = p.expr()
	return l
}

// hints gives what helps a reader of an error at pos: how a lambda without
// parameters is written, where its colon follows the word at once as in Python.
func (p *parser) hints(pos diag.Pos) []string {
	if p.i == 0 || p.kind() != lexer.Colon || p.toks[p.i].Pos != pos {
		return nil
	}
	if before := &p.toks[p.i-1]; before.Kind != lexer.Ident || before.Text != "lambda" {
		return nil
	}
	return []string{"a lambda without parameters is written lambda (): ..."}
}

func (p *parser) lambdaParams() []*ast.Param {
	var out []*ast.Param
	for {
		name := p.expect(lexer.Ident, "expected a parameter name")
		param := &ast.Param{At: ast.At{P: name.Pos}, Name: name.Text}
		if p.accept(lexer.Eq) {
			param.Default = p.expr()
		}
		out = append(out, param)
		if !p.accept(lexer.Comma) {
			p.checkDefaults(out)
			return out
		}
	}
}

type declared []*ast.Param

func (l declared) list() []*ast.Param { return l }

// params reads the parameters of a declaration up to the ")" after them.
func (p *parser) params() params {
	var out declared
	for p.kind() != lexer.RParen {
		name := p.expect(lexer.Ident, "expected a parameter name")
		param := &ast.Param{At: ast.At{P: name.Pos}, Name: name.Text}
		if p.accept(lexer.Colon) {
			param.Type = p.typ()
		}
		if p.accept(lexer.Eq) {
			param.Default = p.expr()
		}
		out = append(out, param)
		if !p.accept(lexer.Comma) && p.kind() != lexer.RParen {
			p.fail("expected ')' after the parameters")
		}
	}
	p.checkDefaults(out)
	return out
}

// checkDefaults refuses a parameter that must be given after one that need not.
func (p *parser) checkDefaults(params []*ast.Param) {
	for i, param := range params {
		if i > 0 && param.Default == nil && params[i-1].Default != nil {
			p.failAt(param.P, "a parameter without a default cannot follow one with a default")
		}
	}
}
