//go:build unix

package pybridge

import "syscall"

// supported tells whether the system can give a child more than three files.
const supported = true

// interrupt sends what Ctrl-C sends.
func interrupt(pid int) { _ = syscall.Kill(pid, syscall.SIGINT) }

// killGroup ends the process and all it started that did not leave its group.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
