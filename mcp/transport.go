package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// params are the parameters of a request, as JSON that goes out as it is.
type params struct {
	members []byte // all members but _meta, without the braces
	meta    []byte // the members of _meta, without the braces
	// progress asks the server for progress, is told of it, and has it extend
	// the time limit; nil does not ask.
	progress func(raw []byte)
	header   http.Header // goes with the request where there are headers
}

// shim shows a link to mcp-go's client, which negotiates over it and decodes
// what servers ask.
type shim struct {
	link
	patient      bool // a user may have to log in before there is an answer
	serveRequest atomic.Pointer[transport.RequestHandler]
	initErr      atomic.Pointer[error] // how the server refused initialize
}

var _ interface {
	transport.BidirectionalInterface
	transport.HTTPConnection
} = (*shim)(nil)

// Start has nothing to do: the connection is started when it is made.
func (*shim) Start(context.Context) error { return nil }

// GetSessionId gives none; the link keeps it.
func (*shim) GetSessionId() string { return "" }

// Close does nothing: the session closes the link.
func (*shim) Close() error { return nil }

// SetProtocolVersion is told of the negotiated revision.
func (t *shim) SetProtocolVersion(version string) { t.agreed(version) }

// SetNotificationHandler does nothing; notifications go to the session.
func (*shim) SetNotificationHandler(func(gomcp.JSONRPCNotification)) {}

// SetRequestHandler sets what answers the server's requests.
func (t *shim) SetRequestHandler(h transport.RequestHandler) { t.serveRequest.Store(&h) }

// SendNotification sends a notification of mcp-go's. Cancellations are sent by
// the connection itself, under the ids that the server knows.
func (t *shim) SendNotification(ctx context.Context, n gomcp.JSONRPCNotification) error {
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
	return t.notify(ctx, n.Method, params)
}

// SendRequest sends a request of mcp-go's: the handshake.
func (t *shim) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	handshake := req.Method == string(gomcp.MethodInitialize)
	if refused := t.initErr.Load(); handshake && refused != nil {
		return nil, *refused // not asked a second time
	}
	p := params{header: req.Header}
	if req.Params != nil {
		raw, err := encode(req.Params)
		if err != nil {
			return nil, err
		}
		p.members = raw[1 : len(raw)-1]
	}
	limit := untilContext
	if req.Method == string(gomcp.MethodServerDiscover) && !t.patient {
		limit = discoverLimit
	}
	result, err := t.request(ctx, limit, req.Method, p)
	var refused *RPCError
	if errors.As(err, &refused) && req.Method == string(gomcp.MethodServerDiscover) && contradicts(refused) {
		result, err = t.request(ctx, limit, req.Method, p)
	}
	if errors.As(err, &refused) {
		if handshake {
			t.initErr.Store(&err)
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
	t.greeted()
	return transport.NewJSONRPCResultResponse(req.ID, result), nil
}

// contradicts says whether a server refuses our revision and yet names it among
// those it speaks; it is then asked once more.
func contradicts(e *RPCError) bool {
	var d struct {
		Supported []string `json:"supported"`
	}
	return e.Code == gomcp.UNSUPPORTED_PROTOCOL_VERSION && json.Unmarshal(e.Data, &d) == nil && slices.Contains(d.Supported, gomcp.LATEST_PROTOCOL_VERSION)
}

// untilContext is the limit of a request that only its context bounds.
const untilContext = 24 * time.Hour

// discoverLimit bounds server/discover, which servers of earlier revisions may
// leave without an answer.
const discoverLimit = 5 * time.Second

// discovered says whether a result really answers server/discover: servers
// that answer anything to everything exist.
func discovered(result json.RawMessage) bool {
	var r struct {
		Versions []string `json:"supportedVersions"`
	}
	return json.Unmarshal(result, &r) == nil && gomcp.IsModernProtocol(gomcp.NegotiateMutuallySupportedVersion(r.Versions))
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
