// Package lexer turns the text of a Sense program into tokens. It keeps the
// indentation stack (tokens Indent and Dedent), joins lines inside brackets and
// hands comments over as a list of their own. Definition makes the same tokens
// available to participle.
package lexer

import (
	"strings"

	"github.com/sense-lang/sense/diag"
)

// Kind says what a token is.
type Kind uint8

// The kinds of tokens. Those from KwDef on are keywords.
const (
	Invalid Kind = iota
	EOF
	Newline
	Indent
	Dedent
	Int
	Float
	String
	Ident
	// An FString is followed by its pieces, the last of which is its FEnd: texts,
	// and fields made of FOpen, an expression, an FSpec where there is one, FClose.
	FString
	FText
	FOpen
	FSpec
	FClose
	FEnd
	LParen
	RParen
	LBracket
	RBracket
	LBrace
	RBrace
	Comma
	Colon
	Dot
	Plus
	Minus
	Star
	Slash
	Percent
	Eq
	EqEq
	BangEq
	Lt
	LtEq
	Gt
	GtEq
	Arrow
	StarStar
	SlashSlash
	PlusEq
	MinusEq
	StarEq
	SlashEq
	PercentEq
	KwDef
	KwReturn
	KwReturns
	KwIf
	KwElse
	KwWhile
	KwFor
	KwIn
	KwBreak
	KwContinue
	KwTrue
	KwFalse
	KwNil
	KwImport
	KwFrom
	KwAs
	KwPython
	KwSet
	KwLocal
	KwSession
	KwAgent
	KwAction
	KwReversible
	KwIrreversible
	KwRequires
	KwApproval
	KwPolicy
	KwAllow
	KwDeny
	KwTest
	KwTool
	KwMemory
	KwAsync
	KwPersistent
	KwModel
	KwAnd
	KwOr
	KwNot
	kindCount
)

var kindNames = [kindCount]string{
	"INVALID", "EOF", "NEWLINE", "INDENT", "DEDENT", "INT", "FLOAT", "STRING", "IDENT",
	"FSTRING", "FTEXT", "LBRACE", "FSPEC", "RBRACE", "FEND",
	"LPAREN", "RPAREN", "LBRACKET", "RBRACKET", "LBRACE", "RBRACE", "COMMA", "COLON", "DOT",
	"PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "EQ", "EQEQ", "BANGEQ", "LT", "LTEQ", "GT", "GTEQ", "ARROW",
	"STARSTAR", "SLASHSLASH", "PLUSEQ", "MINUSEQ", "STAREQ", "SLASHEQ", "PERCENTEQ",
	"DEF", "RETURN", "RETURNS", "IF", "ELSE", "WHILE", "FOR", "IN", "BREAK", "CONTINUE", "TRUE", "FALSE", "NIL",
	"IMPORT", "FROM", "AS", "PYTHON", "SET", "LOCAL", "SESSION", "AGENT", "ACTION", "REVERSIBLE", "IRREVERSIBLE",
	"REQUIRES", "APPROVAL", "POLICY", "ALLOW", "DENY", "TEST", "TOOL", "MEMORY", "ASYNC", "PERSISTENT", "MODEL",
	"AND", "OR", "NOT",
}

// String gives the name of the kind as messages show it: "LPAREN", "IF".
func (k Kind) String() string { return kindNames[k] }

// IsKeyword reports whether k is a reserved word.
func (k Kind) IsKeyword() bool { return k >= KwDef }

// IsLayout reports whether k stands for layout, not for text: Newline, Indent,
// Dedent and EOF. Such tokens have no text.
func (k Kind) IsLayout() bool { return k >= EOF && k <= Dedent }

// Token is a piece of a program. Text is its spelling in the source, quotes and
// escapes included; it is a part of the source, so it costs no memory. Of an
// FString it is the whole literal, whose pieces are tokens of their own.
type Token struct {
	Text string
	Pos  diag.Pos
	Kind Kind
}

// Value gives what the token stands for: of a String or FText the text with its
// escapes resolved, of a number its digits as 0 to 9 without "_", of anything
// else its spelling.
func (t Token) Value() string {
	switch t.Kind {
	case String:
		return Unquote(t.Text)
	case FText:
		return unbrace(t.Text)
	case Int, Float:
		return plainDigits(t.Text)
	}
	return t.Text
}

// Comment is a comment of a program. Text runs from its "#" to the end of the
// line. Own tells that nothing else stands on its line.
type Comment struct {
	Text string
	Pos  diag.Pos
	Own  bool
}

// SoftWords lists the words that begin a construct in some places and are names
// in all others; to the scanner they are names.
func SoftWords() []string {
	return []string{"catch", "compensate", "default", "elif", "finally", "lambda", "pass", "raise", "rollback", "transaction", "try"}
}

// Keyword gives the kind of the keyword spelt s, Ident where s is none.
func Keyword(s string) Kind {
	if len(s) < 2 || len(s) > len("irreversible") {
		return Ident
	}
	switch s {
	case "def":
		return KwDef
	case "return":
		return KwReturn
	case "returns":
		return KwReturns
	case "if":
		return KwIf
	case "else":
		return KwElse
	case "while":
		return KwWhile
	case "for":
		return KwFor
	case "in":
		return KwIn
	case "break":
		return KwBreak
	case "continue":
		return KwContinue
	case "true":
		return KwTrue
	case "false":
		return KwFalse
	case "nil":
		return KwNil
	case "import":
		return KwImport
	case "from":
		return KwFrom
	case "as":
		return KwAs
	case "python":
		return KwPython
	case "set":
		return KwSet
	case "local":
		return KwLocal
	case "session":
		return KwSession
	case "agent":
		return KwAgent
	case "action":
		return KwAction
	case "reversible":
		return KwReversible
	case "irreversible":
		return KwIrreversible
	case "requires":
		return KwRequires
	case "approval":
		return KwApproval
	case "policy":
		return KwPolicy
	case "allow":
		return KwAllow
	case "deny":
		return KwDeny
	case "test":
		return KwTest
	case "tool":
		return KwTool
	case "memory":
		return KwMemory
	case "async":
		return KwAsync
	case "persistent":
		return KwPersistent
	case "model":
		return KwModel
	case "and":
		return KwAnd
	case "or":
		return KwOr
	case "not":
		return KwNot
	}
	return Ident
}

// Keywords lists the reserved words.
func Keywords() []string {
	var out []string
	for k := KwDef; int(k) < len(kindNames); k++ {
		if s := strings.ToLower(kindNames[k]); Keyword(s) == k {
			out = append(out, s)
		}
	}
	return out
}
