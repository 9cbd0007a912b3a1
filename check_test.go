package sense_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense/check"
	"github.com/sense-lang/sense/internal/conform"
)

// TestCheckRaisesNoFalseAlarm checks every program of the repository. What is
// found is right where the program, when it runs, says the same; the rest stands
// in testdata/check/findings.txt, each line of which was looked at: code that is
// never reached, or that a run does not come to.
func TestCheckRaisesNoFalseAlarm(t *testing.T) {
	var unconfirmed []string
	n := 0
	note := func(name, output string, r *check.Report) {
		n++
		for _, f := range r.Findings {
			line := fmt.Sprintf("%s:%d: %s: %s: %s", name, f.Pos.Line, f.Level, f.Code, f.Msg)
			if !strings.Contains(output, f.Msg) {
				unconfirmed = append(unconfirmed, line)
			}
		}
	}
	checkCorpus(t, note)
	checkFolder(t, scripts, note)
	checkFolder(t, "examples", note)
	checkFolder(t, "bench/programs", note)
	if n < 400 {
		t.Errorf("only %d programs found", n)
	}
	slices.Sort(unconfirmed)
	golden(t, "testdata/check/findings.txt", strings.Join(unconfirmed, "\n")+"\n")
}

// checkCorpus checks the programs of the conformance corpus.
func checkCorpus(t *testing.T, note func(name, output string, r *check.Report)) {
	paths, err := conform.Find(corpus)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		c, err := conform.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, name := range c.Files() {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(c.Sections[name]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		rel, _ := filepath.Rel(corpus, path)
		for _, name := range c.Files() {
			if filepath.Ext(name) == ".sns" {
				r := checkFile(filepath.Join(dir, name))
				for i := range r.Findings {
					r.Findings[i].Msg = strings.ReplaceAll(r.Findings[i].Msg, dir, "$DIR")
				}
				note(filepath.ToSlash(rel)+"/"+name, c.Sections["stdout"]+c.Sections["stderr"], r)
			}
		}
	}
}

// checkFolder checks the programs of a folder, with their golden outputs.
func checkFolder(t *testing.T, root string, note func(name, output string, r *check.Report)) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sns" {
			return err
		}
		base := strings.TrimSuffix(path, ".sns")
		out, _ := os.ReadFile(base + ".out") // no file is no output
		errs, _ := os.ReadFile(base + ".err")
		note(filepath.ToSlash(path), string(out)+string(errs), checkFile(path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkFile(path string) *check.Report {
	src, err := os.ReadFile(path)
	if err != nil {
		return &check.Report{Findings: []check.Finding{{Level: check.Error, Msg: err.Error()}}}
	}
	r := check.Source(path, string(src), check.Options{})
	wd, _ := os.Getwd()
	for i := range r.Findings { // the places of modules are absolute
		r.Findings[i].Msg = strings.ReplaceAll(r.Findings[i].Msg, wd, "$DIR")
	}
	return r
}
