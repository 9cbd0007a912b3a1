// Package parser reads Sense source text into an ast.File.
//
// Participle owns the declarations (grammar.go); it calls back into hand-written
// pieces for blocks and the statements in them (stmt.go) and for expressions
// (expr.go), which need speed and messages of their own. lower.go turns
// participle's structs into the tree, errors.go words what participle refuses.
package parser

import (
	"sync"

	"github.com/alecthomas/participle/v2"
	plex "github.com/alecthomas/participle/v2/lexer"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/lexer"
)

// Limits that keep a hostile text from exhausting the stack, here or in what
// walks over the tree later.
const (
	maxDepth = 1000    // blocks, brackets, unary operators and assignments within each other
	maxChain = 250_000 // operators, calls, members and indexes in a row, which nest to the left
)

// Parse reads a whole program. name is the file that errors name, and becomes
// File.Name. An error is a *diag.Error of kind Syntax with its place.
func Parse(name, src string) (*ast.File, error) {
	toks, _, err := lexer.Scan(name, src)
	if err != nil {
		return nil, err
	}
	return ParseTokens(name, toks)
}

// ParseTokens reads a program that was scanned before; toks must end with EOF.
// See Parse.
func ParseTokens(name string, toks []lexer.Token) (*ast.File, error) {
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	return p.file(name, toks)
}

// parsers keeps parsers for reuse, since building participle's takes a while.
// Each has its own state, so that the hand-written pieces know where they are.
var parsers = sync.Pool{New: func() any { return newParser() }}

// parser reads toks from i on. While participle reads a declaration, it sees a
// window of the tokens that begins at base.
type parser struct {
	name  string
	toks  []lexer.Token
	i     int
	base  int
	depth int
	head  int // where the head of a block begins that is being read, -1 for none
	decl  *participle.Parser[declaration]
}

func newParser() *parser { return &parser{} }

// grammar gives participle's parser, built when the first declaration comes.
func (p *parser) grammar() *participle.Parser[declaration] {
	if p.decl == nil {
		p.decl = buildGrammar(p)
	}
	return p.decl
}

func buildGrammar(p *parser) *participle.Parser[declaration] {
	return participle.MustBuild[declaration](
		participle.Lexer(lexer.Definition{}),
		participle.UseLookahead(0),
		piece(p, func() expression { return p.expr() }),
		piece(p, func() block { return p.block() }),
		piece(p, func() annotation { return p.typ() }),
		piece(p, func() needs { return p.needs() }),
		piece(p, func() params { return p.params() }),
		piece(p, func() pattern { return p.pattern() }),
	)
}

// piece plugs a hand-written function into participle's grammar. A block ends
// beyond the window of its declaration, whose end is then where participle goes
// on; nothing follows a block in any declaration.
func piece[T any](p *parser, read func() T) participle.Option {
	return participle.ParseTypeWith(func(lex *plex.PeekingLexer) (T, error) {
		p.i = p.base + int(lex.RawCursor())
		x := read()
		for !lex.Peek().EOF() && p.base+int(lex.RawCursor()) < p.i {
			lex.Next()
		}
		return x, nil
	})
}

// bailout carries an error out of the depth of the parser.
type bailout struct{ err *diag.Error }

func (p *parser) file(name string, toks []lexer.Token) (f *ast.File, err error) {
	defer func() {
		p.toks = nil
		if r := recover(); r != nil {
			b, ok := r.(bailout)
			if !ok {
				panic(r)
			}
			f, err = nil, b.err
		}
	}()
	p.name, p.toks, p.i, p.base, p.depth, p.head = name, toks, 0, 0, 0, -1
	f = &ast.File{Name: name}
	for p.kind() != lexer.EOF {
		f.Body = append(f.Body, p.statement())
	}
	return f, nil
}

func (p *parser) failAt(pos diag.Pos, msg string) {
	panic(bailout{&diag.Error{Kind: diag.Syntax, File: p.name, Pos: pos, Msg: msg, Notes: p.hints(pos)}})
}

// fail reports msg at the current token and says what was found instead.
func (p *parser) fail(msg string) {
	t := &p.toks[p.i]
	p.failAt(t.Pos, msg+" (got "+found(t)+")")
}

// kind gives the kind of the current token.
func (p *parser) kind() lexer.Kind { return p.toks[p.i].Kind }

// peek gives the kind of the token after the current one.
func (p *parser) peek() lexer.Kind { return p.kindAt(1) }

// kindAt gives the kind of the n-th token after the current one.
func (p *parser) kindAt(n int) lexer.Kind {
	if p.i+n < len(p.toks) {
		return p.toks[p.i+n].Kind
	}
	return lexer.EOF
}

// accept steps over the current token where it is of kind k.
func (p *parser) accept(k lexer.Kind) bool {
	if p.toks[p.i].Kind != k {
		return false
	}
	p.i++
	return true
}

// expect steps over a token of kind k, or fails with msg.
func (p *parser) expect(k lexer.Kind, msg string) *lexer.Token {
	t := &p.toks[p.i]
	if t.Kind != k {
		p.fail(msg)
	}
	p.i++
	return t
}

func (p *parser) endOfStatement() {
	p.expect(lexer.Newline, "expected a new line after this statement")
}

// enter goes one level deeper into the text; leave comes back.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxDepth {
		p.failAt(p.toks[p.i].Pos, "nested too deeply")
	}
}

func (p *parser) leave() { p.depth-- }
