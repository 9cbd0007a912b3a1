package sense_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sense-lang/sense/internal/conform"
)

const corpus = "testdata/conformance"

// TestConformance runs the corpus. Cases that bring Python of their own need
// python3; the stub MCP server has a Go twin.
func TestConformance(t *testing.T) {
	paths, err := conform.Find(corpus)
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 321 {
		t.Fatalf("%d cases found, the corpus has at least 321", len(paths))
	}
	runner := conform.Runner{Sense: binary(t, "sense"), Python: binary(t, "stubmcp"), StubMCP: filepath.Join(corpus, "stub_mcp.py")}
	python, _ := exec.LookPath("python3")
	for _, path := range paths {
		name, _ := filepath.Rel(corpus, path)
		t.Run(strings.TrimSuffix(filepath.ToSlash(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runConformanceCase(t, runner, path, python)
		})
	}
}

func runConformanceCase(t *testing.T, runner conform.Runner, path, python string) {
	c, err := conform.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if why := c.NeedsPython(); why != "" {
		if python == "" {
			t.Skipf("needs python3: %s", why)
		}
		runner.Python = python
	}
	res, err := runner.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.Check(res) {
		t.Errorf("%s\n  %v", firstLine(c.Head), d)
	}
}
