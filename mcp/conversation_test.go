//go:build linux

package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// A53: a session that the server forgot is begun anew, once, and each of 20
// calls reaches the server exactly once.
func TestSessionExpires(t *testing.T) {
	web := newWebServer(t)
	web.session = "s0"
	s, clock := web.dial(t)
	for i := range 20 {
		if i%6 == 5 {
			web.change(func() { web.session = fmt.Sprint("s", i) })
		}
		text := fmt.Sprint("call ", i)
		if got := call(t, s, "echo", `{"text":"`+text+`"}`); got != text || s.Status() != Connected {
			t.Errorf("call %d gave %q, status %s", i, got, s.Status())
		}
	}
	if n := len(web.requests("initialize")); n != 4 {
		t.Errorf("%d sessions", n)
	}
	if n := web.calls("echo"); n != 20+3 { // those refused with 404 as well
		t.Errorf("%d calls were sent", n)
	}
	if len(clock.list()) > 0 {
		t.Errorf("waited %v", clock.list())
	}
}

// Calls side by side that find the session gone share one new session.
func TestSessionExpiresInParallel(t *testing.T) {
	web := newWebServer(t)
	web.session = "a"
	s, _ := web.dial(t)
	web.change(func() { web.session = "b" })
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
	if n := len(web.requests("initialize")); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

// A call that was under way when another one found the session gone is still
// answered.
func TestSessionExpiresMeanwhile(t *testing.T) {
	web := newWebServer(t)
	web.session = "a"
	release, begun := make(chan bool), make(chan bool)
	web.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
		if m.call().Name != "seen" {
			return false
		}
		begun <- true
		<-release
		answer(w, m, textResult("late"))
		return true
	}
	s, _ := web.dial(t)
	slow := make(chan string)
	go func() {
		r, err := s.Call(context.Background(), "seen", nil)
		if err != nil {
			slow <- err.Error()
			return
		}
		slow <- r.Text
	}()
	<-begun
	web.change(func() { web.session = "b" })
	call(t, s, "echo", `{"text":"x"}`)
	close(release)
	if got := <-slow; got != "late" {
		t.Errorf("the slow call got %q", got)
	}
}

// dropped is a server that can be stopped and started again at its address.
type dropped struct {
	handler http.Handler
	addr    string
	server  *httptest.Server
}

func (d *dropped) start(t *testing.T) {
	l, err := net.Listen("tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	d.addr = l.Addr().String()
	d.server = &httptest.Server{Listener: l, Config: &http.Server{Handler: d.handler}}
	d.server.Config.SetKeepAlivesEnabled(false) // so that no call meets a connection that is just closing
	d.server.Start()
}

// drop closes the listener first: a client whose connection is cut may dial
// again at once, and must not find the server it has just lost.
func (d *dropped) drop() {
	_ = d.server.Listener.Close()
	d.server.CloseClientConnections()
	d.server.Close()
}

// A server that is dropped in a conversation of 20 calls: the connection is
// pending and made again with growing waits, each call is answered, and none
// is sent twice.
func TestDropped(t *testing.T) {
	web := newWebServer(t)
	d := &dropped{handler: web, addr: "127.0.0.1:0"}
	d.start(t)
	defer func() { d.drop() }()
	cfg, _ := web.config()
	cfg.URL = "http://" + d.addr + "/mcp"
	m := newManager(t)
	var s *Server
	tries := 0
	var during []Status
	m.Sleep = func(ctx context.Context, _ time.Duration) error {
		during = append(during, s.Status())
		if tries++; tries == 3 {
			d.start(t)
		}
		return ctx.Err()
	}
	s, err := m.Connect(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if i == 7 {
			d.drop()
		}
		text := fmt.Sprint("call ", i)
		if got := call(t, s, "echo", `{"text":"`+text+`"}`); got != text || s.Status() != Connected {
			t.Errorf("call %d gave %q, status %s", i, got, s.Status())
		}
	}
	if n := web.calls("echo"); n != 20 {
		t.Errorf("%d calls were sent", n)
	}
	if len(during) != 3 || during[0] != Pending {
		t.Errorf("statuses %v while connecting again", during)
	}
}

// A server that stays away is given up after five attempts.
func TestDroppedForGood(t *testing.T) {
	web := newWebServer(t)
	web.Config.SetKeepAlivesEnabled(false)
	s, clock := web.dial(t)
	web.CloseClientConnections()
	web.Server.Close()
	_, err := s.Call(context.Background(), "echo", nil)
	wantError(t, err, "could not be made again in 5 attempts", "connection refused")
	if s.Status() != Failed || len(clock.list()) != 4 || growing(clock.list(), 1) != nil {
		t.Errorf("status %s after waits %v", s.Status(), clock.list())
	}
}

// The call that is under way when the server goes fails and says that it is
// not repeated; the loss is noticed without another call.
func TestDroppedInCall(t *testing.T) {
	web := newWebServer(t)
	d := &dropped{handler: web, addr: "127.0.0.1:0"}
	d.start(t)
	begun := make(chan bool, 1)
	web.on["tools/call"] = func(w http.ResponseWriter, r *http.Request, m rpc) bool {
		begun <- true
		<-r.Context().Done()
		return true
	}
	cfg, _ := web.config()
	cfg.URL = "http://" + d.addr + "/mcp"
	m := newManager(t)
	waiting, again := make(chan Status, 9), make(chan bool)
	var s *Server
	m.Sleep = func(ctx context.Context, _ time.Duration) error {
		waiting <- s.Status()
		<-again
		return ctx.Err()
	}
	s, err := m.Connect(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	dropped := make(chan bool)
	go func() { <-begun; d.drop(); close(dropped) }()
	_, err = s.Call(context.Background(), "echo", nil)
	wantError(t, err, "was not sent again")
	var lost *LostError
	if !errors.As(err, &lost) || lost.Unsent {
		t.Errorf("error %#v", err)
	}
	if status := <-waiting; status != Pending {
		t.Errorf("status %s", status)
	}
	<-dropped
	d.start(t)
	defer func() { d.drop() }()
	close(again)
	if err := s.Wait(context.Background()); err != nil || s.Status() != Connected {
		t.Errorf("status %s, %v", s.Status(), err)
	}
	if n := web.calls("echo"); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// The GET stream notices by itself that a server is gone.
func TestDroppedWhileIdle(t *testing.T) {
	web := newWebServer(t)
	web.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool {
		events(w)(": hello\n\n")
		<-r.Context().Done()
		return true
	}
	s, _ := web.dial(t)
	_ = web.Listener.Close()
	web.CloseClientConnections()
	eventually(t, "the loss", func() bool { return s.Status() == Failed })
	wantError(t, s.Err(), "could not be made again in 5 attempts")
}
