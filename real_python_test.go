//go:build linux

package sense_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sense-lang/sense/internal/real"
	"github.com/sense-lang/sense/model/modeltest"
)

// git runs a command of git in a folder.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), real.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, real.Command(t, "git"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestRealGit has a model stage a change of a real repository and commits it.
func TestRealGit(t *testing.T) {
	real.Need(t)
	t.Parallel()
	dir := workFolder(t)
	repo := filepath.Join(dir, "repo")
	writeFile(t, filepath.Join(repo, "a.txt"), "one\n")
	git(t, repo, "init", "-q", "-b", "main")
	git(t, repo, "config", "user.name", "Zoë")
	git(t, repo, "config", "user.email", "zoe@example.com")
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-q", "-m", "first")
	writeFile(t, filepath.Join(repo, "a.txt"), "one\ntwo\n")
	c := realCase{
		script: "git = " + connectPython(t, "git", "current", "mcp-server-git", "--repository", "DIR/repo") + `
policy:
    allow mcp.git
    deny mcp.git.git_reset
` + modelPart + `
print(len(git.tools))
print(git.call("git_diff_unstaged", repo_path: "DIR/repo"))
print(ask_with_tools("stage it", git.tools).value)
print(git.call("git_commit", repo_path: "DIR/repo", message: "second <&>"))
print(git.call("git_log", repo_path: "DIR/repo", max_count: 1))
try:
    git.call("git_reset", repo_path: "DIR/repo")
catch e:
    print(e)
`,
		turns: []modeltest.Turn{
			modeltest.Calls(modeltest.CallOf("git.git_status", `{"repo_path": "DIR/repo"}`)),
			modeltest.Calls(modeltest.CallOf("git.git_add", `{"repo_path": "DIR/repo", "files": ["a.txt"]}`)),
			modeltest.Text("@results"),
		},
		want: []string{"12\n", "\n+two\n", "Files staged successfully", "Changes committed successfully", "Author: Zoë", "Message: second <&>",
			"'git.git_reset' requires capability 'mcp.git.git_reset', which is denied by policy"},
	}
	c.run(t, dir)
	if got := git(t, repo, "log", "--format=%s", "--name-only"); got != "second <&>\n\na.txt\nfirst\n\na.txt\n" {
		t.Errorf("git log says\n%s", got)
	}
}

// TestRealTime converts between two zones without summer time.
func TestRealTime(t *testing.T) {
	real.Need(t)
	t.Parallel()
	c := realCase{
		script: "clock = " + connectPython(t, "time", "current", "mcp-server-time", "--local-timezone", "UTC") + `
policy:
    allow mcp.time
` + modelPart + `
r = clock.call("convert_time", source_timezone: "Asia/Tokyo", time: "16:30", target_timezone: "Asia/Kolkata")
print(r["time_difference"])
print(ask_with_tools("what time is it in Delhi?", clock.tools).value)
try:
    clock.call("get_current_time", timezone: "Mars/Olympus")
catch e:
    print(e)
`,
		turns: []modeltest.Turn{
			modeltest.Calls(modeltest.CallOf("time.convert_time", `{"source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "Asia/Kolkata"}`)),
			modeltest.Text("@results"),
		},
		want: []string{"-3.5h\n", "T13:00:00+05:30", "mcp tool 'time.get_current_time' failed: ", "Mars/Olympus"},
	}
	c.run(t, workFolder(t))
}

// TestRealSqlite fills a database and has a model query it.
func TestRealSqlite(t *testing.T) {
	real.Need(t)
	t.Parallel()
	c := realCase{
		script: "db = " + connectPython(t, "sqlite", "older", "mcp-server-sqlite", "--db-path", "DIR/people.db") + `
policy:
    allow mcp.sqlite
` + modelPart + `
db.call("create_table", query: "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)")
print(db.call("write_query", query: "INSERT INTO people (id, name) VALUES (9007199254740993, 'Zoë'), (2, 'Bob')"))
print(ask_with_tools("who is there?", db.tools).value)
print(db.call("append_insight", insight: "two people"))
print(db.resources()[0]["uri"])
print(db.read("memo://insights"))
print(db.prompts()[0]["name"])
print(len(db.prompt("mcp-demo", topic: "tea")["text"]) > 100)
try:
    db.call("read_query", query: "DROP TABLE people")
catch e:
    print(e)
`,
		turns: []modeltest.Turn{
			modeltest.Calls(
				modeltest.CallOf("sqlite.list_tables", `{}`),
				modeltest.CallOf("sqlite.read_query", `{"query": "SELECT * FROM people ORDER BY id"}`)),
			modeltest.Text("@results"),
		},
		want: []string{"'affected_rows': 2", "[{'name': 'people'}]", "[{'id': 2, 'name': 'Bob'}, {'id': 9007199254740993, 'name': 'Zoë'}]",
			"Insight added to memo", "memo://insights\n", "two people", "mcp-demo\ntrue\n"},
	}
	c.run(t, workFolder(t))
}

// TestRealTestkit uses the 65 tools of mcp-testkit, over stdio and over HTTP with
// a token.
func TestRealTestkit(t *testing.T) {
	real.Need(t)
	const script = `
policy:
    allow mcp.testkit
` + modelPart + `
print(len(k.tools))
print(len(k.call("echo_large", size_kb: 3000)) > 3000000)
print(k.call("echo_types"))
print(k.call("echo_schema", str_param: "<é>", int_param: 9007199254740993, float_param: 1.5, bool_param: true, list_param: [1], obj_param: {"a": 1}))
print(k.call("math_factorial", n: 25))
print(k.call("string_reverse", text: "añb"))
print(k.call("collection_sort", items: [3, 1, 2], reverse: true))
try:
    k.call("echo_error", message: "boom")
catch e:
    print(e)
print(ask_with_tools("go on", k.tools).value)
`
	want := []string{"65\n", "true\n", `"null": null, "array": [1, "two", false]`, `"str_param": "<\u00e9>", "int_param": 9007199254740993, "float_param": 1.5`,
		`{"result": 15511210043330985984000000}`, `b\u00f1a`, "[3, 2, 1]", "mcp tool 'testkit.echo_error' failed: ", "Intentional error: boom\n",
		"2432902008176640000"}
	turns := func() []modeltest.Turn {
		return []modeltest.Turn{
			modeltest.Calls(
				modeltest.CallOf("testkit.math_factorial", `{"n": 20}`),
				modeltest.CallOf("testkit.math_divide", `{"a": 1, "b": 0}`),
				modeltest.CallOf("testkit.echo", `{}`)),
			modeltest.Text("@results"),
		}
	}
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		c := realCase{script: "k = " + connectPython(t, "testkit", "older", "mcp-testkit") + script, turns: turns(), want: want}
		c.run(t, workFolder(t))
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		port := real.Port(t)
		url := serving(t, exec.Command(filepath.Join(real.Python(t, "older"), "mcp-testkit"), "--transport", "http", "--port", itoa(port), "--auth", "a-key-of-16-chars"), port) + "/mcp"
		c := realCase{
			script: `k = connect_mcp("testkit", url: "` + url + `", headers: {"Authorization": "Bearer ${TESTKIT_KEY}"}, capability: "mcp.testkit")` + script,
			env:    []string{"TESTKIT_KEY=a-key-of-16-chars"}, turns: turns(), want: want,
		}
		c.run(t, workFolder(t))
	})
}

// TestRealTwoServers has two servers at once whose tools have the same name: each
// call reaches its own.
func TestRealTwoServers(t *testing.T) {
	real.Need(t)
	t.Parallel()
	c := realCase{
		script: "k = " + connectPython(t, "testkit", "older", "mcp-testkit") +
			"\ne = " + connectNode(t, "everything", "@modelcontextprotocol/server-everything/dist/index.js", "stdio") + `
policy:
    allow mcp.testkit
    allow mcp.everything
` + modelPart + `
print(k.call("echo", message: "a"), e.call("echo", message: "b"))
print(ask_with_tools("echo", k.tools + e.tools).value)
for line in audit_log(): print(line)
`,
		turns: []modeltest.Turn{
			modeltest.Calls(modeltest.CallOf("testkit.echo", `{"message": "c"}`), modeltest.CallOf("everything.echo", `{"message": "d"}`)),
			modeltest.Text("@results"),
		},
		want: []string{`{"result": "a"} Echo: b`, `{"result": "c"}`, "Echo: d", "tool 'testkit.echo' -> called", "tool 'everything.echo' -> called"},
	}
	c.run(t, workFolder(t))
}
