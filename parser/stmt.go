package parser

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	plex "github.com/alecthomas/participle/v2/lexer"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/lexer"
)

// statement reads one statement with its line end.
func (p *parser) statement() ast.Stmt {
	t := &p.toks[p.i]
	at := ast.At{P: t.Pos}
	switch t.Kind {
	case lexer.Ident:
		if s := p.soft(at); s != nil {
			return s
		}
		return p.simple(at)
	case lexer.KwIf:
		return p.ifStmt(at)
	case lexer.KwReturn:
		return p.returnStmt(at)
	case lexer.KwFor:
		return p.forStmt(at)
	case lexer.KwWhile:
		p.i++
		cond := p.condition()
		return &ast.WhileStmt{At: at, Cond: cond, Body: p.block()}
	case lexer.KwLocal:
		return p.local(at)
	case lexer.KwBreak:
		p.i++
		p.endOfStatement()
		return &ast.BreakStmt{At: at}
	case lexer.KwContinue:
		p.i++
		p.endOfStatement()
		return &ast.ContinueStmt{At: at}
	case lexer.KwDef, lexer.KwTest, lexer.KwSession, lexer.KwAgent, lexer.KwTool, lexer.KwAsync, lexer.KwReversible,
		lexer.KwIrreversible, lexer.KwMemory, lexer.KwPersistent, lexer.KwModel, lexer.KwPolicy, lexer.KwSet,
		lexer.KwImport, lexer.KwFrom:
		return p.declaration()
	}
	return p.exprStmt(at)
}

// declaration lets participle read a declaration and lowers it.
func (p *parser) declaration() ast.Stmt {
	p.enter()
	start, outer := p.i, p.base
	p.base = start
	lex, _ := plex.Upgrade(lexer.Tokens(p.name, p.window()))
	d, err := p.grammar().ParseFromLexer(lex, participle.AllowTrailing(true))
	if err != nil {
		p.failDeclaration(start, err)
	}
	p.i = max(p.i, start+int(lex.RawCursor()))
	s := p.lower(ast.At{P: p.toks[start].Pos}, d)
	p.base = outer
	p.leave()
	return s
}

// window gives the tokens that participle needs for the declaration at the
// current token: up to the ":" of its block or the end of its line, and one
// more; of a policy, the indented block too.
func (p *parser) window() []lexer.Token {
	end := p.headEnd()
	for depth := 0; p.toks[end].Kind != lexer.EOF; {
		end++
		switch p.toks[end].Kind {
		case lexer.Indent:
			depth++
		case lexer.Dedent:
			depth--
		}
		if depth <= 0 || p.kind() != lexer.KwPolicy {
			break
		}
	}
	toks := make([]lexer.Token, 0, end-p.i+2)
	toks = append(toks, p.toks[p.i:end+1]...)
	return append(toks, lexer.Token{Kind: lexer.EOF, Pos: p.toks[end].Pos})
}

// headEnd gives the index of the token that ends the head of a declaration.
func (p *parser) headEnd() int {
	colonEnds := true
	switch p.kind() {
	case lexer.KwPolicy, lexer.KwMemory, lexer.KwPersistent, lexer.KwModel, lexer.KwSet:
		colonEnds = false
	}
	brackets := 0
	for i := p.i; ; i++ {
		k := p.toks[i].Kind
		brackets += nesting(k)
		switch k {
		case lexer.Colon:
			if colonEnds && brackets <= 0 {
				return i
			}
		case lexer.Newline, lexer.EOF:
			return i
		}
	}
}

// simple reads a statement that starts with a name.
func (p *parser) simple(at ast.At) ast.Stmt {
	switch p.peek() {
	case lexer.Colon:
		return p.typed(at)
	case lexer.LParen:
		p.checkOldFunction()
	}
	return p.exprStmt(at)
}

func (p *parser) exprStmt(at ast.At) ast.Stmt {
	x := p.expr()
	if p.kind() == lexer.Comma && isTarget(x) && p.assigns() {
		return p.destruct(at, x)
	}
	p.endOfStatement()
	return &ast.ExprStmt{At: at, X: x}
}

// checkOldFunction refuses name(...) followed by ":" or "returns", which was
// how functions were declared once.
func (p *parser) checkOldFunction() {
	depth := 0
	for i := p.i + 1; i < len(p.toks); i++ {
		switch p.toks[i].Kind {
		case lexer.LParen:
			depth++
		case lexer.RParen:
			depth--
		case lexer.Newline:
			return
		}
		if depth > 0 {
			continue
		}
		if k := p.toks[i+1].Kind; k == lexer.Colon || k == lexer.KwReturns {
			t := p.toks[p.i]
			p.failAt(t.Pos, "function declarations need 'def' -- e.g. 'def "+t.Text+"(...) -> Type:'")
		}
		return
	}
}

// typed reads name: Type = value.
func (p *parser) typed(at ast.At) ast.Stmt {
	name := &p.toks[p.i]
	p.i++
	p.expect(lexer.Colon, "expected ':' for a type annotation")
	return p.varDecl(&ast.VarDecl{At: at, Name: name.Text, NamePos: name.Pos, Type: p.typ()},
		"expected '=' after the type annotation")
}

// local reads local name = value and local name: Type = value.
func (p *parser) local(at ast.At) ast.Stmt {
	p.i++
	name := p.expect(lexer.Ident, "expected a name after 'local'")
	d := &ast.VarDecl{At: at, Name: name.Text, NamePos: name.Pos, Local: true}
	if p.accept(lexer.Colon) {
		d.Type = p.typ()
	}
	return p.varDecl(d, "expected '=' in a local declaration")
}

func (p *parser) varDecl(d *ast.VarDecl, msg string) ast.Stmt {
	p.expect(lexer.Eq, msg)
	d.Value = p.expr()
	p.endOfStatement()
	return d
}

// typ reads an annotation.
func (p *parser) typ() *ast.TypeExpr {
	p.enter()
	name := p.expect(lexer.Ident, "expected a type name")
	t := &ast.TypeExpr{At: ast.At{P: name.Pos}, Name: name.Text}
	if p.accept(lexer.Lt) {
		t.Args = append(t.Args, p.typ())
		for p.accept(lexer.Comma) {
			t.Args = append(t.Args, p.typ())
		}
		p.expect(lexer.Gt, "expected '>' to close the generic type")
	}
	p.leave()
	return t
}

// ifStmt reads a whole chain of conditions, so that a long one nests no deeper
// than a short one.
func (p *parser) ifStmt(at ast.At) ast.Stmt {
	s := &ast.IfStmt{At: at}
	for {
		arm := ast.IfArm{At: ast.At{P: p.toks[p.i].Pos}}
		p.i++
		arm.Cond = p.condition()
		arm.Body = p.block()
		s.Arms = append(s.Arms, arm)
		if p.atElif() {
			continue
		}
		if !p.accept(lexer.KwElse) {
			return s
		}
		if p.kind() != lexer.KwIf {
			s.Else = p.block()
			return s
		}
	}
}

func (p *parser) forStmt(at ast.At) ast.Stmt {
	p.i++
	s := &ast.ForStmt{At: at}
	for msg := "expected a loop variable name after 'for'"; ; msg = "expected a loop variable name after ','" {
		name := p.expect(lexer.Ident, msg)
		s.Vars = append(s.Vars, &ast.Ident{At: ast.At{P: name.Pos}, Name: name.Text})
		if !p.accept(lexer.Comma) {
			break
		}
	}
	p.expect(lexer.KwIn, "expected 'in' after the loop variable")
	s.Iter = p.condition()
	s.Body = p.block()
	return s
}

func (p *parser) returnStmt(at ast.At) ast.Stmt {
	p.i++
	s := &ast.ReturnStmt{At: at}
	if p.kind() != lexer.Newline {
		s.Value = p.expr()
	}
	p.endOfStatement()
	return s
}

// block reads ":" and a body, on the same line or indented.
func (p *parser) block() *ast.Block {
	p.enter()
	colon := p.expect(lexer.Colon, "expected ':' to start a block")
	b := &ast.Block{At: ast.At{P: colon.Pos}}
	if p.accept(lexer.Newline) {
		p.expect(lexer.Indent, "expected an indented block")
		for p.kind() != lexer.Dedent && p.kind() != lexer.EOF {
			b.Stmts = append(b.Stmts, p.statement())
		}
		p.expect(lexer.Dedent, "expected the indented block to end")
	} else {
		p.checkBrace()
		b.Stmts = []ast.Stmt{p.statement()}
	}
	p.leave()
	return b
}

// checkBrace refuses a "{" after the colon of a block, unless the key of a map
// follows.
func (p *parser) checkBrace() {
	if p.kind() != lexer.LBrace {
		return
	}
	switch p.peek() {
	case lexer.String, lexer.FString, lexer.RBrace:
		return
	}
	p.failAt(p.toks[p.i].Pos, "Sense uses indentation for blocks, not '{ }' — write ':' then an indented block instead")
}

// need is one item after requires: approval or a capability.
type need struct {
	approval   bool
	capability ast.Capability
}

type needList []need

func (n needList) list() []need { return n }

// needs reads what an action requires.
func (p *parser) needs() needs {
	var out needList
	approval := false
	for {
		t := &p.toks[p.i]
		switch {
		case t.Kind == lexer.KwApproval:
			if approval {
				p.failAt(t.Pos, "'approval' listed twice in 'requires'")
			}
			approval = true
			p.i++
			out = append(out, need{approval: true})
		case isWord(t.Kind):
			out = append(out, need{capability: p.capability()})
		default:
			p.failAt(t.Pos, "expected a capability name or 'approval' after 'requires'")
		}
		if !p.accept(lexer.Comma) {
			return out
		}
	}
}

// capability reads a dotted name; every word may be a part of it, and after a
// dot every string.
func (p *parser) capability() ast.Capability {
	t := &p.toks[p.i]
	c := ast.Capability{At: ast.At{P: t.Pos}}
	segs := []string{t.Text}
	p.i++
	for p.accept(lexer.Dot) {
		t := &p.toks[p.i]
		switch {
		case t.Kind == lexer.String:
			segs = append(segs, quotedSegment(t.Text))
		case isWord(t.Kind):
			segs = append(segs, t.Text)
		default:
			p.fail("expected a name after '.'")
		}
		p.i++
	}
	c.Name = strings.Join(segs, ".")
	return c
}

// rollback reads the block that undoes a reversible action, and refuses one
// after an irreversible action.
func (p *parser) rollback(d *ast.ActionDecl) {
	t := &p.toks[p.i]
	word := ""
	if t.Kind == lexer.Ident && p.peek() == lexer.Colon {
		word = t.Text
	}
	switch {
	case word == "compensate":
		p.failAt(t.Pos, "'compensate' is now spelled 'rollback' -- rename this block's leading word to 'rollback:'")
	case word == "rollback" && !d.Reversible:
		p.failAt(t.Pos, "only a 'reversible action' may declare 'rollback' — an irreversible action cannot be reliably undone")
	case word == "rollback":
		p.i++
		d.Rollback = p.block()
	case d.Reversible:
		p.failAt(t.Pos, "reversible action '"+d.Name+"' must declare a 'rollback' block -- use 'irreversible action' instead "+
			"if this genuinely can't be undone")
	}
}

// place turns a position of participle's into ours.
func place(pos plex.Position) diag.Pos {
	return diag.Pos{Offset: int32(pos.Offset), Line: int32(pos.Line), Col: int32(pos.Column)}
}
