package mcp

import (
	"crypto/rand"
	"fmt"
	"os"
	"sync"
)

// Watch has the processes that we start, and all that these start, ended when we
// are killed and can no longer do it; on Linux only. What leaves its session and
// empties its environment too is not found. The zero value is ready for use.
type Watch struct {
	mu      sync.Mutex
	run     string // begins the marks of all processes
	started int    // how many were started
	guard   *guard
}

// mark gives the mark of a process that is about to be started. The first one
// starts the guard.
func (w *Watch) mark() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started++; w.started == 1 {
		w.run = fmt.Sprintf("%d-%s", os.Getpid(), rand.Text())
		w.guard = startGuard(w.run)
	}
	return fmt.Sprintf("%s-%d", w.run, w.started)
}

// Variable gives what a process that is about to be started must have in its
// environment, as "NAME=value".
func (w *Watch) Variable() string { return markVariable + "=" + w.mark() }

// Close dismisses what watches. It is for when all the processes have ended; it
// may be called more than once.
func (w *Watch) Close() {
	w.mu.Lock()
	g := w.guard
	w.guard = nil
	w.mu.Unlock()
	g.end()
}
