//go:build linux

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Calls that the server answers in some odd but usable way.
func TestCallAnswers(t *testing.T) {
	tests := []struct {
		name, mode, arg, want string
	}{
		{"string id", "stringid", "", "s"},
		{"float id", "floatid", "", "f"},
		{"batch", "batch", "", "batched"},
		{"duplicates", "duplicate", "", "hello"},
		{"bad UTF-8", "badutf8", "", "a\ufffd\ufffdb"},
		{"no line end before the exit", "nolineend", "", "last words"},
		{"200 000 lines on stderr", "stderr", "", "hello"},
		{"A34 structured", "result", `{"content":[{"type":"text","text":"2 items"}],"structuredContent":{"items":[1,2]}}`, "2 items\n{\"items\":[1,2]}"},
		{"A37 image and structured", "result", `{"content":[{"type":"image","mimeType":"image/png","data":"AAA="}],"structuredContent":{"a":1}}`, "[image image/png, 2 bytes]\n{\"a\":1}"},
		{"structured only", "result", `{"structuredContent":{"n":9223372036854775807}}`, `{"n":9223372036854775807}`},
		{"unknown block", "result", `{"content":[{"type":"text","text":"a"},{"type":"video","url":{"x":1}},{"type":"text","text":"b"}]}`, "a\n[content block of type 'video']\nb"},
		{"nothing", "result", `{}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := connect(t, tt.mode, tt.arg)
			if got := call(t, s, "echo", `{"text":"hello"}`); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Calls that fail, each soon and with the cause. usable says whether the
// connection stands the fault.
func TestCallFails(t *testing.T) {
	short := func(c *Config) { c.CallTimeout = 400 * time.Millisecond }
	tests := []struct {
		name, mode, arg string
		change          func(*Config)
		usable          bool
		want            []string
	}{
		{"A39 JSON-RPC error", "rpcerror", `{"code":-32602,"message":"bad args","data":{"field":"x","n":12345678901234567890}}`, nil, true,
			[]string{`bad args (JSON-RPC error -32602, data {"field":"x","n":12345678901234567890})`}},
		{"error of odd shape", "rpcerror", `{"code":"7","message":{"a":1}}`, nil, true, []string{`{"a":1} (JSON-RPC error 7)`}},
		{"error that is a string", "rpcerror", `"boom\nbang"`, nil, true, []string{"boom bang"}},
		{"error without words", "rpcerror", `{}`, nil, true, []string{"the server gives no message (JSON-RPC error 0)"}},
		{"result and error", "both", "", nil, true, []string{"no (JSON-RPC error 5)"}},
		{"neither", "neither", "", nil, true, []string{"neither result nor error"}},
		{"A49 null id", "nullid", "", nil, true, []string{"could not parse (JSON-RPC error -32700)"}},
		{"bad JSON inside", "badjson", "", nil, true, []string{"the server's answer is not valid"}},
		{"result of another kind", "result", `"text"`, nil, true, []string{"the server's answer is not valid"}},
		{"M4 deep", "deep", "", nil, true, []string{"nested 12002 deep"}},
		{"A58 the server cancels", "cancels", "", nil, true, []string{"the server has cancelled the call: quota used up"}},
		{"A41 never answers", "hangcall", "", short, true, []string{"timed out after 0.4 s"}},
		{"M6 wrong id", "wrongid", "", short, true, []string{"timed out after 0.4 s"}},
		{"A45 dies", "die", "", nil, false, []string{"the server exited with status 9", "panic: out of cheese", "may have been carried out and was not sent again"}},
		{"half a line and gone", "halfline", "", nil, false, []string{"exited with status 0"}},
		{"too large", "huge", "65", nil, false, []string{"message larger than 64 MiB"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change := tt.change
			if change == nil {
				change = func(*Config) {}
			}
			s, _ := connect(t, tt.mode, tt.arg, change)
			within(t, patience/2, "failing", func() {
				_, err := s.Call(context.Background(), "echo", json.RawMessage(`{"text":"hello"}`))
				wantError(t, err, tt.want...)
			})
			if tt.usable {
				call(t, s, "seen", "")
				return
			}
			if got := call(t, s, "seen", ""); strings.Contains(got, `"name":"echo"`) {
				t.Errorf("the call was sent again: %s", got)
			}
			if s.Status() != Connected || s.Err() != nil {
				t.Errorf("status %s, error %v", s.Status(), s.Err())
			}
		})
	}
}

func TestErrorsKeepTheirParts(t *testing.T) {
	s, _ := connect(t, "rpcerror", `{"code":-32099,"message":"m","data":[1]}`)
	_, err := s.Call(context.Background(), "echo", nil)
	var rpc *RPCError
	if !errors.As(err, &rpc) || rpc.Code != -32099 || rpc.Message != "m" || string(rpc.Data) != "[1]" {
		t.Errorf("error %#v", err)
	}
	s, _ = connect(t, "die", "")
	_, err = s.Call(context.Background(), "echo", nil)
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Status != "exited with status 9" || exit.Early {
		t.Errorf("error %#v", err)
	}
}

func TestBadArguments(t *testing.T) {
	s, _ := connect(t, "none", "")
	for _, args := range []string{`[]`, `"x"`, `{"a":`, `{} {}`, `nul`, ` `, `null`} {
		_, err := s.Call(context.Background(), "echo", json.RawMessage(args))
		wantError(t, err, "the arguments are no JSON object")
	}
	if got := call(t, s, "seen", ""); strings.Count(got, "tools/call") != 1 {
		t.Errorf("a refused call was sent: %s", got)
	}
}

// A38: a result marked as error is a result, never without words.
func TestResultIsError(t *testing.T) {
	for arg, want := range map[string]string{
		`{"isError":true,"content":[{"type":"text","text":"no such file"}]}`: "no such file",
		`{"isError":true,"content":[]}`:                                      "the tool reports a failure and gives no reason",
	} {
		s, _ := connect(t, "result", arg)
		r, err := s.Call(context.Background(), "echo", nil)
		if err != nil || !r.IsError || r.Text != want {
			t.Errorf("%s: %+v, %v", arg, r, err)
		}
	}
}

// A50, A51: digits are kept both ways.
func TestExactNumbers(t *testing.T) {
	s, _ := connect(t, "none", "")
	const args = `{"id":9007199254740993,"f":1.0,"e":1e2,"big":123456789012345678901234567890, "s":"a\u00e9\/<"}`
	if got := call(t, s, "args", args); got != args {
		t.Errorf("the server read %s", got)
	}
	s, _ = connect(t, "result", `{"content":[],"structuredContent":{"n":9223372036854775807,"f":1.0}}`)
	r, err := s.Call(context.Background(), "echo", nil)
	if err != nil || string(r.Structured) != `{"n":9223372036854775807,"f":1.0}` {
		t.Errorf("structured %s, %v", r.Structured, err)
	}
}

// A42, A44: a call that times out is sent once, cancelled once, and its late
// answer harms nobody.
func TestTimeoutCancels(t *testing.T) {
	s, _ := connect(t, "hangonce", "", func(c *Config) { c.CallTimeout = 300 * time.Millisecond })
	_, err := s.Call(context.Background(), "echo", nil)
	wantError(t, err, "timed out after 0.3 s")
	seen := call(t, s, "seen", "")
	if n := strings.Count(seen, `"name":"echo"`); n != 1 {
		t.Errorf("sent %d times", n)
	}
	if want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"timed out"}}`; strings.Count(seen, want) != 1 {
		t.Errorf("the server read\n%s\nwithout %s", seen, want)
	}
}

func TestContextCancels(t *testing.T) {
	s, _ := connect(t, "hangonce", "")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the user said no")) })
	_, err := s.Call(ctx, "echo", nil)
	wantError(t, err, "the user said no")
	if _, err := s.Call(ctx, "echo", nil); err == nil {
		t.Error("a call under an ended context worked")
	}
	seen := call(t, s, "seen", "")
	if strings.Count(seen, `"name":"echo"`) != 1 || strings.Count(seen, `"reason":"no longer wanted"`) != 1 {
		t.Errorf("the server read\n%s", seen)
	}
}

func TestLateAnswer(t *testing.T) {
	s, _ := connect(t, "late", "", func(c *Config) { c.CallTimeout = 300 * time.Millisecond })
	_, err := s.Call(context.Background(), "echo", json.RawMessage(`{"text":"first"}`))
	wantError(t, err, "timed out")
	if got := call(t, s, "echo", `{"text":"second"}`); got != "second" {
		t.Errorf("got %q", got)
	}
}

// A40: progress extends a call.
func TestProgressExtends(t *testing.T) {
	var mu sync.Mutex
	var got []Progress
	s, _ := connect(t, "progress", "8", func(c *Config) {
		c.CallTimeout = time.Second
		c.Handlers.Progress = func(p Progress) { mu.Lock(); got = append(got, p); mu.Unlock() }
	})
	if text := call(t, s, "echo", ""); text != "done" {
		t.Errorf("got %q", text)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(got) == 0 || got[0] != (Progress{Server: "srv", Tool: "echo", Progress: 1, Total: 8, Message: "step"}) {
		t.Errorf("progress %+v", got)
	}
}

// Progress extends a call no further than ten times its limit.
func TestProgressHasAnEnd(t *testing.T) {
	s, _ := connect(t, "progress", "1000", func(c *Config) { c.CallTimeout = 400 * time.Millisecond })
	within(t, patience/2, "the call", func() {
		_, err := s.Call(context.Background(), "echo", nil)
		wantError(t, err, "timed out after 4 s")
	})
}

// A47, A48: pings are answered with their own id, unknown methods with -32601,
// while a call is under way.
func TestServerAsks(t *testing.T) {
	s, _ := connect(t, "ping", "")
	want := []string{
		`{"jsonrpc":"2.0","id":"p-0","result":{}}`,
		`{"jsonrpc":"2.0","id":7,"result":{}}`,
		`{"jsonrpc":"2.0","id":3,"result":{}}`,
		`{"jsonrpc":"2.0","id":"u","error":{"code":-32601,"message":"method not found: unknown/thing"}}`,
		`{"jsonrpc":"2.0","id":"r","error":{"code":-32601,"message":"method not found: roots/list"}}`,
	}
	if got := call(t, s, "echo", ""); got != strings.Join(want, "\n") {
		t.Errorf("the client answered\n%s", got)
	}
}

// Handlers may block and may call the server that asks.
func TestHandlers(t *testing.T) {
	var s *Server
	connected := make(chan struct{})
	tests := []struct {
		ask, want string
		handlers  Handlers
	}{
		{`roots/list {}`, `{"roots":[{"name":"here","uri":"file:///tmp"}]}`, Handlers{Roots: func(ctx context.Context) ([]Root, error) {
			<-connected
			r, err := s.Call(ctx, "args", json.RawMessage(`{"from":"handler"}`))
			if err != nil || r.Text != `{"from":"handler"}` {
				return nil, fmt.Errorf("calling back: %v", err)
			}
			return []Root{{URI: "file:///tmp", Name: "here"}}, nil
		}}},
		{`elicitation/create {"message":"Who?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}`, `{"action":"accept","content":{"n":1.0}}`,
			Handlers{Elicit: func(_ context.Context, r *ElicitRequest) (*ElicitResult, error) {
				if r.Message != "Who?" || r.Server != "srv" || !strings.Contains(string(r.Schema), `"n"`) {
					return nil, fmt.Errorf("asked %+v", r)
				}
				return &ElicitResult{Action: "accept", Content: json.RawMessage(`{"n":1.0}`)}, nil
			}}},
		{`elicitation/create {"mode":"url","message":"Go","url":"https://example.com","elicitationId":"e1"}`, `{"action":"decline"}`,
			Handlers{Elicit: func(_ context.Context, r *ElicitRequest) (*ElicitResult, error) {
				if r.URL != "https://example.com" || r.ID != "e1" || r.Schema != nil {
					return nil, fmt.Errorf("asked %+v", r)
				}
				return &ElicitResult{Action: "decline"}, nil
			}}},
		{`sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":5,"systemPrompt":"sys","temperature":0.5,"stopSequences":["x"],"modelPreferences":{"hints":[{"name":"big"}]}}`,
			`{"model":"m","stopReason":"endTurn","role":"assistant","content":{"type":"text","text":"yo"}}`,
			Handlers{Sample: func(_ context.Context, r *SampleRequest) (*SampleResult, error) {
				if r.System != "sys" || r.MaxTokens != 5 || *r.Temperature != 0.5 || r.Stop[0] != "x" || r.ModelHints[0] != "big" || r.Messages[0].Blocks[0].Text != "hi" || r.Messages[0].Role != "user" {
					return nil, fmt.Errorf("asked %+v", r)
				}
				return &SampleResult{Model: "m", Text: "yo"}, nil
			}}},
		{`roots/list {}`, `{"code":-1,"message":"not allowed"}`, Handlers{Roots: func(context.Context) ([]Root, error) {
			return nil, &RPCError{Code: -1, Message: "not allowed"}
		}}},
		{`roots/list {}`, `{"code":-32603,"message":"broken"}`, Handlers{Roots: func(context.Context) ([]Root, error) { return nil, errors.New("broken") }}},
	}
	for i, tt := range tests {
		t.Run(strconv.Itoa(i)+strings.Fields(tt.ask)[0], func(t *testing.T) {
			connected = make(chan struct{})
			s, _ = connect(t, "asks", tt.ask, func(c *Config) { c.Handlers = tt.handlers })
			close(connected)
			var answer struct{ Result, Error json.RawMessage }
			if err := json.Unmarshal([]byte(call(t, s, "echo", "")), &answer); err != nil {
				t.Fatal(err)
			}
			got, _ := decodeExact(append(answer.Result, answer.Error...))
			want, _ := decodeExact([]byte(tt.want))
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("answered %s%s, want %s", answer.Result, answer.Error, tt.want)
			}
		})
	}
}

// A handler that never comes back holds up neither calls nor the close.
func TestStuckHandler(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	s, _ := connect(t, "asks", "roots/list {}", func(c *Config) {
		c.CallTimeout = 300 * time.Millisecond
		c.Handlers.Roots = func(context.Context) ([]Root, error) { <-release; return nil, nil }
	})
	_, err := s.Call(context.Background(), "echo", nil)
	wantError(t, err, "timed out")
	within(t, 10*time.Second, "close", func() { _ = s.Close() })
}

// A52: many calls at once each get their own answer, whatever the order.
func TestParallelCalls(t *testing.T) {
	const n = 16
	s, _ := connect(t, "reverse", strconv.Itoa(n))
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			text := strings.Repeat(strconv.Itoa(i%10), 100_000) + strconv.Itoa(i)
			r, err := s.Call(context.Background(), "echo", json.RawMessage(`{"text":"`+text+`"}`))
			if err != nil || r.Text != text {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

// A server that stops reading holds up neither the call that meets it nor
// later ones nor the close.
func TestServerStopsReading(t *testing.T) {
	s, _ := connect(t, "noread", "", func(c *Config) { c.CallTimeout = 400 * time.Millisecond })
	big := json.RawMessage(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)
	for i := range 3 {
		within(t, patience/2, "a call", func() {
			_, err := s.Call(context.Background(), "echo", big)
			wantError(t, err, "timed out after 0.4 s")
			if i == 2 { // behind the one that is stuck half written
				wantError(t, err, "the server does not read its input")
			}
		})
	}
	within(t, 10*time.Second, "close", func() { _ = s.Close() })
}

// A server that only asks and never reads is let go of, not fed for ever.
func TestPingFlood(t *testing.T) {
	err := refused(t, "pingflood", "", func(c *Config) { c.ConnectTimeout = time.Second })
	wantError(t, err, "no answer to initialize in 1 s")
}

// M4: a line of 100 MB is refused with little memory; 3 MB and 10 MB pass.
func TestLargeAnswers(t *testing.T) {
	s, _ := connect(t, "huge", "3")
	if n := len(call(t, s, "echo", "")); n != 3<<20 {
		t.Errorf("%d bytes", n)
	}
	call(t, s, "seen", "")
	s, _ = connect(t, "huge", "10")
	if n := len(call(t, s, "echo", "")); n != 10<<20 {
		t.Errorf("%d bytes", n)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, _ = connect(t, "huge", "100")
	_, err := s.Call(context.Background(), "echo", nil)
	wantError(t, err, "message larger than 64 MiB")
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 110<<20 {
		t.Errorf("refusing took %d MiB", grown>>20)
	}
}

// A03, A04, M8: what a server inherits.
func TestWhatServersInherit(t *testing.T) {
	for i := range 20 {
		t.Setenv(fmt.Sprintf("PLANTED_API_KEY_%d", i), "secret-value")
	}
	t.Setenv("LC_TEST", "yes")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, _ := connect(t, "look", "", func(c *Config) { c.Dir = dir; c.Env["X_GIVEN"] = "1"; c.Env["HOME"] = "/elsewhere" })
	got := call(t, s, "echo", "")
	for _, want := range []string{"files 3\n", "dir " + dir + "\n", "\nX_GIVEN=1", "\nHOME=/elsewhere", "\nPATH=" + os.Getenv("PATH"), "\nLC_TEST=yes"} {
		if !strings.Contains(got, want) {
			t.Errorf("the server does not see %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "secret-value") || strings.Contains(got, "PLANTED") {
		t.Errorf("the server sees secrets:\n%s", got)
	}
}
