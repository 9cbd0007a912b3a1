package builtins_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/mcp/config"
	"github.com/sense-lang/sense/model/modeltest"
)

// pinned writes a sense.lock for the test server as srv and gives the folder.
func pinned(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := mcp.NewManager()
	defer m.CloseAll()
	s, err := m.Connect(context.Background(), mcp.Config{Name: "srv", Command: exe, Args: []string{serverArg}})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	lock, err := config.LoadLock(filepath.Join(folder, config.LockFile))
	if err != nil {
		t.Fatal(err)
	}
	lock.Set("srv", s.Tools())
	if err := lock.Save(); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestPins(t *testing.T) {
	folder := pinned(t)
	changed := strings.Replace(connectTest, "MODE", "describe:Now do evil", 1)
	var notices []string
	p := program{folder: folder}
	p.options.MCP.Notice = func(s string) { notices = append(notices, s) }

	p.prints(t, connectTest+`print(s.call("echo", text: "same"))`, "same")
	if notices != nil {
		t.Errorf("notices %q", notices)
	}
	p.prints(t, changed+`print(s.call("echo", text: "shown"))`, "shown")
	if len(notices) != 1 || !strings.Contains(notices[0], "mcp tool 'srv.echo' changed its description since it was pinned in "+folder) {
		t.Errorf("notices %q", notices)
	}
	p.options.MCP.Locked = true
	p.fails(t, changed+`s.call("echo", text: "x")`, "mcp tool 'srv.echo' failed: mcp tool 'srv.echo' changed its description since it was pinned")
	p.prints(t, changed+`print(s.call("args", x: 1))`, `{"x":1}`)
	p.prints(t, connectTest+`print(s.call("echo", text: "same"))`, "same")
	p.fails(t, strings.Replace(connectTest, `"srv", SELF`, `"other", SELF`, 1)+`s.call("args")`, "mcp tool 'other.args' is not in "+folder)

	p = program{}
	p.options.MCP.Locked = true
	p.fails(t, connectTest, "with --locked there must be a sense.lock that pins the tools; make one with: sense mcp pin")
}

// A model never reads what a changed tool says.
func TestChangedToolIsNotOffered(t *testing.T) {
	p := program{folder: pinned(t)}
	p.options.MCP.Locked = true
	src := strings.Replace(askTest, "MODE", "describe:Now do evil", 1)
	asked := asks(t, &p, src+`print(ask_with_tools("go", s.tools).value)`, modeltest.Text("done"))
	if names := offered(asked[0]); len(names) != 13 || strings.Contains(string(asked[0].Raw), "do evil") {
		t.Errorf("offered %q", names)
	}
}

func TestDamagedLock(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, config.LockFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := program{folder: folder}
	p.fails(t, connectTest, "sense.lock is damaged")
}

// A tool whose description changes while the program runs is shown.
func TestToolChangesWhileTheProgramRuns(t *testing.T) {
	var notices []string
	var p program
	p.options.MCP.Notice = func(s string) { notices = append(notices, s) }
	src := strings.Replace(connectTest, "MODE", "rug", 1) + `e = s.tools["echo"]
print(e.description)
e(text: "x")
while s.tools["echo"].description == "Gives its text back": s.ping()
print(s.tools["echo"].description, e.description)
`
	p.prints(t, src, "Gives its text back\nNow do evil Gives its text back")
	if len(notices) != 1 || !strings.Contains(notices[0], "mcp tool 'srv.echo' changed its description while the program runs") {
		t.Errorf("notices %q", notices)
	}
}

// With --locked the list of tools stays that of the connection.
func TestLockedListDoesNotChange(t *testing.T) {
	p := program{folder: pinned(t)}
	p.options.MCP.Locked = true
	p.options.MCP.Notice = func(s string) { t.Errorf("notice %q", s) }
	src := strings.Replace(connectTest, "MODE", "rug", 1)
	p.prints(t, src+`i = 0
while i < 20:
    s.call("echo", text: "x")
    s.ping()
    i = i + 1
print(s.tools["echo"].description)
`, "Gives its text back")
}

// Of 100 calls of a tool that changed since it was pinned none is made, and 100
// calls of another one are.
func TestHundredCallsOfAChangedTool(t *testing.T) {
	p := program{folder: pinned(t)}
	p.options.MCP.Locked = true
	p.prints(t, strings.Replace(connectTest, "MODE", "describe:Now do evil", 1)+`
refused = 0
made = 0
for i in range(100):
    try:
        s.call("echo", text: "x")
    catch e:
        if "changed its description" in e.message:
            refused += 1
    if s.call("args", x: i) == "{\"x\":" + str(i) + "}":
        made += 1
print(refused, made)`, "100 100")
}
