package inspect

import (
	"crypto/rand"
	"strings"
	"sync"
	"time"
)

// Bounds of calls.
const (
	maxRunning  = 32
	maxFinished = 100
	// longestWait is how long a request waits for the call it made before it
	// is told to ask again.
	longestWait = 60 * time.Second
)

// call is one use of the program that may take long. A request waits for it a
// while; when it takes longer, the request is answered with the call's id, and
// the answer can be asked for later.
type call struct {
	id     string
	done   chan struct{}
	answer object // once done
}

// calls are those that run and those whose answers may still be asked for.
type calls struct {
	mu       sync.Mutex
	byID     map[string]*call
	finished []string
	running  int
	wg       sync.WaitGroup
}

// start runs f in the background; it gives nil when too many run already.
func (cs *calls) start(f func() object) *call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.running >= maxRunning {
		return nil
	}
	cs.running++
	if cs.byID == nil {
		cs.byID = map[string]*call{}
	}
	c := &call{id: strings.ToLower(rand.Text()[:16]), done: make(chan struct{})}
	cs.byID[c.id] = c
	cs.wg.Go(func() {
		c.answer = f()
		cs.finish(c)
	})
	return c
}

func (cs *calls) finish(c *call) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.running--
	cs.finished = append(cs.finished, c.id)
	if len(cs.finished) > maxFinished {
		delete(cs.byID, cs.finished[0])
		cs.finished = append([]string(nil), cs.finished[1:]...)
	}
	close(c.done)
}

// get finds a call, nil where there is none.
func (cs *calls) get(id string) *call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.byID[id]
}

// wait gives the answer, or that there is none yet.
func (c *call) wait(gone <-chan struct{}, limit time.Duration) object {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-c.done:
		return c.answer
	case <-gone:
	case <-t.C:
	}
	select {
	case <-c.done: // both at once
		return c.answer
	default:
		return object{{"ok", true}, {"pending", true}, {"call", c.id}}
	}
}

// settle waits until no call runs, at most for limit.
func (cs *calls) settle(limit time.Duration) bool {
	done := make(chan struct{})
	go func() { cs.wg.Wait(); close(done) }()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
