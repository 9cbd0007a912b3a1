package pybridge

import "syscall"

// ownGroup puts the child into a process group of its own and has the kernel kill it when we die.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
