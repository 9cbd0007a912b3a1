//go:build linux

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// seenRequest is one request that a web server got.
type seenRequest struct {
	verb   string
	path   string
	header http.Header
	rpc    rpc
}

// webHandler answers one request, or leaves it by returning false.
type webHandler = func(w http.ResponseWriter, r *http.Request, m rpc) bool

// webServer is an MCP server over HTTP for tests. It serves the fault server's
// tools in the plainest way; on replaces the answer to a method, or to a verb
// of HTTP. A handler that returns false leaves the request to the plain way.
type webServer struct {
	*httptest.Server
	on      map[string]webHandler // after the first request, changed within change
	session string                // "" has none
	version string                // what initialize answers; "" is 2025-11-25
	modern  bool                  // answers server/discover

	mu   sync.Mutex
	seen []seenRequest
}

func newWebServer(t *testing.T) *webServer {
	t.Helper()
	s := &webServer{on: map[string]webHandler{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.Server.CloseClientConnections()
		s.Server.Close()
	})
	return s
}

func (s *webServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m rpc
	_ = json.Unmarshal(body, &m)
	m.raw = string(body)
	s.mu.Lock()
	s.seen = append(s.seen, seenRequest{r.Method, r.URL.Path, r.Header.Clone(), m})
	session, modern, version := s.session, s.modern, s.version
	byMethod, byVerb := s.on[m.Method], s.on[r.Method]
	s.mu.Unlock()
	for _, on := range []webHandler{byMethod, byVerb} {
		if on != nil && on(w, r, m) {
			return
		}
	}
	switch {
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.Method == http.MethodDelete:
	case session != "" && m.Method != "initialize" && m.Method != "server/discover" && r.Header.Get("Mcp-Session-Id") != session:
		w.WriteHeader(http.StatusNotFound)
	case m.Method == "initialize":
		if session != "" {
			w.Header().Set("Mcp-Session-Id", session)
		}
		if version == "" {
			version = "2025-11-25"
		}
		answer(w, m, `{"protocolVersion":"`+version+`","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"}}`)
	case m.Method == "server/discover" && modern:
		answer(w, m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"instructions":"be modern"}`)
	case m.Method == "tools/list":
		answer(w, m, `{"tools":[`+serverTools+`]}`)
	case m.Method == "tools/call":
		c := m.call()
		if c.Name == "args" {
			answer(w, m, textResult(string(c.Arguments)))
			return
		}
		var a struct{ Text string }
		_ = json.Unmarshal(c.Arguments, &a)
		answer(w, m, textResult(a.Text))
	case m.ID == nil || m.Method == "":
		w.WriteHeader(http.StatusAccepted)
	default:
		write(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	}
}

// change alters the server while it runs.
func (s *webServer) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// requests gives those that were got with a method of MCP or a verb of HTTP.
func (s *webServer) requests(key string) []seenRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []seenRequest
	for _, r := range s.seen {
		if r.rpc.Method == key || r.verb == key && r.rpc.Method == "" {
			out = append(out, r)
		}
	}
	return out
}

// calls counts the calls of a tool that were got.
func (s *webServer) calls(tool string) (n int) {
	for _, r := range s.requests("tools/call") {
		if r.rpc.call().Name == tool {
			n++
		}
	}
	return n
}

func write(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, format, args...)
}

func answer(w http.ResponseWriter, m rpc, result string) {
	write(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func textResult(text string) string {
	return `{"content":[{"type":"text","text":` + jsonString(text) + `}]}`
}

// events begins an event stream and gives what writes one piece of it.
func events(w http.ResponseWriter) func(format string, args ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := w.(http.Flusher).Flush
	flush()
	return func(format string, args ...any) {
		if len(args) == 0 {
			_, _ = io.WriteString(w, format)
		} else {
			fmt.Fprintf(w, format, args...)
		}
		flush()
	}
}

// result gives the response to m as one line.
func result(m rpc, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, textResult(text))
}

// cut breaks a connection off.
func cut(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// config gives a configuration for the server.
func (s *webServer) config() (Config, *warnings) {
	w := &warnings{}
	return Config{Name: "web", URL: s.URL + "/mcp", ConnectTimeout: patience, CallTimeout: patience, Warn: w.add}, w
}

// dial connects to the server with a clock that does not wait.
func (s *webServer) dial(t *testing.T, change ...func(*Config)) (*Server, *sleeper) {
	t.Helper()
	cfg, _ := s.config()
	for _, c := range change {
		c(&cfg)
	}
	m, clock := newManager(t), &sleeper{}
	m.Sleep = clock.sleep
	server, err := m.Connect(context.Background(), cfg)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	return server, clock
}

// eventually waits for something that another goroutine does.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come", what)
		}
	}
}

func echo(text string) json.RawMessage { return json.RawMessage(`{"text":` + jsonString(text) + `}`) }
