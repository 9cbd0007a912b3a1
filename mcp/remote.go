package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Limits of talking HTTP.
const (
	maxRedirects   = 5
	maxPatience    = 30 * time.Second // the longest Retry-After obeyed
	maxRefusals    = 3                // how often one request is tried again when told to wait
	maxErrorBody   = 64 << 10         // how much of an error's body is read
	dialTimeout    = 30 * time.Second
	idleConnection = 4 * time.Second // below Node's 5 s, after which a reused connection may break
)

// remote is a server that is reached over HTTP.
type remote struct {
	cfg    *Config
	url    *url.URL
	client *http.Client
	login  *login
	sleep  func(context.Context, time.Duration) error
}

// newRemote checks the address and makes the client for it. The transport is
// the connection's own; close it with release.
func newRemote(cfg *Config, home *Manager) (*remote, error) {
	u, err := serverURL(cfg)
	if err != nil {
		return nil, err
	}
	for name, value := range cfg.Headers {
		if !validHeader(name, value) {
			return nil, fmt.Errorf("the header '%s' is not valid", clean(name, 100))
		}
	}
	r := &remote{cfg: cfg, url: u, sleep: home.sleep}
	r.login = newLogin(cfg, u, home)
	r.client = &http.Client{Transport: r.login, CheckRedirect: r.redirect}
	return r, nil
}

func serverURL(cfg *Config) (*url.URL, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("url '%s' is no http or https address", clean(cfg.URL, 200))
	}
	return u, nil
}

func newLogin(cfg *Config, server *url.URL, home *Manager) *login {
	l := &login{server: server, store: home.Tokens, browser: home.Browser, base: newTransport(), now: time.Now, read: cfg.anew}
	if cfg.OAuth != nil {
		l.oauth = *cfg.OAuth
	}
	for name := range cfg.Headers {
		l.fixed = l.fixed || strings.EqualFold(name, "Authorization")
	}
	l.dpop = &dpopTripper{base: newAuthTransport(server), now: time.Now}
	l.client = &http.Client{Transport: l.dpop, CheckRedirect: authRedirect, Timeout: dialTimeout}
	return l
}

func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 32, IdleConnTimeout: idleConnection, TLSHandshakeTimeout: dialTimeout,
		MaxResponseHeaderBytes: 1 << 20,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second}, // finds dead connections
	}
}

// validHeader says whether a configured header may be sent.
func validHeader(name, value string) bool {
	for _, c := range []byte(name) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return name != "" && strings.IndexFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) < 0
}

// release closes idle connections.
func (r *remote) release() {
	r.client.CloseIdleConnections()
	r.login.close()
}

// redirect follows redirects within the server's origin and from http to https
// on the same host. Any other would carry credentials, or the call itself, to
// somebody the user did not name.
func (r *remote) redirect(req *http.Request, via []*http.Request) error {
	to := req.URL
	from := via[len(via)-1].URL
	switch {
	case len(via) > maxRedirects:
		return &redirectError{"the server redirects more than 5 times"}
	case req.Method != via[0].Method:
		return &redirectError{"the server redirects to '" + show(to) + "' in a way that drops the request"}
	case !sameOrigin(from, to) && !upgrade(from, to):
		return &redirectError{"the server redirects to another origin, '" + show(to) + "', which is not followed"}
	}
	return nil
}

// redirectError says why a redirect was not followed.
type redirectError struct{ text string }

// Error says where to and why not.
func (e *redirectError) Error() string { return e.text }

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// upgrade says whether b is a on https with the usual ports.
func upgrade(a, b *url.URL) bool {
	return a.Scheme == "http" && b.Scheme == "https" && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == "80" && port(b) == "443"
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// show writes an address for a message: without user, query and fragment.
func show(u *url.URL) string {
	return clean((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), 200)
}

// do sends one request. unsent says of an error that no connection was made,
// so nothing reached the server. A server that refuses a request for now is
// obeyed when it asks to wait, within reason.
func (r *remote) do(ctx context.Context, method string, to *url.URL, header http.Header, body []byte) (resp *http.Response, unsent bool, err error) {
	for refusals := 0; ; refusals++ {
		resp, unsent, err = r.once(ctx, method, to, header, body)
		if err != nil {
			return nil, unsent, err
		}
		wait, ok := retryAfter(resp, time.Now())
		if !ok || refusals >= maxRefusals || wait > maxPatience {
			return resp, false, nil
		}
		discard(resp)
		if err := r.sleep(ctx, wait); err != nil {
			return nil, true, err
		}
	}
}

func (r *remote) once(ctx context.Context, method string, to *url.URL, header http.Header, body []byte) (*http.Response, bool, error) {
	reached := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached = true }})
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), reader)
	if err != nil {
		return nil, true, err
	}
	req.Header.Set("User-Agent", ourName+"/"+ourVersion)
	for name, value := range r.cfg.Headers {
		req.Header.Set(name, value)
		if strings.EqualFold(name, "Host") {
			req.Host = value
		}
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, !reached, r.fault(err)
	}
	return resp, false, nil
}

// fault puts an error of the HTTP client into words without the request's
// address, which may hold a key.
func (r *remote) fault(err error) error {
	var redirect *redirectError
	if errors.As(err, &redirect) {
		return redirect
	}
	var auth *NeedsAuthError
	if errors.As(err, &auth) {
		return auth
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server closed the connection without an answer")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	if text, broken := strings.CutPrefix(err.Error(), "net/http: HTTP/1.x transport connection broken: "); broken {
		return errors.New("the server's answer is broken: " + clean(strings.TrimPrefix(text, "net/http: "), 300))
	}
	return fmt.Errorf("cannot reach %s: %s", show(r.url), clean(err.Error(), 300))
}

// retryAfter tells how long a refused request has to wait. Only an answer that
// says that the request was not worked on counts: 429, or 503 with a
// Retry-After.
func retryAfter(resp *http.Response, now time.Time) (time.Duration, bool) {
	said := resp.Header.Get("Retry-After")
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable || said == "" {
		return 0, false
	}
	if n, err := strconv.ParseInt(said, 10, 32); err == nil {
		return time.Duration(max(n, 0)) * time.Second, true
	}
	if at, err := http.ParseTime(said); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

// discard reads what is left of a small body, so that its connection can be
// used again, and closes it.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxErrorBody)
	_ = resp.Body.Close()
}

// mediaType gives a response's type without parameters, in lower case.
func mediaType(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Type")))
	}
	return kind
}

// StatusError is an HTTP answer that is no success.
type StatusError struct {
	Code int    // the HTTP status
	Body string // the start of a body that is text, or ""
	// Wait is how long the server asks to wait, 0 when it does not say.
	Wait time.Duration
	// RPC is the JSON-RPC error in the body, or nil.
	RPC *RPCError
}

// Error gives the status and what the server says.
func (e *StatusError) Error() string {
	status := fmt.Sprintf("HTTP status %d", e.Code)
	if name := http.StatusText(e.Code); name != "" {
		status += " " + name
	}
	if e.RPC != nil {
		return e.RPC.Error() + " with " + status
	}
	text := "the server answered " + status
	if e.Wait > 0 {
		text += " and asks to wait " + seconds(e.Wait.Round(time.Second))
	}
	if e.Body != "" {
		text += ": " + e.Body
	}
	return text
}

// Unwrap gives the JSON-RPC error.
func (e *StatusError) Unwrap() error {
	if e.RPC == nil {
		return nil
	}
	return e.RPC
}

// statusError reads an answer that is no success and closes it.
func statusError(resp *http.Response) *StatusError {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	_ = resp.Body.Close()
	e := &StatusError{Code: resp.StatusCode}
	e.Wait, _ = retryAfter(resp, time.Now())
	if m, err := splitMessage(body); err == nil && m.rpcErr != nil && m.rpcErr[0] == '{' && bytes.Contains(body, []byte(`"jsonrpc"`)) && json.Valid(body) {
		e.RPC = parseRPCError(m.rpcErr)
		return e
	}
	if kind := mediaType(resp); kind == "" || kind == "application/json" || strings.HasPrefix(kind, "text/") && kind != "text/html" {
		e.Body = clean(string(body), 300)
	}
	return e
}

// failed says whether an answer is no success.
func failed(resp *http.Response) bool { return resp.StatusCode < 200 || resp.StatusCode > 299 }

// readBody reads a whole body up to the limit of a message and closes it.
func readBody(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	return readLimited(resp.Body, maxMessage)
}
