package serve

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"

	gomcp "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// maxFollowed bounds the resources that clients follow.
const maxFollowed = 10_000

// followers are the clients that want to know when a resource changes: by
// resources/subscribe, or from 2026-07-28 by subscriptions/listen. The zero
// followers is ready.
type followers struct {
	mu   sync.Mutex
	srv  *server.MCPServer
	list []follower // from the oldest
}

// follower is one client that follows one resource.
type follower struct {
	uri, who string
	tell     func()
}

// Updated tells the clients that follow a resource that it has changed. Nobody is
// told of what does not get through. It may be called at any time.
func (s *Server) Updated(uri string) {
	f := &s.followers
	f.mu.Lock()
	var tell []func()
	for _, x := range f.list {
		if x.uri == uri {
			tell = append(tell, x.tell)
		}
	}
	f.mu.Unlock()
	for _, t := range tell {
		t()
	}
}

// serve notes the server that clients are told by.
func (f *followers) serve(srv *server.MCPServer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.srv = srv
}

// add notes a follower, once. The oldest goes when there are too many.
func (f *followers) add(x follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = slices.DeleteFunc(f.list, func(y follower) bool { return y.uri == x.uri && y.who == x.who })
	if len(f.list) >= maxFollowed {
		f.list = slices.Delete(f.list, 0, 1)
	}
	f.list = append(f.list, x)
}

// drop ends what a client follows: one resource, or all with "".
func (f *followers) drop(who, uri string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = slices.DeleteFunc(f.list, func(y follower) bool { return y.who == who && (uri == "" || y.uri == uri) })
}

// hooks notes who follows what.
func (f *followers) hooks() *server.Hooks {
	h := &server.Hooks{}
	h.AddAfterSubscribe(func(ctx context.Context, _ any, req *gomcp.SubscribeRequest, _ *gomcp.EmptyResult) {
		if s := server.ClientSessionFromContext(ctx); s != nil {
			f.subscribe(s.SessionID(), req.Params.URI)
		}
	})
	h.AddAfterUnsubscribe(func(ctx context.Context, _ any, req *gomcp.UnsubscribeRequest, _ *gomcp.EmptyResult) {
		if s := server.ClientSessionFromContext(ctx); s != nil {
			f.drop(s.SessionID(), req.Params.URI)
		}
	})
	h.AddBeforeSubscriptionsListen(func(ctx context.Context, id any, req *gomcp.SubscriptionsListenRequest) {
		if s := server.ClientSessionFromContext(ctx); s != nil {
			f.listen(ctx, s, id, req.Params.Notifications.ResourceSubscriptions)
		}
	})
	return h
}

// subscribe has a session told until it unsubscribes. Its stream of notifications may
// come later, or again.
func (f *followers) subscribe(session, uri string) {
	f.add(follower{uri: uri, who: session, tell: func() {
		_ = f.srv.SendNotificationToSpecificClient(session, gomcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
	}})
}

// listen has a request's stream told until the request ends.
func (f *followers) listen(ctx context.Context, s server.ClientSession, id any, uris []string) {
	who := rand.Text()
	for _, uri := range uris {
		n := gomcp.JSONRPCNotification{JSONRPC: gomcp.JSONRPC_VERSION, Notification: gomcp.Notification{
			Method: gomcp.MethodNotificationResourceUpdated,
			Params: gomcp.NotificationParams{Meta: map[string]any{gomcp.MetaKeySubscriptionID: id}, AdditionalFields: map[string]any{"uri": uri}},
		}}
		f.add(follower{uri: uri, who: who, tell: func() {
			select {
			case s.NotificationChannel() <- n:
			default: // the client does not read
			}
		}})
	}
	context.AfterFunc(ctx, func() { f.drop(who, "") })
}
