//go:build linux

package sense_test

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense/internal/real"
	"github.com/sense-lang/sense/model/modeltest"
)

// TestRealFilesystem has a model write a file with the file server of npm, reads
// it directly, and has the policy stop it.
func TestRealFilesystem(t *testing.T) {
	real.Need(t)
	t.Parallel()
	c := realCase{
		script: "fs = " + connectNode(t, "fs", "@modelcontextprotocol/server-filesystem/dist/index.js", "DIR") + `
policy:
    allow mcp.fs
    deny mcp.fs.move_*
` + modelPart + `
print(len(fs.tools))
print(ask_with_tools("write it down", fs.tools).value)
print(fs.call("read_text_file", path: "DIR/note.txt"))
print(fs.tools["list_directory"](path: "DIR"))
try:
    fs.call("read_text_file", path: "/etc/passwd")
catch e:
    print("outside: " + str(e))
try:
    fs.call("move_file", source: "DIR/note.txt", destination: "DIR/b.txt")
catch e:
    print(e)
`,
		turns: []modeltest.Turn{
			modeltest.Calls(modeltest.CallOf("fs.write_file", `{"path": "DIR/note.txt", "content": "héllo <b> & 9007199254740993"}`)),
			modeltest.Text("@results"),
		},
		want: []string{"14\n", "Successfully wrote to DIR/note.txt", "héllo <b> & 9007199254740993\n", "[FILE] note.txt",
			"outside: mcp tool 'fs.read_text_file' failed: ", "Access denied", "'fs.move_file' requires capability 'mcp.fs.move_file', which is denied by policy"},
	}
	c.run(t, workFolder(t))
}

// TestRealMemory builds a graph, partly by a model, and finds it again in a
// second run.
func TestRealMemory(t *testing.T) {
	real.Need(t)
	t.Parallel()
	dir := workFolder(t)
	connect := strings.TrimSuffix(connectNode(t, "memory", "@modelcontextprotocol/server-memory/dist/index.js"), ")") +
		`, env: {"MEMORY_FILE_PATH": "DIR/graph.jsonl"})`
	first := realCase{
		script: "mem = " + connect + `
policy:
    allow mcp.memory
` + modelPart + `
mem.call("create_entities", entities: [{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}])
print(ask_with_tools("remember Bob", mem.tools).value)
r = mem.call("search_nodes", query: "tea")
print(r["entities"][0]["observations"])
print(mem.resources()[0]["uri"])
`,
		turns: []modeltest.Turn{
			modeltest.Calls(
				modeltest.CallOf("memory.create_entities", `{"entities": [{"name": "Bob", "entityType": "person", "observations": ["née <Müller> & Söhne"]}]}`),
				modeltest.CallOf("memory.create_relations", `{"relations": [{"from": "Ann", "to": "Bob", "relationType": "knows"}]}`)),
			modeltest.Text("noted"),
		},
		want: []string{"noted\n", "[likes tea]\n", "memory://"},
	}
	first.run(t, dir)
	second := realCase{
		script: "mem = " + connect + `
policy:
    allow mcp.memory
g = mem.call("read_graph")
print(g["entities"][1]["observations"][0])
print(g["relations"])
`,
		want: []string{"née <Müller> & Söhne\n", "[{from: Ann, to: Bob, relationType: knows}]\n"},
	}
	second.run(t, dir)
}

// TestRealSequentialThinking thinks twice, once by a model.
func TestRealSequentialThinking(t *testing.T) {
	real.Need(t)
	t.Parallel()
	c := realCase{
		script: "s = " + connectNode(t, "think", "@modelcontextprotocol/server-sequential-thinking/dist/index.js") + `
policy:
    allow mcp.think
` + modelPart + `
r = s.call("sequentialthinking", thought: "one", nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2)
print(r["thoughtHistoryLength"])
print(ask_with_tools("think on", s.tools).value)
`,
		turns: []modeltest.Turn{
			modeltest.Calls(modeltest.CallOf("think.sequentialthinking", `{"thought": "two", "nextThoughtNeeded": false, "thoughtNumber": 2, "totalThoughts": 2}`)),
			modeltest.Text("@results"),
		},
		want: []string{"1\n", `"thoughtHistoryLength": 2`},
	}
	c.run(t, workFolder(t))
}

// TestRealOldRevision: a server that speaks revision 2024-11-05 connects and
// lists its tools. What they do needs the network.
func TestRealOldRevision(t *testing.T) {
	real.Need(t)
	t.Parallel()
	c := realCase{
		script: "gh = " + strings.TrimSuffix(connectNode(t, "github", "@modelcontextprotocol/server-github/dist/index.js"), ")") +
			`, env: {"GITHUB_PERSONAL_ACCESS_TOKEN": "x"})
print(len(gh.tools))
print(gh.status)
print(gh.tools["create_issue"].schema["required"])
`,
		want: []string{"26\nconnected\n[owner, repo, title]\n"},
	}
	c.run(t, workFolder(t))
}

// everythingScript uses all that server-everything has.
const everythingScript = `
policy:
    allow mcp.everything
    allow mcp.sampling
    allow mcp.roots
` + modelPart + `
print("tools", len(e.tools))
print(e.call("echo", message: "hi"))
print(e.call("get-tiny-image"))
print(e.call("get-structured-content", location: "Chicago")["humidity"])
print(e.call("get-resource-reference", resourceType: "Text", resourceId: 1))
print(e.call("get-annotated-message", messageType: "error"))
print(e.call("trigger-long-running-operation", duration: 0.2, steps: 2))
print(e.call("trigger-sampling-request", prompt: "say it", maxTokens: 10))
print(e.call("trigger-elicitation-request"))
print(e.call("get-roots-list"))
print(ask_with_tools("add them", e.tools, resources: ["demo://resource/static/document/features.md"]).value)
r = e.resources()
print("resources", len(r), "templates", len(e.resource_templates()))
print(e.read("demo://resource/dynamic/text/1"))
print(e.subscribe(r[0]["uri"]))
print(e.prompt("args-prompt", city: "Paris")["text"])
print(e.complete(prompt: "completable-prompt", argument: "department", value: "E"))
print("ping", e.ping())
`

// TestRealEverything uses server-everything over its three transports: tools,
// resources, prompts, completion, sampling, elicitation, roots and progress.
// Subscriptions and log messages, which take their time to come, are looked at in
// the tests of the package mcp.
func TestRealEverything(t *testing.T) {
	real.Need(t)
	const module = "@modelcontextprotocol/server-everything/dist/index.js"
	for transport, connect := range map[string]func(t *testing.T) string{
		"stdio": func(t *testing.T) string { return connectNode(t, "everything", module, "stdio") },
		"http":  func(t *testing.T) string { return connectURL(listening(t, module, "streamableHttp") + "/mcp") },
		"sse":   func(t *testing.T) string { return connectURL(listening(t, module, "sse") + "/sse") },
	} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			c := realCase{
				script: "e = " + connect(t) + everythingScript,
				args:   []string{"--fs-root", "DIR"},
				turns: []modeltest.Turn{
					modeltest.Text("sampled"),
					modeltest.Calls(modeltest.CallOf("everything.get-sum", `{"a": 1, "b": 2}`)),
					modeltest.Text("@results"),
				},
				want: []string{"tools 17\n", "Echo: hi\n", "\n[image image/png, 4033 bytes]\n", "\n82\n", "Resource 1: This is a plaintext resource",
					"Error: Operation failed", "Long running operation completed", "sampled", "declined", "URI: file://DIR",
					"The sum of 1 and 2 is 3.", "resources 7 templates 2\n", "What's weather in Paris?\n", "[Engineering]\n", "ping true\n"},
			}
			c.run(t, workFolder(t))
		})
	}
}

func connectURL(url string) string {
	return `connect_mcp("everything", url: "` + url + `", capability: "mcp.everything")`
}

// listening starts a server of npm that takes its port from PORT and gives its
// address.
func listening(t *testing.T, module string, args ...string) string {
	t.Helper()
	port := real.Port(t)
	cmd := exec.Command(real.Command(t, "node"), append([]string{real.Module(t, module)}, args...)...)
	cmd.Env = append(os.Environ(), "PORT="+strconv.Itoa(port))
	return serving(t, cmd, port)
}

// serving starts a server and gives its address once it listens on the port.
func serving(t *testing.T, cmd *exec.Cmd, port int) string {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	address := "127.0.0.1:" + strconv.Itoa(port)
	for deadline := time.Now().Add(real.Patience); time.Now().Before(deadline); {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return "http://" + address
		}
		select {
		case <-ended:
			t.Fatalf("%v ended", cmd.Args)
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Fatalf("%v does not listen on %s", cmd.Args, address)
	return ""
}
