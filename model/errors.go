package model

// Kind sorts an Error by what can be done about it.
type Kind string

// The kinds of Error.
const (
	// KindAuth: the key is missing, wrong or not allowed to do this.
	KindAuth Kind = "auth"
	// KindQuota: the account has no money or quota left; waiting does not help.
	KindQuota Kind = "quota"
	// KindRateLimit: too many requests or a busy service; waiting helps.
	KindRateLimit Kind = "rate_limit"
	// KindRequest: the service refuses this request and would do so again.
	KindRequest Kind = "request"
	// KindServer: the service failed.
	KindServer Kind = "server"
	// KindConnection: no answer came: unreachable, dropped, cut off.
	KindConnection Kind = "connection"
	// KindTimeout: no answer came in time.
	KindTimeout Kind = "timeout"
	// KindAnswer: an answer came that makes no sense.
	KindAnswer Kind = "answer"
	// KindScript: a scripted mock has no turn for this request.
	KindScript Kind = "script"
)

// Error is why a model gave no turn.
type Error struct {
	// Status is the HTTP status, 0 where none came.
	Status int
	// Kind sorts the error.
	Kind Kind
	// Msg is the cause in plain words, on one line.
	Msg string
}

// Error gives Msg.
func (e *Error) Error() string { return e.Msg }
