package parser

import (
	"errors"
	"strings"
	"testing"

	"github.com/sense-lang/sense/diag"
)

// refusals pairs programs with the error that each must give, "" for none. All
// but the place of an unclosed string agree with the original.
var refusals = []struct{ src, want string }{
	{"x = (1 +\n=\n", "[line 2] unexpected token EQ '='"},
	{"(x\n  + y) = 1\n", "[line 2] invalid assignment target"},
	{"5 = )\n", "[line 1] unexpected token RPAREN ')'"},
	{"a.b = (\n c.d = 3)\n", "[line 2] invalid assignment target"},
	{"x = y = inference(\"m\")\n", "[line 1] 'y = inference(...)' needs the 'model' keyword to name it -- use 'model y = inference(...)' instead"},
	{"x = (inference(\"m\"))\n", "[line 1] 'x = inference(...)' needs the 'model' keyword to name it -- use 'model x = inference(...)' instead"},
	{"x = inference(\"m\").foo\n", ""},
	{"x = [1]\nx[0] = inference(\"m\")\nprint(z)\n", ""},
	{"(x\n= inference(\n\"m\"))\n", "[line 2] 'x = inference(...)' needs the 'model' keyword to name it -- use 'model x = inference(...)' instead"},
	{"print(a: 1,\n 2 +\n )\n", "[line 2] positional arguments must come before labeled ('name: value') ones"},
	{"print(a: 1,\n 2\n , 3)\n", "[line 2] positional arguments must come before labeled ('name: value') ones"},
	{"y = 1 )\nx = \"abc\n", "[line 2] unterminated string literal"},
	{"x = 5 5\n}\n", "[line 2] Sense uses indentation for blocks, not '{ }' — write ':' then an indented block instead"},
	{"area(w]):\n  return 1\n", "[line 1] function declarations need 'def' -- e.g. 'def area(...) -> Type:'"},
	{"area(w: Array<Int>):\n  return 1\n", "[line 1] function declarations need 'def' -- e.g. 'def area(...) -> Type:'"},
	{"area([w):\n  return 1\n", "[line 1] function declarations need 'def' -- e.g. 'def area(...) -> Type:'"},
	{"area(w)(x):\n  return 1\n", "[line 1] expected a new line after this statement (got COLON ':')"},
	{"area(w\n) returns Int:\n  return 1\n", "[line 1] function declarations need 'def' -- e.g. 'def area(...) -> Type:'"},
	{"print(\"a\\nb\" \"c\\td\ne\")\n", "[line 1] expected ')' after the arguments (got STRING '\"c\\\\td\\ne\"')"}, // the original: line 2
	{"reversible action f():\n  return 1\nrollback:\n  return 1 1\n", "[line 4] expected a new line after this statement (got INT '1')"},
	{"irreversible action f():\n  return 1\nrollback:\n  return 1 1\n", "[line 3] only a 'reversible action' may declare 'rollback' — an irreversible action cannot be reliably undone"},
	{"irreversible action f():\n  return 1\ncompensate\n", ""},
	{"reversible action f(): return 1\ncompensate(1)\n", "[line 2] reversible action 'f' must declare a 'rollback' block -- use 'irreversible action' instead if this genuinely can't be undone"},
	{"if true:\n  reversible action f(): return 1\nprint(2)\n", "[line 3] reversible action 'f' must declare a 'rollback' block -- use 'irreversible action' instead if this genuinely can't be undone"},
	{"irreversible action a() requires x.y, z, : return 1 1\n", "[line 1] expected a capability name or 'approval' after 'requires'"},
	{"irreversible action a() requires approval,: return 1 1\n", "[line 1] expected a capability name or 'approval' after 'requires'"},
	{"irreversible action a() requires approval, approval: return 1 1\n", "[line 1] 'approval' listed twice in 'requires'"},
	{"memory m: \"x\" y\n", "[line 1] expected a new line after this statement (got IDENT 'y')"},
	{"def f(a: Int b): return 1\n", "[line 1] expected ')' after the parameters (got IDENT 'b')"},
	{"x = [1\nif true:\n   y\n", "[line 2] expected ']' after the array elements (got IF 'if')"},
	{"(\n", "[line 2] unexpected token NEWLINE ''"},
	{"print(\n", "[line 2] unexpected token NEWLINE ''"},
	{"\"abc\" 5\n", "[line 1] expected a new line after this statement (got INT '5')"},
	{"if x = inference(\"m\"): print(1)\n", "[line 1] 'x = inference(...)' needs the 'model' keyword to name it -- use 'model x = inference(...)' instead"},
	{"local x: Int\n", "[line 1] expected '=' in a local declaration (got NEWLINE '')"},
	{"x: Int: 5\n", "[line 1] expected '=' after the type annotation (got COLON ':')"},
	{"tool f() returns: return 1\n", "[line 1] expected a type name (got COLON ':')"},
	{"for x in [1] print(x)\n", "[line 1] expected ':' to start a block (got IDENT 'print')"},
	{"import a.b as c d\n", "[line 1] expected a new line after this statement (got IDENT 'd')"},
	{"import python 5\n", "[line 1] expected a Python module name (a string, or a bare dotted name like os.path) after 'import python' (got INT '5')"},
	{"import python a.5\n", "[line 1] expected a new line after this statement (got DOT '.')"},
	{"import a.\n", "[line 1] expected a new line after this statement (got DOT '.')"},
	{"from python a import b\nx = 1 1\n", "[line 2] expected a new line after this statement (got INT '1')"},
	{"from a import b as 5\n", "[line 1] expected an alias name after 'as' (got INT '5')"},
	{"async tool: print(1)\n", "[line 1] expected a tool name (got COLON ':')"},
	{"policy: allow a\n    deny b\n", "[line 2] unexpected token INDENT ''"},
	{"policy:\n    allow a\n  deny b\n", "[line 3] inconsistent indentation"},
	{"policy:\n    allow a\nx y\n", "[line 3] expected a new line after this statement (got IDENT 'y')"},
	{"session s print(1)\n", "[line 1] expected ':' to start a block (got IDENT 'print')"},
	{"test \"x\" print(1)\n", "[line 1] expected ':' to start a block (got IDENT 'print')"},
	{"set x 5\n", "[line 1] expected '=' in a set statement (got INT '5')"},
	{"model 5 = 5\n", "[line 1] expected a name after 'model' (got INT '5')"},
	{"local x = 5 6\n", "[line 1] expected a new line after this statement (got INT '6')"},
	{"def f(): \n", "[line 2] expected an indented block (got EOF '')"},
	{"if true: return\nx = break\n", "[line 2] unexpected token BREAK 'break'"},
	{"return 5 5\n", "[line 1] expected a new line after this statement (got INT '5')"},
	{"break 5\n", "[line 1] expected a new line after this statement (got INT '5')"},
	{"x = 1 + not\n", "[line 1] unexpected token NEWLINE ''"},
	{"x[1 = 5\n", "[line 1] invalid assignment target"},
	{"x[1:2]\n", ""},
	{"f(a b)\n", "[line 1] expected ')' after the arguments (got IDENT 'b')"},
	{"f(1, a: )\n", "[line 1] unexpected token RPAREN ')'"},
	{"f(a: b: 1)\n", "[line 1] expected ')' after the arguments (got COLON ':')"},
	{"f(\"a\": 1)\n", "[line 1] expected ')' after the arguments (got COLON ':')"},
	{"(1 2)\n", "[line 1] expected ')' after the expression (got INT '2')"},
	{"x.5\n", "[line 1] expected a property name after '.' (got INT '5')"},
	{"x . y z\n", "[line 1] expected a new line after this statement (got IDENT 'z')"},
	{"x = 3.\n", "[line 1] expected a property name after '.' (got NEWLINE '')"},
	{"x = 3.a\n", ""},
	{"def f(x) -> Array<Int, : return 1\n", "[line 1] expected a type name (got COLON ':')"},
	{"def f(x) -> Array<>: return 1\n", "[line 1] expected a type name (got GT '>')"},
	{"if true:\n  # only a comment\nprint(1)\n", "[line 3] expected an indented block (got IDENT 'print')"},
	{"while true: # c\n\nx = 1\n", "[line 3] expected an indented block (got IDENT 'x')"},
	{"x = \"a\\u00e9\" \"é\\x00\"\n", "[line 1] expected a new line after this statement (got STRING '\"é\\\\x00\"')"},
	{"x = $\n", "[line 1] unexpected character '$'"},
	{"é = €\n", "[line 1] unexpected character '€'"},
	{"\tx = 1\n", "[line 1] tabs are not allowed for indentation — use spaces"},
	{"x = [\n\t1]\nprint(x y)\n", "[line 3] expected ')' after the arguments (got IDENT 'y')"},
	{"x = (1\ny = 2\n", "[line 2] expected ')' after the expression (got IDENT 'y')"},
	{"f(x): 5\n", "[line 1] function declarations need 'def' -- e.g. 'def f(...) -> Type:'"},
	{"x = 1\n  :\n", "[line 2] unexpected token INDENT ''"},
	{"model m = inference(\"mock\") 5\n", "[line 1] expected a new line after this statement (got INT '5')"},
	{"memory m: \"x\"\npersistent memory x y\n", "[line 2] expected a new line after this statement (got IDENT 'y')"},
	{"reversible action f(x): return 1\n# c\nrollback: return 2\nprint(3 4)\n", "[line 4] expected ')' after the arguments (got INT '4')"},
	{"async reversible action f(): return 1\n", "[line 1] expected 'agent' or 'tool' after 'async'"},
	{"def 5(): return 1\n", "[line 1] expected a function name after 'def' (got INT '5')"},
	{"tool t() requires approval: return 1\nx x\n", "[line 2] expected a new line after this statement (got IDENT 'x')"},
	{"tool t() requires \"x\": return 1\n", "[line 1] expected a capability name (got STRING '\"x\"')"},
	{"tool t() requires a, b: return 1\n", ""},
	{"agent a(x): return 1\n", "[line 1] expected ':' to start a block (got LPAREN '(')"},
	{"else\n", "[line 1] unexpected token ELSE 'else'"},
	{"a = b: Int = 5\n", "[line 1] expected a new line after this statement (got COLON ':')"},
	{"x: Int = y = inference(\"m\")\n", "[line 1] 'y = inference(...)' needs the 'model' keyword to name it -- use 'model y = inference(...)' instead"},
	{"local q = w = inference(\"m\")\n", "[line 1] 'w = inference(...)' needs the 'model' keyword to name it -- use 'model w = inference(...)' instead"},
	{"f(x = inference(\"m\"))\n", "[line 1] 'x = inference(...)' needs the 'model' keyword to name it -- use 'model x = inference(...)' instead"},
	{"rollback: print(1)\n", "[line 1] expected '=' after the type annotation (got LPAREN '(')"},
	{"compensate: print(1)\n", "[line 1] expected '=' after the type annotation (got LPAREN '(')"},
	{"x = not = 5\n", "[line 1] unexpected token EQ '='"},
	{"-x = 5\n", "[line 1] invalid assignment target"},
	{"(not x) = 5\n", "[line 1] invalid assignment target"},
	{"x = -y = 5\n", "[line 1] invalid assignment target"},
	{"x == y = 5\n", "[line 1] invalid assignment target"},
	{"x or y = 5\n", "[line 1] invalid assignment target"},
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		_, err := Parse("x.sns", c.src)
		if c.want == "" {
			if err != nil {
				t.Errorf("%q: unexpected error %v", c.src, err)
			}
			continue
		}
		var e *diag.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: got %v, want %s", c.src, err, c.want)
			continue
		}
		if e.Error() != c.want || e.Kind != diag.Syntax || e.File != "x.sns" || e.Pos.Col < 1 {
			t.Errorf("%q:\n got %s (kind %s, file %q, col %d)\nwant %s", c.src, e, e.Kind, e.File, e.Pos.Col, c.want)
		}
	}
}

func TestDeepNesting(t *testing.T) {
	rep := strings.Repeat
	var blocks strings.Builder
	for i := range 5000 {
		blocks.WriteString(rep(" ", i) + "if true:\n")
	}
	for name, src := range map[string]string{
		"parens":      "x = " + rep("(", 300000) + "1" + rep(")", 300000) + "\n",
		"open parens": rep("(", 300000),
		"brackets":    "x = " + rep("[", 300000) + "1" + rep("]", 300000) + "\n",
		"calls":       rep("f(", 100000) + rep(")", 100000) + "\n",
		"indexes":     rep("a[", 100000) + "\n",
		"not":         "print(" + rep("not ", 100000) + "true)\n",
		"minus":       "x = " + rep("-", 100000) + "1\n",
		"assignments": rep("a = ", 100000) + "1\n",
		"types":       "x: " + rep("Array<", 100000) + "\n",
		"blocks":      blocks.String(),
		"inline ifs":  rep("if true: ", 100000) + "x\n",
		"inline defs": rep("def f(): ", 5000) + "x\n",
		"else blocks": rep("if true: x\nelse: ", 100000) + "x\n",
	} {
		_, err := Parse("", src)
		if err == nil || !strings.HasSuffix(err.Error(), "nested too deeply") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNestingThatWorks(t *testing.T) {
	rep := strings.Repeat
	for name, src := range map[string]string{
		"parens": "x = " + rep("(", 500) + "1" + rep(")", 500) + "\n",
		"nots":   "x = " + rep("not ", 500) + "true\n",
		"sum":    "x = 0" + rep(" + 1", 100000) + "\n",
		"arms":   "if a: b\n" + rep("else if a: b\n", 10000) + "else: c\n",
		"calls":  "x" + rep("()", 100000) + "\n",
		"list":   "x = [" + rep("1, ", 100000) + "1]\n",
	} {
		if _, err := Parse("", src); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTooLong(t *testing.T) {
	for _, src := range []string{"x = 0" + strings.Repeat("+1", maxChain+2), "x" + strings.Repeat(".a", maxChain+2)} {
		if _, err := Parse("", src); err == nil || err.Error() != "[line 1] expression is too long" {
			t.Errorf("got %v", err)
		}
	}
}
