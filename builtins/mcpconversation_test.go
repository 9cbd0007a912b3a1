package builtins_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/model/modeltest"
)

// In a conversation of 20 calls something happens to the connection at the ninth
// or tenth. Each turn looks at the status between its second and third call.

// conversation has a model make the calls and gives their results, the statuses
// seen, and the lines of the audit.
func conversation(t *testing.T, p *program, connect string) (texts, statuses []string, audit string) {
	t.Helper()
	var turns []modeltest.Turn
	for i := range 5 {
		note := func(n int) modeltest.Call { return modeltest.CallOf("srv.note", fmt.Sprintf(`{"text":"n%d"}`, 4*i+n)) }
		turns = append(turns, modeltest.Calls(note(0), note(1), modeltest.CallOf("look", `{}`), note(2), note(3)))
	}
	asked := asks(t, p, connect+`
model m = inference("anthropic")
set delegation = m
tool look() returns String "Tells how the connection is":
    return "status " + s.status
print(ask_with_tools("go", s.tools + [look]).value)
while s.status != "connected": s.ping()
print(s.status, s.error, mcp_status())
s.close()
`, append(turns, modeltest.Text("done"))...)
	if got := p.out.String(); got != "done\nconnected nil {srv: connected}\n" {
		t.Errorf("printed %q", got)
	}
	for _, r := range asked[1:] {
		for _, text := range results(t, r) {
			if status, ok := strings.CutPrefix(text, "status "); ok {
				statuses = append(statuses, status)
			} else {
				texts = append(texts, text)
			}
		}
	}
	return texts, statuses, p.audit
}

// went compares a conversation with what must have come of it: every call was
// answered but those that failed, and the server has seen each once but those.
func went(t *testing.T, texts, seen []string, audit string, failed []int, unseen []int, why string) {
	t.Helper()
	if len(texts) != 20 {
		t.Fatalf("%d results: %q", len(texts), texts)
	}
	var want []string
	for i, text := range texts {
		n := fmt.Sprint("n", i)
		if !slices.Contains(unseen, i) {
			want = append(want, n)
		}
		if slices.Contains(failed, i) {
			if !strings.Contains(text, "error: ") || !strings.Contains(text, why) {
				t.Errorf("call %d gave %q", i, text)
			}
		} else if text != "noted "+n {
			t.Errorf("call %d gave %q", i, text)
		}
	}
	if !slices.Equal(seen, want) {
		t.Errorf("the server has seen %q, want %q", seen, want)
	}
	if called := strings.Count(audit, "tool 'srv.note' -> called"); called != 20-len(failed) {
		t.Errorf("%d calls in the audit:\n%s", called, audit)
	}
}

// only fails the test where a status is none of those given.
func only(t *testing.T, statuses []string, allowed ...string) {
	t.Helper()
	if len(statuses) != 5 {
		t.Errorf("statuses %q", statuses)
	}
	for _, s := range statuses {
		if !slices.Contains(allowed, s) {
			t.Errorf("statuses %q", statuses)
		}
	}
}

func TestServerDiesInConversation(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	var p program
	texts, statuses, audit := conversation(t, &p, `s = connect_mcp("srv", SELF, "log:`+log+`"], connect_timeout: 60, timeout: 60)`)
	lines, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	went(t, texts, strings.Fields(string(lines)), audit, []int{9}, nil, "was not sent again")
	only(t, statuses, "connected", "pending")
}

// remoteServer is an MCP server over HTTP with a login, whose connection, session
// and token can be spoilt.
type remoteServer struct {
	*httptest.Server
	mu                sync.Mutex
	at                func(s *remoteServer, text string) (drop bool) // told of each call before it is made
	after             func(s *remoteServer, text string)             // and after
	session, token    int
	guarded           bool // wants the token
	refused           map[string]bool
	seen              []string
	sessions, refresh int // how many were begun, and tokens renewed
}

func newRemote(t *testing.T) *remoteServer {
	s := &remoteServer{refused: map[string]bool{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *remoteServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path != "/mcp" {
		s.login(w, r)
		return
	}
	if s.guarded && r.Header.Get("Authorization") != fmt.Sprint("Bearer t", s.token) {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var m message
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if m.Method != "initialize" && m.Method != "server/discover" && r.Header.Get("Mcp-Session-Id") != fmt.Sprint(s.session) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.answer(w, m)
}

func (s *remoteServer) answer(w http.ResponseWriter, m message) {
	result := "{}"
	switch m.Method {
	case "initialize":
		s.sessions++
		w.Header().Set("Mcp-Session-Id", fmt.Sprint(s.session))
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"remote","version":"1"}}`
	case "tools/list":
		result = `{"tools":[` + noteTool + `]}`
	case "tools/call":
		var a struct{ Text string }
		_ = json.Unmarshal(m.Params.Arguments, &a)
		if s.refused[a.Text] {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.seen = append(s.seen, a.Text)
		if s.at != nil && s.at(s, a.Text) {
			panic(http.ErrAbortHandler)
		}
		if s.after != nil {
			s.after(s, a.Text)
		}
		result = `{"content":[{"type":"text","text":"noted ` + a.Text + `"}]}`
	case "ping":
	default:
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// login is the authorization server.
func (s *remoteServer) login(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		fmt.Fprintf(w, `{"resource":"%[1]s/mcp","authorization_servers":["%[1]s"]}`, s.URL)
	case "/.well-known/oauth-authorization-server":
		fmt.Fprintf(w, `{"issuer":"%[1]s","authorization_endpoint":"%[1]s/authorize","token_endpoint":"%[1]s/token","registration_endpoint":"%[1]s/register",
			"response_types_supported":["code"],"code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["none"]}`, s.URL)
	case "/register":
		var meta map[string]any
		_ = json.NewDecoder(r.Body).Decode(&meta)
		meta["client_id"], meta["token_endpoint_auth_method"] = "us", "none"
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(meta)
	case "/authorize":
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	case "/token":
		if r.FormValue("grant_type") == "refresh_token" {
			s.refresh++
		}
		fmt.Fprintf(w, `{"access_token":"t%d","refresh_token":"r","token_type":"Bearer","expires_in":3600}`, s.token)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *remoteServer) connect(more string) string {
	return `s = connect_mcp("srv", url: "` + s.URL + `/mcp", connect_timeout: 60, timeout: 60` + more + `)`
}

// The server goes in the middle of a call, and is back at once without what it
// knew.
func TestRemoteDropsInConversation(t *testing.T) {
	s := newRemote(t)
	s.at = func(s *remoteServer, text string) bool {
		if text != "n9" {
			return false
		}
		s.session++
		return true
	}
	var p program
	texts, statuses, audit := conversation(t, &p, s.connect(""))
	s.mu.Lock()
	defer s.mu.Unlock()
	went(t, texts, s.seen, audit, []int{9}, nil, "was not sent again")
	only(t, statuses, "connected", "pending")
	if s.sessions != 2 {
		t.Errorf("%d sessions", s.sessions)
	}
}

func TestSessionExpiresInConversation(t *testing.T) {
	s := newRemote(t)
	s.after = func(s *remoteServer, text string) {
		if text == "n9" {
			s.session++
		}
	}
	var p program
	texts, statuses, audit := conversation(t, &p, s.connect(""))
	s.mu.Lock()
	defer s.mu.Unlock()
	went(t, texts, s.seen, audit, nil, nil, "")
	only(t, statuses, "connected")
	if s.sessions != 2 {
		t.Errorf("%d sessions", s.sessions)
	}
}

// A token of the configuration is not renewed: the calls that the server refuses
// fail, and count as not logged in until one is accepted again.
func TestTokenIsRefusedInConversation(t *testing.T) {
	s := newRemote(t)
	s.refused["n8"], s.refused["n9"] = true, true
	p := program{env: map[string]string{"TOKEN": "abcdefgh"}}
	texts, statuses, audit := conversation(t, &p, s.connect(`, headers: {"Authorization": "Bearer ${TOKEN}"}`))
	s.mu.Lock()
	defer s.mu.Unlock()
	went(t, texts, s.seen, audit, []int{8, 9}, []int{8, 9}, "the server wants a login")
	if want := []string{"connected", "connected", "needs-auth", "connected", "connected"}; !slices.Equal(statuses, want) {
		t.Errorf("statuses %q", statuses)
	}
}

// memoryTokens keeps logins for a test.
type memoryTokens struct{ sync.Map }

func (m *memoryTokens) Load(server string) ([]byte, error) {
	v, _ := m.Map.Load(server)
	data, _ := v.([]byte)
	return data, nil
}

func (m *memoryTokens) Save(server string, data []byte) error {
	m.Store(server, data)
	return nil
}

func (m *memoryTokens) Delete(server string) error {
	m.Map.Delete(server)
	return nil
}

// A token of a login expires and is renewed without anybody noticing.
func TestTokenExpiresInConversation(t *testing.T) {
	s := newRemote(t)
	s.guarded = true
	s.after = func(s *remoteServer, text string) {
		if text == "n9" {
			s.token++
		}
	}
	tokens := &memoryTokens{}
	manager := mcp.NewManager()
	defer manager.CloseAll()
	manager.Tokens = tokens
	manager.Browser = func(ctx context.Context, address string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		r, err := s.Client().Do(req)
		if err == nil {
			err = r.Body.Close()
		}
		return err
	}
	if err := manager.Login(t.Context(), mcp.Config{Name: "srv", URL: s.URL + "/mcp"}); err != nil {
		t.Fatal(err)
	}
	var p program
	p.options.MCP.Tokens = tokens
	texts, statuses, audit := conversation(t, &p, s.connect(""))
	s.mu.Lock()
	defer s.mu.Unlock()
	went(t, texts, s.seen, audit, nil, nil, "")
	only(t, statuses, "connected")
	if s.refresh != 1 {
		t.Errorf("renewed %d times", s.refresh)
	}
}
