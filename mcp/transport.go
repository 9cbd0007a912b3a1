package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// link is a connection as a session uses it: a transport for mcp-go's client,
// which negotiates and decodes what servers ask, and raw requests for all else.
type link interface {
	transport.BidirectionalInterface
	// request sends one request at most once and gives its raw result.
	request(ctx context.Context, limit time.Duration, method string, p params) (json.RawMessage, error)
	// lostFor gives why the connection is lost, or nil while it stands.
	lostFor() error
	// lost is closed when the connection ends.
	lost() <-chan struct{}
	close(g grace)
}

// params are the parameters of a request, as JSON that goes out as it is.
type params struct {
	members []byte // all members but _meta, without the braces
	meta    []byte // the members of _meta, without the braces
	// progress asks the server for progress, is told of it, and has it extend
	// the time limit; nil does not ask.
	progress func(raw []byte)
}

// stdioTransport shows a stdioConn to mcp-go.
type stdioTransport struct {
	*stdioConn
	serveRequest atomic.Pointer[transport.RequestHandler]
	initErr      atomic.Pointer[RPCError] // how the server refused initialize
}

var _ link = (*stdioTransport)(nil)

// Start has nothing to do: the connection is started when it is made.
func (*stdioTransport) Start(context.Context) error { return nil }

// GetSessionId gives none: a process is its own session.
func (*stdioTransport) GetSessionId() string { return "" }

// Close ends the connection as stdioConn.close does.
func (t *stdioTransport) Close() error {
	t.close(politeGrace)
	return nil
}

func (t *stdioTransport) lost() <-chan struct{} { return t.done }

// SetNotificationHandler does nothing; notifications go to the session.
func (*stdioTransport) SetNotificationHandler(func(gomcp.JSONRPCNotification)) {}

// SetRequestHandler sets what answers the server's requests.
func (t *stdioTransport) SetRequestHandler(h transport.RequestHandler) { t.serveRequest.Store(&h) }

// SendNotification sends a notification of mcp-go's. Cancellations are sent by
// the connection itself, under the ids that the server knows.
func (t *stdioTransport) SendNotification(_ context.Context, n gomcp.JSONRPCNotification) error {
	if n.Method == string(gomcp.MethodNotificationCancelled) {
		return nil
	}
	params, err := encode(n.Params)
	if err != nil {
		return err
	}
	if string(params) == "{}" {
		params = nil
	}
	return t.notify(n.Method, params)
}

// SendRequest sends a request of mcp-go's: the handshake.
func (t *stdioTransport) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	handshake := req.Method == string(gomcp.MethodInitialize)
	if refused := t.initErr.Load(); handshake && refused != nil {
		return nil, refused // not asked a second time
	}
	var p params
	if req.Params != nil {
		raw, err := encode(req.Params)
		if err != nil {
			return nil, err
		}
		p.members = raw[1 : len(raw)-1]
	}
	result, err := t.request(ctx, untilContext, req.Method, p)
	var refused *RPCError
	if errors.As(err, &refused) {
		if handshake {
			t.initErr.Store(refused)
		}
		if req.Method == string(gomcp.MethodServerDiscover) {
			return transport.NewJSONRPCErrorResponse(req.ID, refused.Code, refused.Message, refused.Data), nil
		}
	}
	if err != nil {
		return nil, err
	}
	if req.Method == string(gomcp.MethodServerDiscover) && !discovered(result) {
		return transport.NewJSONRPCErrorResponse(req.ID, codeMethodNotFound, "no supported revision", nil), nil
	}
	t.greet.Store(true)
	return transport.NewJSONRPCResultResponse(req.ID, result), nil
}

// untilContext is the limit of a request that only its context bounds.
const untilContext = 24 * time.Hour

// discovered says whether a result really answers server/discover: servers
// that answer anything to everything exist.
func discovered(result json.RawMessage) bool {
	var r struct {
		Versions []string `json:"supportedVersions"`
	}
	return json.Unmarshal(result, &r) == nil && gomcp.IsModernProtocol(gomcp.NegotiateMutuallySupportedVersion(r.Versions))
}

// request sends a request and gives its raw result.
func (t *stdioTransport) request(ctx context.Context, limit time.Duration, method string, p params) (json.RawMessage, error) {
	m, err := t.roundTrip(ctx, limit, func(id int64) []byte { return requestLine(id, method, p) }, p.progress)
	return m.result, err
}

// requestLine writes a request as one line. The progress token is the
// request's id.
func requestLine(id int64, method string, p params) []byte {
	line := make([]byte, 0, len(p.members)+len(p.meta)+len(method)+120)
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = strconv.AppendInt(line, id, 10)
	line = append(append(append(line, `,"method":"`...), method...), `","params":{`...)
	line = append(line, p.members...)
	if p.meta == nil && p.progress == nil {
		return append(line, "}}\n"...)
	}
	if len(p.members) > 0 {
		line = append(line, ',')
	}
	line = append(append(line, `"_meta":{`...), p.meta...)
	if p.progress != nil {
		if len(p.meta) > 0 {
			line = append(line, ',')
		}
		line = append(line, `"progressToken":`...)
		line = strconv.AppendInt(line, id, 10)
	}
	return append(line, "}}}\n"...)
}
