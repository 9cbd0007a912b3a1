package format

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/lexer"
)

// Levels of expressions, the loosest first. An operand of a lower level than its
// place wants is put in parentheses.
const (
	levelAny = iota
	levelAssign
	levelOr
	levelAnd
	levelEquality
	levelComparison
	levelTerm
	levelFactor
	levelUnary
	levelCall
)

func level(x ast.Expr) int {
	switch x := x.(type) {
	case *ast.AssignExpr:
		return levelAssign
	case *ast.BinaryExpr:
		return opLevel(x.Op)
	case *ast.UnaryExpr:
		return levelUnary
	}
	return levelCall
}

func opLevel(op ast.Op) int {
	switch op {
	case ast.OpOr:
		return levelOr
	case ast.OpAnd:
		return levelAnd
	case ast.OpEq, ast.OpNe:
		return levelEquality
	case ast.OpLt, ast.OpLe, ast.OpGt, ast.OpGe:
		return levelComparison
	case ast.OpAdd, ast.OpSub:
		return levelTerm
	}
	return levelFactor
}

// expr adds x, in parentheses where its level is below min.
func (p *printer) expr(l *line, x ast.Expr, min int) {
	if level(x) < min {
		p.paren(l, x)
		return
	}
	switch x := x.(type) {
	case *ast.AssignExpr:
		p.expr(l, x.Target, levelCall)
		l.add(" = ")
		p.expr(l, x.Value, levelAny)
	case *ast.BinaryExpr:
		lv := opLevel(x.Op)
		p.expr(l, x.X, lv)
		l.add(" ", x.Op.String(), " ")
		p.expr(l, x.Y, lv+1)
	case *ast.UnaryExpr:
		p.unary(l, x)
	case *ast.CallExpr:
		p.expr(l, x.Fun, levelCall)
		p.args(l, x)
	case *ast.IndexExpr:
		p.expr(l, x.X, levelCall)
		p.group(l, p.at(x.Lbrack.Offset), []ast.Expr{x.Index})
	case *ast.MemberExpr:
		p.expr(l, x.X, levelCall)
		l.add(".", x.Name)
	case *ast.ArrayLit:
		p.group(l, p.start(x), x.Elems)
	default:
		p.literal(l, x)
	}
}

func (p *printer) unary(l *line, x *ast.UnaryExpr) {
	l.add(x.Op.String())
	inner, ok := x.X.(*ast.UnaryExpr)
	if x.Op == ast.OpNot || ok && inner.Op == ast.OpNeg {
		l.add(" ")
	}
	p.expr(l, x.X, levelUnary)
}

func (p *printer) args(l *line, x *ast.CallExpr) {
	g := p.newGroup(p.at(x.Lparen.Offset), len(x.Args))
	for i, a := range x.Args {
		var e line
		if a.Label != "" {
			e.add(a.Label, ": ")
		}
		p.expr(&e, a.Value, levelAny)
		g.elems[i].items = e.finish()
	}
	l.addGroup(g)
}

// group adds the bracket at token from with the given elements.
func (p *printer) group(l *line, from int, elems []ast.Expr) {
	g := p.newGroup(from, len(elems))
	for i, x := range elems {
		var e line
		p.expr(&e, x, levelAny)
		g.elems[i].items = e.finish()
	}
	l.addGroup(g)
}

// newGroup makes the group for the bracket at token from, with n elements that
// still lack their items.
func (p *printer) newGroup(from, n int) *group {
	to := int(p.match[from])
	g := &group{open: p.toks[from].Text, close: p.toks[to].Text, from: from, to: to, elems: make([]elem, n)}
	first, k := from+1, 0
	for i := from + 1; i <= to && k < n; i++ {
		switch p.toks[i].Kind {
		case lexer.LParen, lexer.LBracket:
			i = int(p.match[i])
		case lexer.Comma, lexer.RParen, lexer.RBracket:
			g.elems[k].from, g.elems[k].to = first, i-1
			first = i + 1
			k++
		}
	}
	return g
}

// paren adds x in the parentheses that it has in the source, since its place
// needs them.
func (p *printer) paren(l *line, x ast.Expr) {
	start := p.start(x)
	anchor := start
	switch x := x.(type) {
	case *ast.BinaryExpr:
		anchor = p.at(x.OpPos.Offset)
	case *ast.AssignExpr:
		anchor = p.at(x.OpPos.Offset)
	}
	from := start - 1
	for int(p.match[from]) < anchor {
		from--
	}
	p.group(l, from, []ast.Expr{x})
}
