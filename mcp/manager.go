package mcp

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Manager connects to servers and tracks them all. The zero value is not
// usable; see NewManager.
type Manager struct {
	// SweepAdopted lets CloseAll kill processes that a server's descendants
	// left behind in sessions of their own and with an emptied environment. It
	// is for a program that starts no such processes itself, which the host of
	// a library cannot promise; Linux only.
	SweepAdopted bool
	// Tokens keeps what logins gave; nil keeps it for the life of a connection.
	Tokens TokenStore
	// Browser shows the user the address of a login, opens it where that is
	// possible, and returns; nil has servers that want a login be NeedsAuth.
	// It may be called from any goroutine.
	Browser func(ctx context.Context, address string) error
	// Sleep waits between attempts; nil is the real wait. It returns early,
	// with an error, when the context ends.
	Sleep func(context.Context, time.Duration) error

	mu      sync.Mutex
	servers []*Server
	closed  bool
	watch   Watch
}

// NewManager gives a Manager without servers.
func NewManager() *Manager { return new(Manager) }

// Connect starts and connects a server and reads its list of tools. The
// error's text is one clause without the server's name, for use after
// "failed to connect to '<name>': ". Nothing is left running after an error.
func (m *Manager) Connect(ctx context.Context, cfg Config) (*Server, error) {
	s := newServer(cfg, m)
	if err := m.add(s); err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// loginTimeout is how long a user has to log in.
const loginTimeout = 5 * time.Minute

// Login logs in to a server over HTTP anew, by Browser, keeps what that gives
// in Tokens, and closes the connection. What is kept from before stays until
// then. A server that wants no login is no error.
func (m *Manager) Login(ctx context.Context, cfg Config) error {
	if m.Browser == nil && (cfg.OAuth == nil || cfg.OAuth.Grant == "") {
		return errors.New("there is no browser to log in with")
	}
	u, err := serverURL(&cfg)
	if err != nil {
		return err
	}
	if m.Tokens != nil { // who cannot keep a login is told before they make one
		if _, err := m.Tokens.Load(tokenKey(u)); err != nil {
			return err
		}
	}
	cfg.anew = true
	cfg.ConnectTimeout = max(cfg.connectTimeout(), loginTimeout)
	s, err := m.Connect(ctx, cfg)
	if err != nil {
		return err
	}
	return s.Close()
}

// Logout forgets what a login to a server gave. It is no error when there was
// none.
func (m *Manager) Logout(cfg Config) error {
	u, err := serverURL(&cfg)
	if err != nil || m.Tokens == nil {
		return err
	}
	return m.Tokens.Delete(tokenKey(u))
}

// Start is Connect without the wait: the server is pending, and its first use
// waits. Errors show as status and from Wait.
func (m *Manager) Start(ctx context.Context, cfg Config) *Server {
	s := newServer(cfg, m)
	if err := m.add(s); err != nil {
		s.closed, s.status = true, Closed
		close(s.ready)
		close(s.gone)
		return s
	}
	go func() { _ = s.connect(ctx) }() // the outcome is the server's status
	return s
}

func (m *Manager) add(s *Server) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.servers = append(m.servers, s)
	return nil
}

// Servers gives every server of this manager, failed and closed ones too, in
// the order of their connecting.
func (m *Manager) Servers() []*Server {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]*Server(nil), m.servers...)
}

// CloseAll closes every server side by side, within two seconds and a half. No
// process started by this manager is left when it returns, and no further
// connection is made.
func (m *Manager) CloseAll() { m.shut(finalGrace) }

// Abort is CloseAll for an interrupted run: servers have an eighth of a second
// to leave by themselves.
func (m *Manager) Abort() { m.shut(quickGrace) }

func (m *Manager) shut(g grace) {
	m.mu.Lock()
	m.closed = true
	servers := m.servers
	m.mu.Unlock()
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() { s.shut(g) })
	}
	all.Wait()
	m.watch.Close()
	if m.SweepAdopted {
		sweepAdopted()
	}
}

// Adopt makes this process, from here on, the parent of what its children leave
// behind, so that SweepAdopted finds it. On Linux only.
func Adopt() { settleIn() }

// SweepAdopted kills the processes in sessions of their own that children of
// this process left behind. It is for the end of a run, when nothing that was
// started is to go on. On Linux only.
func SweepAdopted() { sweepAdopted() }

// sleep waits for d or until ctx ends.
func (m *Manager) sleep(ctx context.Context, d time.Duration) error {
	if m.Sleep != nil {
		return m.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
