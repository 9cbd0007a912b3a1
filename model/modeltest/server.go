// Package modeltest holds strict stand-ins for the vendors' services: servers
// on the loopback that speak OpenAI's or Anthropic's wire, play a script of
// turns, refuse what the vendors refuse and keep what they were asked.
package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
)

// Wire is the wire format that a Server speaks.
type Wire string

// The wire formats.
const (
	OpenAI    Wire = "openai"
	Anthropic Wire = "anthropic"
)

// Request is what a Server was asked.
type Request struct {
	// Path is the URL's path, such as "/v1/messages".
	Path string
	// Key is the API key of either vendor's header.
	Key string
	// Header has all headers.
	Header http.Header
	// Raw is the body, byte for byte, and Body the same read as JSON with its
	// numbers as json.Number; nil where it is no object.
	Raw  []byte
	Body map[string]any
}

// Server plays turns in order, one for each request. A request that the vendor
// would refuse is answered with status 400 and takes no turn; one without a
// turn left is answered with status 500.
type Server struct {
	// URL is the base URL for the clients: with /v1 on OpenAI's wire.
	URL string
	// Lenient answers requests that the vendor would refuse. Set it before the
	// first request.
	Lenient bool
	// NoStream answers requests for a stream in one piece. Set it before the
	// first request.
	NoStream bool

	wire  Wire
	http  *httptest.Server
	gone  chan struct{}
	mu    sync.Mutex
	turns []Turn
	asked []Request
}

// New starts a server; Close ends it.
func New(w Wire, turns ...Turn) *Server {
	s := &Server{wire: w, turns: turns, gone: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	if w == OpenAI {
		s.URL += "/v1"
	}
	return s
}

// Close ends the server and its connections.
func (s *Server) Close() {
	close(s.gone)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Client gives an HTTP client whose connections end with the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// Add appends turns to the script.
func (s *Server) Add(turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, turns...)
}

// Requests gives what was asked so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.asked...)
}

// Left is how many turns were not played yet.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	turn, n, body := s.take(r, raw)
	s.answer(w, r, turn, n, body)
}

// take records a request and finds its turn and its number, from 1.
func (s *Server) take(r *http.Request, raw []byte) (Turn, int, map[string]any) {
	key := r.Header.Get("X-Api-Key")
	if key == "" {
		key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	body := decode(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, Request{Path: r.URL.Path, Key: key, Header: r.Header, Raw: raw, Body: body})
	n := len(s.asked)
	if why := s.refusal(r, body); why != "" && !s.Lenient {
		return refusalTurn(why), n, body
	}
	if len(s.turns) == 0 {
		return Turn{Status: 500, Body: json.RawMessage(`{"error":{"message":"stub has no turn left"}}`)}, n, body
	}
	turn := s.turns[0]
	s.turns = s.turns[1:]
	return turn, n, body
}

func refusalTurn(why string) Turn {
	text, _ := json.Marshal(why) // a string always has a form
	return Turn{Status: 400, Body: json.RawMessage(`{"type":"error","error":{"type":"invalid_request_error","message":` + string(text) + `}}`)}
}

func (s *Server) refusal(r *http.Request, body map[string]any) string {
	want := "/v1/messages"
	if s.wire == OpenAI {
		want = "/v1/chat/completions"
	}
	switch {
	case r.Method != http.MethodPost || r.URL.Path != want:
		return fmt.Sprintf("unknown request URL: %s %s", r.Method, r.URL.Path)
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		return "the content type must be application/json"
	case body == nil:
		return "we could not parse the JSON body of your request"
	case s.wire == Anthropic && r.Header.Get("Anthropic-Version") == "":
		return "anthropic-version: header is required"
	}
	return Refusal(s.wire, body)
}

// answer plays a turn.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, turn Turn, n int, body map[string]any) {
	for k, v := range turn.Header {
		w.Header().Set(k, v)
	}
	switch {
	case turn.Drop:
		panic(http.ErrAbortHandler) // closes the connection without a word
	case turn.Hang:
		select {
		case <-r.Context().Done():
		case <-s.gone:
		}
		panic(http.ErrAbortHandler)
	case turn.Raw != nil:
		s.send(w, turn, "application/json", []byte(*turn.Raw))
	case turn.Status != 0:
		data := []byte(turn.Body)
		if data == nil {
			data = []byte("{}")
		}
		s.send(w, turn, "application/json", data)
	default:
		data, kind := s.scripted(turn, n, body)
		s.send(w, turn, kind, data)
	}
}

// send writes an answer, or the part of it that CutAt leaves.
func (s *Server) send(w http.ResponseWriter, turn Turn, kind string, data []byte) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", kind)
	}
	stream := strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
	if !stream {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	}
	status := turn.Status
	if status == 0 {
		status = 200
	}
	w.WriteHeader(status)
	cut := turn.CutAt > 0 && turn.CutAt < len(data)
	if cut {
		data = data[:turn.CutAt]
	}
	_, _ = w.Write(data) // a client that has gone is no fault here
	if cut {
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
}

// decode reads a JSON object with exact numbers; nil for anything else.
func decode(raw []byte) map[string]any {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var m map[string]any
	if dec.Decode(&m) != nil {
		return nil
	}
	return m
}
