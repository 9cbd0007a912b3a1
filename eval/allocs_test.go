package eval_test

import (
	"testing"

	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/eval"
)

// What alloc_test.go leaves out: builtins, methods, short assignments, try.
func TestNoAllocationOfBuiltins(t *testing.T) {
	loops := []struct{ name, src string }{
		{"augmented", "total = 0\ndef run(n):\n  for i in range(n):\n    total += i\n    total %= 1000\n  return total\n"},
		{"module", "a = 1\nb = 2\ndef run(n):\n  for i in range(n):\n    a = b + i\n    b = a % 5\n  return a\n"},
		{"six arguments", "def f(a, b, c, d, e, g): return a + b + c + d + e + g\ndef run(n):\n  s = 0\n  for i in range(n):\n    s = f(i, s, 1, 2, f(i, 1, 1, 1, 1, 1), 3) % 100\n  return s\n"},
		{"arrays", "xs = range(100)\ndef run(n):\n  s = 0\n  for i in range(n):\n    xs[i % 100] = xs[(i + 1) % 100] + 1\n    s = s + len(xs)\n  for x in xs:\n    s = s + x\n  return s\n"},
		{"text", "def run(n):\n  s = 0\n  for i in range(n):\n    for c in \"some text\":\n      if c == \" \": s = s + 1\n  return s\n"},
		{"members", "memory m\ndef run(n):\n  m.remember(\"k\", 0)\n  for i in range(n):\n    m.remember(\"k\", m.recall(\"k\") + 1)\n  return m.recall(\"k\")\n"},
		{"builtins", "def run(n):\n  s = 0\n  for i in range(n):\n    s = s + max(i, 3) + abs(0 - i)\n  return s\n"},
		{"try", "def run(n):\n  s = 0\n  for i in range(n):\n    try:\n      s = s + 1\n    finally:\n      s = s + 1\n  return s\n"},
	}
	for _, l := range loops {
		t.Run(l.name, func(t *testing.T) {
			if few, many := allocs(t, l.src, 10), allocs(t, l.src, 2010); many > few+1 {
				t.Errorf("%v allocations for 10 turns, %v for 2010", few, many)
			}
		})
	}
}

// allocs counts the allocations of run(n).
func allocs(t *testing.T, src string, n int64) (count float64) {
	t.Helper()
	measure := eval.NewBuiltin(eval.Builtin{Name: "measure", Min: 1, Max: 1, Fn: func(c *eval.Call) (eval.Value, error) {
		run := c.Args[0]
		count = testing.AllocsPerRun(5, func() {
			if _, err := c.Thread.Call(run, eval.Int(n)); err != nil {
				t.Error(err)
			}
		})
		return eval.Nil(), nil
	}})
	p := newProgram(t, t.Context(), func(c *eval.Config) {
		c.Universe["measure"] = measure
		c.Extra = builtins.Extra(&builtins.Deps{})
	})
	if _, err := p.run(t, src+"measure(run)\n"); err != nil {
		t.Fatal(err)
	}
	return count
}
