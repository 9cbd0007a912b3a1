package inspect

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// maxConns bounds the connections that are open at once.
const maxConns = 64

// limiter is a listener that keeps at most max connections. A further one takes
// the place of the oldest that has not yet shown the token, so that whoever
// opens many cannot lock the page out; where all have, it is closed itself.
type limiter struct {
	net.Listener
	max int

	mu    sync.Mutex
	conns []*conn // oldest first
}

// conn is a connection that a limiter counts.
type conn struct {
	net.Conn
	limit   *limiter
	trusted atomic.Bool // a request on it showed the token
	once    sync.Once
}

// Accept takes the next connection.
func (l *limiter) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: nc, limit: l}
		drop := l.add(c)
		if drop != nil {
			_ = drop.Close() // it is gone either way
		}
		if drop != c {
			return c, nil
		}
	}
}

// add counts c and gives the connection that must go, nil for none.
func (l *limiter) add(c *conn) (drop *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) < l.max {
		l.conns = append(l.conns, c)
		return nil
	}
	for _, old := range l.conns {
		if !old.trusted.Load() {
			l.conns = append(l.conns, c)
			return old
		}
	}
	return c
}

func (l *limiter) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, x := range l.conns {
		if x == c {
			l.conns = append(append([]*conn(nil), l.conns[:i]...), l.conns[i+1:]...)
			return
		}
	}
}

// Close closes the connection and makes room.
func (c *conn) Close() error {
	c.once.Do(func() { c.limit.remove(c) })
	return c.Conn.Close()
}

// connKey is where a request's context holds its connection.
type connKey struct{}

// withConn is an http.Server's ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// trust notes that a request on the connection showed the token.
func trust(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.trusted.Store(true)
	}
}
