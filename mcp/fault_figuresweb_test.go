//go:build linux

package mcp

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense/internal/real"
)

// webFigureCases are faults of servers over HTTP: what is in the way of a method,
// at mute in the way of connecting.
var webFigureCases = []struct {
	figureCase
	method string
	on     webHandler
}{
	{figureCase{name: "500", want: "HTTP status 500"}, "tools/call", refuses(http.StatusInternalServerError)},
	{figureCase{name: "401", want: "wants a login"}, "tools/call", refuses(http.StatusUnauthorized)},
	{figureCase{name: "a page", want: "neither JSON nor an event stream"}, "tools/call", says("text/html", "<html>")},
	{figureCase{name: "no JSON", want: "no JSON-RPC message"}, "tools/call", says("application/json", "hello")},
	{figureCase{name: "A49 an answer with another id", want: "belongs to another request"}, "tools/call", says("application/json", `{"jsonrpc":"2.0","id":999,"result":{}}`)},
	{figureCase{name: "a stream that ends early", want: "before it was complete"}, "tools/call", says("text/event-stream", "data: {\"jsonrpc\"")},
	{figureCase{name: "cut before the answer", want: "without an answer"}, "tools/call", func(w http.ResponseWriter, _ *http.Request, _ rpc) bool {
		cut(w)
		return true
	}},
	{figureCase{name: "A41 never answers a call", mode: "hangcall", deadline: 300 * time.Millisecond, want: "timed out"}, "tools/call", hangs},
	{figureCase{name: "a stream without the answer", mode: "hangcall", deadline: 300 * time.Millisecond, want: "timed out"}, "tools/call", func(w http.ResponseWriter, r *http.Request, m rpc) bool {
		events(w)(": still here\n\n")
		return hangs(w, r, m)
	}},
	{figureCase{name: "A08 never answers initialize", mode: "mute", deadline: 300 * time.Millisecond, want: "no answer to"}, "POST", hangs},
	{figureCase{name: "M6 never lists its tools", mode: "hanglist", deadline: 300 * time.Millisecond, want: "no answer to tools/list"}, "tools/list", hangs},
	{figureCase{name: "M4 100 MB in JSON", deadline: time.Second, want: "message larger than 64 MiB"}, "tools/call", pours("application/json")},
	{figureCase{name: "M4 100 MB in an event", deadline: time.Second, want: "message larger than 64 MiB"}, "tools/call", pours("text/event-stream")},
}

// TestFaultFiguresWeb does as TestFaultFigures with servers over HTTP and SSE.
func TestFaultFiguresWeb(t *testing.T) {
	if os.Getenv(real.Variable) == "" {
		t.Skip("figures are taken by: make real")
	}
	for _, c := range webFigureCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			web := newWebServer(t)
			web.change(func() { // the client is another process, so nothing else orders this
				web.on[c.method] = c.on
				if c.method == "POST" {
					web.on["initialize"], web.on["server/discover"] = c.on, c.on
				}
			})
			looked(t, c.figureCase, web.URL+"/mcp")
		})
	}
	for _, c := range []figureCase{
		{name: "SSE, a call without an answer", mode: "hangcall", deadline: 300 * time.Millisecond, want: "timed out"},
		{name: "SSE, the stream ends in a call", want: "was not sent again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			web := newSSEServer(t, "/messages")
			web.change(func() {
				web.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, _ rpc) bool {
					w.WriteHeader(http.StatusAccepted)
					if c.deadline == 0 {
						web.mu.Lock()
						web.stop()
						web.mu.Unlock()
					}
					return true
				}
			})
			looked(t, c, web.URL+"/sse")
		})
	}
}

func refuses(status int) webHandler {
	return func(w http.ResponseWriter, _ *http.Request, _ rpc) bool {
		w.WriteHeader(status)
		return true
	}
}

func says(kind, body string) webHandler {
	return func(w http.ResponseWriter, _ *http.Request, _ rpc) bool {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// hangs answers nothing until the client has gone.
func hangs(_ http.ResponseWriter, r *http.Request, _ rpc) bool {
	<-r.Context().Done()
	return true
}

// pours writes 100 MB without a line end.
func pours(kind string) webHandler {
	return func(w http.ResponseWriter, _ *http.Request, _ rpc) bool {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, "data: ")
		part := strings.Repeat("x", 1<<20)
		for range 100 {
			if _, err := io.WriteString(w, part); err != nil {
				return true
			}
		}
		return true
	}
}
