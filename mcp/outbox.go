package mcp

import (
	"context"
	"sync"
	"time"
)

// Limits of what is told over HTTP without an answer: notifications, and answers
// to a server's requests. Each is a request of its own.
const (
	noticeLimit   = 30 * time.Second // from when it is to be told
	maxTelling    = 16               // at the same time
	maxUntold     = 256              // that wait or are on their way
	maxUntoldSize = 16 << 20         // bytes of all these
)

// outbox bounds what a server can make us send: what a server asks for beyond
// the limits is not told.
type outbox struct {
	mu          sync.Mutex
	count, size int
	slots       chan struct{}
}

func newOutbox() *outbox { return &outbox{slots: make(chan struct{}, maxTelling)} }

// admit counts a message in, unless there are too many.
func (o *outbox) admit(size int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count >= maxUntold || o.count > 0 && o.size+size > maxUntoldSize {
		return false
	}
	o.count, o.size = o.count+1, o.size+size
	return true
}

func (o *outbox) leave(size int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count, o.size = o.count-1, o.size-size
}

// tellBy has a message of so many bytes sent by send when it is its turn.
func (c *rpcConn) tellBy(size int, send func(context.Context)) {
	if !c.untold.admit(size) {
		return
	}
	begun := c.spawn(func() {
		defer c.untold.leave(size)
		ctx, cancel := context.WithTimeout(c.ctx, noticeLimit)
		defer cancel()
		select {
		case c.untold.slots <- struct{}{}:
			defer func() { <-c.untold.slots }()
			send(ctx)
		case <-ctx.Done():
		}
	})
	if !begun {
		c.untold.leave(size)
	}
}
