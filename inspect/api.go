package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/eval"
)

// maxBody bounds a request's body.
const maxBody = 1 << 20

// request is a request that passed the guard.
type request struct {
	w    http.ResponseWriter
	r    *http.Request
	vars []string // what stands in the places of the pattern's stars
	body body
}

// body is what a request may say.
type body struct {
	Args    json.RawMessage `json:"args"`
	Value   json.RawMessage `json:"value"`
	Confirm string          `json:"confirm"`
}

// route is one address: a star stands for any segment.
type route struct {
	method  string
	pattern []string
	serve   func(c *Console, q *request)
}

func routes() []route {
	r := func(method, pattern string, serve func(c *Console, q *request)) route {
		return route{method, strings.Split(pattern, "/"), serve}
	}
	return []route{
		r("GET", "/api/surface", (*Console).getSurface),
		r("GET", "/api/audit-log", (*Console).getAudit),
		r("GET", "/api/memory/*", (*Console).getMemory),
		r("GET", "/api/memory/*/history/*", (*Console).getHistory),
		r("GET", "/api/call/*", (*Console).getCall),
		r("POST", "/api/tool/*/call", (*Console).postTool),
		r("POST", "/api/action/*/prepare", (*Console).postPrepare),
		r("POST", "/api/action/*/*", (*Console).postStep),
		r("POST", "/api/agent/*/start", (*Console).postStart),
		r("POST", "/api/agent/*/resume", (*Console).postResume),
	}
}

// match gives the values of the stars.
func (r *route) match(method string, path []string) (vars []string, ok bool) {
	if r.method != method || len(path) != len(r.pattern) {
		return nil, false
	}
	for i, want := range r.pattern {
		if want != "*" {
			if path[i] != want {
				return nil, false
			}
			continue
		}
		v, err := url.PathUnescape(path[i])
		if err != nil {
			return nil, false
		}
		vars = append(vars, v)
	}
	return vars, true
}

// ServeHTTP answers what is below /api.
func (c *Console) serveAPI(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(r.URL.EscapedPath(), "/")
	for i := range c.routes {
		rt := &c.routes[i]
		vars, ok := rt.match(r.Method, path)
		if !ok || rt.method == "POST" && len(vars) == 2 && !steps[vars[1]] {
			continue
		}
		q := &request{w: w, r: r, vars: vars}
		if r.Method == http.MethodPost {
			if status, o := q.read(); o != nil {
				c.answer(w, status, o)
				return
			}
		}
		rt.serve(c, q)
		return
	}
	c.notFound(w, r)
}

func (c *Console) notFound(w http.ResponseWriter, r *http.Request) {
	c.answer(w, http.StatusNotFound, refusal("NotFound", "no route for %s %s", r.Method, clip(r.URL.EscapedPath(), 500)))
}

// read takes the body apart; an empty one says nothing.
func (q *request) read() (status int, o object) {
	raw, err := io.ReadAll(http.MaxBytesReader(q.w, q.r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge, refusal("TooLarge", "the body is over %d bytes", maxBody)
	case err != nil:
		return http.StatusBadRequest, refusal("BadRequest", "the body did not arrive whole")
	case len(bytes.TrimSpace(raw)) == 0:
		return 0, nil
	case bytes.TrimSpace(raw)[0] != '{':
		return http.StatusBadRequest, refusal("BadRequest", "the body must be a JSON object")
	}
	if err := json.Unmarshal(raw, &q.body); err != nil {
		return http.StatusBadRequest, refusal("BadRequest", "the body is no valid JSON of this route: %v", err)
	}
	return 0, nil
}

// args gives the arguments as values.
func (b *body) args() ([]eval.Value, error) {
	if len(b.Args) == 0 || string(b.Args) == "null" {
		return nil, nil
	}
	v, err := builtins.FromJSON(b.Args)
	if err != nil {
		return nil, err
	}
	a, ok := v.AsArray()
	if !ok {
		return nil, errors.New("args must be an array")
	}
	return append([]eval.Value(nil), a.Values()...), nil
}

// value gives what an agent is answered.
func (b *body) value() (eval.Value, error) {
	if len(b.Value) == 0 {
		return eval.Nil(), nil
	}
	return builtins.FromJSON(b.Value)
}

// use runs f as a call of the program and answers with what it gives.
func (c *Console) use(q *request, f func(th *eval.Thread) (object, error)) {
	k := c.calls.start(func() object { return c.host(f) })
	if k == nil {
		c.answer(q.w, http.StatusServiceUnavailable, refusal("Busy", "%d calls are running already", maxRunning))
		return
	}
	c.answer(q.w, http.StatusOK, k.wait(q.r.Context().Done(), q.patience()))
}

// host runs f on a thread of the program.
func (c *Console) host(f func(th *eval.Thread) (object, error)) (o object) {
	_, err := c.in.Host("a call of the console", func(th *eval.Thread) (eval.Value, error) {
		var err error
		o, err = f(th)
		return eval.Nil(), err
	})
	if err != nil {
		return failure(err)
	}
	return o
}

// look is use for what only looks.
func (c *Console) look(q *request, f func(th *eval.Thread) (object, error)) {
	c.answer(q.w, http.StatusOK, c.host(f))
}

// patience is how long the request wants to wait for a call, by its header
// Prefer: wait=seconds.
func (q *request) patience() time.Duration {
	for _, p := range strings.Split(q.r.Header.Get("Prefer"), ",") {
		if s, ok := strings.CutPrefix(strings.TrimSpace(p), "wait="); ok {
			if n, err := strconv.Atoi(s); err == nil && n >= 0 && n < int(longestWait/time.Second) {
				return time.Duration(n) * time.Second
			}
		}
	}
	return longestWait
}

func (c *Console) getSurface(q *request) {
	c.look(q, func(th *eval.Thread) (object, error) { return c.surface(th), nil })
}

func (c *Console) getAudit(q *request) {
	number := func(name string, otherwise int) int {
		n, err := strconv.Atoi(q.r.URL.Query().Get(name))
		if err != nil || n < 0 {
			return otherwise
		}
		return n
	}
	c.answer(q.w, http.StatusOK, c.auditLog(number("after", 0), min(number("limit", maxAudit), maxAudit)))
}

func (c *Console) getMemory(q *request) {
	c.look(q, func(th *eval.Thread) (object, error) { return c.entries(th, q.vars[0]) })
}

func (c *Console) getHistory(q *request) {
	c.look(q, func(th *eval.Thread) (object, error) { return c.history(th, q.vars[0], q.vars[1]) })
}

func (c *Console) getCall(q *request) {
	k := c.calls.get(q.vars[0])
	if k == nil {
		c.answer(q.w, http.StatusNotFound, refusal("NotFound", "no call '%s'", clip(q.vars[0], 100)))
		return
	}
	c.answer(q.w, http.StatusOK, k.wait(q.r.Context().Done(), q.patience()))
}

// withArgs reads the arguments and goes on.
func (c *Console) withArgs(q *request, f func(th *eval.Thread, args []eval.Value) (object, error)) {
	args, err := q.body.args()
	if err != nil {
		c.answer(q.w, http.StatusBadRequest, refusal("BadRequest", "%v", err))
		return
	}
	c.use(q, func(th *eval.Thread) (object, error) { return f(th, args) })
}

func (c *Console) postTool(q *request) {
	c.withArgs(q, func(th *eval.Thread, args []eval.Value) (object, error) { return c.callTool(th, q.vars[0], args) })
}

func (c *Console) postPrepare(q *request) {
	c.withArgs(q, func(th *eval.Thread, args []eval.Value) (object, error) { return c.prepare(th, q.vars[0], args) })
}

func (c *Console) postStep(q *request) {
	c.use(q, func(th *eval.Thread) (object, error) { return c.step(th, q.vars[0], q.vars[1], q.body.Confirm) })
}

func (c *Console) postStart(q *request) {
	c.use(q, func(th *eval.Thread) (object, error) {
		return c.agent(th, q.vars[0], func(v eval.Value) (eval.Value, error) { return th.StartAgent(v) })
	})
}

func (c *Console) postResume(q *request) {
	value, err := q.body.value()
	if err != nil {
		c.answer(q.w, http.StatusBadRequest, refusal("BadRequest", "%v", err))
		return
	}
	c.use(q, func(th *eval.Thread) (object, error) {
		return c.agent(th, q.vars[0], func(v eval.Value) (eval.Value, error) { return th.ResumeAgent(v, value) })
	})
}
