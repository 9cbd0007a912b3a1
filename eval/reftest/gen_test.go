package reftest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator writes a random program. Names are few and bound in many scopes;
// each has a kind of value it usually holds, so that most programs run on for a
// while, and now and then anything is used for anything.
type generator struct {
	r      *rand.Rand
	b      strings.Builder
	indent int
	known  []map[string]bool // names that the scopes around probably hold
	budget int               // statements left
	counts int               // names of counters given out
	inBody bool
	inLoop bool
	inTest int
}

// The names by the kind of value they usually hold.
var (
	intNames     = []string{"a", "b", "c", "d", "i"}
	textNames    = []string{"s", "t"}
	arrayNames   = []string{"xs", "ys"}
	mapNames     = []string{"mm"}
	preparedOnes = []string{"p", "q"}
	agentNames   = []string{"ag", "bg"}
	actionNames  = []string{"act", "bct"}
	toolNames    = []string{"tl", "ul"}
	funcNames    = []string{"f", "g", "h", "k"} // with 0 to 3 parameters
	capNames     = []string{"net", "net.get", "disk"}
)

var allNames = slices.Concat(intNames, textNames, arrayNames, mapNames, preparedOnes, agentNames, actionNames, toolNames, funcNames, []string{"len", "str"})

// generate gives the text of a program.
func generate(seed uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 1)), budget: 50}
	g.known = []map[string]bool{{}}
	g.prelude()
	for g.budget > 0 {
		if g.chance(40) {
			g.test()
		} else {
			g.statement()
		}
	}
	g.line("print(%s)", g.some())
	return g.b.String()
}

// prelude binds most names, so that programs run on for a while.
func (g *generator) prelude() {
	first := map[string]func() string{
		"a": func() string { return g.number(0) }, "b": func() string { return g.number(0) }, "c": func() string { return g.number(0) },
		"s": func() string { return g.text(0) }, "xs": func() string { return g.array(0) }, "mm": func() string { return "{}" },
		"f": func() string { return g.lambda(0) }, "g": func() string { return g.lambda(1) }, "h": func() string { return g.lambda(2) },
	}
	for _, name := range []string{"a", "b", "c", "s", "xs", "mm", "f", "g", "h"} {
		if g.chance(60) {
			g.line("%s = %s", name, first[name]())
			g.learn(name)
		}
	}
}

func (g *generator) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("  ", g.indent))
	fmt.Fprintf(&g.b, format, args...)
	g.b.WriteByte('\n')
}

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

func pick[T any](g *generator, xs ...T) T { return xs[g.r.IntN(len(xs))] }

func (g *generator) isKnown(name string) bool {
	return slices.ContainsFunc(g.known, func(m map[string]bool) bool { return m[name] })
}

func (g *generator) learn(name string) { g.known[len(g.known)-1][name] = true }

// use picks a name of a kind to read, mostly one that is probably bound.
func (g *generator) use(names []string) (string, bool) {
	if g.chance(3) {
		return pick(g, allNames...), true
	}
	var have []string
	for _, n := range names {
		if g.isKnown(n) {
			have = append(have, n)
		}
	}
	if len(have) == 0 || g.chance(4) {
		return pick(g, names...), g.inTest > 0 || g.chance(10)
	}
	return pick(g, have...), true
}

// block writes an indented block of a few statements in a scope of its own;
// names are bound in it.
func (g *generator) block(max int, names ...string) {
	g.known = append(g.known, map[string]bool{})
	for _, n := range names {
		g.learn(n)
	}
	g.same(max)
	g.known = g.known[:len(g.known)-1]
}

// same writes an indented block in the scope around it.
func (g *generator) same(max int) {
	g.indent++
	before := g.b.Len()
	for n := 1 + g.r.IntN(max); n > 0 && g.budget > -20; n-- {
		g.statement()
	}
	if g.b.Len() == before {
		g.line("pass")
	}
	g.indent--
}

// body writes the block of a function or the like.
func (g *generator) body(max int, names ...string) {
	body, loop, test := g.inBody, g.inLoop, g.inTest
	g.inBody, g.inLoop, g.inTest = true, false, 0
	g.block(max, names...)
	g.inBody, g.inLoop, g.inTest = body, loop, test
}

// form is a kind of statement and how often it is written.
type form struct {
	weight int
	write  func(g *generator)
}

func simpleForms() []form {
	return []form{
		{30, (*generator).assign}, {8, (*generator).local}, {5, (*generator).typed}, {5, (*generator).augmented},
		{4, (*generator).indexed}, {3, (*generator).destructured}, {16, (*generator).show}, {6, (*generator).callStmt},
		{4, (*generator).leave}, {4, (*generator).actionStep}, {3, (*generator).agentStep}, {2, (*generator).policy}, {1, (*generator).raise},
	}
}

func blockForms() []form {
	return []form{
		{14, (*generator).ifBlock}, {6, (*generator).whileBlock}, {9, (*generator).forBlock}, {14, (*generator).function},
		{4, (*generator).session}, {9, (*generator).test}, {5, (*generator).agentDecl}, {6, (*generator).action},
		{5, (*generator).toolDecl}, {6, (*generator).tryBlock}, {2, (*generator).transactionBlock},
	}
}

func (g *generator) statement() {
	g.budget--
	forms := simpleForms()
	if g.indent < 4 && g.budget > 0 && g.chance(45) {
		forms = blockForms()
	}
	total := 0
	for _, f := range forms {
		total += f.weight
	}
	n := g.r.IntN(total)
	for _, f := range forms {
		if n -= f.weight; n < 0 {
			f.write(g)
			return
		}
	}
}

// binding picks a name and a value of its kind.
func (g *generator) binding() (name, value string) {
	switch n := g.r.IntN(20); {
	case n < 10:
		name, value = pick(g, intNames...), g.number(2)
	case n < 12:
		name, value = pick(g, textNames...), g.text(2)
	case n < 14:
		name, value = pick(g, arrayNames...), g.array(2)
	case n < 15:
		name, value = pick(g, mapNames...), g.mapping()
	case n < 17:
		i := g.r.IntN(len(funcNames))
		name, value = funcNames[i], g.lambda(i)
	case n < 18:
		name, value = pick(g, preparedOnes...), g.prepared()
	default:
		name, value = pick(g, intNames...), g.anything(2)
	}
	if g.chance(2) {
		name = pick(g, allNames...)
	}
	return name, value
}

func (g *generator) assign() {
	name, v := g.binding()
	g.line("%s = %s", name, v)
	if !g.isKnown(name) {
		g.learn(name)
	}
}

func (g *generator) local() {
	name, v := g.binding()
	g.line("local %s = %s", name, v)
	g.learn(name)
}

func (g *generator) typed() {
	name, v := g.binding()
	g.line("%s%s: %s = %s", pick(g, "", "local "), name, pick(g, "Int", "Any", "Float", "Array<Int>", "String", "Function"), v)
	g.learn(name)
}

func (g *generator) augmented() {
	if name, ok := g.use(intNames); ok {
		g.line("%s %s= %s", name, pick(g, "+", "-", "*", "%"), g.number(1))
	}
}

func (g *generator) indexed() {
	if name, ok := g.use(arrayNames); ok {
		g.line("%s[%s] %s %s", name, pick(g, "0", "-1", "1", g.number(1)), pick(g, "=", "=", "+="), g.number(1))
	}
}

func (g *generator) destructured() {
	x, y := pick(g, intNames...), pick(g, slices.Concat(intNames, textNames)...)
	switch g.r.IntN(3) {
	case 0:
		g.line("%s, %s = %s, %s", x, y, g.number(1), g.number(1))
	case 1:
		g.line("%s, %s = [%s, %s]", x, y, g.number(1), g.number(1))
	default:
		g.line("%s, %s = %s", x, y, g.array(1))
	}
	g.learn(x)
	g.learn(y)
}

// some lists a few values to print.
func (g *generator) some() string {
	var parts []string
	for range 1 + g.r.IntN(3) {
		parts = append(parts, g.anything(1))
	}
	return strings.Join(parts, ", ")
}

func (g *generator) show() { g.line("print(%s)", g.some()) }

func (g *generator) callStmt() { g.line("%s", g.callOf(g.r.IntN(len(funcNames)))) }

// leave writes return, break or continue where they mean something, and seldom
// where they do not.
func (g *generator) leave() {
	switch {
	case g.inLoop && g.chance(60):
		g.line("if %s: %s", g.condition(), pick(g, "break", "continue"))
	case g.inBody:
		if g.chance(70) {
			g.line("if %s: return %s", g.condition(), g.anything(1))
		} else {
			g.line("return %s", g.anything(2))
		}
	case g.inTest > 0 && g.chance(30):
		g.line("%s", pick(g, "return", "break", "continue"))
	default:
		g.show()
	}
}

func (g *generator) raise() {
	g.line("if %s: raise %s", g.condition(), g.text(1))
}

func (g *generator) policy() {
	g.line("policy: %s %s", pick(g, "allow", "deny"), pick(g, capNames...))
}

func (g *generator) ifBlock() {
	g.line("if %s:", g.condition())
	g.block(3)
	if g.chance(25) {
		g.line("else if %s:", g.condition())
		g.block(3)
	}
	if g.chance(50) {
		g.line("else:")
		g.block(3)
	}
}

// whileBlock writes a loop that ends: a counter that nothing else changes.
func (g *generator) whileBlock() {
	g.counts++
	n := fmt.Sprintf("n%d", g.counts)
	g.line("local %s = 0", n)
	g.line("while %s < %d and (%s or %s < 2):", n, 1+g.r.IntN(4), g.condition(), n)
	g.indent++
	g.line("%s = %s + 1", n, n)
	g.indent--
	g.loop(3)
}

func (g *generator) loop(max int, names ...string) {
	was := g.inLoop
	g.inLoop = true
	g.block(max, names...)
	g.inLoop = was
}

func (g *generator) forBlock() {
	v := pick(g, slices.Concat(intNames, textNames)...)
	switch g.r.IntN(6) {
	case 0, 1:
		g.line("for %s in range(%s):", v, pick(g, "3", "2", "1, 4", "4, 0, -2"))
	case 2:
		g.line("for %s in %s:", v, g.text(0))
	case 3:
		w := pick(g, intNames...)
		if w == v {
			w = "j"
		}
		g.line("for %s, %s in [[%s, 1], [%s, 2]]:", v, w, g.number(0), g.text(0))
		g.loop(3, v, w)
		return
	default:
		g.line("for %s in %s:", v, g.array(1))
	}
	g.loop(3, v)
}

// parameters gives a list of n parameters and their names.
func (g *generator) parameters(n int) (list string, names []string) {
	var parts []string
	pool := []string{"a", "b", "c", "s", "xs", "d"}
	g.r.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	defaults := false
	for _, p := range pool[:n] {
		names = append(names, p)
		if g.chance(20) {
			p += ": " + pick(g, "Int", "Any", "String", "Float")
		}
		if defaults = defaults || g.chance(10); defaults {
			p += " = " + g.number(1)
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, ", "), names
}

func (g *generator) function() {
	i := g.r.IntN(len(funcNames))
	list, names := g.parameters(i)
	result := ""
	if g.chance(15) {
		result = " -> " + pick(g, "Int", "Any", "Nil")
	}
	g.line("def %s(%s)%s:", funcNames[i], list, result)
	g.learn(funcNames[i])
	g.body(4, names...)
	if g.chance(60) {
		g.line("print(%s)", g.callOf(i))
	}
}

func (g *generator) session() {
	g.line("session %s:", pick(g, "a", "z"))
	g.block(4)
}

func (g *generator) test() {
	g.counts++
	g.line("test \"t%d\":", g.counts)
	g.inTest++
	g.block(5)
	g.inTest--
}

func (g *generator) agentDecl() {
	name := pick(g, agentNames...)
	g.line("agent %s:", name)
	g.learn(name)
	g.body(4)
	if g.chance(60) {
		g.line("start(%s)", name)
	}
}

func (g *generator) agentStep() {
	name, ok := g.use(agentNames)
	if !ok {
		return
	}
	switch g.r.IntN(4) {
	case 0:
		g.line("start(%s)", name)
	case 1:
		g.line("resume(%s, %s)", name, g.number(1))
	case 2:
		g.line("%s = pause(%s)", pick(g, intNames...), g.number(0))
	default:
		g.line("print(%s.status, %s.%s)", name, name, pick(g, intNames...))
	}
}

func (g *generator) requirement() string {
	if g.chance(40) {
		return " requires " + pick(g, capNames...)
	}
	return ""
}

func (g *generator) action() {
	i := g.r.IntN(2)
	kind := pick(g, "reversible", "irreversible")
	list, names := g.parameters(i)
	need := g.requirement()
	if need != "" && g.chance(20) {
		need += ", approval"
	}
	g.line("%s action %s(%s)%s:", kind, actionNames[i], list, need)
	g.body(3, names...)
	if kind == "reversible" {
		g.line("rollback:")
		g.body(3, names...)
	}
	g.learn(actionNames[i])
	if g.chance(60) {
		g.line("%s = %s", pick(g, preparedOnes...), g.prepared())
		g.actionStep()
	}
}

func (g *generator) prepared() string {
	i := g.r.IntN(2)
	name := actionNames[i]
	if !g.isKnown(name) && g.chance(90) {
		return g.number(1)
	}
	if i == 0 {
		return name + "()"
	}
	return name + "(" + g.number(1) + ")"
}

func (g *generator) actionStep() {
	if g.chance(50) {
		i := g.r.IntN(2)
		if !g.isKnown(actionNames[i]) {
			return
		}
		call := actionNames[i] + "(" + []string{"", g.number(1)}[i] + ")"
		g.line("%s = %s.verify()%s", pick(g, preparedOnes...), call, pick(g, "", ".approve()"))
		return
	}
	if name, ok := g.use(preparedOnes); ok {
		g.line("%s", pick(g,
			"print("+name+".commit(), "+name+".state)", name+".commit()", name+".rollback()", name+".verify()", name+".approve()",
			"print("+name+", "+name+".approved)"))
	}
}

func (g *generator) toolDecl() {
	i := g.r.IntN(2)
	list, names := g.parameters(i)
	result := ""
	if g.chance(15) {
		result = " returns " + pick(g, "Int", "Any")
	}
	g.line("tool %s(%s)%s%s:", toolNames[i], list, result, g.requirement())
	g.learn(toolNames[i])
	g.body(3, names...)
	if g.chance(60) {
		g.line("print(%s)", g.toolCall())
	}
}

func (g *generator) tryBlock() {
	g.line("try:")
	was := g.inTest
	g.inTest++
	g.same(4)
	g.inTest = was
	if g.chance(80) {
		e := pick(g, "e", "s", "a")
		g.line("catch %s%s:", e, pick(g, "", "", " if "+e+".kind == \""+pick(g, "name", "runtime", "policy")+"\"", " if "+g.condition()))
		g.known = append(g.known, map[string]bool{e: true})
		g.same(3)
		g.known = g.known[:len(g.known)-1]
		if g.chance(70) {
			return
		}
	}
	g.line("finally:")
	g.same(2)
}

func (g *generator) transactionBlock() {
	g.line("transaction:")
	g.same(4)
}
