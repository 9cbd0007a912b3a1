package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sense-lang/sense/mcp"
)

// A tool asks its client's user in the middle of a call, over the revisions of
// before and after 2026-07-28.
func TestCallsAsk(t *testing.T) {
	for name, told := range map[string]struct{ action, want string }{
		"answered": {"accept", "Ann likes blue"},
		"declined": {"decline", "the user of the client gave no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			m := mcp.NewManager()
			defer m.CloseAll()
			cfg := mcp.Config{Name: "srv", URL: listen(t, echo(), ""), ConnectTimeout: patience, CallTimeout: patience}
			var asked []string
			cfg.Handlers.Elicit = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				answer := `{"answer":"Ann"}`
				if asked = append(asked, r.Message); len(asked) > 1 {
					answer = `{"answer":"blue"}`
				}
				return &mcp.ElicitResult{Action: told.action, Content: json.RawMessage(answer)}, nil
			}
			s, err := m.Connect(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Call(context.Background(), "chats", nil)
			if err != nil || r.Text != told.want {
				t.Errorf("%+v, %v", r, err)
			}
			if got := strings.Join(asked, " "); told.action == "accept" && got != "Your name? Your color, Ann?" {
				t.Errorf("asked %q", got)
			}
		})
	}
}

// Over standard input and output, on an older revision.
func TestStdioCallsAsk(t *testing.T) {
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Stdio(context.Background(), echo(), in, out); _ = out.Close() }()
	go func() {
		_, _ = io.WriteString(client, hello+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chats"}}`+"\n")
	}()
	var last string
	for decoder := json.NewDecoder(answers); last == ""; {
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
		}
		if err := decoder.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if m.Method == "elicitation/create" {
			go fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"x"}}}`+"\n", m.ID)
		}
		if string(m.ID) == "1" && m.Method == "" {
			last = string(m.Result)
		}
	}
	if !strings.Contains(last, "x likes x") {
		t.Errorf("result %s", last)
	}
	_ = client.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// modernAnswer is what a request of revision 2026-07-28 was answered.
type modernAnswer struct {
	Result struct {
		ResultType, RequestState string
		InputRequests            map[string]json.RawMessage
		Content                  []struct{ Text string }
		IsError                  bool
	}
	Error json.RawMessage
}

func callModern(t *testing.T, address, capabilities, more string) (a modernAnswer) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chats"` + more + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}}}`
	req, err := http.NewRequest(http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "chats",
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return a
}

// What clients may do wrong with the state of a call that waits.
func TestCallStates(t *testing.T) {
	address := listen(t, echo(), "")
	const able = `{"elicitation":{}}`
	first := callModern(t, address, able, "")
	if first.Result.ResultType != "input_required" || first.Result.RequestState == "" || len(first.Result.InputRequests) != 1 {
		t.Fatalf("%+v", first)
	}
	state := func(s string) string { return `,"requestState":"` + s + `"` }
	if a := callModern(t, address, able, state(first.Result.RequestState+"x")); a.Error == nil {
		t.Errorf("another state: %+v", a)
	}
	again := callModern(t, address, able, state(first.Result.RequestState)+`,"inputResponses":{"other":{"action":"accept"}}`)
	if again.Result.RequestState == "" || again.Result.RequestState == first.Result.RequestState {
		t.Fatalf("no answer: %+v", again)
	}
	if a := callModern(t, address, able, state(first.Result.RequestState)); a.Error == nil {
		t.Errorf("a state that is spent: %+v", a)
	}
	const answer = `,"inputResponses":{"answer":{"action":"accept","content":{"answer":"Bob"}}}`
	second := callModern(t, address, able, state(again.Result.RequestState)+answer)
	if !strings.Contains(string(second.Result.InputRequests["answer"]), "Your color, Bob?") {
		t.Fatalf("%+v", second)
	}
	if a := callModern(t, address, able, state(second.Result.RequestState)+answer); len(a.Result.Content) != 1 || a.Result.Content[0].Text != "Bob likes Bob" {
		t.Errorf("%+v", a)
	}
	want := `"code":-32021,"message":"the client cannot ask its user (it does not offer elicitation)","data":{"requiredCapabilities":{"elicitation":{}}}`
	if a := callModern(t, address, `{}`, ""); string(a.Error) != "{"+want+"}" {
		t.Errorf("a client that cannot ask: %s", a.Error)
	}
	callModern(t, address, able, "") // still waits when the server ends
}
