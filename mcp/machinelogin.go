package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Types that the OAuth protocol names.
const (
	grantJWTBearer     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	assertionJWTBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

// authority is an authorization server and what to ask of it.
type authority struct {
	meta     *oauthex.AuthServerMeta
	resource string
	scopes   []string
}

// byMachine logs in without a user.
func (l *login) byMachine(ctx context.Context, req *http.Request, resp *http.Response) error {
	a, err := l.discover(ctx, req, resp)
	if err != nil {
		return err
	}
	form := url.Values{}
	switch l.oauth.Grant {
	case "client_credentials":
		form.Set("grant_type", "client_credentials")
		form.Set("resource", a.resource)
	case "jwt_bearer":
		err = l.workload(ctx, a, form)
	case "enterprise":
		err = l.enterprise(ctx, a, form)
	default:
		err = fmt.Errorf("oauth grant '%s' is none of authorization_code, client_credentials, jwt_bearer, enterprise", clean(l.oauth.Grant, 60))
	}
	if err != nil {
		return err
	}
	if len(a.scopes) > 0 {
		form.Set("scope", strings.Join(a.scopes, " "))
	}
	token, err := l.ask(ctx, a.meta, form)
	if err != nil {
		return err
	}
	return l.keep(&grant{ClientID: l.oauth.ClientID, TokenURL: a.meta.TokenEndpoint, Scopes: a.scopes, Token: token})
}

// workload fills in the grant of a machine that its platform vouches for.
func (l *login) workload(ctx context.Context, a *authority, form url.Values) error {
	if l.oauth.Assertion == nil {
		return errors.New("oauth grant 'jwt_bearer' has no token of the platform")
	}
	assertion, err := l.oauth.Assertion(ctx, a.meta.Issuer)
	if err != nil {
		return err
	}
	form.Set("grant_type", grantJWTBearer)
	form.Set("assertion", assertion)
	form.Set("resource", a.resource)
	return nil
}

// enterprise fills in the grant of a user whose identity provider vouches.
func (l *login) enterprise(ctx context.Context, a *authority, form url.Values) error {
	if l.oauth.IdentityToken == nil {
		return errors.New("oauth grant 'enterprise' has no ID token")
	}
	id, err := l.oauth.IdentityToken(ctx)
	if err != nil {
		return err
	}
	endpoint, err := l.identityEndpoint(ctx)
	if err != nil {
		return err
	}
	assertion, err := oauthex.ExchangeToken(ctx, endpoint, &oauthex.TokenExchangeRequest{
		RequestedTokenType: oauthex.TokenTypeIDJAG, Audience: a.meta.Issuer, Resource: a.resource, Scope: a.scopes,
		SubjectToken: id, SubjectTokenType: oauthex.TokenTypeIDToken,
	}, &oauthex.ClientCredentials{ClientID: l.oauth.IdentityClient}, l.client)
	if err != nil {
		return tokenFault(err)
	}
	form.Set("grant_type", grantJWTBearer)
	form.Set("assertion", assertion.AccessToken)
	return nil
}

// identityEndpoint finds where the identity provider exchanges tokens. It is
// no authorization server for codes, so go-sdk's check for PKCE does not fit.
func (l *login) identityEndpoint(ctx context.Context) (string, error) {
	issuer := strings.TrimRight(l.oauth.IdentityServer, "/")
	u, err := url.Parse(issuer)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return "", fmt.Errorf("the identity provider's address, '%s', is not https", clean(issuer, 200))
	}
	for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, issuer+path, nil)
		if err != nil {
			return "", err
		}
		resp, err := l.client.Do(req)
		if err != nil {
			return "", err
		}
		var meta struct {
			Issuer   string `json:"issuer"`
			Endpoint string `json:"token_endpoint"`
		}
		err = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&meta)
		_ = resp.Body.Close()
		if failed(resp) || err != nil {
			continue
		}
		if strings.TrimRight(meta.Issuer, "/") != issuer {
			return "", errors.New("the identity provider calls itself '" + clean(meta.Issuer, 200) + "'")
		}
		return meta.Endpoint, nil
	}
	return "", errors.New("the identity provider says nothing of itself")
}

// discover finds the authorization server for a request that was refused.
func (l *login) discover(ctx context.Context, req *http.Request, resp *http.Response) (*authority, error) {
	server := *req.URL
	server.RawQuery, server.Fragment = "", ""
	a := &authority{resource: server.String()}
	issuer := (&url.URL{Scheme: server.Scheme, Host: server.Host}).String()
	named := ""
	for _, c := range challenges(resp) {
		if u := c.Params["resource_metadata"]; u != "" && named == "" {
			named = u
		}
		if s := c.Params["scope"]; s != "" && a.scopes == nil {
			a.scopes = strings.Fields(s)
		}
	}
	for _, place := range metadataPlaces(named, &server) {
		prm, err := oauthex.GetProtectedResourceMetadata(ctx, place[0], place[1], l.client)
		if err != nil || prm == nil {
			continue
		}
		if len(prm.AuthorizationServers) == 0 {
			return nil, errors.New("the server names no authorization server")
		}
		issuer, a.resource = prm.AuthorizationServers[0], prm.Resource
		if a.scopes == nil {
			a.scopes = prm.ScopesSupported
		}
		break
	}
	if len(l.oauth.Scopes) > 0 {
		a.scopes = l.oauth.Scopes
	}
	var err error
	if a.meta, err = auth.GetAuthServerMetadata(ctx, issuer, l.client); err != nil {
		return nil, err
	}
	if a.meta == nil { // as revision 2025-03-26 has it
		a.meta = &oauthex.AuthServerMeta{Issuer: issuer, TokenEndpoint: issuer + "/token"}
	}
	return a, nil
}

// metadataPlaces gives where a server's description may be, each with the
// resource it then has to be about.
func metadataPlaces(named string, server *url.URL) [][2]string {
	const wellKnown = "/.well-known/oauth-protected-resource"
	root := &url.URL{Scheme: server.Scheme, Host: server.Host}
	places := [][2]string{
		{root.String() + wellKnown + "/" + strings.TrimLeft(server.Path, "/"), server.String()},
		{root.String() + wellKnown, root.String()},
	}
	if named != "" {
		places = append([][2]string{{named, server.String()}}, places...)
	}
	return places
}

// ask sends a request for a token with the client's proof of who it is.
func (l *login) ask(ctx context.Context, meta *oauthex.AuthServerMeta, form url.Values) (*oauth2.Token, error) {
	to, err := url.Parse(meta.TokenEndpoint)
	if err != nil || to.Scheme != "https" && (to.Scheme != "http" || !isLoopback(to.Hostname())) {
		return nil, fmt.Errorf("the authorization server's address for tokens, '%s', is not https", clean(meta.TokenEndpoint, 200))
	}
	basic := false
	switch methods := meta.TokenEndpointAuthMethodsSupported; {
	case len(l.oauth.PrivateKey) > 0:
		key, err := parseKey(l.oauth.PrivateKey)
		if err != nil {
			return nil, err
		}
		proof, err := key.assertion(l.oauth.ClientID, meta.Issuer, l.now())
		if err != nil {
			return nil, err
		}
		form.Set("client_assertion_type", assertionJWTBearer)
		form.Set("client_assertion", proof)
		form.Set("client_id", l.oauth.ClientID)
	case l.oauth.ClientSecret == "":
		form.Set("client_id", l.oauth.ClientID)
	case slices.Contains(methods, "client_secret_post") && !slices.Contains(methods, "client_secret_basic"):
		form.Set("client_id", l.oauth.ClientID)
		form.Set("client_secret", l.oauth.ClientSecret)
	default:
		basic = true
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if basic {
		req.SetBasicAuth(url.QueryEscape(l.oauth.ClientID), url.QueryEscape(l.oauth.ClientSecret))
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return nil, err
	}
	return readToken(resp, l.now())
}

// readToken reads the answer of a token endpoint and closes it.
func readToken(resp *http.Response, now time.Time) (*oauth2.Token, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	var t struct {
		AccessToken  string      `json:"access_token"`
		TokenType    string      `json:"token_type"`
		RefreshToken string      `json:"refresh_token"`
		ExpiresIn    json.Number `json:"expires_in"`
		Error        string      `json:"error"`
		Description  string      `json:"error_description"`
	}
	err = json.Unmarshal(body, &t)
	if failed(resp) || t.Error != "" {
		return nil, tokenFault(&oauth2.RetrieveError{Response: resp, ErrorCode: t.Error, ErrorDescription: t.Description})
	}
	if err != nil || t.AccessToken == "" {
		return nil, errors.New("the authorization server's answer holds no token")
	}
	token := &oauth2.Token{AccessToken: t.AccessToken, TokenType: t.TokenType, RefreshToken: t.RefreshToken}
	if n, err := t.ExpiresIn.Int64(); err == nil && n > 0 {
		token.Expiry = now.Add(time.Duration(n) * time.Second)
	}
	return token, nil
}
