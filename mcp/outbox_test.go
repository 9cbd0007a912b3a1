package mcp

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// An event of very many short lines takes little more memory than its text.
func TestEventOfManyLinesIsNotCopiedAgainAndAgain(t *testing.T) {
	const lines = 20_000
	in := strings.Repeat("data: "+strings.Repeat("x", 30)+"\n", lines) + "\n"
	n := testing.AllocsPerRun(1, func() {
		ev, err := newEventReader(strings.NewReader(in), maxMessage).next()
		if err != nil || len(ev.data) != lines*31-1 {
			t.Fatalf("%d bytes, %v", len(ev.data), err)
		}
	})
	if n > 100 {
		t.Errorf("%v pieces of memory for one event", n)
	}
}

// A server that asks without end has few requests made to it at a time, and what
// waits is bounded in number and size.
func TestOutboxIsBounded(t *testing.T) {
	o := newOutbox()
	for n := range maxUntold {
		if !o.admit(1) {
			t.Fatalf("full with %d", n)
		}
	}
	if o.admit(1) {
		t.Error("one more was taken")
	}
	o.leave(1)
	if !o.admit(maxUntoldSize-maxUntold+1) || o.admit(0) {
		t.Error("what was left open is not taken, or more")
	}
	if big := newOutbox(); !big.admit(2*maxUntoldSize) || big.admit(1) {
		t.Error("a large one alone is refused, or another one taken beside it")
	}
}

func TestHTTPServerThatPingsWithoutEnd(t *testing.T) {
	const pings = 2000
	web := newWebServer(t)
	var now, most, got atomic.Int64
	answered := make(chan struct{})
	first := sync.OnceFunc(func() { close(answered) })
	web.on[""] = func(w http.ResponseWriter, r *http.Request, m rpc) bool {
		if r.Method != http.MethodPost {
			return false
		}
		for n := now.Add(1); ; {
			if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
				break
			}
		}
		got.Add(1)
		first()
		now.Add(-1)
		w.WriteHeader(http.StatusAccepted)
		return true
	}
	web.on["tools/call"] = onEcho(func(w http.ResponseWriter, m rpc) {
		send := events(w)
		for range pings {
			send("data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n")
		}
		send("data: %s\n\n", result(m, "a"))
	})
	s, _ := web.dial(t)
	if text := call(t, s, "echo", `{"text":"x"}`); text != "a" {
		t.Errorf("got %q", text)
	}
	<-answered
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got.Load() > pings || most.Load() > maxTelling {
		t.Errorf("%d answers, %d at a time", got.Load(), most.Load())
	}
}
