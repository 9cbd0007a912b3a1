//go:build !unix

package pybridge

import "syscall"

// supported tells whether the system can give a child more than three files.
const supported = false

func ownGroup() *syscall.SysProcAttr { return nil }
func interrupt(int)                  {}
func killGroup(int)                  {}
