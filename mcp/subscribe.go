package mcp

import (
	"context"
	"maps"
	"slices"
	"time"

	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// Subscribe asks to be told, by the ResourceUpdated handler, when a resource
// changes. It holds for later connections of this server, too.
func (s *Server) Subscribe(ctx context.Context, uri string) error { return s.subscribe(ctx, uri, true) }

// Unsubscribe takes a subscription back.
func (s *Server) Unsubscribe(ctx context.Context, uri string) error {
	return s.subscribe(ctx, uri, false)
}

func (s *Server) subscribe(ctx context.Context, uri string, on bool) error {
	method := gomcp.MethodResourcesUnsubscribe
	if on {
		method = gomcp.MethodResourcesSubscribe
	}
	sess, err := s.current(ctx)
	if err != nil {
		return err
	}
	if !sess.modern() {
		if _, err := s.simple(ctx, method, uri, map[string]string{"uri": uri}); err != nil {
			return err
		}
	}
	s.mu.Lock()
	if on {
		s.uris[uri] = true
	} else {
		delete(s.uris, uri)
	}
	s.mu.Unlock()
	if sess.modern() {
		sess.listenTo(s.subscribed())
	}
	return nil
}

// subscribed lists what is subscribed to.
func (s *Server) subscribed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.uris))
}

// carryOver brings what was asked of earlier connections to a new one.
func (s *Server) carryOver(ctx context.Context, sess *session) {
	s.mu.Lock()
	level := s.level
	s.mu.Unlock()
	if level != "" {
		if err := sess.setLevel(ctx, level); err != nil {
			sess.warn("could not set the log level again: " + err.Error())
		}
	}
	uris := s.subscribed()
	if sess.modern() {
		sess.listenTo(uris)
		return
	}
	for _, uri := range uris {
		p := params{members: append([]byte(`"uri":`), quote(uri)...)}
		if _, err := sess.request(ctx, sess.cfg.callTimeout(), string(gomcp.MethodResourcesSubscribe), p); err != nil {
			sess.warn("could not subscribe to " + clean(uri, 200) + " again: " + err.Error())
		}
	}
}

// filter says which notifications a modern server is asked for.
func (s *session) filter(uris []string) gomcp.SubscriptionFilter {
	caps := &s.init.Capabilities
	return gomcp.SubscriptionFilter{
		ToolsListChanged:      caps.Tools != nil && caps.Tools.ListChanged,
		PromptsListChanged:    caps.Prompts != nil && caps.Prompts.ListChanged,
		ResourcesListChanged:  caps.Resources != nil && caps.Resources.ListChanged,
		ResourceSubscriptions: uris,
	}
}

// listenTo asks a modern server for notifications, in place of what it was
// asked for before. The request stays open as long as the connection.
func (s *session) listenTo(uris []string) {
	f := s.filter(uris)
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	before := s.unlisten
	s.unlisten = cancel
	s.mu.Unlock()
	if before != nil {
		before()
	}
	if f.IsEmpty() {
		cancel()
		return
	}
	raw, err := encode(map[string]any{"notifications": f})
	if err != nil {
		cancel()
		return
	}
	s.link.spawn(func() {
		defer cancel()
		s.keepListening(ctx, params{members: raw[1 : len(raw)-1]})
	})
}

// keepListening opens the stream of notifications again when the server ends
// it, a few times in a row at most.
func (s *session) keepListening(ctx context.Context, p params) {
	for try := 0; try < maxReopens; try++ {
		begun := time.Now()
		_, err := s.request(ctx, untilContext, string(gomcp.MethodSubscriptionsListen), p)
		if _, refused := err.(*RPCError); refused || ctx.Err() != nil || s.link.lostFor() != nil {
			return
		}
		if time.Since(begun) > time.Minute {
			try = 0
		}
		select {
		case <-time.After(time.Duration(try) * streamDelay):
		case <-ctx.Done():
		case <-s.link.lost():
		}
	}
}
