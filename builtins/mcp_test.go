package builtins_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/diag"
)

// program is a program of a test with what it may use.
type program struct {
	options sense.Options
	env     map[string]string
	stdin   string
	folder  string
	out     bytes.Buffer
	errors  bytes.Buffer
	audit   string
	warned  []string
}

// run runs a source in which SELF stands for the test server's command line up
// to its mode, and gives its error.
func (p *program) run(t *testing.T, src string) error {
	t.Helper()
	if p.folder == "" {
		p.folder = t.TempDir()
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	self := `command: "` + exe + `", args: ["` + serverArg + `"`
	src = strings.NewReplacer("SELF", self, "EXE", exe).Replace(src)
	p.out.Reset()
	p.options.Stdout, p.options.Stderr = &p.out, &p.errors
	p.options.Stdin = strings.NewReader(p.stdin)
	p.options.Getenv = func(name string) string { return p.env[name] }
	p.options.Warn = func(s string) { p.warned = append(p.warned, s) }
	r := sense.New(context.Background(), p.options)
	err = r.RunSource(filepath.Join(p.folder, "script.sns"), src)
	p.audit = strings.Join(r.Audit().Lines(), "\n")
	for _, e := range r.Close() {
		t.Errorf("left: %v", e)
	}
	return err
}

// prints runs a source and compares what it printed.
func (p *program) prints(t *testing.T, src, want string) {
	t.Helper()
	if err := p.run(t, src); err != nil {
		t.Fatalf("%v\n%s", err, p.out.String())
	}
	if got := strings.TrimSpace(p.out.String()); got != strings.TrimSpace(want) {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}

// fails runs a source and looks for a text in its error.
func (p *program) fails(t *testing.T, src, want string) {
	t.Helper()
	err := p.run(t, src)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s\n got %v\nwant %s", src, err, want)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("not one line: %q", err)
	}
}

const connectTest = `s = connect_mcp("srv", SELF, "MODE"], capability: "mcp.srv", timeout: 30, connect_timeout: 30)
`

func TestMembers(t *testing.T) {
	var p program
	p.prints(t, connectTest+`print(s.name, s.status, s.error, s.instructions, len(s.tools))
print(s)
e = s.tools["echo"]
print(e.name, e.description, e.schema, e.server.name, e.annotations)
print(s.tools["args"].description, s.tools["args"].annotations)
print(find(s.tools, "echo") == e)
print(s.ping())
print(s.resources())
print(s.resource_templates())
print(s.read("test://a"))
s.subscribe("test://a")
u = []
while len(u) == 0: u = s.updated()
print(u, s.updated())
print(s.prompts())
print(s.prompt("greet", who: "Ann", n: 5))
print(s.prompt("greet", {"who": "Bo"})["messages"][1])
print(s.complete(prompt: "greet", argument: "city", value: "Pa"))
print(s.complete(template: "test://{x}", argument: "x", value: "", known: {"y": "1"}))
s.reconnect()
print(s.status, mcp_status())
s.close()
print(s.status, mcp_status())
`, `srv connected nil be kind 14
<mcp server srv (14 tools)>
echo Gives its text back {type: object, properties: {text: {type: string}}, required: [text]} srv {title: Echo, readOnlyHint: true, destructiveHint: false}
nil {}
true
true
[{uri: test://a, name: a, title: A, description: the a, mimeType: text/plain, size: 5, server: srv}]
[{uriTemplate: test://{x}, name: any, mimeType: text/plain}]
hello
[test://a] []
[{name: greet, description: Greets, arguments: [{name: who, description: whom, required: true}]}]
{description: d, messages: [{role: user, text: greet {"n":"5","who":"Ann"}}, {role: assistant, text: ok}], text: greet {"n":"5","who":"Ann"}
ok}
{role: assistant, text: ok}
[city, Paris]
[x, ris]
connected {srv: connected}
closed {srv: closed}
`)
	for _, want := range []string{"tool 'srv:test://a' -> called", "tool 'srv:greet' -> called"} {
		if !strings.Contains(p.audit, want) {
			t.Errorf("the audit lacks %s:\n%s", want, p.audit)
		}
	}
}

func TestCalls(t *testing.T) {
	var p program
	p.prints(t, connectTest+`print(s.call("echo", text: "hi"))
print(s.call("echo", {"text": "map"}))
print(s.tools["echo"](text: "direct"))
print(s.tools[0]({"text": "direct map"}))
print(s.call("args", a: 9007199254740993, b: 1.0, c: [true, nil], d: {"e": "<&>"}))
print(s.call("args"))
r = s.call("structured")
print(type_of(r), r["items"][1] + 1, r["x"])
print(s.call("wrapped"))
print(s.call("image"))
f = s.call
print(f("echo", text: "bound"))
`, `hi
map
direct
direct map
{"a":9007199254740993,"b":1.0,"c":[true,null],"d":{"e":"<&>"}}
{}
Map 9223372036854775809 1.0
plain
see
[image image/png, 2 bytes]
bound
`)
	if n := strings.Count(p.audit, "tool 'srv.echo' -> called"); n != 5 {
		t.Errorf("%d calls of echo in the audit:\n%s", n, p.audit)
	}
}

func TestCallErrors(t *testing.T) {
	for src, want := range map[string]string{
		`s.call()`:                  "'srv.call' expects 1 to 2 argument(s), got 0",
		`s.call(1)`:                 "srv.call expects the name of a tool as a String, got Int",
		`s.call("ecko", text: "x")`: "mcp server 'srv' has no tool 'ecko' -- did you mean 'echo'?",
		`s.call("echo", "x")`:       "mcp tool 'srv.echo' takes labeled arguments (text: ...) or one Map",
		`s.call("echo", {"text": "x"}, text: "")`: "mcp tool 'srv.echo' takes labeled arguments (text: ...) or one Map",
		`s.tools["args"]("x")`:                    "mcp tool 'srv.args' takes no arguments by position; write (name: value) or one Map",
		`s.call("echo")`:                          "mcp tool 'srv.echo' failed: argument 'text' is missing",
		`s.call("echo", text: 5)`:                 "mcp tool 'srv.echo' failed: ",
		`s.call("echo", text: s)`:                 "mcp tool 'srv.echo': a value of type McpServer cannot be written as JSON",
		`s.call("fails")`:                         "mcp tool 'srv.fails' failed: no such file",
		`s.call("dies")`:                          "mcp tool 'srv.dies' failed: the server exited with status 9",
		`s.tools["nothing"]`:                      "no element named 'nothing' in array",
		`find(s.tools, "eco")`:                    "find() knows no 'eco' -- did you mean 'echo'?",
		`find(s, "x")`:                            "find() expects an Array of tools, got McpServer",
		`find([], 1)`:                             "find() expects a name as a String, got Int",
		`s.nothing`:                               "mcp server 'srv' has no member 'nothing'",
		`s.tools[0].nothing`:                      "mcp tool 'srv.echo' has no member 'nothing'",
		`s.read("test://b")`:                      "mcp server 'srv': resource 'srv:test://b' failed: no such resource (JSON-RPC error -32002)",
		`s.read(1)`:                               "srv.read expects the uri of a resource as a String, got Int",
		`s.prompt("greet", 5)`:                    "srv.prompt expects the prompt's arguments as a Map or labeled, got Int",
		`s.prompt("greet", {"a": 1}, a: 2)`:       "srv.prompt got more than one value for 'a'",
		`s.complete(argument: "x")`:               "srv.complete expects prompt: or template:",
		`s.complete(prompt: 5)`:                   "srv.complete expects prompt: or template:",
	} {
		var p program
		p.fails(t, connectTest+src+"\n", want)
	}
}

// A tool asked for by a wrong name: the message stays, and a note says what may
// be meant.
func TestToolByWrongName(t *testing.T) {
	var p program
	err := p.run(t, connectTest+`s.tools["ecko"]`+"\n")
	var e *diag.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	if e.Msg != "no element named 'ecko' in array" || !slices.Equal(e.Notes, []string{"did you mean 'echo'?"}) {
		t.Errorf("got %q, notes %q", e.Msg, e.Notes)
	}
}

func TestConnectArguments(t *testing.T) {
	for src, want := range map[string]string{
		`connect_mcp("a", "b")`:                                             "connect_mcp() expects (name: String, command: String, args: Array<String>, capability: String = nil)",
		`connect_mcp(command: "x")`:                                         "connect_mcp() expects (name:",
		`connect_mcp("a", "b", [], command: "c")`:                           "connect_mcp() got more than one value for 'command'",
		`connect_mcp("a", command: "b", url: "https://x")`:                  "connect_mcp() got both a command and a url",
		`connect_mcp("a", command: "")`:                                     "connect_mcp()'s command argument must not be empty",
		`connect_mcp("a", url: "")`:                                         "connect_mcp()'s url argument must not be empty",
		`connect_mcp("a", args: [])`:                                        "connect_mcp()'s args argument needs a command",
		`connect_mcp("a", url: "https://x", env: {})`:                       "connect_mcp()'s env argument needs a command",
		`connect_mcp("a", url: "https://x", cwd: ".")`:                      "connect_mcp()'s cwd argument needs a command",
		`connect_mcp("a", command: "b", headers: {})`:                       "connect_mcp()'s headers argument needs a url",
		`connect_mcp("a", transport: "sse")`:                                "connect_mcp()'s transport argument needs a command or a url",
		`connect_mcp("a", url: "https://x", transport: "streamable-http")`:  `connect_mcp()'s transport argument must be "stdio", "http" or "sse", got 'streamable-http'`,
		`connect_mcp("a", command: "b", transport: "http")`:                 "connect_mcp() failed to connect to 'a': transport 'http' needs a url",
		`connect_mcp("a", command: 5)`:                                      "connect_mcp()'s command argument must be a String",
		`connect_mcp("a", command: "b", env: {"K": 5})`:                     "connect_mcp()'s env argument must be a Map of Strings, but 'K' is Int",
		`connect_mcp("a", command: "b", env: [])`:                           "connect_mcp()'s env argument must be a Map of Strings",
		`connect_mcp("a", command: "b", timeout: 0)`:                        "connect_mcp()'s timeout argument must be a number of seconds above 0 and up to a day",
		`connect_mcp("a", command: "b", connect_timeout: "x")`:              "connect_mcp()'s connect_timeout argument must be a number of seconds",
		`connect_mcp("a", command: "b", tools: "x")`:                        "connect_mcp()'s tools argument must be an Array of Strings",
		`connect_mcp("a", command: "b", wait: 1)`:                           "connect_mcp()'s wait argument must be a Bool",
		`connect_mcp("a", command: "b", tool: [])`:                          "connect_mcp(): unknown argument 'tool' -- supported: command, args, capability, url",
		`connect_mcp("a", url: "https://${NO}")`:                            `connect_mcp("a"): url needs the environment variable NO, which is not set`,
		`connect_mcp("a", url: "https://x", headers: {"A": "${NO}"})`:       `connect_mcp("a"): headers.A needs the environment variable NO, which is not set`,
		`connect_mcp("a", command: "b", env: {"A": "${NO}"})`:               `connect_mcp("a"): env.A needs the environment variable NO, which is not set`,
		`connect_mcp("a", url: "file:///x")`:                                `connect_mcp("a"): url must begin with https:// or http://`,
		`connect_mcp("a")`:                                                  "connect_mcp(): no .mcp.json names a server 'a'; there is none beside the program or above it -- add one with: sense mcp add a -- COMMAND",
		`connect_mcp_all("none.json")`:                                      "connect_mcp_all(): there is no file ",
		`connect_mcp_all(5)`:                                                "connect_mcp_all() expects the path of a file, got Int",
		"policy:\n    deny mcp.connect\nconnect_mcp(\"a\", command: \"b\")": `connect_mcp("a") requires capability 'mcp.connect', which is denied by policy`,
		"policy:\n    deny process.run\nconnect_mcp(\"a\", command: \"b\")": `connect_mcp("a") requires capability 'process.run', which is denied by policy`,
	} {
		var p program
		p.fails(t, src+"\n", want)
	}
}

func TestEnvironmentAndTools(t *testing.T) {
	p := program{env: map[string]string{"MY_TOKEN": "s3cret-value"}}
	var secrets []string
	p.options.Secret = func(v string) { secrets = append(secrets, v) }
	p.prints(t, `s = connect_mcp("srv", command: "sh", args: ["-c", "test \"$T\" = s3cret-value && test \"$PWD\" = / && exec EXE serve-mcp"], env: {"T": "${MY_TOKEN}"}, cwd: "/", tools: ["e*", "args"])
for x in s.tools: print(x.name)
`, "echo\nargs\nelicit")
	if len(secrets) == 0 || secrets[0] != "s3cret-value" {
		t.Errorf("secrets %q", secrets)
	}
}

func TestPending(t *testing.T) {
	var p program
	p.prints(t, `s = connect_mcp("srv", SELF], wait: false)
print(s.status == "pending" or s.status == "connected")
print(s.call("echo", text: "waited"), s.status)
b = connect_mcp("bad", command: "no-such-program-here", wait: false)
try:
    b.tools
catch e:
    print(e.kind, e.message)
print(b.status, type_of(b.error))
`, "true\nwaited connected\nmcp connect_mcp() failed to connect to 'bad': command 'no-such-program-here' was not found on PATH\nfailed String")
}

func TestPolicyOfCalls(t *testing.T) {
	for src, want := range map[string]string{
		"policy:\n    deny mcp.srv\n" + `s.call("echo", text: "x")`:                       "mcp tool 'srv.echo' requires capability 'mcp.srv', which is denied by policy",
		"policy:\n    allow mcp.srv\n    deny mcp.srv.echo\n" + `s.tools[0](text: "x")`:   "mcp tool 'srv.echo' requires capability 'mcp.srv.echo', which is denied by policy",
		"policy:\n    deny mcp.srv\n" + `s.read("test://a")`:                              "mcp resource 'srv:test://a' requires capability 'mcp.srv', which is denied by policy",
		"policy:\n    deny mcp.srv\n" + `s.prompt("greet")`:                               "mcp prompt 'srv:greet' requires capability 'mcp.srv', which is denied by policy",
		"policy:\n    allow mcp.srv\n    deny mcp.srv.resources\n" + `s.read("test://a")`: "mcp resource 'srv:test://a' requires capability 'mcp.srv.resources', which is denied by policy",
	} {
		var p program
		p.fails(t, connectTest+src+"\n", want)
		if !strings.Contains(p.audit, "denied") {
			t.Errorf("the audit has no denial:\n%s", p.audit)
		}
	}
}

// What a server asks back.
func TestAsks(t *testing.T) {
	var logged []string
	p := program{stdin: "y\nAnn Lee\n\nmaybe\nyes\nc\nb\ny\n"}
	p.options.MCP = builtins.MCPOptions{
		Interactive: true, Roots: []string{"/srv/data dir"}, Verbose: func(s string) { logged = append(logged, s) },
	}
	p.prints(t, connectTest+`model m = inference("mock", "m", response_template: "pong")
set delegation = m
print(s.call("sample"))
print(s.call("roots"))
policy:
    allow mcp.sampling
    allow mcp.roots
print(s.call("sample"))
print(s.call("roots"))
print(s.call("elicit"))
print(s.call("open"))
print(s.call("busy"))
`, `error {"code":-32603,"message":"sampling is not allowed here: the program's policy has no 'allow mcp.sampling'"}
error {"code":-32603,"message":"listing roots is not allowed here: the program's policy has no 'allow mcp.roots'"}
{"role":"assistant","content":{"type":"text","text":"pong"},"model":"m","stopReason":"endTurn"}
{"roots":[{"uri":"file:///srv/data%20dir","name":"data dir"}]}
The MCP server 'srv' asks: Who?
Answer it? [y/n]   name, full name:   age (7):   ok (may be left out):     this must be yes or no
  ok (may be left out):   tag [a, b]:     argument 'value' must be one of "a", "b"
  tag [a, b]: {"action":"accept","content":{"name":"Ann Lee","age":7,"ok":true,"tag":"b"}}
The MCP server 'srv' asks: Log in
It wants you to open this address:
  https://x.example/login
Done? [y/n] {"action":"accept"}
done`)
	if len(logged) != 1 || strings.Contains(logged[0], "\x1b") || !strings.Contains(logged[0], "working") {
		t.Errorf("logged %q", logged)
	}
}

func TestAsksDeclined(t *testing.T) {
	var p program
	p.prints(t, connectTest+`print(s.call("elicit"))
print(s.call("roots"))
policy:
    allow mcp.sampling
print(s.call("sample"))
`, `{"action":"decline"}
error {"code":-32601,"message":"method not found: roots/list"}
error {"code":-32603,"message":"no model is set with 'set delegation'"}`)
	p = program{stdin: "n\n"}
	p.options.MCP.Interactive = true
	p.prints(t, connectTest+`print(s.call("elicit"))`, "The MCP server 'srv' asks: Who?\nAnswer it? [y/n] {\"action\":\"decline\"}")
	p = program{stdin: "y\n"}
	p.options.MCP.Interactive = true
	if err := p.run(t, connectTest+`print(s.call("elicit"))`); err != nil || !strings.Contains(p.out.String(), `{"action":"cancel"}`) {
		t.Errorf("%v %s", err, p.out.String())
	}
}
