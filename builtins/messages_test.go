package builtins_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sense-lang/sense/diag"
)

// wording is a program whose last line fails, and the message without its line.
type wording struct{ src, want string }

// fails runs programs and compares their errors; each must name the line of
// the program's last statement that stands at the left margin, or, with at, that.
func fails(t *testing.T, rows []wording) {
	t.Helper()
	for _, m := range rows {
		p := &program{env: map[string]string{"KEY": "sk-test", "EMPTY": ""}}
		err := p.run(t, m.src)
		var e *diag.Error
		if !errors.As(err, &e) {
			t.Errorf("%s\nno error of a program: %v", m.src, err)
			continue
		}
		if e.Msg != m.want {
			t.Errorf("%s\ngot  %s\nwant %s", m.src, e.Msg, m.want)
		}
		if !e.Pos.IsValid() || e.Pos.Col < 1 {
			t.Errorf("%s\n%q has no place: %v", m.src, e.Msg, e.Pos)
		}
		if want := lastLine(m.src); int(e.Pos.Line) != want {
			t.Errorf("%s\n%q is at line %d, want %d", m.src, e.Msg, e.Pos.Line, want)
		}
	}
}

// lastLine is the number of a source's last line, or the one that ends in #!.
func lastLine(src string) int {
	lines := strings.Split(src, "\n")
	for i, l := range lines {
		if strings.HasSuffix(l, "#!") {
			return i + 1
		}
	}
	return len(lines)
}

func TestMessagesOfCore(t *testing.T) {
	fails(t, []wording{
		{`len(1)`, "len() not supported for type Int"},
		{`len(nil)`, "len() not supported for type Nil"},
		{`len()`, "'len' expects 1 argument(s), got 0"},
		{`len("a", "b")`, "'len' expects 1 argument(s), got 2"},
		{`str()`, "'str' expects 1 argument(s), got 0"},
		{`int("x")`, "cannot convert 'x' to Int"},
		{`int("it's")`, `cannot convert "it's" to Int`},
		{`int("1.5")`, "cannot convert '1.5' to Int"},
		{`int("a\nb")`, `cannot convert 'a\nb' to Int`},
		{`int(nil)`, "cannot convert nil to Int"},
		{`int([1, "a"])`, "cannot convert [1, a] to Int"},
		{`int(float("nan"))`, "cannot convert nan to Int"},
		{`int(float("-inf"))`, "cannot convert -inf to Int"},
		{`int(print)`, "cannot convert <builtin print> to Int"},
		{`int()`, "'int' expects 1 argument(s), got 0"},
		{`float("x")`, "cannot convert 'x' to Float"},
		{`float("")`, "cannot convert '' to Float"},
		{`float([])`, "cannot convert [] to Float"},
		{`float(nil)`, "cannot convert nil to Float"},
		{`type_of()`, "'type_of' expects 1 argument(s), got 0"},
		{`push(1, 2)`, "push() expects an Array as its first argument"},
		{`push("a", 2)`, "push() expects an Array as its first argument"},
		{`push([1])`, "'push' expects 2 argument(s), got 1"},
		{`assert(false)`, "assertion failed"},
		{`assert(0)`, "assertion failed"},
		{`assert([], "empty")`, "empty"},
		{`assert(nil, [1, "a"])`, "[1, a]"},
		{`assert()`, "assert() expects 1 or 2 arguments"},
		{`assert(1, 2, 3)`, "assert() expects 1 or 2 arguments"},
		{`mock_model()`, `mock_model(...) has been replaced -- use inference("mock", ...) instead (e.g. inference("mock", "demo", response_template: "..."))`},
		{`mock_model("a", response: "b")`, `mock_model(...) has been replaced -- use inference("mock", ...) instead (e.g. inference("mock", "demo", response_template: "..."))`},
		{`verify(1)`, "verify(action) has been replaced -- use action.verify() instead"},
		{`approve(1)`, "approve(action) has been replaced -- use action.approve() instead"},
		{`rollback(1)`, "rollback(action) has been replaced -- use action.rollback() instead"},
		{`audit_log(1)`, "'audit_log' expects 0 argument(s), got 1"},
		{`print(sep: "a")`, "'print' does not accept labeled arguments (sep)"},
		{`len("a", x: 1, y: 2)`, "'len' does not accept labeled arguments (x, y)"},
		{`"a"(1)`, "value of type String is not callable"},
		{`nil()`, "value of type Nil is not callable"},
		{"x = [1]\nx(2)", "value of type Array is not callable"},
		{`1(x: 2)`, "labeled arguments are only supported for a handful of builtins (e.g. inference(...)) -- not Int"},
		{`[1].nope`, "cannot access member 'nope' on type Array"},
		{`nil.x`, "cannot access member 'x' on type Nil"},
		{`print.x`, "cannot access member 'x' on type Function"},
		{`1.5.x`, "cannot access member 'x' on type Float"},
		{`[1][1]`, "index 1 out of bounds"},
		{`[1][-2]`, "index -2 out of bounds"},
		{`"abc"[3]`, "index 3 out of bounds"},
		{`""[0]`, "index 0 out of bounds"},
		{`[1]["a"]`, "index must be Int, got String"},
		{`"a"[1.0]`, "index must be Int, got Float"},
		{`[1][true]`, "index must be Int, got Bool"},
		{`5[0]`, "cannot index into type Int"},
		{`print[0]`, "cannot index into type Function"},
		{"x = [1]\nx[1] = 2", "array index 1 out of bounds"},
		{"x = [1]\nx[-2] = 2", "array index -2 out of bounds"},
		{"x = [1]\nx[\"a\"] = 2", "array index must be Int, got String"},
		{"x = \"a\"\nx[0] = \"b\"", "cannot index-assign into type String"},
		{"x = nil\nx[0] = \"b\"", "cannot index-assign into type Nil"},
		{"for x in 5:#!\n    print(x)", "cannot iterate over value of type Int"},
		{"for x in nil:#!\n    print(x)", "cannot iterate over value of type Nil"},
		{"for x in print:#!\n    print(x)", "cannot iterate over value of type Function"},
	})
}

func TestMessagesOfFunctions(t *testing.T) {
	const def = "def f(a: Int, b) -> String:\n    return b\n"
	fails(t, []wording{
		{def + `f(1)`, "'f' expects 2 argument(s), got 1"},
		{def + `f()`, "'f' expects 2 argument(s), got 0"},
		{def + `f(1, "a", 3)`, "'f' expects 2 argument(s), got 3"},
		{def + `f("x", "y")`, "argument 'a' of 'f' expects Int, got String"},
		{def + `f(1.0, "y")`, "argument 'a' of 'f' expects Int, got Float"},
		{def + `f(true, "y")`, "argument 'a' of 'f' expects Int, got Bool"},
		{def + `f(1, 2)`, "'f' declared to return String, got Int"},
		{def + `f(1, nil)`, "'f' declared to return String, got Nil"},
		{"def g() -> Array<Int>:\n    return [1, \"a\"]\ng()", "'g' declared to return Array<Int>, got Array"},
		{"x: Int = 1.5", "cannot assign value of type Float to 'x: Int'"},
		{"x: Float = \"a\"", "cannot assign value of type String to 'x: Float'"},
		{"local x: Bool = 1", "cannot assign value of type Int to 'x: Bool'"},
		{"x: Nil = 0", "cannot assign value of type Int to 'x: Nil'"},
		{"x: Array<Array<Int>> = [[1], [\"a\"]]", "cannot assign value of type Array to 'x: Array<Array<Int>>'"},
		{"x: Function = 1", "cannot assign value of type Int to 'x: Function'"},
		{"x: Model = 1", "cannot assign value of type Int to 'x: Model'"},
		{"x: Agent = print", "cannot assign value of type Function to 'x: Agent'"},
		{"x: Tool = nil", "cannot assign value of type Nil to 'x: Tool'"},
		{"x: Answer = \"a\"", "cannot assign value of type String to 'x: Answer'"},
		{"model m = inference(\"mock\")\nx: Answer<Int> = m.ask(\"q\")", "cannot assign value of type Answer to 'x: Answer<Int>'"},
	})
}

func TestMessagesOfAgents(t *testing.T) {
	fails(t, []wording{
		{`start(1)`, "start() expects an Agent, got Int"},
		{`start(nil)`, "start() expects an Agent, got Nil"},
		{"agent a:\n    x = 1\nstart(a)\nstart(a)", "agent 'a' has already been started (status: completed) — an agent can only be started once in this version"},
		{"agent a:\n    pause()\nstart(a)\nstart(a)", "agent 'a' has already been started (status: paused) — an agent can only be started once in this version"},
		{"agent a:\n    start(a)#!\nstart(a)", "agent 'a' has already been started (status: running) — an agent can only be started once in this version"},
		{`pause()`, "pause() can only be called inside a running agent's body"},
		{"agent a:\n    pause(1, 2)#!\nstart(a)", "pause() expects 0 or 1 arguments (an optional reason)"},
		{"def f():\n    pause()#!\nagent a:\n    f()\nstart(a)", "pause() can only be called inside a running agent's body"},
		{"agent a:\n    def f():\n        pause()#!\n    x = 1\nstart(a)\na.f()", "pause() can only be called inside a running agent's body"},
		{`resume(1)`, "resume() expects an Agent, got Int"},
		{`resume()`, "resume() expects 1 or 2 arguments (agent, value?)"},
		{`resume(1, 2, 3)`, "resume() expects 1 or 2 arguments (agent, value?)"},
		{"agent a:\n    x = 1\nresume(a)", "cannot resume agent 'a' — status is 'created', not 'paused'"},
		{"agent a:\n    x = 1\nstart(a)\nresume(a)", "cannot resume agent 'a' — status is 'completed', not 'paused'"},
		{"agent a:\n    x = 1\na.nope", "agent 'a' has no member 'nope'"},
		{`await(1)`, "await() expects an Agent or a Future, got Int"},
		{"async agent a:\n    x = 1\nawait(a)", "cannot await agent 'a' — it hasn't been started yet"},
		{`send(1, 2)`, "send() expects an Agent as its first argument, got Int"},
		{`send(1)`, "'send' expects 2 argument(s), got 1"},
		{`receive()`, "receive() can only be called inside a running agent's body"},
		{"agent a:\n    receive(1, 2)#!\nstart(a)", "receive() expects 0 or 1 arguments (an optional timeout in seconds)"},
		{"agent a:\n    receive(\"x\")#!\nstart(a)", "receive()'s timeout must be a number, got String"},
		{"agent a:\n    receive(true)#!\nstart(a)", "receive()'s timeout must be a number, got Bool"},
		{`ask_human(1)`, "ask_human() expects a String question, got Int"},
		{`ask_human("q")`, "ask_human() got no answer: the input has ended"},
		{"async tool t():\n    return 1\nf = t()\nf.value", "future 'tool 't'' has no member 'value'"},
		{"async tool t() returns String:\n    return 1\nf = t()#!\nawait(f)", "'t' declared to return String, got Int"},
		{"async tool t(n):\n    return 1 / n#!\nawait(t(0))", "division by zero"},
		{"async agent a:\n    [][0]#!\nstart(a)\nawait(a)", "index 0 out of bounds"},
	})
}

func TestMessagesOfActions(t *testing.T) {
	const rev = "reversible action a(p: Int) requires c.d, approval:\n    return p\nrollback:\n    return p\n"
	const irr = "irreversible action i(p):\n    return 1 / p\n"
	fails(t, []wording{
		{rev + `a()`, "'a' expects 1 argument(s), got 0"},
		{rev + `a("x")`, "argument 'p' of 'a' expects Int, got String"},
		{rev + "x = a(1)\nx.nope", "action 'a' has no member 'nope'"},
		{rev + "x = a(1)\nx.verify(1)", "'a.verify' expects 0 argument(s), got 1"},
		{rev + "x = a(1)\nx.commit()", "action 'a' must be verified before .commit() (current state: 'prepared')"},
		{rev + "x = a(1)\nx.verify()\nx.verify()", "cannot verify action 'a' — its state is 'verified', not 'prepared'"},
		{rev + "x = a(1)\nx.verify()\nx.commit()", "action 'a' requires approval before commit() — call a.approve() first"},
		{rev + "x = a(1)\nx.verify()\nx.approve()\nx.commit()\nx.approve()", "cannot approve action 'a' — its state is 'committed', not 'prepared'/'verified'"},
		{rev + "x = a(1)\nx.rollback()", "cannot rollback action 'a' — its state is 'prepared', not 'committed'"},
		{rev + "x = a(1)\npolicy: deny c.d\nx.verify()", "action 'a' requires capability 'c.d', which is denied by policy"},
		{rev + "x = a(1)\nx.verify()\npolicy: deny c.d\nx.commit()", "action 'a' requires capability 'c.d', which is denied by policy"},
		{rev + "x = a(1)\nx.verify()\nx.approve()\nx.commit()\npolicy: deny c.d\nx.rollback()", "action 'a' requires capability 'c.d', which is denied by policy"},
		{rev + "x = a(1)\ntest \"t\":\n    policy: deny c.d\n    x.verify()\nx.verify()", "cannot verify action 'a' — its state is 'denied', not 'prepared'"},
		{irr + "x = i(1)\nx.rollback()", "cannot rollback 'i' — only a reversible action can be rolled back"},
		{"irreversible action i(p):\n    return 1 / p#!\nx = i(0)\nx.verify()\nx.commit()", "division by zero"},
		{irr + "x = i(0)\nx.verify()\ntest \"t\":\n    x.commit()\nx.commit()", "action 'i' must be verified before .commit() (current state: 'failed')"},
		{"reversible action r():\n    return 1\nrollback:\n    return 1 / 0#!\nx = r()\nx.verify()\nx.commit()\nx.rollback()", "division by zero"},
	})
}

func TestMessagesOfToolsAndMemories(t *testing.T) {
	const tool = "tool t(p: Int) returns String requires c.d \"d\":\n    return p\n"
	fails(t, []wording{
		{tool + `t()`, "'t' expects 1 argument(s), got 0"},
		{tool + `t("x")`, "argument 'p' of 't' expects Int, got String"},
		{tool + `t(1)`, "'t' declared to return String, got Int"},
		{tool + "policy: deny c.d\nt(\"x\")", "tool 't' requires capability 'c.d', which is denied by policy"},
		{tool + "policy: deny c.d\nt()", "'t' expects 1 argument(s), got 0"},
		{"memory m\nm.nope", "memory 'm' has no member 'nope'"},
		{"memory m\nm.remember(1, 2)", "memory key must be a String, got Int"},
		{"memory m\nm.recall(nil)", "memory key must be a String, got Nil"},
		{"memory m\nm.forget([])", "memory key must be a String, got Array"},
		{"memory m\nm.remember(\"k\")", "'m.remember' expects 2 argument(s), got 1"},
		{"memory m\nm.keys(1)", "'m.keys' expects 0 argument(s), got 1"},
		{`skill("a")`, "'skill' expects 3 argument(s), got 1"},
		{`skill(1, "d", [])`, "skill()'s name argument must be a String"},
		{`skill("a", 1, [])`, "skill()'s description argument must be a String"},
		{`skill("a", "d", 1)`, "skill()'s tools argument must be an Array, got Int"},
		{`skill("a", "d", [])`, "skill 'a' needs at least one tool"},
		{`skill("a", "d", [1])`, "only tools declared with 'tool' (or 'async tool') are accepted here, got Int"},
		{"async tool t() \"d\":\n    return 1\nskill(\"a\", \"d\", [t])", "tool 't' is async -- async tools aren't supported here yet (its result is a pending Future, not a value)"},
		{"tool t():\n    return 1\nskill(\"a\", \"d\", [t])", `tool 't' has no description -- add one to expose it to a model, e.g. 'tool t(...) "what it does":'`},
		{"tool t() \"d\":\n    return 1\nskill(\"a\", \"d\", [t]).nope", "skill 'a' has no member 'nope'"},
	})
}

func TestMessagesOfModels(t *testing.T) {
	const mock = "model m = inference(\"mock\")\n"
	const noModel = " has no model configured — declare one (e.g. inference(\"mock\")) and activate it with 'set delegation = <model>' first"
	fails(t, []wording{
		{`inference(1)`, "inference()'s provider argument must be a String"},
		{`inference("nope")`, "inference(): unknown provider 'nope' -- supported: anthropic, auto, mock, ollama, openai, openai-compatible"},
		{`inference("mock", 1)`, `inference("mock")'s name argument must be a String`},
		{`inference("mock", response_template: 1)`, `inference("mock")'s response_template option must be a String`},
		{`inference("mock", confidence: "x")`, `inference("mock")'s confidence option must be a number`},
		{`inference("openai", 1)`, "inference()'s model_id argument must be a String"},
		{`inference("openai")`, "inference() needs the 'OPENAI_API_KEY' environment variable set to a real API key"},
		{`inference("anthropic")`, "inference() needs the 'ANTHROPIC_API_KEY' environment variable set to a real API key"},
		{`inference("openai", api_key_env: "EMPTY")`, "inference() needs the 'EMPTY' environment variable set to a real API key"},
		{`inference("openai", api_key_env: 1)`, "inference()'s api_key_env option must be a String"},
		{`inference("openai", api_key_env: "KEY", temperature: "x")`, "inference()'s temperature option must be a number"},
		{`inference("openai", api_key_env: "KEY", max_tokens: 1.5)`, "inference()'s max_tokens option must be an Int"},
		{`model m = 1`, "'model m' expects a Model, got Int"},
		{`set delegation = 1`, "'set delegation' requires a Model value, got Int"},
		{`set nope = 1`, "unknown 'set' target 'nope' (only 'delegation' is supported so far)"},
		{`ask("q")`, "ask()" + noModel},
		{mock + "set delegation = m\nask(1)", "ask() expects a String prompt, got Int"},
		{mock + `m.ask(1)`, "ask() expects a String prompt, got Int"},
		{mock + `m.nope`, "model 'm' has no member 'nope'"},
		{mock + `m.ask("q").nope`, "answer has no member 'nope'"},
		{"model o = inference(\"openai\", api_key_env: \"KEY\")\npolicy: deny model.openai\no.ask(\"q\")", "model 'o' requires capability 'model.openai', which is denied by policy"},
		{`ask_with_memory("q", 1)`, "ask_with_memory()" + noModel},
		{mock + "set delegation = m\nask_with_memory(\"q\", 1)", "ask_with_memory() expects a Memory, got Int"},
		{mock + "memory k\nset delegation = m\nask_with_memory(1, k)", "ask_with_memory() expects a String prompt, got Int"},
		{`ask_with_tools("q", [])`, "ask_with_tools() has no model configured — declare one (e.g. model claude = inference(\"anthropic\")) and activate it with 'set delegation = <model>' first"},
		{mock + "set delegation = m\nask_with_tools(\"q\", 1)", "ask_with_tools() expects an Array of tools, got Int"},
		{mock + "set delegation = m\nask_with_tools(1, [])", "ask_with_tools() expects a String prompt, got Int"},
		{mock + "set delegation = m\nask_with_tools(\"q\", [1])", "only tools declared with 'tool' (or 'async tool') are accepted here, got Int"},
		{mock + "tool t():\n    return 1\nset delegation = m\nask_with_tools(\"q\", [t])", `tool 't' has no description -- add one to expose it to a model, e.g. 'tool t(...) "what it does":'`},
		{mock + "async tool t() \"d\":\n    return 1\nset delegation = m\nask_with_tools(\"q\", [t])", "tool 't' is async -- async tools aren't supported here yet (its result is a pending Future, not a value)"},
		{mock + "tool t() \"d\":\n    return 1\nset delegation = m\nask_with_tools(\"q\", [t, t])", "duplicate tool name 't' across the given tools/skills"},
		{"tool t() \"d\":\n    return 1\nmodel s = inference(\"mock\", script: [" + strings.Repeat(`{"call": "t"}, `, 10) + `{"call": "t"}` + "])\nset delegation = s\nask_with_tools(\"q\", [t])",
			"model 's' did not produce a final answer within 10 tool-call iterations"},
		{`connect_mcp("a", "b")`, "connect_mcp() expects (name: String, command: String, args: Array<String>, capability: String = nil)"},
		{`connect_mcp(1, "c", [])`, "connect_mcp()'s name argument must be a String"},
		{`connect_mcp("n", 1, [])`, "connect_mcp()'s command argument must be a String"},
		{`connect_mcp("n", "c", 1)`, "connect_mcp()'s args argument must be an Array of Strings"},
		{`connect_mcp("n", "c", [1])`, "connect_mcp()'s args argument must be an Array of Strings"},
		{`connect_mcp("n", "c", [], 1)`, "connect_mcp()'s capability argument must be a String"},
	})
}

// TestConversions compares int() and float() of text with Python's.
func TestConversions(t *testing.T) {
	b, err := os.ReadFile("testdata/convert.txt")
	if err != nil {
		t.Fatal(err)
	}
	var src, want strings.Builder
	src.WriteString("def read(f, s):\n    try:\n        return str(f(s))\n    catch e:\n        return \"!\"\n")
	for line := range strings.Lines(string(b)) {
		if line[0] == '#' {
			continue
		}
		quoted, rest, _ := strings.Cut(line[1:], `" `)
		text, err := strconv.Unquote(`"` + quoted + `"`)
		if err != nil {
			t.Fatal(err)
		}
		src.WriteString("print(read(int, \"" + text + "\"), read(float, \"" + text + "\"))\n")
		want.WriteString(rest)
	}
	(&program{}).prints(t, src.String(), want.String())
}
