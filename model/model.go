// Package model is what Sense knows of language models: a request, the turn a
// model answers with, and the Client that turns one into the other. It names no
// vendor: each vendor's wire format and library live in a package below this
// one (openai, anthropic), next to the offline mock.
//
// The conversation belongs to the caller. A tool loop is a loop around
// Complete: send the messages so far, append the assistant's Turn as a Message
// of RoleAssistant and the results of its calls as one Message of RoleTool, and
// send again until a Turn has no calls.
package model

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Client asks one model for one turn at a time. A Client is safe for concurrent
// use and keeps nothing of a conversation.
type Client interface {
	// Provider is the service's name as Sense writes it, such as "openai"; the
	// capability a request needs is "model." followed by it.
	Provider() string
	// ModelID is the model's name as the service knows it, such as "gpt-4o".
	ModelID() string
	// Complete sends the request and gives the model's turn. It returns as soon
	// as ctx ends, with ctx's error. Every other error is an *Error whose text
	// is the cause in plain words, fit to follow "model 'm' failed: ".
	Complete(ctx context.Context, req *Request) (*Turn, error)
}

// ToolSupport is implemented by clients that cannot be used with tools in every
// configuration. A client without it supports tools.
type ToolSupport interface {
	// ToolSupport is nil where requests may offer tools; otherwise its text is
	// the reason, fit to follow "does not support ask_with_tools(): ".
	ToolSupport() error
}

// Request is everything a model is asked with. Its zero value asks nothing;
// Complete does not change a Request or anything it refers to.
type Request struct {
	// System is the standing instruction; empty means Options.System.
	System string
	// Messages is the conversation so far, oldest first, ending with a message
	// of RoleUser or RoleTool.
	Messages []Message
	// Tools are the tools offered, with wire names (see Names).
	Tools []ToolSpec
	// Schema, where not nil, is the JSON Schema the answer's text must satisfy,
	// sent as the vendor's structured output, or asked for in words where the
	// service has none. Its root must be an object. The mock ignores it. Either
	// way the text is the model's: check it.
	Schema json.RawMessage
	// Stream, where not nil, is called with each piece of text as it arrives,
	// from the goroutine that called Complete. The Turn still has the whole
	// text. Nil means one answer in one piece.
	Stream func(text string)
}

// Role says who speaks in a Message.
type Role string

// The three speakers. The system's word is Request.System.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a conversation. Which fields count depends on Role:
// Text for RoleUser, Text, Calls and Raw for RoleAssistant, Results for
// RoleTool.
type Message struct {
	Role Role
	Text string
	// Calls are the calls of an assistant's turn, as Turn.Calls has them.
	Calls []ToolCall
	// Results answers every call of the assistant's turn before it, in order.
	Results []ToolResult
	// Raw is Turn.Raw of the turn this message repeats, or nil. The client that
	// made it uses it to repeat the turn exactly; any other ignores it.
	Raw any
}

// ToolCall is a model's wish to have a tool run.
type ToolCall struct {
	// ID ties a result to its call; unique and not empty within a Turn.
	ID string
	// Name is the wire name as the model wrote it, offered or not.
	Name string
	// Args is exactly what the model wrote, which may be no JSON at all; an
	// absent or empty text is given as {}.
	Args json.RawMessage
}

// ToolResult is what running one ToolCall gave.
type ToolResult struct {
	// CallID and Name are ID and Name of the call.
	CallID, Name string
	// Text is the result as the model reads it.
	Text string
	// IsError marks a result that says the call failed.
	IsError bool
	// Images are shown beside the text where the vendor's wire format has room
	// for them (Anthropic's), otherwise left out; so Text names them too.
	Images []Image
}

// Image is a picture a tool gave.
type Image struct {
	// MIME is its media type, such as "image/png".
	MIME string
	// Data holds its bytes, not encoded.
	Data []byte
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	// Name is the wire name (see Names).
	Name string
	// SenseName is the tool's name as Sense writes it, such as
	// "filesystem.list_directory"; empty means Name. It is never sent; the
	// scripted mock finds tools by it.
	SenseName string
	// Description tells the model what the tool does.
	Description string
	// Schema is the JSON Schema of the arguments; nil means an object without
	// properties.
	Schema json.RawMessage
}

// Turn is one answer of a model: text, or calls, or both.
type Turn struct {
	// Text is the answer's text; empty where the model wrote none.
	Text string
	// Calls are the calls the model wants made, in its order; nil where none.
	Calls []ToolCall
	// Stop is the vendor's word for why the turn ended, such as "end_turn".
	Stop string
	// Truncated says that the turn was cut short by a limit on tokens: its text
	// may end in the middle, and its last call may be incomplete.
	Truncated bool
	// Confidence is the model's own, from 0 to 1; nil where it has none, as
	// with every real model.
	Confidence *float64
	// Usage counts the tokens of this turn.
	Usage Usage
	// Raw is the turn as the client that made it understands it, for
	// Message.Raw; nil where Text and Calls say everything.
	Raw any
}

// Message gives the turn as the conversation's next message.
func (t *Turn) Message() Message {
	return Message{Role: RoleAssistant, Text: t.Text, Calls: t.Calls, Raw: t.Raw}
}

// Usage counts tokens; zero where the vendor does not say.
type Usage struct {
	InputTokens, OutputTokens int64
}

// Add gives the sum of two counts.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens}
}

// maxTokens is more than any turn has.
const maxTokens = 1 << 40

// Bounded gives the counts as far as they can be believed: none is negative, and
// sums of them do not overflow.
func (u Usage) Bounded() Usage {
	return Usage{min(max(u.InputTokens, 0), maxTokens), min(max(u.OutputTokens, 0), maxTokens)}
}

// Options configure a client. The zero value of each field means its default;
// no client reads the environment.
type Options struct {
	// ModelID is the model's name; the default is the provider's.
	ModelID string
	// APIKey is the secret. It never appears in an error.
	APIKey string
	// BaseURL replaces the vendor's address: with /v1 on OpenAI's wire, without
	// on Anthropic's.
	BaseURL string
	// System is the standing instruction of requests that have none.
	System string
	// Temperature is sent exactly as given, 0 included; nil sends none.
	Temperature *float64
	// MaxTokens limits an answer; nil means the vendor's default (on
	// Anthropic's wire, which demands a number, 1024).
	MaxTokens *int64
	// Timeout bounds a request with all its attempts and waits, from the first
	// byte sent to the last one read; 0 means ten minutes.
	Timeout time.Duration
	// Retries is how often an attempt is repeated after a failure that may pass:
	// no connection, status 408, 409, 429 (not for an exhausted quota) or 500
	// and above. A stream that has begun is not repeated. Nil means 2.
	Retries *int
	// HTTPClient carries the requests; nil means one of the client's own. Its
	// Timeout is not changed.
	HTTPClient *http.Client
	// Sleep waits between attempts, for tests; nil means a timer. It returns
	// ctx's error as soon as ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
	// Now is the clock for dates in Retry-After; nil means time.Now.
	Now func() time.Time
}
