package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense/model"
)

// Key is the API key that a Service's client has.
const Key = "test-key-1234"

// Service is a Server and a client for it that does not really wait.
type Service struct {
	*Server
	// Options are the client's; change them before a question.
	Options model.Options
	// Waits holds how long the client waited before each further attempt.
	Waits []time.Duration

	client func(model.Options) model.Client
}

// Serve starts a Service that plays turns and ends with the test. The client
// is made anew for each question, from the options as they are then.
func Serve(t *testing.T, w Wire, client func(model.Options) model.Client, turns ...Turn) *Service {
	t.Helper()
	s := &Service{Server: New(w, turns...), client: client}
	t.Cleanup(s.Close)
	s.Options = model.Options{
		APIKey: Key, BaseURL: s.URL, HTTPClient: s.Client(),
		Sleep: func(ctx context.Context, d time.Duration) error { s.Waits = append(s.Waits, d); return ctx.Err() },
		Now:   func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	}
	return s
}

// Question is a request with one message of the user.
func Question(text string) *model.Request {
	return &model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: text}}}
}

// ToolRequest is a question with two tools, one of them a server's.
func ToolRequest() *model.Request {
	req := Question("q")
	req.Tools = []model.ToolSpec{
		{Name: "add", Description: "Adds", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}}}`)},
		{Name: "mcp__fs__list", Description: "Lists"},
	}
	return req
}

// Complete asks and gives what the client gives.
func (s *Service) Complete(ctx context.Context, req *model.Request) (*model.Turn, error) {
	return s.client(s.Options).Complete(ctx, req)
}

// Ask asks and demands an answer.
func (s *Service) Ask(t *testing.T, req *model.Request) *model.Turn {
	t.Helper()
	turn, err := s.Complete(context.Background(), req)
	if err != nil {
		t.Fatalf("Complete: %v", err)
	}
	return turn
}

// Fail asks and demands an error of a kind with the given words, in one line,
// without the key or a word of Go in it.
func (s *Service) Fail(t *testing.T, req *model.Request, kind model.Kind, words string) *model.Error {
	t.Helper()
	turn, err := s.Complete(context.Background(), req)
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %+v, %v; want a *model.Error", turn, err)
	}
	if e.Kind != kind || !strings.Contains(e.Msg, words) {
		t.Errorf("got %s %q, want %s with %q", e.Kind, e.Msg, kind, words)
	}
	for _, bad := range []string{Key, "\n", "json:", "Go value", "anthropic.", "openai.", "*model.", "runtime", "0x", "%!", "POST "} {
		if strings.Contains(e.Msg, bad) {
			t.Errorf("%q holds %q", e.Msg, bad)
		}
	}
	return e
}

// Stream asks ToolRequest for a stream and gives the pieces shown, too.
func (s *Service) Stream() (turn *model.Turn, shown []string, err error) {
	req := ToolRequest()
	req.Stream = func(piece string) { shown = append(shown, piece) }
	turn, err = s.Complete(context.Background(), req)
	return turn, shown, err
}

// BrokenStreams tests that a stream which breaks off is asked for again, as
// often as a refusal, and that what was shown is not shown twice. The stream
// begun has shown "hello" and is cut off there.
func BrokenStreams(t *testing.T, serve func(*testing.T, ...Turn) *Service, begun string) {
	cut, garbled := Stream(begun), Stream(begun+"data: {\"oops\n\n")
	for _, tt := range []struct {
		name  string
		turns []Turn
		text  string // "" where it fails
		shown string
		asked int
	}{
		{"once", []Turn{cut, Text("hello world")}, "hello world", "hello world", 2},
		{"another course", []Turn{cut, Text("good day")}, "good day", "hello\ngood day", 2},
		{"shorter", []Turn{cut, Text("hell")}, "hell", "hello\nhell", 2},
		{"the same", []Turn{cut, Text("hello")}, "hello", "hello", 2},
		{"twice", []Turn{cut, garbled, Text("hello world")}, "hello world", "hello world", 3},
		{"after a refusal", []Turn{Status(503, "{}"), cut, Text("hello!")}, "hello!", "hello!", 3},
		{"too often", []Turn{cut, Status(500, "{}"), cut, Text("late")}, "", "hello", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.turns...)
			turn, shown, err := s.Stream()
			if got := strings.Join(shown, ""); got != tt.shown || len(s.Requests()) != tt.asked || len(s.Waits) != tt.asked-1 {
				t.Errorf("shown %q, asked %d times, waited %v", got, len(s.Requests()), s.Waits)
			}
			if (err == nil) != (tt.text != "") || err == nil && turn.Text != tt.text {
				t.Errorf("got %+v, %v, want %q", turn, err, tt.text)
			}
		})
	}
}
