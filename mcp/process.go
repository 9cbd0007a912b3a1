package mcp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// markVariable is set in the environment of every server. Its value names one
// process of ours; whatever the server starts inherits it, so that a program
// that has left the server's process group and session is still known as its
// descendant.
const markVariable = "SENSE_MCP_SERVER"

// process is a server's process with our ends of its pipes. It leads a process
// group of its own.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	errs   *os.File
	stderr ring

	mark        string
	kin         kin
	exited      chan struct{} // closed when the leader has ended and was waited for
	stderrEnded chan struct{}
	stopping    sync.Once
	stopped     chan struct{}
}

// grace says how long the steps of ending a process may take: after its input
// has ended, and after the request to end.
type grace struct{ input, term time.Duration }

var (
	politeGrace = grace{2 * time.Second, 2 * time.Second}
	// finalGrace is that of the end of a run: two seconds at most in all.
	finalGrace = grace{time.Second, 500 * time.Millisecond}
	// quickGrace is for servers that failed to connect and for Ctrl-C.
	quickGrace = grace{50 * time.Millisecond, 100 * time.Millisecond}
)

// startProcess starts a server's command with pipes for all three standard
// files, our safe environment and nothing else of ours. mark is the value of its
// markVariable.
func startProcess(cfg *Config, mark string) (*process, error) {
	program, err := systemFinder(cfg.Env, cfg.Dir).find(cfg.Command)
	if err != nil {
		return nil, err
	}
	if err := checkBatch(program, cfg.Args); err != nil {
		return nil, err
	}
	p := &process{
		mark:        mark,
		exited:      make(chan struct{}),
		stderrEnded: make(chan struct{}),
		stopped:     make(chan struct{}),
	}
	p.cmd = &exec.Cmd{Path: program, Args: append([]string{cfg.Command}, cfg.Args...), Dir: cfg.Dir}
	p.cmd.Env = append(systemEnv(cfg.Env), markVariable+"="+p.mark)
	ownGroup(p.cmd)
	settleIn()
	if err := p.launch(); err != nil {
		return nil, fmt.Errorf("command '%s' could not be started: %s", clean(cfg.Command, 200), startFault(err))
	}
	go p.stderr.drain(p.errs, p.stderrEnded)
	return p, nil
}

// startFault gives the system's reason without Go's words around it.
func startFault(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return clean(err.Error(), 200)
}

// launch opens the pipes and starts the command.
func (p *process) launch() error {
	var theirs, ours []*os.File
	closeAll := func(files []*os.File) {
		for _, f := range files {
			_ = f.Close()
		}
	}
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(append(theirs, ours...))
			return err
		}
		if i == 0 {
			r, w = w, r
		}
		theirs, ours = append(theirs, w), append(ours, r)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	p.stdin, p.stdout, p.errs = ours[0], ours[1], ours[2]
	err := p.run()
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
	}
	return err
}

// run starts the command and waits for it on one locked thread: the system
// ends the command when the thread that started it ends, so that thread has to
// last as long as the command.
func (p *process) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := p.cmd.Start()
		if err != nil {
			started <- err
			return
		}
		p.kin.born(p.pid())
		started <- nil
		_ = p.cmd.Wait() // ProcessState holds what it tells
		p.kin.died()
		close(p.exited)
	}()
	return <-started
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// status tells how the process ended, in words. It waits a moment for the end
// and for the last of standard error; ok is false while the process lives.
func (p *process) status(wait time.Duration) (text string, ok bool) {
	if !waitFor(p.exited, wait) {
		return "", false
	}
	waitFor(p.stderrEnded, 100*time.Millisecond)
	state := p.cmd.ProcessState
	if state == nil {
		return "ended", true
	}
	if sig := endedBy(state); sig != "" {
		return "was ended by signal " + sig, true
	}
	return "exited with status " + strconv.Itoa(state.ExitCode()), true
}

// stop ends the process and all that it started: it closes its input, asks its
// group to end, then kills what is left. Further calls wait for the first. It
// takes the sum of g and a moment more, or as long as killTime where the machine is so
// busy that what was killed does not end.
func (p *process) stop(g grace) {
	p.stopping.Do(func() {
		defer close(p.stopped)
		p.descendants() // those that leave later are known from now on
		_ = p.stdin.Close()
		if !p.gone(g.input) {
			p.signalAll(politeSignal)
			if !p.gone(g.term) {
				p.killAll()
			}
		}
		waitFor(p.exited, 500*time.Millisecond)
		_ = p.stdout.Close()
		waitFor(p.stderrEnded, 100*time.Millisecond) // its last words, which a close would lose
		_ = p.errs.Close()
		waitFor(p.stderrEnded, 500*time.Millisecond)
	})
	<-p.stopped
}

// gone waits until neither the leader nor anything it started is left, at most
// for d. What the leader leaves behind has no more than a quarter of that
// time: it has lost its client.
func (p *process) gone(d time.Duration) bool {
	deadline := time.Now().Add(d)
	if !waitFor(p.exited, d) {
		return false
	}
	if short := time.Now().Add(d / 4); short.Before(deadline) {
		deadline = short
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if len(p.descendants()) == 0 {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}

// killTime is how long killAll goes on.
const killTime = 2 * time.Second

// killAll kills the group and every descendant until none is found: a process may
// start another while we look, and on a busy machine one that was killed takes a while
// to end.
func (p *process) killAll() {
	deadline := time.Now().Add(killTime)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		p.signalAll(os.Kill)
		if waitFor(p.exited, pause) && len(p.descendants()) == 0 || time.Now().After(deadline) {
			return
		}
		time.Sleep(pause)
	}
}
