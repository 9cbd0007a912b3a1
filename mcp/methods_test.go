//go:build linux

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

// answers has a web server answer methods with fixed results.
func answers(web *webServer, results map[string]string) {
	web.change(func() {
		for method, text := range results {
			web.on[method] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
				answer(w, m, text)
				return true
			}
		}
	})
}

func TestResources(t *testing.T) {
	web := newWebServer(t)
	answers(web, map[string]string{
		"resources/list": `{"resources":[{"uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":3,"_meta":{"n":9007199254740993}},
			{"name":"no address"},"odd",{"uri":"file:///b","name":"b"}]}`,
		"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"file:///{x}","name":"t"},{"name":"none"}]}`,
		"resources/read":           `{"contents":[{"uri":"file:///a","mimeType":"text/plain","text":"hé"},{"uri":"file:///b","mimeType":"image/png","blob":"AAA="},{"uri":"file:///c","text":""}]}`,
	})
	w := &warnings{}
	s, _ := web.dial(t, func(c *Config) { c.Warn = w.add })
	ctx := context.Background()
	list, err := s.Resources(ctx)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	if want := (Resource{"file:///a", "a", "A", "d", "text/plain", 3, json.RawMessage(`{"n":9007199254740993}`)}); !reflect.DeepEqual(list[0], want) {
		t.Errorf("got %+v", list[0])
	}
	if !strings.Contains(w.text(), "leaves out element 2 of 4 of resources/list") || !strings.Contains(w.text(), "element 3") {
		t.Errorf("warnings %q", w.text())
	}
	templates, err := s.ResourceTemplates(ctx)
	if err != nil || len(templates) != 1 || templates[0].URITemplate != "file:///{x}" {
		t.Errorf("%v, %v", templates, err)
	}
	blocks, err := s.Read(ctx, "file:///a")
	if err != nil || RenderBlocks(blocks) != "hé\n[resource image/png, 2 bytes, file:///b]\n" {
		t.Errorf("%q, %v", RenderBlocks(blocks), err)
	}
}

func TestPrompts(t *testing.T) {
	web := newWebServer(t)
	answers(web, map[string]string{
		"prompts/list": `{"prompts":[{"name":"p","title":"P","description":"d","arguments":[{"name":"a","required":true},{"name":"b"}]}]}`,
		"prompts/get": `{"description":"filled","messages":[{"role":"user","content":{"type":"text","text":"hi"}},
			{"role":"assistant","content":{"type":"image","mimeType":"image/png","data":"AAA="}}]}`,
		"completion/complete": `{"completion":{"values":["x","y"],"total":7,"hasMore":true}}`,
	})
	s, _ := web.dial(t)
	ctx := context.Background()
	list, err := s.Prompts(ctx)
	if err != nil || len(list) != 1 || !reflect.DeepEqual(list[0].Arguments, []PromptArgument{{Name: "a", Required: true}, {Name: "b"}}) {
		t.Errorf("%+v, %v", list, err)
	}
	p, err := s.Prompt(ctx, "p", map[string]string{"a": "<1>"})
	if err != nil || p.Description != "filled" || len(p.Messages) != 2 || p.Messages[0].Blocks[0].Text != "hi" || p.Messages[1].Role != "assistant" || len(p.Messages[1].Blocks[0].Data) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if got := string(web.requests("prompts/get")[0].rpc.Params); got != `{"arguments":{"a":"<1>"},"name":"p"}` {
		t.Errorf("asked %s", got)
	}
	for _, of := range []CompletionOf{
		{Prompt: "p", Argument: "a", Value: "x", Known: map[string]string{"b": "1"}},
		{URITemplate: "file:///{x}", Argument: "x"},
	} {
		c, err := s.Complete(ctx, of)
		if err != nil || !reflect.DeepEqual(*c, Completion{[]string{"x", "y"}, 7, true}) {
			t.Errorf("%+v, %v", c, err)
		}
	}
	asked := web.requests("completion/complete")
	if got := string(asked[0].rpc.Params); got != `{"argument":{"name":"a","value":"x"},"context":{"arguments":{"b":"1"}},"ref":{"name":"p","type":"ref/prompt"}}` {
		t.Errorf("asked %s", got)
	}
	if got := string(asked[1].rpc.Params); got != `{"argument":{"name":"x","value":""},"ref":{"type":"ref/resource","uri":"file:///{x}"}}` {
		t.Errorf("asked %s", got)
	}
}

// A server that has none of it gives empty lists, and errors where something
// particular is asked for.
func TestMethodsUnknown(t *testing.T) {
	s, _ := newWebServer(t).dial(t)
	ctx := context.Background()
	if list, err := s.Resources(ctx); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := s.Prompts(ctx); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	_, err := s.Read(ctx, "file:///a")
	wantError(t, err, "Method not found (JSON-RPC error -32601)")
	_, err = s.Prompt(ctx, "p", nil)
	wantError(t, err, "Method not found")
	_, err = s.Complete(ctx, CompletionOf{})
	wantError(t, err, "Method not found")
	wantError(t, s.Subscribe(ctx, "file:///a"), "Method not found")
	wantError(t, s.Ping(ctx), "Method not found")
	wantError(t, s.SetLevel(ctx, "loud"), "log level 'loud' is none of debug")
}

func TestMethodsBadAnswers(t *testing.T) {
	web := newWebServer(t)
	results := map[string]string{}
	for _, method := range []string{"resources/read", "prompts/get", "completion/complete"} {
		results[method] = `{"contents":7,"messages":7,"completion":7}`
	}
	results["resources/list"] = `{"resources":{}}`
	answers(web, results)
	s, _ := web.dial(t)
	ctx := context.Background()
	_, read := s.Read(ctx, "x")
	_, prompt := s.Prompt(ctx, "x", nil)
	_, complete := s.Complete(ctx, CompletionOf{})
	_, list := s.Resources(ctx)
	for _, err := range []error{read, prompt, complete, list} {
		wantError(t, err, "the server's answer is not valid")
	}
	answers(web, map[string]string{"resources/read": `{"contents":[` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `]}`})
	_, err := s.Read(ctx, "x")
	wantError(t, err, "nested 302 deep")
	web.change(func() {
		web.on["ping"] = func(w http.ResponseWriter, r *http.Request, _ rpc) bool { <-r.Context().Done(); return true }
	})
	slow, _ := web.dial(t, func(c *Config) { c.CallTimeout = 200 * time.Millisecond })
	wantError(t, slow.Ping(ctx), "no answer to ping in 0.2 s")
}

// Subscriptions and the log level are asked for again after a session is lost.
func TestCarriedOver(t *testing.T) {
	web := newWebServer(t)
	web.session = "a"
	answers(web, map[string]string{"resources/subscribe": "{}", "resources/unsubscribe": "{}", "logging/setLevel": "{}"})
	s, _ := web.dial(t)
	ctx := context.Background()
	for _, uri := range []string{"file:///a", "file:///b"} {
		if err := s.Subscribe(ctx, uri); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Unsubscribe(ctx, "file:///a"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetLevel(ctx, "warning"); err != nil {
		t.Fatal(err)
	}
	web.change(func() { web.session = "b" })
	call(t, s, "echo", "")
	var after []string
	for _, key := range []string{"resources/subscribe", "logging/setLevel"} {
		for _, r := range web.requests(key) {
			if r.header.Get("Mcp-Session-Id") == "b" {
				after = append(after, fmt.Sprintf("%s %s", r.rpc.Method, r.rpc.Params))
			}
		}
	}
	if want := []string{`resources/subscribe {"uri":"file:///b"}`, `logging/setLevel {"level":"warning"}`}; !reflect.DeepEqual(after, want) {
		t.Errorf("asked again for %v", after)
	}
}

// On a modern server the level goes with each request.
func TestModernLevel(t *testing.T) {
	web := newWebServer(t)
	web.modern = true
	s, _ := web.dial(t)
	if err := s.SetLevel(context.Background(), "error"); err != nil {
		t.Fatal(err)
	}
	call(t, s, "echo", "")
	if got := string(web.requests("tools/call")[0].rpc.Params); !strings.Contains(got, `"io.modelcontextprotocol/logLevel":"error"`) {
		t.Errorf("parameters %s", got)
	}
	if n := len(web.requests("logging/setLevel")); n > 0 {
		t.Error("the level was set in the old way")
	}
}

func TestEventReader(t *testing.T) {
	for _, tt := range []struct {
		in     string
		want   []string
		lastID string
	}{
		{"data: a\n\n", []string{"message a"}, ""},
		{"data:a\r\n\r\ndata: b\r\n\r\n", []string{"message a", "message b"}, ""},
		{"data: a\r\rdata: b\r\r", []string{"message a", "message b"}, ""},
		{"data: a\ndata: b\n\n", []string{"message a\nb"}, ""},
		{"event: x\ndata: a\n\ndata: b\n\n", []string{"x a", "message b"}, ""},
		{": comment\n\nretry: 5\n\nid: 1\n\ndata: a\n\n", []string{"message a"}, "1"},
		{"id: 1\ndata: a\n\nid: 2\ndata: b", []string{"message a", "message b"}, "1"},
		{"id: a\x00b\ndata: a\n\n", []string{"message a"}, ""},
		{"data\n\n", []string{"message "}, ""},
		{"data: a\n\nid:\ndata: b\n\n", []string{"message a", "message b"}, ""},
		{"event: y\n\ndata: a\n\n", []string{"message a"}, ""},
		{"", nil, ""},
		{"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", []string{"message a"}, ""},
		{"\xef", nil, ""},
		{"data\ndata: a\n\n", []string{"message \na"}, ""},
		{"id: a\x1bb\ndata: a\n\n", []string{"message a"}, ""},
		{"id: " + strings.Repeat("i", maxID/5) + "\tü\ndata: a\n\n", []string{"message a"}, strings.Repeat("i", maxID/5) + "\tü"},
	} {
		e := newEventReader(strings.NewReader(tt.in), 1000)
		var got []string
		for {
			ev, err := e.next()
			if err != nil {
				break
			}
			got = append(got, ev.kind+" "+string(ev.data))
		}
		if !reflect.DeepEqual(got, tt.want) || e.lastID != tt.lastID {
			t.Errorf("%q gives %q, last id %q", tt.in, got, e.lastID)
		}
	}
	for _, in := range []string{"data: " + strings.Repeat("x", 2000), strings.Repeat("data: "+strings.Repeat("x", 400)+"\n", 3)} {
		if _, err := newEventReader(strings.NewReader(in), 1000).next(); err != errTooLarge {
			t.Errorf("too much gives %v", err)
		}
	}
	e := newEventReader(strings.NewReader("retry: 250\nretry: x\ndata: a\n\n"), 1000)
	if d := e.delay(time.Second); d != time.Second {
		t.Errorf("delay %v", d)
	}
	if _, err := e.next(); err != nil || e.delay(time.Second) != 250*time.Millisecond {
		t.Errorf("delay %v, %v", e.delay(time.Second), err)
	}
}

// Whatever a stream holds, reading it ends, within the limit.
func FuzzEventReader(f *testing.F) {
	f.Add([]byte("event: a\r\nid: 1\r\ndata: x\r\n\r\n"))
	f.Add([]byte("data: a\rdata: b\r\r\n: c"))
	f.Fuzz(func(t *testing.T, in []byte) {
		e := newEventReader(strings.NewReader(string(in)), 100)
		for n := 0; ; n++ {
			ev, err := e.next()
			if err != nil {
				return
			}
			if len(ev.data) > 100 || n > len(in) {
				t.Fatalf("%d bytes in event %d", len(ev.data), n)
			}
		}
	})
}
