package lexer

import (
	"io"

	plex "github.com/alecthomas/participle/v2/lexer"
)

// The types of tokens as participle sees them: every keyword is a Keyword and
// every mark an Op, told apart by their text.
const (
	typeKeyword = plex.TokenType(kindCount) + iota
	typeOp
)

// Definition is the lexer of Sense for participle. Its zero value is ready.
type Definition struct{}

// Symbols names the types of tokens for grammars.
func (Definition) Symbols() map[string]plex.TokenType {
	return map[string]plex.TokenType{
		"EOF": plex.EOF, "Newline": plex.TokenType(Newline), "Indent": plex.TokenType(Indent), "Dedent": plex.TokenType(Dedent),
		"Int": plex.TokenType(Int), "Float": plex.TokenType(Float), "String": plex.TokenType(String),
		"Ident": plex.TokenType(Ident), "Keyword": typeKeyword, "Op": typeOp,
	}
}

// Lex reads all of r and scans it.
func (d Definition) Lex(name string, r io.Reader) (plex.Lexer, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return d.LexString(name, string(b))
}

// LexString scans src. An error of the scanner is a *diag.Error.
func (Definition) LexString(name, src string) (plex.Lexer, error) {
	toks, _, err := Scan(name, src)
	if err != nil {
		return nil, err
	}
	return Tokens(name, toks), nil
}

// Tokens hands tokens that were scanned before to participle.
func Tokens(name string, toks []Token) plex.Lexer {
	return &stream{name: name, toks: toks}
}

type stream struct {
	name string
	toks []Token
}

// Next gives the next token, and EOF again and again at the end.
func (s *stream) Next() (plex.Token, error) {
	t := s.toks[0]
	if t.Kind != EOF {
		s.toks = s.toks[1:]
	}
	return plex.Token{Type: plexType(t.Kind), Value: t.Text, Pos: plex.Position{
		Filename: s.name, Offset: int(t.Pos.Offset), Line: int(t.Pos.Line), Column: int(t.Pos.Col)}}, nil
}

func plexType(k Kind) plex.TokenType {
	switch {
	case k == EOF:
		return plex.EOF
	case k >= KwDef:
		return typeKeyword
	case k > Ident:
		return typeOp
	}
	return plex.TokenType(k)
}
