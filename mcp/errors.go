package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ErrClosed is what a call on a connection that we closed fails with.
var ErrClosed = errors.New("the connection is closed")

// RPCError is a JSON-RPC error a server answered a request with. A handler
// that returns one chooses the code its server is told.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error gives the server's message with code and data, on one line.
func (e *RPCError) Error() string {
	text := clean(e.Message, 2000)
	if text == "" {
		text = "the server gives no message"
	}
	text += " (JSON-RPC error " + strconv.Itoa(e.Code)
	if len(e.Data) > 0 && string(e.Data) != "null" {
		text += ", data " + clean(string(e.Data), 500)
	}
	return text + ")"
}

// parseRPCError reads the error member of a response, in the shapes servers
// send it.
func parseRPCError(raw []byte) *RPCError {
	var e RPCError
	if json.Unmarshal(raw, &e) == nil {
		return &e
	}
	var loose struct {
		Code    json.Number     `json:"code"`
		Message json.RawMessage `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &loose) == nil {
		return &RPCError{Code: wholeCode(loose.Code), Message: plain(loose.Message), Data: loose.Data}
	}
	return &RPCError{Message: plain(raw)}
}

// wholeCode gives a code that a server did not write as an integer, 0 where it is
// none that fits.
func wholeCode(n json.Number) int {
	const largest = 1 << 31
	if f, err := n.Float64(); err == nil && f > -largest && f < largest {
		return int(f)
	}
	return 0
}

// plain gives a JSON string's text, and any other JSON as it stands.
func plain(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// TimeoutError says that a server did not answer in time.
type TimeoutError struct {
	After  time.Duration
	Method string // what was not answered; "" for a call of a tool
	Unsent bool   // the server did not even read the request
	Stderr string // the server's last words, or ""
}

// Error names the limit and what was waited for.
func (e *TimeoutError) Error() string {
	text := "timed out after " + seconds(e.After)
	if e.Method != "" {
		text = "no answer to " + e.Method + " in " + seconds(e.After)
	}
	if e.Unsent {
		text += "; the server does not read its input"
	}
	return text + lastWords(e.Stderr)
}

// ExitError says that a server's process ended by itself.
type ExitError struct {
	Status string // "exited with status 3", "was ended by signal 9 (killed)"
	Early  bool   // before it answered initialize
	Stderr string // its last words, or ""
}

// Error tells how the process ended and its last words.
func (e *ExitError) Error() string {
	text := "the server " + e.Status
	if e.Early {
		text += " before it answered"
	}
	return text + lastWords(e.Stderr)
}

func lastWords(stderr string) string {
	if stderr == "" {
		return ""
	}
	return "; its standard error ends: " + stderr
}

// NeedsAuthError says that a server wants a login first.
type NeedsAuthError struct {
	// Cause says why a login was not possible or not good enough; nil when
	// none was tried.
	Cause error
}

// Error says that a login is needed and why what was tried is not enough.
func (e *NeedsAuthError) Error() string {
	if e.Cause == nil {
		return "the server wants a login"
	}
	return "the server wants a login: " + strings.TrimRight(clean(e.Cause.Error(), 500), ": ")
}

// Unwrap gives the cause.
func (e *NeedsAuthError) Unwrap() error { return e.Cause }

// LostError says that a connection was lost before a request was answered.
type LostError struct {
	Cause  error
	Method string // of the request
	// Unsent says that nothing of the request reached the server, so that
	// sending it again is safe.
	Unsent bool
}

// Error gives the cause and, for a call of a tool, what that leaves open.
func (e *LostError) Error() string {
	text := e.Cause.Error()
	switch {
	case e.Unsent:
		// A server that ends before it answers may do so before or after the
		// request is written; both are told alike.
		if exit := (*ExitError)(nil); errors.As(e.Cause, &exit) && exit.Early {
			return text
		}
		return "the connection is lost: " + text
	case e.Method == methodCall:
		text += "; the call may have been carried out and was not sent again"
	}
	return text
}

// Unwrap gives the cause.
func (e *LostError) Unwrap() error { return e.Cause }

// lostIn is the error of a request that a lost or closed connection cost.
func lostIn(method string, cause error, unsent bool) error {
	if errors.Is(cause, ErrClosed) {
		return ErrClosed
	}
	return &LostError{Cause: cause, Method: method, Unsent: unsent}
}

// lostError is what calls after the loss of a connection fail with.
func lostError(cause error) error {
	if cause == nil || errors.Is(cause, ErrClosed) {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrClosed, cause)
}

// seconds writes a limit as people read it: "60 s", "1.5 s".
func seconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Round(time.Millisecond))/float64(time.Second), 'f', -1, 64) + " s"
}

// clean makes foreign text fit for one line of ours: no control, format or
// other unprintable character, at most limit runes.
func clean(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.TrimSpace(s) {
		if n++; n > limit {
			b.WriteString("...")
			break
		}
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r == utf8.RuneError || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}
