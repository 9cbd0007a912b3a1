package sense_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// packageInit is what a package did before main, as GODEBUG=inittrace=1 tells.
type packageInit struct {
	name          string
	clock         float64 // milliseconds
	bytes, allocs int
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock, (\d+) bytes, (\d+) allocs$`)

// traceInit runs a program of one line and gives what every package did first.
func traceInit(t *testing.T) []packageInit {
	t.Helper()
	script := filepath.Join(t.TempDir(), "hello.sns")
	if err := os.WriteFile(script, []byte("print(\"hello\")\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary(t, "sense"), "run", script)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stdout.String() != "hello\n" {
		t.Fatalf("%v: %s%s", err, stdout.String(), stderr.String())
	}
	var out []packageInit
	for _, m := range initLine.FindAllStringSubmatch(stderr.String(), -1) {
		clock, _ := strconv.ParseFloat(m[2], 64)
		bytes, _ := strconv.Atoi(m[3])
		allocs, _ := strconv.Atoi(m[4])
		out = append(out, packageInit{m[1], clock, bytes, allocs})
	}
	return out
}

// Nothing of ours or of a library works before it is needed. Memory is what is
// counted, since the clock of a busy machine says nothing: the 4 ms of one
// library were 1.7 MB in 21,000 pieces, and all that is left takes 1.1 ms.
func TestNothingWorksBeforeMain(t *testing.T) {
	const (
		ourBytes, ourAllocs = 8192, 50 // of each package: error values, a table of words
		allBytes, allAllocs = 600_000, 4000
	)
	var bytes, allocs int
	var clock float64
	inits := traceInit(t)
	for _, p := range inits {
		bytes, allocs, clock = bytes+p.bytes, allocs+p.allocs, clock+p.clock
		if strings.HasPrefix(p.name, module) && (p.bytes > ourBytes || p.allocs > ourAllocs) {
			t.Errorf("%s: a package variable or an init does real work: %d bytes in %d pieces", p.name, p.bytes, p.allocs)
		}
	}
	if len(inits) < 20 {
		t.Fatalf("only %d packages traced", len(inits))
	}
	if bytes > allBytes || allocs > allAllocs {
		t.Errorf("package init makes %d bytes in %d pieces; %d in %d are allowed", bytes, allocs, allBytes, allAllocs)
	}
	t.Logf("%d packages: %d bytes in %d pieces, %.2f ms", len(inits), bytes, allocs, clock)
}
