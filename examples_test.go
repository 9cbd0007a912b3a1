package sense_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sense-lang/sense/check"
	"github.com/sense-lang/sense/format"
)

// everyday are the examples that are read as programs: they are as sense fmt
// writes them, and sense check finds nothing in them.
var everyday = []string{
	"api-client", "calculator", "config-merge", "csv-report", "issue-triage", "list-issues", "log-summary",
	"nightly-report", "query-database", "retry", "text-wrapper", "tic-tac-toe", "todo", "word-index",
}

// TestExamples runs every program of examples/ from the root of a scratch copy and
// compares what it prints with testdata/examples.
func TestExamples(t *testing.T) {
	paths, err := filepath.Glob("examples/*.sns")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("no example found")
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".sns")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goldenScript(t, path, "testdata/examples/"+name)
		})
	}
}

// TestExampleInOrder holds that the programs for every day are formatted, checked
// and of a length to be read at once.
func TestExampleInOrder(t *testing.T) {
	for _, name := range everyday {
		path := "examples/" + name + ".sns"
		src := readFile(t, path)
		got, err := format.Source(path, []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != src {
			t.Errorf("sense fmt would change %s\n%s", path, diffText(path, src, string(got)))
		}
		for _, f := range check.Source(path, src, check.Options{}).Findings {
			t.Errorf("sense check finds in %s:%d: %s", path, f.Pos.Line, f.Msg)
		}
		if n := strings.Count(src, "\n"); n < 60 || n > 200 {
			t.Errorf("%s has %d lines", path, n)
		}
	}
}

// TestExampleDescribed holds that the guide and the list tell of every example.
func TestExampleDescribed(t *testing.T) {
	guide, list := readFile(t, "docs/guide.md"), readFile(t, "examples/README.md")
	paths, _ := filepath.Glob("examples/*.sns") // the pattern is well-formed
	for _, path := range paths {
		if !strings.Contains(guide, "("+"../"+filepath.ToSlash(path)+")") {
			t.Errorf("docs/guide.md does not tell of %s", path)
		}
		if !strings.Contains(list, "("+filepath.Base(path)+")") {
			t.Errorf("examples/README.md does not tell of %s", path)
		}
	}
}
