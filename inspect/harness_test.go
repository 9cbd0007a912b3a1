package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/audit"
)

// rig is a program that ran and a console for it.
type rig struct {
	t   *testing.T
	rt  *sense.Runtime
	con *Console
	srv *httptest.Server
	out *bytes.Buffer
}

// options of a rig.
type rigOptions struct {
	dry    bool
	secret string
	files  map[string]string
}

func newRig(t *testing.T, src string, opts ...rigOptions) *rig {
	t.Helper()
	var o rigOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	dir := t.TempDir()
	for name, text := range o.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := &audit.Log{}
	if o.secret != "" {
		log.Redactor = &audit.Redactor{}
		log.Redactor.Add(o.secret)
	}
	declared := &Surface{}
	out := &bytes.Buffer{}
	rt := sense.New(context.Background(), sense.Options{Stdout: out, Audit: log, DryRun: o.dry, OnDeclare: declared.Declare, Stderr: io.Discard})
	t.Cleanup(func() { rt.Close() })
	if err := rt.RunSource(filepath.Join(dir, "x.sns"), strings.ReplaceAll(src, "DIR", dir)); err != nil {
		t.Fatal(err)
	}
	con := New(rt.Interp(), declared, Options{Path: "x.sns", DryRun: o.dry, Token: "secret-token"})
	srv := httptest.NewUnstartedServer(nil)
	srv.Config.Handler = con.Handler(srv.Listener.Addr())
	srv.Start()
	t.Cleanup(srv.Close)
	return &rig{t, rt, con, srv, out}
}

// request makes a good request of the console's own page; change spoils it.
func (r *rig) request(method, path, body string, change func(q *http.Request)) *http.Response {
	r.t.Helper()
	var rd io.Reader
	if method == http.MethodPost {
		rd = strings.NewReader(body)
	}
	q, err := http.NewRequest(method, r.srv.URL+path, rd)
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer secret-token")
	q.Header.Set("Origin", r.srv.URL)
	q.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		q.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(q)
	}
	resp, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// answer is a decoded answer.
type answer map[string]any

func (r *rig) decode(resp *http.Response) answer {
	r.t.Helper()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var a answer
	if err := dec.Decode(&a); err != nil {
		r.t.Fatalf("no JSON: %v: %.300s", err, raw)
	}
	return a
}

func (r *rig) get(path string) answer {
	r.t.Helper()
	return r.decode(r.request("GET", path, "", nil))
}

func (r *rig) post(path, body string) answer {
	r.t.Helper()
	return r.decode(r.request("POST", path, body, nil))
}

// at gives a value inside an answer: keys and indexes, one after the other.
func (a answer) at(path ...any) any {
	var v any = map[string]any(a)
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// want compares a value inside an answer as JSON text.
func (r *rig) want(a answer, want string, path ...any) {
	r.t.Helper()
	b, err := json.Marshal(a.at(path...))
	if err != nil {
		r.t.Fatal(err)
	}
	var x, y bytes.Buffer
	if json.Compact(&x, []byte(want)) != nil || json.Compact(&y, b) != nil || x.String() != y.String() {
		r.t.Errorf("%v: got %s, want %s", path, b, want)
	}
}

// failsWith checks a failed answer.
func (r *rig) failsWith(a answer, kind, message string) {
	r.t.Helper()
	if a["ok"] != false || a["error"] != kind || !strings.Contains(fmt.Sprint(a["message"]), message) {
		r.t.Errorf("got %v, want %s with %q", a, kind, message)
	}
}

func key(s string) string { return url.PathEscape(s) }

// prepare prepares an action and gives its id.
func (r *rig) prepare(name, args string) string {
	r.t.Helper()
	a := r.post("/api/action/"+key(name)+"/prepare", `{"args":`+args+`}`)
	id, _ := a["id"].(string)
	if id == "" {
		r.t.Fatalf("not prepared: %v", a)
	}
	return id
}

// step makes a step and checks the state that it ends in.
func (r *rig) step(id, step, body, state string) answer {
	r.t.Helper()
	a := r.post("/api/action/"+id+"/"+step, body)
	if a["state"] != state {
		r.t.Errorf("%s: got %v, want the state %s", step, a, state)
	}
	return a
}

// listen serves the console as the command does and gives the address.
func listen(t *testing.T, c *Console) string {
	t.Helper()
	l, err := Listen("0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("serve: %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("the console does not end")
		}
	})
	return l.Addr().(*net.TCPAddr).String()
}
