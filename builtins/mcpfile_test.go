package builtins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sense-lang/sense/builtins"
)

// project writes a .mcp.json with the test server as srv and gives the folder.
func project(t *testing.T) (folder string, env map[string]string) {
	t.Helper()
	folder = t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := `{
  // the servers of this project
  "mcpServers": {
    "srv": {"command": "` + exe + `", "args": ["` + serverArg + `"], "capability": "mcp.file", "timeout": 20000, "tool": 1},
    "own": {"command": "` + exe + `", "args": ["` + serverArg + `"]},
    "off": {"command": "x", "disabled": true},
    "bad": {"command": "no-such-program-here"},
    "unset": {"command": "x", "env": {"K": "${NO_SUCH}"}},
  },
}`
	if err := os.WriteFile(filepath.Join(folder, ".mcp.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder, map[string]string{"XDG_STATE_HOME": filepath.Join(folder, "state"), "XDG_CONFIG_HOME": filepath.Join(folder, "config")}
}

func TestConnectFromFile(t *testing.T) {
	folder, env := project(t)
	p := program{folder: folder, env: env}
	p.options.MCP.Yes = true
	p.prints(t, `s = connect_mcp("srv", tools: ["echo"])
print(s.call("echo", text: "from a file"), len(s.tools))
policy:
    deny mcp.file
try:
    s.call("echo", text: "x")
catch e:
    print(e.kind)
t = connect_mcp("srv", capability: "mcp.other")
def calls(text):
    policy: deny mcp.other
    try:
        print(t.call("echo", text: text))
    catch e:
        print(e.message)
policy: allow mcp.file
calls("x")
policy: deny mcp.file
try:
    t.call("echo", text: "x")
catch e:
    print(e.message)
`, "from a file 1\npolicy\nmcp tool 'srv.echo' requires capability 'mcp.other', which is denied by policy\n"+
		"mcp tool 'srv.echo' requires capability 'mcp.file', which is denied by policy")
	if len(p.warned) != 1 || !strings.Contains(p.warned[0], `unknown key "tool" is not used (did you mean "tools"?)`) {
		t.Errorf("warned %q", p.warned)
	}
	if !strings.Contains(p.errors.String(), "sense: --yes lets the server 'srv' of ") {
		t.Errorf("the command was not shown: %s", p.errors.String())
	}
	p.fails(t, `connect_mcp("off")`, "connect_mcp(): server 'off' is disabled in "+filepath.Join(folder, ".mcp.json"))
	p.fails(t, `connect_mcp("none")`, "connect_mcp(): no server 'none' in "+filepath.Join(folder, ".mcp.json")+" (known: srv, own, off, bad, unset)")
	p.fails(t, `connect_mcp("unset")`, `server "unset": env.K needs the environment variable NO_SUCH, which is not set`)
}

// Rules reach a server of a file by its name where the file gives it no
// capability.
func TestCapabilityOfServerInFile(t *testing.T) {
	folder, env := project(t)
	p := program{folder: folder, env: env}
	p.options.MCP.Yes = true
	const src = `s = connect_mcp("own")
policy:
    allow mcp.own
    deny mcp.own.ec*
print(s.call("args", a: 1))
`
	p.prints(t, src, `{"a":1}`)
	p.fails(t, src+`s.call("echo", text: "x")`, "mcp tool 'own.echo' requires capability 'mcp.own.echo', which is denied by policy")
	p.fails(t, strings.Replace(src, `"own")`, `"own", capability: "mcp.mine")`, 1)+"policy: deny mcp.mine\n"+`s.call("args")`, "requires capability 'mcp.mine', which is denied")
}

func TestTrustIsAsked(t *testing.T) {
	folder, env := project(t)
	const src = `print(connect_mcp("srv").call("echo", text: "hi"))`
	p := program{folder: folder, env: env}
	p.fails(t, src, "nobody has agreed to that; run with --yes, or agree once with: sense mcp trust srv")

	p.options.MCP = builtins.MCPOptions{Interactive: true}
	p.stdin = "n\n"
	p.fails(t, src, "connect_mcp(): server 'srv' was not agreed to")
	p.stdin = ""
	p.fails(t, src, "connect_mcp(): server 'srv' was not agreed to")
	p.stdin = "y\n"
	if err := p.run(t, src); err != nil || !strings.HasSuffix(p.out.String(), "hi\n") || !strings.Contains(p.out.String(), "wants to start\n  ") {
		t.Errorf("%v %s", err, p.out.String())
	}
	p.stdin = "always\n"
	if err := p.run(t, src); err != nil {
		t.Error(err)
	}
	p = program{folder: folder, env: env}
	p.prints(t, src, "hi")

	path := filepath.Join(folder, ".mcp.json")
	text, _ := os.ReadFile(path)
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"`+serverArg+`"`, `"`+serverArg+`", "x"`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	p.fails(t, src, "nobody has agreed to that")
}

func TestDamagedFiles(t *testing.T) {
	folder, env := project(t)
	p := program{folder: folder, env: env}
	trust := filepath.Join(folder, "state", "sense", "trust.json")
	if err := os.MkdirAll(filepath.Dir(trust), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(trust, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.fails(t, `connect_mcp("srv")`, "connect_mcp(): "+trust+" is damaged")
	if err := os.WriteFile(filepath.Join(folder, ".mcp.json"), []byte("{\n  x"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.fails(t, `connect_mcp("srv")`, ".mcp.json:2:3: ")
}

func TestConnectAll(t *testing.T) {
	folder, env := project(t)
	p := program{folder: folder, env: env}
	p.options.MCP.Yes = true
	p.prints(t, `all = connect_mcp_all()
print(all.keys())
print(mcp_status())
print(all["srv"].call("echo", text: "hi"))
print(all["bad"].error)
try:
    all["unset"].tools
catch e:
    print(e.message.ends_with("env.K needs the environment variable NO_SUCH, which is not set"))
try:
    all["bad"].call("echo", text: "x")
catch e:
    print(e.message)
all["unset"].close()
print(all["unset"])
same = connect_mcp_all(".mcp.json")
print(same["srv"].status)
`, `[srv, own, bad, unset]
{srv: connected, own: connected, bad: failed, unset: failed}
hi
command 'no-such-program-here' was not found on PATH
true
connect_mcp() failed to connect to 'bad': command 'no-such-program-here' was not found on PATH
<mcp server unset (0 tools)>
connected`)
	p.options.MCP.Yes = false
	p.prints(t, `print(connect_mcp_all()["srv"].status)`, "failed")
}
