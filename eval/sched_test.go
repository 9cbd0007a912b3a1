package eval_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/parser"
)

func TestDeepRecursion(t *testing.T) {
	runChecks(t, []check{
		{"5,000 deep", `
def even(n):
    if n == 0:
        return true
    return odd(n - 1)
def odd(n):
    if n == 0:
        return false
    return even(n - 1)
print(even(5000), odd(5000))`, "true false", ""},
		{"up to the limit", `
def f(n):
    if n == 0:
        return 0
    return 1 + f(n - 1)
print(f(9900))
print(f(10001))`, "9900", "[line 4] maximum recursion depth exceeded"},
		{"again after the limit", `
def f():
    return f()
test "a":
    f()
test "b":
    f()
def g(n):
    if n == 0:
        return 0
    return 1 + g(n - 1)
print(g(5000))`, "5000", ""},
		{"many arguments", `
def f(a, b, c, d, e, g, h, i, j):
    if a == 0:
        return b + j
    return f(a - 1, b, c, d, e, g, h, i, j)
print(f(5000, 1, 2, 3, 4, 5, 6, 7, 8))
f(-1, 1, 2, 3, 4, 5, 6, 7, 8)`, "9", "[line 4] maximum recursion depth exceeded"},
		{"of a tool", `
tool f():
    return f()
f()`, "", "[line 2] maximum recursion depth exceeded"},
		{"of an action", `
irreversible action a():
    return a().verify().commit()
a().verify().commit()`, "", "[line 2] maximum recursion depth exceeded"},
		{"of agents that wait for each other", `
def f(n):
    agent a:
        f(n + 1)
    start(a)
f(0)`, "", "[line 4] maximum recursion depth exceeded"},
		{"of async tools", `
async tool f():
    return await(f())
await(f())`, "", "[line 2] too many agents and async tools at once (limit 10000)"},
		{"in an agent", `
def f():
    return f()
agent a:
    f()
test "t":
    start(a)
print(a.status)`, "failed", ""},
		{"in an async agent", `
def f():
    return f()
async agent a:
    f()
start(a)
await(a)`, "", "[line 2] maximum recursion depth exceeded"},
		{"a sum of 100,000 terms", "print(" + strings.Repeat("1 + ", 99_999) + "1)", "100000", ""},
		{"a text of 20,000 parts", "print(len(" + strings.Repeat(`"ab" + `, 19_999) + `"ab"))`, "40000", ""},
		{"comparisons in a chain", "print(" + strings.Repeat("true == ", 10_000) + "true)", "true", ""},
		{"calls in a chain", "def f():\n    return f\nprint(f" + strings.Repeat("()", 2000) + ")", "<fn f>", ""},
		{"a long else if", "x = 700\nif x == 0:\n    print(0)\n" + elseIfs(1000), "700", ""},
	})
}

func elseIfs(n int) string {
	var b strings.Builder
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "else if x == %d:\n    print(%d)\n", i, i)
	}
	return b.String()
}

// A function that is called again and again just where a segment of the stack
// ends must not cost a segment each time.
func TestCallsAtTheEndOfASegment(t *testing.T) {
	for depth := 1; depth < 160; depth += 7 {
		src := fmt.Sprintf(`
def leaf(a, b):
    x = a + b
    y = x * 2
    return y
def down(n):
    if n > 0:
        return down(n - 1) + 1
    t = 0
    for i in range(200):
        t = t + leaf(i, 1)
    return t
print(down(%d))`, depth)
		out, err := exec(t, src[1:])
		if want := fmt.Sprintf("%d\n", 40200+depth); out != want || err != nil {
			t.Fatalf("depth %d: %q %v", depth, out, err)
		}
	}
}

func TestDeadlock(t *testing.T) {
	runChecks(t, []check{
		{"nobody sends", `
agent a:
    receive()
start(a)`, "", "[line 3] nothing can go on: the program waits in start or resume of agent 'a', agent 'a' waits in receive()"},
		{"an async agent", `
async agent a:
    receive()
start(a)
await(a)`, "", "[line 4] nothing can go on: the program waits in await(agent 'a'), agent 'a' waits in receive()"},
		{"each waits for the other", `
async agent a:
    receive()
    await(b)
async agent b:
    await(a)
start(a)
start(b)
send(a, 1)
await(a)`, "", "[line 9] nothing can go on: the program waits in await(agent 'a'), agent 'a' waits in await(agent 'b'), agent 'b' waits in await(agent 'a')"},
		{"one that still sends", `
async agent a:
    got = receive()
async agent b:
    receive(0.001)
    send(a, 5)
start(a)
start(b)
await(a)
print(a.got)`, "5", ""},
		{"a paused one beside", `
agent p:
    pause()
start(p)
async agent a:
    got = receive()
start(a)
await(a)`, "", "[line 7] nothing can go on: the program waits in await(agent 'a'), agent 'a' waits in receive(), agent 'p' waits in pause()"},
		{"the program goes on after it", `
async agent a:
    got = receive()
start(a)
test "stuck":
    await(a)
send(a, 1)
await(a)
print(a.got)`, "1", ""},
		{"again", `
async agent a:
    got = receive()
start(a)
test "stuck":
    await(a)
test "stuck too":
    await(a)
await(a)`, "", "[line 8] nothing can go on: the program waits in await(agent 'a'), agent 'a' waits in receive()"},
	})
}

func TestManyAgents(t *testing.T) {
	const agents = 200
	var b strings.Builder
	b.WriteString("shared = []\ncount = 0\nagents = []\n")
	for i := range agents {
		fmt.Fprintf(&b, `
async agent a%[1]d:
    sum = 0
    for i in range(20):
        push(shared, %[1]d)
        count = count + 1
    send(agents[(%[1]d + 1) %% %[2]d], %[1]d)
    send(agents[(%[1]d + 7) %% %[2]d], 1000)
    sum = receive() + receive()
push(agents, a%[1]d)
`, i, agents)
	}
	b.WriteString(`
for a in agents:
    start(a)
total = 0
for a in agents:
    await(a)
    total = total + a.sum
print(len(shared), count, total)`)
	out, err := exec(t, b.String())
	if want := fmt.Sprintf("4000 4000 %d\n", agents*1000+agents*(agents-1)/2); out != want || err != nil {
		t.Errorf("%q %v, want %q", out, err, want)
	}
}

func TestThreadsTakeTurns(t *testing.T) {
	// Neither of two endless loops may keep the other, or the program, from
	// running.
	out, err := exec(t, `n = 0
m = 0
async agent a:
    while true:
        n = n + 1
async agent b:
    while true:
        m = m + 1
start(a)
start(b)
while n < 1000 or m < 1000:
    receive_nothing = 0
print("both")`)
	if out != "both\n" || err != nil {
		t.Errorf("%q %v", out, err)
	}
}

func TestUnawaitedFailures(t *testing.T) {
	p := newProgram(t, t.Context(), nil)
	_, err := p.run(t, `async tool bad(n):
    return 1 / n
async agent worse:
    x = nothing
async agent seen:
    x = nothing
f = bad(0)
start(worse)
start(seen)
test "sees it":
    await(seen)
async tool fine():
    return 1
fine()`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"tool 'bad' failed: [line 2] division by zero", "agent 'worse' failed: [line 4] undefined variable 'nothing'"}
	if got := fmt.Sprint(p.Close()); got != fmt.Sprint(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUnawaitedFailuresAreBounded(t *testing.T) {
	p := newProgram(t, t.Context(), nil)
	_, err := p.run(t, `async tool bad(n):
    return 1 / n
for i in range(250):
    bad(0)
for i in range(250):
    f = bad(0)
    test "seen":
        await(f)`)
	if err != nil {
		t.Fatal(err)
	}
	failed := p.Close()
	if n := len(failed); n != 101 || failed[100].Error() != "400 more failures of agents and async tools" {
		t.Errorf("%d failures, the last %v", n, failed[n-1])
	}
}

// started tells when a program has printed its first line.
type started struct {
	once sync.Once
	ch   chan struct{}
}

func (s *started) Write(b []byte) (int, error) {
	s.once.Do(func() { close(s.ch) })
	return len(b), nil
}

// interrupted runs a program until it has printed, interrupts it and gives its
// error; it fails when the program does not end.
func interrupted(t *testing.T, src string, change func(*eval.Config)) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := &started{ch: make(chan struct{})}
	p := newProgram(t, ctx, func(c *eval.Config) {
		c.Stdout = out
		if change != nil {
			change(c)
		}
	})
	done := make(chan error)
	go func() {
		_, err := p.run(t, src)
		done <- err
	}()
	select {
	case <-out.ch:
	case err := <-done:
		t.Fatalf("the program ended before it printed: %v", err)
	}
	cancel()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the program does not end")
		return nil
	}
}

func TestInterrupts(t *testing.T) {
	rows := []struct{ name, src string }{
		{"while", "print(1)\nwhile true:\n    x = 1"},
		{"an empty loop", "print(1)\nwhile true:\n    1"},
		{"for", "print(1)\nfor i in range(1000000000000):\n    x = i"},
		{"for over a growing array", "xs = [1]\nprint(1)\nfor x in xs:\n    xs[0] = x\n    if len(xs) < 3:\n        push(xs, x)\n    else:\n        for y in range(99999999999):\n            z = y"},
		{"for in a function", "def f():\n    for i in range(1000000000000):\n        def g():\n            return i\nprint(1)\nf()"},
		{"recursion", "def f(n):\n    if n > 30:\n        return 1\n    return f(n + 1) + f(n + 1)\nprint(1)\nf(0)"},
		{"calls at the end of a segment", "def leaf():\n    return 1\ndef down(n):\n    if n > 0:\n        return down(n - 1)\n    while true:\n        leaf()\nprint(1)\ndown(400)"},
		{"in a test", "test \"t\":\n    print(1)\n    while true:\n        x = 1\nprint(2)"},
		{"tests in a loop", "print(1)\nwhile true:\n    test \"t\":\n        x = 1 / 0"},
		{"in a session", "session s:\n    print(1)\n    while true:\n        x = 1"},
		{"a plain agent", "agent a:\n    print(1)\n    while true:\n        x = 1\nstart(a)"},
		{"an async agent that is awaited", "async agent a:\n    print(1)\n    while true:\n        x = 1\nstart(a)\nawait(a)"},
		{"an async agent beside", "async agent a:\n    while true:\n        x = 1\nstart(a)\nprint(1)\nwhile true:\n    y = 1"},
		{"a tool", "tool f():\n    print(1)\n    while true:\n        x = 1\nf()"},
		{"an action", "irreversible action f():\n    print(1)\n    while true:\n        x = 1\nf().verify().commit()"},
		{"a rollback", "reversible action f():\n    return 1\nrollback:\n    print(1)\n    while true:\n        x = 1\na = f()\na.verify()\na.commit()\na.rollback()"},
		{"receive with a limit", "agent a:\n    print(1)\n    receive(100000)\nstart(a)"},
		{"receive with the longest limit", "agent a:\n    print(1)\n    receive(1000000000000000000000)\nstart(a)"},
		{"await", "async agent a:\n    print(1)\n    receive(100000)\nstart(a)\nawait(a)"},
		{"await of a future", "agent b:\n    while true:\n        x = 1\nasync tool f():\n    print(1)\n    start(b)\nawait(f())"},
		{"paused agents beside", "agent a:\n    pause()\nstart(a)\nprint(1)\nwhile true:\n    x = 1"},
		{"a polling agent", "agent a:\n    print(1)\n    while true:\n        receive(0)\nstart(a)"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var e *diag.Error
			if err := interrupted(t, r.src, nil); !errors.As(err, &e) || e.Kind != diag.Interrupt {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestInterruptsARead(t *testing.T) {
	in, w := io.Pipe()
	defer w.Close()
	err := interrupted(t, "print(1)\nask_human(\"name?\")", func(c *eval.Config) { c.Stdin = in })
	if text(err) != "interrupted" && text(err) != "[line 2] interrupted" {
		t.Errorf("error %v", err)
	}
}

func TestSessionGoesOnAfterAnInterrupt(t *testing.T) {
	for _, src := range []string{
		"print(1)\nwhile true:\n    n = n + 1",
		"agent a:\n    print(1)\n    while true:\n        n = n + 1\nstart(a)",
		"agent b:\n    print(1)\n    receive(100000)\nstart(b)",
		"async agent c:\n    receive()\nstart(c)\nprint(1)\nwhile true:\n    n = n + 1",
		"def f(x):\n    return f2(x)\ndef f2(x):\n    print(1)\n    while true:\n        n = n + 1\nf(1)",
	} {
		out := &started{ch: make(chan struct{})}
		p := newProgram(t, t.Context(), func(c *eval.Config) { c.Stdout = out })
		s := p.NewSession()
		run := func(ctx context.Context, src string) (eval.Value, error) {
			f, err := parser.Parse("", src)
			if err != nil {
				t.Error(err)
				return eval.Value{}, err
			}
			return s.Run(ctx, f)
		}
		if _, err := run(t.Context(), "n = 0"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := run(ctx, src)
			done <- err
		}()
		<-out.ch
		cancel()
		var e *diag.Error
		if err := <-done; !errors.As(err, &e) || e.Kind != diag.Interrupt {
			t.Errorf("%s: %v", src, err)
		}
		if v, err := run(t.Context(), "1 + 1"); err != nil || v.String() != "2" {
			t.Errorf("after %s: %v %v", src, v, err)
		}
		if _, err := run(t.Context(), "k = 0\nfor i in range(10000):\n    k = k + i"); err != nil {
			t.Errorf("after %s: %v", src, err)
		}
	}
}
