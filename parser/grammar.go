package parser

import (
	"strings"

	plex "github.com/alecthomas/participle/v2/lexer"

	"github.com/sense-lang/sense/ast"
)

// The pieces that are written by hand. Participle knows them by these types.
type (
	expression interface{ ast.Expr }
	block      interface{ ast.Node }
	annotation interface{ String() string }
	needs      interface{ list() []need }
	params     interface{ list() []*ast.Param }
	pattern    interface{ capability() ast.Capability }
)

type declaration struct {
	Def     *funcDecl    `parser:"  @@"`
	Test    *testDecl    `parser:"| @@"`
	Session *sessionDecl `parser:"| @@"`
	Agent   *agentDecl   `parser:"| @@"`
	Tool    *toolDecl    `parser:"| @@"`
	Async   *asyncDecl   `parser:"| @@"`
	Action  *actionDecl  `parser:"| @@"`
	Memory  *memoryDecl  `parser:"| @@"`
	Model   *modelDecl   `parser:"| @@"`
	Policy  *policyStmt  `parser:"| @@"`
	Set     *setStmt     `parser:"| @@"`
	Import  *importStmt  `parser:"| @@"`
	From    *fromStmt    `parser:"| @@"`
}

type funcDecl struct {
	Name   plex.Token `parser:"'def' @Ident"`
	Params params     `parser:"'(' @@ ')'"`
	Result annotation `parser:"( '->' @@ )?"`
	Body   block      `parser:"@@"`
}

type testDecl struct {
	Desc plex.Token `parser:"'test' @String"`
	Body block      `parser:"@@"`
}

type sessionDecl struct {
	Name plex.Token `parser:"'session' @Ident"`
	Body block      `parser:"@@"`
}

type agentDecl struct {
	Name plex.Token `parser:"'agent' @Ident"`
	Body block      `parser:"@@"`
}

type toolDecl struct {
	Name     plex.Token    `parser:"'tool' @Ident"`
	Params   params        `parser:"'(' @@ ')'"`
	Result   annotation    `parser:"( 'returns' @@ )?"`
	Requires []*capability `parser:"( 'requires' @@ ( ',' @@ )* )?"`
	Desc     plex.Token    `parser:"@String?"`
	Body     block         `parser:"@@"`
}

type asyncDecl struct {
	Agent *agentDecl `parser:"'async' ( @@"`
	Tool  *toolDecl  `parser:"        | @@ )"`
}

// actionDecl lacks the rollback block, which follows from the kind of action
// and is read where this is lowered.
type actionDecl struct {
	Kind     plex.Token `parser:"@( 'reversible' | 'irreversible' )"`
	Name     plex.Token `parser:"'action' @Ident"`
	Params   params     `parser:"'(' @@ ')'"`
	Requires needs      `parser:"( 'requires' @@ )?"`
	Body     block      `parser:"@@"`
}

type capability struct {
	Pos  plex.Position
	Path []string `parser:"@( Ident | Keyword ) ( '.' @( Ident | Keyword | String ) )*"`
}

type memoryDecl struct {
	Persistent bool       `parser:"( 'memory' | @'persistent' 'memory' )"`
	Name       plex.Token `parser:"@Ident"`
	Text       plex.Token `parser:"( ':' @String )? Newline"`
}

type modelDecl struct {
	Name  plex.Token `parser:"'model' @Ident"`
	Value expression `parser:"'=' @@ Newline"`
}

type policyStmt struct {
	Rules []*policyRule `parser:"'policy' ':' ( Newline Indent @@+ Dedent | @@ )"`
}

type policyRule struct {
	Pos     plex.Position
	Effect  string  `parser:"( @( 'allow' | 'deny' )"`
	Pattern pattern `parser:"  @@"`
	Default bool    `parser:"| @'default' 'deny' ) Newline"`
}

type setStmt struct {
	Name  plex.Token `parser:"'set' @Ident"`
	Value expression `parser:"'=' @@ Newline"`
}

type importStmt struct {
	Python bool       `parser:"'import' @'python'?"`
	Module module     `parser:"@@"`
	Alias  plex.Token `parser:"( 'as' @Ident )? Newline"`
}

type fromStmt struct {
	Python bool          `parser:"'from' @'python'?"`
	Module module        `parser:"@@ 'import'"`
	Names  []*importName `parser:"@@ ( ',' @@ )* Newline"`
}

type module struct {
	Pos  plex.Position
	Text string   `parser:"  @String"`
	Path []string `parser:"| @Ident ( (?= '.' Ident ) '.' @Ident )*"`
}

type importName struct {
	Name  plex.Token `parser:"@Ident"`
	Alias plex.Token `parser:"( 'as' @Ident )?"`
}

// handWritten shows, in the notation of participle, the productions that are
// code and not structs.
const handWritten = `Statement = Declaration | VarDecl | IfStmt | WhileStmt | ForStmt | TryStmt | TransactionStmt | RaiseStmt | ReturnStmt | Destructuring
	| ("break" | "continue" | "pass") <newline> | Expression <newline> .
VarDecl = (<ident> ":" Annotation | "local" <ident> (":" Annotation)?) "=" Expression <newline> .
IfStmt = "if" Expression Block (("else" "if" | "elif") Expression Block)* ("else" Block)? .
WhileStmt = "while" Expression Block .
ForStmt = "for" <ident> ("," <ident>)* "in" Expression Block .
TryStmt = "try" Indented ("catch" <ident> ("if" Expression)? Block)* ("finally" Indented)? .
TransactionStmt = "transaction" Indented .
RaiseStmt = "raise" Expression <newline> .
ReturnStmt = "return" Expression? <newline> .
Destructuring = Or ("," Or)+ "=" Value ("," Value)* <newline> .
Block = Indented | ":" Statement .
Indented = ":" <newline> <indent> Statement+ <dedent> .
Needs = ("approval" | Capability) ("," ("approval" | Capability))* .
Pattern = Segment ("." (Segment | <string>))* .
Segment = (<ident> | <keyword> | "*") (<ident> | <keyword> | <int> | "*")* .
Params = (Param ("," Param)* ","?)? .
Param = <ident> (":" Annotation)? ("=" Expression)? .
Rollback = "rollback" Block .
Annotation = <ident> ("<" Annotation ("," Annotation)* ">")? .
Expression = Value (("=" | "+=" | "-=" | "*=" | "/=" | "%=") Expression)? .
Value = Lambda | Or ("if" Or "else" Value)? .
Lambda = "lambda" (LambdaParam ("," LambdaParam)* | "(" ")") ":" Expression .
LambdaParam = <ident> ("=" Expression)? .
Or = And ("or" And)* .
And = Equality ("and" Equality)* .
Equality = Comparison (("==" | "!=") Comparison)* .
Comparison = Term (("<" | "<=" | ">" | ">=" | "in" | "not" "in") Term)* .
Term = Factor (("+" | "-") Factor)* .
Factor = Unary (("*" | "/" | "//" | "%") Unary)* .
Unary = "not" Unary (("in" | "not" "in") Term)* | "-" Unary | Call ("**" Unary)? .
Call = Primary ("(" (Arg ("," Arg)* ","?)? ")" | "." Word | "[" Expression "]" | "[" Expression? ":" Expression? "]")* .
Arg = (Word ":")? Expression .
Word = <ident> | <keyword> .
Primary = <int> | <float> | <string> | FString | "true" | "false" | "nil" | <ident> | "(" Expression ")"
	| "[" (Expression ("," Expression)* ","?)? "]" | "{" (Entry ("," Entry)* ","?)? "}" .
Entry = Expression ":" Expression .
FString = <fstring> (<ftext> | "{" Expression <fspec>? "}")* <fend> .
`

// Grammar gives the whole grammar in EBNF, one production a line; a line that is
// indented continues the one above it. Words of the language that are no
// keywords, such as "try", are written like keywords.
func Grammar() string {
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	var b strings.Builder
	b.WriteString("Program = Statement* .\n")
	b.WriteString(p.grammar().String())
	b.WriteByte('\n')
	b.WriteString(handWritten)
	return b.String()
}
