package builtins_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/eval"
)

// hostile is a program that tries to make the runtime hang, fall over or take
// all memory; it prints out and fails with err.
type hostile struct{ name, src, out, err string }

func TestHostilePrograms(t *testing.T) {
	const circle = "a = [1]\na.push(a)\na.push(a)\nb = [1]\nb.push(b)\nb.push(b)\n"
	const many = "a = [\"x\"]\nfor i in range(60):\n    a = [a, a]\n"
	const deep = "maximum recursion depth exceeded"
	for _, h := range []hostile{
		{"repeat", `"abc".repeat(1000000000000)`, "", "repeat() would make a text of over 1073741824 bytes"},
		{"repeat beyond 64 bits", `"abc".repeat(99999999999999999999999)`, "", "repeat() would make a text of over 1073741824 bytes"},
		{"repeat less than nothing", `print("abc".repeat(-99999999999999999999) + "|")`, "|", ""},
		{"pad", `"a".pad_left(99999999999)`, "", "pad_left() would make a text of over 1073741824 bytes"},
		{"pad beyond 64 bits", `"a".pad_right(99999999999999999999999)`, "", "pad_right() would make a text of over 1073741824 bytes"},
		{"pad to less", `print("abc".pad_left(-99999999999999999999999))`, "abc", ""},
		{"join", "xs = []\nfor i in range(40000):\n    xs.push(1)\nxs.join(\"b\".repeat(1000000))", "", "join() would make a text of over 1073741824 bytes"},
		{"insert far out", `[1].insert(99999999999999999999, 2)`, "", "insert()'s index 99999999999999999999 out of bounds"},
		{"remove far out", `[1].remove(-99999999999999999999)`, "", "remove()'s index -99999999999999999999 out of bounds"},
		{"enumerate far out", `print(enumerate(["a", "b"], 9223372036854775807))`, "[[9223372036854775807, a], [9223372036854775808, b]]", ""},
		{"format", `print(f"{1:>99999999999}")`, "", "unknown format '>99999999999' in an f-string -- use forms like :.2f, :>10 or :,"},
		{"slices far out", `print([1, 2, 3][99999999999999999999:], "abc"[-99999999999999999999:2], [1, 2, 3][:99999999999999999999])`, "[] ab [1, 2, 3]", ""},
		{"powers", `2 ** 99999999999999999999`, "", "integer too large (limit 10000000 bits)"},
		{"long digits", `print(int("9".repeat(3000000)) % 10)`, "9", ""},
		{"too many digits", `int("9".repeat(4000000))`, "", "cannot convert '" + strings.Repeat("9", 1000) + "...' to Int"},

		{"contains in a circle", circle + "a.contains(b)", "", deep},
		{"find in a circle", circle + "a.find(b)", "", deep},
		{"in a circle", circle + "b in a", "", deep},
		{"sorting circles", circle + "sorted([a, b])", "", "cannot sort arrays that hold themselves or nest too deeply"},
		{"sorting deep circles", "a = []\na.push(a)\nb = []\nb.push(b)\nsorted([a, b])", "", "cannot sort arrays that hold themselves or nest too deeply"},
		{"max of circles", "a = []\na.push(a)\nb = []\nb.push(b)\nmax([a, b])", "", "max() cannot compare Array with Array"},
		{"joining a circle", circle + "a.join(\",\")", "", deep},
		{"a map in itself", "m = {}\nm[\"m\"] = m\nprint(m)", "", deep},
		{"maps in themselves", "m = {}\nm[\"m\"] = m\nn = {}\nn[\"m\"] = n\nm == n", "", deep},
		{"a circle in a memory", circle + "memory k\nk.remember(\"a\", a)\nmodel m = inference(\"mock\")\nset delegation = m\nask_with_memory(\"q\", k)", "", deep},
		{"a circle as a template", circle + "f\"{a}\"", "", deep},
		{"a circle raised", circle + "raise a", "", "raise expects a String or an error, got Array"},
		{"a circle as an argument of an action", circle + "irreversible action x(p):\n    return len(p)\nz = x(a)\nprint(len(z.args[\"p\"]))\nprint(z.verify().commit())", "3\n3", ""},
		{"a circle as arguments of a mock's call", "m = {}\nm[\"m\"] = m\ninference(\"mock\", script: [{\"call\": \"t\", \"args\": m}])", "", `inference("mock")'s script, turn 1: the value holds itself`},
		{"a shared array as an argument of an action", many + "irreversible action x(p):\n    return len(p)\nprint(x(a).verify().commit())", "2", ""},
		{"a shared array as arguments of a mock's call", many + "inference(\"mock\", script: [{\"call\": \"t\", \"args\": {\"a\": a}}])", "", `inference("mock")'s script, turn 1: the value is too large to be written out (limit 268435456)`},
		{"a circle in persistent memory", circle + "persistent memory k\nk.remember(\"a\", a)", "", "the value holds itself"},
		{"a shared array in persistent memory", many + "persistent memory k\nk.remember(\"a\", a)", "", "the value is too large to be written out (limit 268435456)"},

		{"sort that changes its array", "a = [3, 1, 2]\ndef by(x):\n    a.push(x)\n    return x\nprint(a.sort(by), a)", "[1, 2, 3] [1, 2, 3]", ""},
		{"map that empties its array", "a = [3, 1, 2]\ndef f(x):\n    if len(a) > 0:\n        a.pop()\n    return x\nprint(a.map(f), a.filter(f), a.reduce(lambda x, y: x, 0))", "[3, 1] [3] 0", ""},
		{"map that fills its array", "a = [1]\ndef f(x):\n    if len(a) < 50:\n        a.push(x)\n    return x\nprint(len(a.map(f)))", "50", ""},
		{"a map changed in a loop over it", "m = {\"a\": 1, \"b\": 2}\nfor k in m:\n    m.remove(\"b\")\n    m[k + \"x\"] = 1\nprint(m)", "", "no key 'b' in map"},
		{"a callback that fails", "[1, 2].map(lambda x: x / 0)", "", "division by zero"},
		{"a callback that is none", "[1, 2].map(3)", "", "value of type Int is not callable"},
		{"a callback of another arity", "[1, 2].map(lambda (): 3)", "", "'lambda' expects 0 argument(s), got 1"},
		{"callbacks without end", "def f(x):\n    return [x].map(f)\nf(1)", "", deep},
		{"sorting without end", "def f(x):\n    return [x, x].sort(f)\nf(1)", "", deep},
		{"templates without end", "def f(n):\n    return f\"{f(n)}\"\nf(1)", "", deep},
		{"defaults without end", "def f(a = f()):\n    return a\nf()", "", deep},
		{"an agent that pauses in a callback", "agent a:\n    def by(x):\n        pause(x)\n        return x\n    r = [2, 1].sort(by)\nstart(a)\nresume(a)\nprint(a)\nresume(a)\nprint(a.r)", "<agent a status=paused (1)>\n[1, 2]", ""},
		{"an agent that pauses while it handles an error", "agent a:\n    try:\n        x = 1 / 0\n    catch e:\n        pause(e.message)\n    finally:\n        pause(\"finally\")\nstart(a)\nprint(a)\nresume(a)\nprint(a)\nresume(a)\nprint(a.status)",
			"<agent a status=paused (division by zero)>\n<agent a status=paused (finally)>\ncompleted", ""},
		{"a pause in an agent within an agent", "agent a:\n    def f():\n        pause(1)\n    agent b:\n        f()\n    start(b)\nstart(a)", "", "pause() can only be called inside a running agent's body"},
		{"an agent that waits for itself", "async agent a:\n    await(a)\nstart(a)\nawait(a)", "", "nothing can go on: the program waits in await(agent 'a'), agent 'a' waits in await(agent 'a')"},
		{"an agent that resumes itself", "agent a:\n    resume(a)\nstart(a)", "", "cannot resume agent 'a' — status is 'running', not 'paused'"},
		{"20,000 agents after each other", "n = 0\nfor i in range(20000):\n    agent a:\n        n = n + 1\n    start(a)\nprint(n)", "20000", ""},
		{"too many agents at once", "for i in range(10001):\n    agent a:\n        pause()\n    start(a)", "", "too many agents and async tools at once (limit 10000)"},

		{"a tool that asks with itself", "tool t(n: Int) \"d\":\n    return ask_with_tools(\"again\", [t]).value\nmodel m = inference(\"mock\", script: [{\"call\": \"t\", \"args\": {\"n\": 1}}, {\"call\": \"t\", \"args\": {\"n\": 1}}, \"done\"])\nset delegation = m\nask_with_tools(\"q\", [t])",
			"", "model 'm' failed: the script has no turn left: it has 3 turns, and this is request 5"},
		{"a tool that asks without end", "tool t() \"d\":\n    return go()\ndef go():\n    model m = inference(\"mock\", script: [{\"call\": \"t\"}, \"{result}\"])\n    set delegation = m\n    return ask_with_tools(\"q\", [t]).value\nprint(\"depth\" in go())", "true", ""},
		{"builtins hidden everywhere", "print = 5\nlen = nil\nstr = len\nrange = lambda x: [x, x]\nn = 0\nfor i in range(3):\n    n = n + i\nassert(n == 6)\ntype_of = [1]\nprint(1)", "", "value of type Int is not callable"},
		{"rules without end", "for i in range(50000):\n    policy: deny a.b\nprint(1)", "1", ""},
		{"errors deep down, again and again", "def f():\n    return f()\nn = 0\nfor i in range(20):\n    try:\n        f()\n    catch e:\n        n = n + 1\nprint(n)", "20", ""},
		{"errors in tests in agents in tests", "agent a:\n    test \"t\":\n        agent b:\n            import nope.nope\n        start(b)\n    x = 1 / 0\ntry:\n    start(a)\ncatch e:\n    print(e.message, e.line)", "division by zero 6", ""},
	} {
		t.Run(h.name, func(t *testing.T) {
			p := &program{options: sense.Options{Limits: eval.Limits{Memory: 2 << 30}}}
			err := p.run(t, h.src)
			if got := strings.TrimSpace(p.out.String()); got != h.out {
				t.Errorf("printed %.300q, want %q", got, h.out)
			}
			got := ""
			if err != nil {
				got = err.Error()
				if _, after, ok := strings.Cut(got, "] "); ok {
					got = after
				}
			}
			if got != h.err {
				t.Errorf("error %.300q, want %.300q", got, h.err)
			}
		})
	}
}

// closedPipe is an output that nobody reads any more.
type closedPipe struct{}

var errClosed = errors.New("broken pipe")

func (closedPipe) Write([]byte) (int, error) { return 0, errClosed }

// Nothing may go on, or catch the error, when nobody can see the output.
func TestOutputThatNobodyReads(t *testing.T) {
	for _, src := range []string{
		"print(1)",
		"while true:\n    print(1)",
		"while true:\n    test \"t\":\n        print(1)",
		"while true:\n    try:\n        print(1)\n    catch e:\n        2",
		"while true:\n    try:\n        print(1)\n    finally:\n        continue",
		"agent a:\n    print(1)\nwhile true:\n    start(a)",
	} {
		r := sense.New(t.Context(), sense.Options{Stdout: closedPipe{}})
		err := r.RunSource("x.sns", src)
		if !errors.Is(err, errClosed) || !eval.Fatal(err) {
			t.Errorf("%s\n%v", src, err)
		}
		r.Close()
	}
}

func TestInputThatIsNoText(t *testing.T) {
	p := &program{stdin: "a\xff\xfeb\nlast"}
	p.prints(t, `s = ask_human("1?")
print(s, len(s))
print(ask_human("2?"))
try:
    ask_human("3?")
catch e:
    print(e.message)`, "1?\n> a\uFFFDb 3\n2?\n> last\n3?\n> ask_human() got no answer: the input has ended")
}

// flushing is an output that is only seen once it is flushed.
type flushing struct{ kept, seen strings.Builder }

func (f *flushing) Write(b []byte) (int, error) { return f.kept.Write(b) }

func (f *flushing) Flush() error {
	f.seen.WriteString(f.kept.String())
	f.kept.Reset()
	return nil
}

// answering is an input that looks at what is seen when it is asked.
type answering struct {
	out *flushing
	saw string
}

func (a *answering) Read(b []byte) (int, error) {
	if a.saw == "" {
		a.saw = a.out.seen.String()
	}
	b[0] = '\n'
	return 1, nil
}

func TestQuestionsAreSeenBeforeTheyAreAnswered(t *testing.T) {
	out := &flushing{}
	in := &answering{out: out}
	r := sense.New(t.Context(), sense.Options{Stdout: out, Stdin: in})
	defer r.Close()
	if err := r.RunSource("x.sns", `ask_human("Who?")`); err != nil {
		t.Fatal(err)
	}
	if in.saw != "Who?\n> " {
		t.Errorf("seen before the answer: %q", in.saw)
	}
}
