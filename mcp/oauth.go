package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// OAuth says how to log in to a server that wants it. The zero value registers
// a client with the authorization server by itself and asks the user.
type OAuth struct {
	// Grant is how a token is got: "" for the login of a user in a browser,
	// "client_credentials" for a machine that proves itself by ClientSecret or
	// PrivateKey, "jwt_bearer" for one that has a token of its platform
	// (Assertion), "enterprise" for a user whose identity provider vouches
	// (IdentityToken, IdentityServer).
	Grant string
	// ClientID and ClientSecret are those of a client that is registered
	// already; empty ones have one registered.
	ClientID, ClientSecret string
	// PrivateKey, as PEM, proves the client in place of a secret.
	PrivateKey []byte
	// ClientMetadataURL is an https address where a description of the client
	// is published; servers that take such addresses need no registration.
	ClientMetadataURL string
	// Scopes are asked for in place of those the server names.
	Scopes []string
	// CallbackPort is the port on loopback that the browser returns to; 0 takes
	// any.
	CallbackPort int
	// Assertion gives the platform's token for grant "jwt_bearer"; audience is
	// the issuer it has to be for.
	Assertion func(ctx context.Context, audience string) (string, error)
	// IdentityToken gives the user's ID token for grant "enterprise",
	// IdentityServer is its issuer, and IdentityClient our client id there.
	IdentityToken                  func(ctx context.Context) (string, error)
	IdentityServer, IdentityClient string
}

// grant is what a login gave and what renews it, as it is kept.
type grant struct {
	ClientID     string           `json:"client_id,omitempty"`
	ClientSecret string           `json:"client_secret,omitempty"`
	TokenURL     string           `json:"token_url,omitempty"`
	AuthStyle    oauth2.AuthStyle `json:"auth_style,omitempty"`
	Scopes       []string         `json:"scopes,omitempty"`
	Token        *oauth2.Token    `json:"token"`
}

func (g *grant) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: g.ClientID, ClientSecret: g.ClientSecret, Scopes: g.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.AuthStyle},
	}
}

// login puts tokens on the requests to one server, renews them, and logs in
// where that is possible. It is the round tripper below a remote's client.
type login struct {
	server  *url.URL
	oauth   OAuth
	fixed   bool // the configuration has an Authorization header
	store   TokenStore
	browser func(context.Context, string) error
	base    *http.Transport // to the server
	client  *http.Client    // to authorization servers
	dpop    *dpopTripper    // below client
	now     func() time.Time

	mu    sync.Mutex // held while logging in
	code  *codeLogin
	state sync.Mutex // guards the rest
	have  *grant
	read  bool // the store was read, or is not to be

	vain error // why the user is not asked again; guarded by mu
}

// CloseIdleConnections closes connections to the server that are not in use.
func (l *login) CloseIdleConnections() { l.base.CloseIdleConnections() }

// tokenKey is the name under which the tokens of a server are kept.
func tokenKey(server *url.URL) string {
	return (&url.URL{Scheme: server.Scheme, Host: server.Host, Path: server.Path}).String()
}

// RoundTrip sends a request with the token there is. A request that is refused
// for want of a better one was not worked on, so it is sent again, once, after
// a better one was got.
func (l *login) RoundTrip(req *http.Request) (*http.Response, error) {
	if l.fixed {
		return l.withFixed(req)
	}
	token, err := l.token(req.Context())
	if err != nil {
		return nil, err
	}
	resp, err := l.send(req, token)
	if err != nil || !wantsLogin(resp) {
		return resp, err
	}
	better, err := l.better(req.Context(), req, resp, token)
	if err != nil {
		return nil, err
	}
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	resp, err = l.send(again, better)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		discard(resp)
		return nil, &NeedsAuthError{Cause: errors.New("it refuses the token it has just given")}
	}
	return resp, err
}

func (l *login) withFixed(req *http.Request) (*http.Response, error) {
	resp, err := l.base.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		discard(resp)
		return nil, &NeedsAuthError{Cause: errors.New("it refuses the Authorization header of the configuration")}
	}
	return resp, err
}

// send sends a request with a token, nil for none.
func (l *login) send(req *http.Request, token *oauth2.Token) (*http.Response, error) {
	if token == nil {
		return l.base.RoundTrip(req)
	}
	if token.Type() == "DPoP" {
		return l.dpop.present(l.base, req, token.AccessToken)
	}
	req = req.Clone(req.Context())
	token.SetAuthHeader(req)
	return l.base.RoundTrip(req)
}

// wantsLogin says whether an answer asks for a token, or for one that may do
// more.
func wantsLogin(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized ||
		resp.StatusCode == http.StatusForbidden && challengeError(resp) == "insufficient_scope"
}

// token gives the token to send, renewed when it has run out; nil when there
// is none.
func (l *login) token(ctx context.Context) (*oauth2.Token, error) {
	g, err := l.grant()
	if err != nil || g == nil || g.Token == nil {
		return nil, err
	}
	if g.Token.Valid() || g.Token.RefreshToken == "" {
		return g.Token, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.renew(ctx, g.Token)
}

// grant gives what there is, from the store at first.
func (l *login) grant() (*grant, error) {
	l.state.Lock()
	defer l.state.Unlock()
	if l.read || l.store == nil {
		return l.have, nil
	}
	data, err := l.store.Load(tokenKey(l.server))
	if err != nil {
		return nil, err
	}
	l.read = true
	var g grant
	if data != nil && json.Unmarshal(data, &g) == nil && g.Token != nil {
		l.have = &g
	}
	return l.have, nil
}

// keep makes a grant the current one.
func (l *login) keep(g *grant) error {
	l.state.Lock()
	defer l.state.Unlock()
	l.have, l.read = g, true
	if l.store == nil || g.Token.Type() == "DPoP" { // whose key does not outlive us
		return nil
	}
	data, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return l.store.Save(tokenKey(l.server), data)
}

// drop forgets a login that could not be kept, so that nobody takes it for one
// that lasts, and sees to it that the user is not asked for another in vain.
func (l *login) drop(why error) {
	l.state.Lock()
	defer l.state.Unlock()
	l.have, l.vain = nil, why
}

// better gets a token in place of one, nil for none, that was refused by resp.
func (l *login) better(ctx context.Context, req *http.Request, resp *http.Response, refused *oauth2.Token) (*oauth2.Token, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.grant()
	if err != nil {
		discard(resp)
		return nil, err
	}
	if g != nil && g.Token != nil && (refused == nil || g.Token.AccessToken != refused.AccessToken) {
		discard(resp)
		return g.Token, nil // somebody else was faster
	}
	if resp.StatusCode == http.StatusUnauthorized && refused != nil && refused.RefreshToken != "" {
		if token, err := l.renew(ctx, refused); err == nil {
			discard(resp)
			return token, nil
		}
	}
	if err := l.logIn(ctx, req, resp); err != nil {
		return nil, asNeedsAuth(ctx, err)
	}
	if g, _ = l.grant(); g == nil || g.Token == nil {
		return nil, &NeedsAuthError{}
	}
	return g.Token, nil
}

func asNeedsAuth(ctx context.Context, err error) error {
	var auth *NeedsAuthError
	if errors.As(err, &auth) || ctx.Err() != nil {
		return err
	}
	return &NeedsAuthError{Cause: err}
}

// renew gets a new token for one that has run out, unless that was done
// meanwhile. The lock is held.
func (l *login) renew(ctx context.Context, old *oauth2.Token) (*oauth2.Token, error) {
	g, err := l.grant()
	if err != nil {
		return nil, err
	}
	if g.Token.AccessToken != old.AccessToken {
		return g.Token, nil
	}
	stale := *g.Token
	stale.Expiry = time.Unix(1, 0)
	ctx = context.WithValue(ctx, oauth2.HTTPClient, l.client)
	token, err := g.config().TokenSource(ctx, &stale).Token()
	if err != nil {
		return nil, &NeedsAuthError{Cause: tokenFault(err)}
	}
	renewed := *g
	renewed.Token = token
	return token, l.keep(&renewed)
}

// tokenFault puts what an authorization server answers wrong into words.
func tokenFault(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return errors.New("the authorization server's answer is not valid: " + jsonFault(kind))
	}
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return err
	}
	text := "the authorization server refused: " + refused.ErrorCode
	if refused.ErrorCode == "" && refused.Response != nil {
		text += "HTTP status " + refused.Response.Status
	}
	if refused.ErrorDescription != "" {
		text += ", " + refused.ErrorDescription
	}
	return errors.New(clean(text, 400))
}

// logIn gets a token anew and closes resp.
func (l *login) logIn(ctx context.Context, req *http.Request, resp *http.Response) error {
	if challengeScheme(resp, "dpop") {
		l.dpop.begin()
	}
	switch l.oauth.Grant {
	case "", "authorization_code":
		return l.byCode(ctx, req, resp)
	}
	defer discard(resp)
	return l.byMachine(ctx, req, resp)
}
