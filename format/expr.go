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
	levelCond
	levelOr
	levelAnd
	levelEquality
	levelComparison
	levelTerm
	levelFactor
	levelUnary
	levelPower
	levelCall
)

func level(x ast.Expr) int {
	switch x := x.(type) {
	case *ast.AssignExpr, *ast.Lambda:
		return levelAssign
	case *ast.CondExpr:
		return levelCond
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
	case ast.OpLt, ast.OpLe, ast.OpGt, ast.OpGe, ast.OpIn, ast.OpNotIn:
		return levelComparison
	case ast.OpAdd, ast.OpSub:
		return levelTerm
	case ast.OpPow:
		return levelPower
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
		l.add(" ", x.Op.String(), "= ")
		p.expr(l, x.Value, levelAny)
	case *ast.CondExpr:
		p.conditional(l, x)
	case *ast.Lambda:
		p.lambda(l, x)
	case *ast.BinaryExpr:
		p.binary(l, x)
	case *ast.UnaryExpr:
		p.unary(l, x)
	case *ast.CallExpr:
		p.expr(l, x.Fun, levelCall)
		p.args(l, x)
	case *ast.IndexExpr:
		p.expr(l, x.X, levelCall)
		p.group(l, p.at(x.Lbrack.Offset), []ast.Expr{x.Index})
	case *ast.SliceExpr:
		p.expr(l, x.X, levelCall)
		p.slice(l, x)
	case *ast.MemberExpr:
		p.expr(l, x.X, levelCall)
		l.add(".", x.Name)
	case *ast.ArrayLit:
		p.group(l, p.start(x), x.Elems)
	case *ast.MapLit:
		p.mapLit(l, x)
	case *ast.FString:
		l.add(p.fstring(p.start(x)))
	default:
		p.literal(l, x)
	}
}

func (p *printer) binary(l *line, x *ast.BinaryExpr) {
	left, right := opLevel(x.Op), opLevel(x.Op)+1
	if x.Op == ast.OpPow {
		left, right = levelCall, levelUnary
	}
	if isMembership(x) && endsWithNot(x.X, left) {
		p.wrap(l, x.X)
	} else {
		p.expr(l, x.X, left)
	}
	l.add(" ", x.Op.String(), " ")
	p.expr(l, x.Y, right)
}

func (p *printer) conditional(l *line, x *ast.CondExpr) {
	p.expr(l, x.Then, levelOr)
	l.add(" if ")
	p.expr(l, x.Cond, levelOr)
	l.add(" else ")
	min := levelCond
	if _, ok := x.Else.(*ast.Lambda); ok {
		min = levelAny
	}
	p.expr(l, x.Else, min)
}

func (p *printer) lambda(l *line, x *ast.Lambda) {
	l.add("lambda ")
	for i, param := range x.Params {
		if i > 0 {
			l.add(", ")
		}
		l.add(param.Name)
		if param.Default != nil {
			l.add(" = ")
			p.beforeColon(l, param.Default)
		}
	}
	if len(x.Params) == 0 {
		l.add("()")
	}
	l.add(": ")
	p.expr(l, x.Body, levelAny)
}

func (p *printer) slice(l *line, x *ast.SliceExpr) {
	g := p.newGroup(p.at(x.Lbrack.Offset), 1)
	var e line
	if x.Lo != nil {
		p.beforeColon(&e, x.Lo)
	}
	e.add(":")
	if x.Hi != nil {
		p.expr(&e, x.Hi, levelAny)
	}
	g.elems[0].items = e.finish()
	l.addGroup(g)
}

func (p *printer) mapLit(l *line, x *ast.MapLit) {
	g := p.newGroup(p.start(x), len(x.Entries))
	for i, entry := range x.Entries {
		var e line
		p.beforeColon(&e, entry.Key)
		e.add(": ")
		p.expr(&e, entry.Value, levelAny)
		g.elems[i].items = e.finish()
	}
	l.addGroup(g)
}

func (p *printer) unary(l *line, x *ast.UnaryExpr) {
	l.add(x.Op.String())
	inner, ok := x.X.(*ast.UnaryExpr)
	if x.Op == ast.OpNot || ok && inner.Op == ast.OpNeg {
		l.add(" ")
	}
	if x.Op == ast.OpNot && membersOf(x.X) {
		p.expr(l, x.X, levelComparison)
		return
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
	lambdas := 0 // whose parameters, parted by commas too, are not over
	for i := from + 1; i <= to && k < n; i++ {
		switch p.toks[i].Kind {
		case lexer.Ident:
			if p.startsLambda(i) {
				lambdas++
			}
			continue
		case lexer.Colon:
			lambdas = max(0, lambdas-1)
			continue
		case lexer.Comma:
			if lambdas > 0 {
				continue
			}
		}
		switch p.toks[i].Kind {
		case lexer.LParen, lexer.LBracket, lexer.LBrace, lexer.FString:
			i = int(p.match[i])
		case lexer.Comma, lexer.RParen, lexer.RBracket, lexer.RBrace:
			g.elems[k].from, g.elems[k].to = first, i-1
			first = i + 1
			k++
		}
	}
	return g
}

// startsLambda tells whether token i is the word lambda and not a name.
func (p *printer) startsLambda(i int) bool {
	if p.toks[i].Text != "lambda" {
		return false
	}
	next := p.toks[i+1].Kind
	return next == lexer.Ident || next == lexer.LParen && p.toks[i+2].Kind == lexer.RParen && p.toks[i+3].Kind == lexer.Colon
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
	case *ast.CondExpr:
		anchor = p.start(x.Cond)
	}
	from := start - 1
	for int(p.match[from]) < anchor {
		from--
	}
	p.group(l, from, []ast.Expr{x})
}
