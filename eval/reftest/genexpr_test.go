package reftest

import (
	"fmt"
	"strings"
)

// anything gives an expression of any kind.
func (g *generator) anything(depth int) string {
	switch n := g.r.IntN(24); {
	case n < 11:
		return g.number(depth)
	case n < 14:
		return g.text(depth)
	case n < 17:
		return g.array(depth)
	case n < 18:
		return g.mapping()
	case n < 19:
		return g.condition()
	case n < 20:
		return pick(g, "nil", "true", "2.5", "1e20", "-0.5")
	}
	name, ok := g.use(allNames)
	if !ok {
		return g.number(depth)
	}
	switch g.r.IntN(8) {
	case 0:
		return "type_of(" + name + ")"
	case 1:
		return "str(" + name + ")"
	case 2:
		return "len(audit_log())"
	}
	return name
}

// number gives an expression that is usually an Int.
func (g *generator) number(depth int) string {
	if depth <= 0 || g.chance(35) {
		if name, ok := g.use(intNames); ok && g.chance(65) {
			return name
		}
		return fmt.Sprint(g.r.IntN(12) - 1)
	}
	switch n := g.r.IntN(40); {
	case n < 16:
		return g.number(depth-1) + " " + pick(g, "+", "-", "*", "+", "%", "/") + " " + g.number(depth-1)
	case n < 19:
		return "(" + g.number(depth-1) + " " + pick(g, "+", "-") + " " + g.number(depth-1) + ")"
	case n < 22:
		return g.callOf(g.r.IntN(len(funcNames)))
	case n < 24:
		return "len(" + g.array(depth-1) + ")"
	case n < 27:
		return g.array(depth-1) + "[" + pick(g, "0", "-1", "1", "2") + "]"
	case n < 29:
		return "(" + pick(g, intNames...) + " = " + g.number(depth-1) + ")"
	case n < 31:
		return "(" + g.number(depth-1) + " if " + g.condition() + " else " + g.number(depth-1) + ")"
	case n < 33:
		return g.toolCall()
	case n < 34:
		return "-" + g.number(0)
	case n < 35:
		return g.member()
	case n < 36:
		return "(" + g.lambda(1) + ")(" + g.number(depth-1) + ")"
	case n < 38:
		return "(" + g.condition() + " " + pick(g, "and", "or") + " " + g.number(depth-1) + ")"
	}
	return fmt.Sprint(g.r.IntN(5)) + ".5"
}

func (g *generator) text(depth int) string {
	if depth <= 0 || g.chance(40) {
		if name, ok := g.use(textNames); ok && g.chance(50) {
			return name
		}
		return pick(g, `"ab"`, `"é☃x"`, `""`, `"q r"`)
	}
	switch g.r.IntN(6) {
	case 0, 1:
		return g.text(depth-1) + " + " + g.text(depth-1)
	case 2:
		return "str(" + g.number(depth-1) + ")"
	case 3:
		return `f"<{` + g.number(1) + `}, {` + g.number(0) + `}>"`
	case 4:
		return g.text(depth-1) + "[" + pick(g, "0", "-1", "1:", ":2", "0:1") + "]"
	}
	return "type_of(" + g.anything(depth-1) + ")"
}

func (g *generator) array(depth int) string {
	if depth <= 0 || g.chance(40) {
		if name, ok := g.use(arrayNames); ok && g.chance(60) {
			return name
		}
	}
	switch g.r.IntN(8) {
	case 0:
		return "range(" + fmt.Sprint(g.r.IntN(4)) + ")"
	case 1:
		if depth > 0 {
			return g.array(depth-1) + " + " + g.array(depth-1)
		}
	case 2:
		if depth > 0 {
			return "push(" + g.array(depth-1) + ", " + g.number(depth-1) + ")"
		}
	case 3:
		if depth > 0 {
			return g.array(depth-1) + "[" + pick(g, "1:", ":2", ":", "-2:") + "]"
		}
	}
	var parts []string
	for range g.r.IntN(4) {
		if g.chance(10) {
			parts = append(parts, g.text(depth-1))
		} else {
			parts = append(parts, g.number(depth-1))
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (g *generator) mapping() string {
	if name, ok := g.use(mapNames); ok && g.chance(50) {
		return name
	}
	return pick(g, "{}", `{"k": `+g.number(1)+`}`, `{"k": 1, "l": `+g.text(1)+`}`)
}

func (g *generator) condition() string {
	switch n := g.r.IntN(14); {
	case n < 6:
		return g.number(1) + " " + pick(g, "<", "<=", ">", ">=", "==", "!=") + " " + g.number(1)
	case n < 7:
		return g.text(1) + " " + pick(g, "<", "==", "!=") + " " + g.text(1)
	case n < 8:
		return "not " + g.number(0) + " == " + g.number(0)
	case n < 9:
		return g.number(0) + pick(g, " in ", " not in ") + g.array(1)
	case n < 10:
		return g.array(0) + " == " + g.array(0)
	case n < 11:
		return g.number(1)
	case n < 12:
		return g.array(0)
	case n < 13:
		return "(" + g.number(0) + " < " + g.number(0) + pick(g, " and ", " or ") + g.number(0) + " > 1)"
	}
	return pick(g, "true", "false", "not "+g.number(0))
}

// lambda gives a function of n parameters.
func (g *generator) lambda(n int) string {
	params := []string{"a", "b", "c"}[:n]
	list := strings.Join(params, ", ")
	if n == 0 {
		list = "()"
	}
	was := g.known
	g.known = append(g.known[:len(g.known):len(g.known)], map[string]bool{})
	for _, p := range params {
		g.learn(p)
	}
	x := g.number(1)
	g.known = was
	return "lambda " + list + ": " + x
}

// callOf gives a call of function i, mostly with the right arguments.
func (g *generator) callOf(i int) string {
	name, ok := g.use(funcNames[i : i+1])
	if !ok {
		return g.number(0)
	}
	n := i
	if g.chance(3) {
		n = g.r.IntN(4)
	}
	var args []string
	for range n {
		if g.chance(8) {
			args = append(args, g.anything(1))
		} else {
			args = append(args, g.number(1))
		}
	}
	if n > 0 && g.chance(4) {
		args[n-1] = pick(g, "a", "b", "c") + ": " + args[n-1]
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

func (g *generator) toolCall() string {
	i := g.r.IntN(2)
	name, ok := g.use(toolNames[i : i+1])
	if !ok {
		return g.number(0)
	}
	return name + "(" + []string{"", g.number(1)}[i] + ")"
}

func (g *generator) member() string {
	name, ok := g.use(agentNames)
	if !ok {
		return g.number(0)
	}
	return name + "." + pick(g, intNames...)
}
