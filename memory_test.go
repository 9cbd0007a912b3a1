//go:build linux

package sense_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// largeRun makes ten million turns with closures, agents and big arrays; what
// lives at any moment is small.
const largeRun = `
def counter(start):
  n = start
  def next(k):
    n = n + k
    return n
  return next

def closures(turns):
  s = 0
  for i in range(turns):
    f = counter(i)
    s = (s + f(1) + f(2)) % 1000003
  return s

def arrays(rounds):
  s = 0
  for r in range(rounds):
    xs = range(1000000)
    text = ""
    for x in xs:
      s = (s + x) % 1000003
    for i in range(100000):
      text = text + "ab"
    s = s + len(text)
  return s

def agents(turns):
  s = 0
  for i in range(turns):
    agent worker:
      got = pause("more")
      doubled = got * 2
    start(worker)
    resume(worker, i)
    s = (s + worker.doubled) % 1000003
  return s

def records(turns):
  kept = []
  for i in range(turns):
    r = {"id": i, "tags": ["a", str(i)], "score": i / 7}
    if len(kept) == 1000:
      kept = []
    push(kept, r)
  return len(kept)

print(closures(4000000), arrays(5), agents(20000), records(980000))
`

// The whole stays below 256 MB, although what it makes is gigabytes. On a busy
// machine the collector may come late, so the best of three runs counts.
func TestTenMillionTurnsInLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	script := filepath.Join(t.TempDir(), "large.sns")
	if err := os.WriteFile(script, []byte(largeRun), 0o644); err != nil {
		t.Fatal(err)
	}
	var peaks []int64
	for range 3 {
		mb := peakOfLargeRun(t, script)
		if peaks = append(peaks, mb); mb <= 256 {
			t.Logf("%v MB at most", peaks)
			return
		}
	}
	t.Errorf("%v MB at most", peaks)
}

// peakOfLargeRun gives the most megabytes that a run held at any moment.
func peakOfLargeRun(t *testing.T, script string) int64 {
	t.Helper()
	cmd := exec.Command(binary(t, "sense"), "run", script)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "108 1000030 978803 1000" {
		t.Fatalf("%v: %s", err, out)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Skip("the system does not tell the memory of a process")
	}
	return usage.Maxrss >> 10 // KiB on Linux, where this runs
}
