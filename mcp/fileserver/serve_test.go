package fileserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOffersTheTools(t *testing.T) {
	dir := sample(t)
	want := []string{"create_directory", "directory_tree", "edit_file", "get_file_info", "list_allowed_directories", "list_directory",
		"list_directory_with_sizes", "move_file", "read_file", "read_media_file", "read_multiple_files", "read_text_file", "search_files", "write_file"}
	changing := []string{"create_directory", "edit_file", "move_file", "write_file"}
	for _, readOnly := range []bool{false, true} {
		var list struct {
			Tools []struct {
				Name, Title, Description  string
				InputSchema, OutputSchema struct{ Type string }
				Annotations               struct{ ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool }
			}
		}
		r := serve(t, dir, readOnly).request("tools/list", m{})
		if err := json.Unmarshal(r.Result, &list); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			a := tool.Annotations
			if a.ReadOnlyHint == nil || *a.ReadOnlyHint == slices.Contains(changing, tool.Name) || a.OpenWorldHint == nil || *a.OpenWorldHint {
				t.Errorf("%s: annotations %+v", tool.Name, a)
			}
			if tool.Title == "" || tool.Description == "" || tool.InputSchema.Type != "object" || tool.OutputSchema.Type != "object" {
				t.Errorf("%s: incomplete: %+v", tool.Name, tool)
			}
		}
		slices.Sort(names)
		expected := want
		if readOnly {
			expected = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return slices.Contains(changing, s) })
		}
		if !slices.Equal(names, expected) {
			t.Errorf("readOnly=%v offers %v, want %v", readOnly, names, expected)
		}
	}
}

func TestReadOnlyRefusesChanges(t *testing.T) {
	dir := sample(t)
	c := serve(t, dir, true)
	for tool, arguments := range map[string]m{
		"write_file": {"path": "n.txt", "content": "x"}, "create_directory": {"path": "n"},
		"edit_file": {"path": "a.txt", "edits": []any{}}, "move_file": {"source": "a.txt", "destination": "n.txt"},
	} {
		if text := c.bad(tool, arguments); !strings.Contains(text, "tool '"+tool+"' not found") {
			t.Errorf("%s: %q", tool, text)
		}
	}
	for _, name := range []string{"n.txt", "n"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made: %v", name, err)
		}
	}
	if got := c.good("read_text_file", m{"path": "a.txt"}); got != "one\ntwo\nthree\n" {
		t.Errorf("read_text_file gives %q", got)
	}
}

func TestSeesWhatIsNoFolder(t *testing.T) {
	dir := sample(t)
	for name, want := range map[string]string{
		filepath.Join(dir, "none"):  "no such file or directory",
		filepath.Join(dir, "a.txt"): "not a directory",
		filepath.Join(dir, "loop"):  "too many links",
	} {
		err := Serve(context.Background(), name, false, strings.NewReader(""), io.Discard)
		if err == nil || !strings.HasPrefix(err.Error(), "cannot serve "+name+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}

// TestAnswersAllBeforeTheEnd sends calls and the end of the input at once, as a shell pipe does.
func TestAnswersAllBeforeTheEnd(t *testing.T) {
	dir := sample(t)
	var in strings.Builder
	for i := range 50 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":"w%d","method":"tools/call","params":{"name":"write_file","arguments":{"path":"n.txt","content":"%d"}}}`+"\n", i, i)
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":"r%d","method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"n.txt"}}}`+"\n", i)
	}
	in.WriteString(`{"jsonrpc":"2.0","id":"last","method":"ping"}`) // without a newline
	var out bytes.Buffer
	if err := Serve(context.Background(), dir, false, strings.NewReader(in.String()), &out); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var r struct {
			ID     string
			Result struct{ StructuredContent struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		texts[r.ID] = r.Result.StructuredContent.Content
	}
	if len(texts) != 101 {
		t.Errorf("%d answers to 101 requests", len(texts))
	}
	for i := range 50 {
		if got := texts[fmt.Sprintf("r%d", i)]; got != fmt.Sprint(i) {
			t.Errorf("read %d gives %q: not in order", i, got)
		}
	}
}

func TestEndsWithItsContext(t *testing.T) {
	dir := sample(t)
	ctx, stop := context.WithCancel(context.Background())
	in, inWrite := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, dir, false, in, io.Discard) }()
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	_ = inWrite.Close() // lets the read loop go
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("pipe is gone") }

func TestEndsWhenTheClientIsGone(t *testing.T) {
	in, inWrite := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(context.Background(), sample(t), false, in, brokenWriter{}) }()
	_, _ = io.WriteString(inWrite, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if err := <-done; err == nil || err.Error() != "cannot write to the client: pipe is gone" {
		t.Errorf("error %v", err)
	}
	_ = inWrite.Close()
}

func TestSurvivesWhatIsNoRequest(t *testing.T) {
	c := serve(t, sample(t), false)
	c.mu.Lock()
	unasked := make(chan reply, 10)
	c.waits[-1] = unasked
	c.mu.Unlock()
	for _, line := range []string{"hello", "[]", "42", `"x"`, "{", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "\xff\xfe"} {
		c.raw(line)
		if r := <-unasked; r.Error == nil || r.Error.Code != -32700 || r.Error.Message != "the message is no JSON-RPC object" {
			t.Errorf("%q is answered %+v", line, r.Error)
		}
	}
	for _, line := range []string{"", "   ", `{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, `{"jsonrpc":"2.0","method":"notifications/unknown"}`, "{}"} {
		c.raw(line)
	}
	for params, code := range map[string]int{`"x"`: -32600, `[]`: -32600, `{"name":5}`: -32600, `{"name":"nosuch"}`: -32602} {
		id, wait := c.expect()
		c.raw(fmt.Sprintf(`  {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}  `, id, params))
		if r := <-wait; r.Error == nil || r.Error.Code != code {
			t.Errorf("params %s are answered %+v, %s", params, r.Error, r.Result)
		}
	}
	if r := c.request("no/such", m{}); r.Error == nil || r.Error.Code != -32601 {
		t.Errorf("an unknown method is answered %+v", r.Error)
	}
	if len(unasked) > 0 {
		t.Errorf("unasked for: %+v", <-unasked)
	}
	if got := c.good("read_text_file", m{"path": "b.txt"}); got != "no newline" {
		t.Errorf("afterwards read_text_file gives %q", got)
	}
}

func TestRefusesAMessageThatIsTooLong(t *testing.T) {
	c := serve(t, sample(t), false)
	c.mu.Lock()
	unasked := make(chan reply, 1)
	c.waits[-1] = unasked
	c.mu.Unlock()
	part := strings.Repeat("x", 1<<20)
	for range maxMessage>>20 + 1 {
		if _, err := io.WriteString(c.in, part); err != nil {
			t.Fatal(err)
		}
	}
	c.raw("")
	if r := <-unasked; r.Error == nil || r.Error.Message != "message larger than 67108864 bytes" {
		t.Errorf("answered %+v", r)
	}
	c.good("list_directory", m{"path": "."})
}

// TestManyCallsAtOnce keeps calls of every sort in flight together.
func TestManyCallsAtOnce(t *testing.T) {
	dir := sample(t)
	c := serve(t, dir, false)
	var waits []chan reply
	for i := range 300 {
		waits = append(waits, c.beginCall("read_text_file", m{"path": "ünï.txt"}),
			c.beginCall("search_files", m{"path": ".", "pattern": "**/y.txt"}),
			c.beginCall("write_file", m{"path": fmt.Sprintf("w%d.txt", i%7), "content": strings.Repeat("z", i)}),
			c.beginCall("edit_file", m{"path": "a.txt", "edits": []m{{"oldText": "three\n", "newText": "three\nmore\n"}}}))
	}
	for i, wait := range waits {
		if text, bad := c.result(<-wait); bad {
			t.Fatalf("call %d failed: %s", i, text)
		}
	}
	if got := strings.Count(get(t, filepath.Join(dir, "a.txt")), "more\n"); got != 300 {
		t.Errorf("%d of 300 edits are there", got)
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".sense-*"))
	if len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}
