// Package testrun finds test files, runs them and reports, as `sense test`:
// testrun.go runs, text.go, json.go and junit.go report, watch.go runs again
// when a file changes.
package testrun

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/internal/regular"
)

// File is one run of a test file. It asks start before each test, which gives
// what is told of the test's end, or nil to leave the test out; it gives the
// error outside any test.
type File func(path string, stdout, stderr io.Writer, cover *eval.Coverage, start func(desc string) (ended func(err error))) error

// Options configure Run.
type Options struct {
	Stdout, Stderr io.Writer
	// Run runs one file.
	Run File
	// Filter chooses tests by their descriptions; nil takes all.
	Filter func(desc string) bool
	// FailFast ends the run with the first failure.
	FailFast bool
	// Workers is how many files run at the same time; below 2 it is one after the
	// other, whose output then comes as it is made.
	Workers int
	// Timings adds to the text how long each test took, Notes what an error has to
	// say besides its message; both sides of a failed assert are told always.
	Timings, Notes bool
	// Coverage counts the lines that ran.
	Coverage bool
	// JSON reports as JSON in place of text.
	JSON bool
	// JUnit, where it is set, is the file of a report as XML besides.
	JUnit string
	// Clock tells the time; nil is time.Now.
	Clock func() time.Time
}

// Test is a test that ended; Err is nil where it passed.
type Test struct {
	Desc string
	Err  error
	Took time.Duration
}

// Result is a file that ran. Err is an error outside any test, Output what the
// file printed, where that was kept.
type Result struct {
	Path   string
	Tests  []Test
	Err    error
	Took   time.Duration
	Output string
	errors string
	cover  *eval.Coverage
}

// Report is what came of a run.
type Report struct {
	Results []*Result
	Took    time.Duration
	// Coverage is nil where it was not asked for.
	Coverage *eval.Coverage
}

// Count gives the numbers of tests that passed and failed.
func (r *Report) Count() (passed, failed int) {
	for _, f := range r.Results {
		for _, t := range f.Tests {
			if t.Err == nil {
				passed++
			} else {
				failed++
			}
		}
	}
	return passed, failed
}

// OK reports whether nothing failed.
func (r *Report) OK() bool {
	_, failed := r.Count()
	return failed == 0 && !slices.ContainsFunc(r.Results, func(f *Result) bool { return f.Err != nil })
}

// Run runs the tests of a file or folder, reports, and says whether all passed.
// Its error is in the user's words.
func Run(path string, o Options) (ok bool, err error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	files, err := Find(path)
	if err != nil {
		return false, err
	}
	if len(files) == 0 && !o.JSON {
		fmt.Fprintf(o.Stdout, "no test files found under %s (looked for test_*.sns / *_test.sns)\n", path)
		return true, nil
	}
	s := &suite{o: &o, began: o.Clock()}
	r := s.run(files)
	if err := o.report(r); err != nil {
		return false, err
	}
	return r.OK(), nil
}

// report writes what is written at the end.
func (o *Options) report(r *Report) error {
	if o.JUnit != "" {
		if err := writeJUnit(o.JUnit, r); err != nil {
			return fmt.Errorf("cannot write %s: %w", o.JUnit, err)
		}
	}
	if o.JSON {
		return writeJSON(o.Stdout, r)
	}
	writeSummary(o.Stdout, r)
	return nil
}

// suite is one run of several files.
type suite struct {
	o      *Options
	began  time.Time
	failed atomic.Bool // with FailFast: nothing new begins
}

func (s *suite) run(files []string) *Report {
	r := &Report{}
	if s.o.Workers > 1 {
		r.Results = s.together(files)
	} else {
		r.Results = s.oneByOne(files)
	}
	r.Took = s.o.Clock().Sub(s.began)
	if s.o.Coverage {
		r.Coverage = &eval.Coverage{}
		for _, f := range r.Results {
			r.Coverage.Add(f.cover)
		}
	}
	return r
}

// oneByOne runs files in order; in text, what they print comes at once.
func (s *suite) oneByOne(files []string) []*Result {
	var out []*Result
	for _, path := range files {
		if s.failed.Load() {
			break
		}
		if s.o.JSON {
			out = append(out, s.kept(path))
			continue
		}
		fmt.Fprintln(s.o.Stdout, path)
		f := s.file(path, s.o.Stdout, s.o.Stderr)
		writeTests(s.o, f)
		out = append(out, f)
	}
	return out
}

// together runs several files at a time and reports them in order, each as soon
// as those before it are done.
func (s *suite) together(files []string) []*Result {
	results := make([]*Result, len(files))
	done := make([]chan struct{}, len(files))
	next := make(chan int)
	var wg sync.WaitGroup
	for i := range done {
		done[i] = make(chan struct{})
	}
	for range min(s.o.Workers, len(files)) {
		wg.Go(func() {
			for i := range next {
				if !s.failed.Load() {
					results[i] = s.kept(files[i])
				}
				close(done[i])
			}
		})
	}
	go func() {
		for i := range files {
			next <- i
		}
		close(next)
	}()
	var out []*Result
	for i := range files {
		<-done[i]
		f := results[i]
		if f == nil {
			continue
		}
		out = append(out, f)
		if !s.o.JSON {
			fmt.Fprintf(s.o.Stdout, "%s\n%s", f.Path, f.Output)
			fmt.Fprint(s.o.Stderr, f.errors)
			writeTests(s.o, f)
		}
	}
	wg.Wait()
	return out
}

// kept runs a file and keeps what it prints.
func (s *suite) kept(path string) *Result {
	var out, errs lockedBuffer
	f := s.file(path, &out, &errs)
	f.Output, f.errors = out.String(), errs.String()
	return f
}

// file runs one file.
func (s *suite) file(path string, stdout, stderr io.Writer) *Result {
	f := &Result{Path: path}
	if s.o.Coverage {
		f.cover = &eval.Coverage{}
	}
	began := s.o.Clock()
	var mu sync.Mutex
	f.Err = s.o.Run(path, stdout, stderr, f.cover, func(desc string) func(error) {
		if s.failed.Load() || s.o.Filter != nil && !s.o.Filter(desc) {
			return nil
		}
		started := s.o.Clock()
		return func(err error) {
			mu.Lock()
			defer mu.Unlock()
			f.Tests = append(f.Tests, Test{desc, err, s.o.Clock().Sub(started)})
			s.note(err)
		}
	})
	s.note(f.Err)
	f.Took = s.o.Clock().Sub(began)
	return f
}

func (s *suite) note(err error) {
	if err != nil && s.o.FailFast {
		s.failed.Store(true)
	}
}

// lockedBuffer is a buffer that several goroutines may write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
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
			if err := regular.Found(p); err != nil {
				return fmt.Errorf("cannot read %s: %w", p, err)
			}
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
