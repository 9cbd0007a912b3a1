package builtins_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sense-lang/sense/model/modeltest"
)

// counting is a program whose tool counts its calls.
const counting = `model m = inference("anthropic", "x", max_turns: %d)
set delegation = m
n = 0
tool t() "counts":
    n += 1
    return f"{n}"
try:
    print(ask_with_tools("go", [t]).value)
catch e:
    print("ended:", e.message)
print(f"ran {n}")
`

// flood gives turns of calls each.
func flood(turns, calls int) []modeltest.Turn {
	var out []modeltest.Turn
	for range turns {
		var cs []modeltest.Call
		for range calls {
			cs = append(cs, modeltest.CallOf("t", `{}`))
		}
		out = append(out, modeltest.Calls(cs...))
	}
	return out
}

// TestFloods lets a model ask for calls without end: it gets 10 rounds, 32
// calls a turn and 200 calls a run, and the audit has every call that ran.
func TestFloods(t *testing.T) {
	tests := []struct {
		name                     string
		max, turns, calls, want  int
		perTurn, perRun, endless bool
	}{
		{name: "loop", max: 10, turns: 10, calls: 1, want: 10, endless: true},
		{name: "many", max: 10, turns: 1, calls: 1000, want: 32, perTurn: true},
		{name: "many in each turn", max: 10, turns: 10, calls: 32, want: 200, perRun: true, endless: true},
		{name: "more turns", max: 300, turns: 250, calls: 1, want: 200, perRun: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			turns := flood(tt.turns, tt.calls)
			if !tt.endless {
				turns = append(turns, modeltest.Text("done"))
			}
			var p program
			asked := asks(t, &p, fmt.Sprintf(counting, tt.max), turns...)
			if !strings.Contains(p.out.String(), fmt.Sprintf("ran %d\n", tt.want)) {
				t.Errorf("want %d calls: %s", tt.want, p.out.String())
			}
			if got := strings.Count(p.audit, "tool 't' -> called"); got != tt.want {
				t.Errorf("the audit has %d calls, %d ran", got, tt.want)
			}
			if ended := strings.Contains(p.out.String(), "ended: model 'm' did not produce"); ended != tt.endless {
				t.Errorf("it ended like this: %s", p.out.String())
			}
			last := string(asked[len(asked)-1].Raw)
			if strings.Contains(last, "too many calls in one turn (limit 32)") != tt.perTurn || strings.Contains(last, "too many calls in one run (limit 200)") != tt.perRun {
				t.Errorf("the model was told: %.500s", last)
			}
		})
	}
}

// answers are texts that something might take for more than text.
var answers = []string{
	"{prompt}", "{0}", "{x!r:>10}", "{{}}", "%s %d %n %", "%(name)s", "${HOME} $(id) `id`", "__class__ {x.__class__.__mro__}", "<script>alert(1)</script>",
	"{{7*7}} {% raw %}", "f\"{1+1}\"", "print(1)", "call t {}", "\\n \\x41 \\u0041", "policy:\n    allow everything\n", "‹redacted:00000000›", "a\tb\r\nc", "\u202eabc\u202c", "e\u0301 👩‍👩‍👧 ۱۲", "'; DROP TABLE x; --", `{"value": 1}`, "nil", "true",
}

// TestAnswersAreData takes every text through ask, ask_with_tools, a tool's
// result, text made of it and a memory: it is the same at the end, byte for
// byte, and nothing in it ran.
func TestAnswersAreData(t *testing.T) {
	for _, a := range answers {
		var p program
		asked := asks(t, &p, `model m = inference("anthropic")
set delegation = m
tool t(x: String) "gives it back":
    return x
memory mem: "x"
a = ask("one {prompt} %s")
b = ask_with_tools("two", [t])
mem.remember("k", a.value)
print(a.value)
print("--")
print(f"{b.value}")
print("--")
print(mem.recall("k"))
`, modeltest.Text(a), modeltest.Calls(modeltest.CallOf("t", `{"x":`+quoted(a)+`}`)), modeltest.Text(a))
		if want := a + "\n--\n" + a + "\n--\n" + a + "\n"; p.out.String() != want {
			t.Errorf("%q came out as %q", a, p.out.String())
		}
		if !strings.Contains(string(asked[0].Raw), "one {prompt} %s") {
			t.Errorf("the prompt went out as %s", asked[0].Raw)
		}
		if got := results(t, asked[2]); len(got) != 1 || unquoted(t, got[0]) != a {
			t.Errorf("the model got %q for %q", got, a)
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always can be
	return string(b)
}

// unquoted reads a text that may stand as a JSON string.
func unquoted(t *testing.T, s string) string {
	t.Helper()
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	var out string
	if err := json.Unmarshal([]byte(s), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
