//go:build linux

package fileserver

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sense-lang/sense/internal/real"
)

// TestRealSameAsNpm makes the same calls of both servers over the same folder.
func TestRealSameAsNpm(t *testing.T) {
	script := real.Module(t, "@modelcontextprotocol/server-filesystem/dist/index.js")
	dir := sample(t)
	theirs := npmAnswers(t, script, dir)
	if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
		t.Fatal(err)
	}
	again := sample(t)
	if err := os.Rename(filepath.Dir(again), filepath.Dir(dir)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(dir)) })
	if err := os.Remove(dir + "/abslink"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir+"/sub", dir+"/abslink"); err != nil {
		t.Fatal(err)
	}
	c := serve(t, dir, false)
	times := regexp.MustCompile(`(created|modified|accessed): .*`)
	for i, call := range comparedCalls() {
		text, bad := c.call(call.tool, call.arguments)
		got, want := times.ReplaceAllString(text, "$1"), times.ReplaceAllString(theirs[i].text, "$1")
		if bad != theirs[i].bad || got != want {
			t.Errorf("%s %v gives\n%s\nthe npm server\n%s", call.tool, call.arguments, got, want)
		}
	}
}

type comparedCall struct {
	tool      string
	arguments m
}

func comparedCalls() (calls []comparedCall) {
	add := func(tool string, arguments m) { calls = append(calls, comparedCall{tool, arguments}) }
	for _, p := range []string{"a.txt", ".", "b.txt", "sub", "./sub/../a.txt", "none", "none/x", "../x", "/etc/passwd", "link", "linkdir/x.py", "outf", "abslink/x.py", "ünï.txt", `C:\x`, "empty", "crlf.txt"} {
		add("read_text_file", m{"path": p})
		add("read_text_file", m{"path": p, "head": 2})
		if p != "none" && p != "none/x" { // they name another system call
			add("read_text_file", m{"path": p, "tail": 2})
		}
		add("list_directory", m{"path": p})
		add("directory_tree", m{"path": p, "excludePatterns": []string{"deep"}})
		add("get_file_info", m{"path": p})
		add("search_files", m{"path": p, "pattern": "**/*.{txt,py}", "excludePatterns": []string{"?.txt"}})
		for _, change := range [][2]string{{"one", "1"}, {"def f():\n  return 1", "def f(x):\n      return x\n"}, {"nowhere", ""}, {"c\n", "c"}} {
			add("edit_file", m{"path": p, "edits": []m{{"oldText": change[0], "newText": change[1]}}, "dryRun": true})
		}
	}
	add("list_directory_with_sizes", m{"path": "sub/deep"})
	add("read_multiple_files", m{"paths": []string{"a.txt", "none", "../x", "b.txt"}})
	add("list_allowed_directories", m{})
	add("read_text_file", m{})
	add("edit_file", m{"path": "a.txt", "edits": []any{5, m{"oldText": 1}}})
	add("write_file", m{"path": "new.txt", "content": "ü\n"})
	add("write_file", m{"path": "none/new.txt", "content": "ü\n"})
	add("edit_file", m{"path": "a.txt", "edits": []m{{"oldText": "three", "newText": "3"}}})
	add("create_directory", m{"path": "x/y/z"})
	add("create_directory", m{"path": "a.txt"})
	add("move_file", m{"source": "new.txt", "destination": "x/new.txt"})
	add("move_file", m{"source": "x/new.txt", "destination": "b.txt"})
	add("move_file", m{"source": "none", "destination": "q"})
	add("list_directory", m{"path": "x"})
	add("read_text_file", m{"path": "x/new.txt"})
	return calls
}

type npmAnswer struct {
	text string
	bad  bool
}

func npmAnswers(t *testing.T, script, dir string) []npmAnswer {
	t.Helper()
	cmd := exec.Command("node", script, dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), cmd.Wait() }()
	lines := bufio.NewReader(out)
	ask := func(id int, method string, params any) json.RawMessage {
		text, _ := json.Marshal(m{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		_, _ = io.WriteString(in, string(text)+"\n")
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	ask(0, "initialize", m{"protocolVersion": "2025-11-25", "capabilities": m{}, "clientInfo": m{"name": "t", "version": "1"}})
	var answers []npmAnswer
	for i, call := range comparedCalls() {
		var r struct {
			Result struct {
				Content []struct{ Text string }
				IsError bool
			}
		}
		line := ask(i+1, "tools/call", m{"name": call.tool, "arguments": call.arguments})
		if err := json.Unmarshal(line, &r); err != nil || len(r.Result.Content) == 0 {
			t.Fatalf("%s: %v", line, err)
		}
		answers = append(answers, npmAnswer{r.Result.Content[0].Text, r.Result.IsError})
	}
	return answers
}
