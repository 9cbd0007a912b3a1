package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// echoed is what both servers answer to "hello".
const echoed = "Echo: hello"

// timed measures call, which may be used by many at once, after a warm-up.
func timed(calls int, call func() (string, error)) (cost, error) {
	var c cost
	var err error
	if _, err = spread(calls/10, 1, call); err != nil {
		return c, err
	}
	var times []time.Duration
	for range calls / segment {
		took, err := spread(segment, 1, call)
		if err != nil {
			return c, err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	c.alone = times[len(times)/2]
	c.together, err = spread(calls, atOnce, call)
	return c, err
}

// spread makes calls from n goroutines and gives the time for one.
func spread(calls, n int, call func() (string, error)) (time.Duration, error) {
	each := calls / n
	failed := make([]error, n)
	var all sync.WaitGroup
	begun := time.Now()
	for g := range n {
		all.Go(func() {
			for range each {
				text, err := call()
				if err == nil && text != echoed {
					err = fmt.Errorf("answered %q", text)
				}
				if err != nil {
					failed[g] = err
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(begun) / time.Duration(each*n), errors.Join(failed...)
}

// hand is the least client that one could get away with: no supervision, no limits, no
// time-outs, no capabilities.
type hand struct {
	in      io.Writer
	mu      sync.Mutex
	waiting map[int]chan json.RawMessage
	last    int
}

func byHand(s server) (cost, error) {
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return cost{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return cost{}, err
	}
	if err := cmd.Start(); err != nil {
		return cost{}, err
	}
	h := &hand{in: in, waiting: map[int]chan json.RawMessage{}}
	go h.read(out)
	h.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hand","version":"1"}}`)
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	c, err := timed(s.calls, func() (string, error) {
		var r struct{ Content []struct{ Text string } }
		if err := json.Unmarshal(h.request("tools/call", `{"name":"echo","arguments":{"message":"hello"}}`), &r); err != nil {
			return "", err
		}
		return r.Content[0].Text, nil
	})
	_ = in.Close()
	return c, errors.Join(err, cmd.Wait())
}

func (h *hand) request(method, params string) json.RawMessage {
	answer := make(chan json.RawMessage, 1)
	h.mu.Lock()
	h.last++
	h.waiting[h.last] = answer
	_, _ = io.WriteString(h.in, `{"jsonrpc":"2.0","id":`+strconv.Itoa(h.last)+`,"method":"`+method+`","params":`+params+"}\n")
	h.mu.Unlock()
	return <-answer
}

func (h *hand) read(out io.Reader) {
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
		if json.Unmarshal(line, &m) != nil || m.Result == nil {
			continue // a notification
		}
		h.mu.Lock()
		answer := h.waiting[m.ID]
		delete(h.waiting, m.ID)
		h.mu.Unlock()
		answer <- m.Result
	}
}

// byMCPGo is mcp-go's client as its documentation uses it, but for the revision, which
// saves it a probe that plays no part in calls.
func byMCPGo(s server) (c cost, err error) {
	ctx := context.Background()
	cl := client.NewClient(transport.NewStdio(s.argv[0], os.Environ(), s.argv[1:]...), client.WithProtocolVersion("2025-11-25"))
	if err := cl.Start(ctx); err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, cl.Close()) }()
	if _, err := cl.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		return c, err
	}
	return timed(s.calls, func() (string, error) {
		r, err := cl.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"message": "hello"}}})
		if err != nil {
			return "", err
		}
		text, ok := mcp.AsTextContent(r.Content[0])
		if !ok {
			return "", errors.New("no text")
		}
		return text.Text, nil
	})
}
