package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// Path is where the server answers.
const Path = "/mcp"

// HTTP serves clients on l over streamable HTTP until ctx ends, which gives
// nil. With a token only requests that bear it are answered. The listener is
// closed.
func HTTP(ctx context.Context, s *Server, l net.Listener, token string) error {
	tools, open := s.build(ctx)
	defer open.end()
	handler := server.NewStreamableHTTPServer(tools, server.WithEndpointPath(Path), server.WithSessionIdleTTL(time.Hour),
		server.WithSessionIdManager(&sessions{}), server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)))
	mux := http.NewServeMux()
	mux.Handle(Path, ownPages(guard(token, exact(handler))))
	srv := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = handler.Shutdown(grace)
		if srv.Shutdown(grace) != nil {
			_ = srv.Close() // whoever is left is cut off
		}
	})
	err := srv.Serve(l)
	if !stop() {
		<-ended
	}
	handler.CloseSessions(context.WithoutCancel(ctx))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ownPages refuses what pages of other origins have a browser send: whoever names
// an origin must name the host that is asked.
func ownPages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, origin := range r.Header.Values("Origin") {
			if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
				http.Error(w, "requests of other origins are not answered", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// guard lets only requests through that bear the token.
func guard(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// exact keeps the arguments of calls as the client wrote them, bounds what is read,
// and amends what is answered.
func exact(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
		if err != nil {
			http.Error(w, "the request is too large or broke off", http.StatusRequestEntityTooLarge)
			return
		}
		body = hideArgs(body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		a := &amender{ResponseWriter: w}
		next.ServeHTTP(a, r)
		a.end()
	})
}
