package parser

import (
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/lexer"
)

// binaryOp is the level of a binary operator, from 1 for the loosest, and what
// it does.
type binaryOp struct {
	level uint8
	op    ast.Op
}

var binaryOps = [256]binaryOp{
	lexer.KwOr:       {1, ast.OpOr},
	lexer.KwAnd:      {2, ast.OpAnd},
	lexer.EqEq:       {3, ast.OpEq},
	lexer.BangEq:     {3, ast.OpNe},
	lexer.Lt:         {membership, ast.OpLt},
	lexer.LtEq:       {membership, ast.OpLe},
	lexer.Gt:         {membership, ast.OpGt},
	lexer.GtEq:       {membership, ast.OpGe},
	lexer.KwIn:       {membership, ast.OpIn},
	lexer.KwNot:      {membership, ast.OpNotIn}, // where in follows
	lexer.Plus:       {5, ast.OpAdd},
	lexer.Minus:      {5, ast.OpSub},
	lexer.Star:       {6, ast.OpMul},
	lexer.Slash:      {6, ast.OpDiv},
	lexer.Percent:    {6, ast.OpMod},
	lexer.SlashSlash: {6, ast.OpFloorDiv},
}

// membership is the level of in and not in.
const membership = 4

// assignOps gives what the marks of assignments compute.
var assignOps = [256]struct {
	is bool
	op ast.Op
}{
	lexer.Eq:        {true, ast.OpNone},
	lexer.PlusEq:    {true, ast.OpAdd},
	lexer.MinusEq:   {true, ast.OpSub},
	lexer.StarEq:    {true, ast.OpMul},
	lexer.SlashEq:   {true, ast.OpDiv},
	lexer.PercentEq: {true, ast.OpMod},
}

// expr reads an expression, assignments included.
func (p *parser) expr() ast.Expr {
	p.enter()
	x := p.value()
	if assignOps[p.kind()].is {
		x = p.assign(x)
	}
	p.leave()
	return x
}

// value reads an expression that is no assignment.
func (p *parser) value() ast.Expr {
	if t := &p.toks[p.i]; t.Kind == lexer.Ident && t.Text == "lambda" && p.isLambda() {
		return p.lambda()
	}
	x := p.binary(1)
	if p.kind() == lexer.KwIf {
		x = p.conditional(x)
	}
	return x
}

// conditional reads the condition after x, and what stands for x without it.
func (p *parser) conditional(x ast.Expr) ast.Expr {
	p.enter()
	start := p.i
	p.i++
	c := &ast.CondExpr{At: ast.At{P: x.Pos()}, Then: x, Cond: p.binary(1)}
	if p.kind() != lexer.KwElse && p.toks[start].Pos.Line > p.toks[start-1].Pos.Line {
		p.i = start // an if statement, below a bracket that was not closed
		p.leave()
		return x
	}
	p.expect(lexer.KwElse, "expected 'else' in a conditional expression")
	c.Else = p.value()
	p.leave()
	return c
}

// assign reads the "=" after x, or another mark of assignments, and its value.
// What x is, is looked at last, so that an error in the value comes first.
func (p *parser) assign(x ast.Expr) ast.Expr {
	eq, op := p.toks[p.i].Pos, assignOps[p.kind()].op
	p.i++
	v := p.expr()
	switch t := x.(type) {
	case *ast.Ident:
		if op == ast.OpNone && isInference(v) {
			p.failAt(eq, "'"+t.Name+" = inference(...)' needs the 'model' keyword to name it -- use 'model "+
				t.Name+" = inference(...)' instead")
		}
	case *ast.IndexExpr:
	default:
		p.failAt(eq, "invalid assignment target")
	}
	return &ast.AssignExpr{At: ast.At{P: x.Pos()}, Target: x, Op: op, OpPos: eq, Value: v}
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
		if o.op == ast.OpNotIn {
			if p.peek() != lexer.KwIn {
				return x
			}
			p.i++
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
		x := p.call()
		if p.kind() == lexer.StarStar {
			x = p.power(x)
		}
		return x
	}
	p.enter()
	p.i++
	x := p.unary()
	if op == ast.OpNot {
		x = p.members(x)
	}
	p.leave()
	return &ast.UnaryExpr{At: ast.At{P: t.Pos}, Op: op, X: x}
}

// power reads the exponent of x. It binds tighter than a sign before x, which
// is why that of -2 ** 2 belongs to 2.
func (p *parser) power(x ast.Expr) ast.Expr {
	p.enter()
	pos := p.toks[p.i].Pos
	p.i++
	y := p.unary()
	p.leave()
	return &ast.BinaryExpr{At: ast.At{P: x.Pos()}, Op: ast.OpPow, OpPos: pos, X: x, Y: y}
}

// members reads the in and not in directly after the operand x of a not, which
// then speaks of their result.
func (p *parser) members(x ast.Expr) ast.Expr {
	for n := 0; ; n++ {
		t := &p.toks[p.i]
		op := ast.OpIn
		switch {
		case t.Kind == lexer.KwIn:
		case t.Kind == lexer.KwNot && p.peek() == lexer.KwIn:
			op = ast.OpNotIn
			p.i++
		default:
			return x
		}
		p.checkChain(n)
		p.i++
		x = &ast.BinaryExpr{At: ast.At{P: x.Pos()}, Op: op, OpPos: t.Pos, X: x, Y: p.binary(membership + 1)}
	}
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
			name := &p.toks[p.i]
			if !isWord(name.Kind) {
				p.fail("expected a property name after '.'")
			}
			p.i++
			x = &ast.MemberExpr{At: ast.At{P: x.Pos()}, X: x, Name: name.Text, NamePos: name.Pos}
		case lexer.LBracket:
			x = p.index(x)
		default:
			return x
		}
		p.checkChain(n)
	}
}

// isWord reports whether a token of kind k may be a label or a member's name.
func isWord(k lexer.Kind) bool { return k == lexer.Ident || k.IsKeyword() }

// index reads an index or a slice of x.
func (p *parser) index(x ast.Expr) ast.Expr {
	at, lbrack := ast.At{P: x.Pos()}, p.toks[p.i].Pos
	p.i++
	var lo, hi ast.Expr
	if p.kind() != lexer.Colon {
		lo = p.expr()
	}
	if lo != nil && p.kind() != lexer.Colon {
		p.expect(lexer.RBracket, "expected ']' after the index")
		return &ast.IndexExpr{At: at, X: x, Lbrack: lbrack, Index: lo}
	}
	p.i++
	if p.kind() != lexer.RBracket && p.kind() != lexer.Colon {
		hi = p.expr()
	}
	if p.kind() == lexer.Colon {
		p.fail("a slice has a beginning and an end, no step")
	}
	p.expect(lexer.RBracket, "expected ']' after the slice")
	return &ast.SliceExpr{At: at, X: x, Lbrack: lbrack, Lo: lo, Hi: hi}
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
		if isWord(p.kind()) && p.peek() == lexer.Colon {
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
		if p.accept(lexer.RParen) {
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
		return p.intLit(at, t)
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
	case lexer.LBrace:
		return &ast.MapLit{At: at, Entries: p.entries()}
	case lexer.FString:
		return &ast.FString{At: at, Parts: p.fparts()}
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
		if p.accept(lexer.RBracket) {
			return xs
		}
	}
}

// entries reads the entries of a map and the "}" after them.
func (p *parser) entries() []ast.MapEntry {
	var es []ast.MapEntry
	for !p.accept(lexer.RBrace) {
		var e ast.MapEntry
		e.Key = p.expr()
		p.expect(lexer.Colon, "expected ':' after the key of a map")
		e.Value = p.expr()
		es = append(es, e)
		if !p.accept(lexer.Comma) {
			p.expect(lexer.RBrace, "expected '}' after the map entries")
			break
		}
	}
	return es
}

// fparts reads the pieces of an f-string up to its end.
func (p *parser) fparts() []ast.FPart {
	var parts []ast.FPart
	for {
		t := &p.toks[p.i]
		p.i++
		switch t.Kind {
		case lexer.FText:
			parts = append(parts, ast.FPart{Text: t.Value()})
		case lexer.FOpen:
			parts = append(parts, p.field())
		default:
			return parts
		}
	}
}

// field reads an expression in an f-string and how it is to be formatted.
func (p *parser) field() ast.FPart {
	part := ast.FPart{X: p.expr()}
	if t := &p.toks[p.i]; t.Kind == lexer.FSpec {
		part.Spec = t.Text[1:]
		if _, err := ast.ParseFormat(part.Spec); err != nil {
			p.failAt(t.Pos, "unknown format "+diag.Repr(part.Spec)+" in an f-string -- use forms like :.2f, :>10 or :,")
		}
		p.i++
	}
	p.expect(lexer.FClose, "expected '}' after the expression in an f-string")
	return part
}
