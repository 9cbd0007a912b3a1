//go:build linux

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
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

// BenchmarkEcho is for profiles; make bench-mcp compares with other clients.
func BenchmarkEcho(b *testing.B) {
	cfg, _ := faulty("tiny", "")
	for _, n := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
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
	}
}
