package builtins

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/model"
)

// defaultParallel is how many calls of one turn run side by side at most.
const defaultParallel = 8

// parallelCall is one call of a turn whose calls all only read.
type parallelCall struct {
	tool *MCPTool
	args json.RawMessage
	r    *mcp.Result
	err  error
	took time.Duration
	skip bool // it failed before it was sent
}

// besides gives the calls of a turn where they may run side by side: more than
// one, and all of MCP tools whose servers say that they only read.
func (l *toolLoop) besides(calls []model.ToolCall) []*parallelCall {
	if len(calls) < 2 || len(calls) > maxCallsPerTurn || l.called+len(calls) > maxCallsPerRun || l.parallel() < 2 {
		return nil
	}
	out := make([]*parallelCall, len(calls))
	for i, call := range calls {
		o := l.find(call.Name)
		if o == nil || o.mcp == nil || !o.mcp.tool.Annotations.ReadOnly || o.mcp.server.deps.Tape != nil {
			return nil
		}
		out[i] = &parallelCall{tool: o.mcp}
		out[i].args, out[i].err = objectArgs(call.Args)
	}
	return out
}

func (l *toolLoop) parallel() int {
	switch {
	case l.o.parallel > 0:
		return l.o.parallel
	case l.deps.MCP.MaxParallel > 0:
		return l.deps.MCP.MaxParallel
	}
	return defaultParallel
}

// runBesides makes the checks of each call in order, sends all, and words and
// notes the outcomes in order.
func (l *toolLoop) runBesides(calls []model.ToolCall, run []*parallelCall) ([]model.ToolResult, error) {
	for _, p := range run {
		l.called++
		if p.err == nil {
			p.err = p.tool.before(l.at, p.args)
		}
		p.skip = p.err != nil
	}
	if stop := l.sendAll(run); stop != nil {
		return nil, stop
	}
	out := make([]model.ToolResult, len(run))
	for i, p := range run {
		r := model.ToolResult{CallID: calls[i].ID, Name: calls[i].Name}
		err := p.err
		if !p.skip {
			if aerr := p.tool.answered(l.at, p.r, p.took); aerr != nil {
				return nil, aerr
			}
			p.r, err = p.tool.after(l.at, p.r, p.err)
		}
		if err == nil {
			r.Text, r.Images = p.tool.shown(p.r)
		} else if err = l.told(&r, l.t.Located(err)); err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}

// sendAll sends the calls side by side, and answers meanwhile what their
// servers ask.
func (l *toolLoop) sendAll(run []*parallelCall) error {
	x := newTalk(l.t)
	servers := map[*MCPServer]bool{}
	for _, p := range run {
		if s := p.tool.server; !p.skip && !servers[s] {
			servers[s] = true
			s.asks.join(x)
			defer s.asks.end(x)
		}
	}
	slots := make(chan struct{}, l.parallel())
	return x.during(func(ctx context.Context) {
		var all sync.WaitGroup
		for _, p := range run {
			if p.skip {
				continue
			}
			slots <- struct{}{}
			all.Go(func() {
				defer func() { <-slots }()
				began := time.Now()
				p.r, p.err = p.tool.send(ctx, p.args)
				p.took = time.Since(began)
			})
		}
		all.Wait()
	})
}

// told makes a result of an error for the model; an error that ends the program
// comes back.
func (l *toolLoop) told(r *model.ToolResult, err error) error {
	if eval.Fatal(err) {
		return err
	}
	r.Text, r.Images, r.IsError = "error: "+err.Error(), nil, true
	return nil
}
