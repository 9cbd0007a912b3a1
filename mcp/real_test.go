//go:build linux

package mcp

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sense-lang/sense/internal/real"
)

// realServer gives the configuration of a published server.
func realServer(t *testing.T, name string, args ...string) Config {
	t.Helper()
	main := real.Module(t, "@modelcontextprotocol/"+name+"/dist/index.js")
	return Config{Name: name, Command: real.Command(t, "node"), Args: append([]string{main}, args...), ConnectTimeout: real.Patience, CallTimeout: real.Patience}
}

func TestRealFilesystem(t *testing.T) {
	dir := t.TempDir()
	s, err := newManager(t).Connect(context.Background(), realServer(t, "server-filesystem", dir))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Tools()); n < 10 {
		t.Errorf("%d tools", n)
	}
	path := filepath.Join(dir, "a.txt")
	args, _ := json.Marshal(map[string]string{"path": path, "content": "héllo <b>"})
	call(t, s, "write_file", string(args))
	if got := call(t, s, "read_text_file", `{"path":`+jsonString(path)+`}`); got != "héllo <b>" {
		t.Errorf("read %q", got)
	}
	r, err := s.Call(context.Background(), "read_text_file", json.RawMessage(`{"path":"/etc/passwd"}`))
	if err != nil || !r.IsError || !strings.Contains(r.Text, "denied") {
		t.Errorf("%+v, %v", r, err)
	}
}

// listening starts server-everything on a port of its own and gives its
// address.
func listening(t *testing.T, transport, path string) string {
	t.Helper()
	cfg := realServer(t, "server-everything", transport)
	port := strconv.Itoa(real.Port(t))
	addr := "127.0.0.1:" + port
	cmd := exec.Command(cfg.Command, cfg.Args...)
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for deadline := time.Now().Add(real.Patience); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return "http://" + addr + path
		}
		if time.Now().After(deadline) {
			t.Fatal("server-everything does not listen")
		}
	}
}

func TestRealEverything(t *testing.T) {
	t.Run("stdio", func(t *testing.T) { everything(t, realServer(t, "server-everything", "stdio")) })
	t.Run("http", func(t *testing.T) {
		everything(t, published(listening(t, "streamableHttp", "/mcp")))
	})
	t.Run("sse", func(t *testing.T) {
		everything(t, published(listening(t, "sse", "/sse")))
	})
}

func published(url string) Config {
	return Config{Name: "e", URL: url, ConnectTimeout: real.Patience, CallTimeout: real.Patience}
}

// everything uses all that server-everything has.
func everything(t *testing.T, cfg Config) {
	var progress atomic.Int32
	updated := make(chan string, 1)
	cfg.Warn = func(s string) { t.Error(s) }
	cfg.Handlers = Handlers{
		Sample: func(_ context.Context, r *SampleRequest) (*SampleResult, error) {
			return &SampleResult{Model: "m", Text: "sampled " + r.Messages[0].Blocks[0].Text}, nil
		},
		Elicit: func(context.Context, *ElicitRequest) (*ElicitResult, error) {
			return &ElicitResult{Action: "decline"}, nil
		},
		Roots:    func(context.Context) ([]Root, error) { return []Root{{URI: "file:///tmp", Name: "tmp"}}, nil },
		Progress: func(Progress) { progress.Add(1) },
		ResourceUpdated: func(uri string) {
			select {
			case updated <- uri:
			default:
			}
		},
	}
	s, err := newManager(t).Connect(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ tool, args, want string }{
		{"echo", `{"message":"hi"}`, "Echo: hi"},
		{"get-sum", `{"a":1,"b":2}`, "The sum of 1 and 2 is 3."},
		{"get-tiny-image", ``, "\n[image image/png, "},
		{"get-structured-content", `{"location":"Chicago"}`, `{"temperature":36,`},
		{"get-resource-links", `{"count":2}`, "[resource link demo://resource/dynamic/blob/1, "},
		{"trigger-sampling-request", `{"prompt":"p","maxTokens":10}`, "sampled "},
		{"trigger-elicitation-request", ``, "declined"},
		{"get-roots-list", ``, "file:///tmp"},
		{"trigger-long-running-operation", `{"duration":1,"steps":2}`, "completed"},
	} {
		if got := call(t, s, tt.tool, tt.args); !strings.Contains(got, tt.want) {
			t.Errorf("%s gave %q", tt.tool, got)
		}
	}
	if progress.Load() == 0 {
		t.Error("no progress was reported")
	}
	methods(t, s, updated)
}

// methods uses what server-everything has beside tools.
func methods(t *testing.T, s *Server, updated <-chan string) {
	ctx := context.Background()
	resources, err := s.Resources(ctx)
	if err != nil || len(resources) == 0 {
		t.Fatalf("%d resources, %v", len(resources), err)
	}
	if templates, err := s.ResourceTemplates(ctx); err != nil || len(templates) == 0 {
		t.Errorf("%d templates, %v", len(templates), err)
	}
	if blocks, err := s.Read(ctx, resources[0].URI); err != nil || RenderBlocks(blocks) == "" {
		t.Errorf("read %v, %v", blocks, err)
	}
	prompts, err := s.Prompts(ctx)
	if err != nil || len(prompts) == 0 {
		t.Fatalf("%d prompts, %v", len(prompts), err)
	}
	if p, err := s.Prompt(ctx, "simple-prompt", nil); err != nil || len(p.Messages) == 0 {
		t.Errorf("prompt %+v, %v", p, err)
	}
	if c, err := s.Complete(ctx, CompletionOf{Prompt: "completable-prompt", Argument: "department", Value: "E"}); err != nil || len(c.Values) == 0 {
		t.Errorf("completion %+v, %v", c, err)
	}
	for _, err := range []error{s.Ping(ctx), s.SetLevel(ctx, "debug"), s.Subscribe(ctx, resources[0].URI)} {
		if err != nil {
			t.Error(err)
		}
	}
	call(t, s, "toggle-subscriber-updates", "")
	select {
	case <-updated:
	case <-time.After(real.Patience):
		t.Error("no update of a resource came")
	}
	if err := s.Unsubscribe(ctx, resources[0].URI); err != nil {
		t.Error(err)
	}
}
