package sense_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/mcp/serve"
)

// The examples that reach out run here against servers. Their golden outputs are
// those of TestExamples, which plays the tapes that -update records here.

// runExample runs an example from the root and gives what it printed, its
// standard error and its exit status.
func runExample(t *testing.T, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t, "sense"), append([]string{"run"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// likeTape runs an example against its server and holds that it prints what its
// golden output has. With -update its tape is recorded, with the address put in
// the place of the server's own.
func likeTape(t *testing.T, name, own, address string, env []string, args ...string) {
	t.Helper()
	scratch := filepath.Join(t.TempDir(), "tape")
	out, stderr, status := runExample(t, env, append([]string{"--record", scratch}, args...)...)
	if status != 0 {
		t.Fatalf("status %d\n%s%s", status, out, stderr)
	}
	if *update {
		writeGolden(t, "examples/data/"+name+".tape", strings.ReplaceAll(readFile(t, scratch), own, address))
		writeGolden(t, "testdata/examples/"+name+".out", out)
	}
	if want := readFile(t, "testdata/examples/"+name+".out"); out != want {
		t.Errorf("%s beside its server differs from its tape\n%s", name, diffText(name, want, out))
	}
	for _, secret := range []string{exampleToken} {
		if strings.Contains(readFile(t, scratch), secret) {
			t.Errorf("the tape holds the token")
		}
	}
}

const exampleToken = "example-token-0123456789"

// taskAPI is the API of examples/api-client.sns.
type taskAPI struct {
	mu    sync.Mutex
	tasks []map[string]any
	busy  int // so many requests are turned away
	wrong []string
}

func newTaskAPI() *taskAPI {
	return &taskAPI{busy: 1, tasks: []map[string]any{
		{"id": 1, "title": "Order tea", "owner": "ann", "done": false},
		{"id": 2, "title": "Fix the door", "owner": "bob", "done": true},
		{"id": 3, "title": "Plan the party", "owner": "bob", "done": false},
	}}
}

func (a *taskAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	status, answer := a.answer(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", "Mon, 02 Mar 2026 08:00:00 GMT") // a tape is committed
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

func (a *taskAPI) answer(w http.ResponseWriter, r *http.Request) (int, any) {
	if r.Header.Get("Authorization") != "Bearer "+exampleToken {
		return http.StatusUnauthorized, map[string]any{"error": "who are you?"}
	}
	id, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/tasks/")) // none is no task
	switch {
	case r.Method == "GET" && r.URL.Path == "/tasks":
		return a.page(r)
	case r.Method == "POST" && r.URL.Path == "/tasks":
		if a.busy > 0 {
			a.busy--
			w.Header().Set("Retry-After", "0")
			return http.StatusServiceUnavailable, map[string]any{"error": "one moment"}
		}
		task := map[string]any{}
		if err := json.NewDecoder(r.Body).Decode(&task); err != nil || task["title"] == nil {
			a.wrong = append(a.wrong, fmt.Sprint("POST without a title: ", err))
		}
		task["id"], task["done"] = len(a.tasks)+1, false
		a.tasks = append(a.tasks, task)
		return http.StatusCreated, task
	case r.Method == "PATCH" && id > 0 && id <= len(a.tasks):
		if err := json.NewDecoder(r.Body).Decode(&a.tasks[id-1]); err != nil {
			a.wrong = append(a.wrong, err.Error())
		}
		return http.StatusOK, a.tasks[id-1]
	case strings.HasPrefix(r.URL.Path, "/tasks/"):
		return http.StatusNotFound, map[string]any{"error": "no task " + strings.TrimPrefix(r.URL.Path, "/tasks/")}
	}
	return http.StatusNotFound, map[string]any{}
}

func (a *taskAPI) page(r *http.Request) (int, any) {
	from, _ := strconv.Atoi(r.URL.Query().Get("from")) // none is 0
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || from > len(a.tasks) {
		return http.StatusBadRequest, map[string]any{"error": "limit is no number"}
	}
	to := min(from+limit, len(a.tasks))
	page := map[string]any{"tasks": a.tasks[from:to]}
	if to < len(a.tasks) {
		page["next"] = fmt.Sprintf("/tasks?limit=%d&from=%d", limit, to)
	}
	return http.StatusOK, page
}

func TestExampleAPIClient(t *testing.T) {
	api := newTaskAPI()
	server := httptest.NewServer(api)
	defer server.Close()
	own := strings.TrimPrefix(server.URL, "http://")
	likeTape(t, "api-client", own, "127.0.0.1:8080", []string{"TASKS_TOKEN=" + exampleToken}, "examples/api-client.sns", server.URL)
	if len(api.wrong) > 0 || len(api.tasks) != 4 || api.tasks[3]["done"] != true {
		t.Errorf("the API saw %q and has %v", api.wrong, api.tasks)
	}
	for what, env := range map[string][]string{
		"the API does not know the token (set TASKS_TOKEN)":       {"TASKS_URL=" + server.URL + "/", "TASKS_TOKEN=wrong"},
		"where is the API? Give its address, or set TASKS_URL":    nil,
		"std.http.request: '127.0.0.1:1' refuses connections":     {"TASKS_URL=http://127.0.0.1:1"},
		"std.http.request requires capability 'net.http', which ": {"TASKS_URL=" + server.URL, "DENIED=1"},
	} {
		args := []string{"examples/api-client.sns"}
		if len(env) == 2 && env[1] == "DENIED=1" {
			args = append(args, "--deny", "net.http")
		}
		out, stderr, status := runExample(t, env, args...)
		if status != 1 || !strings.Contains(stderr, what) || strings.Contains(stderr, exampleToken) {
			t.Errorf("status %d, want 1 and %s\n%s%s", status, what, out, stderr)
		}
	}
}

// serveExample serves a program over HTTP to those who have a token, and gives
// its URL.
func serveExample(t *testing.T, path, token string) string {
	t.Helper()
	declared := &sense.Declarations{}
	r := sense.New(context.Background(), sense.Options{OnDeclare: declared.Add})
	if err := r.RunFile(path); err != nil {
		t.Fatal(err)
	}
	server, err := sense.NewMCPServer(r, "issues", path, declared)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve.HTTP(ctx, server, l, token) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.Close()
	})
	return "http://" + l.Addr().String() + serve.Path
}

func TestExampleListIssues(t *testing.T) {
	url := serveExample(t, "examples/servers/issues.sns", exampleToken)
	likeTape(t, "list-issues", url, "http://127.0.0.1:8321/mcp", []string{"ISSUES_URL=" + url, "GITHUB_TOKEN=" + exampleToken}, "examples/list-issues.sns")
	for want, env := range map[string]string{
		"headers.Authorization needs the environment variable GITHUB_TOKEN, which is not set": "GITHUB_TOKEN=",
		"connect_mcp() failed to connect to 'github': ":                                       "GITHUB_TOKEN=wrong-token-0123456789",
	} {
		out, stderr, status := runExample(t, []string{"ISSUES_URL=" + url, env}, "examples/list-issues.sns")
		if status != 1 || !strings.Contains(stderr, want) || strings.Contains(stderr, "wrong-token") {
			t.Errorf("status %d, want 1 and %s\n%s%s", status, want, out, stderr)
		}
	}
	out, _, status := runExample(t, []string{"ISSUES_URL=" + url, "GITHUB_TOKEN=" + exampleToken}, "examples/list-issues.sns", "--deny", "mcp.github.list_issues")
	if status != 1 || strings.Contains(out, "open issues") {
		t.Errorf("a denied tool ran: status %d\n%s", status, out)
	}
}
