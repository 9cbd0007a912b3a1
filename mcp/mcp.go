// Package mcp is Sense's client for the Model Context Protocol.
//
// A [Manager] connects to servers and tracks them; a [Server] is one
// connection, over standard input and output of a process we start and
// supervise or over HTTP; a [Tool] is what a server offers; [Server.Call] runs
// one and gives a [Result]. The protocol's types, its negotiation and its HTTP
// transports come from mark3labs/mcp-go, which no exported name of this
// package shows; the process, the framing and the life of a connection are
// our own.
//
// Every wait in this package has a bound or obeys its context. A call is sent
// at most once. No process started here outlives [Manager.CloseAll].
package mcp

import (
	"encoding/json"
	"time"
)

// Default limits, used where the configuration says zero.
const (
	DefaultConnectTimeout = 60 * time.Second
	DefaultCallTimeout    = 60 * time.Second
)

// Config says how to reach a server. Exactly one of Command and URL is set.
type Config struct {
	// Name is the server's name in scripts and messages. It must not be empty.
	Name string
	// Command is the program to start, looked up on PATH unless it holds a
	// path separator, with Args passed as they are: no shell, no expansion.
	Command string
	Args    []string
	// Env is added to (and wins over) the short safe list of variables that a
	// server inherits: PATH, HOME, LANG and the like, never keys.
	Env map[string]string
	// Dir is the process's working folder; empty means ours.
	Dir string
	// URL is the address of a remote server.
	URL string
	// Transport is "stdio", "http" or "sse"; empty means stdio for a command,
	// and for a URL http with sse as the fallback.
	Transport string
	// Headers are sent with every HTTP request.
	Headers map[string]string
	// OAuth says how to log in to a server that wants it; nil is the usual way.
	// A server with an Authorization header of its own is never logged in to.
	OAuth *OAuth
	// ConnectTimeout bounds starting, negotiating and listing the tools;
	// CallTimeout bounds one call. Zero means the defaults, 60 s each.
	ConnectTimeout, CallTimeout time.Duration
	// Tools, when not empty, are globs ("read_*"); a tool whose name matches
	// none of them is not offered and cannot be called.
	Tools []string
	// Frozen keeps the list of tools that was read when connecting, whatever
	// the server says of changes.
	Frozen bool
	// Handlers answer what the server asks of us. Nil ones are not announced
	// to the server.
	Handlers Handlers
	// Warn takes one-line warnings (without a line end); nil drops them. It
	// may be called from any goroutine.
	Warn func(string)

	anew bool // logs in whatever login is kept
}

// Status says where a connection stands.
type Status string

// The states of a connection.
const (
	Pending   Status = "pending"    // connecting or reconnecting
	Connected Status = "connected"  // ready
	Failed    Status = "failed"     // could not connect, or lost and given up; Err says why
	NeedsAuth Status = "needs-auth" // the server wants a login
	Disabled  Status = "disabled"   // switched off by configuration
	Closed    Status = "closed"     // closed by us
)

// Tool is one tool of a server, as the server listed it. Do not change it.
type Tool struct {
	Server *Server
	// Name and Description are the server's own spelling. An empty Description
	// means that the server gave none.
	Name, Description string
	// Schema is the input schema byte for byte as the server gave it;
	// OutputSchema and Meta likewise, nil where there was none.
	Schema       json.RawMessage
	OutputSchema json.RawMessage
	Annotations  Annotations
	Meta         json.RawMessage
}

// Annotations are a server's hints about a tool. They are claims of the
// server, not facts. Nil pointers mean "not said"; the protocol then assumes
// true.
type Annotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    bool   `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  bool   `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// Result is what a call of a tool gave.
type Result struct {
	// Text is what a model is shown: text blocks joined by newlines, a note
	// such as "[image image/png, 2 bytes]" for each block that is no text,
	// structured content as JSON unless it repeats the text. It is never empty
	// when IsError is set.
	Text string
	// Blocks are the content blocks in order.
	Blocks []Block
	// Structured is the structured content as the server sent it, or nil.
	Structured json.RawMessage
	// IsError says that the tool ran and reports a failure; Text says which.
	IsError bool
	// Meta is the result's _meta, or nil.
	Meta json.RawMessage
}

// Block is one content block of a result, a prompt message or a sampling
// message.
type Block struct {
	// Type is "text", "image", "audio", "resource", "resource_link", or what
	// else the server said.
	Type string
	// Text is the text of a text block or of an embedded text resource.
	Text string
	// MIMEType and Data (decoded) describe images, audio and binary resources.
	MIMEType string
	Data     []byte
	// URI and Name are those of a resource or of a link to one.
	URI, Name string
}
