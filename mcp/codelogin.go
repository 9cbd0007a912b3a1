package mcp

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// codeLogin is the login of a user in a browser, which returns to a listener on
// loopback. The protocol is go-sdk's.
type codeLogin struct {
	listener *net.TCPListener
	handler  *auth.AuthorizationCodeHandler
}

const callbackPath = "/callback"

// byCode logs a user in, if there is a browser to ask.
func (l *login) byCode(ctx context.Context, req *http.Request, resp *http.Response) error {
	if l.vain != nil {
		discard(resp)
		return l.vain
	}
	if l.browser == nil {
		discard(resp)
		return &NeedsAuthError{}
	}
	if l.code == nil {
		code, err := l.newCodeLogin()
		if err != nil {
			discard(resp)
			return err
		}
		l.code = code
	}
	err := tokenFault(l.code.handler.Authorize(ctx, req, resp))
	if err != nil && l.vain == nil && ctx.Err() == nil {
		l.vain = err // what failed by another request of the same connection would fail again
	}
	return err
}

func (l *login) newCodeLogin() (*codeLogin, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: l.oauth.CallbackPort})
	if err != nil {
		return nil, fmt.Errorf("no port for the browser to return to: %w", err)
	}
	back := (&url.URL{Scheme: "http", Host: listener.Addr().String(), Path: callbackPath}).String()
	cfg := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back, Client: l.client, RequestRefreshToken: true,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Sense", RedirectURIs: []string{back},
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		NewTokenSource: func(_ context.Context, cfg *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			g := &grant{ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, TokenURL: cfg.Endpoint.TokenURL, AuthStyle: cfg.Endpoint.AuthStyle, Scopes: cfg.Scopes, Token: t}
			if err := l.keep(g); err != nil {
				l.drop(err)
				return nil, err
			}
			return oauth2.StaticTokenSource(t), nil
		},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return fetchCode(ctx, listener, args.URL, l.browser)
		},
	}
	if l.oauth.ClientMetadataURL != "" {
		cfg.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: l.oauth.ClientMetadataURL}
	}
	if l.oauth.ClientID != "" {
		cfg.PreregisteredClient = &oauthex.ClientCredentials{ClientID: l.oauth.ClientID}
		if l.oauth.ClientSecret != "" {
			cfg.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: l.oauth.ClientSecret}
		}
	}
	if len(l.oauth.Scopes) > 0 {
		cfg.ScopeFilter = func([]string) []string { return l.oauth.Scopes }
	}
	handler, err := auth.NewAuthorizationCodeHandler(cfg)
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	return &codeLogin{listener, handler}, nil
}

// close frees the port.
func (l *login) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.code != nil {
		_ = l.code.listener.Close()
		l.code = nil
	}
	l.client.CloseIdleConnections()
}

// returned is what the browser brought back.
type returned struct {
	result *auth.AuthorizationResult
	err    error
}

// lasting is a listener that a server may close without losing the port.
type lasting struct{ *net.TCPListener }

// Close ends waiting for connections.
func (l lasting) Close() error { return l.SetDeadline(time.Unix(1, 0)) }

// fetchCode shows the user the address to log in at and waits for the browser
// to come back with the state that the address holds.
func fetchCode(ctx context.Context, listener *net.TCPListener, address string, browser func(context.Context, string) error) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return nil, errors.New("the authorization server gives no https address to log in at")
	}
	ctx, cancel := context.WithCancel(ctx)
	came := make(chan returned, 1)
	tell := func(r returned) {
		select {
		case came <- r:
		default: // the first counts
		}
	}
	server := &http.Server{Handler: callback(u.Query().Get("state"), tell), ReadHeaderTimeout: 10 * time.Second}
	var all sync.WaitGroup
	_ = listener.SetDeadline(time.Time{})
	all.Go(func() { _ = server.Serve(lasting{listener}) })
	all.Go(func() {
		if err := browser(ctx, address); err != nil {
			tell(returned{err: fmt.Errorf("the address to log in at could not be opened: %w", err)})
		}
	})
	defer func() {
		cancel()
		grace, stop := context.WithTimeout(context.Background(), time.Second) // for the page to be sent
		defer stop()
		_ = server.Shutdown(grace)
		_ = server.Close()
		all.Wait()
	}()
	select {
	case got := <-came:
		return got.result, got.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// callback takes the browser's return, at one path and with one state only.
func callback(state string, tell func(returned)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.Method != http.MethodGet || r.URL.Path != callbackPath || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if code := q.Get("error"); code != "" {
			fmt.Fprintln(w, "The login was refused. You can close this window.")
			text := "the login was refused: " + code
			if why := q.Get("error_description"); why != "" {
				text += ", " + why
			}
			tell(returned{err: errors.New(clean(text, 300))})
			return
		}
		fmt.Fprintln(w, "You are logged in. You can close this window and go back to the terminal.")
		tell(returned{result: &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}})
	})
}
