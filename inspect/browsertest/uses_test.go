package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// has fails unless the text holds all the pieces.
func has(t *testing.T, text string, pieces ...string) {
	t.Helper()
	for _, s := range pieces {
		if !strings.Contains(text, s) {
			t.Errorf("%q is missing in:\n%s", s, text)
		}
	}
}

func TestCallToolByKeyboard(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	card := cardOf("greet#1")
	p.fill(card, "name", "Ada")
	p.keys(kb.Tab)
	p.keys("2" + kb.Enter)
	has(t, p.output(card), "gave String", "hello Ada! hello Ada!")
	has(t, c.audit(), "tool 'greet' -> called")
}

func TestToolFormRefusesWhatIsNoNumber(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	card := cardOf("greet#1")
	p.fill(card, "name", "Ada")
	p.fill(card, "times", "two")
	p.press(card, "Call")
	p.wait(card + `.querySelector("[aria-invalid]") === document.activeElement`)
	has(t, eval[string](p, card+".innerText"), "a whole number is needed")
	if c.called() != 0 {
		t.Errorf("the tool was called: %s", c.audit())
	}
}

func TestUntypedArgumentIsTextOrJSON(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	card := cardOf("kind")
	for _, x := range []struct{ text, typ string }{{"hello", "String"}, {"42", "Int"}, {"[1, 2]", "Array"}, {"true", "Bool"}} {
		eval[bool](p, card+`.querySelector("textarea").value = "", true`)
		p.fill(card, "x", x.text)
		p.press(card, "Call")
		p.wait(card + `.querySelector(".out pre")?.textContent === "` + x.typ + `"`)
	}
}

func TestDeniedToolTellsTheRule(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	card := cardOf("send")
	p.wait(card)
	has(t, eval[string](p, card+".innerText"), "denied email.send")
	p.fill(card, "to", "x@example.org")
	p.press(card, "Call")
	has(t, p.output(card), "SensePolicyError", "denied by policy", "decided by 'deny email.send' at")
	has(t, c.audit(), "tool 'send' -> denied")
}

func TestErrorOfATool(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	card := cardOf("fail")
	p.fill(card, "reason", "r")
	p.press(card, "Call")
	has(t, p.output(card), "SenseRuntimeError at ", "requires both operands to be String")
}

func TestAsyncToolAndToolOfAModule(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.fill(cardOf("slow"), "x", "21"+kb.Enter)
	has(t, p.output(cardOf("slow")), "gave Int", "42")
	p.fill(cardOf("helped"), "what", "it"+kb.Enter)
	has(t, p.output(cardOf("helped")), "helped with it")
	p.fill(cardOf("save"), "path", "f"+kb.Enter)
	has(t, p.output(cardOf("save")), "SensePolicyError", "deny files.write")
}

func TestReversibleAction(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.section("2")
	p.fill(cardOf("mark"), "label", "blue"+kb.Enter)
	card := preparedOf("mark")
	p.wait(card)
	has(t, eval[string](p, card+".innerText"), "label", "String", "blue", "prepared")
	for _, s := range [][2]string{{"Verify", "verified"}, {"Commit", "committed"}, {"Roll back", "rolled back"}} {
		p.press(card, s[0])
		p.wait(card + `.querySelector(".top").innerText.includes("` + s[1] + `")`)
	}
	has(t, c.audit(), "'mark' -> committed", "'mark' -> rolled_back")
}

func TestIrreversibleActionNeedsApprovalAndTypedPhrase(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.section("2")
	p.fill(cardOf("wire"), "amount", "250")
	p.fill(cardOf("wire"), "to", "Ada"+kb.Enter)
	card := preparedOf("wire")
	p.press(card, "Verify")
	p.wait(card + `.querySelector(".top").innerText.includes("verified")`)
	if !eval[bool](p, card+`.querySelector("button.danger").disabled`) {
		t.Error("commit is possible without approval")
	}
	p.press(card, "Approve")
	p.press(card, "Commit …")
	p.wait(`document.querySelector("#confirm").open && document.activeElement.id === "confirm-phrase"`)
	has(t, eval[string](p, `document.querySelector("#confirm").innerText`), "irreversible", "amount", "250", "Ada")
	p.keys("yes" + kb.Enter)
	p.wait(`document.querySelector("#confirm").open && document.querySelector("#confirm-yes").disabled`)
	if strings.Contains(c.audit(), "committed") {
		t.Fatal("committed without the phrase")
	}
	phrase := eval[string](p, `document.querySelector("#confirm-want").textContent`)
	eval[bool](p, `(document.querySelector("#confirm-phrase").value = "", true)`)
	p.keys(phrase + kb.Enter)
	p.wait(card + `.querySelector(".top").innerText.includes("committed")`)
	has(t, p.output(card), "paid 250 to Ada")
}

// W5: no single click, nor Enter held down, commits what cannot be undone.
func TestW5NoSingleClickCommits(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.section("2")
	p.fill(cardOf("purge"), "what", "everything"+kb.Enter)
	card := preparedOf("purge")
	p.press(card, "Verify")
	for range 5 {
		p.press(card, "Commit …")
		p.wait(`document.querySelector("#confirm").open`)
		p.keys(kb.Enter + kb.Enter + kb.Enter)
		p.keys(kb.Escape)
		p.wait(`!document.querySelector("#confirm").open`)
	}
	if strings.Contains(c.audit(), "committed") {
		t.Errorf("committed: %s", c.audit())
	}
}

func TestDryRunCommitsNothing(t *testing.T) {
	c := serve(t, "", true)
	p := c.open()
	p.wait(`!document.querySelector("#dry").hidden`)
	p.section("2")
	p.fill(cardOf("purge"), "what", "x"+kb.Enter)
	card := preparedOf("purge")
	p.press(card, "Verify")
	p.press(card, "Commit …")
	p.wait(card + `.querySelector(".top").innerText.includes("committed")`)
	has(t, c.audit(), "dry run")
}

func TestAgentIsStartedAndAnswered(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.section("3")
	card := cardOf("helper")
	p.press(card, "Start")
	p.wait(card + `.innerText.includes("Which colour?")`)
	p.wait(`document.querySelector("#nav-agents .count.ask")`)
	p.fill(card, "answer", "green"+kb.Enter)
	p.wait(card + `.innerText.includes("And who are you?")`)
	p.fill(card, "answer", "Ada"+kb.Enter)
	p.wait(card + `.querySelector(".top").innerText.includes("completed")`)
	p.press(cardOf("broken"), "Start")
	has(t, p.output(cardOf("broken")), "division by zero")
	p.press(cardOf("watcher"), "Start")
	p.wait(cardOf("watcher") + `.innerText.includes("ready to watch")`)
	p.section("4")
	p.wait(cardOf("facts") + `.innerText.includes("green")`)
	has(t, eval[string](p, cardOf("facts")+".innerText"), "colour", "who", "Ada")
}

func TestMemoriesWithHistory(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.section("4")
	p.wait(cardOf("notes") + `.innerText.includes("second draft")`)
	p.press(cardOf("notes"), "history")
	p.wait(cardOf("notes") + `.querySelector(".history")`)
	has(t, eval[string](p, cardOf("notes")+".innerText"), "[v1] remember 'plan' = first draft", "[v2] remember 'plan' = second draft")
	has(t, eval[string](p, cardOf("facts")+".innerText"), "Oslo", "123456789012345678901234567890")
}

func TestSkillsLeadToTheirTools(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.section("5")
	p.press(cardOf("correspondence"), "send")
	p.wait(`!document.querySelector("#s-tools").hidden && document.activeElement.id === "tool:send"`)
}

func TestServerToolIsCalled(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.section("6")
	card := cardOf("stub")
	p.wait(card)
	tool := `[...document.querySelectorAll("details")].find(d => d.dataset.tool === "add")`
	eval[bool](p, "("+tool+`.querySelector("summary").click(), true)`)
	p.fill(tool, "a", "2")
	p.fill(tool, "b", "40"+kb.Enter)
	has(t, p.output(tool), "42")
	has(t, c.audit(), "tool 'stub.add' -> called")
}

func TestPolicyNamesTheRule(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.section("7")
	p.wait(`document.querySelector("#s-policy table")`)
	has(t, eval[string](p, `document.querySelector("#s-policy").innerText`), "email.send", "denied", "'deny email.send' at", "bank.pay", "'allow bank.pay' at", "files.write", "mcp.stub")
}

func TestAuditIsLive(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.fill(cardOf("kind"), "x", "1"+kb.Enter)
	p.wait(`document.querySelector("#audit .log").innerText.includes("kind")`)
	p.section("8")
	p.wait(`document.querySelector("#s-audit .log").innerText.includes("called")`)
}

func TestFilterAndKeys(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.wait(cardOf("kind"))
	p.slash()
	p.keys("e-mail")
	p.wait(`[...document.querySelectorAll("#s-tools .card")].filter(c => !c.hidden).length === 1`)
	p.keys(kb.Escape)
	p.wait(`[...document.querySelectorAll("#s-tools .card")].every(c => !c.hidden)`)
	p.keys("?")
	p.wait(`document.querySelector("#help").open`)
	p.keys(kb.Escape)
	p.keys("j")
	p.wait(`document.activeElement.matches(".card")`)
}

// Every field has a name, every button is reached by Tab, and the focus shows.
func TestKeyboardAndLabels(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.wait(cardOf("greet#1"))
	if bad := eval[int](p, `[...document.querySelectorAll("input, select, textarea")].filter(e => !(e.labels && e.labels.length) && !e.getAttribute("aria-label")).length`); bad != 0 {
		t.Errorf("%d fields have no label", bad)
	}
	seen := map[string]bool{}
	for range 60 {
		p.keys(kb.Tab)
		s := eval[string](p, `(() => { const e = document.activeElement, o = getComputedStyle(e);
			return (e.id || e.textContent.slice(0, 20) || e.tagName) + "|" + e.tagName + "|" + (o.outlineStyle !== "none" && parseFloat(o.outlineWidth) >= 2); })()`)
		if strings.HasSuffix(s, "|false") && !strings.Contains(s, "BODY") {
			t.Errorf("the focus does not show at %s", s)
		}
		seen[s] = true
	}
	if len(seen) < 20 {
		t.Errorf("Tab reaches only %d places: %v", len(seen), seen)
	}
}

func TestTokenLeavesTheAddressAndReloadKeepsIt(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	if s := eval[string](p, "location.href"); strings.Contains(s, "token") {
		t.Errorf("the address still is %s", s)
	}
	eval[bool](p, "(location.reload(), true)")
	p.wait(`document.querySelector("#link")?.textContent === "live"`)
	q := open(t, c.addr()+"/#token=WRONG")
	q.wait(`!document.querySelector("#locked").hidden`)
	q.keys(c.url + kb.Enter)
	q.wait(`document.querySelector("#link").textContent === "live"`)
}
