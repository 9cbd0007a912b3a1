package fileserver

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client talks to a server that runs in the same process.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	done  chan error
	stop  context.CancelFunc
	mu    sync.Mutex
	next  int
	waits map[int]chan reply
}

type reply struct {
	ID     *int            `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// serve starts a server for dir; the test's end closes its input and waits for it.
func serve(t *testing.T, dir string, readOnly bool) *client {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	c := &client{t: t, in: inWrite, done: make(chan error, 1), stop: stop, waits: map[int]chan reply{}}
	go func() {
		err := Serve(ctx, dir, readOnly, inRead, outWrite)
		_ = outWrite.Close()
		c.done <- err
	}()
	var reading sync.WaitGroup
	reading.Go(func() { c.receive(outRead) })
	t.Cleanup(func() {
		_ = inWrite.Close()
		reading.Wait()
		stop()
	})
	c.request("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}})
	c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return c
}

func (c *client) receive(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r reply
		if err := json.Unmarshal(line, &r); err != nil {
			c.t.Errorf("server wrote %q: %v", line, err)
			continue
		}
		id := -1
		if r.ID != nil {
			id = *r.ID
		}
		c.mu.Lock()
		wait := c.waits[id]
		c.mu.Unlock()
		if wait != nil {
			wait <- r
		}
	}
}

func (c *client) send(m any) {
	text, err := json.Marshal(m)
	if err != nil {
		c.t.Fatal(err)
	}
	c.raw(string(text))
}

func (c *client) raw(line string) {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Error(err)
	}
}

// expect registers a request and gives its id and where its reply will come.
func (c *client) expect() (int, chan reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	c.waits[c.next] = make(chan reply, 1)
	return c.next, c.waits[c.next]
}

func (c *client) begin(method string, params any) chan reply {
	id, wait := c.expect()
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return wait
}

func (c *client) request(method string, params any) reply { return <-c.begin(method, params) }

func (c *client) beginCall(tool string, arguments any) chan reply {
	return c.begin("tools/call", map[string]any{"name": tool, "arguments": arguments})
}

type m = map[string]any

// call gives the text of a tool's result and whether it is marked as error.
func (c *client) call(tool string, arguments any) (string, bool) {
	c.t.Helper()
	return c.result(<-c.beginCall(tool, arguments))
}

func (c *client) result(r reply) (string, bool) {
	c.t.Helper()
	if r.Error != nil {
		return r.Error.Message, true
	}
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		StructuredContent struct {
			Content any `json:"content"`
		} `json:"structuredContent"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(r.Result, &result); err != nil {
		c.t.Fatalf("result %s: %v", r.Result, err)
	}
	if len(result.Content) != 1 {
		c.t.Fatalf("result %s has %d blocks", r.Result, len(result.Content))
	}
	text := result.Content[0].Text
	if same, ok := result.StructuredContent.Content.(string); !result.IsError && ok && same != text {
		c.t.Errorf("structured content %q differs from the text %q", same, text)
	}
	return text, result.IsError
}

// good calls a tool that must succeed.
func (c *client) good(tool string, arguments any) string {
	c.t.Helper()
	text, bad := c.call(tool, arguments)
	if bad {
		c.t.Errorf("%s %v failed: %s", tool, arguments, text)
	}
	return text
}

// bad calls a tool that must fail.
func (c *client) bad(tool string, arguments any) string {
	c.t.Helper()
	text, bad := c.call(tool, arguments)
	if !bad {
		c.t.Errorf("%s %v did not fail: %s", tool, arguments, text)
	}
	return text
}

const secret = "SECRET-OUTSIDE"

// sample makes a folder with a bit of everything beside a file that must stay out of reach, and gives the folder.
func sample(t testing.TB) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "dir")
	for name, content := range map[string]string{
		"../outside.txt": secret, "../dir2/x.txt": secret,
		"a.txt": "one\ntwo\nthree\n", "b.txt": "no newline", "crlf.txt": "a\r\nb\r\nc\r\n", "ünï.txt": "ü\n日本\n",
		"sub/x.py": "def f():\n    return 1\n\ndef g():\n    return 2\n", "sub/deep/y.txt": "y", ".hid/z.txt": "z",
		"Big.txt": strings.Repeat("x", 5000), "_u": "1", "9n": strings.Repeat("3", 1500), "B2": "",
		"code.md": "a\n```\nb\n```\n", "pic.PNG": "\x89PNG", "s.mp3": "abc",
	} {
		put(t, filepath.Join(dir, name), content)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"link": "a.txt", "linkdir": "sub", "abslink": dir + "/sub", "dangling": "nowhere", "loop": "loop",
		"out": "..", "outf": "../outside.txt", "absout": base, "sub/relout": "../../outside.txt", "twostep": "sub/relout", "newout": "../made-outside",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func put(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
