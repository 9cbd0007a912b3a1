//go:build linux

package mcp

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// guardScript waits on its input. A line means that all is well and ends it;
// the end of the input without one means that we died without closing, and
// then it kills whatever carries the mark it was given.
const guardScript = `read -r word && exit 0
round=0 clear=0
while [ $round -lt 100 ] && [ $clear -lt 3 ]; do
	round=$((round + 1)) clear=$((clear + 1))
	for file in $(grep -lsF "$1" /proc/[0-9]*/environ); do
		clear=0 pid=${file#/proc/}
		kill -9 "${pid%/environ}" 2>/dev/null
	done
	[ $clear -eq 0 ] || sleep 0.02
done`

// guard is a tiny process that ends the servers and all they started when we
// are killed and can no longer do it.
type guard struct {
	in    *os.File
	ended chan struct{}
}

// startGuard starts a guard for all processes whose mark begins with mark. It
// is a safety net: where it cannot be started there is none.
func startGuard(mark string) *guard {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", guardScript, "sense-guard", markVariable+"="+mark)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Dir = "/"
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		_ = w.Close()
		return nil
	}
	g := &guard{in: w, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(g.ended)
	}()
	return g
}

// end dismisses the guard.
func (g *guard) end() {
	if g == nil {
		return
	}
	_, _ = g.in.WriteString("done\n")
	_ = g.in.Close()
	waitFor(g.ended, time.Second)
}
