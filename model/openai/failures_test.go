package openai

import (
	"errors"
	"strings"
	"testing"
	"time"

	"context"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/modeltest"
)

func limited(header, value string) modeltest.Turn {
	return modeltest.Turn{Status: 429, Body: []byte(`{"error":{"message":"slow down"}}`), Header: map[string]string{header: value}}
}

// B14: Retry-After is obeyed, up to a minute.
func TestB14RetryAfter(t *testing.T) {
	for _, tt := range []struct {
		header, value string
		want          time.Duration
	}{
		{"Retry-After", "1", time.Second},
		{"Retry-After", "0", 0},
		{"Retry-After", "1.5", 1500 * time.Millisecond},
		{"Retry-After", "99999", time.Minute},
		{"Retry-After", "1e999", time.Minute},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:25 GMT", 20 * time.Second},
		{"Retry-After", "Fri, 02 Jan 2026 03:00:00 GMT", 0},
		{"Retry-After", "Fri, 02 Jan 2099 03:00:00 GMT", time.Minute},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	} {
		s := serve(t, limited(tt.header, tt.value), limited(tt.header, tt.value), modeltest.Text("at last"))
		if turn := s.Ask(t, modeltest.Question("q")); turn.Text != "at last" {
			t.Errorf("got %+v", turn)
		}
		if w := s.Waits; len(w) != 2 || w[0] != tt.want || w[1] != tt.want {
			t.Errorf("%s %s: waited %v, want %v", tt.header, tt.value, w, tt.want)
		}
	}
}

// Without a word of the service, or with a senseless one, the waits grow.
func TestBackOff(t *testing.T) {
	for _, value := range []string{"", "soon", "-5", "NaN"} {
		s := serve(t)
		for range 8 {
			s.Add(limited("Retry-After", value))
		}
		s.Add(modeltest.Text("x"))
		s.Options.Retries = ptr(8)
		s.Ask(t, modeltest.Question("q"))
		longest := 500 * time.Millisecond
		for i, w := range s.Waits {
			if w > longest || w < longest*3/4 {
				t.Errorf("%q: wait %d was %v, want up to a quarter less than %v", value, i, w, longest)
			}
			longest = min(2*longest, 8*time.Second)
		}
	}
}

// A wait that the time-out does not leave room for is not begun.
func TestWaitBeyondTheTimeout(t *testing.T) {
	s := serve(t, limited("Retry-After", "60"), modeltest.Text("late"))
	s.Options.Timeout = 30 * time.Second
	s.Fail(t, modeltest.Question("q"), model.KindRateLimit, "HTTP 429 Too Many Requests: slow down")
	if len(s.Waits) != 0 || len(s.Requests()) != 1 {
		t.Errorf("waited %v, asked %d times", s.Waits, len(s.Requests()))
	}
}

func TestRetries(t *testing.T) {
	const quota = `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`
	for _, tt := range []struct {
		name string
		turn modeltest.Turn
		sent int
		kind model.Kind
		want string
	}{
		{"401", modeltest.Status(401, `{"error":{"message":"Incorrect API key provided: test-key-1234.","code":"invalid_api_key"}}`), 1, model.KindAuth, "HTTP 401 Unauthorized: Incorrect API key provided: [key]."},
		{"401 with a part of the key", modeltest.Status(401, `{"error":{"message":"Incorrect API key provided: sk-proj-********wxyz."}}`), 1, model.KindAuth, "Incorrect API key provided: [key]"},
		{"403", modeltest.Status(403, `{"error":"not yours"}`), 1, model.KindAuth, "HTTP 403 Forbidden: not yours"},
		{"400", modeltest.Status(400, `{"error":{"message":["one","two"]}}`), 1, model.KindRequest, "HTTP 400 Bad Request: one, two"},
		{"404 of a gateway", modeltest.Status(404, `{"detail":"no such route"}`), 1, model.KindRequest, "HTTP 404 Not Found: no such route"},
		{"402", modeltest.Status(402, `{"error":{"message":"pay first"}}`), 1, model.KindQuota, "HTTP 402 Payment Required: pay first"},
		{"408", modeltest.Status(408, `{}`), 3, model.KindRequest, "HTTP 408 Request Timeout"},
		{"409", modeltest.Status(409, `{"message":"again"}`), 3, model.KindRequest, "HTTP 409 Conflict: again"},
		{"429", modeltest.Status(429, `{"error":{"message":"slow down"}}`), 3, model.KindRateLimit, "HTTP 429 Too Many Requests: slow down"},
		{"B15 quota", modeltest.Status(429, quota), 1, model.KindQuota, "HTTP 429 Too Many Requests: You exceeded your current quota"},
		{"B15 quota by its type", modeltest.Status(429, `{"error":{"message":"m","type":"insufficient_quota","code":null}}`), 1, model.KindQuota, "m"},
		{"500", modeltest.Status(500, `{"error":{"message":"the engine\nburns"}}`), 3, model.KindServer, "HTTP 500 Internal Server Error: the engine burns"},
		{"B16 529", modeltest.Status(529, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`), 3, model.KindRateLimit, "HTTP 529 Overloaded: Overloaded"},
		{"B16 a page", modeltest.Turn{Status: 502, Raw: ptr("<html>\n<head><title>502 Bad &amp; Gateway</title></head><body><h1>nginx</h1></body></html>"), Header: map[string]string{"Content-Type": "text/html"}}, 3, model.KindServer, "HTTP 502 Bad Gateway: a web page titled '502 Bad & Gateway'"},
		{"a page without a title", modeltest.Turn{Status: 503, Raw: ptr("<!DOCTYPE html><p>x")}, 3, model.KindServer, "HTTP 503 Service Unavailable: a web page"},
		{"plain text", modeltest.Turn{Status: 503, Raw: ptr("upstream\tgone \x1b[31m")}, 3, model.KindServer, "HTTP 503 Service Unavailable: upstream gone [31m"},
		{"no body", modeltest.Turn{Status: 504, Raw: ptr("")}, 3, model.KindServer, "HTTP 504 Gateway Timeout"},
		{"a long text", modeltest.Turn{Status: 500, Raw: ptr(strings.Repeat("é", 100_000))}, 3, model.KindServer, strings.Repeat("é", 300) + "…"},
		{"204", modeltest.Turn{Status: 204, Raw: ptr("")}, 1, model.KindRequest, "HTTP 204 No Content"},
		{"told to retry", modeltest.Turn{Status: 400, Body: []byte(`{}`), Header: map[string]string{"X-Should-Retry": "true"}}, 3, model.KindRequest, "HTTP 400"},
		{"told not to retry", modeltest.Turn{Status: 500, Body: []byte(`{}`), Header: map[string]string{"X-Should-Retry": "false"}}, 1, model.KindServer, "HTTP 500"},
		{"dropped", modeltest.Turn{Drop: true}, 3, model.KindConnection, "was closed before the whole answer had come"},
		{"B22 cut in the body", modeltest.Turn{Text: ptr(strings.Repeat("x", 500)), CutAt: 200}, 3, model.KindConnection, "was closed before the whole answer had come"},
		{"B22 no JSON", modeltest.Raw("hello"), 1, model.KindAnswer, "the answer is not valid JSON (invalid character 'h' looking for beginning of value): hello"},
		{"cut JSON", modeltest.Raw(`{"id": "x", "choi`), 1, model.KindAnswer, `the answer is not valid JSON (unexpected end of JSON input): {"id": "x", "choi`},
		{"a page with 200", modeltest.Raw("<html><head><title>Welcome</title></head></html>"), 1, model.KindAnswer, "the service answered with a web page titled 'Welcome', not JSON"},
		{"nothing with 200", modeltest.Raw(""), 1, model.KindAnswer, "the service answered with nothing"},
		{"B22 no choices", modeltest.Raw(body("")), 1, model.KindAnswer, "the answer holds no message (no choices)"},
		{"another shape", modeltest.Raw("[1, 2]"), 1, model.KindAnswer, "the answer is not a JSON object"},
		{"null", modeltest.Raw("null"), 1, model.KindAnswer, "the answer is not a JSON object"},
		{"no message", modeltest.Raw(body(`{"finish_reason":"stop"}`)), 1, model.KindAnswer, "the answer holds no message"},
		{"choices of another shape", modeltest.Raw(body(`7`)), 1, model.KindAnswer, "choices are not objects"},
		{"message of another shape", modeltest.Raw(body(`{"message":"hi","finish_reason":"stop"}`)), 1, model.KindAnswer, "message is not an object"},
		{"content of another shape", modeltest.Raw(body(`{"message":{"content":7},"finish_reason":"stop"}`)), 1, model.KindAnswer, "content is neither text nor a list"},
		{"calls of another shape", modeltest.Raw(body(`{"message":{"tool_calls":{}},"finish_reason":"stop"}`)), 1, model.KindAnswer, "tool calls are not a list"},
		{"a call of another shape", modeltest.Raw(body(`{"message":{"tool_calls":[1]},"finish_reason":"stop"}`)), 1, model.KindAnswer, "tool calls are not objects"},
		{"a function of another shape", modeltest.Raw(body(`{"message":{"tool_calls":[{"function":"f"}]},"finish_reason":"stop"}`)), 1, model.KindAnswer, "names no function"},
		{"no finish_reason", modeltest.Raw(body(`{"message":{"content":"x"},"finish_reason":null}`)), 1, model.KindAnswer, "no finish_reason"},
		{"an error with 200", modeltest.Raw(`{"error":{"message":"provider is down","code":502}}`), 1, model.KindAnswer, "the service reports an error: provider is down"},
		{"content filter", modeltest.Raw(body(`{"message":{"content":null},"finish_reason":"content_filter"}`)), 1, model.KindAnswer, "content filter withheld"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.turn, tt.turn, tt.turn, tt.turn)
			s.Fail(t, modeltest.Question("q"), tt.kind, tt.want)
			if n := len(s.Requests()); n != tt.sent {
				t.Errorf("%d requests, want %d", n, tt.sent)
			}
			// The same when a stream was asked for.
			s = serve(t, tt.turn, tt.turn, tt.turn, tt.turn)
			req := modeltest.Question("q")
			req.Stream = func(string) {}
			if turn, err := s.Complete(context.Background(), req); err == nil {
				t.Errorf("streaming: got %+v", turn)
			}
		})
	}
}

func TestRecovers(t *testing.T) {
	for _, bad := range []modeltest.Turn{
		modeltest.Status(500, `{}`), modeltest.Status(529, `{}`), modeltest.Status(502, `"x"`), {Drop: true},
		{Text: ptr(strings.Repeat("x", 500)), CutAt: 300},
	} {
		s := serve(t, bad, bad, modeltest.Text("fine"))
		if turn := s.Ask(t, modeltest.Question("q")); turn.Text != "fine" {
			t.Errorf("got %+v", turn)
		}
		asked := s.Requests()
		if string(asked[0].Raw) != string(asked[2].Raw) {
			t.Error("the request was not repeated as it was")
		}
	}
}

func TestRetriesOption(t *testing.T) {
	for _, n := range []int{0, 1, 5} {
		s := serve(t)
		for range 10 {
			s.Add(modeltest.Status(500, `{}`))
		}
		s.Options.Retries = &n
		s.Fail(t, modeltest.Question("q"), model.KindServer, "HTTP 500")
		if got := len(s.Requests()); got != n+1 {
			t.Errorf("%d retries: %d requests", n, got)
		}
	}
}

// L6: no failure shows the key, wherever the service puts it.
func TestNoKeyInErrors(t *testing.T) {
	const key = "test-key-1234"
	for _, turn := range []modeltest.Turn{
		modeltest.Status(401, `{"error":{"message":"bad key `+key+`"}}`),
		{Status: 500, Raw: ptr("Authorization: Bearer " + key)},
		modeltest.Raw(key + " is no JSON"),
		modeltest.Raw(`{"error":"` + key + `"}`),
		{Status: 302, Header: map[string]string{"Location": "http://h/" + key}},
		{Status: 400, Raw: ptr("<title>" + key + "</title>"), Header: map[string]string{"Content-Type": "text/html"}},
	} {
		s := serve(t, turn, turn, turn)
		_, err := s.Complete(context.Background(), modeltest.Question("q"))
		var e *model.Error
		if !errors.As(err, &e) || strings.Contains(err.Error(), key) {
			t.Errorf("got %v", err)
		}
	}
}
