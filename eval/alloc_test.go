package eval_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/sense-lang/sense/parser"
)

// allocations counts what running a program allocates.
func allocations(t *testing.T, src string) uint64 {
	t.Helper()
	p := newProgram(t, t.Context(), nil)
	f, err := parser.Parse("test.sns", src+"work()\n")
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = p.Run(f, "test.sns")
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	return after.Mallocs - before.Mallocs
}

// Loops and calls of Ints and Floats must not allocate in each turn: what a
// function allocates may not grow with how often it loops.
func TestNoAllocationPerTurn(t *testing.T) {
	const turns = 20_000
	for name, body := range map[string]string{
		"empty":                   "    for i in range(N):\n        i",
		"while":                   "    i = 0\n    while i < N:\n        i = i + 1",
		"sums of ints":            "    s = 0\n    for i in range(N):\n        s = s + i * 3 - i % 7",
		"sums of floats":          "    s = 0.5\n    for i in range(N):\n        s = s + i * 0.25 - s / 3.0",
		"ints and floats mixed":   "    s = 1.5\n    for i in range(N):\n        s = s + i",
		"division":                "    s = 0.0\n    for i in range(N):\n        s = i / 7",
		"conditions":              "    n = 0\n    for i in range(N):\n        if i % 2 == 0 and i > 3 or not i != 5:\n            n = n + 1\n        else:\n            n = n - 1",
		"calls of one argument":   "    s = 0\n    for i in range(N):\n        s = s + one(i)",
		"calls of none":           "    s = 0\n    for i in range(N):\n        s = s + none()",
		"calls of two arguments":  "    s = 0\n    for i in range(N):\n        s = s + two(i, 2)",
		"calls of four arguments": "    s = 0\n    for i in range(N):\n        s = s + four(i, 2, 3, 4)",
		"calls with types":        "    s = 0\n    for i in range(N):\n        s = s + typed(i, 1.5)",
		"recursion":               "    s = 0\n    for i in range(N / 100):\n        s = s + down(100)",
		"local functions":         "    def f(x):\n        return x + 1\n    s = 0\n    for i in range(N):\n        s = f(s)",
		"a captured counter":      "    n = 0\n    def up():\n        n = n + 1\n        return n\n    for i in range(N):\n        up()",
		"names of the module":     "    for i in range(N):\n        counter = counter + 1",
		"indexing":                "    xs = [1, 2, 3]\n    for i in range(N):\n        xs[i % 3] = xs[(i + 1) % 3] + 1",
		"floats in arrays":        "    xs = [1.5, 2.5]\n    for i in range(N):\n        xs[0] = xs[1] + 1.0",
		"characters":              "    s = \"abc\"\n    n = 0\n    for i in range(N):\n        if s[i % 3] == \"b\":\n            n = n + 1",
		"len":                     "    xs = [1]\n    for i in range(N):\n        len(xs)",
		"comparing text":          "    s = \"abcdef\"\n    for i in range(N):\n        s == \"abcdeg\"",
		"blocks with locals":      "    for i in range(N):\n        local x = i\n        if x > 5:\n            y = x\n            z = y",
	} {
		t.Run(name, func(t *testing.T) {
			src := func(n int) string {
				return fmt.Sprintf("N = %d\ncounter = 0\ndef none():\n    return 1\ndef one(x):\n    return x\ndef two(x, y):\n    return x * y\n"+
					"def four(a, b, c, d):\n    return a + b + c + d\ndef typed(a: Int, b: Float) -> Float:\n    return a + b\n"+
					"def down(n):\n    if n == 0:\n        return 0\n    return 1 + down(n - 1)\ndef work():\n%s\n", n, body)
			}
			if name == "recursion" {
				src = func(n int) string {
					return fmt.Sprintf("def down(n):\n    if n == 0:\n        return 0\n    return 1 + down(n - 1)\ndef work():\n    for i in range(%d):\n        down(100)\n", n/100)
				}
			}
			few, many := allocations(t, src(turns)), allocations(t, src(3*turns))
			if many > few+500 {
				t.Errorf("%d allocations in %d turns, %d in %d", few, turns, many, 3*turns)
			}
		})
	}
}
