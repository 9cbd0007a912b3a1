package serve

import (
	gomcp "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// heldBy notes the request that waits for the call; nil between two.
func (r *running) heldBy(req *request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from = req
}

// holder gives the request that waits for the call, or nil.
func (r *running) holder() *request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from
}

// progress tells the client how far the call is (notifications/progress), where it
// wants to know. Nobody is told of what does not get through: it is a courtesy.
func (r *running) progress(done float64, total *float64, message string) {
	req := r.holder()
	if req == nil || req.token == nil {
		return
	}
	params := map[string]any{"progressToken": req.token, "progress": done}
	if total != nil {
		params["total"] = *total
	}
	if message != "" {
		params["message"] = message
	}
	if s := server.ServerFromContext(req.ctx); s != nil {
		_ = s.SendNotificationToClient(req.ctx, "notifications/progress", params)
	}
}

// log sends a line to the client's log (notifications/message), where it wants
// lines of this level.
func (r *running) log(level, text string) {
	req := r.holder()
	if req == nil {
		return
	}
	if s := server.ServerFromContext(req.ctx); s != nil {
		_ = s.SendLogMessageToClient(req.ctx, gomcp.NewLoggingMessageNotification(gomcp.LoggingLevel(level), "", text))
	}
}
