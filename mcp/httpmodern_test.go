//go:build linux

package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// Every revision is spoken, and a server that answers anything to everything
// is not taken for a modern one.
func TestHTTPRevisions(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		web := newWebServer(t)
		web.version = version
		s, _ := web.dial(t)
		call(t, s, "echo", `{"text":"x"}`)
		last := web.requests("tools/call")[0].header
		if got := last.Get("Mcp-Protocol-Version"); got != version {
			t.Errorf("after %s the requests say %q", version, got)
		}
		if last.Get("Mcp-Method") != "" {
			t.Errorf("a request of %s has headers of a later revision", version)
		}
	}
	web := newWebServer(t)
	web.on["server/discover"] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool { answer(w, m, "{}"); return true }
	s, _ := web.dial(t)
	if s.sess.version != "2025-11-25" {
		t.Errorf("revision %s with a server that answers {} to everything", s.sess.version)
	}
}

// Revision 2026-07-28: no session, headers and _meta with each request.
func TestHTTPModern(t *testing.T) {
	web := newWebServer(t)
	web.modern = true
	web.on["tools/list"] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
		answer(w, m, `{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"}}}},
			{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}}]}`)
		return true
	}
	w := &warnings{}
	s, _ := web.dial(t, func(c *Config) { c.Warn = w.add })
	if s.Instructions() != "be modern" || len(s.Tools()) != 1 || !strings.Contains(w.text(), "leaves out tool 2 of 2: the headers that 'bad' asks for") {
		t.Errorf("instructions %q, %d tools, warnings %q", s.Instructions(), len(s.Tools()), w.text())
	}
	call(t, s, "echo", `{"text":"h\u00e9"}`)
	r := web.requests("tools/call")[0]
	for name, want := range map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "echo", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Param-Text": "=?base64?aMOp?=", "Mcp-Session-Id": ""} {
		if got := r.header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
	if !strings.Contains(string(r.rpc.Params), `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`) || !strings.Contains(string(r.rpc.Params), `"progressToken":`) {
		t.Errorf("parameters %s", r.rpc.Params)
	}
	if err := s.Ping(context.Background()); err != nil {
		t.Error(err)
	}
	_ = s.Close()
	if len(web.requests("DELETE")) > 0 || len(web.requests("initialize")) > 0 {
		t.Error("a modern server was spoken to in the old way")
	}
}

// A modern server that asks for input gets it, with its state, as often as it
// asks, though not for ever.
func TestInputRequired(t *testing.T) {
	web := newWebServer(t)
	web.modern = true
	round := atomic.Int32{}
	web.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
		var p struct {
			Name           string
			InputResponses map[string]json.RawMessage `json:"inputResponses"`
			RequestState   string                     `json:"requestState"`
		}
		_ = json.Unmarshal(m.Params, &p)
		n := round.Add(1)
		switch {
		case p.Name == "args":
			answer(w, m, `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`)
		case p.Name == "seen":
			answer(w, m, `{"resultType":"input_required","requestState":"later"}`)
		case n == 1:
			answer(w, m, `{"resultType":"input_required","requestState":"s1","inputRequests":{
				"who":{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}},
				"what":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}}}`)
		default:
			answer(w, m, textResult(p.RequestState+" "+string(p.InputResponses["who"])+" "+string(p.InputResponses["what"])))
		}
		return true
	}
	s, _ := web.dial(t, func(c *Config) {
		c.Handlers.Elicit = func(context.Context, *ElicitRequest) (*ElicitResult, error) {
			return &ElicitResult{Action: "accept", Content: json.RawMessage(`{"n":9007199254740993}`)}, nil
		}
		c.Handlers.Sample = func(context.Context, *SampleRequest) (*SampleResult, error) {
			return &SampleResult{Model: "m", Text: "t"}, nil
		}
	})
	if got := call(t, s, "echo", `{"text":"x"}`); !strings.HasPrefix(got, `s1 {"action":"accept","content":{"n":9007199254740993}} `) || !strings.Contains(got, `"text":"t"`) {
		t.Errorf("got %s", got)
	}
	_, err := s.Call(context.Background(), "args", nil)
	wantError(t, err, "the server asks for input that it cannot get: method not found: roots/list")
	_, err = s.Call(context.Background(), "seen", nil)
	wantError(t, err, "the server keeps asking for input")
}

// A modern server is asked for what it announces, and what it then says
// arrives.
func TestSubscriptionsListen(t *testing.T) {
	web := newWebServer(t)
	web.modern = true
	web.on["subscriptions/listen"] = func(w http.ResponseWriter, r *http.Request, m rpc) bool {
		send := events(w)
		send("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		if strings.Contains(string(m.Params), "file:///a") {
			send("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"file:///a\"}}\n\n")
		}
		<-r.Context().Done()
		return true
	}
	changed, updated := make(chan bool, 9), make(chan string, 9)
	s, _ := web.dial(t, func(c *Config) {
		c.Handlers.ToolsChanged = func() { changed <- true }
		c.Handlers.ResourceUpdated = func(uri string) { updated <- uri }
	})
	<-changed
	if err := s.Subscribe(context.Background(), "file:///a"); err != nil {
		t.Fatal(err)
	}
	if uri := <-updated; uri != "file:///a" {
		t.Errorf("updated %s", uri)
	}
	if err := s.Unsubscribe(context.Background(), "file:///a"); err != nil {
		t.Fatal(err)
	}
	within(t, patience/2, "close", func() { _ = s.Close() })
	if p := string(web.requests("subscriptions/listen")[0].rpc.Params); !strings.Contains(p, `"toolsListChanged":true`) || strings.Contains(p, "promptsListChanged") {
		t.Errorf("asked for %s", p)
	}
}

// A refusal that names an address to visit is shown to the user, and the call
// made once more when the user agrees.
func TestVisitFirst(t *testing.T) {
	for action, want := range map[string]string{"accept": "visited", "decline": ""} {
		web := newWebServer(t)
		refusals := 1
		web.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m rpc) bool {
			if refusals--; refusals >= 0 {
				write(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"visit first","data":{"elicitations":[{"mode":"url","url":"https://a.example","message":"Go","elicitationId":"e"}]}}}`, m.ID)
				return true
			}
			answer(w, m, textResult("visited"))
			return true
		}
		var asked []ElicitRequest
		s, _ := web.dial(t, func(c *Config) {
			c.Handlers.Elicit = func(_ context.Context, r *ElicitRequest) (*ElicitResult, error) {
				asked = append(asked, *r)
				return &ElicitResult{Action: action}, nil
			}
		})
		r, err := s.Call(context.Background(), "echo", nil)
		if want == "" {
			wantError(t, err, "visit first (JSON-RPC error -32042")
		} else if err != nil || r.Text != want {
			t.Errorf("%v", err)
		}
		if len(asked) != 1 || asked[0].URL != "https://a.example" || asked[0].ID != "e" || asked[0].Message != "Go" {
			t.Errorf("asked %+v", asked)
		}
	}
}
