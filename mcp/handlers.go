package mcp

import (
	"context"
	"encoding/json"
)

// Handlers answer requests and take notifications of a server. Each may be
// nil; the server is then not told of the ability, and asking for it anyway is
// answered "method not found". A handler runs on a goroutine of its own, so it
// may block or call the server; its context ends with the connection.
type Handlers struct {
	// Sample answers sampling/createMessage: the server asks for a completion
	// by our model.
	Sample func(context.Context, *SampleRequest) (*SampleResult, error)
	// Elicit answers elicitation/create: the server asks the user something.
	Elicit func(context.Context, *ElicitRequest) (*ElicitResult, error)
	// Roots answers roots/list.
	Roots func(context.Context) ([]Root, error)
	// Log takes notifications/message.
	Log func(LogMessage)
	// Progress takes notifications/progress of calls that are under way.
	Progress func(Progress)
	// ToolsChanged is told when the server says that its list of tools
	// changed; Tools gives the new list at its next use.
	ToolsChanged func()
	// ResourceUpdated is told when a resource subscribed to changed.
	ResourceUpdated func(uri string)
}

// SampleRequest is a server's wish for a completion.
type SampleRequest struct {
	Server      string // the asking server's name
	System      string
	Messages    []Message
	MaxTokens   int
	Temperature *float64 // nil when not said
	Stop        []string
	ModelHints  []string // names the server would like, best first
}

// SampleResult answers a SampleRequest.
type SampleResult struct {
	Model      string
	Text       string
	StopReason string // "endTurn", "stopSequence", "maxTokens"; empty means endTurn
}

// Message is one message of a prompt or a sampling request.
type Message struct {
	Role   string // "user" or "assistant"
	Blocks []Block
}

// ElicitRequest is a server's question to the user.
type ElicitRequest struct {
	Server  string // the asking server's name
	Message string
	// Schema is the flat object schema of the form asked for; nil for a URL.
	Schema json.RawMessage
	// URL is to be shown and opened by the user (mode "url"), with the id the
	// server will use when it says that the matter is done.
	URL, ID string
}

// ElicitResult answers an ElicitRequest.
type ElicitResult struct {
	// Action is "accept", "decline" or "cancel".
	Action string
	// Content is the filled-in form as a JSON object; nil unless accepted.
	Content json.RawMessage
}

// Root is a folder the server may consider its own ground.
type Root struct {
	URI  string // file://...
	Name string
}

// LogMessage is a log line of a server.
type LogMessage struct {
	Server, Level, Logger, Text string
}

// Progress tells how far a call has come. Total is 0 when unknown.
type Progress struct {
	Server, Tool    string
	Progress, Total float64
	Message         string
}
