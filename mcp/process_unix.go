//go:build unix

package mcp

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

var politeSignal os.Signal = syscall.SIGTERM

// ownGroup makes the command the leader of a process group of its own.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithUs(cmd.SysProcAttr)
}

// endedBy names the signal that ended a process, "" when none did.
func endedBy(state *os.ProcessState) string {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return ""
	}
	return fmt.Sprintf("%d (%s)", int(ws.Signal()), ws.Signal())
}

// signalAll sends a signal to the leader's group and to the descendants that
// have left it.
func (p *process) signalAll(sig os.Signal) {
	s, ok := sig.(syscall.Signal)
	if !ok {
		s = syscall.SIGKILL
	}
	strays := p.descendants()
	select {
	case <-p.exited: // the group's number may be another's by now
	default:
		_ = syscall.Kill(-p.pid(), s)
	}
	for _, pid := range strays {
		_ = syscall.Kill(pid, s)
	}
}
