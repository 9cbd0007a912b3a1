// Package browsertest drives the console's page in a real browser. It is a
// module of its own, so that the browser's driver is no part of the product.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/inspect"
)

// patience bounds every wait for the page; nothing depends on how soon it ends.
const patience = 30 * time.Second

// browser is the context of the one browser of all tests, nil where there is none.
var browser context.Context

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path, err := exec.LookPath("chromium")
	if err != nil {
		fmt.Println("browsertest: SKIPPED, there is no chromium (apt-get install chromium)")
		return 0
	}
	dir, err := os.MkdirTemp("", "sense-browser")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	stubDir = dir
	alloc, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(dir),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true))...)
	defer stop()
	ctx, cancel := chromedp.NewContext(alloc)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		fmt.Fprintln(os.Stderr, "browsertest: chromium does not start:", err)
		return 1
	}
	browser = ctx
	return m.Run()
}

// console is a program that ran and its console.
type console struct {
	t   *testing.T
	rt  *sense.Runtime
	url string // with the token
}

// addr is the console's address without the token.
func (c *console) addr() string { return c.url[:strings.Index(c.url, "/#")] }

// stubDir is where the stub server is built.
var stubDir string

// stub builds the stub server once and gives its path.
var stub = sync.OnceValues(func() (string, error) {
	path := filepath.Join(stubDir, "stubmcp")
	out, err := exec.Command("go", "build", "-C", "../..", "-o", path, "./internal/cmd/stubmcp").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cannot build the stub server: %w: %s", err, out)
	}
	return path, nil
})

// serve runs testdata/console.sns, or src where it is not empty, and serves it.
func serve(t *testing.T, src string, dry bool) *console {
	t.Helper()
	dir := t.TempDir()
	if src == "" {
		server, err := stub()
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile("testdata/console.sns")
		if err != nil {
			t.Fatal(err)
		}
		src = strings.NewReplacer("STUB", server, "NOTES", filepath.Join(dir, "notes.db")).Replace(string(b))
	}
	helper, err := os.ReadFile("testdata/helper.sns")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "helper.sns"), helper, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	declared := &inspect.Surface{}
	rt := sense.New(ctx, sense.Options{Stderr: os.Stderr, Getenv: os.Getenv, DryRun: dry, OnDeclare: declared.Declare})
	if err := rt.RunSource(filepath.Join(dir, "console.sns"), src); err != nil {
		cancel()
		rt.Close()
		t.Fatal(err)
	}
	l, err := inspect.Listen("0")
	if err != nil {
		t.Fatal(err)
	}
	con := inspect.New(rt.Interp(), declared, inspect.Options{Path: "console.sns", DryRun: dry})
	done := make(chan error, 1)
	go func() { done <- con.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
		con.Settle(patience)
		rt.Close()
	})
	return &console{t, rt, con.URL(l)}
}

// called counts the entries of the audit, which every use makes.
func (c *console) called() int { return c.rt.Audit().Len() }

// tab is a page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	messages []string // of the browser's console
	dialogs  []string
}

// open opens a tab at an address.
func open(t *testing.T, url string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	p := &tab{t: t, ctx: ctx}
	t.Cleanup(cancel)
	messages := chromedp.Console(ctx)
	dialogs := chromedp.Events(ctx, page.JavascriptDialogOpening)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			p.mu.Lock()
			p.messages = append(p.messages, string(m.Type)+": "+m.Text)
			p.mu.Unlock()
		}
	}()
	go func() {
		for d, err := range dialogs {
			if err != nil {
				return
			}
			p.mu.Lock()
			p.dialogs = append(p.dialogs, d.Message)
			p.mu.Unlock()
			_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}
	}()
	p.do(chromedp.EmulateViewport(1360, 900))
	p.do(chromedp.Navigate(url))
	return p
}

// open opens the console's page and waits until it is up.
func (c *console) open() *tab {
	c.t.Helper()
	p := open(c.t, c.url)
	p.wait(`document.querySelector("#link").textContent === "live"`)
	return p
}

// said gives what the browser's console said so far, and which dialogs opened.
func (p *tab) said() (messages, dialogs []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.messages...), append([]string(nil), p.dialogs...)
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// eval gives the value of an expression.
func eval[T any](p *tab, js string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// wait waits until an expression is true. The page's policy forbids to evaluate
// text in it, so it is asked from outside.
func (p *tab) wait(js string) {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		if eval[bool](p, "!!("+js+")") {
			return
		}
	}
	p.t.Fatalf("never true: %s\npage: %.2000s", js, eval[string](p, `document.querySelector("main").innerText`))
}

// cardOf is the card with a heading, as an expression.
func cardOf(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".card")].find(c => !c.closest("[hidden]") && c.querySelector("h3")?.textContent === %q)`, name)
}

// preparedOf is the newest prepared action of a name, as an expression.
func preparedOf(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("[id^='prepared:']")].find(c => c.querySelector("h3").textContent === %q)`, name)
}

// fill types into the field of a label inside the card of an expression.
func (p *tab) fill(card, label, text string) {
	p.t.Helper()
	p.wait(card)
	eval[bool](p, fmt.Sprintf(`(() => { const l = [...%s.querySelectorAll("label")].find(l => l.firstChild.textContent === %q); document.getElementById(l.htmlFor).focus(); return true; })()`, card, label))
	p.keys(text)
}

// press clicks the button with a text inside the card of an expression.
func (p *tab) press(card, button string) {
	p.t.Helper()
	b := fmt.Sprintf(`[...%s.querySelectorAll("button")].find(b => b.textContent === %q)`, card, button)
	p.wait("(" + card + ") && " + b + " && !" + b + ".disabled")
	eval[bool](p, "("+b+".click(), true)")
}

// keys sends keys to what has the focus.
func (p *tab) keys(s string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(s))
}

// slash presses the key / as a keyboard does: a page that takes the key for
// itself gets no character.
func (p *tab) slash() {
	p.t.Helper()
	for _, typ := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: typ, Key: "/", Code: "Slash", WindowsVirtualKeyCode: 191}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// section goes to a section by its key.
func (p *tab) section(key string) {
	p.t.Helper()
	eval[bool](p, "(document.activeElement.blur(), true)")
	p.keys(key)
}

// output waits for the answer below a card's form and gives it.
func (p *tab) output(card string) string {
	p.t.Helper()
	out := card + `.querySelector(".out:not([hidden]):not(.wait)")`
	p.wait(out)
	return eval[string](p, out+".innerText")
}

// audit gives the audit's lines.
func (c *console) audit() string { return strings.Join(c.rt.Audit().Lines(), "\n") }

// scheme switches between the dark and the light scheme.
func (p *tab) scheme(name string) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}); err != nil {
		p.t.Fatal(err)
	}
}

// shoot keeps a screenshot where SENSE_SCREENSHOTS names a folder.
func (p *tab) shoot(name string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	if len(png) < 5_000 {
		p.t.Errorf("screenshot %s has only %d bytes", name, len(png))
	}
	if dir := os.Getenv("SENSE_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}
