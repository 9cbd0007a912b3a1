package sense_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/model/modeltest"
)

// modelCase is a fault of model services or of what models write, named after its
// row: what the service answers, a script, what it prints, and how often the
// service is asked.
type modelCase struct {
	id    string
	wires []modeltest.Wire // nil means both
	turns []modeltest.Turn
	src   string
	out   string
	asked int
}

// toolLoop has a model use three tools, one of which policy denies.
const toolLoop = `made = []
tool add(a: Int, b: Int) returns Int "Adds":
    made.push([a, b])
    return a + b
tool ping() returns String "Has an effect":
    made.push("ping")
    return "pong"
tool quiet() returns String "Says nothing": return ""
tool secret() returns String requires vault.read "Is denied": return "never"
policy: deny vault.read
try:
    print(ask_with_tools("go", [add, ping, quiet, secret]).value)
catch e:
    print(e.kind, e.message)
print(made)
`

const plainAsk = "try:\n    a = ask(\"q\")\n    print(a.value, a.truncated)\ncatch e:\n    print(e.kind, e.message)\n"

var (
	onOpenAI    = []modeltest.Wire{modeltest.OpenAI}
	onAnthropic = []modeltest.Wire{modeltest.Anthropic}
)

func loopOf(n int, t modeltest.Turn) []modeltest.Turn {
	turns := make([]modeltest.Turn, n)
	for i := range turns {
		turns[i] = t
	}
	return turns
}

func calls(list ...string) modeltest.Turn {
	var out []modeltest.Call
	for i := 0; i < len(list); i += 2 {
		out = append(out, modeltest.CallOf(list[i], list[i+1]))
	}
	return modeltest.Calls(out...)
}

var noID = ""

var modelCases = []modelCase{
	{"B01", onOpenAI, []modeltest.Turn{calls("add", `"{\"a\": "`, "add", `{"a": 2, "b": 1}`), modeltest.Text("@results")}, toolLoop,
		"error: the arguments are no valid JSON: unexpected end of JSON input|3\n[[2, 1]]\n", 2},
	{"B03", onOpenAI, []modeltest.Turn{calls("ping", `"{\"a\": "`), modeltest.Text("@results")}, toolLoop,
		"error: the arguments are no valid JSON: unexpected end of JSON input\n[]\n", 2},
	{"B04", onOpenAI, []modeltest.Turn{{Calls: []modeltest.Call{{Name: "add", Arguments: []byte(`{"a":1,"b":2}`), ID: &noID}}}, modeltest.Text("@results")}, toolLoop,
		"3\n[[1, 2]]\n", 2},
	{"B05", onOpenAI, []modeltest.Turn{{Calls: []modeltest.Call{{Name: "add", Arguments: []byte(`{"a":1,"b":2}`), ID: &noID}, {Name: "add", Arguments: []byte(`{"a":3,"b":4}`), ID: &noID}}}, modeltest.Text("@results")}, toolLoop,
		"3|7\n[[1, 2], [3, 4]]\n", 2},
	{"B07", onOpenAI, []modeltest.Turn{{Text: &half, Finish: "length"}}, plainAsk, "half an ans true\n", 1},
	{"B07", onAnthropic, []modeltest.Turn{{Text: &half, Finish: "max_tokens"}}, plainAsk, "half an ans true\n", 1},
	{"B08", nil, []modeltest.Turn{calls("ping", `{}`, "secret", `{}`, "nope", `{}`), modeltest.Text("@results")}, toolLoop,
		"pong|error: [line 14] tool 'secret' requires capability 'vault.read', which is denied by policy|error: no such tool 'nope' -- the tools are: add, ping, quiet, secret\n[ping]\n", 2},
	{"B09", nil, []modeltest.Turn{calls("quiet", `{}`), modeltest.Text("fine")}, toolLoop, "fine\n[]\n", 2},
	{"B09/empty prompt", nil, nil, strings.Replace(plainAsk, `"q"`, `""`, 1), "model model 'm' failed: the prompt is empty\n", 0},
	{"B12", nil, []modeltest.Turn{calls("nope", `{}`), modeltest.Text("@results")}, toolLoop, "error: no such tool 'nope' -- the tools are: add, ping, quiet, secret\n[]\n", 2},
	{"B13", nil, loopOf(11, calls("ping", `{}`)), toolLoop,
		"model model 'm' did not produce a final answer within 10 tool-call iterations\n[" + strings.Repeat("ping, ", 9) + "ping]\n", 10},
	{"B13/unknown", nil, loopOf(11, calls("nope", `{}`)), toolLoop,
		"model model 'm' did not produce a final answer within 10 tool-call iterations\n[]\n", 10},
	{"B15", onOpenAI, []modeltest.Turn{modeltest.Status(429, `{"error":{"message":"no credit","code":"insufficient_quota"}}`), modeltest.Text("late")}, plainAsk,
		"model model 'm' failed: HTTP 429 Too Many Requests: no credit\n", 1},
	{"B22/no JSON", nil, []modeltest.Turn{modeltest.Raw("hello"), modeltest.Text("late")}, plainAsk, "model model 'm' failed: the answer is not valid JSON (invalid character 'h' looking for beginning of value): hello\n", 1},
	{"B22/no choices", onOpenAI, []modeltest.Turn{modeltest.Raw(`{"choices":[]}`)}, plainAsk, "model model 'm' failed: the answer holds no message (no choices)\n", 1},
	{"B22/cut stream", onOpenAI, []modeltest.Turn{{Text: &half, CutAt: 300}}, `try:
    ask("q", stream: true)
catch e:
    print(e.kind, e.message)
`, "half an\nmodel model 'm' failed: HTTP 500 Internal Server Error: stub has no turn left\n", 3},
	{"B22/negative usage", nil, []modeltest.Turn{{Text: &half, Usage: &modeltest.Usage{PromptTokens: -100, CompletionTokens: 5}}, modeltest.Text("more")}, `set budget = {"tokens": 5}
print(ask("q").usage["input_tokens"])
try:
    ask("q")
catch e:
    print(e.message)
`, "0\nthe budget is used up (5 of 5 tokens)\n", 1},
	{"B23/missing", nil, []modeltest.Turn{calls("add", `{"b": 1}`), modeltest.Text("@results")}, toolLoop, "error: argument 'a' of 'add' is missing\n[]\n", 2},
	{"B23/one more", nil, []modeltest.Turn{calls("add", `{"a":1,"b":2,"zz":3}`), modeltest.Text("@results")}, toolLoop, "3\n[[1, 2]]\n", 2},
	{"B23/text", nil, []modeltest.Turn{calls("add", `{"a":"5","b":2}`), modeltest.Text("@results")}, toolLoop, "error: [line 14] argument 'a' of 'add' expects Int, got String\n[]\n", 2},
	{"B23/5.0", nil, []modeltest.Turn{calls("add", `{"a":5.0,"b":2}`), modeltest.Text("@results")}, toolLoop, "error: [line 14] argument 'a' of 'add' expects Int, got Float\n[]\n", 2},
}

var half = "half an ans"

// TestHardCasesOfModels runs the rows of group B that show in a script, on the
// wires on which they can happen. The stand-ins refuse what the vendors refuse: a
// call without a result, a result without a call, an empty text.
func TestHardCasesOfModels(t *testing.T) {
	for _, c := range modelCases {
		wires := c.wires
		if wires == nil {
			wires = []modeltest.Wire{modeltest.OpenAI, modeltest.Anthropic}
		}
		for _, wire := range wires {
			t.Run(c.id+"/"+string(wire), func(t *testing.T) {
				vendor := modeltest.New(wire, c.turns...)
				defer vendor.Close()
				var out bytes.Buffer
				r := sense.New(t.Context(), sense.Options{Stdout: &out, HTTPClient: vendor.Client(), Getenv: func(name string) string {
					return map[string]string{"OPENAI_API_KEY": "test-key", "ANTHROPIC_API_KEY": "test-key", "OPENAI_BASE_URL": vendor.URL, "ANTHROPIC_BASE_URL": vendor.URL}[name]
				}})
				defer r.Close()
				if err := r.RunSource("run.sns", `model m = inference("`+string(wire)+"\")\nset delegation = m\n"+c.src); err != nil {
					t.Fatal(err)
				}
				if out.String() != c.out || len(vendor.Requests()) != c.asked {
					t.Errorf("asked %d times, want %d; printed\n%swant\n%s", len(vendor.Requests()), c.asked, out.String(), c.out)
				}
			})
		}
	}
}
