//go:build linux

package mcp

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithUs has the system kill the command when we die.
func dieWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// settleIn makes us the parent of descendants whose own parent dies, so
// that they stay within reach and leave no zombies.
// It also keeps files that we inherited ourselves from being passed on.
var settleIn = sync.OnceFunc(func() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	if unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	fds, _ := os.ReadDir("/proc/self/fd") // kernels before 5.11
	for _, f := range fds {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
})

// procStat is what we need of /proc/PID/stat.
type procStat struct {
	pid, ppid, pgid, sid int
	state                byte
	start                uint64 // clock ticks since boot
}

// readStat reads one process's entry; ok is false when it is gone.
func readStat(pid int) (procStat, bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, false
	}
	return parseStat(pid, raw)
}

// parseStat takes the line apart. The second field, the program's name, may
// hold anything, so the others are counted from the last closing bracket.
func parseStat(pid int, raw []byte) (procStat, bool) {
	f := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(f) < 20 {
		return procStat{}, false
	}
	num := func(i int) int { n, _ := strconv.Atoi(string(f[i])); return n }
	start, _ := strconv.ParseUint(string(f[19]), 10, 64)
	return procStat{pid: pid, state: f[0][0], ppid: num(1), pgid: num(2), sid: num(3), start: start}, true
}

// allProcs lists the machine's processes.
func allProcs() map[int]procStat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	procs := make(map[int]procStat, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if st, ok := readStat(pid); ok {
				procs[pid] = st
			}
		}
	}
	return procs
}

// kin is what is remembered of a process to know its descendants by.
type kin struct {
	mu    sync.Mutex
	start uint64         // the leader's
	end   uint64         // when the leader was found ended; 0 before
	seen  map[int]uint64 // descendants found so far and when they started
}

// born notes the leader's start, for which the leader must not be waited for
// yet.
func (k *kin) born(pid int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	st, _ := readStat(pid)
	k.start, k.seen = st.start, map[int]uint64{}
}

// died notes that the leader has ended.
func (k *kin) died() {
	k.mu.Lock()
	defer k.mu.Unlock()
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) == nil {
		k.end = uint64(now.Sec)*100 + uint64(now.Nsec)/1e7 + 1
	}
}

// marked says whether a process has the server's mark in its environment. A
// process that is just being started shows none for a moment, as does one that
// is about to be gone; it is then unsure.
func (p *process) marked(st procStat) (is, unsure bool) {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(st.pid) + "/environ")
	if err != nil || len(env) == 0 {
		return false, st.state != 'Z' && st.ppid == os.Getpid()
	}
	return bytes.Contains(env, []byte(markVariable+"="+p.mark)), false
}

// related says whether a process stems from the leader by any sign of its
// own: seen before, in the leader's group, or marked. A group's number may be
// given out again once the group is empty, so a process counts as a member
// only if it began within the leader's life.
func (p *process) related(st procStat) (is, unsure bool) {
	if start, ok := p.kin.seen[st.pid]; ok && start == st.start {
		return true, false
	}
	if st.start < p.kin.start {
		return false, false
	}
	if st.pgid == p.pid() && (p.kin.end == 0 || st.start <= p.kin.end) {
		return true, false
	}
	return p.marked(st)
}

// descendants lists the living processes that stem from the leader, which is
// not among them, and reaps those that have ended and are ours to reap. It
// looks again while it found none but cannot be sure of it.
func (p *process) descendants() []int {
	p.kin.mu.Lock()
	defer p.kin.mu.Unlock()
	for i := range 100 { // a process may be long in starting on a busy machine
		before := lastPID()
		list, unsure := p.scan()
		if len(list) > 0 || !unsure && (i >= 10 || before == lastPID()) {
			return list
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// lastPID gives the number of the process that was started last, so that a
// change shows that a list of processes may lack one.
func lastPID() string {
	raw, _ := os.ReadFile("/proc/loadavg")
	f := bytes.Fields(raw)
	if len(f) == 0 {
		return ""
	}
	return string(f[len(f)-1])
}

// scan goes once through all processes for descendants.
func (p *process) scan() (list []int, unsure bool) {
	procs, self := allProcs(), os.Getpid()
	known := map[int]bool{self: false, 1: false, 0: false}
	if st, ok := procs[p.pid()]; ok && st.start == p.kin.start {
		known[p.pid()] = true
	}
	var find func(st procStat, hops int) bool
	find = func(st procStat, hops int) bool {
		if answer, ok := known[st.pid]; ok {
			return answer
		}
		known[st.pid] = false // ends the walk should the parents form a ring
		is, maybe := p.related(st)
		if parent, ok := procs[st.ppid]; !is && ok && hops < 1000 {
			is = find(parent, hops+1)
		}
		unsure = unsure || maybe && !is
		known[st.pid] = is
		return is
	}
	for pid, st := range procs {
		switch {
		case pid == p.pid() && st.start == p.kin.start || !find(st, 0):
		case st.state == 'Z' || st.state == 'X':
			reap(st, self)
			unsure = true // it may have started another before it ended
		default:
			p.kin.seen[pid] = st.start
			list = append(list, pid)
		}
	}
	return list, unsure
}

// reap waits for an ended descendant that was handed to us.
func reap(st procStat, self int) {
	if st.ppid == self {
		_, _ = syscall.Wait4(st.pid, nil, syscall.WNOHANG, nil)
	}
}

// sweepAdopted kills the processes that were handed to us because a server's
// descendant left them behind, and that carry no sign of that server any more.
// We start nothing in a session of its own, so a child of ours that has one
// came that way. It is for the end of a run, when no server is left.
func sweepAdopted() {
	self := os.Getpid()
	for range 100 { // on a busy machine what was killed takes a while to end
		left := 0
		procs := allProcs()
		for pid, st := range procs {
			if st.ppid != self || st.sid == procs[self].sid {
				continue
			}
			left++ // one that has ended too: its children come to us meanwhile
			if st.state != 'Z' && st.state != 'X' {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			reap(st, self)
		}
		if left == 0 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}
