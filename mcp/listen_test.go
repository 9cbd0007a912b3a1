//go:build linux

package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// The GET stream is opened again when it ends, after the last event it had, and
// not where the server does not offer it.
func TestListenAgain(t *testing.T) {
	web := newWebServer(t)
	var opened atomic.Int32
	web.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool {
		switch opened.Add(1) {
		case 1:
			events(w)("id: e1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
		case 2:
			w.WriteHeader(502)
		default:
			events(w)(": here\n\n")
			<-r.Context().Done()
		}
		return true
	}
	s, clock := web.dial(t)
	eventually(t, "the third stream", func() bool { return opened.Load() == 3 })
	gets := web.requests("GET")
	if gets[0].header.Get("Last-Event-ID") != "" || gets[1].header.Get("Last-Event-ID") != "e1" || gets[2].header.Get("Last-Event-ID") != "e1" {
		t.Errorf("opened after %q", gets[2].header.Get("Last-Event-ID"))
	}
	if len(clock.list()) == 0 || clock.list()[0] != streamDelay {
		t.Errorf("waited %v", clock.list())
	}
	call(t, s, "echo", "")
}

func TestListenNotOffered(t *testing.T) {
	for _, on := range []handler{
		func(w http.ResponseWriter, _ *http.Request, _ rpc) bool { w.WriteHeader(405); return true },
		func(w http.ResponseWriter, _ *http.Request, _ rpc) bool { w.WriteHeader(404); return true },
		func(w http.ResponseWriter, _ *http.Request, _ rpc) bool { write(w, "{}"); return true },
	} {
		web := newWebServer(t)
		web.session = "s"
		web.on["GET"] = on
		s, _ := web.dial(t)
		for range 3 {
			call(t, s, "echo", "")
		}
		if n := len(web.requests("GET")); n != 1 || s.Status() != Connected {
			t.Errorf("opened %d times, status %s", n, s.Status())
		}
	}
}

// A server that ends the stream at once, each time, is not asked for ever.
func TestListenGivenUp(t *testing.T) {
	web := newWebServer(t)
	web.on["GET"] = func(w http.ResponseWriter, _ *http.Request, _ rpc) bool { events(w); return true }
	s, clock := web.dial(t)
	eventually(t, "the last stream", func() bool { return len(web.requests("GET")) == maxReopens+1 })
	call(t, s, "echo", "")
	_ = s.Close()
	if n := len(web.requests("GET")); n != maxReopens+1 || len(clock.list()) < maxReopens {
		t.Errorf("opened %d times, waited %v", n, clock.list())
	}
}

// A session that the server says on the GET stream is gone is begun anew
// without a call.
func TestListenFindsSessionGone(t *testing.T) {
	web := newWebServer(t)
	web.session = "a"
	end := make(chan bool)
	web.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool {
		web.mu.Lock()
		session := web.session
		web.mu.Unlock()
		if r.Header.Get("Mcp-Session-Id") != session {
			w.WriteHeader(404)
			return true
		}
		events(w)(": here\n\n")
		select {
		case <-end:
		case <-r.Context().Done():
		}
		return true
	}
	s, _ := web.dial(t)
	eventually(t, "the stream", func() bool { return len(web.requests("GET")) == 1 })
	web.change(func() { web.session = "b" })
	end <- true
	eventually(t, "the new session", func() bool { return len(web.requests("initialize")) == 2 && s.Status() == Connected })
	call(t, s, "echo", "")
}

// Reconnecting by hand ends the session and begins another.
func TestHTTPReconnect(t *testing.T) {
	web := newWebServer(t)
	web.session = "s"
	s, _ := web.dial(t)
	if err := s.Reconnect(context.Background()); err != nil {
		t.Fatal(err)
	}
	call(t, s, "echo", "")
	if len(web.requests("DELETE")) != 1 || len(web.requests("initialize")) != 2 {
		t.Errorf("%d sessions, %d ended", len(web.requests("initialize")), len(web.requests("DELETE")))
	}
}

// A server that refuses the modern revision and lists it is asked once more.
func TestDiscoverAgain(t *testing.T) {
	web := newWebServer(t)
	web.modern = true
	refusals := 1
	web.on["server/discover"] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
		if refusals--; refusals < 0 {
			return false
		}
		w.WriteHeader(400)
		write(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`, m.ID)
		return true
	}
	s, _ := web.dial(t)
	if s.sess.version != "2026-07-28" || len(web.requests("initialize")) > 0 {
		t.Errorf("revision %s", s.sess.version)
	}
}

func TestOrigins(t *testing.T) {
	for _, tt := range []struct {
		a, b          string
		same, upgrade bool
	}{
		{"http://a/x", "http://A/y", true, false},
		{"http://a", "http://a:80", true, false},
		{"https://a", "https://a:443/", true, false},
		{"http://a", "http://a:8080", false, false},
		{"http://a", "https://a", false, true},
		{"https://a", "http://a", false, false},
		{"http://a:8080", "https://a", false, false},
		{"http://a", "https://b", false, false},
		{"http://[::1]:1", "http://[::1]:1", true, false},
	} {
		a, _ := url.Parse(tt.a)
		b, _ := url.Parse(tt.b)
		if sameOrigin(a, b) != tt.same || upgrade(a, b) != tt.upgrade {
			t.Errorf("%s to %s: same %v, upgrade %v", tt.a, tt.b, sameOrigin(a, b), upgrade(a, b))
		}
	}
	u, _ := url.Parse("https://user:pass@a.example/mcp?key=1#f")
	if got := show(u); got != "https://a.example/mcp" {
		t.Errorf("shown as %s", got)
	}
}

func TestRemoteErrorTexts(t *testing.T) {
	cause := errors.New("cause")
	for want, err := range map[string]error{
		"cause; the call may have been carried out and was not sent again": lostIn("tools/call", cause, false),
		"cause":                               lostIn("tools/list", cause, false),
		"the connection is lost: cause":       lostIn("tools/call", cause, true),
		"the connection is closed":            lostIn("tools/call", ErrClosed, false),
		"the server wants a login":            &NeedsAuthError{},
		"the server wants a login: a b":       &NeedsAuthError{Cause: errors.New("a\nb")},
		"the server answered HTTP status 599": &StatusError{Code: 599},
		"the server answered HTTP status 503 Service Unavailable and asks to wait 2 s": &StatusError{Code: 503, Wait: 2 * time.Second},
		"m (JSON-RPC error 5) with HTTP status 400 Bad Request":                        &StatusError{Code: 400, RPC: &RPCError{Code: 5, Message: "m"}},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if !errors.Is(lostIn("x", cause, false), cause) || !errors.Is(&NeedsAuthError{Cause: cause}, cause) || (&StatusError{}).Unwrap() != nil {
		t.Error("causes are lost")
	}
}

func TestPieces(t *testing.T) {
	for _, size := range []int{0, 1, 64 << 10, 64<<10 + 1, 9 << 20} {
		text := strings.Repeat("abcdefg", size/7+1)[:size]
		for _, step := range []int{1000, 64 << 10, 5 << 20} {
			var p pieces
			for rest := text; rest != ""; {
				n := min(step, len(rest))
				p.add([]byte(rest[:n]))
				rest = rest[n:]
			}
			if p.total != size || string(p.join()) != text {
				t.Errorf("%d bytes in steps of %d are not the same", size, step)
			}
		}
	}
	if _, err := readLimited(strings.NewReader("12345"), 4); err != errTooLarge {
		t.Errorf("error %v", err)
	}
	if _, err := readLimited(errReader{}, 4); err != errBroken {
		t.Errorf("error %v", err)
	}
}
