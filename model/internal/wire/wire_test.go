package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/sense-lang/sense/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"\u003cb\u003e \u0026"}`: `{"a":"<b> &"}`,
		`"\\u003c"`:                    `"\\u003c"`,
		`"\\\u003c"`:                   `"\\<"`,
		`"\u00e9\u003d\u003"`:          `"\u00e9\u003d\u003"`,
		`"x\u0026`:                     `"x&`,
		`\u00\`:                        `\u00\`,
		`plain`:                        `plain`,
	} {
		if got := string(Unescape([]byte(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func FuzzUnescape(f *testing.F) {
	f.Add("<b> & \\u003c \u2028")
	f.Fuzz(func(t *testing.T, s string) {
		body, err := json.Marshal(s)
		if err != nil {
			t.Skip()
		}
		var want, got string
		if json.Unmarshal(body, &want) != nil || json.Unmarshal(Unescape(body), &got) != nil || got != want {
			t.Errorf("%q became %q", want, got)
		}
		if bytes.ContainsAny([]byte(want), "<>&") && bytes.Contains(Unescape(body), []byte(`\u003c`)) != strings.Contains(want, `\u003c`) {
			t.Errorf("%s is left in %q", body, want)
		}
	})
}

func TestShorten(t *testing.T) {
	for in, want := range map[string]string{
		"a\n\tb  c\r\n":                   "a b c",
		"\x1b[31mred\x07\u202e\u200b\xff": "[31mred�",
		strings.Repeat("é", 300):          strings.Repeat("é", 300),
		strings.Repeat("é", 301):          strings.Repeat("é", 300) + "…",
		strings.Repeat("日", 1_000_000):    strings.Repeat("日", 300) + "…",
		"":                                "",
	} {
		if got := shorten(in); got != want {
			t.Errorf("%.40q: got %q, want %q", in, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	const key = "abcdefgh-secret"
	for in, want := range map[string]string{
		"key abcdefgh-secret!":                   "key [key]!",
		"cut abcdefgh…":                          "cut [key]…",
		"other sk-ant-api03-AbCdEf0123 here":     "other [key] here",
		"Authorization: Bearer abc.def.ghi-0123": "Authorization: [key]",
		"a task-list of disk-images":             "a task-list of disk-images",
	} {
		if got := clean(in, key); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got := clean("a b a", "a"); got != "a b a" {
		t.Errorf("a key of one letter: %s", got)
	}
}

func TestPageTitle(t *testing.T) {
	for in, want := range map[string]string{
		"<html><TITLE> a \n &lt;b&gt;</TITLE>":                  "a web page titled 'a <b>'",
		"<html><title>no end":                                   "a web page",
		"<html><title></title>":                                 "a web page",
		"<html>" + strings.Repeat("İ", 3) + "<title>x</title>":  "a web page", // whose lower case has another length
		"<html><title>" + strings.Repeat("x", 100) + "</title>": "a web page titled '" + strings.Repeat("x", 80) + "…'",
	} {
		if got := shortBody([]byte(in), ""); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestCheckJSONIsShort(t *testing.T) {
	err := checkJSON([]byte(strings.Repeat("x", 100_000)))
	if err == nil || len(err.Error()) > 250 {
		t.Errorf("got %v", err)
	}
	if err := checkJSON([]byte(`{"a":1}`)); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestEvents(t *testing.T) {
	e := NewEvents(iotestOneByte{strings.NewReader(": c\nevent: a\ndata: 1\n\ndata\n\nevent: lost\n\ndata: 2\r\ndata:  3\r\n\r\nid: x\ndata: {}")})
	for _, want := range []struct{ name, data string }{{"a", "1"}, {"", ""}, {"", "2\n 3"}, {"", "{}"}} {
		name, data, err := e.Next()
		if err != nil || name != want.name || string(data) != want.data {
			t.Errorf("got %q %q %v, want %q %q", name, data, err, want.name, want.data)
		}
	}
	if _, _, err := e.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	if _, _, err := NewEvents(strings.NewReader("data: {cut")).Next(); err != io.EOF {
		t.Errorf("a cut event: %v", err)
	}
	if _, _, err := NewEvents(endless{}).Next(); err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("an endless event: %v", err)
	}
	many := strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 20)
	if _, _, err := NewEvents(strings.NewReader(many)).Next(); err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("a huge event in many lines: %v", err)
	}
}

// repeated gives the same text without end.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

func (*repeated) Close() error { return nil }

func TestEndlessStream(t *testing.T) {
	s := &Stream{Event: func(_ string, data []byte) ([]byte, error) { return data, nil }}
	body := s.body(&repeated{text: "data: " + strings.Repeat("x", 1<<20) + "\n\n"}, nil)
	n, err := io.Copy(io.Discard, body)
	if n != maxStream || err == nil || err.Error() != "the answer is larger than 128 MiB" {
		t.Errorf("%d bytes, %v", n, err)
	}
}

type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:1]) }

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("x"), len(p))), nil }

func FuzzEvents(f *testing.F) {
	f.Add("event: a\r\ndata: 1\n\ndata: {}")
	f.Fuzz(func(t *testing.T, s string) {
		e := NewEvents(strings.NewReader(s))
		for range len(s) + 1 {
			if _, _, err := e.Next(); err != nil {
				return
			}
		}
		t.Errorf("more events than bytes in %q", s)
	})
}

func TestJSONHelpers(t *testing.T) {
	for in, want := range map[string]int64{"5": 5, "5.0": 5, "1e2": 100, "-3": -3, "null": 0, `"7"`: 0, "1e99": 0, "": 0, "-1.5": 0} {
		if got := Int(json.RawMessage(in)); got != want {
			t.Errorf("Int(%s) = %d, want %d", in, got, want)
		}
	}
	for _, in := range []string{"", " ", "null", " null\n"} {
		if !Absent(json.RawMessage(in)) {
			t.Errorf("%q is not absent", in)
		}
	}
	if Absent(json.RawMessage(`0`)) {
		t.Error("0 is absent")
	}
	for f, want := range map[float64]string{0: "0", 0.1: "0.1", 2: "2", 1e21: "1e+21"} {
		if got := string(Number(f)); got != want {
			t.Errorf("Number(%v) = %s", f, got)
		}
	}
	for _, bad := range []string{"", "[1]", "{", `{"a":}`, `{"a":1`, `{"a" 1}`, "null"} {
		if list, ok := members(json.RawMessage(bad)); ok {
			t.Errorf("%q has the members %v", bad, list)
		}
	}
	list, ok := members(json.RawMessage(`{"b":1, "a":{"x": [1]}, "b":2.0}`))
	if !ok || string(object(list)) != `{"b":2.0,"a":{"x": [1]}}` {
		t.Errorf("got %s", object(list))
	}
}

func TestErrorIn(t *testing.T) {
	for in, want := range map[string]string{
		`{}`: "", `{"error":null}`: "", `{"error":"down"}`: "down", `{"error":{"message":"m","code":"c"}}`: "m",
		`{"error":{"code":"c"}}`: `{"error":{"code":"c"}}`, `{"error":7}`: `{"error":7}`,
	} {
		top, _ := Object(json.RawMessage(in))
		err := ErrorIn(top)
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != "the service reports an error: "+want) {
			t.Errorf("%s: got %v", in, err)
		}
	}
	top, _ := Object(json.RawMessage(`{"error":{"message":"m","code":"insufficient_quota"}}`))
	var e *model.Error
	if !errors.As(ErrorIn(top), &e) || e.Kind != model.KindQuota {
		t.Errorf("got %v", e)
	}
}

func TestToolSchema(t *testing.T) {
	for in, want := range map[string]string{
		``: emptySchema, `null`: emptySchema, `[]`: emptySchema, `{}`: emptySchema, `{"type":`: emptySchema,
		`{"type":"object"}`:                     emptySchema,
		`{"properties":{"a":{"type":"array"}}}`: `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`,
		`{"type":"object","properties":{"a":{"type":["array","null"]},"b":{"type":"array","prefixItems":[{"type":"array"}]},"c":{"anyOf":[{"type":"array"},true,{"items":[{"type":"array"}]}]},"items":{"not":{"type":"array"}}}}`: `{"type":"object","properties":{"a":{"type":["array","null"],"items":{}},"b":{"type":"array","prefixItems":[{"type":"array","items":{}}]},"c":{"anyOf":[{"type":"array","items":{}},true,{"items":[{"type":"array","items":{}}]}]},"items":{"not":{"type":"array","items":{}}}}}`,
		// What is no schema is left alone, though it looks like one.
		`{"type":"object","properties":{},"default":{"type":"array"},"enum":[{"type":"array"}]}`: `{"type":"object","properties":{},"default":{"type":"array"},"enum":[{"type":"array"}]}`,
		`{"type":"object","properties":7}`: `{"type":"object","properties":7}`,
	} {
		if got := string(ToolSchema(json.RawMessage(in))); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", in, got, want)
		}
	}
}

// Nesting beyond what is repaired costs nothing and loses nothing.
func TestToolSchemaDeep(t *testing.T) {
	in := strings.Repeat(`{"not":`, 5000) + `{"type":"array"}` + strings.Repeat("}", 5000)
	start := time.Now()
	got := string(ToolSchema(json.RawMessage(in)))
	if !strings.Contains(got, in[len(`{"not":`)*200:len(in)-200]) {
		t.Error("the depth was changed")
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestWithoutUnions(t *testing.T) {
	got, told := WithoutUnions(json.RawMessage(`{"oneOf":[1],"type":"object","properties":{"a":{"anyOf":[{}]}},"allOf":[]}`))
	if string(got) != `{"type":"object","properties":{"a":{"anyOf":[{}]}}}` || told != `The arguments must also satisfy this JSON Schema: {"oneOf": [1], "allOf": []}` {
		t.Errorf("got %s, %s", got, told)
	}
	for _, in := range []string{`{"type":"object"}`, `7`} {
		if got, told := WithoutUnions(json.RawMessage(in)); string(got) != in || told != "" {
			t.Errorf("got %s, %s", got, told)
		}
	}
}

func TestAnswerSchema(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		strict   bool
	}{
		{`{"type":"object","properties":{"a":{"type":"array"}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"array","items":{}}},"required":["a"],"additionalProperties":false}`, true},
		{`{"type":"object","properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, false},
		{`{"type":"object","properties":{"a":{"type":"object","additionalProperties":{}}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{}}},"required":["a"],"additionalProperties":false}`, false},
		{`{"type":"object","required":7}`, `{"type":"object","required":7,"additionalProperties":false}`, true},
		{`[]`, emptySchema, false},
	} {
		got, strict := AnswerSchema(json.RawMessage(tt.in))
		if string(got) != tt.want || strict != tt.strict {
			t.Errorf("%s:\ngot  %s %v\nwant %s %v", tt.in, got, strict, tt.want, tt.strict)
		}
	}
}

func TestFinishCalls(t *testing.T) {
	req := &model.Request{Messages: []model.Message{{Calls: []model.ToolCall{{ID: "call_1"}, {ID: "x"}}}}}
	calls := []model.ToolCall{{ID: "x"}, {ID: "", Args: json.RawMessage(" ")}, {ID: "y", Args: json.RawMessage("[")}, {ID: "y"}}
	FinishCalls(calls, req)
	for i, want := range []model.ToolCall{{ID: "call_2", Args: json.RawMessage("{}")}, {ID: "call_3", Args: json.RawMessage("{}")}, {ID: "y", Args: json.RawMessage("[")}, {ID: "call_4", Args: json.RawMessage("{}")}} {
		if calls[i].ID != want.ID || string(calls[i].Args) != string(want.Args) {
			t.Errorf("call %d is %+v, want %+v", i, calls[i], want)
		}
	}
}

func TestPlainDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{10 * time.Minute: "10 minutes", time.Minute: "60 s", 90 * time.Second: "90 s", 1500 * time.Millisecond: "1.5 s", 50 * time.Millisecond: "50ms"} {
		if got := plainDuration(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestRunWording(t *testing.T) {
	var numbers struct{ A int }
	goErr := json.Unmarshal([]byte(`{"a":"x"}`), &numbers)
	syntax := json.Unmarshal([]byte(`{`), &numbers)
	for err, want := range map[error]string{
		goErr: "the answer has a form that is not understood", syntax: "the answer is not valid JSON: unexpected end of JSON input",
		&model.Error{Msg: "as it is"}: "as it is", &failure{cause: &model.Error{Msg: "within"}}: "within",
	} {
		_, got := Run(context.Background(), &model.Options{}, func(context.Context) (*model.Turn, error) { return nil, err })
		var e *model.Error
		if !errors.As(got, &e) || e.Msg != want {
			t.Errorf("%v: got %v, want %s", err, got, want)
		}
	}
}

// The waits and limits without a clock of the caller's, in a bubble of time.
func TestRealWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		o := &model.Options{HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			asked++
			return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"50"}}, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
		})}}
		start := time.Now()
		_, err := Run(context.Background(), o, func(ctx context.Context) (*model.Turn, error) {
			req, _ := http.NewRequestWithContext(ctx, "POST", "http://h/", strings.NewReader("{}"))
			_, err := (&Call{Options: o}).Do(req)
			return nil, err
		})
		if d := time.Since(start); d != 100*time.Second || asked != 3 || err == nil || err.Error() != "HTTP 429 Too Many Requests" {
			t.Errorf("after %v and %d requests: %v", d, asked, err)
		}
	})
}

func TestTimeoutOfTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &model.Options{HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}}
		start := time.Now()
		_, err := Run(context.Background(), o, func(ctx context.Context) (*model.Turn, error) {
			req, _ := http.NewRequestWithContext(ctx, "POST", "http://h/", nil)
			_, err := (&Call{Options: o}).Do(req)
			return nil, err
		})
		if d := time.Since(start); d != 10*time.Minute || err == nil || err.Error() != "no answer within 10 minutes" {
			t.Errorf("after %v: %v", d, err)
		}
	})
}

func TestWaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		c := &Call{Options: &model.Options{}}
		if c.pause(ctx, 5*time.Second) || time.Since(start) != 0 {
			t.Error("a wait beyond the deadline was begun")
		}
		later, stop := context.WithCancel(context.Background())
		go func() { time.Sleep(time.Second); stop() }()
		if c.pause(later, 5*time.Second) || time.Since(start) != time.Second {
			t.Errorf("the wait went on for %v", time.Since(start))
		}
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHugeAnswer(t *testing.T) {
	o := &model.Options{HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(endless{}), Request: r}, nil
	})}}
	req, _ := http.NewRequest("POST", "http://h/", nil)
	_, err := (&Call{Options: o, Answer: func(b []byte) ([]byte, error) { return b, nil }}).Do(req)
	if err == nil || err.Error() != "the answer is larger than 32 MiB" {
		t.Errorf("got %v", err)
	}
}

func TestOwnClientIsShared(t *testing.T) {
	a, b := (&Call{Options: &model.Options{}}).client(), (&Call{Options: &model.Options{}}).client()
	if a.Transport == nil || a.Transport != b.Transport || a.Transport == http.DefaultTransport {
		t.Error("requests do not share a transport of their own")
	}
}
