package mcp

import (
	"context"
	"encoding/json"
	"errors"
)

var errNotYet = errors.New("not connected")

// Manager connects to servers and tracks them all.
type Manager struct{}

// NewManager gives a Manager without servers.
func NewManager() *Manager { return &Manager{} }

// Connect starts and connects a server and reads its list of tools. The
// error's text is one clause without the server's name, for use after
// "failed to connect to '<name>': ". Nothing is left running after an error.
func (m *Manager) Connect(ctx context.Context, cfg Config) (*Server, error) { return nil, errNotYet }

// Start is Connect without the wait: the server is pending, and its first use
// waits. Errors show as status and from Wait.
func (m *Manager) Start(ctx context.Context, cfg Config) *Server { return &Server{} }

// Servers gives every server of this manager, closed ones too, in the order of
// their connecting.
func (m *Manager) Servers() []*Server { return nil }

// CloseAll closes every server side by side, within 5 s. No process started by
// this manager is left when it returns.
func (m *Manager) CloseAll() {}

// Server is a connection to one MCP server. All methods may be used from many
// goroutines at once.
type Server struct{}

// Name is the name given in the configuration.
func (s *Server) Name() string { return "" }

// Tools lists the server's tools that the allow-list lets through, refreshed
// first when the server said that they changed. Empty while pending.
func (s *Server) Tools() []*Tool { return nil }

// Status says where the connection stands.
func (s *Server) Status() Status { return Pending }

// Err says why the status is Failed or NeedsAuth; nil otherwise.
func (s *Server) Err() error { return nil }

// Instructions are the server's own words on its use, or "".
func (s *Server) Instructions() string { return "" }

// Wait waits until a server made by Start is connected or has failed.
func (s *Server) Wait(ctx context.Context) error { return errNotYet }

// Call runs a tool. args is a JSON object, sent byte for byte but for spaces
// between tokens (nil means {}). The request is sent at most once. The error's
// text is one clause, for use after "mcp tool '<server>.<tool>' failed: "; a
// failure that the tool itself reports is no error but a Result with IsError.
func (s *Server) Call(ctx context.Context, tool string, args json.RawMessage) (*Result, error) {
	return nil, errNotYet
}

// Close ends the connection and the process with all that it started, within
// 5 s. A second close does nothing.
func (s *Server) Close() error { return nil }

// Reconnect closes what is left of the connection and connects anew.
func (s *Server) Reconnect(ctx context.Context) error { return errNotYet }
