package inspect

import (
	"crypto/subtle"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// guard lets through what comes from the console's own page or from a program
// that knows the token. Another page in the same browser fails at the origin,
// one that made its name point at this machine at the host, another user of the
// machine at the token.
type guard struct {
	hosts  map[string]bool // what Host may say
	token  string
	cross  *http.CrossOriginProtection
	answer func(w http.ResponseWriter, status int, o object)
}

func newGuard(addr net.Addr, token string, answer func(http.ResponseWriter, int, object)) *guard {
	_, port, err := net.SplitHostPort(addr.String())
	g := &guard{hosts: map[string]bool{}, token: token, cross: http.NewCrossOriginProtection(), answer: answer}
	if err != nil {
		return g // no host at all is right
	}
	for _, h := range []string{"127.0.0.1", "localhost", "[::1]"} {
		g.hosts[h+":"+port] = true
		if port == strconv.Itoa(80) {
			g.hosts[h] = true
		}
	}
	return g
}

// wrap puts the checks before a handler.
func (g *guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		if status, o := g.refuse(r); o != nil {
			g.answer(w, status, o)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse says why a request is not let through.
func (g *guard) refuse(r *http.Request) (status int, o object) {
	if !g.hosts[strings.ToLower(r.Host)] {
		return http.StatusForbidden, refusal("ForeignHost", "this console does not answer to the host '%s'", clip(r.Host, 200))
	}
	if !g.sameOrigin(r) {
		return http.StatusForbidden, refusal("ForeignOrigin", "requests of other pages are refused")
	}
	if !isAPI(r) {
		return 0, nil
	}
	if !g.knowsToken(r) {
		return http.StatusUnauthorized, refusal("Unauthorized", "the token is missing or wrong: open the address that sense inspect printed")
	}
	trust(r.Context())
	if r.Method == http.MethodPost && !isJSON(r.Header.Get("Content-Type")) {
		return http.StatusUnsupportedMediaType, refusal("UnsupportedMediaType", "the content type must be application/json")
	}
	return 0, nil
}

// sameOrigin reports whether a request comes from our own page, or from no page.
func (g *guard) sameOrigin(r *http.Request) bool {
	if g.cross.Check(r) != nil {
		return false
	}
	if o := r.Header.Values("Origin"); len(o) > 1 || len(o) == 1 && o[0] != "http://"+strings.ToLower(r.Host) {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	// A link on another page may lead here: the page alone tells nothing.
	return !isAPI(r) && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// knowsToken compares in constant time.
func (g *guard) knowsToken(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && g.token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(g.token)) == 1
}

func isAPI(r *http.Request) bool {
	p := r.URL.EscapedPath()
	return p == "/api" || strings.HasPrefix(p, "/api/")
}

func isJSON(contentType string) bool {
	t, params, err := mime.ParseMediaType(contentType)
	cs := strings.ToLower(params["charset"])
	return err == nil && t == "application/json" && (cs == "" || cs == "utf-8")
}

// setHeaders sets what every answer has.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	h.Set("Cache-Control", "no-store")
}
