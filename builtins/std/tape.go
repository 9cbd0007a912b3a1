package std

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp/config"
	"github.com/sense-lang/sense/tape"
)

// hidden stands on a tape for a value whose name says that it is secret, so that
// a tape plays for those who do not have it.
const hidden = "‹secret›"

// httpAsk is a request as a tape holds it; the headers that every request has
// are left out.
type httpAsk struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
}

func (r *request) ask() httpAsk {
	a := httpAsk{Method: r.method, URL: r.url.String(), Headers: map[string]string{}, Body: r.body}
	for name := range r.header {
		v := r.header.Get(name)
		switch {
		case name == "User-Agent" && v == defaultHeader.Get(name), name == "Accept" && v == defaultHeader.Get(name):
			continue
		case config.SecretName(name):
			v = hidden
		}
		a.Headers[name] = v
	}
	return a
}

// httpAnswer is an answer as a tape holds it.
type httpAnswer struct {
	Status  int                 `json:"status"`
	Headers map[string][]string `json:"headers,omitempty"`
	Body    string              `json:"body"`
}

// send sends one request, or plays what a tape has of it.
func (l *Library) send(ctx context.Context, a *args, r *request) (*answer, error) {
	if l.o.Tape == nil {
		return l.http.do(ctx, l, r)
	}
	got, err := tape.Through(l.o.Tape, tape.HTTP, r.url.Host, r.ask(), func() (*httpAnswer, error) {
		got, err := l.http.do(ctx, l, r)
		if errors.Is(err, context.Canceled) {
			return nil, err // the program's end is no exchange
		}
		if err != nil {
			return nil, a.httpFault(r, err)
		}
		l.secretsOf(got)
		return got.taped(), nil
	})
	if err != nil {
		return nil, a.worded(err)
	}
	return &answer{got.Status, got.Headers, got.Body, r.url}, nil
}

// taped gives an answer as a tape holds it.
func (a *answer) taped() *httpAnswer {
	out := &httpAnswer{a.status, map[string][]string{}, a.body}
	for name, values := range a.header {
		for _, v := range values {
			out.Headers[name] = append(out.Headers[name], foreignText([]byte(v)))
		}
	}
	return out
}

// secretsOf tells of the secrets that an answer hands out, before it goes on a
// tape: cookies, and texts of JSON whose key says so.
func (l *Library) secretsOf(a *answer) {
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		l.o.Secret(c.Value)
	}
	if v, err := parseJSON(a.body); err == nil {
		l.secretsIn(v, false)
	}
}

func (l *Library) secretsIn(v eval.Value, secret bool) {
	if s, ok := v.AsString(); ok && secret {
		l.o.Secret(s)
	} else if list, ok := v.AsArray(); ok {
		for i := range list.Len() {
			l.secretsIn(list.At(i), secret)
		}
	} else if m, ok := v.AsMap(); ok {
		for _, k := range m.Keys() {
			x, _ := m.Get(k)
			l.secretsIn(x, secretKey(k))
		}
	}
}

// secretKey reports whether a key of JSON says that its value is secret.
func secretKey(key string) bool {
	k := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(key))
	return slices.ContainsFunc([]string{"token", "password", "secret", "apikey", "accesskey", "privatekey", "cookie"},
		func(end string) bool { return strings.HasSuffix(k, end) })
}

// processAsk is a command as a tape holds it.
type processAsk struct {
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Input   string            `json:"input,omitempty"`
	Dir     string            `json:"cwd,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

func (c *command) ask() processAsk {
	a := processAsk{c.cfg.Command, c.cfg.Args, c.input, c.cfg.Dir, map[string]string{}}
	for name, v := range c.cfg.Env {
		if config.SecretName(name) {
			v = hidden
		}
		a.Env[name] = v
	}
	return a
}

// processAnswer is what a command gave, as a tape holds it.
type processAnswer struct {
	Status int    `json:"status"`
	Output string `json:"output"`
	Error  string `json:"error,omitempty"`
}

// isWorded reports whether an error is in the user's words already.
func isWorded(err error) bool {
	var e *diag.Error
	return errors.As(err, &e)
}

// worded puts the function's name before an error that is not in the user's
// words yet, such as that of a tape.
func (a *args) worded(err error) error {
	if err == nil || isWorded(err) {
		return err
	}
	return a.fail("%v", err)
}

// defaultHeader is what every request says of itself.
var defaultHeader = http.Header{"User-Agent": {"sense"}, "Accept": {"*/*"}}
