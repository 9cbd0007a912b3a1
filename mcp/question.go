package mcp

// Question is one thing that a server asks its client for: a form where Form is
// set, a text of its model where MaxTokens is, and its roots otherwise.
type Question struct {
	// Name tells it from the others that are put together with it.
	Name string
	// Form is the JSON Schema of the fields that Message asks the user to fill in
	// (elicitation/create).
	Form    map[string]any
	Message string
	// Prompt goes to the client's model (sampling/createMessage) with System, which
	// may be "".
	Prompt, System string
	MaxTokens      int
}

// Answer is a client's answer to a Question.
type Answer struct {
	Fields map[string]any // of a form
	Text   string         // of the model
	Roots  []Root
	// Err says why there is none, such as a user who declined.
	Err error
}

// CanAsk says what a client can be asked for.
type CanAsk struct{ Elicitation, Sampling, Roots bool }
