package std

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http/httpproxy"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// client makes the connections of std.http.
type client struct {
	mu        sync.Mutex
	transport *http.Transport
	proxies   map[string]bool // hosts of proxies in use
}

// get gives the transport, made at the first use.
func (c *client) get(l *Library) *http.Transport {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.transport == nil {
		c.transport = &http.Transport{
			DialContext:            c.dialer(l.o.Resolver),
			Proxy:                  c.proxy(l),
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    15 * time.Second,
			IdleConnTimeout:        60 * time.Second,
			MaxIdleConns:           32,
			MaxResponseHeaderBytes: 1 << 20,
		}
	}
	return c.transport
}

// proxy gives the proxy that the environment names for a request.
func (c *client) proxy(l *Library) func(*http.Request) (*url.URL, error) {
	either := func(name string) string {
		if v := l.o.Getenv(strings.ToUpper(name)); v != "" {
			return v
		}
		return l.o.Getenv(name)
	}
	cfg := httpproxy.Config{HTTPProxy: either("http_proxy"), HTTPSProxy: either("https_proxy"), NoProxy: either("no_proxy")}
	find := cfg.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) {
		u, err := find(r.URL)
		if u != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.proxies == nil {
				c.proxies = map[string]bool{}
			}
			c.proxies[strings.ToLower(u.Hostname())] = true
		}
		return u, err
	}
}

func (c *client) isProxy(host string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proxies[strings.ToLower(host)]
}

func (c *client) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.transport != nil {
		c.transport.CloseIdleConnections()
	}
}

// answer is a server's answer, read to its end. Its body is text.
type answer struct {
	status int
	header http.Header
	body   string
	url    *url.URL
}

// errBody says that an answer is too large.
var errBody = fmt.Errorf("the answer is over %d MiB", maxBody>>20)

// do sends one request and reads the answer; redirects are not followed.
func (c *client) do(ctx context.Context, l *Library, r *request) (*answer, error) {
	var body io.Reader
	if r.hasBody {
		body = strings.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header = r.header.Clone()
	resp, err := c.get(l).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(resp.Body, maxBody+1)); err != nil {
		return nil, err
	}
	if b.Len() > maxBody {
		return nil, errBody
	}
	_, params, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // none is UTF-8
	return &answer{resp.StatusCode, resp.Header, bodyText(b.Bytes(), params["charset"]), r.url}, nil
}

// location gives where an answer leads, "" where it is no redirect.
func (a *answer) location() string {
	switch a.status {
	case 301, 302, 303, 307, 308:
		return a.header.Get("Location")
	}
	return ""
}

// keptHeaders are those that go along to another origin: none of them says who
// asks.
var keptHeaders = []string{"Accept", "Accept-Language", "User-Agent", "Content-Type"}

// redirect makes r the request that an answer leads to. What the program sent
// besides the plainest headers goes to the origin it was meant for alone.
func (r *request) redirect(status int, location string) error {
	rel, err := url.Parse(location)
	if err != nil {
		return errors.New("the answer leads to something that is no URL")
	}
	rel.User = nil
	to, host, err := parseURL(r.url.ResolveReference(rel).String())
	if err != nil {
		return fmt.Errorf("the answer leads astray: %w", err)
	}
	if r.url.Scheme == "https" && to.Scheme == "http" {
		return fmt.Errorf("the answer leads from https to %s", shownURL(to))
	}
	if status == 303 && r.method != "HEAD" || status <= 302 && r.method == "POST" {
		r.method, r.body, r.hasBody = "GET", "", false
		for name := range r.header {
			if strings.HasPrefix(name, "Content-") {
				r.header.Del(name)
			}
		}
	}
	if origin(to) != origin(r.url) {
		if r.hasBody {
			return fmt.Errorf("the answer leads to another server, %s, which the body was not meant for", shownURL(to))
		}
		for name := range r.header {
			if !slices.Contains(keptHeaders, name) {
				r.header.Del(name)
			}
		}
	}
	r.url, r.host = to, host
	return nil
}

// origin gives scheme, host and port.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + u.Hostname() + ":" + port
}

// value gives the answer as a Map.
func (a *answer) value() eval.Value {
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type")) // none is no JSON
	parsed := eval.Nil()
	if kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json") {
		if v, err := parseJSON(strings.TrimPrefix(a.body, "\uFEFF")); err == nil {
			parsed = v
		}
	}
	return newMap(
		"status", eval.Int(int64(a.status)), "headers", a.headers(), "body", eval.String(a.body),
		"json", parsed, "url", eval.String(a.url.String()),
	)
}

// headers gives the headers with names in small letters, in order.
func (a *answer) headers() eval.Value {
	var names []string
	for n := range a.header {
		names = append(names, n)
	}
	slices.Sort(names)
	m := eval.NewMap()
	for _, n := range names {
		sep := ", "
		if n == "Set-Cookie" { // its values hold commas
			sep = "\n"
		}
		m.Set(strings.ToLower(n), foreign([]byte(strings.Join(a.header[n], sep))))
	}
	return m.Value()
}

// bodyText makes text of a body: UTF-8, or Latin-1 where it says so.
func bodyText(b []byte, charset string) string {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "latin1", "us-ascii":
		if utf8.Valid(b) {
			break // often a lie
		}
		rs := make([]rune, len(b))
		for i, c := range b {
			rs[i] = rune(c)
		}
		return string(rs)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// httpFault words what went wrong with a request.
func (a *args) httpFault(r *request, err error) error {
	if err == nil || isWorded(err) {
		return err
	}
	host := eval.Quote(r.url.Host)
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	b := asBlocked(err)
	switch {
	case b != nil:
		return a.fail("%v", b)
	case errors.Is(err, context.DeadlineExceeded):
		return diag.New(diag.Timeout, "%s: no whole answer from %s within %s", a.who, host, words(r.timeout))
	case errors.Is(err, errBody):
		return a.fail("%v: %s", errBody, shownURL(r.url))
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return a.fail("the proxy cannot be reached: %s", diag.Visible(op.Err.Error()))
	case errors.As(err, &dns) && dns.IsNotFound:
		return a.fail("the host %s was not found", eval.Quote(dns.Name))
	case errors.As(err, &cert):
		return a.fail("the certificate of %s is not valid: %v", host, cert.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return a.fail("%s refuses connections", host)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return a.fail("%s closed the connection before the end of its answer", host)
	}
	return a.fail("%s: %s", host, diag.Visible(err.Error()))
}
