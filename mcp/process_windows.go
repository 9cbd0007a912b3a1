//go:build windows

package mcp

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// politeSignal is what Windows has in its place.
var politeSignal = os.Kill

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func endedBy(*os.ProcessState) string { return "" }

func settleIn() {}

func sweepAdopted() {}

// kin holds the job object that the leader and all it starts belong to. The
// system ends them all when the job's last handle is closed, so also when we
// die.
type kin struct{ job windows.Handle }

func (k *kin) born(pid int) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return
	}
	leader, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, leader)
		_ = windows.CloseHandle(leader)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return
	}
	k.job = job
}

func (*kin) died() {}

// descendants are not listed here: ending the job ends them.
func (p *process) descendants() []int { return nil }

func (p *process) signalAll(os.Signal) {
	if p.kin.job != 0 {
		_ = windows.TerminateJobObject(p.kin.job, 1)
		return
	}
	_ = p.cmd.Process.Kill()
}
