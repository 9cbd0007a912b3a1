// Package inspect serves a console for a program that has run: a page in the
// browser that shows what the program declared and lets a person use it. Tools
// are called, actions go step by step to their commit, agents are started and
// answered, memories, the policy and the audit are looked at.
//
// A Surface collects what a program declares, a Console serves it. The console
// listens on the loopback address only and answers nobody but its own page, or a
// program that knows the token of the run; see guard.go for each check. Every
// use is a call of the program like any other: policy, approval and audit hold.
package inspect

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/sense-lang/sense/eval"
)

// Options configure a Console.
type Options struct {
	// Path is the program's file as the page shows it.
	Path string
	// DryRun says that commits and rollbacks are simulated: no commit needs a
	// second confirmation then.
	DryRun bool
	// Token is what requests must show; "" makes one of 130 random bits.
	Token string
}

// Console serves one program. New makes it.
type Console struct {
	in       *eval.Interp
	declared *Surface
	path     string
	dryRun   bool
	token    string
	routes   []route
	actions  actions
	calls    calls
}

// New makes a console for a program that has run; s is what it declared.
func New(in *eval.Interp, s *Surface, o Options) *Console {
	c := &Console{in: in, declared: s, path: o.Path, dryRun: o.DryRun, token: o.Token, routes: routes()}
	if c.token == "" {
		c.token = rand.Text()
	}
	return c
}

// Listen opens a port of the loopback address; 0 takes a free one.
func Listen(port string) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
}

// URL gives the address to open: the token is in its fragment, which a browser
// never sends.
func (c *Console) URL(l net.Listener) string {
	return "http://" + l.Addr().String() + "/#token=" + c.token
}

// Limits of a connection.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = longestWait + 30*time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	// closing is how long answers that are under way have at the end.
	closing = time.Second
)

// Serve answers requests until ctx ends; then it closes all connections. Calls
// of the program that still run then end with the program.
func (c *Console) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           c.Handler(l.Addr()),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       withConn,
		ErrorLog:          discard(),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(&limiter{Listener: l, max: maxConns}) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	if srv.Shutdown(end) != nil {
		_ = srv.Close() // what is left is cut off
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Settle waits until no call of the console runs any more, at most for limit.
// Call it after the program was stopped.
func (c *Console) Settle(limit time.Duration) bool { return c.calls.settle(limit) }

// Handler gives the console as an http.Handler that is reached at addr.
func (c *Console) Handler(addr net.Addr) http.Handler {
	g := newGuard(addr, c.token, c.answer)
	return g.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(r) {
			c.serveAPI(w, r)
			return
		}
		if !servePage(w, r) {
			c.notFound(w, r)
		}
	}))
}

// answer writes an answer without secrets.
func (c *Console) answer(w http.ResponseWriter, status int, o object) {
	e := &encoder{redact: c.in.Audit().Redactor.Redact}
	e.encode(o)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(e.b.Bytes()) // nobody is left to tell
}
