package sense_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killProgram does effects of three kinds and says each after it is done: it
// remembers, commits actions that write files, and writes files itself.
const killProgram = `import std.fs
persistent memory m: "kept.db"
irreversible action put(n: Int):
    fs.write(f"action-{n}", f"{n}")
n = 0
while true:
    n += 1
    m.remember(f"k{n}", n)
    print(f"kept {n}")
    a = put(n)
    a.verify()
    a.commit()
    print(f"done {n}")
    fs.write(f"file-{n}", f"{n}")
`

// TestKilledAtAnyMoment kills runs with SIGKILL at random moments. Afterwards
// every effect has its intent in the audit, whose whole entries verify; every
// acknowledged write to memory is there; the next run goes on with the same
// files. SENSE_KILLS sets how many runs; make soak does 1,000.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	runs := 30
	if n, err := strconv.Atoi(os.Getenv("SENSE_KILLS")); err == nil {
		runs = n
	}
	r := rand.New(rand.NewPCG(5, 6))
	effects, kept, unfinished := 0, 0, 0
	dir := t.TempDir()
	for i := range runs {
		if i%10 == 0 { // now and then a fresh folder, else the one of the last run
			dir = t.TempDir()
		}
		for _, f := range []string{"action-*", "file-*"} {
			old, _ := filepath.Glob(filepath.Join(dir, f)) // the pattern is well-formed
			for _, o := range old {
				_ = os.Remove(o)
			}
		}
		before := auditLines(t, dir)
		out := killRun(t, dir, time.Duration(r.IntN(120_000))*time.Microsecond)
		entries, rest := readAudit(t, dir)
		if rest > 0 {
			unfinished++
		}
		effects += checkIntents(t, dir, entries[min(before, len(entries)):])
		kept += checkKept(t, dir, out)
		v := runIn(t, dir, nil, "audit", "verify", "a.jsonl")
		if v.code != 0 || !strings.Contains(v.out, fmt.Sprintf("%d entries, whole", len(entries))) || (rest > 0) != strings.Contains(v.out, "never finished") {
			t.Errorf("verify: %+v, with %d entries and %d bytes after them", v, len(entries), rest)
		}
		if t.Failed() {
			t.Fatalf("run %d in %s", i, dir)
		}
	}
	t.Logf("%d runs killed: %d effects, all with an intent; %d acknowledged writes, all there; %d logs ended in half an entry", runs, effects, kept, unfinished)
	if effects < runs || kept < runs {
		t.Errorf("too little happened: %d effects, %d writes", effects, kept)
	}
}

func auditLines(t *testing.T, dir string) int {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "a.jsonl")); err != nil {
		return 0
	}
	entries, _ := readAudit(t, dir)
	return len(entries)
}

// killRun starts the program, waits for its first line and then some, kills it
// and gives what it had said.
func killRun(t *testing.T, dir string, after time.Duration) string {
	t.Helper()
	writeFile(t, filepath.Join(dir, "main.sns"), killProgram)
	cmd := exec.Command(binary(t, "sense"), "run", "--audit", "a.jsonl", "main.sns")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(stdout)
	first, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("it said %q: %s", first, stderr.String())
	}
	time.Sleep(after) // a random moment
	_ = cmd.Process.Signal(syscall.SIGKILL)
	var rest bytes.Buffer
	_, _ = r.WriteTo(&rest)
	_ = cmd.Wait()
	return first + rest.String()
}

type auditLine struct {
	Kind, Name, Event string
	Fields            map[string]any
}

// readAudit gives the whole entries and how many bytes follow them.
func readAudit(t *testing.T, dir string) (entries []auditLine, rest int) {
	t.Helper()
	text := readFile(t, filepath.Join(dir, "a.jsonl"))
	for {
		line, after, whole := strings.Cut(text, "\n")
		if !whole {
			return entries, len(text)
		}
		var e auditLine
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("no entry: %q", line)
		}
		entries = append(entries, e)
		text = after
	}
}

// checkIntents wants an intent for every file that is there.
func checkIntents(t *testing.T, dir string, entries []auditLine) int {
	t.Helper()
	intents := map[string]int{}
	for _, e := range entries {
		intents[e.Name+" "+e.Event]++
	}
	actions, _ := filepath.Glob(filepath.Join(dir, "action-*")) // the pattern is well-formed
	files, _ := filepath.Glob(filepath.Join(dir, "file-*"))
	if got := intents["put committing"]; got < len(actions) {
		t.Errorf("%d actions ran with %d intents", len(actions), got)
	}
	if got := intents["std.fs.write calling"]; got < len(actions)+len(files) {
		t.Errorf("%d files were written with %d intents: %v", len(actions)+len(files), got, intents)
	}
	return len(actions) + len(files)
}

// checkKept wants every acknowledged write to be in the memory.
func checkKept(t *testing.T, dir, out string) int {
	t.Helper()
	n := strings.Count(out, "kept ")
	program := "persistent memory m: \"kept.db\"\nfor i in range(1, " + itoa(n+1) + "):\n    if m.recall(f\"k{i}\") != i: print(\"lost\", i)\nprint(\"checked\")\n"
	if r := runIn(t, dir, map[string]string{"check.sns": program}, "run", "check.sns"); r.out != "checked\n" {
		t.Errorf("%d writes were acknowledged: %+v", n, r)
	}
	return n
}

// TestBypassAudit is (i) of the nine: an audit that dies with its process. With
// --audit what ran is on the disk with its arguments' digest, however it ended.
func TestBypassAudit(t *testing.T) {
	dir := t.TempDir()
	killRun(t, dir, 0)
	entries, _ := readAudit(t, dir)
	for _, e := range entries {
		if e.Name == "put" && e.Event == "committing" && e.Fields["digest"] == nil {
			t.Errorf("an intent without its arguments' digest: %+v", e)
		}
	}
	if len(entries) == 0 {
		t.Error("the audit died with its process")
	}
}

// TestNoEffectWithoutAudit takes away the room for the audit: effects stop.
func TestNoEffectWithoutAudit(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	for _, size := range []int{0, 200, 600, 1000, 1500, 2500, 4000, 6000} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "main.sns"), strings.ReplaceAll(killProgram, "while true:", "while n < 30:"))
		// The shell's limit on the size of files makes writes fail as a full disk does.
		cmd := exec.Command("sh", "-c", fmt.Sprintf("trap '' XFSZ; ulimit -f %d; exec \"$0\" run --audit a.jsonl main.sns", size/512))
		cmd.Args = append(cmd.Args, binary(t, "sense"))
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%d bytes of room: status %d: %s", size, cmd.ProcessState.ExitCode(), out)
		}
		if _, err := os.Stat(filepath.Join(dir, "a.jsonl")); err == nil {
			entries, _ := readAudit(t, dir)
			checkIntents(t, dir, entries)
		}
	}
	dir := t.TempDir()
	r := runIn(t, dir, map[string]string{"main.sns": "print(\"RAN\")\n"}, "run", "--audit", "/dev/full", "main.sns")
	if r.code == 0 || r.out != "" {
		t.Errorf("a device is no audit file: %+v", r)
	}
}

// TestNoEffectOnAFullDisk puts the audit on a disk of its own, of every size up
// to the one that holds all: once it is full, effects stop.
func TestNoEffectOnAFullDisk(t *testing.T) {
	if err := exec.Command("unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/mnt").Run(); err != nil {
		t.Skip("no file systems of our own here: ", err)
	}
	full := 0
	for _, kib := range []int{4, 8, 12, 16, 24, 32, 48, 64, 1024} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "main.sns"), strings.ReplaceAll(killProgram, "while true:", "while n < 30:"))
		if err := os.Mkdir(filepath.Join(dir, "disk"), 0o700); err != nil {
			t.Fatal(err)
		}
		const script = `mount -t tmpfs -o size="$1"k none disk && { "$0" run --audit disk/a.jsonl main.sns; code=$?; cp disk/a.jsonl a.jsonl; exit $code; }`
		cmd := exec.Command("unshare", "-Urm", "sh", "-c", script, binary(t, "sense"), itoa(kib))
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // the status is looked at
		code := cmd.ProcessState.ExitCode()
		if code != 0 {
			full++
			if code != 1 || !strings.Contains(errs.String(), "no space left on device") {
				t.Errorf("%d KiB: status %d: %s", kib, code, errs.String())
			}
		}
		entries, rest := readAudit(t, dir)
		checkIntents(t, dir, entries)
		checkKept(t, dir, out.String())
		if v := runIn(t, dir, nil, "audit", "verify", "a.jsonl"); v.code != 0 || rest != 0 {
			t.Errorf("%d KiB: %d bytes after the last entry, verify: %+v", kib, rest, v)
		}
	}
	if full < 5 {
		t.Errorf("only %d disks were full", full)
	}
}
