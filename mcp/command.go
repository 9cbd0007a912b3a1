package mcp

import (
	"context"
	"errors"
	"io"
	"syscall"
)

// CommandResult is how a command ended.
type CommandResult struct {
	// Status is the exit status; 128 and the signal's number where a signal
	// ended it.
	Status int
	// Stdout is all it wrote to its standard output, Stderr the last 64 KiB
	// that it wrote to its standard error.
	Stdout, Stderr []byte
}

// ErrOutput says that a command wrote more than it may.
var ErrOutput = errors.New("too much output")

// RunCommand runs a command to its end with the care that servers get: no
// shell, a short environment, a process group of its own, and nothing that it
// started is left when RunCommand returns, nor, with w, when we are killed. Of cfg only Command, Args, Env and
// Dir count. input is its standard input. It may write limit bytes: at more it
// is ended and the error is ErrOutput. When ctx ends it is ended too and the
// error is the context's.
func RunCommand(ctx context.Context, w *Watch, cfg Config, input string, limit int) (*CommandResult, error) {
	p, err := startProcess(&cfg, w.mark())
	if err != nil {
		return nil, err
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		_, _ = io.WriteString(p.stdin, input) // a command need not read it
		_ = p.stdin.Close()
	}()
	var out []byte
	read := make(chan struct{})
	full := make(chan struct{})
	go func() {
		defer close(read)
		out, _ = io.ReadAll(io.LimitReader(p.stdout, int64(limit)+1)) // it ends when nobody can write any more
		if len(out) > limit {
			close(full)
		}
	}()
	select {
	case <-p.exited:
		p.endRest()
		waitFor(read, politeGrace.input)
		waitFor(p.stderrEnded, politeGrace.input)
	case <-full:
	case <-ctx.Done():
	}
	p.stop(quickGrace)
	<-fed
	<-read
	switch {
	case len(out) > limit:
		return nil, ErrOutput
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return &CommandResult{Status: p.exitStatus(), Stdout: out, Stderr: []byte(p.stderr.text())}, nil
}

// endRest ends what a command that has ended itself left behind.
func (p *process) endRest() {
	if len(p.descendants()) == 0 {
		return
	}
	p.signalAll(politeSignal)
	if !p.gone(quickGrace.term) {
		p.killAll()
	}
}

// exitStatus gives the status of a process that has ended, as a shell does.
func (p *process) exitStatus() int {
	state := p.cmd.ProcessState
	if state == nil {
		return -1
	}
	if ws, ok := state.Sys().(interface {
		Signaled() bool
		Signal() syscall.Signal
	}); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}
