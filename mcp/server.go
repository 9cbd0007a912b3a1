package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Server is a connection to one MCP server. All methods may be used from many
// goroutines at once.
type Server struct {
	cfg  Config
	home *Manager
	life context.Context // ends when the server is closed
	end  context.CancelCauseFunc

	mu     sync.Mutex
	ready  chan struct{} // closed when connecting is over
	status Status
	err    error
	sess   *session
	tools  []*Tool
	byName map[string]*Tool
	stale  bool            // the server said that its tools changed
	level  string          // the log level asked for, "" for none
	uris   map[string]bool // the resources subscribed to
	losses int             // of the connection, in a row, without an answer between
	closed bool
	work   sync.WaitGroup // what connects again or watches
	gone   chan struct{}  // closed when closing is over
}

func newServer(cfg Config, home *Manager) *Server {
	s := &Server{cfg: cfg, home: home, status: Pending, uris: map[string]bool{}, ready: make(chan struct{}), gone: make(chan struct{})}
	s.life, s.end = context.WithCancelCause(context.Background())
	return s
}

// check finds what is wrong with a configuration before anything is started.
func (c *Config) check() error {
	switch {
	case c.Name == "":
		return errors.New("the server has no name")
	case c.Command == "" && c.URL == "":
		return errors.New("neither a command nor a url is given")
	case c.Command != "" && c.URL != "":
		return errors.New("both a command and a url are given")
	case c.Transport != "" && c.Transport != "stdio" && c.Transport != "http" && c.Transport != "sse":
		return fmt.Errorf("transport '%s' is none of stdio, http, sse", clean(c.Transport, 60))
	case c.Command != "" && c.Transport != "" && c.Transport != "stdio":
		return fmt.Errorf("transport '%s' needs a url", c.Transport)
	case c.URL != "" && c.Transport == "stdio":
		return errors.New("transport 'stdio' needs a command")
	}
	return nil
}

// connect opens the connection and reads the tools, once.
func (s *Server) connect(ctx context.Context) error {
	err := s.cfg.check()
	if err == nil {
		err = s.open(ctx)
	}
	s.settled(err)
	if err == nil && s.Status() == Closed {
		err = ErrClosed
	}
	return err
}

// open does the work of connect under its time limit.
func (s *Server) open(ctx context.Context) error {
	limit := s.cfg.connectTimeout()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })()
	timer := time.AfterFunc(limit, func() { cancel(&TimeoutError{After: limit, Method: "initialize"}) })
	defer timer.Stop()

	s.mu.Lock()
	s.stale = false // what the last connection said of changes
	s.mu.Unlock()
	sess, err := s.dial(ctx)
	if err != nil {
		return err
	}
	tools, err := s.firstTools(ctx, sess, limit)
	if err != nil {
		sess.link.close(quickGrace)
		return err
	}
	s.carryOver(ctx, sess)
	if !s.adopt(sess, tools) {
		sess.link.close(quickGrace)
		return ErrClosed
	}
	return nil
}

// firstTools lists the tools while connecting; a time-out then says that it
// was the list that did not come.
func (s *Server) firstTools(ctx context.Context, sess *session, limit time.Duration) ([]*Tool, error) {
	tools, err := sess.listTools(ctx, s)
	var late *TimeoutError
	if errors.As(err, &late) {
		return nil, &TimeoutError{After: limit, Method: "tools/list"}
	}
	return tools, err
}

func (s *Server) dial(ctx context.Context) (*session, error) {
	if s.cfg.Command == "" {
		r, err := newRemote(&s.cfg, s.home)
		if err != nil {
			return nil, err
		}
		return openRemote(ctx, &s.cfg, r, s.listChanged)
	}
	return openStdio(ctx, &s.cfg, s.home.watch.mark(), s.listChanged)
}

// adopt makes a session the server's; false when the server was closed
// meanwhile.
func (s *Server) adopt(sess *session, tools []*Tool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.sess, s.status, s.err = sess, Connected, nil
	s.setTools(tools)
	s.work.Go(func() { s.watch(sess) })
	return true
}

func (s *Server) setTools(tools []*Tool) {
	s.tools, s.byName = tools, make(map[string]*Tool, len(tools))
	for _, t := range tools {
		s.byName[t.Name] = t
	}
}

// listChanged notes that the server announced a new list.
func (s *Server) listChanged(list string) {
	if list != "tools" || s.cfg.Frozen {
		return
	}
	s.mu.Lock()
	s.stale = true
	s.mu.Unlock()
	if s.cfg.Handlers.ToolsChanged != nil {
		s.cfg.Handlers.ToolsChanged()
	}
}

// Name is the name given in the configuration.
func (s *Server) Name() string { return s.cfg.Name }

// Tools lists the server's tools that the allow-list lets through, in the
// server's order, refreshed first when the server said that they changed.
// It is empty while the server is pending and stays as it was when closed.
func (s *Server) Tools() []*Tool {
	s.refresh(s.life)
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Tool(nil), s.tools...)
}

// refresh reads the list of tools again if the server said that it changed. If
// that fails the old list stays, and the next use tries again.
func (s *Server) refresh(ctx context.Context) {
	s.mu.Lock()
	sess, stale := s.sess, s.stale
	s.stale = false
	s.mu.Unlock()
	if !stale || sess == nil || sess.link.lostFor() != nil {
		return
	}
	limit := s.cfg.callTimeout()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &TimeoutError{After: limit, Method: "tools/list"})
	defer cancel()
	tools, err := sess.listTools(ctx, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.stale = true
		sess.warn("could not read the changed list of tools: " + err.Error())
		return
	}
	s.setTools(tools)
}

// Status says where the connection stands.
func (s *Server) Status() Status {
	status, _ := s.standing()
	return status
}

// Err says why the status is Failed or NeedsAuth; nil otherwise.
func (s *Server) Err() error {
	_, err := s.standing()
	return err
}

// standing gives status and error, with the loss of the connection noticed.
func (s *Server) standing() (Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == Connected && s.sess.link.lostFor() != nil {
		return Pending, nil // about to connect again
	}
	return s.status, s.err
}

// Instructions are the server's own words on its use, or "".
func (s *Server) Instructions() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sess == nil {
		return ""
	}
	return s.sess.init.Instructions
}

// Wait waits until a server made by Start is connected or has failed.
func (s *Server) Wait(ctx context.Context) error {
	s.mu.Lock()
	ready := s.ready
	s.mu.Unlock()
	select {
	case <-ready:
		return s.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Call runs a tool. args is a JSON object, sent byte for byte but for line
// ends between tokens (nil means {}). The request is sent at most once. The
// error's text is one clause, for use after "mcp tool '<server>.<tool>'
// failed: "; a failure that the tool itself reports is no error but a Result
// with IsError.
func (s *Server) Call(ctx context.Context, tool string, args json.RawMessage) (*Result, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	line, ok := oneLine(args)
	if i := skipSpace(line, 0); !ok || line[i] != '{' {
		return nil, errors.New("the arguments are no JSON object")
	}
	var r *Result
	err := s.with(ctx, func(sess *session) error {
		t, err := s.find(ctx, tool)
		if err == nil {
			r, err = sess.callTool(ctx, t, line)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// find gives the tool for a call.
func (s *Server) find(ctx context.Context, tool string) (*Tool, error) {
	s.refresh(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.byName[tool]
	if t == nil {
		return nil, fmt.Errorf("the server has no tool '%s'", clean(tool, 200))
	}
	return t, nil
}

// Close ends the connection and the process with all that it started, within
// 5 s. A second close does nothing but wait for the first.
func (s *Server) Close() error {
	s.shut(politeGrace)
	return nil
}

// shut closes the server, giving its process the grace g.
func (s *Server) shut(g grace) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.gone
		return
	}
	s.closed, s.status, s.err = true, Closed, nil
	sess, ready := s.sess, s.ready
	s.mu.Unlock()
	defer close(s.gone)
	s.end(ErrClosed)
	if sess != nil {
		sess.link.close(g)
	}
	<-ready
	s.work.Wait()
}
