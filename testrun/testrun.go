// Package testrun finds test files, runs them and reports, as `sense test`.
package testrun

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is one run of a test file: it reports each test that ends and gives the
// error outside any test.
type File func(path string, out io.Writer, report func(desc string, err error)) error

// Options configure Run.
type Options struct {
	Stdout, Stderr io.Writer
	// Run runs one file.
	Run File
	// Failed shows an error outside any test below its ERROR line; nil shows
	// nothing more.
	Failed func(err error)
}

// result is a test that ended.
type result struct {
	desc string
	err  error
}

// Run runs the tests of a file or folder and reports whether all passed.
func Run(path string, o Options) (ok bool, err error) {
	files, err := Find(path)
	if err != nil {
		return false, err
	}
	if len(files) == 0 {
		fmt.Fprintf(o.Stdout, "no test files found under %s (looked for test_*.sns / *_test.sns)\n", path)
		return true, nil
	}
	var passed, failed, broken int
	for _, f := range files {
		p, n, bad := o.file(f)
		passed, failed = passed+p, failed+n
		if bad {
			broken++
		}
	}
	fmt.Fprintf(o.Stdout, "%s, %s: %d passed, %d failed\n", count(len(files), "file"), count(passed+failed, "test"), passed, failed)
	return failed == 0 && broken == 0, nil
}

// file runs one file and reports its tests in the order they ended.
func (o *Options) file(path string) (passed, failed int, broken bool) {
	fmt.Fprintln(o.Stdout, path)
	var results []result
	err := o.Run(path, o.Stdout, func(desc string, err error) { results = append(results, result{desc, err}) })
	for _, r := range results {
		if r.err == nil {
			passed++
			fmt.Fprintf(o.Stdout, "  PASS  %s\n", r.desc)
			continue
		}
		failed++
		fmt.Fprintf(o.Stdout, "  FAIL  %s\n        %v\n", r.desc, r.err)
	}
	if err != nil {
		fmt.Fprintf(o.Stderr, "  ERROR  %v\n", err)
		if o.Failed != nil {
			o.Failed(err)
		}
	}
	fmt.Fprintln(o.Stdout)
	return passed, failed, err != nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Find lists the test files of a path: the file itself, or what a folder holds
// at any depth, in order of path.
func Find(path string) ([]string, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no such file or directory: %s", path)
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	case !st.IsDir():
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && isTest(d.Name()) {
			files = append(files, p)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

func isTest(name string) bool {
	base, ok := strings.CutSuffix(name, ".sns")
	return ok && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test"))
}
