//go:build unix && !linux

package mcp

import "syscall"

// Without /proc a descendant is known by its process group only.

func dieWithUs(*syscall.SysProcAttr) {}

func settleIn() {}

func sweepAdopted() {}

type kin struct{}

func (*kin) born(int) {}
func (*kin) died()    {}

// descendants names the whole group as one negative process number while it
// has members.
func (p *process) descendants() []int {
	if syscall.Kill(-p.pid(), 0) != nil {
		return nil
	}
	return []int{-p.pid()}
}
