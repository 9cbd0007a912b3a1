//go:build linux

package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// sseServer turns a web server into one of revision 2024-11-05: everything it
// says goes by the stream of the one client.
type sseServer struct {
	*webServer
	mu     sync.Mutex
	say    func(format string, args ...any) // on the newest stream; nothing where it has ended
	stop   context.CancelFunc
	stream int // the number of the newest
}

func newSSEServer(t *testing.T, endpoint string) *sseServer {
	s := &sseServer{webServer: newWebServer(t)}
	s.version = "2024-11-05"
	s.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool {
		if r.URL.Path != "/sse" {
			return false
		}
		ctx, stop := context.WithCancel(r.Context())
		defer stop()
		say := events(w)
		s.mu.Lock()
		s.say, s.stop = say, stop
		s.stream++
		number := s.stream
		say("event: endpoint\ndata: %s\n\n", endpoint)
		s.mu.Unlock()
		<-ctx.Done()
		s.mu.Lock() // nobody may write to a stream whose handler has returned
		defer s.mu.Unlock()
		if s.stream == number {
			s.say = func(string, ...any) {}
		}
		return true
	}
	s.on["POST"] = func(w http.ResponseWriter, r *http.Request, m rpc) bool {
		w.WriteHeader(http.StatusAccepted)
		return true
	}
	for _, method := range []string{"initialize", "tools/list", "tools/call", "ping", "roots/list"} {
		s.on[method] = func(w http.ResponseWriter, r *http.Request, m rpc) bool {
			if r.URL.Path == "/sse" {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return true
			}
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, "Accepted")
			s.reply(m)
			return true
		}
	}
	s.on["server/discover"] = func(w http.ResponseWriter, r *http.Request, m rpc) bool {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return true
	}
	return s
}

func (s *sseServer) speak(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say(format, args...)
}

// reply answers in the plain way.
func (s *sseServer) reply(m rpc) {
	switch m.Method {
	case "initialize":
		s.speak("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":\"2024-11-05\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"sse\",\"version\":\"1\"}}}\n\n", m.ID)
	case "tools/list":
		s.speak("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"tools\":[%s]}}\n\n", m.ID, serverTools)
	case "tools/call":
		s.speak("data: %s\n\n", result(m, string(m.call().Arguments)))
	}
}

func (s *sseServer) join(t *testing.T, change ...func(*Config)) (*Server, *sleeper) {
	t.Helper()
	return s.dial(t, append(change, func(c *Config) { c.URL = s.URL + "/sse" })...)
}

// Old servers are found by their refusal of a POST.
func TestSSE(t *testing.T) {
	web := newSSEServer(t, "/messages?session=1")
	s, _ := web.join(t, func(c *Config) { c.Headers = map[string]string{"X-Key": "k"} })
	const args = `{"id":9007199254740993}`
	if got := call(t, s, "echo", args); got != args {
		t.Errorf("got %s", got)
	}
	for _, r := range web.requests("tools/call") {
		if r.path != "/messages" || r.header.Get("X-Key") != "k" {
			t.Errorf("%s with %v", r.path, r.header)
		}
	}
	within(t, patience/2, "close", func() { _ = s.Close() })
}

// A ping whose id is that of a call is not taken for its answer, long lines and
// silence are stood, and what the server asks is answered.
func TestSSEOddities(t *testing.T) {
	long := strings.Repeat("y", 2<<20)
	web := newSSEServer(t, "/messages")
	answered := make(chan rpc, 9)
	web.on[""] = nil
	plain := web.on["POST"]
	web.on["POST"] = func(w http.ResponseWriter, r *http.Request, m rpc) bool {
		if m.Method == "" {
			answered <- m
		}
		return plain(w, r, m)
	}
	web.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
		w.WriteHeader(http.StatusAccepted)
		web.speak("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}\n\n: still here\n\n", m.ID)
		web.speak("data: {\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"roots/list\"}\n\n")
		for range 2 {
			<-answered
		}
		web.speak("data: %s\n\n", result(m, long))
		return true
	}
	s, _ := web.join(t, func(c *Config) {
		c.Transport = "sse"
		c.Handlers.Roots = func(context.Context) ([]Root, error) { return nil, nil }
	})
	if got := call(t, s, "echo", ""); got != long {
		t.Errorf("got %d bytes", len(got))
	}
}

func TestSSEFails(t *testing.T) {
	for _, tt := range []struct {
		name, endpoint, want string
	}{
		{"another origin", "http://other.example/messages", "an address of another origin to post to"},
		{"another scheme", "file:///etc/passwd", "an address of another origin to post to"},
		{"no address", "%zz", "an address of another origin to post to"},
	} {
		web := newSSEServer(t, tt.endpoint)
		cfg, _ := web.config()
		cfg.URL, cfg.Transport = web.URL+"/sse", "sse"
		_, err := newManager(t).Connect(context.Background(), cfg)
		wantError(t, err, tt.want)
	}
	for want, on := range map[string]handler{
		"the server answered HTTP status 503":  func(w http.ResponseWriter, _ *http.Request, _ rpc) bool { w.WriteHeader(503); return true },
		"which is no event stream":             func(w http.ResponseWriter, _ *http.Request, _ rpc) bool { write(w, "{}"); return true },
		"larger than 64 MiB":                   func(w http.ResponseWriter, _ *http.Request, _ rpc) bool { events(w)("data: "); large(w); return true },
		"before it gave an address to post to": func(w http.ResponseWriter, _ *http.Request, _ rpc) bool { events(w); return true },
	} {
		web := newWebServer(t)
		web.on["GET"] = on
		cfg, _ := web.config()
		cfg.Transport = "sse"
		_, err := newManager(t).Connect(context.Background(), cfg)
		wantError(t, err, want)
	}
	web := newWebServer(t)
	web.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool { events(w); <-r.Context().Done(); return true }
	cfg, _ := web.config()
	cfg.Transport, cfg.ConnectTimeout = "sse", 300*time.Millisecond
	_, err := newManager(t).Connect(context.Background(), cfg)
	wantError(t, err, "no answer to initialize in 0.3 s")
}

// The end of the stream is the end of the connection: what was under way fails
// and is not repeated, what comes after goes to the next one.
func TestSSEStreamEnds(t *testing.T) {
	web := newSSEServer(t, "/messages")
	web.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
		w.WriteHeader(http.StatusAccepted)
		if m.call().Name == "echo" {
			web.mu.Lock()
			web.stop()
			web.mu.Unlock()
			return true
		}
		web.reply(m)
		return true
	}
	s, _ := web.join(t)
	_, err := s.Call(context.Background(), "echo", nil)
	wantError(t, err, "the server ended the event stream", "was not sent again")
	var lost *LostError
	if !errors.As(err, &lost) || lost.Unsent {
		t.Errorf("error %#v", err)
	}
	for i := range 3 {
		args := fmt.Sprintf(`{"i":%d}`, i)
		if got := call(t, s, "args", args); got != args {
			t.Errorf("got %s", got)
		}
	}
	if n := web.calls("echo"); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// A refused POST fails its call alone.
func TestSSEPostRefused(t *testing.T) {
	web := newSSEServer(t, "/messages")
	web.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
		if m.call().Name == "echo" {
			w.WriteHeader(500)
			return true
		}
		w.WriteHeader(http.StatusAccepted)
		web.reply(m)
		return true
	}
	s, _ := web.join(t)
	_, err := s.Call(context.Background(), "echo", nil)
	wantError(t, err, "HTTP status 500")
	call(t, s, "args", "{}")
}
