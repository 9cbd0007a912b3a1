package sense_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples runs every program of examples/ in a scratch copy of the folder and
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

// TestExampleDescribed holds that the guide tells of every example.
func TestExampleDescribed(t *testing.T) {
	guide := readFile(t, "docs/guide.md")
	paths, _ := filepath.Glob("examples/*.sns") // the pattern is well-formed
	for _, path := range paths {
		if !strings.Contains(guide, "("+"../"+filepath.ToSlash(path)+")") {
			t.Errorf("docs/guide.md does not tell of %s", path)
		}
	}
}
