package serve

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// missing is the error of a request that came to nothing because its client does not
// offer what it takes, which has a code of its own from 2026-07-28 on
// (MissingRequiredClientCapabilityError). mcp-go gives a handler no way to it, so that
// the error goes out as an internal one with this text, and amend puts the right one
// in its place.
type missing struct{ capability, reason string }

// missingMark begins the text that amend looks for.
const missingMark = "needs of the client: "

// Error gives the capability and the reason behind the mark.
func (m *missing) Error() string { return missingMark + m.capability + ": " + m.reason }

// amend gives an answer of mcp-go the code of a missing, and whether it did.
func amend(answer []byte) ([]byte, bool) {
	if !bytes.Contains(answer, []byte(missingMark)) {
		return answer, false
	}
	var msg struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int            `json:"code"`
			Message string         `json:"message"`
			Data    map[string]any `json:"data,omitempty"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &msg) != nil || msg.Error.Code != gomcp.INTERNAL_ERROR {
		return answer, false
	}
	text, ok := strings.CutPrefix(msg.Error.Message, missingMark)
	capability, reason, found := strings.Cut(text, ": ")
	if !ok || !found {
		return answer, false
	}
	msg.Error.Code, msg.Error.Message = gomcp.MISSING_REQUIRED_CLIENT_CAPABILITY, reason
	msg.Error.Data = map[string]any{"requiredCapabilities": map[string]any{capability: struct{}{}}}
	out, err := json.Marshal(msg)
	if err != nil {
		return answer, false
	}
	return append(out, '\n'), true
}

// amender amends answers over HTTP: it holds the status of a JSON answer back until
// the answer is there. Call end after the handler.
type amender struct {
	http.ResponseWriter
	held int // the status that is held back, 0 for none
}

// WriteHeader passes the status on, or holds it back.
func (a *amender) WriteHeader(status int) {
	if kind, _, _ := mime.ParseMediaType(a.Header().Get("Content-Type")); kind == "application/json" && status == http.StatusOK {
		a.held = status
		return
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write passes an answer on, which mcp-go writes at once.
func (a *amender) Write(b []byte) (int, error) {
	if a.held == 0 {
		return a.ResponseWriter.Write(b)
	}
	out, changed := amend(b)
	if changed {
		a.held = http.StatusBadRequest
	}
	a.end()
	if _, err := a.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush sends what is written.
func (a *amender) Flush() {
	a.end()
	if f, ok := a.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap gives the writer below, for http.ResponseController.
func (a *amender) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// end sends a status that is held back.
func (a *amender) end() {
	if status := a.held; status != 0 {
		a.held = 0
		a.ResponseWriter.WriteHeader(status)
	}
}
