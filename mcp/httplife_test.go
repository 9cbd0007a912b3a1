//go:build linux

package mcp

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A stream that the server ends early is continued where it stopped, after the
// wait it asked for, and the call is not sent again.
func TestHTTPResume(t *testing.T) {
	web := newWebServer(t)
	var pending atomic.Pointer[rpc]
	tries := atomic.Int32{}
	web.on["tools/call"] = onEcho(func(w http.ResponseWriter, m rpc) {
		pending.Store(&m)
		events(w)("id: e1\nretry: 1234\ndata:\n\n")
	})
	web.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool {
		if r.Header.Get("Last-Event-ID") == "" {
			return false
		}
		if tries.Add(1) == 1 {
			events(w)("id: e2\ndata:\n\n")
			return true
		}
		events(w)("data: %s\n\n", result(*pending.Load(), r.Header.Get("Last-Event-ID")))
		return true
	}
	s, clock := web.dial(t)
	if got := call(t, s, "echo", ""); got != "e2" {
		t.Errorf("got %q", got)
	}
	if slept := clock.list(); len(slept) != 2 || slept[0] != 1234*time.Millisecond {
		t.Errorf("waited %v", slept)
	}
	if web.calls("echo") != 1 {
		t.Errorf("sent %d times", web.calls("echo"))
	}
}

// A stream that never goes on is given up.
func TestHTTPResumeEnds(t *testing.T) {
	web := newWebServer(t)
	web.on["tools/call"] = onEcho(func(w http.ResponseWriter, m rpc) { events(w)("id: e1\ndata:\n\n") })
	web.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool {
		if r.Header.Get("Last-Event-ID") == "" {
			return false
		}
		events(w)
		return true
	}
	s, _ := web.dial(t)
	_, err := s.Call(context.Background(), "echo", nil)
	wantError(t, err, "ended its answer before it was complete", "was not sent again")
	web.change(func() {
		web.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool { w.WriteHeader(410); return true }
	})
	_, err = s.Call(context.Background(), "echo", nil)
	wantError(t, err, "HTTP status 410 Gone", "was not sent again")
}

// A server that is busy is obeyed, with a cap, and the call reaches it once.
func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		code       int
		after      string
		refusals   int
		want       string
		waits      int
		wantHeader time.Duration
	}{
		{429, "7", 2, "", 2, 7 * time.Second},
		{503, "1", 1, "", 1, time.Second},
		{429, "0", 1, "", 1, 0},
		{429, "3600", 1, "HTTP status 429 Too Many Requests and asks to wait 3600 s", 0, 0},
		{429, "5", 9, "HTTP status 429 Too Many Requests and asks to wait 5 s", 3, 5 * time.Second},
		{429, "", 1, "HTTP status 429", 0, 0},
		{503, "", 1, "HTTP status 503", 0, 0},
		{500, "3", 1, "HTTP status 500", 0, 0},
	} {
		web := newWebServer(t)
		refusals := tt.refusals
		web.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
			if refusals--; refusals < 0 {
				return false
			}
			if tt.after != "" {
				w.Header().Set("Retry-After", tt.after)
			}
			w.WriteHeader(tt.code)
			return true
		}
		s, clock := web.dial(t)
		r, err := s.Call(context.Background(), "echo", echo("x"))
		if tt.want != "" {
			wantError(t, err, tt.want)
		} else if err != nil || r.Text != "x" {
			t.Errorf("%d %s: %v", tt.code, tt.after, err)
		}
		if slept := clock.list(); len(slept) != tt.waits || tt.waits > 0 && slept[0] != tt.wantHeader {
			t.Errorf("%d %s: waited %v", tt.code, tt.after, slept)
		}
	}
	resp := &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"Mon, 30 Nov 2026 12:00:10 GMT"}}}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	if d, ok := retryAfter(resp, now); !ok || d != 10*time.Second {
		t.Errorf("a date gives %v", d)
	}
}

// Redirects within the origin are followed with everything, others not at all.
func TestRedirects(t *testing.T) {
	var leaked atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	defer thief.Close()
	web := newWebServer(t)
	to := atomic.Pointer[string]{}
	web.on["POST"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool {
		if where := to.Load(); where != nil && r.URL.Path == "/mcp" {
			w.Header().Set("Location", *where)
			w.WriteHeader(308)
			return true
		}
		return false
	}
	within := "/moved"
	to.Store(&within)
	web.on["tools/call"] = web.on["POST"]
	s, _ := web.dial(t, func(c *Config) { c.Headers = map[string]string{"Authorization": "Bearer t", "X-Key": "k"} })
	if got := call(t, s, "echo", `{"text":"x"}`); got != "x" {
		t.Errorf("got %q", got)
	}
	calls := web.requests("tools/call")
	if last := calls[len(calls)-1]; last.path != "/moved" || last.header.Get("X-Key") != "k" || last.header.Get("Authorization") != "Bearer t" {
		t.Errorf("the redirected request has %s %v", last.path, last.header)
	}
	out := thief.URL + "/mcp"
	to.Store(&out)
	_, err := s.Call(context.Background(), "echo", echo("x"))
	wantError(t, err, "redirects to another origin")
	if leaked.Load() > 0 {
		t.Error("another origin was contacted")
	}
	loop := "/mcp"
	to.Store(&loop)
	_, err = s.Call(context.Background(), "echo", echo("x"))
	wantError(t, err, "redirects more than 5 times")
}

// A call that times out is cancelled, on older revisions by a message.
func TestHTTPCancel(t *testing.T) {
	for _, modern := range []bool{false, true} {
		web := newWebServer(t)
		web.modern = modern
		gone := make(chan struct{}, 1)
		web.on["tools/call"] = func(w http.ResponseWriter, r *http.Request, m rpc) bool {
			if m.call().Name != "echo" {
				return false
			}
			<-r.Context().Done()
			gone <- struct{}{}
			return true
		}
		s, _ := web.dial(t, func(c *Config) { c.CallTimeout = 200 * time.Millisecond })
		_, err := s.Call(context.Background(), "echo", nil)
		wantError(t, err, "timed out after 0.2 s")
		<-gone
		if !modern {
			eventually(t, "the notice", func() bool { return len(web.requests("notifications/cancelled")) == 1 })
		}
		_ = s.Close()
		if modern && len(web.requests("notifications/cancelled")) > 0 {
			t.Error("a modern server was told by a message")
		}
	}
}

// A40 over HTTP: progress on the call's stream extends it.
func TestHTTPProgress(t *testing.T) {
	web := newWebServer(t)
	web.on["tools/call"] = onEcho(func(w http.ResponseWriter, m rpc) {
		send := events(w)
		for i := range 6 {
			send("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":%d}}\n\n", m.call().Meta.ProgressToken, i)
			time.Sleep(300 * time.Millisecond)
		}
		send("data: %s\n\n", result(m, "done"))
	})
	var steps atomic.Int32
	s, _ := web.dial(t, func(c *Config) {
		c.CallTimeout = 1200 * time.Millisecond
		c.Handlers.Progress = func(Progress) { steps.Add(1) }
	})
	if got := call(t, s, "echo", ""); got != "done" || steps.Load() == 0 {
		t.Errorf("got %q after %d steps", got, steps.Load())
	}
}

// A50, A51 over HTTP.
func TestHTTPExactNumbers(t *testing.T) {
	web := newWebServer(t)
	s, _ := web.dial(t)
	const args = `{"id":9007199254740993,"f":1.0,"e":1e2,"s":"a\u00e9\/<"}`
	if got := call(t, s, "args", args); got != args {
		t.Errorf("the server read %s", got)
	}
}

// Many calls at once each get their own answer.
func TestHTTPParallel(t *testing.T) {
	web := newWebServer(t)
	s, _ := web.dial(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			text := strconv.Itoa(i)
			if r, err := s.Call(context.Background(), "echo", echo(text)); err != nil || r.Text != text {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

func TestStatusErrorKeepsItsParts(t *testing.T) {
	web := newWebServer(t)
	web.on["tools/call"] = onEcho(func(w http.ResponseWriter, m rpc) {
		w.WriteHeader(418)
		write(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":7,"message":"m"}}`, m.ID)
	})
	s, _ := web.dial(t)
	_, err := s.Call(context.Background(), "echo", nil)
	var status *StatusError
	var rpc *RPCError
	if !errors.As(err, &status) || status.Code != 418 || !errors.As(err, &rpc) || rpc.Code != 7 {
		t.Errorf("error %#v", err)
	}
}

// A certificate that nobody vouches for is refused.
func TestTLSVerified(t *testing.T) {
	web := newWebServer(t)
	secure := httptest.NewUnstartedServer(web)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	cfg, _ := web.config()
	cfg.URL = secure.URL + "/mcp"
	_, err := newManager(t).Connect(context.Background(), cfg)
	wantError(t, err, "cannot reach https://127.0.0.1", "certificate")
	if len(web.requests("initialize")) > 0 {
		t.Error("the server was spoken to")
	}
}

// M4 over HTTP: what is over the limit is refused with little memory.
func TestHTTPLargeAnswers(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		web := newWebServer(t)
		web.on["tools/call"] = onEcho(func(w http.ResponseWriter, m rpc) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, "data: ")
			large(w)
		})
		s, _ := web.dial(t)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := s.Call(context.Background(), "echo", nil)
		wantError(t, err, "message larger than 64 MiB")
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 110<<20 {
			t.Errorf("refusing %s took %d MiB", kind, grown>>20)
		}
	}
}
