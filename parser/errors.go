package parser

import (
	"errors"
	"strings"

	"github.com/alecthomas/participle/v2"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/lexer"
)

// found shows a token in a message: IDENT 'x'.
func found(t *lexer.Token) string {
	return t.Kind.String() + " " + diag.Repr(lexer.PlainLines(t.Text))
}

// expected gives, for the keyword that starts a declaration and for what
// participle wanted next in it, the text of the message.
var expected = map[lexer.Kind]map[string]string{
	lexer.KwDef: {
		"<ident>": "expected a function name after 'def'",
		`"("`:     "expected '(' after the function name",
	},
	lexer.KwTest:    {"<string>": "expected a description string after 'test'"},
	lexer.KwSession: {"<ident>": "expected a session name after 'session'"},
	lexer.KwAgent:   {"<ident>": "expected an agent name after 'agent'"},
	lexer.KwTool: {
		"<ident>": "expected a tool name",
		`"("`:     "expected '(' after the tool name",
	},
	lexer.KwReversible: {
		`"action"`: "expected 'action' after 'reversible'",
		"<ident>":  "expected an action name",
		`"("`:      "expected '(' after the action name",
	},
	lexer.KwIrreversible: {
		`"action"`: "expected 'action' after 'irreversible'",
		"<ident>":  "expected an action name",
		`"("`:      "expected '(' after the action name",
	},
	lexer.KwMemory: {
		"<ident>":  "expected a memory name after 'memory'",
		"<string>": "expected a string after ':' in a memory declaration",
	},
	lexer.KwPersistent: {`"memory"`: "expected 'memory' after 'persistent'"},
	lexer.KwModel: {
		"<ident>": "expected a name after 'model'",
		`"="`:     "expected '=' in a model declaration",
	},
	lexer.KwSet: {
		"<ident>": "expected a configuration name after 'set'",
		`"="`:     "expected '=' in a set statement",
	},
	lexer.KwPolicy: {
		`":"`:      "expected ':' after 'policy'",
		"<indent>": "expected an indented block of policy rules",
		`"deny"`:   "expected 'deny' after 'default' in a policy rule",
	},
	lexer.KwImport: {
		"Module": "expected a module path (a string, or a bare dotted name like pkg.mod) after 'import'",
	},
	lexer.KwFrom: {
		"Module":     "expected a module path (a string, or a bare dotted name like pkg.mod) after 'import'",
		`"import"`:   "expected 'import' after the module in a 'from' statement",
		"ImportName": "expected a name to import",
	},
}

// expectedAnywhere does the same for what means the same in all declarations.
var expectedAnywhere = map[string]string{
	"Capability": "expected a capability name",
	"<newline>":  "expected a new line after this statement",
}

// expectedAfter does it by the token before, where that alone decides.
var expectedAfter = map[lexer.Kind]string{
	lexer.Dot:      "expected a name after '.'",
	lexer.KwAs:     "expected an alias name after 'as'",
	lexer.KwPython: "expected a Python module name (a string, or a bare dotted name like os.path) after 'import python'",
}

// failDeclaration words what participle refused in the declaration that starts
// with token start.
func (p *parser) failDeclaration(start int, err error) {
	var unexpected *participle.UnexpectedTokenError
	if !errors.As(err, &unexpected) {
		p.failAt(p.toks[start].Pos, err.Error())
	}
	p.i = p.tokenAt(start, unexpected.Unexpected.Pos.Offset)
	want := firstWanted(unexpected.Message())
	first := p.toks[start].Kind
	if k := p.toks[min(start+1, len(p.toks)-1)].Kind; p.i > start+1 && (first == lexer.KwAsync || first == lexer.KwPersistent) {
		first = k
	}
	switch {
	case first == lexer.KwAsync:
		p.failAt(p.toks[p.i].Pos, "expected 'agent' or 'tool' after 'async'")
	case want == "PolicyRule" || first == lexer.KwPolicy && (want == "<newline>" && p.toks[p.i-1].Kind == lexer.Colon || want == "<dedent>"):
		p.failAt(p.toks[p.i].Pos, "expected 'allow' or 'deny' in a policy rule")
	}
	p.fail(p.wording(first, want))
}

func (p *parser) wording(first lexer.Kind, want string) string {
	if msg, ok := expectedAfter[p.toks[p.i-1].Kind]; ok {
		return msg
	}
	if msg, ok := expected[first][want]; ok {
		return msg
	}
	if msg, ok := expectedAnywhere[want]; ok {
		return msg
	}
	return "expected " + want
}

// tokenAt gives the index of the first token with a text, or of a line end, at
// offset, from start on.
func (p *parser) tokenAt(start, offset int) int {
	i := start
	for i < len(p.toks)-1 && int(p.toks[i].Pos.Offset) < offset {
		i++
	}
	return i
}

// firstWanted takes from a message of participle's the first thing that it
// wanted: `unexpected token "5" (expected <ident> "(" ...)` gives <ident>.
func firstWanted(msg string) string {
	_, want, _ := strings.Cut(msg, " (expected ")
	want = strings.TrimLeft(want, "(")
	if strings.HasPrefix(want, `"`) {
		return want[:strings.IndexByte(want[1:], '"')+2]
	}
	if i := strings.IndexAny(want, " )?*+"); i >= 0 {
		want = want[:i]
	}
	return want
}
