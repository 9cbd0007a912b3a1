package std_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/sense-lang/sense/builtins/std"
	"github.com/sense-lang/sense/diag"
)

// site serves pages on the loopback and notes what it was asked.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newSite(t *testing.T, pages http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.asked = append(s.asked, fmt.Sprintf("%s %s auth=%q key=%q cookie=%q referer=%q accept=%q type=%q body=%q",
			r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.Header.Get("Cookie"),
			r.Header.Get("Referer"), r.Header.Get("Accept"), r.Header.Get("Content-Type"), body))
		s.mu.Unlock()
		pages(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// requests gives what was asked since the last time.
func (s *site) requests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := strings.Join(s.asked, "\n")
	s.asked = nil
	return out
}

func echo(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/json":
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprint(w, `{"n": 12345678901234567890}`)
	case "/problem":
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(422)
		fmt.Fprint(w, `{"title": "no"}`)
	case "/badjson":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"title": `)
	case "/latin":
		w.Header().Set("Content-Type", "text/plain; charset=ISO-8859-1")
		_, _ = w.Write([]byte("caf\xe9"))
	case "/binary":
		_, _ = w.Write([]byte("a\xffb"))
	case "/headers":
		w.Header()["X-Two"] = []string{"1", "2"}
		w.Header()["Set-Cookie"] = []string{"a=1, x", "b=2"}
		w.Header()["X-Odd"] = []string{"\xff"}
	case "/gzip":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, "packed")
		_ = z.Close()
	default:
		fmt.Fprint(w, "hello")
	}
}

func TestHTTP(t *testing.T) {
	s := newSite(t, echo)
	p := new(program)
	u := s.URL
	p.check(t, []row{
		{code: `http.get("` + u + `")["body"], http.get("` + u + `/x?q=1#frag")["url"]`, want: "hello " + u + "/x?q=1"},
		{code: `http.get("` + u + `/json")["json"]["n"] + 1`, want: "12345678901234567891"},
		{code: `http.get("` + u + `/problem")["status"], http.get("` + u + `/problem")["json"]`, want: "422 {title: no}"},
		{code: `http.get("` + u + `/badjson")["json"], http.get("` + u + `")["json"]`, want: "nil nil"},
		{code: `http.get("` + u + `/latin")["body"], http.get("` + u + `/binary")["body"], http.get("` + u + `/gzip")["body"]`, want: "café a\uFFFDb packed"},
		{code: `http.get("` + u + `/headers")["headers"]["x-two"], http.get("` + u + `/headers")["headers"]["x-odd"]`, want: "1, 2 \uFFFD"},
		{code: `http.get("` + u + `/headers")["headers"]["set-cookie"].lines()`, want: "[a=1, x, b=2]"},
		{code: `http.get("` + u + `").keys()`, want: "[status, headers, body, json, url]"},
		{code: `http.get("` + strings.Replace(u, "127.0.0.1", "localhost", 1) + `")["status"]`, want: "200"},
	})
	s.requests()
	for _, c := range []struct{ code, want string }{
		{`http.get("` + u + `/p", headers: {"X-Api-Key": "k", "Accept": "text/html"})`, `GET /p auth="" key="k" cookie="" referer="" accept="text/html" type="" body=""`},
		{`http.get("` + strings.Replace(u, "//", "//me:pass@", 1) + `/p")`, `GET /p auth="Basic bWU6cGFzcw==" key="" cookie="" referer="" accept="*/*" type="" body=""`},
		{`http.post("` + u + `", "text")`, `POST / auth="" key="" cookie="" referer="" accept="*/*" type="text/plain; charset=utf-8" body="text"`},
		{`http.post("` + u + `", {"a": [1, 2.5]})`, `POST / auth="" key="" cookie="" referer="" accept="*/*" type="application/json" body="{\"a\": [1, 2.5]}"`},
		{`http.post("` + u + `", json: "s")`, `POST / auth="" key="" cookie="" referer="" accept="*/*" type="application/json" body="\"s\""`},
		{`http.post("` + u + `", "a=1", {"Content-Type": "application/x-www-form-urlencoded"})`, `POST / auth="" key="" cookie="" referer="" accept="*/*" type="application/x-www-form-urlencoded" body="a=1"`},
		{`http.post("` + u + `")`, `POST / auth="" key="" cookie="" referer="" accept="*/*" type="" body=""`},
		{`http.request("put", "` + u + `", body: "")`, `PUT / auth="" key="" cookie="" referer="" accept="*/*" type="text/plain; charset=utf-8" body=""`},
		{`http.request("DELETE", "` + u + `")`, `DELETE / auth="" key="" cookie="" referer="" accept="*/*" type="" body=""`},
	} {
		p.check(t, []row{{code: c.code + `["status"]`, want: "200"}})
		if got := s.requests(); got != c.want {
			t.Errorf("%s\nasks %s\nwant %s", c.code, got, c.want)
		}
	}
}

func TestHTTPRefusals(t *testing.T) {
	s := newSite(t, echo)
	u := s.URL
	rows := []row{
		{code: `http.get("` + u + `", {"Host": "x"})`, fails: "std.http.get: the header 'Host' is set by std.http itself"},
		{code: `http.get("` + u + `", {"a b": "x"})`, fails: "std.http.get: the header 'a b' has no possible name"},
		{code: `http.get("` + u + `", {"": "x"})`, fails: "std.http.get: the header '' has no possible name"},
		{code: `http.get("` + u + `", {"a": "x\r\nB: y"})`, fails: "std.http.get: the header 'a' has a control character in its value"},
		{code: `http.get("` + u + `", {"a": 1})`, fails: "std.http.get() expects a Map of Strings for 'headers', but 'a' is Int"},
		{code: `http.post("` + u + `", "a", json: 1)`, fails: "std.http.post: give either 'body' or 'json'"},
		{code: `http.post("` + u + `", 1)`, fails: "std.http.post() expects a String, a Map or an Array for 'body', got Int"},
		{code: `http.post("` + u + `", json: print)`, fails: "std.http.post: JSON has nothing for a Function"},
		{code: `http.request("TRACE", "` + u + `")`, fails: "std.http.request: unknown method 'TRACE' (there are GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS)"},
		{code: `http.get("` + u + `", timeout: 0)`, fails: "std.http.get: 'timeout' must be above 0 and at most 31622400 seconds, got 0"},
		{code: `http.get("` + u + `", follow: 1)`, fails: "std.http.get() expects a Bool for 'follow', got Int"},
	}
	for text, want := range map[string]string{
		"":                       "'' is no URL that begins with http:// or https:// and a host",
		"example.com":            "'example.com' is no URL that begins with http:// or https:// and a host",
		"file:///etc/passwd":     "'file:///etc/passwd' is no URL that begins with http:// or https:// and a host",
		"ftp://x.example/":       "'ftp://x.example/' is no URL that begins with http:// or https:// and a host",
		"http://":                "'http://' is no URL that begins with http:// or https:// and a host",
		"http:x":                 "'http:x' is no URL that begins with http:// or https:// and a host",
		"http://u:p@/?secret":    "'http:///' is no URL that begins with http:// or https:// and a host",
		"http://x.example:99999": "'99999' is no port",
		"http://x.example:0":     "'0' is no port",
		"http://x example/":      "'http://x example/' is no URL",
		"http://[::1%25eth0]/":   "'::1%eth0' is no host",
	} {
		rows = append(rows, row{code: fmt.Sprintf("http.get(%q)", text), fails: "std.http.get: " + want})
	}
	new(program).check(t, rows)
	if got := s.requests(); got != "" {
		t.Errorf("something was sent: %s", got)
	}
}

// closedPort gives an address at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestHTTPFailures(t *testing.T) {
	release := make(chan struct{})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			select {
			case <-r.Context().Done():
			case <-release:
			}
		case "/cut":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "short")
		case "/large":
			for range 65 {
				_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
			for range 65 {
				_, _ = z.Write(make([]byte, 1<<20))
			}
			_ = z.Close()
		}
	})
	defer close(release)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	host, closed := strings.TrimPrefix(s.URL, "http://"), closedPort(t)
	p := new(program)
	p.check(t, []row{
		{code: `http.get("http://` + closed + `")`, fails: "std.http.get: '" + closed + "' refuses connections"},
		{code: `http.get("` + s.URL + `/cut")`, fails: "std.http.get: '" + host + "' closed the connection before the end of its answer"},
		{code: `http.get("` + s.URL + `/large", timeout: 600)`, fails: "std.http.get: the answer is over 64 MiB: " + s.URL + "/large"},
		{code: `http.get("` + s.URL + `/bomb?key=1", timeout: 600)`, fails: "std.http.get: the answer is over 64 MiB: " + s.URL + "/bomb?…"},
		{code: `http.get("` + s.URL + `/slow", timeout: 0.05)`, fails: "std.http.get: no whole answer from '" + host + "' within 0.05 seconds"},
		{code: `http.get("` + secure.URL + `")`, fails: "std.http.get: the certificate of '" + strings.TrimPrefix(secure.URL, "https://") + "' is not valid: x509: certificate signed by unknown authority"},
	})
	_, err := p.run(`import std.http
http.get("` + s.URL + `/slow", timeout: 0.01)`)
	wantKind(t, err, diag.Timeout)
}

func TestHTTPIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	p := &program{ctx: ctx}
	_, err := p.run("import std.http\ntry:\n    http.get(\"" + s.URL + "\")\ncatch e:\n    print(\"caught\")")
	wantKind(t, err, diag.Interrupt)
}

func TestHTTPRedirects(t *testing.T) {
	other := newSite(t, echo)
	var s *site
	s = newSite(t, func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{
			"/here": "/there", "/303": "/there", "/307": "/there", "/loop": "/loop", "/odd": "ht!tp://x", "/file": "file:///etc/passwd",
			"/other": other.URL + "/x", "/other307": other.URL + "/x", "/back": other.URL, "/user": strings.Replace(s.URL, "//", "//a:b@", 1) + "/there",
			"/rel": "?q=2#f",
		}[r.URL.Path]
		if r.URL.RawQuery != "" {
			to = ""
		}
		code := 302
		switch r.URL.Path {
		case "/303":
			code = 303
		case "/307", "/other307":
			code = 307
		}
		if to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(code)
		}
	})
	const secrets = `headers: {"Authorization": "Bearer t", "X-Api-Key": "k", "Cookie": "c=1", "Referer": "r", "Accept": "text/html"}`
	const plain = ` auth="" key="" cookie="" referer="" accept="text/html" type="" body=""`
	const full = ` auth="Bearer t" key="k" cookie="c=1" referer="r" accept="text/html" type="" body=""`
	for _, c := range []struct{ code, first, second string }{
		{`get("/here", ` + secrets + `)`, "GET /here" + full + "\nGET /there" + full, ""},
		{`get("/rel", ` + secrets + `)`, "GET /rel" + full + "\nGET /rel?q=2" + full, ""},
		{`get("/other", ` + secrets + `)`, "GET /other" + full, "GET /x" + plain},
		{`get("/here", follow: false, ` + secrets + `)`, "GET /here" + full, ""},
		{`post("/303", "data", ` + secrets + `)`, "POST /303" + strings.Replace(full, `type="" body=""`, `type="text/plain; charset=utf-8" body="data"`, 1) + "\nGET /there" + full, ""},
		{`post("/307", "data", ` + secrets + `)`, strings.Replace("POST /307"+full+"\nPOST /there"+full, `type="" body=""`, `type="text/plain; charset=utf-8" body="data"`, 2), ""},
		{`post("/here", "data", ` + secrets + `)`, "POST /here" + strings.Replace(full, `type="" body=""`, `type="text/plain; charset=utf-8" body="data"`, 1) + "\nGET /there" + full, ""},
		{`get("/user", ` + secrets + `)`, "GET /user" + full + "\nGET /there" + full, ""},
	} {
		code := strings.Replace(c.code, `("`, `("`+s.URL, 1)
		_, err := new(program).run("import std.http\nhttp." + code)
		if err != nil {
			t.Errorf("%s: %v", c.code, err)
		}
		if got := s.requests(); got != c.first {
			t.Errorf("%s asks\n%s\nwant\n%s", c.code, got, c.first)
		}
		if got := other.requests(); got != c.second {
			t.Errorf("%s asks the other\n%s\nwant\n%s", c.code, got, c.second)
		}
	}
	new(program).check(t, []row{
		{code: `http.get("` + s.URL + `/here")["url"], http.get("` + s.URL + `/here", follow: false)["status"]`, want: s.URL + "/there 302"},
		{code: `http.get("` + s.URL + `/loop")`, fails: "std.http.get: over 10 redirects"},
		{code: `http.get("` + s.URL + `/odd")`, fails: "std.http.get: the answer leads to something that is no URL"},
		{code: `http.get("` + s.URL + `/file")`, fails: "std.http.get: the answer leads astray: 'file:///etc/passwd' is no URL that begins with http:// or https:// and a host"},
		{code: `http.post("` + s.URL + `/other307", "data")`, fails: "std.http.post: the answer leads to another server, " + other.URL + "/x, which the body was not meant for"},
	})
	if got := other.requests(); got != "" {
		t.Errorf("the other server was asked: %s", got)
	}
}

// TestHTTPRedirectsReachNothingPrivate leads to places that only the program's
// own URL may name.
func TestHTTPRedirectsReachNothingPrivate(t *testing.T) {
	inner := newSite(t, echo)
	port := inner.URL[strings.LastIndexByte(inner.URL, ':'):]
	outer := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	named := strings.Replace(outer.URL, "127.0.0.1", "localhost", 1)
	for _, to := range []string{
		"http://127.0.0.1" + port, "http://[::1]" + port, "http://127.1.2.3" + port, "http://[::ffff:127.0.0.1]" + port,
		"http://[::ffff:10.0.0.1]/", "http://10.0.0.1/", "http://192.168.0.1/", "http://172.16.0.1/", "http://100.64.0.1/",
		"http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/", "http://[fd00:ec2::254]/", "http://0.0.0.0" + port,
		"http://2130706433" + port, "http://0x7f000001" + port, "http://0177.0.0.1" + port, "http://127.1" + port,
		"http://１２７.０.０.１" + port, "http://intranet/", "http://db.internal/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
		"http://a.localhost" + port, "http://127.0.0.1." + port,
	} {
		out, err := new(program).run("import std.http\nprint(http.get(\"" + named + "/?to=" + to + "\"))")
		if err == nil {
			t.Errorf("%s: %s", to, out)
		}
	}
	if got := inner.requests(); got != "" {
		t.Errorf("the inner server was asked: %s", got)
	}
	new(program).check(t, []row{
		{code: `http.get("` + named + `/?to=` + inner.URL + `")`, fails: "std.http.get: the host '127.0.0.1' is private: only the program's own URL can name it"},
		{code: `http.get("http://169.254.169.254/")`, fails: "std.http.get: the host '169.254.169.254' is never connected to"},
		{code: `http.get("http://2130706433/")`, fails: "std.http.get: '2130706433' is no host"},
		{code: `http.get("http://0x7f.1/")`, fails: "std.http.get: '0x7f.1' is no host"},
	})
}

// resolver answers every question with the addresses it is given, in turn.
func resolver(t *testing.T, answers ...string) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for n := 0; ; {
			size, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:size]) != nil {
				continue
			}
			m.Response, m.Additionals = true, nil
			q := m.Questions[0]
			if q.Type == dnsmessage.TypeA {
				var a dnsmessage.AResource
				copy(a.A[:], net.ParseIP(answers[min(n, len(answers)-1)]).To4())
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &a}}
				n++
			}
			if out, err := m.Pack(); err == nil {
				_, _ = pc.WriteTo(out, from)
			}
		}
	}()
	t.Cleanup(func() { _ = pc.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

func TestHTTPNamesThatLeadToPrivateAddresses(t *testing.T) {
	s := newSite(t, echo)
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	p := &program{o: std.Options{Resolver: resolver(t, "127.0.0.1")}}
	p.check(t, []row{
		{code: `http.get("http://public.example` + port + `/")`, fails: "std.http.get: the host 'public.example' leads to the address 127.0.0.1, which is private: only the program's own URL can name it"},
		{code: `http.get("http://server.internal` + port + `/")["body"]`, want: "hello"},
		{code: `http.get("http://server` + port + `/")["body"]`, want: "hello"},
	})
	if n := strings.Count(s.requests(), "GET"); n != 2 {
		t.Errorf("the server was asked %d times, want 2", n)
	}
	p = &program{o: std.Options{Resolver: resolver(t, "169.254.169.254")}}
	p.check(t, []row{
		{code: `http.get("http://rebind.example/")`, fails: "std.http.get: the host 'rebind.example' leads to the address 169.254.169.254, which is never connected to"},
		{code: `http.get("http://metadata.internal/")`, fails: "std.http.get: the host 'metadata.internal' leads to the address 169.254.169.254, which is never connected to"},
	})
}

func TestHTTPUnknownHost(t *testing.T) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil {
				continue
			}
			m.Response, m.RCode, m.Additionals = true, dnsmessage.RCodeNameError, nil
			if out, err := m.Pack(); err == nil {
				_, _ = pc.WriteTo(out, from)
			}
		}
	}()
	defer func() { _ = pc.Close(); <-done }()
	p := &program{o: std.Options{Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}}}
	p.check(t, []row{{code: `http.get("http://nowhere.example/")`, fails: "std.http.get: the host 'nowhere.example' was not found"}})
}

func TestHTTPProxy(t *testing.T) {
	proxy := newSite(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "through the proxy to ", r.URL) })
	env := map[string]string{"http_proxy": proxy.URL, "NO_PROXY": "direct.example"}
	p := &program{o: std.Options{Getenv: func(n string) string { return env[n] }, Resolver: resolver(t, "127.0.0.1")}}
	p.check(t, []row{
		{code: `http.get("http://far.example/x")["body"]`, want: "through the proxy to http://far.example/x"},
		{code: `http.get("http://169.254.169.254/")`, fails: "std.http.get: the host '169.254.169.254' is never connected to"},
		{code: `http.get("http://direct.example/")`, fails: "std.http.get: the host 'direct.example' leads to the address 127.0.0.1, which is private: only the program's own URL can name it"},
	})
	env["http_proxy"] = "http://" + closedPort(t)
	_, err := p.run("import std.http\nhttp.get(\"http://far.example/\")")
	if m := message(err); !strings.HasPrefix(m, "std.http.get: the proxy cannot be reached: ") {
		t.Error(m)
	}
}

func TestHTTPSDoesNotFallBack(t *testing.T) {
	_, err := std.RedirectForTest("https://a.example/x", "http://a.example/x?key=1")
	if fmt.Sprint(err) != "the answer leads from https to http://a.example/x?…" {
		t.Error(err)
	}
	if to, err := std.RedirectForTest("http://a.example/x", "https://a.example/y"); err != nil || to != "https://a.example/y" {
		t.Errorf("%s %v", to, err)
	}
}

// redirectTo leads from /here, and from the top, to another place.
func redirectTo(place string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" || r.URL.Path == "/here" {
			http.Redirect(w, r, place, http.StatusFound)
		}
	}
}
