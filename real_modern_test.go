//go:build linux

package sense_test

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"

	"github.com/sense-lang/sense/internal/real"
	"github.com/sense-lang/sense/model/modeltest"
)

// TestRealModern works with a server of revision 2026-07-28, the one that the
// official Go library is tested with. What it needs to know it asks for in its
// results, which no older revision has.
func TestRealModern(t *testing.T) {
	real.Need(t)
	t.Parallel()
	program := real.Build(t, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	port := real.Port(t)
	url := serving(t, exec.Command(program, "-http", "127.0.0.1:"+itoa(port)), port)
	c := realCase{
		script: `s = connect_mcp("modern", url: "` + url + `", capability: "mcp.modern")
policy:
    allow mcp.modern
    allow mcp.sampling
    allow mcp.roots
` + modelPart + `
print(len(s.tools))
print(s.call("test_simple_text"))
print(s.call("test_image_content"))
print(s.call("test_embedded_resource"))
print(s.call("test_multiple_content_types"))
print(s.call("test_tool_with_progress"))
print(s.call("test_input_required_result_sampling"))
print(s.call("test_input_required_result_list_roots"))
try:
    s.call("test_input_required_result_elicitation")
catch e:
    print(e)
print(s.call("test_x_mcp_header", region: "eu-west", level: 3))
print(s.read("test://static-text"))
print(s.prompt("test_prompt_with_arguments", arg1: "x", arg2: "y")["text"])
try:
    s.call("test_error_handling")
catch e:
    print(e)
print(ask_with_tools("go on", s.tools).value)
`,
		args: []string{"--fs-root", "DIR"},
		turns: []modeltest.Turn{
			modeltest.Text("Paris"),
			modeltest.Calls(modeltest.CallOf("modern.test_simple_text", `{}`)),
			modeltest.Text("@results"),
		},
		want: []string{"28\nThis is a simple text response for testing.\n[image image/png, 70 bytes]\nThis is an embedded resource\n",
			"Sampling response: Paris\nClient exposed 1 root(s): file://DIR\n",
			"failed: the server keeps asking for input\n", // an elicitation that nobody answers
			"region=eu-west\nThis is the content of the static text resource.\nPrompt with arguments: arg1='x', arg2='y'\n",
			"failed: this tool intentionally returns an error for testing\nThis is a simple text response for testing.\n"},
	}
	c.run(t, workFolder(t))
}

// TestRealBrowser has a model open a local page in a browser by the server of
// Playwright, and reads and clicks it directly.
func TestRealBrowser(t *testing.T) {
	real.Need(t)
	t.Parallel()
	chromium := real.Command(t, "chromium")
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<title>Tea &amp; Söhne</title><h1>Welcome</h1><button onclick="document.querySelector('h1').textContent='Clicked'">Go</button>`))
	}))
	defer site.Close()
	c := realCase{
		script: "p = " + connectNode(t, "playwright", "@playwright/mcp/cli.js",
			"--headless", "--isolated", "--no-sandbox", "--executable-path", chromium, "--output-dir", "DIR/out") + `
policy:
    allow mcp.playwright
` + modelPart + `
print(len(p.tools))
print(ask_with_tools("open the page", p.tools).value)
print(p.call("browser_evaluate", function: "() => document.querySelector('h1').textContent"))
print(p.call("browser_evaluate", function: "() => document.querySelector('button').click()"))
print(p.call("browser_snapshot"))
print(p.call("browser_take_screenshot", scale: "css"))
p.call("browser_close")
`,
		turns: []modeltest.Turn{
			modeltest.Calls(modeltest.CallOf("playwright.browser_navigate", `{"url": "`+site.URL+`"}`)),
			modeltest.Text("@results"),
		},
		want: []string{"25\n", "Page Title: Tea & Söhne", `"Welcome"`, `heading "Clicked"`, "[image image/"},
	}
	c.run(t, workFolder(t))
}
