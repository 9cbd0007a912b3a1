package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// listenGrace is how long connecting waits for the server to open the stream
// for what it says unasked, so that it can ask in the first call already.
const listenGrace = 250 * time.Millisecond

// openRemote connects to a server over HTTP: Streamable HTTP, or server-sent
// events where the configuration says so or the server answers 404 or 405.
// Nothing is left of it after an error.
func openRemote(ctx context.Context, cfg *Config, r *remote, changed func(string)) (*session, error) {
	if cfg.Transport == "sse" {
		return openBySSE(ctx, cfg, r, changed)
	}
	s, err := openByHTTP(ctx, cfg, r, changed)
	var status *StatusError
	if cfg.Transport != "" || !errors.As(err, &status) || status.Code != http.StatusNotFound && status.Code != http.StatusMethodNotAllowed {
		return s, err
	}
	s, sseErr := openBySSE(ctx, cfg, r, changed)
	if sseErr != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%w, and by server-sent events: %w", err, sseErr)
	}
	return s, sseErr
}

// openByHTTP connects by Streamable HTTP.
func openByHTTP(ctx context.Context, cfg *Config, r *remote, changed func(string)) (*session, error) {
	s := &session{cfg: cfg, changed: changed, remote: true}
	conn := newHTTPConn(r, s.warn)
	s.use(conn, &conn.rpcConn)
	s.shim.patient = r.login.browser != nil
	conn.start()
	if err := plainError(s.handshake(ctx, "")); err != nil {
		conn.close(quickGrace)
		return nil, err
	}
	if s.modern() {
		return s, nil
	}
	select {
	case <-conn.listen():
	case <-time.After(listenGrace):
	case <-ctx.Done():
	}
	return s, nil
}

// openBySSE connects by server-sent events.
func openBySSE(ctx context.Context, cfg *Config, r *remote, changed func(string)) (*session, error) {
	s := &session{cfg: cfg, changed: changed}
	conn, err := openSSE(ctx, r, s.warn)
	if err != nil {
		return nil, err
	}
	s.use(conn, &conn.rpcConn)
	conn.start()
	if err := s.negotiateLegacyFirst(ctx); err != nil {
		conn.close(quickGrace)
		return nil, err
	}
	return s, nil
}
