//go:build unix && !linux

package pybridge

import "syscall"

// ownGroup puts the child into a process group of its own. It ends by itself, between calls, when we die.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
