package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// ourName and ourVersion are what we tell servers we are.
const (
	ourName    = "sense"
	ourVersion = "1.0.0"
)

// methodCall is the request that calls a tool.
const methodCall = string(gomcp.MethodToolsCall)

// session is one negotiated connection.
type session struct {
	cfg     *Config
	link    link
	shim    *shim
	client  *client.Client
	version string // the negotiated revision
	init    *gomcp.InitializeResult
	remote  bool   // over Streamable HTTP
	meta    []byte // members of _meta that the revision wants on every request
	changed func(list string)
	level   atomic.Pointer[string] // the log level wanted, where requests say it

	mu       sync.Mutex
	unlisten context.CancelFunc // ends the request for notifications
}

// modern says whether the revision is one without sessions.
func (s *session) modern() bool { return gomcp.IsModernProtocol(s.version) }

// openStdio starts a server's process and negotiates with it. Nothing is left
// of it after an error.
func openStdio(ctx context.Context, cfg *Config, mark string, changed func(string)) (*session, error) {
	proc, err := startProcess(cfg, mark)
	if err != nil {
		return nil, err
	}
	s := &session{cfg: cfg, changed: changed}
	conn := newStdioConn(proc, s.warn)
	s.use(conn, &conn.rpcConn)
	conn.start()
	if err := s.negotiateLegacyFirst(ctx); err != nil {
		conn.close(quickGrace)
		return nil, withLastWords(err, &proc.stderr)
	}
	return s, nil
}

// use makes a link the session's and takes what it brings.
func (s *session) use(l link, conn *rpcConn) {
	s.link, s.shim = l, &shim{link: l}
	conn.onNotify = s.notified
	conn.onRequest = s.asked
}

// withLastWords adds the server's last words to a time-out.
func withLastWords(err error, stderr *ring) error {
	var late *TimeoutError
	if errors.As(err, &late) && late.Stderr == "" {
		late.Stderr = stderr.tail()
	}
	return err
}

func (s *session) warn(text string) {
	if s.cfg.Warn != nil {
		s.cfg.Warn(fmt.Sprintf("mcp server '%s': %s", s.cfg.Name, text))
	}
}

// negotiateLegacyFirst agrees on a revision: initialize first, since a server that starts
// slowly may take a server/discover that comes before it for a decision, and
// server/discover when initialize is refused.
func (s *session) negotiateLegacyFirst(ctx context.Context) error {
	err := s.handshake(ctx, gomcp.LATEST_LEGACY_PROTOCOL_VERSION)
	var refused *RPCError
	if errors.As(err, &refused) {
		if s.handshake(ctx, "") == nil {
			return nil
		}
	}
	return plainError(err)
}

// handshake has mcp-go's client initialize, at a fixed revision or, with none
// given, by server/discover.
func (s *session) handshake(ctx context.Context, revision string) error {
	opts := append(s.clientOptions(), client.WithDiscoverTimeout(-1)) // the shim has a limit of its own
	if revision != "" {
		opts = append(opts, client.WithProtocolVersion(revision))
	}
	c := client.NewClient(s.shim, opts...)
	if err := c.Start(ctx); err != nil {
		return err
	}
	var req gomcp.InitializeRequest
	req.Params.ClientInfo = gomcp.Implementation{Name: ourName, Version: ourVersion}
	result, err := c.Initialize(ctx, req)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	s.client, s.init, s.version = c, result, c.ProtocolVersion()
	if s.modern() {
		s.meta, err = s.requestMeta(c)
	}
	return err
}

// requestMeta gives the members of _meta that a modern revision wants.
func (s *session) requestMeta(c *client.Client) ([]byte, error) {
	raw, err := encode(map[string]any{
		gomcp.MetaKeyProtocolVersion:    s.version,
		gomcp.MetaKeyClientInfo:         gomcp.Implementation{Name: ourName, Version: ourVersion},
		gomcp.MetaKeyClientCapabilities: s.capabilities(),
	})
	if err != nil {
		return nil, err
	}
	return raw[1 : len(raw)-1], nil
}

// plainError puts errors of mcp-go into our words.
func plainError(err error) error {
	var auth *NeedsAuthError
	if errors.As(err, &auth) {
		return auth
	}
	var wrong gomcp.UnsupportedProtocolVersionError
	if errors.As(err, &wrong) {
		if wrong.Version == "" {
			return errors.New("the server answers initialize without a protocol revision")
		}
		return fmt.Errorf("the server speaks protocol revision '%s', which is not one from %s to %s",
			clean(wrong.Version, 60), gomcp.ProtocolVersion20241105, gomcp.LATEST_PROTOCOL_VERSION)
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &kind) {
		return badAnswer(errors.Join(nilless(syntax), nilless(kind)))
	}
	var wrapped *transport.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var status *StatusError
	if errors.As(err, &status) {
		return status
	}
	return err
}

// nilless turns a nil pointer into a nil error.
func nilless[E interface {
	comparable
	error
}](err E) error {
	var none E
	if err == none {
		return nil
	}
	return err
}

// request sends a request with what the revision wants on each.
func (s *session) request(ctx context.Context, limit time.Duration, method string, p params) (json.RawMessage, error) {
	p.meta = s.requestMembers()
	if p.header == nil {
		p.header = s.headers(method, "", nil, &p)
	}
	raw, err := s.link.request(ctx, limit, method, p)
	var late *TimeoutError
	if method != methodCall && errors.As(err, &late) && late.Method == "" {
		late.Method = method
	}
	return raw, err
}

// requestMembers gives the members of _meta that go with each request.
func (s *session) requestMembers() []byte {
	level := s.level.Load()
	if level == nil || s.meta == nil {
		return s.meta
	}
	return append(append(bytes.Clone(s.meta), `,"`+gomcp.MetaKeyLogLevel+`":`...), quote(*level)...)
}

// callTool calls a tool. args must be a JSON object in one line.
func (s *session) callTool(ctx context.Context, t *Tool, args []byte) (*Result, error) {
	members := make([]byte, 0, len(t.Name)+len(args)+40)
	members = append(append(members, `"name":`...), quote(t.Name)...)
	members = append(append(members, `,"arguments":`...), args...)
	p := params{members: members, progress: s.progressOf(t)}
	p.header = s.headers(methodCall, t.Name, t, &p)
	raw, err := s.ask(ctx, s.cfg.callTimeout(), methodCall, p)
	if err != nil {
		return nil, err
	}
	return parseResult(raw)
}

// progressOf hands progress of a call of t to the handler.
func (s *session) progressOf(t *Tool) func([]byte) {
	return func(raw []byte) {
		if s.cfg.Handlers.Progress == nil {
			return
		}
		var p struct {
			Progress, Total float64
			Message         string
		}
		if json.Unmarshal(raw, &p) == nil {
			s.cfg.Handlers.Progress(Progress{Server: s.cfg.Name, Tool: t.Name, Progress: p.Progress, Total: p.Total, Message: p.Message})
		}
	}
}

// notified takes a notification that concerns no single call.
func (s *session) notified(method string, raw []byte) {
	h := &s.cfg.Handlers
	switch method {
	case "notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed":
		s.changed(strings.Split(method, "/")[1])
	case "notifications/resources/updated":
		var p struct{ URI string }
		if json.Unmarshal(raw, &p) == nil && h.ResourceUpdated != nil {
			h.ResourceUpdated(p.URI)
		}
	case "notifications/message":
		var p struct {
			Level, Logger string
			Data          json.RawMessage
		}
		if json.Unmarshal(raw, &p) == nil && h.Log != nil {
			h.Log(LogMessage{Server: s.cfg.Name, Level: p.Level, Logger: p.Logger, Text: plain(p.Data)})
		}
	}
}

func (c *Config) callTimeout() time.Duration {
	if c.CallTimeout > 0 {
		return c.CallTimeout
	}
	return DefaultCallTimeout
}

func (c *Config) connectTimeout() time.Duration {
	if c.ConnectTimeout > 0 {
		return c.ConnectTimeout
	}
	return DefaultConnectTimeout
}
