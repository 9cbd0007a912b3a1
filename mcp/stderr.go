package mcp

import (
	"io"
	"strings"
	"sync"
)

// ring keeps the last 64 KiB of what is written to it.
type ring struct {
	mu   sync.Mutex
	buf  []byte
	at   int // where the next byte goes once the ring is full
	full bool
}

const ringSize = 64 << 10

// Write keeps the last of what it is given.
func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	if len(p) > ringSize {
		p = p[len(p)-ringSize:]
	}
	if !r.full {
		free := ringSize - len(r.buf)
		take := min(free, len(p))
		r.buf = append(r.buf, p[:take]...)
		p = p[take:]
		r.full = len(r.buf) == ringSize
	}
	for len(p) > 0 {
		k := copy(r.buf[r.at:], p)
		p = p[k:]
		r.at = (r.at + k) % ringSize
	}
	return n, nil
}

// text gives what the ring holds, in order.
func (r *ring) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.buf[r.at:]) + string(r.buf[:r.at])
}

// tail gives the last few lines as one, fit for an error message.
func (r *ring) tail() string {
	const most = 5
	var last []string
	lines := strings.Split(r.text(), "\n")
	for i := len(lines) - 1; i >= 0 && len(last) < most; i-- {
		if line := clean(lines[i], 300); line != "" {
			last = append([]string{line}, last...)
		}
	}
	return strings.Join(last, " | ")
}

// drain reads r to its end into the ring; done is closed at the end.
func (r *ring) drain(from io.Reader, done chan<- struct{}) {
	defer close(done)
	_, _ = io.Copy(struct{ io.Writer }{r}, from)
}
