//go:build linux

package mcp

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// loggedIn gives a manager whose user has logged in to a's server.
func loggedIn(t *testing.T, a *authServer) *Manager {
	t.Helper()
	m := newManager(t)
	m.Tokens = FileTokens(filepath.Join(t.TempDir(), "state", "tokens.json"))
	m.Browser = follow
	if err := m.Login(context.Background(), a.config()); err != nil {
		t.Fatal(err)
	}
	m.Browser = nil
	return m
}

// Without a login the server needs one; after it, later runs have the token
// and do not ask.
func TestLogin(t *testing.T) {
	a := newAuthServer(t)
	m := newManager(t)
	_, err := m.Connect(context.Background(), a.config())
	wantError(t, err, "the server wants a login")
	if got := m.Servers()[0]; got.Status() != NeedsAuth || got.Err() == nil {
		t.Errorf("status %s, %v", got.Status(), got.Err())
	}
	if a.clients > 0 {
		t.Error("a client was registered although nobody logs in")
	}
	wantError(t, m.Login(context.Background(), a.config()), "no browser to log in with")
	m = loggedIn(t, a)
	s, err := m.Connect(context.Background(), a.config())
	if err != nil {
		t.Fatal(err)
	}
	if got := call(t, s, "echo", `{"text":"x"}`); got != "x" {
		t.Errorf("got %q", got)
	}
	if a.clients != 1 || a.grants("authorization_code") != 1 || a.grants("refresh_token") != 0 {
		t.Errorf("%d clients, %v", a.clients, a.forms)
	}
	if err := m.Logout(a.config()); err != nil {
		t.Fatal(err)
	}
	_, err = m.Connect(context.Background(), a.config())
	wantError(t, err, "the server wants a login")
}

// The token expires in a conversation of 20 calls: it is renewed, and each call
// is worked on once.
func TestTokenExpires(t *testing.T) {
	a := newAuthServer(t)
	m := loggedIn(t, a)
	s, err := m.Connect(context.Background(), a.config())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if i%6 == 5 {
			a.revoke(false)
		}
		text := fmt.Sprint("call ", i)
		if got := call(t, s, "echo", `{"text":"`+text+`"}`); got != text || s.Status() != Connected {
			t.Errorf("call %d gave %q, status %s", i, got, s.Status())
		}
	}
	if n := a.grants("refresh_token"); n != 3 {
		t.Errorf("renewed %d times", n)
	}
	a.revoke(true)
	_, err = s.Call(context.Background(), "echo", nil)
	wantError(t, err, "the server wants a login")
	if s.Status() != NeedsAuth {
		t.Errorf("status %s", s.Status())
	}
	m.Browser = follow
	if err := m.Login(context.Background(), a.config()); err != nil {
		t.Fatal(err)
	}
	if err := s.Reconnect(context.Background()); err != nil {
		t.Fatal(err)
	}
	if call(t, s, "echo", ""); s.Status() != Connected {
		t.Errorf("status %s after the login", s.Status())
	}
}

// A token whose time is over is renewed before it is sent, by one of many.
func TestTokenRunsOut(t *testing.T) {
	a := newAuthServer(t)
	a.expiresIn = 1 // which counts as over at once
	m := loggedIn(t, a)
	a.expiresIn = 3600
	before := a.grants("refresh_token")
	s, err := m.Connect(context.Background(), a.config())
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := s.Call(context.Background(), "echo", echo("x")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := a.grants("refresh_token") - before; n != 1 {
		t.Errorf("renewed %d times", n)
	}
}

// A call that needs more than the token allows gets a better one, with what it
// had, where there is a user to ask.
func TestStepUp(t *testing.T) {
	a := newAuthServer(t)
	m := loggedIn(t, a)
	a.want = "write"
	s, err := m.Connect(context.Background(), a.config())
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Call(context.Background(), "echo", nil)
	wantError(t, err, "the server wants a login")
	_ = s.Close()
	m.Browser = follow
	if s, err = m.Connect(context.Background(), a.config()); err != nil {
		t.Fatal(err)
	}
	call(t, s, "echo", "")
	if n := a.web.calls("echo"); n != 3 { // two were refused
		t.Errorf("sent %d times", n)
	}
}

// A new login takes the place of the old one when it is there, not before.
func TestLoginKeptUntilTheNext(t *testing.T) {
	a := newAuthServer(t)
	m := loggedIn(t, a)
	m.Browser, a.denied = follow, true
	wantError(t, m.Login(context.Background(), a.config()), "access_denied")
	m.Browser, a.denied = nil, false
	s, err := m.Connect(context.Background(), a.config())
	if err != nil {
		t.Fatalf("the old login is gone: %v", err)
	}
	if got := call(t, s, "echo", `{"text":"x"}`); got != "x" {
		t.Errorf("got %q", got)
	}
	old, _ := m.Tokens.Load(a.config().URL)
	m.Browser = follow
	if err := m.Login(context.Background(), a.config()); err != nil {
		t.Fatal(err)
	}
	if now, _ := m.Tokens.Load(a.config().URL); len(old) == 0 || string(now) == string(old) {
		t.Errorf("kept %q after %q", now, old)
	}
	if n := a.grants("authorization_code"); n != 2 {
		t.Errorf("%d logins", n)
	}
}

// Logins that fail say why.
func TestLoginFails(t *testing.T) {
	none := func(*authServer) {}
	for _, tt := range []struct {
		name    string
		change  func(*authServer)
		browser func(context.Context, string) error
		want    string
	}{
		{"denied", func(a *authServer) { a.denied = true }, follow, "the login was refused: access_denied, the user said no"},
		{"no browser", none, func(context.Context, string) error { return errors.New("no display") }, "could not be opened: no display"},
		{"no PKCE", func(a *authServer) { a.override["code_challenge_methods_supported"] = []string{} }, follow, "PKCE"},
		{"another issuer", func(a *authServer) { a.override["issuer"] = "https://evil.example" }, follow, "does not match"},
		{"no https", func(a *authServer) { a.override["authorization_endpoint"] = "http://192.0.2.1/authorize" }, follow, "does not use HTTPS"},
		{"wrong state", none, func(ctx context.Context, address string) error {
			u, _ := url.Parse(address)
			return follow(ctx, u.Query().Get("redirect_uri")+"?code=x&state=guess")
		}, "no answer to"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthServer(t)
			tt.change(a)
			m := newManager(t)
			m.Browser = tt.browser
			cfg := a.config()
			cfg.ConnectTimeout = 2 * time.Second
			_, err := m.Connect(context.Background(), cfg)
			wantError(t, err, tt.want)
		})
	}
}

// What is posted to an authorization server, codes among it, is not sent on to
// another, and a login that failed is not asked of the user again.
func TestCodesAreNotSentElsewhere(t *testing.T) {
	var stolen, asked atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		moved := httptest.NewServer(http.RedirectHandler(thief.URL+"/token?key=secret", status))
		defer moved.Close()
		a := newAuthServer(t)
		a.override["token_endpoint"] = moved.URL + "/token"
		m := newManager(t)
		m.Browser = func(ctx context.Context, address string) error {
			asked.Add(1)
			return follow(ctx, address)
		}
		_, err := m.Connect(context.Background(), a.config())
		wantError(t, err, "redirects what is posted to it to another origin, '"+thief.URL+"/token', which is not followed")
	}
	if stolen.Load() != 0 || asked.Load() != 3 {
		t.Errorf("%d requests elsewhere, the user was asked %d times for 3 logins", stolen.Load(), asked.Load())
	}
}

// A registration that is no good is told without the names of our types.
func TestRegistrationOfAnotherType(t *testing.T) {
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		write(w, `{"client_id":5}`)
	}))
	defer odd.Close()
	a := newAuthServer(t)
	a.override["registration_endpoint"] = odd.URL
	m := newManager(t)
	m.Browser = follow
	_, err := m.Connect(context.Background(), a.config())
	wantError(t, err, "the server wants a login: the authorization server's answer is not valid: 'client_id' cannot be of that JSON type")
}

// Machines log in without a user.
func TestMachineLogins(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, _ := x509.MarshalPKCS8PrivateKey(key)
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	for _, tt := range []struct {
		name  string
		oauth OAuth
		check func(a *authServer, form url.Values) bool
		want  string
	}{
		{"secret", OAuth{Grant: "client_credentials", ClientID: "m", ClientSecret: "s", Scopes: []string{"a", "b"}},
			func(a *authServer, form url.Values) bool {
				return a.basic[0] == "m" && form.Get("scope") == "a b" && form.Get("client_secret") == ""
			}, ""},
		{"key", OAuth{Grant: "client_credentials", ClientID: "m", PrivateKey: private},
			func(a *authServer, form url.Values) bool {
				head, claims := parts(t, form.Get("client_assertion"))
				return head["alg"] == "ES256" && claims["iss"] == "m" && claims["aud"] == a.URL && form.Get("client_assertion_type") == assertionJWTBearer
			}, ""},
		{"bad key", OAuth{Grant: "client_credentials", ClientID: "m", PrivateKey: []byte("x")}, nil, "the private key is no PEM"},
		{"workload", OAuth{Grant: "jwt_bearer", ClientID: "m", Assertion: func(_ context.Context, audience string) (string, error) { return "for " + audience, nil }},
			func(a *authServer, form url.Values) bool {
				return form.Get("assertion") == "for "+a.URL && form.Get("scope") == "basic"
			}, ""},
		{"workload refused", OAuth{Grant: "jwt_bearer", ClientID: "m", Assertion: func(context.Context, string) (string, error) { return "bad", nil }}, nil,
			"the authorization server refused: invalid_grant, not today"},
		{"workload without", OAuth{Grant: "jwt_bearer"}, nil, "has no token of the platform"},
		{"enterprise without", OAuth{Grant: "enterprise"}, nil, "has no ID token"},
		{"enterprise in clear", OAuth{Grant: "enterprise", IdentityServer: "http://idp.example", IdentityToken: func(context.Context) (string, error) { return "id", nil }}, nil, "is not https"},
		{"odd grant", OAuth{Grant: "magic"}, nil, "oauth grant 'magic' is none of"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthServer(t)
			cfg := a.config()
			cfg.OAuth = &tt.oauth
			s, err := newManager(t).Connect(context.Background(), cfg)
			if tt.want != "" {
				wantError(t, err, tt.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			call(t, s, "echo", "")
			if !tt.check(a, a.forms[0]) {
				t.Errorf("asked with %v, basic %v", a.forms[0], a.basic)
			}
		})
	}
}

// parts decodes header and claims of a token.
func parts(t *testing.T, token string) (head, claims map[string]any) {
	t.Helper()
	for i, part := range strings.Split(token, ".")[:2] {
		raw, err := base64.RawURLEncoding.DecodeString(part)
		if err == nil {
			err = json.Unmarshal(raw, []*map[string]any{&head, &claims}[i])
		}
		if err != nil {
			t.Fatalf("token %q: %v", token, err)
		}
	}
	return head, claims
}

func TestSigners(t *testing.T) {
	ec := func(c elliptic.Curve) any { k, _ := ecdsa.GenerateKey(c, rand.Reader); return k }
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048)
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	for alg, key := range map[string]any{"ES256": ec(elliptic.P256()), "ES384": ec(elliptic.P384()), "ES512": ec(elliptic.P521()), "RS256": rsaKey, "EdDSA": ed} {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
		if err != nil || s.alg != alg {
			t.Errorf("%s: %v", alg, err)
			continue
		}
		token, err := s.assertion("me", "you", time.Unix(1000, 0))
		if err != nil {
			t.Fatal(err)
		}
		head, claims := parts(t, token)
		if head["alg"] != alg || claims["exp"] != 1300.0 {
			t.Errorf("%s: %v %v", alg, head, claims)
		}
		at := strings.LastIndex(token, ".")
		signature, _ := base64.RawURLEncoding.DecodeString(token[at+1:])
		text := []byte(token[:at])
		sum := sha256.Sum256(text)
		ok := true
		switch k := key.(type) {
		case *ecdsa.PrivateKey:
			half := len(signature) / 2
			if alg == "ES256" {
				ok = ecdsa.Verify(&k.PublicKey, sum[:], new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:]))
			}
		case *rsa.PrivateKey:
			ok = rsa.VerifyPKCS1v15(&k.PublicKey, 5, sum[:], signature) == nil
		case ed25519.PrivateKey:
			ok = ed25519.Verify(k.Public().(ed25519.PublicKey), text, signature)
		}
		if !ok {
			t.Errorf("the signature of %s does not verify", alg)
		}
	}
	for text, want := range map[string]string{"": "no PEM", "-----BEGIN X-----\nAAAA\n-----END X-----\n": "cannot be read"} {
		_, err := parseKey([]byte(text))
		wantError(t, err, want)
	}
}

func TestProofs(t *testing.T) {
	p, err := newProver()
	if err != nil {
		t.Fatal(err)
	}
	to, _ := url.Parse("https://a.example/mcp?x=1#y")
	seen := map[any]bool{}
	for range 2 {
		token, err := p.proof("POST", to, "tok", "n", time.Unix(7, 0))
		if err != nil {
			t.Fatal(err)
		}
		head, claims := parts(t, token)
		jwk := head["jwk"].(map[string]any)
		if head["typ"] != "dpop+jwt" || jwk["kty"] != "EC" || jwk["d"] != nil || len(jwk["x"].(string)) != 43 {
			t.Errorf("header %v", head)
		}
		if claims["htm"] != "POST" || claims["htu"] != "https://a.example/mcp" || claims["nonce"] != "n" || claims["ath"] == nil || seen[claims["jti"]] {
			t.Errorf("claims %v", claims)
		}
		seen[claims["jti"]] = true
	}
}

func TestFileTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "tokens.json")
	f := FileTokens(path)
	if data, err := f.Load("x"); data != nil || err != nil {
		t.Errorf("an empty store has %s, %v", data, err)
	}
	for _, name := range []string{"x", "y"} {
		if err := f.Save(name, []byte(`{"n":"`+name+`"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Delete("x"); err != nil {
		t.Fatal(err)
	}
	if err := f.Delete("never"); err != nil {
		t.Fatal(err)
	}
	x, _ := f.Load("x")
	y, err := FileTokens(path).Load("y")
	var v struct{ N string }
	if x != nil || err != nil || json.Unmarshal(y, &v) != nil || v.N != "y" {
		t.Errorf("x %s, y %s, %v", x, y, err)
	}
	for p, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, %v", p, info.Mode(), err)
		}
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("left %v", files)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = f.Load("x")
	wantError(t, err, "the file of tokens", "is not valid")
	wantError(t, f.Save("x", nil), "is not valid")
}

// A token goes to the server it is for and to no other.
func TestTokensAreBound(t *testing.T) {
	a := newAuthServer(t)
	m := loggedIn(t, a)
	other := newWebServer(t)
	cfg := a.config()
	cfg.URL = other.URL + "/mcp"
	s, err := m.Connect(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	call(t, s, "echo", "")
	for _, r := range other.requests("tools/call") {
		if r.header.Get("Authorization") != "" {
			t.Error("the token went to another server")
		}
	}
}

func TestReach(t *testing.T) {
	for text, want := range map[string]reach{
		"127.0.0.1": reachLoopback, "::1": reachLoopback, "::ffff:127.0.0.1": reachLoopback, "10.1.2.3": reachPrivate, "192.168.0.1": reachPrivate,
		"::ffff:10.0.0.1": reachPrivate, "fd00::1": reachPrivate, "100.64.1.1": reachPrivate, "169.254.169.254": reachNone, "fe80::1": reachNone,
		"64:ff9b::7f00:1": reachLoopback, "64:ff9b::a00:1": reachPrivate, "64:ff9b::a9fe:a9fe": reachNone, "64:ff9b::808:808": reachPublic, "2002:7f00:1::": reachLoopback,
		"2002:a00:1::1": reachPrivate, "::10.0.0.1": reachPrivate, "0.1.2.3": reachNone, "240.0.0.1": reachNone, "fd00:ec2::254": reachNone, "fe80::1%eth0": reachNone,
		"0.0.0.0": reachNone, "::": reachNone, "224.0.0.1": reachNone, "255.255.255.255": reachNone, "8.8.8.8": reachPublic, "2001:4860:4860::8888": reachPublic,
	} {
		if got := reachOf(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s has reach %d, want %d", text, got, want)
		}
	}
}

// M11: what a server says of its authorization server leads to no connection
// inside.
func TestHostileDiscovery(t *testing.T) {
	inside := newWebServer(t)
	server, _ := url.Parse("https://192.0.2.1/mcp") // a public one
	client := &http.Client{Transport: newAuthTransport(server), CheckRedirect: authRedirect, Timeout: 5 * time.Second}
	port := inside.URL[strings.LastIndex(inside.URL, ":"):]
	for _, address := range []string{
		inside.URL, "http://localhost" + port, "http://[::ffff:127.0.0.1]" + port, "http://127.1" + port, "http://2130706433" + port, "http://0x7f000001" + port,
		"http://0.0.0.0" + port, "http://[::]" + port, "http://169.254.169.254/latest", "http://10.0.0.1/", "http://[fd00::1]/", "http://[::ffff:10.0.0.1]/",
	} {
		resp, err := client.Get(address)
		if err == nil {
			_ = resp.Body.Close()
			t.Errorf("%s was reached", address)
		}
	}
	if n := len(inside.requests("GET")); n > 0 {
		t.Errorf("%d connections inside", n)
	}
}
