package sense_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endless are programs that never end of themselves; each prints "go" first.
var endless = []struct{ name, program string }{
	{"while", "while true:\n    x = 1\n"},
	{"an empty while", "while true:\n    pass\n"},
	{"while with continue", "while true:\n    continue\n"},
	{"for over a long range", "for i in range(1000000000000):\n    pass\n"},
	{"nested for", "for i in range(1000000):\n    for j in range(1000000):\n        x = j\n"},
	{"recursion that returns", "def f(n):\n    if n == 0: return 0\n    return f(n - 1)\nwhile true:\n    f(100)\n"},
	{"calls that fan out", "def f(n):\n    if n == 0: return 0\n    return f(n - 1) + f(n - 1)\nf(100)\n"},
	{"a callback of sort", "a = range(3000).map(lambda i: (i * 7919) % 3001)\nwhile true:\n    a.copy().sort(lambda x: 0 - x)\n"},
	{"a callback that never returns", "def f(x):\n    while true:\n        pass\n[1, 2].map(f)\n"},
	{"a reduce", "while true:\n    range(100000).reduce(lambda a, b: a + b, 0)\n"},
	{"try in a loop", "while true:\n    try:\n        raise \"x\"\n    catch e:\n        pass\n"},
	{"a loop in finally", "try:\n    x = 1\nfinally:\n    while true:\n        pass\n"},
	{"catching everything", "while true:\n    try:\n        while true:\n            x = 1\n    catch e:\n        pass\n"},
	{"big integers", "x = 3\nwhile true:\n    x = x * x % (10 ** 3000)\n"},
	{"a big power", "while true:\n    x = 7 ** 1000000\n"},
	{"regular expressions", "import std.text\ns = \"a\".repeat(20000)\nwhile true:\n    text.find_all(\"(a+)+b|a\", s)\n"},
	{"repeated text", "while true:\n    s = \"ab\".repeat(10000000)\n"},
	{"joining text", "s = \"\"\nwhile true:\n    s = (s + \"xyz\")[0:1000]\n"},
	{"an async agent", "async agent a:\n    while true:\n        x = 1\nstart(a)\nawait(a)\n"},
	{"an agent", "agent a:\n    while true:\n        x = 1\nstart(a)\n"},
	{"an async tool", "async tool t():\n    while true:\n        x = 1\nawait(t())\n"},
	{"a session", "session s:\n    while true:\n        x = 1\n"},
	{"an action's body", "irreversible action a():\n    while true:\n        x = 1\nx = a()\nx.verify()\nx.commit()\n"},
	{"a transaction", "transaction:\n    while true:\n        x = 1\n"},
	{"sleeping", "import std.time\nwhile true:\n    time.sleep(3600)\n"},
	{"receiving", "async agent a:\n    receive()\nstart(a)\nimport std.time\ntime.sleep(3600)\n"},
	{"sorting", "a = range(300000).map(lambda i: (i * 7919) % 300007)\nwhile true:\n    a.copy().sort()\n"},
	{"comparing", "a = range(200000)\nb = range(200000)\nwhile true:\n    x = a == b\n"},
	{"printing a value", "a = range(200000)\nwhile true:\n    s = f\"{a}\"\n"},
	{"splitting text", "s = \"a,\".repeat(100000)\nwhile true:\n    x = s.split(\",\")\n"},
	{"json", "import std.json\na = range(100000)\nwhile true:\n    x = json.parse(json.dump(a))\n"},
}

// soon is how long an interrupted program may take here; the mark is 100 ms,
// which TestLoopsStopWithinMark measures where nothing else runs.
const soon = 5 * time.Second

// TestEveryLoopStops interrupts every kind of loop, and lets a time limit end
// it.
func TestEveryLoopStops(t *testing.T) {
	for _, e := range endless {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			if took, code, err := stopLoop(t, e.program, true); took > soon || code != 130 || !clearEnd(err, "interrupted") {
				t.Errorf("Ctrl-C: %v, status %d: %s", took, code, err)
			}
			if took, code, err := stopLoop(t, e.program, false); took > soon || code != 3 || !clearEnd(err, "time limit of 300ms reached") {
				t.Errorf("--timeout: %v, status %d: %s", took, code, err)
			}
		})
	}
}

// TestLoopsStopWithinMark measures the mark of 100 ms; make soak runs it, on a
// machine with nothing else to do.
func TestLoopsStopWithinMark(t *testing.T) {
	if os.Getenv("SENSE_LOOPS") == "" {
		t.Skip("make soak")
	}
	worst, who := time.Duration(0), ""
	for _, e := range endless {
		best := time.Hour
		for range 3 {
			took, _, _ := stopLoop(t, e.program, true)
			best = min(best, took)
		}
		if best > worst {
			worst, who = best, e.name
		}
		if best > 100*time.Millisecond {
			t.Errorf("%s took %v", e.name, best)
		}
	}
	t.Logf("%d shapes, the slowest %s: %v", len(endless), who, worst)
}

func clearEnd(err, want string) bool {
	return strings.Contains(firstLine(err), want) && !strings.Contains(err, "goroutine ")
}

// stopLoop runs a program until it says "go", ends it by a signal or a time
// limit of 300 ms, and gives how long the end took.
func stopLoop(t *testing.T, program string, signal bool) (took time.Duration, code int, stderr string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loop.sns")
	writeFile(t, path, "print(\"go\")\n"+program)
	args := []string{"run", path}
	if !signal {
		args = []string{"run", "--timeout", "300ms", path}
	}
	cmd := exec.Command(binary(t, "sense"), args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); line != "go\n" {
		t.Fatalf("the program said %q, %v: %s", line, err, errs.String())
	}
	began := time.Now()
	if signal {
		time.Sleep(100 * time.Millisecond) // into the loop; that it is there sooner or later does not matter
		began = time.Now()
		_ = cmd.Process.Signal(syscall.SIGINT)
	}
	_, _ = r.WriteTo(&bytes.Buffer{})
	_ = cmd.Wait()
	took = time.Since(began)
	if !signal {
		took -= 300 * time.Millisecond
	}
	return took, cmd.ProcessState.ExitCode(), errs.String()
}

// TestStepsAreExact counts what runs under limits of every size.
func TestStepsAreExact(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 7, 50, 1000} {
		program := strings.Repeat("print(\"s\")\n", 2000)
		r := runIn(t, t.TempDir(), map[string]string{"main.sns": program}, "run", "--max-steps", itoa(n), "main.sns")
		if got := strings.Count(r.out, "s\n"); got != n || r.code != 3 {
			t.Errorf("limit %d: %d statements ran, status %d: %s", n, got, r.code, r.err)
		}
	}
	caught := "try:\n    while true:\n        print(\"s\")\ncatch e:\n    print(\"caught\")\nfinally:\n    print(\"finally\")\n"
	r := runIn(t, t.TempDir(), map[string]string{"main.sns": caught}, "run", "--max-steps", "10", "main.sns")
	if strings.Contains(r.out, "caught") || strings.Contains(r.out, "finally") || r.code != 3 {
		t.Errorf("a limit was caught: %+v", r)
	}
}

// TestDeepValues makes values a million deep and does everything with them.
func TestDeepValues(t *testing.T) {
	deep := "x = []\nfor i in range(1000000):\n    x = [x]\n"
	deepMap := "x = {}\nfor i in range(1000000):\n    x = {\"k\": x}\n"
	uses := []struct{ name, code string }{
		{"print", deep + "print(x)"}, {"print a map", deepMap + "print(x)"}, {"equality", deep + "y = x\nz = [x]\nprint(x == z, x == y)"},
		{"json", "import std.json\n" + deep + "print(json.dump(x))"}, {"json of maps", "import std.json\n" + deepMap + "print(json.dump(x))"},
		{"json parse", "import std.json\nprint(json.parse(\"[\".repeat(1000000)))"},
		{"sort", deep + "print([x, x].sort())"}, {"in", deep + "print(x in [x, [x]])"}, {"text", deep + "print(f\"{x}\")"},
		{"an action's arguments", deep + "irreversible action a(v):\n    pass\nb = a(x)\nprint(len(b.describe()), b.args == nil)\nb.verify()\nb.approve()\nb.commit()"},
		{"memory", deep + "persistent memory m: \"m.db\"\nm.remember(\"k\", x)"}, {"a cycle", "x = []\npush(x, x)\nprint(x)\nprint(x == x)\ny = [x]\nprint(x == y)"},
		{"raise", deep + "raise x"}, {"recursion", "def f(n): return f(n + 1) + 1\nf(0)"}, {"map key", deep + "m = {}\nm[x] = 1"},
	}
	for _, u := range uses {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := runIn(t, dir, map[string]string{"main.sns": u.code + "\n"}, "run", "--audit", "a.jsonl", "main.sns")
			if r.code != 0 && r.code != 1 || strings.Contains(r.err, "goroutine ") {
				t.Errorf("status %d: %.300s", r.code, r.err)
			}
		})
	}
}

// TestMemoryLimit lets programs grow until the limit and looks at what the
// process took at most.
func TestMemoryLimit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak is read as Linux gives it")
	}
	const limit = 256
	base := peakOf(t, "print(1)\n", 0)
	hungry := []struct{ name, code string }{
		{"text doubled", "s = \"x\"\nwhile true:\n    s = s + s\n"},
		{"arrays doubled", "a = [1]\nwhile true:\n    a = a + a\n"},
		{"push", "a = []\nwhile true:\n    a.push(\"some text\" + \"!\")\n"},
		{"a map", "m = {}\ni = 0\nwhile true:\n    m[f\"{i}\"] = i\n    i += 1\n"},
		{"copies of a map", "m = {}\nfor i in range(100000):\n    m[f\"{i}\"] = i\na = []\nwhile true:\n    a.push(m.copy())\n"},
		{"squares", "x = 3\nfor i in range(40):\n    x = x * x\n"},
		{"a power", "x = 10 ** (10 ** 9)\n"},
		{"repeat", "s = \"abc\".repeat(10 ** 10)\n"},
		{"range", "a = range(10 ** 11)\n"},
		{"join", "a = range(1000).map(lambda i: \"x\".repeat(1000000))\n"},
		{"closures", "a = []\ndef mk(x):\n    return lambda y: x\nwhile true:\n    a.push(mk([1, 2, 3]))\n"},
		{"replace", "s = \"a\".repeat(1000)\nwhile true:\n    s = s.replace(\"a\", \"aaaaaaaaaa\")\n"},
		{"pad", "s = \"a\".pad_left(10 ** 10)\n"},
		{"audit", "tool t():\n    pass\nwhile true:\n    t()\n"},
		{"words", "s = \"a \".repeat(20000000)\nx = s.split()\n"},
		{"parts", "s = \"a \".repeat(20000000)\nx = s.split(\" \")\n"},
		{"characters", "s = \"a \".repeat(20000000)\nx = zip(s, s)\n"},
		{"an f-string", "s = \"a\".repeat(50000000)\nx = f\"{s}{s}{s}{s}{s}{s}{s}{s}{s}{s}\"\n"},
		{"a replaced pattern", "import std.text\ns = \"a\".repeat(100000)\nx = text.replace(\"a\", s, s[:2500])\n"},
		{"fields", "import std.csv\nx = csv.parse(\"a,\".repeat(20000000))\n"},
		{"an async agent", "async agent a:\n    s = \"x\"\n    while true:\n        s = s + s\nstart(a)\nawait(a)\n"},
	}
	for _, h := range hungry {
		t.Run(h.name, func(t *testing.T) {
			peak := peakOf(t, h.code, limit)
			if extra := peak - base; extra > limit*125/100 {
				t.Errorf("%d MiB beyond the %d of a program that does nothing, under a limit of %d", extra, base, limit)
			}
			t.Logf("peak %d MiB, limit %d, of which %d the process itself", peak, limit, base)
		})
	}
}

// peakOf runs a program and gives the most memory it took, in MiB.
func peakOf(t *testing.T, code string, limit int) int64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "main.sns")
	writeFile(t, path, code)
	cmd := exec.Command(binary(t, "sense"), "run", "--max-memory", fmt.Sprintf("%dM", limit), "--timeout", "60s", path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	_ = cmd.Run() // the status is looked at
	if code := cmd.ProcessState.ExitCode(); limit > 0 && code != 3 && code != 1 || strings.Contains(stderr.String(), "time limit") {
		t.Errorf("status %d: %.300s", code, stderr.String())
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
}
