package parser

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/lexer"
)

// The words of this file are names as well: they mean more only where a name
// could not stand.

// soft reads a statement that begins with such a word. It gives nil where the
// word is a name.
func (p *parser) soft(at ast.At) ast.Stmt {
	word := p.toks[p.i].Text
	switch word {
	case "pass":
		if p.peek() == lexer.Newline {
			p.i += 2
			return &ast.PassStmt{At: at}
		}
	case "raise":
		if p.raises() {
			p.i++
			s := &ast.RaiseStmt{At: at, Value: p.expr()}
			p.endOfStatement()
			return s
		}
	case "try":
		if p.opensBlock() {
			return p.tryStmt(at)
		}
	case "transaction":
		if p.opensBlock() {
			p.i++
			return &ast.TransactionStmt{At: at, Body: p.block()}
		}
	case "elif":
		if p.atElif() {
			p.failAt(at.P, "'elif' must come directly after the block of an 'if'")
		}
	case "catch", "finally":
		if p.atClause(word) {
			p.failAt(at.P, "'"+word+"' must come directly after the block of a 'try'")
		}
	}
	return nil
}

// opensBlock reports whether a colon and a line end follow the current word.
func (p *parser) opensBlock() bool {
	return p.peek() == lexer.Colon && p.kindAt(2) == lexer.Newline
}

// startsOperand reports whether a token of kind k, after a name, can only begin
// an operand of its own.
func startsOperand(k lexer.Kind) bool {
	switch k {
	case lexer.Ident, lexer.Int, lexer.Float, lexer.String, lexer.FString, lexer.LBrace, lexer.KwTrue, lexer.KwFalse, lexer.KwNil:
		return true
	}
	return false
}

// raises tells a raise statement from an expression that begins with the name.
// With a parenthesis next it is a call where the text has raise as a name.
func (p *parser) raises() bool {
	switch k := p.peek(); k {
	case lexer.KwNot:
		return p.kindAt(2) != lexer.KwIn
	case lexer.LParen:
		return !p.raiseIsName()
	default:
		return startsOperand(k)
	}
}

// raiseIsName reports whether raise stands anywhere but where it may be the
// statement.
func (p *parser) raiseIsName() bool {
	for i := range p.toks {
		t := &p.toks[i]
		if t.Kind != lexer.Ident || t.Text != "raise" {
			continue
		}
		before := lexer.Newline
		if i > 0 {
			before = p.toks[i-1].Kind
		}
		after := p.toks[i+1].Kind
		if !before.IsLayout() && before != lexer.Colon || after != lexer.LParen && after != lexer.KwNot && !startsOperand(after) {
			return true
		}
	}
	return false
}

// atElif reports whether an elif clause stands here. A line that begins with a
// name has no colon outside brackets, but a declaration has one directly after
// it.
func (p *parser) atElif() bool {
	if t := &p.toks[p.i]; t.Kind != lexer.Ident || t.Text != "elif" {
		return false
	}
	switch k := p.peek(); k {
	case lexer.LParen, lexer.LBracket, lexer.Minus, lexer.KwNot:
		depth := 0
		for i := p.i + 1; ; i++ {
			k := p.toks[i].Kind
			depth += nesting(k)
			switch {
			case k == lexer.Newline || k == lexer.EOF || depth == 0 && assignOps[k].is:
				return false
			case k == lexer.Colon && depth == 0:
				return true
			}
		}
	default:
		return startsOperand(k)
	}
}

// atClause reports whether a catch or finally clause stands here.
func (p *parser) atClause(word string) bool {
	if t := &p.toks[p.i]; t.Kind != lexer.Ident || t.Text != word {
		return false
	}
	return p.opensBlock() || word == "catch" && p.peek() == lexer.Ident
}

func (p *parser) tryStmt(at ast.At) ast.Stmt {
	p.i++
	s := &ast.TryStmt{At: at, Body: p.block()}
	for p.atClause("catch") {
		if n := len(s.Catches); n > 0 && s.Catches[n-1].Guard == nil {
			p.failAt(s.Catches[n-1].P, "a 'catch' without 'if' must be the last one")
		}
		s.Catches = append(s.Catches, p.catch())
	}
	if p.atClause("finally") {
		p.i++
		s.Finally = p.block()
	}
	if s.Catches == nil && s.Finally == nil {
		p.fail("expected 'catch' or 'finally' after the 'try' block")
	}
	return s
}

func (p *parser) catch() *ast.CatchClause {
	c := &ast.CatchClause{At: ast.At{P: p.toks[p.i].Pos}}
	p.i++
	c.Name = p.expect(lexer.Ident, "expected a name after 'catch'").Text
	if p.accept(lexer.KwIf) {
		c.Guard = p.condition()
	}
	c.Body = p.block()
	return c
}

// destruct reads the rest of an assignment to several targets, the first of
// which is x.
func (p *parser) destruct(at ast.At, x ast.Expr) ast.Stmt {
	s := &ast.DestructStmt{At: at, Targets: []ast.Expr{x}}
	valid := true
	for p.accept(lexer.Comma) {
		t := p.binary(1)
		valid = valid && isTarget(t)
		s.Targets = append(s.Targets, t)
	}
	eq := p.expect(lexer.Eq, "expected '=' after the names to assign")
	s.Values = []ast.Expr{p.value()}
	for p.accept(lexer.Comma) {
		s.Values = append(s.Values, p.value())
	}
	if !valid {
		p.failAt(eq.Pos, "invalid assignment target")
	}
	p.endOfStatement()
	return s
}

func isTarget(x ast.Expr) bool {
	switch x.(type) {
	case *ast.Ident, *ast.IndexExpr:
		return true
	}
	return false
}

// assigns reports whether a "=" stands in the rest of the line, outside of
// brackets.
func (p *parser) assigns() bool {
	depth := 0
	for i := p.i; ; i++ {
		k := p.toks[i].Kind
		depth += nesting(k)
		switch {
		case k == lexer.Newline || k == lexer.EOF:
			return false
		case k == lexer.Eq && depth == 0:
			return true
		}
	}
}
