//go:build linux

package mcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// authServer is an authorization server for tests, with a web server of MCP
// that wants its tokens.
type authServer struct {
	*httptest.Server
	web *webServer

	mu        sync.Mutex
	codes     map[string]url.Values // what each code was asked for with
	valid     map[string]string     // access tokens and their scopes
	refresh   map[string]bool
	count     int
	want      string         // the scope that calls of a tool want beyond
	forms     []url.Values   // got by /token
	basic     []string       // client ids got by basic authentication
	clients   int            // registered
	override  map[string]any // members of the metadata
	denied    bool           // the user says no
	expiresIn int
}

func newAuthServer(t *testing.T) *authServer {
	a := &authServer{codes: map[string]url.Values{}, valid: map[string]string{}, refresh: map[string]bool{}, override: map[string]any{}, expiresIn: 3600}
	a.Server = httptest.NewServer(http.HandlerFunc(a.serve))
	t.Cleanup(func() { a.Server.CloseClientConnections(); a.Server.Close() })
	a.web = newWebServer(t)
	a.web.on["GET"] = a.describe
	for _, key := range []string{"POST", "tools/call"} {
		a.web.on[key] = a.guard
	}
	return a
}

// describe serves the resource's metadata.
func (a *authServer) describe(w http.ResponseWriter, r *http.Request, _ rpc) bool {
	if r.URL.Path != "/.well-known/oauth-protected-resource/mcp" {
		return false
	}
	write(w, `{"resource":"%s/mcp","authorization_servers":["%s"],"scopes_supported":["basic"]}`, a.web.URL, a.URL)
	return true
}

// guard refuses requests without a token that is good enough.
func (a *authServer) guard(w http.ResponseWriter, r *http.Request, m rpc) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	scopes, ok := a.valid[token]
	switch {
	case !ok:
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		w.WriteHeader(401)
	case m.Method == "tools/call" && a.want != "" && !strings.Contains(scopes, a.want):
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+a.want+`"`)
		w.WriteHeader(403)
	default:
		return false
	}
	return true
}

func (a *authServer) serve(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = r.ParseForm()
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		meta := map[string]any{
			"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token", "registration_endpoint": a.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"},
		}
		for name, v := range a.override {
			meta[name] = v
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(meta)
	case "/register":
		a.clients++
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		var meta map[string]any
		_ = json.NewDecoder(r.Body).Decode(&meta)
		meta["client_id"], meta["token_endpoint_auth_method"] = fmt.Sprint("client-", a.clients), "none"
		_ = json.NewEncoder(w).Encode(meta)
	case "/authorize":
		a.authorize(w, r)
	case "/token":
		a.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (a *authServer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, _ := url.Parse(q.Get("redirect_uri"))
	answer := url.Values{"state": {q.Get("state")}}
	if a.denied {
		answer.Set("error", "access_denied")
		answer.Set("error_description", "the user said no")
	} else {
		a.count++
		code := fmt.Sprint("code-", a.count)
		a.codes[code] = q
		answer.Set("code", code)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (a *authServer) token(w http.ResponseWriter, r *http.Request) {
	a.forms = append(a.forms, r.PostForm)
	if id, _, ok := r.BasicAuth(); ok {
		a.basic = append(a.basic, id)
	}
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"error":"%s","error_description":"not\ntoday"}`, code)
	}
	scope := r.PostForm.Get("scope")
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		asked := a.codes[r.PostForm.Get("code")]
		delete(a.codes, r.PostForm.Get("code"))
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if asked == nil || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") || asked.Get("redirect_uri") != r.PostForm.Get("redirect_uri") || asked.Get("resource") != a.web.URL+"/mcp" {
			refuse("invalid_grant")
			return
		}
		scope = asked.Get("scope")
	case "refresh_token":
		if !a.refresh[r.PostForm.Get("refresh_token")] {
			refuse("invalid_grant")
			return
		}
	case "client_credentials", grantJWTBearer:
		if r.PostForm.Get("assertion") == "bad" {
			refuse("invalid_grant")
			return
		}
	default:
		refuse("unsupported_grant_type")
		return
	}
	a.count++
	access, refresh := fmt.Sprint("access-", a.count), fmt.Sprint("refresh-", a.count)
	a.valid[access], a.refresh[refresh] = scope, true
	write(w, `{"access_token":"%s","refresh_token":"%s","token_type":"Bearer","expires_in":%d,"scope":"%s"}`, access, refresh, a.expiresIn, scope)
}

// revoke makes all access tokens invalid, and all refresh tokens with them.
func (a *authServer) revoke(refresh bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.valid)
	if refresh {
		clear(a.refresh)
	}
}

// grants counts the requests for tokens of one type.
func (a *authServer) grants(kind string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.forms {
		if f.Get("grant_type") == kind {
			n++
		}
	}
	return n
}

func (a *authServer) config() Config {
	c, _ := a.web.config()
	return c
}
