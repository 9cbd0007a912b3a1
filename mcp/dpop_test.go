//go:build linux

package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/oauth2"
)

// boundServer wants tokens that are bound to a key, and nonces in its proofs.
type boundServer struct {
	*authServer
	nonces bool

	mu     sync.Mutex
	proofs []map[string]any // the claims of every proof it took
	keys   map[string]bool  // the keys they were made with
	jti    map[any]bool
}

func newBoundServer(t *testing.T, nonces bool) *boundServer {
	b := &boundServer{authServer: newAuthServer(t), nonces: nonces, keys: map[string]bool{}, jti: map[any]bool{}}
	plain := b.Config.Handler
	b.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" && !b.proved(t, w, r, "as-nonce", func() {
			w.WriteHeader(400)
			fmt.Fprint(w, `{"error":"use_dpop_nonce"}`)
		}) {
			return
		}
		if r.URL.Path != "/token" {
			plain.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		plain.ServeHTTP(rec, r)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(rec.Code)
		fmt.Fprint(w, strings.Replace(rec.Body.String(), `"Bearer"`, `"DPoP"`, 1))
	})
	guard := func(w http.ResponseWriter, r *http.Request, _ rpc) bool {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "DPoP ")
		b.authServer.mu.Lock()
		_, valid := b.valid[token]
		b.authServer.mu.Unlock()
		if !ok || !valid {
			w.Header().Set("WWW-Authenticate", `DPoP algs="ES256"`)
			w.WriteHeader(401)
			return true
		}
		return !b.proved(t, w, r, "rs-nonce", func() {
			w.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
			w.WriteHeader(401)
		})
	}
	b.web.on["POST"] = guard
	delete(b.web.on, "tools/call")
	return b
}

// proved takes the proof of a request and asks for a nonce where there is none.
func (b *boundServer) proved(t *testing.T, w http.ResponseWriter, r *http.Request, nonce string, refuse func()) bool {
	head, claims := parts(t, r.Header.Get("DPoP"))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.nonces && claims["nonce"] != nonce {
		w.Header().Set("DPoP-Nonce", nonce)
		refuse()
		return false
	}
	claims["path"] = r.URL.Path
	b.proofs = append(b.proofs, claims)
	b.keys[fmt.Sprint(head["jwk"])] = true
	if b.jti[claims["jti"]] {
		t.Error("a proof came twice")
	}
	b.jti[claims["jti"]] = true
	return true
}

// Tokens that are bound to a key are asked for and presented with proofs, each
// its own, all by one key, and with the nonces that are wanted.
func TestBoundTokens(t *testing.T) {
	for _, nonces := range []bool{false, true} {
		b := newBoundServer(t, nonces)
		m := newManager(t)
		m.Browser = follow
		store := &memoryTokens{}
		m.Tokens = store
		s, err := m.Connect(context.Background(), b.config())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if got := call(t, s, "echo", `{"text":"x"}`); got != "x" {
				t.Errorf("got %q", got)
			}
		}
		if len(b.keys) != 1 || len(b.proofs) < 6 {
			t.Errorf("%d keys, %d proofs", len(b.keys), len(b.proofs))
		}
		for _, p := range b.proofs {
			if bound := p["ath"] != nil; bound != (p["path"] == "/mcp") {
				t.Errorf("proof %v", p)
			}
		}
		if store.saved > 0 {
			t.Error("a token was kept whose key is not")
		}
	}
}

// memoryTokens is a store that may fail.
type memoryTokens struct {
	saved int
	err   error
}

func (m *memoryTokens) Load(string) ([]byte, error) { return nil, m.err }
func (m *memoryTokens) Save(string, []byte) error   { m.saved++; return m.err }
func (m *memoryTokens) Delete(string) error         { return m.err }

// fullTokens takes nothing.
type fullTokens struct{ memoryTokens }

func (*fullTokens) Save(string, []byte) error { return errors.New("the keyring is full") }

// A store that fails is named, not passed over.
func TestStoreFails(t *testing.T) {
	a := newAuthServer(t)
	m := newManager(t)
	m.Tokens = &memoryTokens{err: errors.New("the keyring is locked")}
	_, err := m.Connect(context.Background(), a.config())
	wantError(t, err, "the keyring is locked")
	m.Browser = follow
	wantError(t, m.Login(context.Background(), a.config()), "the keyring is locked")
	m.Tokens = &fullTokens{}
	wantError(t, m.Login(context.Background(), a.config()), "the keyring is full")
	wantError(t, m.Logout(Config{URL: "x"}), "url 'x' is no http or https address")
}

// The enterprise grant: the user's ID token is exchanged at the identity
// provider, and what that gives is exchanged for a token.
func TestEnterprise(t *testing.T) {
	a := newAuthServer(t)
	var asked url.Values
	var idp *httptest.Server
	idp = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
			write(w, `{"issuer":"%s","token_endpoint":"%s/token"}`, idp.URL, idp.URL)
		case "/token":
			_ = r.ParseForm()
			asked = r.PostForm
			write(w, `{"access_token":"grant","issued_token_type":"urn:ietf:params:oauth:token-type:id-jag","token_type":"N_A"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer idp.Close()
	cfg := a.config()
	cfg.OAuth = &OAuth{
		Grant: "enterprise", ClientID: "c", ClientSecret: "s", IdentityServer: idp.URL, IdentityClient: "at-idp",
		IdentityToken: func(context.Context) (string, error) { return "id", nil },
	}
	s, err := newManager(t).Connect(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	call(t, s, "echo", "")
	if asked.Get("subject_token") != "id" || asked.Get("audience") != a.URL || asked.Get("resource") != a.web.URL+"/mcp" || asked.Get("client_id") != "at-idp" {
		t.Errorf("the identity provider was asked %v", asked)
	}
	if got := a.forms[0].Get("assertion"); got != "grant" {
		t.Errorf("the assertion was %q", got)
	}
	idp.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { write(w, `{"issuer":"https://other.example"}`) })
	_, err = newManager(t).Connect(context.Background(), cfg)
	wantError(t, err, "the identity provider calls itself 'https://other.example'")
	idp.Config.Handler = http.NotFoundHandler()
	_, err = newManager(t).Connect(context.Background(), cfg)
	wantError(t, err, "the identity provider says nothing of itself")
}

func TestReadToken(t *testing.T) {
	for body, want := range map[string]string{
		`{"access_token":"a","expires_in":"60"}`: "",
		`{"access_token":"a","expires_in":60.5}`: "",
		`{}`:                                     "holds no token",
		`no`:                                     "holds no token",
		`{"error":"invalid_scope"}`:              "the authorization server refused: invalid_scope",
		`{"error":"x","error_description":"why\u001b"}`: `refused: x, why\u001b`,
	} {
		rec := httptest.NewRecorder()
		_, _ = rec.WriteString(body)
		token, err := readToken(rec.Result(), now)
		if want != "" {
			wantError(t, err, want)
		} else if err != nil || token.AccessToken != "a" {
			t.Errorf("%s: %v", body, err)
		}
	}
	rec := httptest.NewRecorder()
	rec.WriteHeader(500)
	_, err := readToken(rec.Result(), now)
	wantError(t, err, "the authorization server refused: HTTP status 500")
	if plain := errors.New("x"); tokenFault(plain) != plain || tokenFault(nil) != nil {
		t.Error("an error that is no refusal was changed")
	}
	if err := tokenFault(fmt.Errorf("a: %w", &oauth2.RetrieveError{ErrorCode: "c"})); err.Error() != "the authorization server refused: c" {
		t.Error(err)
	}
}
