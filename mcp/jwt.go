package mcp

import (
	"crypto"
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
	"net/url"
	"time"
)

// signer signs JSON web tokens.
type signer struct {
	key crypto.Signer
	alg string
}

// parseKey reads a private key: PKCS #8, PKCS #1 or SEC 1, as PEM.
func parseKey(text []byte) (*signer, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the private key is no PEM")
	}
	for _, parse := range []func([]byte) (any, error){
		x509.ParsePKCS8PrivateKey,
		func(b []byte) (any, error) { return x509.ParsePKCS1PrivateKey(b) },
		func(b []byte) (any, error) { return x509.ParseECPrivateKey(b) },
	} {
		if key, err := parse(block.Bytes); err == nil {
			return newSigner(key)
		}
	}
	return nil, errors.New("the private key cannot be read")
}

func newSigner(key any) (*signer, error) {
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		for curve, alg := range map[elliptic.Curve]string{elliptic.P256(): "ES256", elliptic.P384(): "ES384", elliptic.P521(): "ES512"} {
			if k.Curve == curve {
				return &signer{k, alg}, nil
			}
		}
	case *rsa.PrivateKey:
		return &signer{k, "RS256"}, nil
	case ed25519.PrivateKey:
		return &signer{k, "EdDSA"}, nil
	}
	return nil, fmt.Errorf("a private key of type %T cannot sign tokens", key)
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// sign writes a token with the given further members of its header and claims.
func (s *signer) sign(header, claims map[string]any) (string, error) {
	h := map[string]any{"alg": s.alg, "typ": "JWT"}
	for name, v := range header {
		h[name] = v
	}
	head, err := json.Marshal(h)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := b64(head) + "." + b64(body)
	signature, err := s.signature([]byte(text))
	if err != nil {
		return "", err
	}
	return text + "." + b64(signature), nil
}

func (s *signer) signature(text []byte) ([]byte, error) {
	switch k := s.key.(type) {
	case *ecdsa.PrivateKey:
		hash := map[string]crypto.Hash{"ES256": crypto.SHA256, "ES384": crypto.SHA384, "ES512": crypto.SHA512}[s.alg]
		d := hash.New()
		d.Write(text)
		r, v, err := ecdsa.Sign(rand.Reader, k, d.Sum(nil))
		if err != nil {
			return nil, err
		}
		size := (k.Curve.Params().BitSize + 7) / 8
		out := make([]byte, 2*size)
		r.FillBytes(out[:size])
		v.FillBytes(out[size:])
		return out, nil
	case *rsa.PrivateKey:
		sum := sha256.Sum256(text)
		return rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
	}
	return s.key.Sign(rand.Reader, text, crypto.Hash(0))
}

// assertion writes the token by which a client proves who it is to a token
// endpoint (RFC 7523, section 2.2).
func (s *signer) assertion(clientID, audience string, now time.Time) (string, error) {
	return s.sign(nil, map[string]any{
		"iss": clientID, "sub": clientID, "aud": audience, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	})
}

// prover makes the proofs of possession of RFC 9449 (DPoP) with a key of its
// own, made at random.
type prover struct {
	signer *signer
	jwk    map[string]any
}

func newProver() (*prover, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	point, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return nil, err
	}
	return &prover{
		signer: &signer{key, "ES256"},
		jwk:    map[string]any{"kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])},
	}, nil
}

// proof proves one request. token is the access token it carries and nonce what
// the server asked for; either may be "".
func (p *prover) proof(method string, to *url.URL, token, nonce string, now time.Time) (string, error) {
	claims := map[string]any{
		"jti": rand.Text(), "htm": method, "iat": now.Unix(),
		"htu": (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String(),
	}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims["ath"] = b64(sum[:])
	}
	if nonce != "" {
		claims["nonce"] = nonce
	}
	return p.signer.sign(map[string]any{"typ": "dpop+jwt", "jwk": p.jwk}, claims)
}
