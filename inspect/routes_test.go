package inspect

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const program = `
policy:
    deny email.send
    allow files.read
memory facts: "semantic"
facts.remember("a", 1)
facts.remember("b", [1, "x"])
persistent memory notes: "DIR/notes.db"
notes.remember("k", "v1")
notes.remember("k", 123456789012345678901)
tool greet(name: String, n: Int) returns String "Greets someone.":
    "A docstring."
    return "hello " + name
tool send(to: String) requires email.send "Sends.":
    return to
tool boom():
    return 1/0
tool lost():
    return nowhere
tool give(x):
    return [1, 2.5, "a", nil, true, give, x]
async tool slow(x):
    return x
irreversible action wire(amount: Int) requires approval, bank.pay:
    "Pays."
    print("paid", amount)
    return amount
irreversible action purge(what):
    print("purged", what)
reversible action mark(x):
    print("marked", x)
    return x
rollback:
    print("unmarked", x)
reversible action bad(x):
    return 1/0
rollback:
    print("unmarked", x)
irreversible action forbidden() requires email.send:
    print("never")
agent helper:
    "Helps."
    answer = pause("what now?")
    print("got", answer)
    name = ask_human("who?")
    print("hi", name)
agent broken:
    x = 1/0
async agent bg:
    x = pause("async why")
def f():
    tool greet(z):
        return z
    return greet
f()
skill("s/1", "desc", [greet])
`

func TestSurface(t *testing.T) {
	r := newRig(t, program)
	a := r.get("/api/surface")
	r.want(a, `true`, "ok")
	r.want(a, `false`, "dry_run")
	r.want(a, `"Greets someone."`, "tools", "greet#1", "description")
	r.want(a, `"A docstring."`, "tools", "greet#1", "doc")
	r.want(a, `"String"`, "tools", "greet#1", "returns")
	r.want(a, `[{"name":"name","optional":false,"schema":{"type":"string"},"type":"String"},{"name":"n","optional":false,"schema":{"type":"integer"},"type":"Int"}]`, "tools", "greet#1", "params")
	r.want(a, `null`, "tools", "greet#2", "description")
	r.want(a, `"z"`, "tools", "greet#2", "params", 0, "name")
	r.want(a, `true`, "tools", "slow", "async")
	r.want(a, `"email.send"`, "tools", "send", "requires")
	r.want(a, `false`, "tools", "send", "decisions", 0, "allowed")
	r.want(a, `"irreversible"`, "actions", "wire", "kind")
	r.want(a, `true`, "actions", "wire", "requires_approval")
	r.want(a, `"bank.pay"`, "actions", "wire", "requires")
	r.want(a, `true`, "actions", "mark", "has_rollback")
	r.want(a, `"Helps."`, "agents", "helper", "doc")
	r.want(a, `"created"`, "agents", "helper", "status")
	r.want(a, `true`, "agents", "bg", "async")
	r.want(a, `["a","b"]`, "memories", "facts", "keys")
	r.want(a, `"semantic"`, "memories", "facts", "hint")
	if s := fmt.Sprint(a.at("memories", "facts", "declared_at")); !strings.HasSuffix(s, "x.sns:5") {
		t.Errorf("declared at %s", s)
	}
	r.want(a, `"persistent_memory"`, "memories", "notes", "kind")
	r.want(a, `["greet"]`, "skills", "s/1", "tools")
	r.want(a, `{}`, "mcp_servers")
	r.want(a, `{"bank.pay":true,"email.send":false}`, "policy")
	r.want(a, `[]`, "prepared")
	for _, d := range a.at("decisions").([]any) {
		if s := fmt.Sprint(d); strings.Contains(s, "email.send") && !strings.Contains(s, "decided by 'deny email.send' at ") {
			t.Errorf("no deciding rule: %s", s)
		}
	}
}

func TestToolCalls(t *testing.T) {
	r := newRig(t, program)
	for _, x := range []struct{ key, body, result, kind, message string }{
		{"greet#1", `{"args":["bob",1]}`, `"hello bob"`, "", ""},
		{"greet", `{"args":["bob",1]}`, `"hello bob"`, "", ""},
		{"greet#2", `{"args":[{"a":[1,{"b":null}]}]}`, `{"a":[1,{"b":null}]}`, "", ""},
		{"greet#2", `{"args":[123456789012345678901234567890]}`, `123456789012345678901234567890`, "", ""},
		{"give", `{"args":[1.0]}`, `[1,2.5,"a",null,true,"\u003ctool give\u003e",1.0]`, "", ""},
		{"slow", `{"args":[7]}`, `7`, "", ""},
		{"greet#1", `{"args":["bob"]}`, "", "SenseRuntimeError", "'greet' expects 2 argument(s), got 1"},
		{"greet#1", ``, "", "SenseRuntimeError", "'greet' expects 2 argument(s), got 0"},
		{"greet#1", `{"args":null}`, "", "SenseRuntimeError", "'greet' expects 2 argument(s), got 0"},
		{"greet#1", `{"args":["bob","x"]}`, "", "SenseTypeError", "argument 'n' of 'greet' expects Int, got String"},
		{"send", `{"args":["x"]}`, "", "SensePolicyError", "tool 'send' requires capability 'email.send', which is denied by policy"},
		{"boom", `{"args":[]}`, "", "SenseRuntimeError", "division by zero"},
		{"lost", `{}`, "", "SenseNameError", "undefined variable 'nowhere'"},
		{"nope", `{}`, "", "SenseRuntimeError", "no tool named 'nope'"},
		{"greet#3", `{}`, "", "SenseRuntimeError", "no tool named 'greet#3'"},
	} {
		a := r.post("/api/tool/"+key(x.key)+"/call", x.body)
		if x.kind != "" {
			r.failsWith(a, x.kind, x.message)
			continue
		}
		r.want(a, `true`, "ok")
		r.want(a, x.result, "result")
	}
	a := r.post("/api/tool/boom/call", `{}`)
	r.want(a, `17`, "line")
	a = r.post("/api/tool/send/call", `{"args":["x"]}`)
	if !strings.Contains(fmt.Sprint(a["notes"]), "decided by 'deny email.send' at ") {
		t.Errorf("no deciding rule: %v", a)
	}
}

func TestActionToItsEnd(t *testing.T) {
	r := newRig(t, program)
	id := r.prepare("mark", `[7]`)
	a := r.get("/api/surface")
	r.want(a, `"prepared"`, "prepared", 0, "state")
	r.want(a, `[{"name":"x","text":"7","type":"Int","value":7}]`, "prepared", 0, "args")
	r.failsWith(r.step(id, "commit", `{}`, "prepared"), "SenseRuntimeError", "must be verified before .commit()")
	r.want(r.step(id, "verify", `{}`, "verified"), `true`, "ok")
	r.failsWith(r.step(id, "verify", `{}`, "verified"), "SenseRuntimeError", "cannot verify action 'mark'")
	r.want(r.step(id, "commit", `{}`, "committed"), `7`, "result")
	r.want(r.step(id, "rollback", `{}`, "rolled_back"), `true`, "ok")
	r.failsWith(r.step(id, "rollback", `{}`, "rolled_back"), "SenseRuntimeError", "cannot rollback action 'mark'")
	if s := r.out.String(); s != "marked 7\nunmarked 7\n" {
		t.Errorf("printed %q", s)
	}
}

func TestActionsThatFail(t *testing.T) {
	r := newRig(t, program)
	r.failsWith(r.post("/api/action/nope/prepare", `{}`), "SenseRuntimeError", "no action named 'nope'")
	r.failsWith(r.post("/api/action/wire/prepare", `{"args":["x"]}`), "SenseTypeError", "argument 'amount' of 'wire' expects Int, got String")
	r.failsWith(r.post("/api/action/nope/verify", `{}`), "SenseRuntimeError", "no prepared action instance 'nope' (the console may have restarted)")
	id := r.prepare("bad", `[1]`)
	r.step(id, "verify", `{}`, "verified")
	r.failsWith(r.step(id, "commit", `{}`, "failed"), "SenseRuntimeError", "division by zero")
	id = r.prepare("forbidden", `[]`)
	r.failsWith(r.step(id, "verify", `{}`, "denied"), "SensePolicyError", "requires capability 'email.send'")
}

// W5: what cannot be undone is committed only with the phrase of this very
// action and its arguments.
func TestW5IrreversibleCommit(t *testing.T) {
	r := newRig(t, program)
	id, other := r.prepare("wire", `[5]`), r.prepare("wire", `[6]`)
	r.step(id, "verify", `{}`, "verified")
	r.failsWith(r.step(id, "commit", `{}`, "verified"), "SenseApprovalError", "requires approval before commit()")
	r.want(r.step(id, "approve", `{}`, "verified"), `true`, "approved")
	a := r.step(id, "commit", `{}`, "verified")
	r.failsWith(a, "ConfirmationRequired", "cannot be undone")
	phrase, _ := a["confirm"].(string)
	foreign, _ := r.get("/api/surface").at("prepared", 1, "confirm").(string)
	if foreign == phrase || other == id {
		t.Error("two actions have one phrase")
	}
	for _, wrong := range []string{"yes", "wire", foreign, phrase + " ", strings.ToUpper(phrase)} {
		r.failsWith(r.step(id, "commit", `{"confirm":`+quote(wrong)+`}`, "verified"), "ConfirmationRequired", "does not confirm")
	}
	if r.out.Len() != 0 {
		t.Fatalf("committed without the phrase: %s", r.out)
	}
	r.want(r.step(id, "commit", `{"confirm":`+quote(phrase)+`}`, "committed"), `5`, "result")
	r.failsWith(r.step(id, "commit", `{"confirm":`+quote(phrase)+`}`, "committed"), "SenseRuntimeError", "must be verified")
	r.failsWith(r.step(id, "rollback", `{}`, "committed"), "SenseRuntimeError", "only a reversible action can be rolled back")
	if s := r.out.String(); s != "paid 5\n" {
		t.Errorf("printed %q", s)
	}
}

func quote(s string) string {
	e := &encoder{redact: func(s string) string { return s }}
	e.text(s)
	return e.b.String()
}

func TestDryRunAsksNothingAndDoesNothing(t *testing.T) {
	r := newRig(t, program, rigOptions{dry: true})
	r.want(r.get("/api/surface"), `true`, "dry_run")
	id := r.prepare("purge", `["all"]`)
	r.step(id, "verify", `{}`, "verified")
	r.want(r.step(id, "commit", `{}`, "committed"), `null`, "result")
	if r.out.Len() != 0 {
		t.Errorf("printed %q", r.out)
	}
}

func TestAgents(t *testing.T) {
	r := newRig(t, program)
	a := r.post("/api/agent/helper/start", `{}`)
	r.want(a, `"paused"`, "status")
	r.want(a, `"what now?"`, "pause_reason")
	r.failsWith(r.post("/api/agent/helper/start", `{}`), "SenseRuntimeError", "has already been started (status: paused)")
	r.want(r.post("/api/agent/helper/resume", `{"value":[1,2]}`), `"who?"`, "pause_reason")
	r.want(r.post("/api/agent/helper/resume", `{"value":"Ann"}`), `"completed"`, "status")
	r.failsWith(r.post("/api/agent/helper/resume", ``), "SenseRuntimeError", "cannot resume agent 'helper'")
	r.failsWith(r.post("/api/agent/broken/start", `{}`), "SenseRuntimeError", "division by zero")
	r.want(r.get("/api/surface"), `"division by zero"`, "agents", "broken", "failure")
	r.failsWith(r.post("/api/agent/nope/start", `{}`), "SenseRuntimeError", "no agent named 'nope'")
	r.want(r.post("/api/agent/bg/start", `{}`), `true`, "ok")
	if s := r.out.String(); s != "got [1, 2]\nhi Ann\n" {
		t.Errorf("printed %q", s)
	}
}

func TestMemories(t *testing.T) {
	r := newRig(t, program)
	a := r.get("/api/memory/facts")
	r.want(a, `{"a":1,"b":[1,"x"]}`, "entries")
	r.want(a, `"[1, x]"`, "texts", "b")
	r.want(a, `"semantic"`, "hint")
	a = r.get("/api/memory/notes")
	r.want(a, `{"k":123456789012345678901}`, "entries")
	r.want(a, `"persistent_memory"`, "kind")
	a = r.get("/api/memory/notes/history/k")
	if h := fmt.Sprint(a["history"]); !strings.Contains(h, "[v1] remember 'k' = v1 (") || !strings.Contains(h, "[v2] remember 'k' = 123456789012345678901 (") {
		t.Errorf("history %s", h)
	}
	r.want(r.get("/api/memory/notes/history/none"), `[]`, "history")
	r.want(r.get("/api/memory/notes/history/a%2Fb"), `"a/b"`, "key")
	r.failsWith(r.get("/api/memory/facts/history/a"), "SenseRuntimeError", "'facts' is not a persistent memory")
	r.failsWith(r.get("/api/memory/nope"), "SenseRuntimeError", "no memory named 'nope'")
	r.failsWith(r.get("/api/memory/nope/history/k"), "SenseRuntimeError", "no memory named 'nope'")
}

func TestAuditNewestFirst(t *testing.T) {
	r := newRig(t, program)
	r.post("/api/tool/boom/call", `{}`)
	r.post("/api/tool/send/call", `{"args":["x"]}`)
	a := r.get("/api/audit-log")
	r.want(a, `"send"`, "entries", 0, "action_name")
	r.want(a, `"denied"`, "entries", 0, "event")
	r.want(a, `"capability 'email.send' denied by policy"`, "entries", 0, "detail")
	r.want(a, `"boom"`, "entries", 1, "action_name")
	r.want(a, `2`, "total")
	a = r.get("/api/audit-log?after=1&limit=5")
	r.want(a, `2`, "entries", 0, "number")
	r.want(a, `null`, "entries", 1)
	for _, q := range []string{"?after=-1", "?limit=x", "?after=99999999999999999999"} {
		r.want(r.get("/api/audit-log"+q), `2`, "total")
	}
	if n := len(r.get("/api/audit-log?limit=0").at("entries").([]any)); n != 0 {
		t.Errorf("limit 0 gave %d entries", n)
	}
}

func TestUnknownRoutes(t *testing.T) {
	r := newRig(t, program)
	for _, x := range [][2]string{
		{"GET", "/nope"}, {"GET", "/api/nope"}, {"POST", "/api/nope"}, {"POST", "/api/surface"}, {"GET", "/api"}, {"GET", "/api/"},
		{"GET", "/api/tool/greet/call"}, {"POST", "/api/action/1/frob"}, {"POST", "/api/tool//x/call"}, {"GET", "/../api/surface"},
		{"GET", "/api/memory"}, {"DELETE", "/api/surface"}, {"POST", "/"}, {"GET", "/page/app.js"}, {"GET", "/app.go"}, {"GET", "/api/memory/%zz"},
	} {
		if x[1] == "/api/memory/%zz" {
			continue // the client refuses to send it
		}
		resp := r.request(x[0], x[1], "{}", nil)
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%v: status %d", x, resp.StatusCode)
		}
		r.failsWith(r.decode(resp), "NotFound", "no route for "+x[0])
	}
}
