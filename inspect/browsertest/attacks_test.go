package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// attack is the page of another origin. It knows the console's address but not
// its token, and tries to run the tool whatever it can; each way is named when
// it has been tried.
const attack = `<!doctype html><title>elsewhere</title><body><script>
const target = "TARGET", body = '{"args":["owned"]}', route = target + "/api/tool/kind/call";
window.tried = [];
const done = (name) => (x) => window.tried.push(name);
const post = (name, url, init) => fetch(url, { method: "POST", body, ...init }).then(done(name), done(name));
post("fetch no-cors", route, { mode: "no-cors" });
post("fetch cors json", route, { headers: { "Content-Type": "application/json" } });
post("fetch cors text", route, { headers: { "Content-Type": "text/plain" }, credentials: "include" });
post("fetch guessed token", route, { headers: { "Content-Type": "application/json", Authorization: "Bearer guess" } });
post("fetch token in query", route + "?token=guess&args=[1]", { mode: "no-cors" });
navigator.sendBeacon(route, new Blob([body], { type: "text/plain" })); done("beacon")();
const ws = new WebSocket(target.replace("http", "ws") + "/api/tool/kind/call");
ws.onclose = done("websocket"); ws.onopen = () => ws.send(body);
const frame = document.createElement("iframe");
frame.name = "sink"; frame.onload = done("form"); document.body.append(frame);
const form = document.createElement("form");
form.method = "post"; form.enctype = "text/plain"; form.action = route; form.target = "sink";
const field = document.createElement("input");
field.name = '{"args":["owned"],"x":"'; field.value = '"}'; form.append(field);
document.body.append(form); form.submit();
</script>`

// W1: none of eight ways of a page on another origin runs a tool.
func TestW1ForeignPageRunsNothing(t *testing.T) {
	c := serve(t, "", false)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, strings.ReplaceAll(attack, "TARGET", strings.Replace(c.addr(), "127.0.0.1", host, 1)))
		}))
		p := open(t, srv.URL)
		for _, way := range []string{"fetch no-cors", "fetch cors json", "fetch cors text", "fetch guessed token", "fetch token in query", "beacon", "websocket", "form"} {
			p.wait(fmt.Sprintf("tried.includes(%q)", way))
		}
		srv.Close()
	}
	// A use of our own page comes after all of them, so none is still on its way.
	p := c.open()
	p.fill(cardOf("greet#1"), "name", "Ada")
	p.fill(cardOf("greet#1"), "times", "1")
	p.press(cardOf("greet#1"), "Call")
	p.output(cardOf("greet#1"))
	if lines := c.rt.Audit().Lines(); len(lines) != 1 || !strings.Contains(lines[0], "'greet' -> called") {
		t.Errorf("a foreign page ran something: %q", lines)
	}
}

// W2: a name that was made to point here gets nothing, page included.
func TestW2RebindingGetsNothing(t *testing.T) {
	c := serve(t, "", false)
	req, err := http.NewRequest("GET", c.addr()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example:" + c.addr()[strings.LastIndex(c.addr(), ":")+1:]
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("status %d", resp.StatusCode)
	}
}

// A page of another origin cannot put the console into a frame.
func TestForeignPageCannotFrameTheConsole(t *testing.T) {
	c := serve(t, "", false)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<iframe src="%s" onload="window.loaded = true"></iframe>`, c.url)
	}))
	defer srv.Close()
	p := open(t, srv.URL)
	p.wait("window.loaded")
	messages, _ := p.said()
	if s := strings.Join(messages, "\n"); !strings.Contains(s, "frame") && !strings.Contains(s, "403") {
		t.Errorf("nothing was said of the frame: %q", s)
	}
	if c.called() != 0 {
		t.Errorf("something ran: %s", c.audit())
	}
}

// payloads are what would run as a script wherever text became HTML.
var payloads = []string{
	`<script>alert(1)</script>`,
	`<img src=x onerror=alert(2)>`,
	`<svg onload=alert(3)>`,
	`"><script>alert(4)</script>`,
	`'><img src=x onerror=alert(5)>`,
	`<iframe src="javascript:alert(6)"></iframe>`,
	`<a href="javascript:alert(7)">x</a>`,
	`<body onload=alert(8)>`,
	`<details open ontoggle=alert(9)>`,
	`<input autofocus onfocus=alert(10)>`,
	`<video><source onerror=alert(11)></video>`,
	`<math><mtext><table><mglyph><style><img src=x onerror=alert(12)>`,
	`</title><script>alert(13)</script>`,
	`</textarea><script>alert(14)</script>`,
	`<style>@import 'http://127.0.0.1:9/x'</style>`,
	`<link rel=stylesheet href=http://127.0.0.1:9/x>`,
	`<meta http-equiv=refresh content="0;url=http://127.0.0.1:9/x">`,
	`<base href=http://127.0.0.1:9/>`,
	`<form action=http://127.0.0.1:9/><button>x</button></form>`,
	`<object data=javascript:alert(15)></object>`,
	`<embed src=javascript:alert(16)>`,
	`<svg><animate onbegin=alert(17) attributeName=x dur=1s>`,
	`{{constructor.constructor('alert(18)')()}}`,
	`${alert(19)}`,
	"\x1b]0;x\x07\u202ealert(20)\u2066",
}

// hostile is a program with a payload in every field that the page shows.
func hostile(dir string) string {
	var b strings.Builder
	b.WriteString("def call(x):\n    return x + 1\n")
	for i, p := range payloads {
		q := quoted(p)
		fmt.Fprintf(&b, "tool t%d(x) %s:\n    %s\n    return x\n", i, q, q)
		fmt.Fprintf(&b, "tool e%d():\n    assert(false, %s)\n", i, q)
		fmt.Fprintf(&b, "reversible action a%d(x):\n    %s\n    return x\nrollback:\n    y = 1\n", i, q)
		fmt.Fprintf(&b, "agent g%d:\n    %s\n    x = pause(%s)\n", i, q, q)
		fmt.Fprintf(&b, "memory m%d: %s\nm%d.remember(%s, [%s])\n", i, q, i, q, q)
		fmt.Fprintf(&b, "persistent memory p%d: %s\np%d.remember(%s, %s)\n", i, quoted(fmt.Sprintf("%s/p%d.db", dir, i)), i, q, q)
		fmt.Fprintf(&b, "skill(%s, %s, [t%d])\n", q, q, i)
	}
	return b.String()
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// W3: no payload in any field opens a dialog, loads anything or breaks the
// page's policy.
func TestW3NoPayloadRuns(t *testing.T) {
	c := serve(t, hostile(t.TempDir()), false)
	p := c.open()
	reports := `window.__reports ??= (document.addEventListener("securitypolicyviolation", (e) => window.__reports.push(e.violatedDirective)), [])`
	eval[bool](p, "("+reports+", true)")
	for i := range payloads {
		p.press(cardOf(fmt.Sprintf("e%d", i)), "Call")
		p.output(cardOf(fmt.Sprintf("e%d", i)))
		card := cardOf(fmt.Sprintf("t%d", i))
		eval[bool](p, fmt.Sprintf(`(%s.querySelector("textarea").value = %s, true)`, card, quoted(payloads[i])))
		p.press(card, "Call")
		p.output(card)
	}
	p.section("2")
	for i := range payloads {
		card := cardOf(fmt.Sprintf("a%d", i))
		eval[bool](p, fmt.Sprintf(`(%s.querySelector("textarea").value = %s, true)`, card, quoted(payloads[i])))
		p.press(card, "Prepare")
		p.wait(preparedOf(fmt.Sprintf("a%d", i)))
	}
	p.section("3")
	for i := range payloads {
		p.press(cardOf(fmt.Sprintf("g%d", i)), "Start")
		p.wait(cardOf(fmt.Sprintf("g%d", i)) + `.querySelector("form")`)
	}
	p.section("4")
	for i := range payloads {
		p.press(cardOf(fmt.Sprintf("p%d", i)), "history")
		p.wait(cardOf(fmt.Sprintf("p%d", i)) + `.querySelector(".history")`)
	}
	for _, s := range []string{"5", "6", "7", "8", "1"} {
		p.section(s)
	}
	p.wait(`document.querySelector("#audit .log").children.length >= 50`)
	if n := eval[int](p, `document.querySelectorAll("main script, main img, main iframe, main svg, main object, main embed, main link, main style, main base, main meta, main a, main video, main math").length`); n != 0 {
		t.Errorf("%d elements were made of text", n)
	}
	if n := eval[int](p, `[...document.body.innerText].filter((c) => /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(c)).length`); n != 0 {
		t.Errorf("%d control characters are shown raw", n)
	}
	messages, dialogs := p.said()
	if len(dialogs) > 0 {
		t.Errorf("dialogs opened: %q", dialogs)
	}
	if len(messages) > 0 {
		t.Errorf("the browser complains: %q", messages)
	}
	if r := eval[[]string](p, "window.__reports"); len(r) > 0 {
		t.Errorf("the page's policy was broken: %q", r)
	}
}
