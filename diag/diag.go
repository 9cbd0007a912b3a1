// Package diag holds what every other package needs to talk about a place in a
// program and about what went wrong there: positions, errors with a chain of
// calls, their rendering with an excerpt, and hints for misspelt names.
package diag

import (
	"errors"
	"fmt"
)

// Pos is a place in a source text. Line and Col count from 1, Col in code
// points; Offset counts bytes from 0. The zero Pos means "no known place".
type Pos struct {
	Offset, Line, Col int32
}

// IsValid reports whether p names a place.
func (p Pos) IsValid() bool { return p.Line > 0 }

// String gives "line:col".
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Kind classifies an error; scripts see it as e.kind.
type Kind string

// The kinds of errors. Limit and Interrupt cannot be caught by a script.
const (
	Syntax    Kind = "syntax"
	Name      Kind = "name"
	Type      Kind = "type"
	Runtime   Kind = "runtime"
	Import    Kind = "import"
	Policy    Kind = "policy"
	Approval  Kind = "approval"
	Model     Kind = "model"
	MCP       Kind = "mcp"
	Timeout   Kind = "timeout"
	Limit     Kind = "limit"
	Interrupt Kind = "interrupt"
)

// Frame is one active call of the chain that led to an error: the callee's
// name and the place it was called from.
type Frame struct {
	Name string
	File string
	Pos  Pos
}

// Error is an error of a Sense program. Msg is the bare message without a
// line; Error() puts "[line N] " before it when the place is known.
type Error struct {
	Kind Kind
	// File is the name of the source the error is in; empty for the REPL.
	File string
	Pos  Pos
	Msg  string
	// Notes are further lines shown below the message, such as a policy's
	// deciding rule.
	Notes []string
	// Stack is the chain of calls, outermost first.
	Stack []Frame
	// Elided counts the frames left out of the middle of Stack.
	Elided int
	// Cause is the Go error underneath, if any.
	Cause error
}

// Error gives the message as scripts, tests and the audit show it.
func (e *Error) Error() string {
	if e.Pos.Line > 0 {
		return fmt.Sprintf("[line %d] %s", e.Pos.Line, e.Msg)
	}
	return e.Msg
}

// Unwrap gives the underlying Go error.
func (e *Error) Unwrap() error { return e.Cause }

// New makes an error of a kind without a place; the call door adds one.
func New(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Msg: fmt.Sprintf(format, args...)}
}

// At makes an error of a kind at a place.
func At(k Kind, file string, p Pos, format string, args ...any) *Error {
	return &Error{Kind: k, File: file, Pos: p, Msg: fmt.Sprintf(format, args...)}
}

// KindOf gives the kind of err, Runtime where err is no *Error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Runtime
}
