package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sense-lang/sense/mcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is long, since tests must not depend on the machine's speed.
const patience = 30 * time.Second

// echo is a server whose tools show what reached them.
func echo() *Server {
	return &Server{
		Name: "echo", Version: "1", Instructions: "be kind",
		Tools: []Tool{
			{
				Name: "args", Description: "Its arguments", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
				ReadOnly: true, Requires: []string{"a.b"},
				Call: func(_ context.Context, c *Call) (*Result, error) {
					return &Result{Text: string(c.Args) + " from " + c.Client, Structured: c.Args}, nil
				},
			},
			{
				Name: "fails", Schema: json.RawMessage(`{"type":"object"}`),
				Call: func(context.Context, *Call) (*Result, error) { return nil, errors.New("out of luck") },
			},
			{
				Name: "asks", Schema: json.RawMessage(`{"type":"object"}`),
				Call: func(_ context.Context, c *Call) (*Result, error) {
					if c.Answer == nil {
						return nil, &Ask{"Really?"}
					}
					return &Result{Text: fmt.Sprintf("%v %q", c.Answer.Approved, c.Answer.Reason)}, nil
				},
			},
			{
				Name: "waits", Schema: json.RawMessage(`{"type":"object"}`),
				Call: func(ctx context.Context, _ *Call) (*Result, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				},
			},
			{
				Name: "chats", Schema: json.RawMessage(`{"type":"object"}`),
				Call: func(ctx context.Context, c *Call) (*Result, error) {
					name, err := c.Ask(ctx, "Your name?")
					if err != nil {
						return nil, err
					}
					color, err := c.Ask(ctx, "Your color, "+name+"?")
					return &Result{Text: name + " likes " + color}, err
				},
			},
			{
				Name: "panics", Schema: json.RawMessage(`{"type":"object"}`),
				Call: func(context.Context, *Call) (*Result, error) { panic("oh") },
			},
		},
	}
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// talk sends lines and gives what was answered, by id.
func talk(t *testing.T, lines string) map[string]map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := Stdio(context.Background(), echo(), strings.NewReader(hello+lines), &out); err != nil {
		t.Fatal(err)
	}
	answers := map[string]map[string]any{}
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("no JSON: %s", line)
		}
		answers[fmt.Sprint(m["id"])] = m
		m["line"] = line
	}
	return answers
}

func TestStdio(t *testing.T) {
	got := talk(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"args","arguments":{"n":9007199254740993, "f":1.0,"s":"<&>\u0000"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"args"}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"fails","arguments":{}}}
{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"nothing","arguments":{}}}
{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"panics","arguments":{}}}
{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"args","arguments":[1]}}
{"jsonrpc":"2.0","id":8,"method":"ping"}
no json
`)
	for id, want := range map[string]string{
		"0":     `"instructions":"be kind"`,
		"1":     `"_meta":{"sense/requires":["a.b"]}`,
		"2":     `{\"n\":9007199254740993, \"f\":1.0,\"s\":\"<&>\\u0000\"} from test`,
		"3":     `{} from test`,
		"4":     `"isError":true`,
		"5":     `"error"`,
		"6":     `panic`,
		"7":     `must be a JSON object`,
		"8":     `"result":{}`,
		"<nil>": `Parse error`,
	} {
		line, _ := got[id]["line"].(string)
		if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(line, `\u003c`, "<"), `\u003e`, ">"), `\u0026`, "&"), want) {
			t.Errorf("%s: %s lacks %s", id, line, want)
		}
	}
}

// A call that is asked for before the end of the input is answered.
func TestStdioAnswersBeforeTheEnd(t *testing.T) {
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"args","arguments":{"n":%d}}}`+"\n", i+1, i)
	}
	if got := talk(t, lines.String()); len(got) != 201 {
		t.Errorf("%d answers", len(got))
	}
}

// A client that does not wait for the answer to initialize gets it first.
func TestStdioInitializesFirst(t *testing.T) {
	for range 50 {
		var out bytes.Buffer
		in := hello + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"args"}}` + "\nno json\n"
		if err := Stdio(context.Background(), echo(), strings.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(out.String(), "\n"); !strings.Contains(first, `"id":0`) {
			t.Fatalf("first is %s", first)
		}
	}
}

func TestStdioAsksTheUser(t *testing.T) {
	for answer, want := range map[string]string{
		`{"action":"accept","content":{"approve":true,"reason":"fine"}}`: `true \"fine\"`,
		`{"action":"accept","content":{"approve":false}}`:                `false \"\"`,
		`{"action":"accept"}`:  `false \"\"`,
		`{"action":"decline"}`: `false \"\"`,
		`{"action":"cancel"}`:  `false \"\"`,
	} {
		in, client := io.Pipe()
		answers, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- Stdio(context.Background(), echo(), in, out); _ = out.Close() }()
		lines := bufio.NewReader(answers)
		if _, err := io.WriteString(client, hello+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks","arguments":{}}}`+"\n"); err != nil {
			t.Fatal(err)
		}
		var got string
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			if m.Method == "elicitation/create" {
				if !strings.Contains(line, "Really?") {
					t.Errorf("asked %s", line)
				}
				fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, answer)
			}
			if string(m.ID) == "1" && m.Method == "" {
				got = line
				break
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", answer, got)
		}
		_ = client.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestStdioEndsWithItsContext(t *testing.T) {
	in, client := io.Pipe()
	defer client.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Stdio(ctx, echo(), in, io.Discard) }()
	if _, err := io.WriteString(client, hello+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits","arguments":{}}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
	_ = in.Close()
}

func TestStdioClientGone(t *testing.T) {
	in, client := io.Pipe()
	defer client.Close()
	go func() { _, _ = io.WriteString(client, hello) }()
	err := Stdio(context.Background(), echo(), in, failing{})
	if err == nil || !strings.Contains(err.Error(), "cannot write to the client: no room") {
		t.Error(err)
	}
	_ = in.Close()
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no room") }

// listen serves over HTTP for a test and gives the address.
func listen(t *testing.T, s *Server, token string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- HTTP(ctx, s, l, token) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the server goes on")
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return "http://" + l.Addr().String() + Path
}

func TestHTTP(t *testing.T) {
	address := listen(t, echo(), "a-token-of-ours-1")
	m := mcp.NewManager()
	defer m.CloseAll()
	cfg := mcp.Config{Name: "srv", URL: address, Transport: "http", ConnectTimeout: patience, CallTimeout: patience}
	cfg.Handlers.Elicit = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(`{"approve":true,"reason":"` + r.Message + `"}`)}, nil
	}
	cfg.Headers = map[string]string{"Authorization": "Bearer wrong"}
	if _, err := m.Connect(context.Background(), cfg); err == nil {
		t.Fatal("a wrong token was let in")
	}
	cfg.Headers = map[string]string{"Authorization": "Bearer a-token-of-ours-1"}
	s, err := m.Connect(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Tools()) != 6 || s.Instructions() != "be kind" {
		t.Errorf("%d tools, %q", len(s.Tools()), s.Instructions())
	}
	r, err := s.Call(context.Background(), "args", json.RawMessage(`{"n":9007199254740993}`))
	if err != nil || !strings.HasPrefix(r.Text, `{"n":9007199254740993} from `) || string(r.Structured) != `{"n":9007199254740993}` {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = s.Call(context.Background(), "asks", nil); err != nil || r.Text != `true "Really?"` {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = s.Call(context.Background(), "fails", nil); err != nil || !r.IsError || r.Text != "out of luck" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestHTTPRefuses(t *testing.T) {
	address := listen(t, echo(), "")
	req, err := http.NewRequest(http.MethodPost, address, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign host name: %s", resp.Status)
	}
	if resp, err = http.Get(strings.TrimSuffix(address, Path) + "/other"); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("another path: %s", resp.Status)
	}
}

// TestHTTPForeignOrigins sends what pages in a browser would send.
func TestHTTPForeignOrigins(t *testing.T) {
	address := listen(t, echo(), "")
	own := strings.TrimSuffix(address, Path)
	for origin, want := range map[string]int{
		"": http.StatusOK, own: http.StatusOK, strings.ToUpper(own): http.StatusOK, "null": http.StatusForbidden,
		"https://evil.example": http.StatusForbidden, own + ".evil.example": http.StatusForbidden, "http://127.0.0.1:1": http.StatusForbidden, "%": http.StatusForbidden,
	} {
		req, err := http.NewRequest(http.MethodPost, address, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+
			`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("origin %q: %s, want %d", origin, resp.Status, want)
		}
	}
}

// post sends one message of a session and gives the status and the session.
func post(t *testing.T, address, method, session, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("Mcp-Session-Id")
}

// A session that has ended, or is of another run of the server, is not found, so
// that its client begins a new one.
func TestHTTPSessions(t *testing.T) {
	address := listen(t, echo(), "")
	begin, _, _ := strings.Cut(hello, "\n")
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	status, session := post(t, address, http.MethodPost, "", begin)
	if status != http.StatusOK || session == "" {
		t.Fatalf("initialize: status %d, session %q", status, session)
	}
	if status, _ = post(t, address, http.MethodPost, session, list); status != http.StatusOK {
		t.Errorf("a session: status %d", status)
	}
	if status, _ = post(t, address, http.MethodDelete, session, ""); status != http.StatusOK {
		t.Errorf("ending a session: status %d", status)
	}
	for _, id := range []string{session, "of-another-run"} {
		if status, _ = post(t, address, http.MethodPost, id, list); status != http.StatusNotFound {
			t.Errorf("session %q: status %d", id, status)
		}
	}
}

func TestSessionsAreBounded(t *testing.T) {
	var s sessions
	first := s.Generate()
	for range maxSessions {
		s.Generate()
	}
	if ended, _ := s.Validate(first); !ended || len(s.live) != maxSessions || len(s.age) != maxSessions {
		t.Errorf("%d sessions, the oldest ended: %v", len(s.live), ended)
	}
}

// FuzzHideArgs: no message makes it panic, and what it changes is a call whose
// arguments come out as they went in.
func FuzzHideArgs(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{"n":1e400}}}`))
	f.Add([]byte(`{"method":"tools/call","params":{"arguments":[]}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		out := hideArgs(line)
		if bytes.Equal(out, line) {
			return
		}
		var before, after struct {
			Params struct {
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &before) != nil {
			return // members that differ in case only
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		var decoded any
		if err := json.Unmarshal(after.Params.Arguments, &decoded); err != nil {
			t.Fatal(err)
		}
		if _, err := exactArgs(decoded); err != nil {
			t.Fatal(err)
		}
	})
}
