package builtins_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/model/modeltest"
)

const askTest = connectTest + `model m = inference("anthropic")
set delegation = m
`

// asks runs a source with a stand-in for Anthropic that plays turns, and gives
// what was asked of it.
func asks(t *testing.T, p *program, src string, turns ...modeltest.Turn) []modeltest.Request {
	t.Helper()
	vendor := modeltest.New(modeltest.Anthropic, turns...)
	defer vendor.Close()
	if p.env == nil {
		p.env = map[string]string{}
	}
	p.env["ANTHROPIC_API_KEY"], p.env["ANTHROPIC_BASE_URL"] = "test-key", vendor.URL
	p.options.HTTPClient = vendor.Client()
	if err := p.run(t, src); err != nil {
		t.Fatalf("%v\n%s", err, p.out.String())
	}
	if n := vendor.Left(); n != 0 {
		t.Errorf("%d turns were not asked for", n)
	}
	return vendor.Requests()
}

// results gives the texts of the tool results in the last message of a request.
func results(t *testing.T, r modeltest.Request) []string {
	t.Helper()
	var body struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil || len(body.Messages) == 0 {
		t.Fatalf("no messages: %s", r.Raw)
	}
	var blocks []struct {
		Type    string          `json:"type"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(body.Messages[len(body.Messages)-1].Content, &blocks); err != nil {
		t.Fatalf("no blocks: %v", err)
	}
	var out []string
	for _, b := range blocks {
		if b.Type != "tool_result" {
			continue
		}
		var inner []struct{ Text string }
		text := string(b.Content)
		if json.Unmarshal(b.Content, &inner) == nil && len(inner) == 1 {
			text = inner[0].Text
		}
		out = append(out, text)
	}
	return out
}

// offered gives the names of the tools a request offers.
func offered(r modeltest.Request) []string {
	tools, _ := r.Body["tools"].([]any)
	var out []string
	for _, t := range tools {
		m, _ := t.(map[string]any)
		name, _ := m["name"].(string)
		out = append(out, name)
	}
	return out
}

func TestReadOnlyCallsRunSideBySide(t *testing.T) {
	var p program
	asked := asks(t, &p, askTest+`print(ask_with_tools("go", s.tools).value)`,
		modeltest.Calls(modeltest.CallOf("srv.meet", `{}`), modeltest.CallOf("srv.meet", `{}`)), modeltest.Text("done"))
	if got := strings.Join(results(t, asked[1]), ","); !strings.Contains(got, "met first") || !strings.Contains(got, "met second") {
		t.Errorf("results %s", got)
	}
	if n := strings.Count(p.audit, "tool 'srv.meet' -> called"); n != 2 {
		t.Errorf("audit:\n%s", p.audit)
	}
}

// The server answers a call of meet "alone" when what comes next is no call.
func TestOtherCallsRunInOrder(t *testing.T) {
	for name, tt := range map[string]struct{ options, second string }{
		"one does more than read": {"", "srv.args"},
		"limited":                 {", max_parallel: 1", "srv.echo"},
	} {
		var p program
		asked := asks(t, &p, askTest+`print(ask_with_tools("go", s.tools`+tt.options+`).value)`,
			modeltest.Calls(modeltest.CallOf("srv.echo", `{"text":"1"}`), modeltest.CallOf(tt.second, `{"text":"2"}`)), modeltest.Text("done"))
		if got := results(t, asked[1]); len(got) != 2 || got[0] != "1" || !strings.Contains(got[1], "2") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestErrorsSideBySide(t *testing.T) {
	var p program
	asked := asks(t, &p, askTest+"policy:\n    allow mcp.srv\n    deny mcp.srv.big\n"+`print(ask_with_tools("go", s.tools).value)`,
		modeltest.Calls(modeltest.CallOf("srv.echo", `{"text":"fine"}`), modeltest.CallOf("srv.echo", `{}`), modeltest.CallOf("srv.big", `{"n":1}`)),
		modeltest.Text("done"))
	got := results(t, asked[1])
	if len(got) != 3 || got[0] != "fine" || !strings.Contains(got[1], "argument 'text' is missing") || !strings.Contains(got[2], "denied by policy") {
		t.Errorf("results %q", got)
	}
	for _, want := range []string{"tool 'srv.echo' -> called", "tool 'srv.echo' -> failed", "tool 'srv.big' -> denied"} {
		if !strings.Contains(p.audit, want) {
			t.Errorf("the audit lacks %s:\n%s", want, p.audit)
		}
	}
}

var savedPath = regexp.MustCompile(`file (\S+);`)

func TestLongOutputGoesToAFile(t *testing.T) {
	p := program{env: map[string]string{"MAX_MCP_OUTPUT_TOKENS": "500"}}
	folder := t.TempDir()
	p.options.MCP.Folder = func() (string, error) { return folder, nil }
	vendor := modeltest.New(modeltest.Anthropic, modeltest.Calls(modeltest.CallOf("srv.big", `{"n":1000}`)))
	defer vendor.Close()
	vendor.Add(modeltest.Calls(
		modeltest.CallOf("read_output", `{"path":"`+folder+`/output-1.txt","from":998,"lines":5}`),
	), modeltest.Calls(modeltest.CallOf("read_output", `{"path":"`+folder+`/output-1.txt"}`)),
		modeltest.Calls(modeltest.CallOf("read_output", `{"path":"/etc/passwd"}`), modeltest.CallOf("read_output", `{"path":"`+folder+`/output-1.txt","from":5000}`)),
		modeltest.Text("done"))
	p.env["ANTHROPIC_API_KEY"], p.env["ANTHROPIC_BASE_URL"] = "test-key", vendor.URL
	p.options.HTTPClient = vendor.Client()
	if err := p.run(t, askTest+`print(ask_with_tools("go", [s.tools["big"]]).value)`); err != nil {
		t.Fatal(err)
	}
	asked := vendor.Requests()
	first := results(t, asked[1])[0]
	if !strings.HasPrefix(first, "line 1\nline 2\n") || !strings.Contains(first, "the beginning of 8893 characters in 1000 lines") || len(first) > 2300 {
		t.Errorf("%d: %s", len(first), first)
	}
	if m := savedPath.FindStringSubmatch(first); m == nil || m[1] != folder+"/output-1.txt" {
		t.Errorf("path %q", m)
	}
	if st, err := os.Stat(folder + "/output-1.txt"); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	if got := offered(asked[0]); len(got) != 1 {
		t.Errorf("offered at first: %q", got)
	}
	if got := offered(asked[1]); len(got) != 2 || got[1] != "read_output" {
		t.Errorf("offered then: %q", got)
	}
	if got := results(t, asked[2])[0]; got != "line 998\nline 999\nline 1000\n" {
		t.Errorf("read on: %q", got)
	}
	if got := results(t, asked[3])[0]; !strings.HasPrefix(got, "line 1\n") || !strings.Contains(got, "of 1000]") || len(got) > 2000 {
		t.Errorf("read from the start: %d %q", len(got), got)
	}
	if got := results(t, asked[4]); !strings.Contains(got[0], "there is no saved output '/etc/passwd'") || !strings.Contains(got[1], "there are lines 1 to 1000") {
		t.Errorf("refused: %q", got)
	}
}

func TestSavedOutputIsRemoved(t *testing.T) {
	p := program{env: map[string]string{"MAX_MCP_OUTPUT_TOKENS": "100"}}
	asked := asks(t, &p, askTest+`ask_with_tools("go", s.tools)`, modeltest.Calls(modeltest.CallOf("srv.big", `{"n":1000}`)), modeltest.Text("done"))
	m := savedPath.FindStringSubmatch(results(t, asked[1])[0])
	if m == nil {
		t.Fatal("no path")
	}
	if _, err := os.Stat(m[1]); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", m[1], err)
	}
}

func TestToolSearch(t *testing.T) {
	var p program
	src := strings.Replace(askTest, "MODE", "many", 1)
	asked := asks(t, &p, src+`print(ask_with_tools("go", s.tools).value)`,
		modeltest.Calls(modeltest.CallOf("search_tools", `{"query":"number 77"}`)),
		modeltest.Calls(modeltest.CallOf("search_tools", `{"query":"x123"}`), modeltest.CallOf("search_tools", `{"query":"zzzz"}`)),
		modeltest.Calls(modeltest.CallOf("mcp__srv__echo", `{"text":"unasked"}`)),
		modeltest.Text("done"))
	if got := offered(asked[0]); len(got) != 1 || got[0] != "search_tools" {
		t.Errorf("offered at first: %q", got)
	}
	if !strings.Contains(string(asked[0].Raw), "mcp__srv__tool_299") || len(asked[0].Raw) > 20_000 {
		t.Errorf("the search does not name the tools, or names too much: %d bytes", len(asked[0].Raw))
	}
	if got := results(t, asked[1])[0]; !strings.Contains(got, "mcp__srv__tool_77:") {
		t.Errorf("found %s", got)
	}
	if got := offered(asked[1]); len(got) < 2 {
		t.Errorf("offered after the search: %q", got)
	}
	if got := results(t, asked[2]); !strings.Contains(got[0], "mcp__srv__tool_123") || !strings.Contains(got[1], "No tool fits") {
		t.Errorf("found %q", got)
	}
	if got := results(t, asked[3])[0]; got != "unasked" {
		t.Errorf("a tool called by name gave %q", got)
	}
}

func TestToolSearchOptions(t *testing.T) {
	for option, want := range map[string]int{"true": 1, "false": 14, `"auto"`: 14, `"auto:0.01"`: 1, `"auto:100"`: 14} {
		var p program
		asked := asks(t, &p, askTest+`print(ask_with_tools("go", s.tools, tool_search: `+option+`).value)`, modeltest.Text("done"))
		if got := offered(asked[0]); len(got) != want {
			t.Errorf("%s: %d tools offered", option, len(got))
		}
	}
	for src, want := range map[string]string{
		`ask_with_tools("x", s.tools, tool_search: "x")`:                          `ask_with_tools()'s tool_search option must be true, false or "auto:N"`,
		`ask_with_tools("x", s.tools, max_parallel: 0)`:                           "ask_with_tools()'s max_parallel option must be an Int from 1 to 64",
		`ask_with_tools("x", s.tools, resources: "x")`:                            "ask_with_tools()'s resources option must be an Array, got String",
		`ask_with_tools("x", s.tools, resources: [5])`:                            "ask_with_tools()'s resources must be Maps of .resources() or .prompt(), or Strings, got Int",
		`ask_with_tools("x", s.tools, resources: [{"uri": ""}])`:                  "ask_with_tools()'s resources must be Maps with 'server' and 'uri'",
		`ask_with_tools("x", s.tools, resources: [{"uri": "a", "server": "no"}])`: "ask_with_tools()'s resource 'a' is of a server 'no' that is not connected",
		`ask_with_tools("x", s.tools, nothing: 1)`:                                "'ask_with_tools' does not accept labeled arguments (nothing)",
		`ask("x", tool_search: true)`:                                             "'ask' does not accept labeled arguments (tool_search)",
	} {
		var p program
		p.fails(t, connectTest+"model m = inference(\"mock\", \"m\", script: [\"x\"])\nset delegation = m\n"+src, want)
	}
}

func TestResourcesInPrompts(t *testing.T) {
	var p program
	asked := asks(t, &p, askTest+`print(ask_with_tools("go", [], resources: [s.resources()[0], "some text", s.prompt("greet", who: "Ann")]).value)`, modeltest.Text("done"))
	var body struct {
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(asked[0].Raw, &body); err != nil {
		t.Fatal(err)
	}
	text := string(body.Messages[0].Content)
	for _, want := range []string{"Resource test://a of srv (5 characters):\\nhello", "some text", "greet {", "go"} {
		if !strings.Contains(text, want) {
			t.Errorf("the prompt lacks %q: %s", want, text)
		}
	}
	if !strings.Contains(p.audit, "tool 'srv:test://a' -> called") {
		t.Errorf("audit:\n%s", p.audit)
	}
}

func TestImagesReachTheModel(t *testing.T) {
	var p program
	asked := asks(t, &p, askTest+`print(ask_with_tools("go", s.tools).value)`, modeltest.Calls(modeltest.CallOf("srv.image", `{}`)), modeltest.Text("done"))
	if got := results(t, asked[1])[0]; !strings.Contains(got, "[image image/png, 2 bytes]") || !strings.Contains(got, "aGk=") {
		t.Errorf("got %s", got)
	}
}

// What a server says of its tools reaches a model without what nobody sees, and
// never too long.
func TestDescriptionsAreCleaned(t *testing.T) {
	hidden := "Read\u202e this\x1b[31m and\u200b that\U000E0041."
	for _, desc := range []string{hidden, strings.Repeat("é", 5000)} {
		var p program
		src := strings.Replace(askTest, "MODE", "describe:"+strings.ReplaceAll(desc, "\x1b", `\x1b`), 1)
		src = strings.ReplaceAll(src, `\x1b`, "\x1b")
		asked := asks(t, &p, src+`print(ask_with_tools("go", s.tools).value)`, modeltest.Text("done"))
		tools := asked[0].Body["tools"].([]any)
		got := tools[0].(map[string]any)["description"].(string)
		if strings.ContainsFunc(got, diag.Hidden) || len(got) > 4096 || !strings.HasPrefix(got, "Read this[31m and that.") && !strings.HasPrefix(got, "éé") {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}

func TestDefaultsOfToolsAreKept(t *testing.T) {
	var p program
	asked := asks(t, &p, askTest+`tool pad(x: Int, by: Int = 10) "Adds":
    return x + by
print(ask_with_tools("go", [pad]).value)`, modeltest.Calls(modeltest.CallOf("pad", `{"x":1}`)), modeltest.Text("done"))
	if got := results(t, asked[1])[0]; got != "11" {
		t.Errorf("got %s", got)
	}
}
