package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestLooks takes the page through every section in both schemes and three
// widths. Nothing may stick out to the side; SENSE_SCREENSHOTS names a folder
// for the pictures, which are there to be looked at.
func TestLooks(t *testing.T) {
	c := serve(t, "", false)
	p := c.open()
	p.fill(cardOf("greet#1"), "name", "Ada")
	p.fill(cardOf("greet#1"), "times", "2"+kb.Enter)
	p.output(cardOf("greet#1"))
	p.fill(cardOf("send"), "to", "x"+kb.Enter)
	p.output(cardOf("send"))
	p.section("2")
	p.fill(cardOf("wire"), "amount", "250")
	p.fill(cardOf("wire"), "to", "Ada"+kb.Enter)
	p.press(preparedOf("wire"), "Verify")
	p.wait(preparedOf("wire") + `.querySelector(".top").innerText.includes("verified")`)
	p.fill(cardOf("mark"), "label", "blue"+kb.Enter)
	p.press(preparedOf("mark"), "Verify")
	p.press(preparedOf("mark"), "Commit")
	p.output(preparedOf("mark"))
	p.section("3")
	p.press(cardOf("helper"), "Start")
	p.press(cardOf("broken"), "Start")
	p.wait(cardOf("helper") + `.innerText.includes("Which colour?")`)
	p.section("4")
	p.press(cardOf("notes"), "history")
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		for _, size := range []struct {
			name string
			w, h int64
		}{{"wide", 1440, 900}, {"laptop", 1100, 760}, {"phone", 390, 844}} {
			p.do(chromedp.EmulateViewport(size.w, size.h))
			for _, s := range []string{"1tools", "2actions", "3agents", "4memories", "5skills", "6mcp", "7policy", "8audit"} {
				p.section(s[:1])
				p.wait(`!document.querySelector("#s-` + s[1:] + `").hidden`)
				if over := eval[int](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("%s %s %s: the page is %d px too wide", scheme, size.name, s, over)
				}
				p.shoot(s[1:] + "-" + size.name + "-" + scheme)
			}
		}
		p.do(chromedp.EmulateViewport(1440, 900))
		p.section("2")
		p.press(preparedOf("wire"), map[string]string{"light": "Approve", "dark": "Commit …"}[scheme])
		if scheme == "light" {
			p.press(preparedOf("wire"), "Commit …")
		}
		p.wait(`document.querySelector("#confirm").open`)
		p.shoot("confirm-" + scheme)
		p.keys(kb.Escape)
		p.section("?")
		p.shoot("help-" + scheme)
		p.keys(kb.Escape)
	}
	q := open(t, c.addr())
	q.wait(`!document.querySelector("#locked").hidden`)
	q.shoot("locked")
}
