//go:build linux

package mcp

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

type handler = func(w http.ResponseWriter, r *http.Request, m rpc) bool

// onEcho replaces the answer to calls of echo.
func onEcho(f func(w http.ResponseWriter, m rpc)) handler {
	return func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
		if m.call().Name != "echo" {
			return false
		}
		f(w, m)
		return true
	}
}

// Answers to a call that are odd but usable.
func TestHTTPAnswers(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	tests := []struct {
		name, want string
		call       func(w http.ResponseWriter, m rpc)
	}{
		{"JSON", "a", func(w http.ResponseWriter, m rpc) { answer(w, m, textResult("a")) }},
		{"event stream", "a", func(w http.ResponseWriter, m rpc) { events(w)("event: message\ndata: %s\n\n", result(m, "a")) }},
		{"CRLF", "a", func(w http.ResponseWriter, m rpc) { events(w)("data:%s\r\n\r\n", result(m, "a")) }},
		{"bare CR", "a", func(w http.ResponseWriter, m rpc) { events(w)("data: %s\r\r", result(m, "a")) }},
		{"data over several lines", "a", func(w http.ResponseWriter, m rpc) {
			events(w)("data: %s\n\n", strings.Replace(result(m, "a"), `,"result"`, "\ndata: ,\"result\"", 1))
		}},
		{"no blank line at the end", "a", func(w http.ResponseWriter, m rpc) { events(w)("data: %s", result(m, "a")) }},
		{"A54 long line", long, func(w http.ResponseWriter, m rpc) { events(w)("data: %s\n\n", result(m, long)) }},
		{"A54 comments only for a while", "a", func(w http.ResponseWriter, m rpc) {
			send := events(w)
			for range 5 {
				send(": ping\n\n")
				time.Sleep(20 * time.Millisecond)
			}
			send("data: %s\n\n", result(m, "a"))
		}},
		{"notification before", "a", func(w http.ResponseWriter, m rpc) {
			send := events(w)
			send("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n")
			send("data: %s\n\n", result(m, "a"))
		}},
		{"other events", "a", func(w http.ResponseWriter, m rpc) {
			send := events(w)
			send("event: keepalive\ndata: {}\n\nid: 7\ndata:\n\n")
			send("data: %s\n\n", result(m, "a"))
		}},
		{"batch", "a", func(w http.ResponseWriter, m rpc) {
			write(w, `[{"jsonrpc":"2.0","method":"notifications/x"},%s]`, result(m, "a"))
		}},
		{"string id", "a", func(w http.ResponseWriter, m rpc) {
			write(w, `{"jsonrpc":"2.0","id":"%s","result":%s}`, m.ID, textResult("a"))
		}},
		{"indented", "a", func(w http.ResponseWriter, m rpc) {
			write(w, "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": %s,\n  \"result\": %s\n}\n", m.ID, textResult("a"))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			web := newWebServer(t)
			web.on["tools/call"] = onEcho(tt.call)
			s, _ := web.dial(t)
			if got := call(t, s, "echo", `{"text":"x"}`); got != tt.want {
				t.Errorf("got %.80q", got)
			}
			if n := web.calls("echo"); n != 1 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

// noHTTP answers with what HTTP does not know.
func noHTTP(w http.ResponseWriter, _ rpc) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = conn.Write([]byte("{\"jsonrpc\":\"2.0\"}\n"))
		_ = conn.Close()
	}
}

// Calls that fail, each with the cause, sent once, and without harm to others.
func TestHTTPCallFails(t *testing.T) {
	short := func(c *Config) { c.CallTimeout = 300 * time.Millisecond }
	status := func(code int, kind, body string) func(http.ResponseWriter, rpc) {
		return func(w http.ResponseWriter, _ rpc) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	const repeated = "may have been carried out and was not sent again"
	tests := []struct {
		name   string
		call   func(w http.ResponseWriter, m rpc)
		change func(*Config)
		want   []string
	}{
		{"500", status(500, "text/plain", "out of\ncheese"), nil, []string{"the server answered HTTP status 500 Internal Server Error: out of cheese"}},
		{"502 with a page", status(502, "text/html", "<html>"), nil, []string{"HTTP status 502 Bad Gateway"}},
		{"400 with an error", status(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"bad args"}}`), nil,
			[]string{"bad args (JSON-RPC error -32602) with HTTP status 400 Bad Request"}},
		{"403 with other JSON", status(403, "application/json", `{"error":"insufficient_rights"}`), nil, []string{"HTTP status 403 Forbidden", "insufficient_rights"}},
		{"401", status(401, "text/plain", ""), nil, []string{"the server wants a login"}},
		{"404 without a session", status(404, "text/plain", "gone"), nil, []string{"HTTP status 404 Not Found: gone"}},
		{"202 and nothing", status(202, "", ""), nil, []string{"HTTP status 202 and nothing else"}},
		{"a page", status(200, "text/html", "<html>"), nil, []string{"content of type 'text/html', which is neither JSON nor an event stream"}},
		{"no JSON", status(200, "application/json", "hello"), nil, []string{"no JSON-RPC message: hello"}},
		{"nothing", status(200, "application/json", ""), nil, []string{"the server's answer is empty"}},
		{"no HTTP", noHTTP, nil, []string{"the server's answer is broken: malformed", repeated}},
		{"result of another type", func(w http.ResponseWriter, m rpc) { answer(w, m, `"text"`) }, nil, []string{"the server's answer is not valid: it cannot be of JSON type string"}},
		{"part of another type", func(w http.ResponseWriter, m rpc) { answer(w, m, `{"content":[],"isError":12}`) }, nil, []string{"not valid: 'isError' cannot be of JSON type number"}},
		{"id that no header can hold", func(w http.ResponseWriter, m rpc) { events(w)("id: a\x1bb\ndata:\n\n") }, nil,
			[]string{"ended its answer before it was complete", repeated}},
		{"wrong id", func(w http.ResponseWriter, m rpc) { write(w, `{"jsonrpc":"2.0","id":999,"result":{}}`) }, nil, []string{"the server's answer belongs to another request"}},
		{"wrong id in a stream", func(w http.ResponseWriter, m rpc) {
			events(w)("data: {\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}\n\n")
		}, nil,
			[]string{"ended its answer before it was complete", repeated}},
		{"null id", func(w http.ResponseWriter, m rpc) {
			write(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"could not parse"}}`)
		}, nil, []string{"could not parse (JSON-RPC error -32700)"}},
		{"JSON-RPC error", func(w http.ResponseWriter, m rpc) {
			write(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32099,"message":"no","data":{"n":12345678901234567890}}}`, m.ID)
		}, nil, []string{`no (JSON-RPC error -32099, data {"n":12345678901234567890})`}},
		{"cut before the answer", func(w http.ResponseWriter, m rpc) { cut(w) }, nil, []string{"closed the connection without an answer", repeated}},
		{"cut in JSON", func(w http.ResponseWriter, m rpc) {
			w.Header().Set("Content-Length", "1000")
			write(w, `{"jsonrpc":`)
		}, nil, []string{"the connection broke before the answer was complete", repeated}},
		{"cut stream", func(w http.ResponseWriter, m rpc) {
			events(w)("data: {\"jsonrpc\"")
			cut(w)
		}, nil, []string{"the connection broke before the answer was complete", repeated}},
		{"empty stream", func(w http.ResponseWriter, m rpc) { events(w) }, nil, []string{"ended its answer before it was complete", repeated}},
		{"never answers", func(w http.ResponseWriter, m rpc) { time.Sleep(time.Second) }, short, []string{"timed out after 0.3 s"}},
		{"silent stream", func(w http.ResponseWriter, m rpc) { events(w); time.Sleep(time.Second) }, short, []string{"timed out after 0.3 s"}},
		{"too large", func(w http.ResponseWriter, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			large(w)
		}, nil, []string{"message larger than 64 MiB"}},
		{"too large an event", func(w http.ResponseWriter, m rpc) { events(w)("data: "); large(w) }, nil, []string{"message larger than 64 MiB"}},
		{"bad JSON inside", func(w http.ResponseWriter, m rpc) { answer(w, m, `{"content":[}`) }, nil, []string{"no JSON-RPC message"}},
		{"deep", func(w http.ResponseWriter, m rpc) {
			answer(w, m, `{"x":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)+`}`)
		}, nil, []string{"nested 301 deep"}},
		{"redirect elsewhere", func(w http.ResponseWriter, m rpc) {
			w.Header().Set("Location", "http://other.example/mcp?key=secret")
			w.WriteHeader(307)
		}, nil, []string{"redirects to another origin, 'http://other.example/mcp', which is not followed"}},
		{"redirect that drops the request", func(w http.ResponseWriter, m rpc) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(302)
		}, nil, []string{"in a way that drops the request"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			web := newWebServer(t)
			web.on["tools/call"] = onEcho(tt.call)
			change := tt.change
			if change == nil {
				change = func(*Config) {}
			}
			s, _ := web.dial(t, change)
			within(t, patience/2, "failing", func() {
				_, err := s.Call(context.Background(), "echo", echo("x"))
				wantError(t, err, tt.want...)
			})
			if got := call(t, s, "args", `{"n":1.0}`); got != `{"n":1.0}` {
				t.Errorf("the next call gave %q", got)
			}
			if n := web.calls("echo"); n != 1 {
				t.Errorf("sent %d times", n)
			}
			if s.Status() != Connected {
				t.Errorf("status %s", s.Status())
			}
		})
	}
}

// large writes more than a message may have.
func large(w http.ResponseWriter) {
	piece := []byte(strings.Repeat(" ", 1<<20))
	for range maxMessage>>20 + 1 {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// Servers that are not usable over HTTP: the error says why.
func TestHTTPConnectFails(t *testing.T) {
	status := func(code int) handler {
		return func(w http.ResponseWriter, _ *http.Request, _ rpc) bool { w.WriteHeader(code); return true }
	}
	rpcAnswer := func(result string) handler {
		return func(w http.ResponseWriter, _ *http.Request, m rpc) bool { answer(w, m, result); return true }
	}
	tests := []struct {
		name   string
		on     map[string]handler
		change func(*Config)
		want   []string
	}{
		{"400", map[string]handler{"POST": status(400), "initialize": status(400)}, nil, []string{"HTTP status 400 Bad Request"}},
		{"500", map[string]handler{"initialize": status(500)}, nil, []string{"HTTP status 500"}},
		{"403", map[string]handler{"initialize": status(403)}, nil, []string{"HTTP status 403 Forbidden"}},
		{"401", map[string]handler{"initialize": status(401), "server/discover": status(401)}, nil, []string{"the server wants a login"}},
		{"401 with a header", map[string]handler{"initialize": status(401)}, func(c *Config) { c.Headers = map[string]string{"authorization": "Bearer x"} },
			[]string{"refuses the Authorization header of the configuration"}},
		{"neither way", map[string]handler{"initialize": status(405), "GET": status(404)}, nil, []string{"HTTP status 405", "by server-sent events: the server answered HTTP status 404"}},
		{"404 where http is wanted", map[string]handler{"initialize": status(404)}, func(c *Config) { c.Transport = "http" }, []string{"HTTP status 404"}},
		{"a future revision", map[string]handler{"initialize": rpcAnswer(`{"protocolVersion":"2099-01-01","capabilities":{},"serverInfo":{"name":"a","version":"1"}}`)}, nil, []string{"'2099-01-01'"}},
		{"no initialize", map[string]handler{"initialize": func(w http.ResponseWriter, r *http.Request, _ rpc) bool { <-r.Context().Done(); return true }},
			func(c *Config) { c.ConnectTimeout = 400 * time.Millisecond }, []string{"no answer to initialize in 0.4 s"}},
		{"no list", map[string]handler{"tools/list": func(w http.ResponseWriter, r *http.Request, _ rpc) bool { <-r.Context().Done(); return true }},
			func(c *Config) { c.ConnectTimeout = 400 * time.Millisecond }, []string{"no answer to tools/list in 0.4 s"}},
		{"refuses", map[string]handler{"initialize": func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
			write(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"licence expired"}}`, m.ID)
			return true
		}}, nil, []string{"licence expired (JSON-RPC error -32000)"}},
		{"no address", nil, func(c *Config) { c.URL = "ftp://x" }, []string{"url 'ftp://x' is no http or https address"}},
		{"bad header", nil, func(c *Config) { c.Headers = map[string]string{"X-A": "1\r\nX-B: 2"} }, []string{"the header 'X-A' is not valid"}},
		{"bad header name", nil, func(c *Config) { c.Headers = map[string]string{"X A": "1"} }, []string{"the header 'X A' is not valid"}},
		{"nobody there", nil, func(c *Config) { c.URL = "http://127.0.0.1:1/mcp?key=secret" }, []string{"cannot reach http://127.0.0.1:1/mcp: ", "connection refused"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			web := newWebServer(t)
			for key, on := range tt.on {
				web.on[key] = on
			}
			cfg, _ := web.config()
			if tt.change != nil {
				tt.change(&cfg)
			}
			m := newManager(t)
			within(t, patience/2, "failing", func() {
				_, err := m.Connect(context.Background(), cfg)
				wantError(t, err, tt.want...)
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("the error tells a secret: %v", err)
				}
			})
			want := Failed
			if strings.HasPrefix(tt.name, "401") {
				want = NeedsAuth
			}
			if got := m.Servers()[0].Status(); got != want {
				t.Errorf("status %s, want %s", got, want)
			}
		})
	}
}

// What a server asks on the GET stream is answered, while a call that waits for
// the answer is under way.
func TestHTTPServerAsks(t *testing.T) {
	web := newWebServer(t)
	web.session = "s"
	ask, answered := make(chan string), make(chan rpc, 1)
	web.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool {
		send := events(w)
		for {
			select {
			case text := <-ask:
				send("data: %s\n\n", text)
			case <-r.Context().Done():
				return true
			}
		}
	}
	web.on["POST"] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
		if m.Method == "" && m.ID != nil {
			answered <- m
		}
		return false
	}
	web.on["tools/call"] = onEcho(func(w http.ResponseWriter, m rpc) {
		ask <- `{"jsonrpc":"2.0","id":"r-1","method":"roots/list"}`
		got := <-answered
		answer(w, m, textResult(string(got.ID)+string(got.Result)))
	})
	changed := make(chan bool, 1)
	s, _ := web.dial(t, func(c *Config) {
		c.Headers = map[string]string{"X-Key": "k"}
		c.Handlers.Roots = func(context.Context) ([]Root, error) { return []Root{{URI: "file:///x"}}, nil }
		c.Handlers.ToolsChanged = func() { changed <- true }
	})
	if got := call(t, s, "echo", `{"text":"x"}`); got != `"r-1"{"roots":[{"uri":"file:///x"}]}` {
		t.Errorf("got %s", got)
	}
	ask <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	<-changed
	within(t, patience/2, "close", func() { _ = s.Close() })
	for _, r := range append(web.requests("DELETE"), web.requests("GET")...) {
		if r.header.Get("X-Key") != "k" || r.header.Get("Mcp-Session-Id") != "s" {
			t.Errorf("%s came with %v", r.verb, r.header)
		}
	}
	if n := len(web.requests("DELETE")); n != 1 {
		t.Errorf("the session was ended %d times", n)
	}
}

// An answer may be left to the GET stream.
func TestHTTPAnswerOnStream(t *testing.T) {
	web := newWebServer(t)
	say := make(chan string, 1)
	web.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool {
		send := events(w)
		select {
		case text := <-say:
			send("data: %s\n\n", text)
		case <-r.Context().Done():
		}
		<-r.Context().Done()
		return true
	}
	web.on["tools/call"] = onEcho(func(w http.ResponseWriter, m rpc) {
		w.WriteHeader(http.StatusAccepted)
		say <- result(m, "by stream")
	})
	s, _ := web.dial(t)
	if got := call(t, s, "echo", ""); got != "by stream" {
		t.Errorf("got %q", got)
	}
}
