package eval_test

import "testing"

// Names that the defaults of parameters and the guards of catches mention.
func TestNamesInDefaultsAndGuards(t *testing.T) {
	runChecks(t, []check{
		{"outer", "def f():\n  x = 5\n  def g(a = x): return a\n  return g() + (lambda b, c = x: c)(1)\nprint(f())", "10", ""},
		{"earlier only", "b = 100\ndef f(a = b, b = 2):\n  def g(): return b\n  return a + g()\nprint(f(), f(b: 5), f(1))", "102 105 3", ""},
		{"no later one", "def f(a = b, b = 2): return a\nf()", "", "[line 1] undefined variable 'b'"},
		{"assigned in a default", "def f(a = (n = 3), b = n): return a + b + n\nprint(f())", "9", ""},
		{"not evaluated", "def f(a = (n = 3)):\n  return n\nprint(f())\nf(1)", "3", "[line 2] undefined variable 'n'"},
		{"action", "def f():\n  x = 5\n  reversible action act(a = x):\n    return a\n  rollback:\n    print(a)\n  p = act().verify()\n  print(p.commit())\n  p.rollback()\nf()", "5\n5", ""},
		{"tool", "def f():\n  x = 5\n  tool tl(a = x): return a\n  return tl()\nprint(f())", "5", ""},
		{"guard", "def f():\n  i = 1\n  try:\n    nope\n  catch e if (lambda a: i + len(e.kind))(8) == 5:\n    print(i, e)\nf()", "1 undefined variable 'nope'", ""},
		{"assigned in a guard", "def f():\n  try:\n    nope\n  catch e if (n = 3) == 3:\n    n = n + 1\n  print(n)\nf()", "4", ""},
	})
}
