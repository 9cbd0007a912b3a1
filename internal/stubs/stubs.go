// Package stubs stands in for the model vendors in tests: an HTTP server that
// speaks OpenAI's chat completions or Anthropic's messages, answers with the
// turns it was given, keeps what it was asked and, when strict, refuses what
// the vendors refuse.
package stubs

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Kind says which vendor's wire a Stub speaks.
type Kind string

// The vendors.
const (
	OpenAI    Kind = "openai"
	Anthropic Kind = "anthropic"
)

// Turn is one answer of a stub. The first of Drop, Raw, Status that is set says
// what kind of answer it is; otherwise it is one of the model with Text, Calls
// or both. The zero Turn is an answer without text.
type Turn struct {
	// Text is what the model says. "@results" answers with the texts of the last
	// turn's tool results, joined by "|".
	Text *string `json:"text"`
	// Calls are the tools the model asks for, in order.
	Calls []Call `json:"calls"`
	// Status is an HTTP status to answer with, and Body what goes with it.
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
	// Raw is a body sent as it is, with Status or 200.
	Raw *string `json:"raw"`
	// Drop closes the connection without an answer.
	Drop bool `json:"drop"`
	// Finish replaces the reason the vendor gives for the end of the turn.
	Finish string `json:"finish"`
	// Usage replaces the tokens counted: 10 in, 5 out.
	Usage *Usage `json:"usage"`
}

// Call is a tool call of a Turn.
type Call struct {
	// Name is the name in Sense ("server.tool"); the stub finds the offered tool
	// that stands for it. "@2" is the third offered tool.
	Name string `json:"name"`
	// Offered is the index of an offered tool, in place of a name.
	Offered *int `json:"offered"`
	// ID is made up where it is empty.
	ID string `json:"id"`
	// Arguments are any JSON; for OpenAI a JSON string is sent as it stands.
	Arguments json.RawMessage `json:"arguments"`
}

// Usage counts tokens.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// Request is what a stub was asked.
type Request struct {
	Path string
	// Body is the parsed JSON, numbers as json.Number.
	Body map[string]any
	// Key is the API key that came with it.
	Key string
}

// Text makes a turn that says s.
func Text(s string) Turn { return Turn{Text: &s} }

// ToolCall makes a turn that calls one tool; args is a JSON object.
func ToolCall(name, args string) Turn {
	return Turn{Calls: []Call{{Name: name, Arguments: json.RawMessage(args)}}}
}

// ParseTurns reads turns from a JSON array.
func ParseTurns(data string) ([]Turn, error) {
	var turns []Turn
	if err := json.Unmarshal([]byte(data), &turns); err != nil {
		return nil, fmt.Errorf("turns of a stub: %w", err)
	}
	return turns, nil
}

// Stub is a running stand-in. Close it when done.
type Stub struct {
	kind   Kind
	strict bool
	server *httptest.Server

	mu    sync.Mutex
	turns []Turn
	asked []Request
}

// New starts a stub on the loopback address that answers with turns in order
// and with status 500 when they are used up. A strict one answers 400 to what
// the vendor would refuse.
func New(kind Kind, turns []Turn, strict bool) *Stub {
	s := &Stub{kind: kind, strict: strict, turns: turns}
	s.server = httptest.NewServer(s)
	return s
}

// Close ends the stub and waits for its connections.
func (s *Stub) Close() {
	s.server.CloseClientConnections()
	s.server.Close()
}

// URL is what goes into OPENAI_BASE_URL or ANTHROPIC_BASE_URL.
func (s *Stub) URL() string {
	if s.kind == OpenAI {
		return s.server.URL + "/v1"
	}
	return s.server.URL
}

// Env gives the base URL and a key as K=V lines for the environment.
func (s *Stub) Env() []string {
	prefix := strings.ToUpper(string(s.kind))
	return []string{prefix + "_API_KEY=test-key", prefix + "_BASE_URL=" + s.URL()}
}

// Asked gives the requests so far.
func (s *Stub) Asked() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.asked...)
}

// ServeHTTP answers one request of a vendor's client.
func (s *Stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "only POST", http.StatusNotImplemented)
		return
	}
	body, err := readBody(r)
	if err != nil {
		answer(w, http.StatusBadRequest, []byte(`{"error": {"message": "the request is no JSON object"}}`), jsonType)
		return
	}
	turn, n := s.next(Request{Path: r.URL.RequestURI(), Body: body, Key: apiKey(r)})
	s.reply(w, turn, n, body)
}

const jsonType = "application/json"

func readBody(r *http.Request) (map[string]any, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return map[string]any{}, nil
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	var body map[string]any
	err = d.Decode(&body)
	return body, err
}

func apiKey(r *http.Request) string {
	if k := r.Header.Get("X-Api-Key"); k != "" {
		return k
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// next keeps a request and picks its answer and its number, which counts from 1.
func (s *Stub) next(req Request) (Turn, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, req)
	n := len(s.asked)
	if s.strict {
		if why := Refusal(s.kind, req.Body); why != "" {
			text, _ := json.Marshal(why) // a string always encodes
			return Turn{Status: 400, Body: fmt.Appendf(nil, `{"type": "error", "error": {"type": "invalid_request_error", "message": %s}}`, text)}, n
		}
	}
	if len(s.turns) == 0 {
		return Turn{Status: 500, Body: json.RawMessage(`{"error": {"message": "stub has no turn left"}}`)}, n
	}
	turn := s.turns[0]
	s.turns = s.turns[1:]
	return turn, n
}

func (s *Stub) reply(w http.ResponseWriter, turn Turn, n int, body map[string]any) {
	status := turn.Status
	if status == 0 {
		status = http.StatusOK
	}
	switch {
	case turn.Drop:
		drop(w)
	case turn.Raw != nil:
		answer(w, status, []byte(*turn.Raw), jsonType)
	case turn.Status != 0:
		if turn.Body == nil {
			turn.Body = json.RawMessage("{}")
		}
		answer(w, status, turn.Body, jsonType)
	case s.kind == OpenAI:
		answerOpenAI(w, turn, n, body)
	default:
		answerAnthropic(w, turn, n, body)
	}
}

func drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		conn.Close()
	}
}

func answer(w http.ResponseWriter, status int, data []byte, contentType string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client may be gone; that is its business
}
