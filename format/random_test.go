package format

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sense-lang/sense/parser"
)

// generator writes random programs over all of the syntax, with words that are
// sometimes names in every place.
type generator struct{ *rand.Rand }

func (g generator) pick(s ...string) string { return s[g.IntN(len(s))] }

func (g generator) name() string {
	return g.pick("a", "b", "x", "f", "lambda", "pass", "raise", "try", "catch", "elif", "finally", "transaction", "default")
}

func (g generator) label() string { return g.pick("a", "returns", "model", "lambda", "if", "not") }

// expr gives an expression; depth bounds how deep it nests.
func (g generator) expr(depth int) string {
	if depth <= 0 {
		return g.pick(g.name(), g.name(), "1", "0xff", "1_0.5e3", `"s"`, "'q\"'", "nil", "true", "[]", "{}", `f"a{b}"`, "9.5")
	}
	sub := func() string { return g.expr(depth - 1 - g.IntN(2)) }
	switch g.IntN(22) {
	case 0, 1:
		return "(" + sub() + ")"
	case 2, 3, 4:
		return sub() + " " + g.pick("+", "-", "*", "/", "//", "%", "**", "==", "<", "and", "or", "in", "not in", "in", "not in") + " " + sub()
	case 5:
		return "-" + sub()
	case 6, 7:
		return "not " + sub()
	case 8:
		return sub() + " if " + sub() + " else " + sub()
	case 9:
		return "lambda " + g.pick("(): ", "x: ", "x, lambda = "+sub()+": ") + sub()
	case 10:
		return g.pick("a", "a[0]", "pass", "(a)", g.expr(0)+"["+sub()+"]") + " " + g.pick("=", "+=", "-=", "*=", "/=", "%=") + " " + sub()
	case 11, 12:
		return sub() + "(" + g.pick("", sub(), sub()+",", sub()+", "+g.label()+": "+sub(), g.label()+": "+sub()) + ")"
	case 13:
		return sub() + "[" + g.pick(sub(), sub()+":"+sub(), ":"+sub(), sub()+":", ":") + "]"
	case 14:
		return sub() + "." + g.label()
	case 15:
		return "[" + g.pick(sub(), sub()+", "+sub(), sub()+",") + "]"
	case 16, 17:
		return "{" + g.pick(`"k"`, `'k'`, sub()) + ": " + sub() + g.pick("", ",", `, "l": `+sub()) + "}"
	case 18:
		return g.pick(`f"`, "f'", `f"""`) + g.pick("", `\"a`, "b{{") + "{" + sub() + g.pick("", ":.2f", ":>10") + "}" + g.pick("", "{ "+sub()+" }") + g.pick(`"`, "'", `"""`)
	case 19:
		return "lambda()"
	}
	return g.expr(0)
}

// block gives the rest of a compound statement after its head.
func (g generator) block(indent string, depth int) string {
	if g.IntN(3) == 0 {
		return ": " + strings.TrimLeft(g.stmt("", 0), " ")
	}
	var b strings.Builder
	b.WriteString(":\n")
	for range 1 + g.IntN(3) {
		b.WriteString(g.stmt(indent+"  ", depth-1))
	}
	return b.String()
}

// opened gives a block that begins on a line of its own.
func (g generator) opened(indent string, depth int) string {
	return ":\n" + g.stmt(indent+"  ", depth-1)
}

func (g generator) simple() string {
	switch g.IntN(9) {
	case 0:
		return g.pick("pass", "raise", "(pass)", "(raise)(a)", "raise(a)", "raise (a)", "try: Int = 3", "elif(a)", "elif = 3", "catch", "finally = 1")
	case 1:
		return "raise " + g.expr(2)
	case 2:
		return g.pick("a", "a[0]", g.expr(1)) + ", " + g.pick("b", "pass", g.expr(1)) + " = " + g.pick(g.expr(2), g.expr(1)+", "+g.expr(1))
	case 3:
		return "return " + g.expr(3)
	case 4:
		return g.pick("policy: default deny", `policy: deny a.*`, `allow`, `policy: allow net."127.0.0.1".delete_*`)
	case 5:
		return g.pick("local x = ", "x: Map<Int> = ", "model m = ", "set budget = ") + g.expr(3)
	}
	return g.expr(4)
}

func (g generator) stmt(indent string, depth int) string {
	if depth <= 0 {
		return indent + g.simple() + "\n"
	}
	e := g.expr(1 + g.IntN(2))
	params := "(" + g.pick("", "a", "a,", "a, b = "+e, "a: Int = "+e+",") + ")"
	switch g.IntN(10) {
	case 0:
		return indent + "if " + e + g.block(indent, depth) + indent + g.pick("elif ", "else if ") + g.expr(2) + g.block(indent, depth) +
			g.pick("", indent+"else"+g.opened(indent, depth))
	case 1:
		return indent + "while " + e + g.block(indent, depth)
	case 2:
		return indent + "for " + g.pick("a", "a, lambda", "try, catch, f") + " in " + e + g.block(indent, depth)
	case 3:
		return indent + "try" + g.opened(indent, depth) + g.pick("", indent+"catch e if "+e+g.opened(indent, depth)) +
			indent + g.pick("catch e", "finally", "catch e") + g.opened(indent, depth) + g.pick("", indent+"finally"+g.opened(indent, depth))
	case 4:
		return indent + "transaction" + g.opened(indent, depth)
	case 5:
		return indent + "def " + g.name() + params + g.block(indent, depth)
	case 6:
		return indent + "tool " + g.name() + params + g.pick("", " returns f'd'", ` requires a, b."c-d"`, ` requires a, f"d"`) + g.block(indent, depth)
	case 7:
		return indent + "policy:\n" + indent + " allow a\n" + indent + " " + g.pick("default deny", `deny a."b c".*`) + "\n"
	case 8:
		return indent + "irreversible action x" + params + g.pick("", " requires a, b, approval") + g.block(indent, depth)
	}
	return indent + g.simple() + "\n"
}

// TestRandomPrograms formats random programs of one statement or a few.
func TestRandomPrograms(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(11, 12))}
	valid := 0
	for range 15_000 {
		src := g.stmt("", g.IntN(3))
		if g.IntN(4) == 0 {
			src += g.stmt("", 1)
		}
		if _, err := parser.Parse("", src); err == nil {
			valid++
			checkFormat(t, src)
			if valid%4 == 0 {
				checkFormat(t, scatter(g.Rand, src))
			}
		}
	}
	if valid < 7_000 {
		t.Errorf("only %d programs were valid", valid)
	}
}
