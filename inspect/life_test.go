package inspect

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/eval"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(int) { http.DefaultTransport.(*http.Transport).CloseIdleConnections() }))
}

// waiting asks for a call's answer until it is there.
func (r *rig) waiting(a answer) answer {
	r.t.Helper()
	id, _ := a["call"].(string)
	if a["pending"] != true || id == "" {
		r.t.Fatalf("not pending: %v", a)
	}
	return r.get("/api/call/" + id)
}

func (r *rig) atOnce(path, body string) answer {
	r.t.Helper()
	return r.decode(r.request("POST", path, body, func(q *http.Request) { q.Header.Set("Prefer", "wait=0") }))
}

const waits = `
agent listener:
    m = receive()
    print("got", m)
tool tell(m):
    send(listener, m)
reversible action listen_twice():
    m = await(start_one())
    return m
rollback:
    x = 1
async agent one:
    m = receive()
def start_one():
    start(one)
    return one
tool tell_one():
    send(one, "x")
`

// A call that waits is answered with its id, does not hold up others, and its
// answer comes when what it waits for was done by another call.
func TestCallThatWaits(t *testing.T) {
	r := newRig(t, waits)
	a := r.atOnce("/api/agent/listener/start", `{}`)
	r.want(r.get("/api/surface"), `"running"`, "agents", "listener", "status")
	r.want(r.post("/api/tool/tell/call", `{"args":["hello"]}`), `true`, "ok")
	r.want(r.waiting(a), `"completed"`, "status")
	if r.out.String() != "got hello\n" {
		t.Errorf("printed %q", r.out)
	}
	r.failsWith(r.get("/api/call/none"), "NotFound", "no call 'none'")
}

// One action makes one step at a time: a second click while its body waits
// commits nothing twice.
func TestNoStepTwiceAtOnce(t *testing.T) {
	r := newRig(t, waits)
	id := r.prepare("listen_twice", `[]`)
	r.step(id, "verify", `{}`, "verified")
	a := r.atOnce("/api/action/"+id+"/commit", `{}`)
	for !strings.Contains(fmt.Sprint(r.get("/api/surface").at("prepared", 0)), "running:true") {
	}
	r.failsWith(r.step(id, "commit", `{}`, "verified"), "SenseRuntimeError", "is still running")
	r.want(r.post("/api/tool/tell_one/call", `{}`), `true`, "ok")
	r.want(r.waiting(a), `"committed"`, "state")
}

func TestTooManyCallsAtOnce(t *testing.T) {
	var src strings.Builder
	for i := range maxRunning + 1 {
		fmt.Fprintf(&src, "agent a%d:\n    m = receive()\n", i)
	}
	r := newRig(t, src.String())
	for i := range maxRunning {
		if a := r.atOnce(fmt.Sprintf("/api/agent/a%d/start", i), `{}`); a["pending"] != true {
			t.Fatalf("%v", a)
		}
	}
	r.refused(503, "POST", fmt.Sprintf("/api/agent/a%d/start", maxRunning), `{}`, nil)
	r.want(r.get("/api/surface"), `true`, "ok") // looking is always possible
}

// The end of the program ends every call, and the console with it, in bounded
// time.
func TestEndWhileCallsRun(t *testing.T) {
	declared := &Surface{}
	ctx, stop := context.WithCancel(context.Background())
	rt := sense.New(ctx, sense.Options{OnDeclare: declared.Declare})
	if err := rt.RunSource("x.sns", "agent a:\n    m = receive()\ntool spin():\n    while true:\n        x = 1\n"); err != nil {
		t.Fatal(err)
	}
	con := New(rt.Interp(), declared, Options{Token: "secret-token"})
	l, err := Listen("0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- con.Serve(ctx, l) }()
	var wg sync.WaitGroup
	for _, path := range []string{"/api/agent/a/start", "/api/tool/spin/call"} {
		wg.Go(func() {
			q, _ := http.NewRequest("POST", "http://"+l.Addr().String()+path, strings.NewReader("{}"))
			q.Header.Set("Authorization", "Bearer secret-token")
			q.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultTransport.RoundTrip(q)
			if err != nil {
				return // cut off at the end
			}
			defer resp.Body.Close()
			if b, _ := io.ReadAll(resp.Body); !strings.Contains(string(b), "SenseInterrupt") {
				t.Errorf("%s: %s", path, b)
			}
		})
	}
	for con.calls.count() < 2 {
		time.Sleep(time.Millisecond)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	if !con.Settle(time.Minute) {
		t.Error("calls still run")
	}
	rt.Close()
	wg.Wait()
}

// count gives how many calls run.
func (cs *calls) count() int {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.running
}

// The policy around a declaration holds, and that of the main module as the
// caller's.
func TestPolicyHoldsWhereDeclared(t *testing.T) {
	r := newRig(t, `
import "lib.sns"
session quiet:
    policy: deny mail
    tool inner() requires mail "d":
        return 1
def f():
    policy: deny disk
    def g():
        tool deep() requires disk "d":
            return 1
        irreversible action act() requires disk:
            return 1
    g()
f()
tool outer() requires mail "d":
    return helper()
def helper():
    return inner_lib()
tool inner_lib() requires net "d":
    return 1
policy: deny net
`, rigOptions{files: map[string]string{"lib.sns": `
policy:
    deny own
    allow net
tool foreign() requires own "d":
    return 1
tool lifted() requires net "d":
    return 1
`}})
	for _, x := range [][2]string{
		{"inner", "deny mail"}, {"deep", "deny disk"}, {"foreign", "deny own"}, {"lifted", "deny net"}, {"inner_lib", "deny net"}, {"outer", "deny net"},
	} {
		a := r.post("/api/tool/"+x[0]+"/call", `{}`)
		r.failsWith(a, "SensePolicyError", "denied by policy")
		if !strings.Contains(fmt.Sprint(a["notes"]), "'"+x[1]+"'") {
			t.Errorf("%s: decided by %v, want %s", x[0], a["notes"], x[1])
		}
	}
	id := r.prepare("act", `[]`)
	r.failsWith(r.step(id, "verify", `{}`, "denied"), "SensePolicyError", "denied by policy")
	a := r.get("/api/surface")
	r.want(a, `true`, "tools", "outer", "decisions", 0, "allowed")
	r.want(a, `false`, "tools", "inner", "decisions", 0, "allowed")
	r.want(a, `"deny disk"`, "actions", "act", "decisions", 0, "rule")
	r.want(a, `false`, "policy", "net")
	r.want(a, `true`, "policy", "mail")
}

func TestServerToolsFromTheConsole(t *testing.T) {
	stub := filepath.Join(t.TempDir(), "stub")
	if out, err := exec.Command("go", "build", "-o", stub, "../internal/cmd/stubmcp").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := newRig(t, `
policy: deny mcp.no
s = connect_mcp("st", "`+stub+`", [], "mcp.st")
n = connect_mcp("no", "`+stub+`", [], "mcp.no")
skill("sk", "d", [s.tools[0]])
`)
	a := r.get("/api/surface")
	r.want(a, `"mcp.st"`, "mcp_servers", "st", "capability")
	r.want(a, `"echo"`, "mcp_servers", "st", "tools", 0)
	r.want(a, `"st.echo"`, "mcp_servers", "st", "tool_details", 0, "key")
	r.want(a, `true`, "mcp_servers", "st", "tool_details", 0, "allowed")
	r.want(a, `false`, "mcp_servers", "no", "tool_details", 0, "allowed")
	r.want(a, `["echo"]`, "skills", "sk", "tools")
	r.want(a, `{"mcp.no":false,"mcp.st":true}`, "policy")
	r.want(r.post("/api/tool/st.echo/call", `{"args":[{"text":"<b>hi</b>"}]}`), `"\u003cb\u003ehi\u003c/b\u003e"`, "result")
	r.failsWith(r.post("/api/tool/no.echo/call", `{"args":[{"text":"x"}]}`), "SensePolicyError", "denied by policy")
	r.failsWith(r.post("/api/tool/st.fail/call", `{}`), "SenseRuntimeError", "mcp tool 'st.fail' failed")
	r.failsWith(r.post("/api/tool/st.echo/call", `{"args":["x"]}`), "SenseTypeError", "expects an object of arguments, got String")
	r.failsWith(r.post("/api/tool/st.echo/call", `{"args":[{},{}]}`), "SenseRuntimeError", "expects one object of arguments, got 2")
	r.failsWith(r.post("/api/tool/st.none/call", `{}`), "SenseRuntimeError", "no tool named 'st.none'")
}

// A1: what the run knows to be secret is in no answer.
func TestSecretsAreInNoAnswer(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	r := newRig(t, `
memory m
m.remember("k", "the `+secret+`")
persistent memory p: "DIR/p.db"
p.remember("k", "`+secret+`")
tool give(x) "knows `+secret+`":
    return ["`+secret+`", x]
tool fail():
    assert(false, "`+secret+`")
agent a:
    "`+secret+`"
    x = pause("`+secret+`")
reversible action act(x):
    return x
rollback:
    x = 1
skill("`+secret+`", "`+secret+`", [give])
`, rigOptions{secret: secret})
	id := r.prepare("act", `["`+secret+`"]`)
	for _, x := range [][3]string{
		{"POST", "/api/tool/give/call", `{"args":["` + secret + `"]}`}, {"POST", "/api/tool/fail/call", `{}`}, {"POST", "/api/agent/a/start", `{}`},
		{"POST", "/api/action/" + id + "/verify", `{}`}, {"POST", "/api/action/" + id + "/commit", `{}`},
		{"POST", "/api/action/" + id + "/commit", `{"confirm":"` + secret + `"}`}, {"GET", "/api/surface", ""}, {"GET", "/api/memory/m", ""},
		{"GET", "/api/memory/p", ""}, {"GET", "/api/memory/p/history/k", ""}, {"GET", "/api/audit-log", ""}, {"GET", "/api/memory/" + secret, ""},
	} {
		b, err := io.ReadAll(r.request(x[0], x[1], x[2], nil).Body)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), secret) {
			t.Errorf("%s %s: %.500s", x[0], x[1], b)
		}
	}
}

func TestNamesAreKeysInOrder(t *testing.T) {
	s := &Surface{}
	declare := func(kind, name string) { s.Declare(eval.Declared{Kind: kind, Name: name}) }
	declare("tool", "b")
	declare("tool", "a")
	declare("agent", "b")
	declare("tool", "b")
	var keys []string
	for _, it := range s.of("tool") {
		keys = append(keys, it.key)
	}
	if got := strings.Join(keys, " "); got != "b#1 b#2 a" {
		t.Errorf("keys %s", got)
	}
	if it, err := s.find("agent", "agent", "b"); err != nil || it.key != "b" {
		t.Errorf("%v %v", it, err)
	}
}

func TestDeclaringWithoutEnd(t *testing.T) {
	r := newRig(t, "def f():\n    tool t():\n        return 1\nfor i in range(1000):\n    f()\n")
	a := r.get("/api/surface")
	if n := len(a.at("tools").(map[string]any)); n != maxPerPlace {
		t.Errorf("%d tools", n)
	}
	r.want(a, `900`, "omitted")
}

func TestPreparedActionsAreBounded(t *testing.T) {
	r := newRig(t, "reversible action a(x):\n    return x\nrollback:\n    y = 1\n")
	first := r.prepare("a", `[0]`)
	for range maxPrepared {
		r.prepare("a", `[1]`)
	}
	r.failsWith(r.post("/api/action/"+first+"/verify", `{}`), "SenseRuntimeError", "no prepared action instance")
	if n := len(r.get("/api/surface").at("prepared").([]any)); n != maxPrepared {
		t.Errorf("%d prepared actions", n)
	}
}
