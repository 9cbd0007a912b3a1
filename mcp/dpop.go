package mcp

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// dpopTripper adds proofs of possession (RFC 9449) to requests for tokens once
// a server has asked for them, and to requests that present such a token.
type dpopTripper struct {
	base *http.Transport
	now  func() time.Time

	mu     sync.Mutex
	prover *prover
	nonces map[string]string // by origin
}

// CloseIdleConnections closes connections that are not in use.
func (d *dpopTripper) CloseIdleConnections() { d.base.CloseIdleConnections() }

// begin has proofs made from now on.
func (d *dpopTripper) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.prover == nil {
		d.prover, _ = newProver() // without one the server refuses, which says enough
	}
}

func (d *dpopTripper) state(origin string) (*prover, string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.prover, d.nonces[origin]
}

// RoundTrip sends a request of the OAuth protocol.
func (d *dpopTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if p, _ := d.state(""); p == nil || req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		return d.base.RoundTrip(req)
	}
	return d.proved(d.base, req, "", func(resp *http.Response) bool {
		if resp.StatusCode != http.StatusBadRequest && resp.StatusCode != http.StatusUnauthorized {
			return false
		}
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return err == nil && bytes.Contains(body, []byte("use_dpop_nonce"))
	})
}

// present sends a request to the server with a token and its proof.
func (d *dpopTripper) present(base http.RoundTripper, req *http.Request, token string) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "DPoP "+token)
	return d.proved(base, req, token, func(resp *http.Response) bool {
		return resp.StatusCode == http.StatusUnauthorized && challengeError(resp) == "use_dpop_nonce"
	})
}

// proved sends a request with a proof, and once more with the nonce the server
// asks for, if it does.
func (d *dpopTripper) proved(base http.RoundTripper, req *http.Request, token string, wantsNonce func(*http.Response) bool) (*http.Response, error) {
	origin := req.URL.Scheme + "://" + req.URL.Host
	for again := false; ; again = true {
		p, nonce := d.state(origin)
		if p == nil {
			return base.RoundTrip(req)
		}
		proof, err := p.proof(req.Method, req.URL, token, nonce, d.now())
		if err != nil {
			return nil, err
		}
		try := req.Clone(req.Context())
		if again && req.GetBody != nil {
			if try.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
		try.Header.Set("DPoP", proof)
		resp, err := base.RoundTrip(try)
		if err != nil {
			return nil, err
		}
		if fresh := resp.Header.Get("DPoP-Nonce"); fresh != "" {
			d.mu.Lock()
			if d.nonces == nil {
				d.nonces = map[string]string{}
			}
			d.nonces[origin] = fresh
			d.mu.Unlock()
		}
		if again || !wantsNonce(resp) {
			return resp, nil
		}
		discard(resp)
	}
}

func challenges(resp *http.Response) []oauthex.Challenge {
	list, _ := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	return list
}

// challengeError gives the error that an answer's challenge names.
func challengeError(resp *http.Response) string {
	for _, c := range challenges(resp) {
		if e := c.Params["error"]; e != "" {
			return e
		}
	}
	return ""
}

func challengeScheme(resp *http.Response, scheme string) bool {
	for _, c := range challenges(resp) {
		if strings.EqualFold(c.Scheme, scheme) {
			return true
		}
	}
	return false
}
