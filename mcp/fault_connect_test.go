//go:build linux

package mcp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Servers that fail before they are connected: the error comes soon, says why
// and leaves nothing behind.
func TestConnectFails(t *testing.T) {
	second := func(c *Config) { c.ConnectTimeout = 700 * time.Millisecond }
	tests := []struct {
		name, mode, arg string
		change          func(*Config)
		want            []string
	}{
		{"A01 not on PATH", "none", "", func(c *Config) { c.Command = "no-such-launcher" }, []string{"command 'no-such-launcher' was not found on PATH"}},
		{"A06 a folder", "none", "", func(c *Config) { c.Command = "../mcp" }, []string{"command '../mcp' is a folder"}},
		{"no such file", "none", "", func(c *Config) { c.Command = "./none-here" }, []string{"command './none-here' does not exist"}},
		{"no such dir", "none", "", func(c *Config) { c.Dir = "/no/such/dir" }, []string{"could not be started", "no such file"}},
		{"A07 exits at start", "exit3", "", nil, []string{"exited with status 3 before it answered", "fatal: missing TOKEN"}},
		{"killed at start", "selfkill", "", nil, []string{"was ended by signal 9 (killed) before it answered"}},
		{"A08 never answers", "mute", "", second, []string{"no answer to initialize in 0.7 s"}},
		{"M6 no initialize", "hanginit", "", second, []string{"no answer to initialize in 0.7 s"}},
		{"M6 no list", "hanglist", "", second, []string{"no answer to tools/list in 0.7 s"}},
		{"refuses", "refuseinit", "", nil, []string{"licence expired (JSON-RPC error -32000)"}},
		{"revision of the future", "protocol", "2099-01-01", nil, []string{"'2099-01-01'", "2024-11-05 to 2026-07-28"}},
		{"revision of the past", "protocol", "1999-01-01", nil, []string{"'1999-01-01'"}},
		{"no revision", "emptyinit", "", nil, []string{"without a protocol revision"}},
		{"no object", "badinit", "", nil, []string{"the server's answer is not valid"}},
		{"answers all with {}", "yesman", "", nil, []string{"no (JSON-RPC error -32601)"}},
		{"closes stdout", "closeout", "", nil, []string{"the server has closed its standard output"}},
		{"M10 endless junk", "endlessjunk", "", nil, []string{"over 100 lines in a row", "this is no message"}},
		{"A18 no line end", "noline", "", nil, []string{"message larger than 64 MiB"}},
		{"M9 repeated cursor", "repeatcursor", "", nil, []string{"tools/list repeats the cursor 'again'"}},
		{"M9 endless pages", "endlesspages", "", nil, []string{"more than 100 pages"}},
		{"M9 too many tools", "many", "", nil, []string{"more than 10000 tools"}},
		{"tools no list", "tools", `{"a":1}`, nil, []string{"the server's answer is not valid"}},
		{"no name", "none", "", func(c *Config) { c.Name = "" }, []string{"no name"}},
		{"nothing to connect to", "none", "", func(c *Config) { c.Command = "" }, []string{"neither a command nor a url"}},
		{"two things to connect to", "none", "", func(c *Config) { c.URL = "http://x" }, []string{"both a command and a url"}},
		{"odd transport", "none", "", func(c *Config) { c.Transport = "pigeon" }, []string{"transport 'pigeon' is none of"}},
		{"http with a command", "none", "", func(c *Config) { c.Transport = "http" }, []string{"transport 'http' needs a url"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change := tt.change
			if change == nil {
				change = func(*Config) {}
			}
			within(t, patience/2, "failing", func() {
				wantError(t, refused(t, tt.mode, tt.arg, change), tt.want...)
			})
		})
	}
}

// Servers that are odd but usable.
func TestConnectWorks(t *testing.T) {
	tests := []struct {
		name, mode, arg string
		warning         string
	}{
		{"plain", "none", "", ""},
		{"A14 banner and junk", "banner", "", "Server starting..."},
		{"A14 chatter", "chatter", "", "log line"},
		{"A15 glued to the first answer", "glued", "", ""},
		{"A16 in pieces", "flushes", "", ""},
		{"A19 byte by byte", "bytes", "", ""},
		{"A16 CRLF", "crlf", "", ""},
		{"indented", "pretty", "", ""},
		{"old revision", "protocol", "2024-11-05", ""},
		{"A47 ping before initialize", "ping", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, w := connect(t, tt.mode, tt.arg)
			if s.Status() != Connected || s.Err() != nil {
				t.Fatalf("status %s, error %v", s.Status(), s.Err())
			}
			if tt.mode != "ping" {
				const text = `日本語 "é" 🦊 <b>&`
				if got := call(t, s, "echo", `{"text":`+jsonString(text)+`}`); got != text {
					t.Errorf("echo gave %q", got)
				}
			}
			if !strings.Contains(w.text(), tt.warning) {
				t.Errorf("warnings %q do not tell of %q", w.text(), tt.warning)
			}
			if n := len(w.list); tt.warning != "" && n != 1 || tt.warning == "" && n != 0 {
				t.Errorf("%d warnings: %q", n, w.text())
			}
		})
	}
}

func TestServerFacts(t *testing.T) {
	s, _ := connect(t, "none", "")
	if s.Name() != "srv" || s.Instructions() != "be kind" || len(s.Tools()) != 3 {
		t.Errorf("name %q, instructions %q, %d tools", s.Name(), s.Instructions(), len(s.Tools()))
	}
	tool := s.Tools()[0]
	if tool.Name != "echo" || tool.Description != "Gives its text back" || tool.Server != s {
		t.Errorf("tool %+v", tool)
	}
	if got := string(tool.Schema); got != `{"type":"object","properties":{"text":{"type":"string"}}}` {
		t.Errorf("schema %s", got)
	}
	if _, err := s.Call(context.Background(), "nope", nil); err == nil || err.Error() != "the server has no tool 'nope'" {
		t.Errorf("unknown tool: %v", err)
	}
}

// A56, A57: what we write is one compact JSON object a line, unescaped.
func TestWhatTheServerReads(t *testing.T) {
	s, _ := connect(t, "none", "")
	call(t, s, "echo", "{\n  \"text\": \"<a> & b\"\r\n}")
	lines := strings.Split(call(t, s, "seen", ""), "\n")
	want := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"sense","version":"` + ourVersion + `"},"capabilities":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"<a> & b"},"_meta":{"progressToken":3}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"seen","arguments":{},"_meta":{"progressToken":4}}}`,
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the server read\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// A modern server is found by server/discover after it refused initialize, and
// gets what its revision wants with every request.
func TestModernServer(t *testing.T) {
	s, _ := connect(t, "modern", "", func(c *Config) {
		c.Handlers.Roots = func(context.Context) ([]Root, error) { return nil, nil }
	})
	if s.Instructions() != "modern" {
		t.Errorf("instructions %q", s.Instructions())
	}
	call(t, s, "echo", `{"text":"x"}`)
	lines := strings.Split(call(t, s, "seen", ""), "\n")
	for _, line := range lines[2:] {
		for _, part := range []string{`"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientInfo":{"name":"sense"`, `"io.modelcontextprotocol/clientCapabilities":{"roots":{}}`} {
			if !strings.Contains(line, part) {
				t.Errorf("%s lacks %s", line, part)
			}
		}
	}
	if n := strings.Count(strings.Join(lines, "\n"), `"method":"initialize"`); n != 1 {
		t.Errorf("initialize sent %d times", n)
	}
}

// Lists of tools: A17, A22, A26, A28, A29, A31, M3, M9.
func TestToolLists(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70)
	const odd = `{"type":"object","properties":{"x":{"type":"array","items":{"$ref":"#/$defs/n"}}},"anyOf":[{"required":["a"]}],"$defs":{"n":{"$ref":"#/$defs/n"}},"x":9007199254740993}`
	tests := []struct {
		name, mode, arg string
		want            string // name=schema, joined by spaces
		warnings        int
	}{
		{"A31 three pages", "pages", "", `t1={"type":"object"} t2={"type":"object"} t3={"type":"object"}`, 0},
		{"A22 odd names", "tools", `[{"name":"Dockerfile scan","inputSchema":{}},{"name":"unicodé","inputSchema":{}},{"name":"1st","inputSchema":{}}]`, `Dockerfile scan={} unicodé={} 1st={}`, 0},
		{"A26 A28 A29 schemas untouched", "tools", `[{"name":"t","inputSchema":` + odd + `}]`, "t=" + odd, 0},
		{"no schema", "tools", `[{"name":"t"}]`, `t={"type":"object"}`, 0},
		{"bad ones left out", "tools", `[7,{"name":""},{"inputSchema":{}},{"name":5},{"name":"s","inputSchema":"x"},{"name":"ok","inputSchema":{},"annotations":"odd","description":null}]`, `ok={}`, 5},
		{"M9 deep schema left out", "tools", `[{"name":"d","inputSchema":` + deep + `},{"name":"ok","inputSchema":{}}]`, `ok={}`, 1},
		{"M3 same name twice", "tools", `[{"name":"a","inputSchema":{}},{"name":"a","inputSchema":{"x":1}}]`, `a={}`, 1},
		{"none", "tools", `[]`, ``, 0},
		{"null", "tools", `null`, ``, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, w := connect(t, tt.mode, tt.arg)
			var got []string
			for _, tool := range s.Tools() {
				got = append(got, tool.Name+"="+string(tool.Schema))
				if text := call(t, s, tool.Name, ""); text != "called "+tool.Name {
					t.Errorf("calling %q gave %q", tool.Name, text)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("tools %q, want %q", got, tt.want)
			}
			if len(w.list) != tt.warnings {
				t.Errorf("%d warnings, want %d: %s", len(w.list), tt.warnings, w.text())
			}
		})
	}
	t.Run("A17 a long list", func(t *testing.T) {
		s, _ := connect(t, "biglist", "")
		if n := len(s.Tools()[0].Description); n != 500_000 {
			t.Errorf("description of %d bytes", n)
		}
	})
}

func TestAllowList(t *testing.T) {
	s, _ := connect(t, "none", "", func(c *Config) { c.Tools = []string{"e*", "args"} })
	var names []string
	for _, tool := range s.Tools() {
		names = append(names, tool.Name)
	}
	if fmt.Sprint(names) != "[echo args]" {
		t.Errorf("tools %v", names)
	}
	_, err := s.Call(context.Background(), "seen", nil)
	wantError(t, err, "the server has no tool 'seen'")
}

// A33: a changed list is read at the next use.
func TestListChanged(t *testing.T) {
	told, logged := make(chan struct{}, 1), make(chan LogMessage, 1)
	s, _ := connect(t, "listchanged", "", func(c *Config) {
		c.Handlers.ToolsChanged = func() { told <- struct{}{} }
		c.Handlers.Log = func(m LogMessage) { logged <- m }
	})
	<-told
	if got := s.Tools()[0].Name; got != "gen2" {
		t.Errorf("tool %q after the change", got)
	}
	if m := <-logged; m != (LogMessage{Server: "srv", Level: "info", Logger: "l", Text: `{"k":1}`}) {
		t.Errorf("log message %+v", m)
	}
	_, err := s.Call(context.Background(), "gen1", nil)
	wantError(t, err, "the server has no tool 'gen1'")
}

// A server made by Start is pending, and its first use waits for it.
func TestStart(t *testing.T) {
	m := newManager(t)
	cfg, _ := faulty("none", "")
	s := m.Start(context.Background(), cfg)
	if got := call(t, s, "echo", `{"text":"x"}`); got != "x" {
		t.Errorf("echo gave %q", got)
	}
	cfg, _ = faulty("exit3", "")
	bad := m.Start(context.Background(), cfg)
	wantError(t, bad.Wait(context.Background()), "exited with status 3")
	if bad.Status() != Failed {
		t.Errorf("status %s", bad.Status())
	}
	_, err := bad.Call(context.Background(), "echo", nil)
	wantError(t, err, "the connection is closed", "missing TOKEN")
	if n := len(m.Servers()); n != 2 {
		t.Errorf("%d servers", n)
	}
	m.CloseAll()
	if s.Status() != Closed {
		t.Errorf("status %s after CloseAll", s.Status())
	}
	if _, err := m.Connect(context.Background(), cfg); err != ErrClosed {
		t.Errorf("connecting after CloseAll: %v", err)
	}
	late := m.Start(context.Background(), cfg)
	if _, err := late.Call(context.Background(), "echo", nil); err != ErrClosed {
		t.Errorf("a call of a server started after CloseAll: %v", err)
	}
}

// A08: an interrupted connect ends soon, with the process gone.
func TestConnectInterrupted(t *testing.T) {
	m := newManager(t)
	cfg, _ := faulty("sigign", "")
	cfg.Env[faultVariable] = "hanginit"
	ctx, cancel := context.WithCancelCause(context.Background())
	reason := fmt.Errorf("interrupted")
	time.AfterFunc(50*time.Millisecond, func() { cancel(reason) })
	_, err := m.Connect(ctx, cfg)
	if err == nil || err.Error() != "interrupted" {
		t.Errorf("error %v", err)
	}
	if left := leftovers(); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}

// Closing the manager ends connecting.
func TestCloseWhileConnecting(t *testing.T) {
	m := newManager(t)
	cfg, _ := faulty("hanginit", "")
	s := m.Start(context.Background(), cfg)
	m.CloseAll()
	if s.Status() != Closed {
		t.Errorf("status %s", s.Status())
	}
	wantError(t, func() error { _, err := s.Call(context.Background(), "echo", nil); return err }(), "the connection is closed")
}
