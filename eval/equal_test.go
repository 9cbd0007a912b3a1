package eval_test

import (
	"strings"
	"testing"
)

func TestEquality(t *testing.T) {
	runChecks(t, []check{
		{"numbers by exact value", `print(1 == 1.0, 0.1 + 0.2 == 0.3, 9007199254740993 == 9007199254740992.0, 2 == 3)`, "true false false false", ""},
		{"big and float", `
big = 100000000000000000000
print(big == 100000000000000000000.0, big == big + 1, big + 1 == 100000000000000000000.0)`, "true false false", ""},
		{"huge and infinity", `
x = 10
for i in range(9):
    x = x * x
print(x == float("inf"), x < float("inf"), 0 - x > float("-inf"))`, "false true true", ""},
		{"bools equal bools only", `print(true == 1, true == true, [true] == [1], [[true]] == [[1]], [true] == [true], false == 0, nil == false)`,
			"false true false false true false false", ""},
		{"different types", `print("1" == 1, nil == 0, [] == "", print == 1, [1] == 1)`, "false false false false false", ""},
		{"text", `print("a" == "a", "a" == "b", "é" == "é", "" == "")`, "true false true true", ""},
		{"arrays", `print([1, "a", [2.0]] == [1.0, "a", [2]], [1] == [1, 2], [] == [], [1, 2] == [1, 3], [1.5] == [1.5])`, "true false true false true", ""},
		{"arrays of one kind against mixed", `
a = [1, 2]
b = ["x", 2]
b[0] = 1
print(a == b, b == a, [1.0, 2.0] == a, [true, false] == [true, false])`, "true true true true", ""},
		{"identity", `
def f():
    return 1
g = f
print(f == g, f == print, print == print, len == print)`, "true false true false", ""},
		{"nan", `
n = float("nan")
print(n == n, n != n, [n] == [n], n < n, n >= n)`, "false true true false false", ""},
		{"answers", `
model m = inference("mock", "d", response_template: "x")
model k = inference("mock", "d", response_template: "x", confidence: 0.9)
print(m.ask("q") == m.ask("p"), m.ask("q") == k.ask("q"), m.ask("q") == "x", m == m, m == k)
a = m.ask("q")
a2 = [a]
print(a2 == [m.ask("other")])`, "true false false true false\ntrue", ""},
		{"an array in itself", `
a = [1]
push(a, a)
print(a == a, [a] == [a])`, "true true", ""},
		{"zeros", `print([0.0] == [0.0 * (0 - 1)], [0.5] == [1.5])`, "true false", ""},
		{"two arrays in themselves", `
a = [1]
push(a, a)
b = [1]
push(b, b)
print(a == b)`, "", "[line 5] maximum recursion depth exceeded"},
		{"arrays in each other", `
a = []
b = [a]
push(a, b)
print(a == b)`, "", "[line 4] maximum recursion depth exceeded"},
		{"not equal in conditions", `
def f(x):
    if x != 1:
        return "no"
    if x == 1.0:
        return "yes"
print(f(1), f(2), f("a"), f(nil), f([1]))
s = "k"
if s == "k" and s != "x":
    print("k")
if [] == "k" or nil != "k":
    print("n")`, "yes no no no no\nk\nn", ""},
	})
}

func TestPrinting(t *testing.T) {
	runChecks(t, []check{
		{"plain values", `print(1, 2.5, "t", true, false, nil, [1, "a", [2.0]])`, "1 2.5 t true false nil [1, a, [2.0]]", ""},
		{"nothing", `print()`, "", ""},
		{"functions", `
def f():
    return 1
print(f, print, [f, len])`, "<fn f> <builtin print> [<fn f>, <builtin len>]", ""},
		{"big", `print(123456789012345678901234567890, [0 - 123456789012345678901234567890])`,
			"123456789012345678901234567890 [-123456789012345678901234567890]", ""},
		{"in itself", `
a = [1]
push(a, a)
print(a)`, "", "[line 3] maximum recursion depth exceeded"},
		{"str in itself", `
a = [[]]
push(a[0], a)
str(a)`, "", "[line 3] maximum recursion depth exceeded"},
		{"assert's message", `
a = []
push(a, a)
assert(false, a)`, "", "[line 3] maximum recursion depth exceeded"},
		{"the same array twice is no circle", `
a = [1]
print([a, a, [a]])`, "[[1], [1], [[1]]]", ""},
		{"an agent that pauses with itself", `
xs = []
agent a:
    pause(xs)
start(a)
push(xs, a)
print(a.status)
print(a)`, "paused", "[line 7] maximum recursion depth exceeded"},
		{"an array with that agent", `
xs = []
agent a:
    pause(xs)
start(a)
push(xs, a)
print(xs)`, "", "[line 6] maximum recursion depth exceeded"},
		{"agents", `
agent a:
    pause(["x", 1, [2.0]])
print(a)
start(a)
print(a, [a])
resume(a)
print(a)
agent b:
    pause()
start(b)
print(b)`, `
<agent a status=created>
<agent a status=paused ([x, 1, [2.0]])> [<agent a status=paused ([x, 1, [2.0]])>]
<agent a status=completed>
<agent b status=paused>`[1:], ""},
		{"deep arrays", `
a = []
for i in range(900):
    a = [a]
print(len(str(a)))
for i in range(200):
    a = [a]
print(len(str(a)))`, "1802", "[line 7] maximum recursion depth exceeded"},
	})
}

func TestManyNames(t *testing.T) {
	indent := func(s, by string) string {
		return by + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+by) + "\n"
	}
	names := lines(300, "v%[1]d = %[1]d")
	runChecks(t, []check{
		{"in a module", names + "print(v0 + v299)", "299", ""},
		{"in a block of a module", "if true:\n" + indent(names, "    ") + "    print(v0 + v299)", "299", ""},
		{"in a function", "def f():\n" + indent(names, "    ") + "    return v0 + v229 + v230 + v231 + v299\nprint(f(), f())", "989 989", ""},
		{"in a block of a function", "def f():\n" + indent(lines(225, "v%[1]d = %[1]d"), "    ") +
			"    if true:\n" + indent(lines(40, "w%[1]d = v%[1]d + 1000"), "        ") + "        print(w39, v224)\n    return v1\nprint(f())", "1039 224\n1", ""},
		{"in loops", "def f():\n" + indent(names, "    ") +
			"    for i in range(3):\n        t = v299 + i\n        while t > 300:\n            u = t\n            t = 0\n            print(u)\n    return i\nf()",
			"301", "[line 308] undefined variable 'i'"},
		{"new in every turn", "def f():\n" + indent(names, "    ") +
			"    fs = []\n    for i in range(3):\n        k = i * 10\n        def g():\n            k = k + 1\n            return k\n        push(fs, g)\n" +
			"    return [fs[0](), fs[0](), fs[1](), fs[2]()]\nprint(f())", "[1, 2, 11, 21]", ""},
		{"tested", "def f(x):\n" + indent(names, "    ") +
			"    if x:\n        local late = 1\n    if x:\n        y = 2\n    else:\n        z = 3\n    return y\nf(true)", "", "[line 308] undefined variable 'y'"},
		{"captured", "def f():\n" + indent(names, "    ") +
			"    def g():\n        v299 = v299 + v0 + 1\n        return v299\n    return g() + g() + v298\nprint(f())", "899", ""},
		{"members of an agent", "agent a:\n" + indent(names, "    ") + "start(a)\nprint(a.v0, a.v229, a.v230, a.v299)", "0 229 230 299", ""},
		{"with a policy", "def f():\n" + indent(strings.ReplaceAll(names, "v", "local v"), "    ") +
			"    policy: deny x.y\n    tool t() requires x.y:\n        return 1\n    return t()\nf()",
			"", "[line 305] tool 't' requires capability 'x.y', which is denied by policy"},
		{"recursion", "def f(n):\n" + indent(names, "    ") + "    if n == 0:\n        return v299\n    v299 = f(n - 1) + 1\n    return v299\nprint(f(1000))", "1299", ""},
		{"error in a spilled function", "def f():\n" + indent(names, "    ") + "    return v300\nf()", "", "[line 302] undefined variable 'v300'"},
		{"too many parameters", "def f(" + strings.TrimSuffix(strings.ReplaceAll(lines(201, "p%d"), "\n", ", "), ", ") + "):\n    return 1", "",
			"[line 1] too many parameters (limit 200)"},
		{"many parameters", "def f(" + strings.TrimSuffix(strings.ReplaceAll(lines(200, "p%d"), "\n", ", "), ", ") + "):\n    x = p0 + p199\n    y = 1\n" +
			indent(lines(40, "z%[1]d = %[1]d"), "    ") + "    return [x, y, z39, p198]\nprint(f(" +
			strings.TrimSuffix(strings.ReplaceAll(lines(200, "%d"), "\n", ", "), ", ") + "))", "[199, 1, 39, 198]", ""},
	})
}

// Values that hold the same arrays, maps, texts or numbers in many places are
// compared as what they are, not as what they unfold to.
func TestEqualityOfShared(t *testing.T) {
	const build = `
def pairs(leaf, n):
    a = leaf
    for i in range(n):
        a = [a, a]
    return a
def maps(leaf, n):
    a = leaf
    for i in range(n):
        a = {"l": a, "r": [a]}
    return a
def many(x, n):
    a = []
    for i in range(n):
        push(a, x)
    return a
`
	runChecks(t, []check{
		{"arrays", build + `print(pairs(["x"], 60) == pairs(["x"], 60))`, "true", ""},
		{"maps", build + `print(maps({"k": "x"}, 60) == maps({"k": "x"}, 60))`, "true", ""},
		{"they differ", build + `print(pairs(["x"], 60) == pairs(["y"], 60))`, "false", ""},
		{"they differ at the end", build + `print([pairs(["x"], 60), 1] == [pairs(["x"], 60), 2])`, "false", ""},
		{"numbers", build + `print(pairs(many(1, 100000), 40) == pairs(many(1, 100000), 40))`, "true", ""},
		{"text", build + `
s = many("ab", 500000).join("")
t = "ab" + many("ab", 499999).join("")
print(s == t, [s] == [t])
print(many(s, 100000) == many(t, 100000))`, "true true", "[line 20] the values are too large to compare"},
	})
}
