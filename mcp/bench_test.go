//go:build linux

package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// tiny is the fastest server we can write: it echoes by cutting bytes.
func tiny(p *peer) {
	for {
		line, err := p.in.ReadSlice('\n')
		if err != nil {
			os.Exit(0)
		}
		id := between(line, `"id":`, ",")
		switch {
		case bytes.Contains(line, []byte(`"tools/call"`)):
			text := between(line, `"text":`, "}")
			out := make([]byte, 0, 200+len(text))
			out = append(append(out, `{"jsonrpc":"2.0","id":`...), id...)
			out = append(append(out, `,"result":{"content":[{"type":"text","text":`...), text...)
			_, _ = os.Stdout.Write(append(out, "}]}}\n"...))
		case bytes.Contains(line, []byte(`"tools/list"`)):
			p.line(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`, id)
		case bytes.Contains(line, []byte(`"initialize"`)):
			p.line(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1"}}}`, id)
		}
	}
}

func between(line []byte, from, to string) []byte {
	i := bytes.Index(line, []byte(from)) + len(from)
	return bytes.Clone(line[i : i+bytes.Index(line[i:], []byte(to))])
}

// handWritten is the least client one could get away with: no supervision, no
// limits, no time-outs.
type handWritten struct {
	in      *os.File
	mu      sync.Mutex
	waiting map[int]chan []byte
	last    int
}

func (h *handWritten) read(out *os.File) {
	r := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal(line, &m) == nil {
			h.mu.Lock()
			ch := h.waiting[m.ID]
			delete(h.waiting, m.ID)
			h.mu.Unlock()
			ch <- m.Result
		}
	}
}

func (h *handWritten) call(args string) string {
	ch := make(chan []byte, 1)
	h.mu.Lock()
	h.last++
	h.waiting[h.last] = ch
	_, _ = h.in.WriteString(`{"jsonrpc":"2.0","id":` + strconv.Itoa(h.last) + `,"method":"tools/call","params":{"name":"echo","arguments":` + args + "}}\n")
	h.mu.Unlock()
	var r struct{ Content []struct{ Text string } }
	_ = json.Unmarshal(<-ch, &r)
	return r.Content[0].Text
}

// percentiles runs f from n goroutines at once and reports p50.
func percentiles(b *testing.B, n int, f func() string) {
	b.ReportAllocs()
	times := make([][]time.Duration, n)
	var all sync.WaitGroup
	b.ResetTimer()
	for g := range n {
		all.Go(func() {
			for i := g; i < b.N; i += n {
				begun := time.Now()
				if f() != "hello" {
					panic("wrong answer")
				}
				times[g] = append(times[g], time.Since(begun))
			}
		})
	}
	all.Wait()
	b.StopTimer()
	flat := slices.Concat(times...)
	slices.Sort(flat)
	b.ReportMetric(float64(flat[len(flat)/2].Nanoseconds())/1000, "p50-us")
}

const benchArgs = `{"text":"hello"}`

func BenchmarkEcho(b *testing.B) {
	cfg, _ := faulty("tiny", "")
	for _, n := range []int{1, 16} {
		b.Run(fmt.Sprintf("ours/%d", n), func(b *testing.B) {
			m := NewManager()
			defer m.CloseAll()
			s, err := m.Connect(context.Background(), cfg)
			if err != nil {
				b.Fatal(err)
			}
			percentiles(b, n, func() string {
				r, err := s.Call(context.Background(), "echo", json.RawMessage(benchArgs))
				if err != nil {
					b.Error(err)
					return ""
				}
				return r.Text
			})
		})
		b.Run(fmt.Sprintf("handwritten/%d", n), func(b *testing.B) {
			cmd := exec.Command(cfg.Command)
			cmd.Env = append(os.Environ(), faultVariable+"=tiny")
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			h := &handWritten{in: in.(*os.File), waiting: map[int]chan []byte{}}
			go h.read(out.(*os.File))
			percentiles(b, n, func() string { return h.call(benchArgs) })
			_ = in.Close()
			_ = cmd.Wait()
		})
		b.Run(fmt.Sprintf("mcp-go/%d", n), func(b *testing.B) {
			c := client.NewClient(transport.NewStdio(cfg.Command, []string{faultVariable + "=tiny"}), client.WithProtocolVersion("2025-11-25"))
			if err := c.Start(context.Background()); err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Initialize(context.Background(), gomcp.InitializeRequest{}); err != nil {
				b.Fatal(err)
			}
			percentiles(b, n, func() string {
				r, err := c.CallTool(context.Background(), gomcp.CallToolRequest{Params: gomcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(benchArgs)}})
				if err != nil {
					b.Error(err)
					return ""
				}
				return r.Content[0].(gomcp.TextContent).Text
			})
		})
	}
}
