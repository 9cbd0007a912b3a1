package std

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sense-lang/sense/eval"
)

func httpMembers(l *Library) []member {
	return []member{
		{"get(url, headers?, timeout?, follow?)", "asks for a page: a Map of status, headers, body, json and url", l.httpGet},
		{"post(url, body?, headers?, json?, timeout?, follow?)", "sends a String, or a Map or an Array as JSON", l.httpPost},
		{"request(method, url, headers?, body?, json?, timeout?, follow?)", "the same with any method", l.httpRequest},
	}
}

const (
	defaultTimeout = 30 * time.Second
	maxBody        = 64 << 20 // bytes of an answer
	maxRedirects   = 10
)

// request is what a program asks to send.
type request struct {
	method  string
	url     *url.URL
	host    string // canonical, without a port
	header  http.Header
	body    string
	hasBody bool
	follow  bool
	timeout time.Duration
}

func (l *Library) httpGet(a *args) (eval.Value, error) {
	r := &request{method: "GET"}
	return l.httpSend(a, r, 0, places{headers: 1, body: -1, json: -1, timeout: 2, follow: 3})
}

func (l *Library) httpPost(a *args) (eval.Value, error) {
	r := &request{method: "POST"}
	return l.httpSend(a, r, 0, places{body: 1, headers: 2, json: 3, timeout: 4, follow: 5})
}

func (l *Library) httpRequest(a *args) (eval.Value, error) {
	method, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	method = strings.ToUpper(method)
	known := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	if !slices.Contains(known, method) {
		return eval.Value{}, a.fail("unknown method %s (there are %s)", eval.Quote(method), strings.Join(known, ", "))
	}
	return l.httpSend(a, &request{method: method}, 1, places{headers: 2, body: 3, json: 4, timeout: 5, follow: 6})
}

// places says where a function takes its arguments; -1: not at all.
type places struct{ headers, body, json, timeout, follow int }

func (l *Library) httpSend(a *args, r *request, at int, p places) (eval.Value, error) {
	if err := l.request(a, r, at, p); err != nil {
		return eval.Value{}, err
	}
	for name, values := range r.header {
		l.secret(name, values[0])
	}
	answer, err := l.exchange(a, r)
	if err != nil {
		return eval.Value{}, err
	}
	return answer.value(), nil
}

// request reads the arguments.
func (l *Library) request(a *args, r *request, at int, p places) (err error) {
	text, err := a.text(at)
	if err != nil {
		return err
	}
	r.header = defaultHeader.Clone()
	if r.url, r.host, err = parseURL(text); err != nil {
		return a.fail("%v", err)
	}
	if u := r.url.User; u != nil {
		password, _ := u.Password()
		l.o.Secret(password)
		basic := http.Request{Header: http.Header{}}
		basic.SetBasicAuth(u.Username(), password)
		r.header.Set("Authorization", basic.Header.Get("Authorization"))
		r.url.User = nil
	}
	if err := a.body(r, p); err != nil {
		return err
	}
	pairs, err := a.pairs(p.headers)
	if err != nil {
		return err
	}
	for _, h := range pairs {
		if why := badHeader(h); why != "" {
			return a.fail("the header %s %s", eval.Quote(h.key), why)
		}
		r.header.Set(h.key, h.value)
	}
	if r.timeout, err = a.duration(p.timeout, defaultTimeout); err != nil {
		return err
	}
	r.follow = true
	if a.has(p.follow) {
		r.follow, err = a.bool(p.follow)
	}
	return err
}

// body reads what is sent.
func (a *args) body(r *request, p places) error {
	if p.body < 0 {
		return nil
	}
	i := p.body
	if a.has(p.json) {
		if a.has(p.body) {
			return a.fail("give either 'body' or 'json'")
		}
		i = p.json
	}
	if !a.has(i) {
		return nil
	}
	r.hasBody = true
	v := a.vals[i]
	if s, ok := v.AsString(); ok && i == p.body {
		r.body = s
		r.header.Set("Content-Type", "text/plain; charset=utf-8")
		return nil
	}
	if k := v.Kind(); i == p.body && k != eval.KMap && k != eval.KArray {
		return a.wrong(i, "a String, a Map or an Array")
	}
	w := jsonWriter{stopped: a.stopped}
	if err := w.value(v, 0); err != nil {
		return a.fail("%v", err)
	}
	r.body = w.b.String()
	r.header.Set("Content-Type", "application/json")
	return nil
}

// badHeader says why a header cannot be sent, "" where it can.
func badHeader(h pair) string {
	switch strings.ToLower(h.key) {
	case "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive", "proxy-connection", "proxy-authorization":
		return "is set by std.http itself"
	}
	if h.key == "" || strings.ContainsFunc(h.key, func(r rune) bool {
		return r >= utf8.RuneSelf || !isTokenByte(byte(r))
	}) {
		return "has no possible name"
	}
	if strings.ContainsFunc(h.value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "has a control character in its value"
	}
	return ""
}

// isTokenByte reports whether a byte may stand in a header's name.
func isTokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// exchange sends a request and follows where the answers lead. Each step is
// asked of policy and audited like the first.
func (l *Library) exchange(a *args, r *request) (*answer, error) {
	deadline := time.Now().Add(r.timeout)
	named := r.host
	for hops := 0; ; hops++ {
		if err := a.requireHost(r.host); err != nil {
			return nil, err
		}
		got, err := l.step(a, r, named, deadline)
		if err != nil {
			return nil, err
		}
		next := got.location()
		if next == "" || !r.follow {
			return got, nil
		}
		if hops == maxRedirects {
			return nil, a.fail("over %d redirects", maxRedirects)
		}
		if err := r.redirect(got.status, next); err != nil {
			return nil, a.fail("%v", err)
		}
	}
}

// step sends one request and notes it.
func (l *Library) step(a *args, r *request, named string, deadline time.Time) (got *answer, err error) {
	if err = checkHost(r.host, named); err == nil {
		a.Thread.Blocking(func(ctx context.Context) {
			ctx, cancel := context.WithDeadline(ctx, deadline)
			defer cancel()
			got, err = l.send(ctx, a, r)
		})
	}
	what := r.method + " " + shownURL(r.url)
	if err == nil {
		what += " -> " + eval.Int(int64(got.status)).String()
	}
	err = a.note(what, a.worded(a.httpFault(r, err)))
	if stop := a.stopped(); stop != nil {
		return nil, stop
	}
	return got, err
}

// shownURL gives a URL for the audit and messages, without its query, which may
// hold secrets.
func shownURL(u *url.URL) string {
	s := u.Scheme + "://" + u.Host + u.EscapedPath()
	if u.RawQuery != "" {
		s += "?…"
	}
	return s
}
