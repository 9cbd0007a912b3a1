package sense_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// update records golden outputs in place of comparing them.
var update = flag.Bool("update", false, "write golden outputs")

// binDir holds the binaries that the tests run; it is made at first use.
var binDir string

func TestMain(m *testing.M) {
	flag.Parse()
	// Most of these tests wait for processes: more of them at once than cores.
	if f := flag.Lookup("test.parallel"); f != nil && !given("test.parallel") {
		_ = f.Value.Set("6") // a number is always taken
	}
	code := m.Run()
	if binDir != "" {
		os.RemoveAll(binDir)
	}
	os.Exit(code)
}

func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// build makes sense and the stub MCP server, once for all tests.
var build = sync.OnceValue(func() error {
	dir, err := os.MkdirTemp("", "sense-test-")
	if err != nil {
		return err
	}
	binDir = dir
	cmd := exec.Command("go", "build", "-trimpath", "-o", dir+string(filepath.Separator), "./cmd/sense", "./internal/cmd/stubmcp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

// binary gives the path of a built command: "sense" or "stubmcp".
func binary(t *testing.T, name string) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatalf("go build: %v", err)
	}
	return filepath.Join(binDir, name)
}

// firstLine gives a text up to its first line end.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
