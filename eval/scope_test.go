package eval_test

import "testing"

func TestScopes(t *testing.T) {
	runChecks(t, []check{
		{"a function writes the module's name", `
x = 1
def f():
    x = 2
f()
print(x)`, "2", ""},
		{"or makes one of its own", `
def f():
    y = 2
    return y
print(f())
print(y)`, "2", "[line 5] undefined variable 'y'"},
		{"which of the two depends on when it runs", `
def f():
    y = 2
f()
y = 1
print(y)
f()
print(y)`, "1\n2", ""},
		{"local makes a new one", `
x = 1
def f():
    local x = 2
    x = 3
    return x
print(f(), x)`, "3 1", ""},
		{"local after an outer write", `
x = 1
def f():
    x = 5
    local x = 2
    x = 3
f()
print(x)`, "5", ""},
		{"local reads the outer value", `
x = 1
if true:
    local x = x + 1
    print(x)
print(x)`, "2\n1", ""},
		{"an if's branch is a scope", `
if true:
    a = 1
    if true:
        a = 2
        b = 3
    print(a)
print(b)`, "2", "[line 7] undefined variable 'b'"},
		{"both branches", `
if false:
    a = 1
else:
    a = 2
print(a)`, "", "[line 5] undefined variable 'a'"},
		{"each turn is new", `
for i in range(2):
    if i == 1:
        print(k)
    k = i`, "", "[line 3] undefined variable 'k'"},
		{"each turn of while", `
n = 0
while n < 2:
    if n == 1:
        print(k)
    k = n
    n = n + 1`, "", "[line 4] undefined variable 'k'"},
		{"a name that is there before the loop", `
k = 0
for i in range(3):
    k = k + i
print(k)
print(i)`, "3", "[line 5] undefined variable 'i'"},
		{"the loop variable hides", `
i = 7
for i in range(2):
    print(i)
print(i)`, "0\n1\n7", ""},
		{"closures over loop variables", `
fs = []
for i in range(3):
    def f():
        return i
    push(fs, f)
print(fs[0](), fs[1](), fs[2]())`, "0 1 2", ""},
		{"closures share a scope", `
def counter():
    n = 0
    def up():
        n = n + 1
        return n
    def get():
        return n
    return [up, get]
c = counter()
d = counter()
c[0]()
c[0]()
print(c[1](), d[1]())`, "2 0", ""},
		{"closures over parameters", `
def add(a):
    def inner(b):
        a = a + b
        return a
    return inner
f = add(10)
print(f(1), f(1), add(0)(5))`, "11 12 5", ""},
		{"three deep", `
def a():
    x = 1
    def b():
        def c():
            x = x + 1
            y = x
            return y
        return c
    f = b()
    f()
    f()
    return x
print(a())`, "3", ""},
		{"a name bound after the closure", `
def f():
    def g():
        return later
    later = 5
    return g()
print(f())`, "5", ""},
		{"a closure that binds a name for its maker", `
def f():
    def g():
        z = 1
    g()
    z = 2
    g()
    return z
print(f())`, "1", ""},
		{"mutual recursion", `
def even(n):
    if n == 0:
        return true
    return odd(n - 1)
def odd(n):
    if n == 0:
        return false
    return even(n - 1)
print(even(10), odd(10))`, "true false", ""},
		{"a function is called before its name is bound", `
f()
def f():
    return 1`, "", "[line 1] undefined variable 'f'"},
		{"parameters hide", `
x = 1
def f(x):
    x = x + 1
    return x
print(f(5), x)`, "6 1", ""},
		{"the same parameter twice", `
def f(a, a):
    return a
print(f(1, 2))`, "2", ""},
		{"builtins can be rebound", `
def f():
    len = 3
f()
print(len)`, "3", ""},
		{"or hidden", `
def f():
    local len = 3
    return len
print(f(), len([1, 2]))`, "3 2", ""},
		{"a def hides a builtin", `
def str(x):
    return "mine"
print(str(1))
def g():
    return str(2)
print(g())`, "mine\nmine", ""},
		{"a rebound builtin is seen everywhere", `
def f():
    return len("abc")
print(f())
len = str
print(f())
push = len
print(push(5))`, "3\nabc\n5", ""},
		{"a parameter named as a builtin", `
def f(print):
    return print + 1
print(f(1))`, "2", ""},
		{"a builtin as a loop variable", `
for len in range(2):
    print(len)
print(len("ab"))`, "0\n1\n2", ""},
		{"sessions", `
session s:
    a = 1
    x = 2
    print(a)
print(a)`, "1", "[line 5] undefined variable 'a'"},
		{"a session's name is not bound", `
session s:
    x = 1
print(s)`, "", "[line 3] undefined variable 's'"},
		{"tests", `
x = 1
test "t":
    x = 2
    y = 3
print(x)
print(y)`, "2", "[line 6] undefined variable 'y'"},
		{"what a failing test wrote stays", `
x = 1
test "t":
    x = 2
    assert(false)
    x = 3
print(x)`, "2", ""},
		{"agents", `
x = 1
agent a:
    x = 2
    y = 3
start(a)
print(x, a.y, a.x)
print(y)`, "2 3 2", "[line 7] undefined variable 'y'"},
		{"an agent writes the nearest binding of its name", `
a = 1
def f():
    agent a:
        x = 1
f()
print(type_of(a))`, "Agent", ""},
		{"members of agents change", `
agent a:
    n = 1
    pause()
    n = 2
    if true:
        inner = 5
start(a)
print(a.n)
resume(a)
print(a.n)
a.inner`, "1\n2", "[line 11] agent 'a' has no member 'inner'"},
		{"a member that is not bound yet", `
agent a:
    pause()
    n = 2
start(a)
a.n`, "", "[line 5] agent 'a' has no member 'n'"},
		{"an agent in a function sees its names", `
def f(p):
    q = 2
    agent a:
        r = p + q
    start(a)
    return a
x = f(1)
print(x.r, x.q, x.p, x.f == f, x.len == len)`, "3 2 1 true true", ""},
		{"tools and actions", `
n = 0
tool t(a):
    n = n + a
    m = 5
    return n
print(t(2), n)
irreversible action act(a):
    n = n + a
    m = 6
    return n
print(act(3).verify().commit(), n)
print(m)`, "2 2\n5 5", "[line 12] undefined variable 'm'"},
		{"a rollback sees the names of its body", `
reversible action a(p):
    local saved = p * 2
    if p > 1:
        inner = 1
    p = p + 1
rollback:
    print(p, saved)
    saved = 0
    return saved
x = a(5)
x.verify()
x.commit()
print(x.rollback())
y = a(1)
y.verify()
y.commit()
y.rollback()`, "6 10\n0\n2 2", ""},
		{"a rollback does not see blocks of its body", `
reversible action a(p):
    if p > 1:
        inner = 1
rollback:
    print(inner)
x = a(5)
x.verify()
x.commit()
x.rollback()`, "", "[line 5] undefined variable 'inner'"},
		{"each commit has names of its own", `
reversible action a(p):
    q = [p]
rollback:
    push(q, p)
    return q
x = a(1)
y = a(2)
x.verify()
y.verify()
x.commit()
y.commit()
print(x.rollback(), y.rollback())`, "[1, 1] [2, 2]", ""},
		{"annotations are not remembered", `
x: Int = 1
x = "s"
print(x)
x: String = "t"
print(x)`, "s\nt", ""},
		{"a typed name follows the rule of assignment", `
x = 1
def f():
    x: Int = 2
    local y: Int = 3
f()
print(x)`, "2", ""},
		{"a failed annotation binds nothing", `
test "t":
    x: Int = "a"
x: Int = nil`, "", "[line 3] cannot assign value of type Nil to 'x: Int'"},
		{"assignment is an expression", `
a = b = c = 3
print(a + b + c)
if (n = 5) > 3:
    print(n)
print([k = 1, k + 1])
d = (e = 2) + e
print(d)`, "9\n5\n[1, 2]\n4", ""},
		{"and, or and what was assigned", `
false and (z = 1)
true or (z = 2)
print(z)`, "", "[line 3] undefined variable 'z'"},
		{"assigned in the condition of a loop", `
n = 0
while (m = n) < 2:
    n = n + 1
print(m)`, "2", ""},
		{"a name of a dead branch", `
def f(x):
    if x:
        return 1
    else:
        return 2
    y = 3
    return y
print(f(true), f(false))`, "1 2", ""},
		{"after break", `
for i in range(5):
    if i == 1:
        break
    j = i
x = 0
while true:
    x = x + 1
    if x > 2:
        break
    continue
print(x)`, "3", ""},
		{"undefined in a call", `nothing(1)`, "", "[line 1] undefined variable 'nothing'"},
		{"undefined as an argument", `print(nothing)`, "", "[line 1] undefined variable 'nothing'"},
		{"index assignment needs a name", `nothing[0] = 1`, "", "[line 1] undefined variable 'nothing'"},
		{"return outside", `return 1`, "", "[line 1] 'return' outside a function"},
		{"break outside", `if true:
    break`, "", "[line 2] 'break' outside a loop"},
		{"continue outside", `def f():
    continue
f()`, "", "[line 2] 'continue' outside a loop"},
		{"a loop around a function is no loop of it", `for i in range(2):
    def f():
        break
    f()`, "", "[line 3] 'break' outside a loop"},
		{"through a session", `
def f():
    for i in range(3):
        session s:
            if i == 1:
                continue
            if i == 2:
                return "left"
        print(i)
print(f())`, "0\nleft", ""},
		{"return ends an agent", `
agent a:
    x = 1
    return
    x = 2
start(a)
print(a.x, a.status)`, "1 completed", ""},
		{"return ends an action", `
irreversible action a():
    if true:
        return 5
    print("not here")
print(a().verify().commit())`, "5", ""},
		{"keywords of other languages are names", `
rollback = 1
compensate = 2
print(rollback + compensate)`, "3", ""},
	})
}

func TestTestsReport(t *testing.T) {
	p := newProgram(t, t.Context(), nil)
	out, err := p.run(t, `def f():
    test "inside":
        return 7
    return 8
print(f())
for i in range(3):
    test "loop":
        if i == 1:
            break
test "fails":
    x = 1 / 0
test "asserts":
    assert(1 == 2, "one is not two")
test "nested":
    test "inner":
        assert(false)
    assert(true)
agent a:
    test "in an agent":
        nothing
start(a)
test "":
    1
`)
	if out != "7\n" || err != nil {
		t.Errorf("%q %v", out, err)
	}
	want := []string{"pass loop", "fail fails: [line 11] division by zero", "fail asserts: [line 13] one is not two",
		"fail inner: [line 16] assertion failed", "pass nested", "fail in an agent: [line 20] undefined variable 'nothing'", "pass "}
	if len(p.tests) != len(want) {
		t.Fatalf("%q", p.tests)
	}
	for i := range want {
		if p.tests[i] != want[i] {
			t.Errorf("test %d: %q, want %q", i, p.tests[i], want[i])
		}
	}
}
