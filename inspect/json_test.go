package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sense-lang/sense/eval"
)

func encoded(v any) string {
	e := &encoder{redact: func(s string) string { return s }}
	e.encode(v)
	return e.b.String()
}

func TestValuesAsJSON(t *testing.T) {
	m := eval.NewMap()
	m.Set("b", eval.Int(1))
	m.Set("a", eval.ArrayOf(eval.Nil(), eval.Bool(true)))
	for _, x := range []struct {
		v    eval.Value
		want string
	}{
		{eval.Nil(), `null`}, {eval.Value{}, `null`}, {eval.Bool(false), `false`}, {eval.Int(-7), `-7`}, {eval.Float(2), `2.0`},
		{eval.Float(1e300), `1e+300`}, {eval.Float(math.Inf(1)), `"inf"`}, {eval.Float(math.NaN()), `"nan"`},
		{eval.String("<a>&'\"\n\u2028"), `"\u003ca\u003e\u0026'\"\n\u2028"`}, {eval.ArrayOf(), `[]`}, {m.Value(), `{"b":1,"a":[null,true]}`},
	} {
		got := encoded(jsonOf(x.v))
		if got != x.want {
			t.Errorf("%s: got %s, want %s", x.v, got, x.want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s is no JSON", got)
		}
	}
}

func TestLargeAndEndlessValues(t *testing.T) {
	self := eval.NewArray(0)
	self.Push(self.Value())
	deep := eval.ArrayOf()
	for range 5000 {
		deep = eval.ArrayOf(deep)
	}
	wide := eval.NewArray(0)
	for i := range 3 * maxItems {
		wide.Push(eval.Int(int64(i)))
	}
	long := eval.ArrayOf(eval.String(strings.Repeat("x", 2*maxText)), eval.String(strings.Repeat("y", 2*maxText)))
	for name, v := range map[string]eval.Value{"holds itself": self.Value(), "deep": deep, "wide": wide.Value(), "long": long} {
		s := encoded(jsonOf(v))
		if !json.Valid([]byte(s)) || len(s) > 4*maxText {
			t.Errorf("%s: %d bytes, %.100s", name, len(s), s)
		}
		if s := textOf(v); len(s) > maxText+100 || s == "" {
			t.Errorf("%s: a text of %d bytes", name, len(s))
		}
	}
}

// A20: a text is cut between characters.
func TestClipCutsBetweenCharacters(t *testing.T) {
	s := strings.Repeat("a", 499) + "é…"
	for limit := 495; limit < 510; limit++ {
		got := clip(s, limit)
		if !utf8.ValidString(got) {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
	if got := clip(s, 500); !strings.HasSuffix(got, "a… (5 more bytes)") {
		t.Errorf("got %q", got[490:])
	}
	if clip("short", 10) != "short" {
		t.Error("a short text is changed")
	}
}

func TestEncoderRedactsEveryText(t *testing.T) {
	e := &encoder{redact: func(s string) string { return strings.ReplaceAll(s, "secret", "***") }}
	e.encode(object{{"secret", array{"a secret", object{{"k", "secret"}}, 1, 1.5, true, nil, fmt.Errorf("secret")}}})
	if s := e.b.String(); strings.Contains(s, "secret") || !json.Valid(e.b.Bytes()) {
		t.Errorf("got %s", s)
	}
}

// FuzzRequests sends any body to every route that takes one: the answer is JSON,
// and nothing panics.
func FuzzRequests(f *testing.F) {
	for _, s := range []string{"", "{}", `{"args":[1]}`, `{"value":{"a":[1.5e3]}}`, `{"confirm":"x"}`, `{"args":[[[`, `{"args":[1e999,"\ud800"]}`, "[", `{"args":{"a":1}}`} {
		f.Add("/api/tool/t/call", s)
	}
	f.Add("/api/agent/a%2f/resume", `{"value":null}`)
	f.Add("/api/action/x/commit", `{"confirm":null}`)
	f.Add("//api/%zz/..", ``)
	f.Fuzz(func(t *testing.T, path, body string) {
		r := fuzzRig(t)
		q := httptest.NewRequest("POST", "/", strings.NewReader(body))
		q.URL.Path, q.URL.RawPath = path, path
		q.Host = "127.0.0.1:80"
		q.Header.Set("Authorization", "Bearer secret-token")
		q.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		r.con.Handler(fakeAddr("127.0.0.1:80")).ServeHTTP(w, q)
		b, err := io.ReadAll(w.Body)
		if err != nil || !json.Valid(b) || w.Code >= http.StatusInternalServerError {
			t.Errorf("%s %q: %d %.200s", path, body, w.Code, b)
		}
	})
}

func fuzzRig(t *testing.T) *rig {
	return newRig(t, "tool t(x):\n    return x\nagent a:\n    x = pause()\nreversible action act(x):\n    return x\nrollback:\n    y = 1\n")
}

type fakeAddr string

func (fakeAddr) Network() string  { return "tcp" }
func (a fakeAddr) String() string { return string(a) }
