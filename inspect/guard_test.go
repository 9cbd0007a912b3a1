package inspect

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

const small = "tool t(x):\n    return x\n"

// refused makes a request that must be refused and checks that nothing ran.
func (r *rig) refused(status int, method, path, body string, change func(q *http.Request)) {
	r.t.Helper()
	before := r.rt.Audit().Len()
	resp := r.request(method, path, body, change)
	if resp.StatusCode != status {
		r.t.Errorf("%s %s: status %d, want %d", method, path, resp.StatusCode, status)
	}
	if ct := resp.Header.Get("Content-Type"); ct != "application/json; charset=utf-8" {
		r.t.Errorf("the refusal is %s", ct)
	}
	if a := r.decode(resp); a["ok"] != false {
		r.t.Errorf("the refusal says %v", a)
	}
	if r.rt.Audit().Len() != before {
		r.t.Error("something ran")
	}
}

// W2: the page and every route answer to our own names only.
func TestW2ForeignHosts(t *testing.T) {
	r := newRig(t, small)
	_, port, _ := net.SplitHostPort(r.srv.Listener.Addr().String())
	hosts := []string{
		"evil.example", "evil.example:" + port, "127.0.0.1", "localhost", "127.0.0.1:1", "localhost:1",
		"127.0.0.1.evil.example:" + port, "localhost.evil.example:" + port, "localhost.:" + port, "0.0.0.0:" + port,
		"127.0.0.2:" + port, "127.1:" + port, "2130706433:" + port, "0x7f000001:" + port, "[::]:" + port,
		"[::ffff:127.0.0.1]:" + port, "user@127.0.0.1:" + port, "127.0.0.1:" + port + ".", "169.254.169.254:" + port, "127.0.0.1:0" + port,
	}
	if len(hosts) != 20 {
		t.Fatalf("%d hosts", len(hosts))
	}
	for _, h := range hosts {
		set := func(q *http.Request) { q.Host = h; q.Header.Del("Origin"); q.Header.Del("Sec-Fetch-Site") }
		resp := r.request("POST", "/api/tool/t/call", `{"args":[1]}`, set)
		if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusBadRequest {
			t.Errorf("host %q: status %d", h, resp.StatusCode)
		}
		if resp := r.request("GET", "/", "", set); resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusBadRequest {
			t.Errorf("host %q: the page has status %d", h, resp.StatusCode)
		}
	}
	if n := r.rt.Audit().Len(); n != 0 {
		t.Errorf("%d calls ran", n)
	}
	for _, h := range []string{"127.0.0.1:" + port, "localhost:" + port, "LOCALHOST:" + port, "[::1]:" + port} {
		resp := r.request("POST", "/api/tool/t/call", `{"args":[1]}`, func(q *http.Request) { q.Host = h; q.Header.Set("Origin", "http://"+strings.ToLower(h)) })
		if resp.StatusCode != http.StatusOK {
			t.Errorf("host %q: status %d", h, resp.StatusCode)
		}
	}
}

// D19: what another page can send is refused, each for the first thing wrong.
func TestD19W1ForeignPages(t *testing.T) {
	r := newRig(t, small)
	header := func(k, v string) func(q *http.Request) { return func(q *http.Request) { q.Header.Set(k, v) } }
	for _, x := range []struct {
		status int
		change func(q *http.Request)
	}{
		{403, header("Origin", "https://evil.example")},
		{403, header("Origin", "null")},
		{403, header("Origin", "http://127.0.0.1:1")},
		{403, header("Origin", "https"+strings.TrimPrefix(r.srv.URL, "http"))},
		{403, header("Origin", r.srv.URL+"/")},
		{403, func(q *http.Request) { q.Header["Origin"] = []string{r.srv.URL, "https://evil.example"} }},
		{403, header("Sec-Fetch-Site", "cross-site")},
		{403, header("Sec-Fetch-Site", "same-site")},
		{403, func(q *http.Request) { q.Header.Del("Origin"); q.Header.Set("Sec-Fetch-Site", "cross-site") }},
		{415, header("Content-Type", "text/plain")},
		{415, header("Content-Type", "application/x-www-form-urlencoded")},
		{415, header("Content-Type", "multipart/form-data; boundary=x")},
		{415, header("Content-Type", "application/json-but-not")},
		{415, header("Content-Type", "application/json; charset=utf-16")},
		{415, header("Content-Type", "text/json")},
		{415, func(q *http.Request) { q.Header.Del("Content-Type") }},
	} {
		r.refused(x.status, "POST", "/api/tool/t/call", `{"args":[1]}`, x.change)
	}
	r.refused(403, "GET", "/api/surface", "", header("Origin", "https://evil.example"))
	r.refused(403, "GET", "/api/surface", "", header("Sec-Fetch-Site", "cross-site"))
	r.refused(403, "OPTIONS", "/api/tool/t/call", "", func(q *http.Request) {
		q.Header.Set("Origin", "https://evil.example")
		q.Header.Set("Access-Control-Request-Method", "POST")
	})
	link := r.request("GET", "/", "", func(q *http.Request) {
		q.Header.Del("Origin")
		q.Header.Set("Sec-Fetch-Site", "cross-site")
		q.Header.Set("Sec-Fetch-Mode", "navigate")
	})
	if link.StatusCode != http.StatusOK {
		t.Errorf("a link to the page: status %d", link.StatusCode)
	}
	resp := r.request("POST", "/api/tool/t/call", `{"args":[1]}`, header("Content-Type", "application/json; charset=UTF-8"))
	if resp.StatusCode != http.StatusOK {
		t.Errorf("a good request: status %d", resp.StatusCode)
	}
}

// D20: the token counts as a header, whole and exact, nowhere else.
func TestD20Token(t *testing.T) {
	r := newRig(t, small)
	auth := func(v string) func(q *http.Request) {
		return func(q *http.Request) {
			q.Header.Del("Authorization")
			if v != "" {
				q.Header.Set("Authorization", v)
			}
		}
	}
	for _, v := range []string{"", "Bearer", "Bearer ", "Bearer x", "secret-token", "bearer secret-token", "Bearer  secret-token", "Bearer secret-token2", "Bearer secret-toke", "Bearer SECRET-TOKEN", "Basic secret-token"} {
		r.refused(401, "POST", "/api/tool/t/call", `{"args":[1]}`, auth(v))
		r.refused(401, "GET", "/api/surface", "", auth(v))
	}
	for _, p := range []string{"/api/surface?token=secret-token", "/api/surface?access_token=secret-token", "/api/nope", "/api/secret-token/surface"} {
		r.refused(401, "GET", p, "", auth(""))
	}
	r.refused(401, "GET", "/api/surface", "", func(q *http.Request) {
		q.Header.Del("Authorization")
		q.Header.Set("Cookie", "token=secret-token")
	})
	empty := New(r.rt.Interp(), &Surface{}, Options{})
	if len(empty.token) < 26 || New(r.rt.Interp(), &Surface{}, Options{}).token == empty.token {
		t.Errorf("the token %q is weak", empty.token)
	}
	for _, p := range []string{"/", "/app.js", "/app.css", "/icon.svg"} {
		b, _ := io.ReadAll(r.request("GET", p, "", nil).Body)
		if len(b) == 0 || strings.Contains(string(b), "secret-token") {
			t.Errorf("%s has %d bytes, or the token", p, len(b))
		}
	}
}

func TestBadBodies(t *testing.T) {
	r := newRig(t, small)
	for _, x := range []struct {
		status int
		body   string
	}{
		{400, "{"}, {400, "[1]"}, {400, "1"}, {400, `"x"`}, {400, "null"}, {400, `{"args":[1]} x`}, {400, `{"args":{}}`}, {400, `{"args":1}`},
		{400, "\x00"}, {400, `{"args":[` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `]}`},
		{413, `{"args":["` + strings.Repeat("x", maxBody) + `"]}`},
	} {
		r.refused(x.status, "POST", "/api/tool/t/call", x.body, nil)
	}
	r.refused(400, "POST", "/api/agent/a/resume", `{"value":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)+`}`, nil)
	r.refused(400, "POST", "/api/action/a/commit", `{"confirm":1}`, nil)
	if a := r.post("/api/tool/t/call", `{"args":["`+strings.Repeat("x", maxBody-40)+`"]}`); a["ok"] != true {
		t.Errorf("a body just below the limit: %.200v", a)
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	r := newRig(t, small)
	for _, p := range []string{"/", "/app.js", "/api/surface", "/nope"} {
		h := r.request("GET", p, "", nil).Header
		csp := h.Get("Content-Security-Policy")
		for _, s := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} {
			if !strings.Contains(csp, s) {
				t.Errorf("%s: no %s in %q", p, s, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") {
			t.Errorf("%s: %q is not strict", p, csp)
		}
		for k, v := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
			if h.Get(k) != v {
				t.Errorf("%s: %s is %q", p, k, h.Get(k))
			}
		}
		if h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s lets other origins read", p)
		}
	}
}

// The page itself makes HTML of no text and holds no script or style inline.
func TestPageIsStrict(t *testing.T) {
	for _, f := range files {
		b, err := page.ReadFile(f.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc", " style=", "onclick=", "javascript:", "https://"} {
			if strings.Contains(string(b), s) {
				t.Errorf("%s contains %q", f.name, s)
			}
		}
	}
}

func TestListensOnLoopbackOnly(t *testing.T) {
	l, err := Listen("0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if ip := l.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		t.Errorf("listens on %s", ip)
	}
	if _, err := Listen(fmt.Sprint(l.Addr().(*net.TCPAddr).Port)); err == nil {
		t.Error("the same port twice")
	}
}

// W4: a thousand connections that send next to nothing do not lock the page out.
func TestW4SlowConnections(t *testing.T) {
	r := newRig(t, small)
	addr := listen(t, r.con)
	page, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	read := bufio.NewReader(page)
	ask := func(c net.Conn, rd *bufio.Reader) int {
		t.Helper()
		if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(c, "GET /api/surface HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer secret-token\r\n\r\n", addr); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(rd, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	if s := ask(page, read); s != http.StatusOK {
		t.Fatalf("status %d", s)
	}
	for i := range 1000 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: ") // it may be cut off already
	}
	start := time.Now()
	if s := ask(page, read); s != http.StatusOK {
		t.Errorf("the open page: status %d", s)
	}
	fresh, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if s := ask(fresh, bufio.NewReader(fresh)); s != http.StatusOK {
		t.Errorf("a new page: status %d", s)
	}
	t.Logf("two answers among 1,000 slow connections took %s", time.Since(start))
}

func TestLimiterKeepsTrustedConnections(t *testing.T) {
	l := &limiter{max: 2}
	a, b, c, d := &conn{limit: l}, &conn{limit: l}, &conn{limit: l}, &conn{limit: l}
	a.trusted.Store(true)
	if l.add(a) != nil || l.add(b) != nil {
		t.Error("there was room")
	}
	if got := l.add(c); got != b {
		t.Error("the oldest that is not trusted must go")
	}
	l.remove(b)
	c.trusted.Store(true)
	if got := l.add(d); got != d {
		t.Error("the new one must go where all are trusted")
	}
	l.remove(a)
	if l.add(d) != nil {
		t.Error("there was room again")
	}
}
