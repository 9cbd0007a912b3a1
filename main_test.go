package sense_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"go.uber.org/goleak"
)

// update records golden outputs in place of comparing them.
var update = flag.Bool("update", false, "write golden outputs")

// binDir holds the binaries that the tests run.
var binDir string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == hostileServer {
		serveHostile(os.Args[2:])
		return
	}
	flag.Parse()
	// Under nohup a hang-up is ignored, and what we start would inherit that; what
	// is handled is back to its default there.
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	// Most of these tests wait for processes: more of them at once than cores.
	if f := flag.Lookup("test.parallel"); f != nil && !given("test.parallel") {
		_ = f.Value.Set("6") // a number is always taken
	}
	os.Exit(run(m))
}

// run builds what the tests start and runs them. It builds before the first test,
// since on a machine with nothing cached that takes longer than a test may wait.
func run(m *testing.M) int {
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, "go build:", err)
		return 1
	}
	defer os.RemoveAll(binDir)
	code := m.Run()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := leaks(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "goroutines are left:", err)
		return 1
	}
	return code
}

// leaks tells of goroutines that do not end. Those that the last tests have told to
// end get the time for it on a busy machine.
func leaks() (err error) {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if err = goleak.Find(); err == nil {
			return nil
		}
	}
	return err
}

func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// build makes sense and the stub MCP server.
func build() error {
	dir, err := os.MkdirTemp("", "sense-test-")
	if err != nil {
		return err
	}
	binDir = dir
	pkgs := []string{"build", "-trimpath", "-o", dir + string(filepath.Separator), "./internal/cmd/stubmcp"}
	if os.Getenv("SENSE_BIN") == "" {
		pkgs = append(pkgs, "./cmd/sense")
	}
	cmd := exec.Command("go", pkgs...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	// Scripts start "sense mcp serve" by name.
	return os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// binary gives the path of a built command: "sense" or "stubmcp".
// SENSE_BIN puts another sense in its place, such as the Python original.
func binary(t *testing.T, name string) string {
	t.Helper()
	if raceDetector {
		t.Skip("the binary runs without the race detector; make test has this test")
	}
	if other := os.Getenv("SENSE_BIN"); other != "" && name == "sense" {
		return other
	}
	return filepath.Join(binDir, name)
}

func itoa(n int) string { return strconv.Itoa(n) }

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// diffText shows how an output differs from a golden file.
func diffText(name, want, got string) string {
	return string(diff.Diff(filepath.Base(name), []byte(want), "got", []byte(got)))
}

// firstLine gives a text up to its first line end.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
