package parser

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/lexer"
)

// binaryOp is the level of a binary operator, from 1 for the loosest, and what
// it does.
type binaryOp struct {
	level uint8
	op    ast.Op
}

var binaryOps = [256]binaryOp{
	lexer.KwOr:    {1, ast.OpOr},
	lexer.KwAnd:   {2, ast.OpAnd},
	lexer.EqEq:    {3, ast.OpEq},
	lexer.BangEq:  {3, ast.OpNe},
	lexer.Lt:      {4, ast.OpLt},
	lexer.LtEq:    {4, ast.OpLe},
	lexer.Gt:      {4, ast.OpGt},
	lexer.GtEq:    {4, ast.OpGe},
	lexer.Plus:    {5, ast.OpAdd},
	lexer.Minus:   {5, ast.OpSub},
	lexer.Star:    {6, ast.OpMul},
	lexer.Slash:   {6, ast.OpDiv},
	lexer.Percent: {6, ast.OpMod},
}

// expr reads an expression, assignments included.
func (p *parser) expr() ast.Expr {
	p.enter()
	x := p.binary(1)
	if p.kind() == lexer.Eq {
		x = p.assign(x)
	}
	p.leave()
	return x
}

// assign reads the "=" after x and its value. What x is, is looked at last, so
// that an error in the value comes first.
func (p *parser) assign(x ast.Expr) ast.Expr {
	eq := p.toks[p.i].Pos
	p.i++
	v := p.expr()
	switch t := x.(type) {
	case *ast.Ident:
		if isInference(v) {
			p.failAt(eq, "'"+t.Name+" = inference(...)' needs the 'model' keyword to name it -- use 'model "+
				t.Name+" = inference(...)' instead")
		}
	case *ast.IndexExpr:
	default:
		p.failAt(eq, "invalid assignment target")
	}
	return &ast.AssignExpr{At: ast.At{P: x.Pos()}, Target: x, OpPos: eq, Value: v}
}

func isInference(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.Ident)
	return ok && f.Name == "inference"
}

// binary reads operators of the given level and tighter ones. They group to the
// left, so a long chain needs no recursion.
func (p *parser) binary(level uint8) ast.Expr {
	x := p.unary()
	for n := 0; ; n++ {
		t := &p.toks[p.i]
		o := binaryOps[t.Kind]
		if o.level < level {
			return x
		}
		p.checkChain(n)
		p.i++
		y := p.binary(o.level + 1)
		x = &ast.BinaryExpr{At: ast.At{P: x.Pos()}, Op: o.op, OpPos: t.Pos, X: x, Y: y}
	}
}

func (p *parser) checkChain(n int) {
	if n > maxChain {
		p.failAt(p.toks[p.i].Pos, "expression is too long")
	}
}

func (p *parser) unary() ast.Expr {
	t := &p.toks[p.i]
	op := ast.OpNeg
	switch t.Kind {
	case lexer.Minus:
	case lexer.KwNot:
		op = ast.OpNot
	default:
		return p.call()
	}
	p.enter()
	p.i++
	x := p.unary()
	p.leave()
	return &ast.UnaryExpr{At: ast.At{P: t.Pos}, Op: op, X: x}
}

// call reads a primary expression and the calls, members and indexes after it.
func (p *parser) call() ast.Expr {
	x := p.primary()
	for n := 0; ; n++ {
		t := &p.toks[p.i]
		switch t.Kind {
		case lexer.LParen:
			p.i++
			x = &ast.CallExpr{At: ast.At{P: x.Pos()}, Fun: x, Lparen: t.Pos, Args: p.args()}
		case lexer.Dot:
			p.i++
			name := p.expect(lexer.Ident, "expected a property name after '.'")
			x = &ast.MemberExpr{At: ast.At{P: x.Pos()}, X: x, Name: name.Text, NamePos: name.Pos}
		case lexer.LBracket:
			p.i++
			i := p.expr()
			p.expect(lexer.RBracket, "expected ']' after the index")
			x = &ast.IndexExpr{At: ast.At{P: x.Pos()}, X: x, Lbrack: t.Pos, Index: i}
		default:
			return x
		}
		p.checkChain(n)
	}
}

// args reads the arguments of a call and the ")" after them.
func (p *parser) args() []ast.Arg {
	if p.accept(lexer.RParen) {
		return nil
	}
	var args []ast.Arg
	labeled := false
	for {
		var a ast.Arg
		if p.kind() == lexer.Ident && p.peek() == lexer.Colon {
			a.Label, a.LabelPos = p.toks[p.i].Text, p.toks[p.i].Pos
			labeled = true
			p.i += 2
		} else if labeled {
			p.failAt(p.toks[p.i].Pos, "positional arguments must come before labeled ('name: value') ones")
		}
		a.Value = p.expr()
		args = append(args, a)
		if !p.accept(lexer.Comma) {
			p.expect(lexer.RParen, "expected ')' after the arguments")
			return args
		}
	}
}

func (p *parser) primary() ast.Expr {
	t := &p.toks[p.i]
	p.i++
	at := ast.At{P: t.Pos}
	switch t.Kind {
	case lexer.Ident:
		return &ast.Ident{At: at, Name: t.Text}
	case lexer.Int:
		return intLit(at, t)
	case lexer.Float:
		return floatLit(at, t)
	case lexer.String:
		return &ast.StringLit{At: at, Value: t.Value()}
	case lexer.KwTrue, lexer.KwFalse:
		return &ast.BoolLit{At: at, Value: t.Kind == lexer.KwTrue}
	case lexer.KwNil:
		return &ast.NilLit{At: at}
	case lexer.LParen:
		x := p.expr()
		p.expect(lexer.RParen, "expected ')' after the expression")
		return x
	case lexer.LBracket:
		return &ast.ArrayLit{At: at, Elems: p.elems()}
	}
	p.failAt(t.Pos, "unexpected token "+found(t))
	return nil
}

// elems reads the elements of an array and the "]" after them.
func (p *parser) elems() []ast.Expr {
	if p.accept(lexer.RBracket) {
		return nil
	}
	var xs []ast.Expr
	for {
		xs = append(xs, p.expr())
		if !p.accept(lexer.Comma) {
			p.expect(lexer.RBracket, "expected ']' after the array elements")
			return xs
		}
	}
}
