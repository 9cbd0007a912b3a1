package testrun

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/eval"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder writes files and gives their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var suiteFiles = map[string]string{
	"test_a.sns":      "import \"lib.sns\"\nprint(\"loading\")\ntest \"adds\": assert(lib.add(1, 1) == 2)\ntest \"fails\": assert(lib.add(1, 1) == 3)\n",
	"deep/b_test.sns": "test \"one\": assert(true)\ntest \"two\": raise \"no\"\ntest \"three\": assert(true)\n",
	"test_c.sns":      "test \"last\": assert(true)\nprint(nope)\n",
	"lib.sns":         "def add(a, b): return a + b\ndef sub(a, b):\n    c = a - b\n    return c\n",
	"other.sns":       "print(\"must not run\")\n",
}

// clock gives times a second apart.
func clock() func() time.Time {
	var mu sync.Mutex
	now := time.Unix(0, 0)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

func runFile(ctx context.Context) File {
	return func(path string, out, errs io.Writer, cover *eval.Coverage, start func(string) func(error)) error {
		r := sense.New(ctx, sense.Options{Stdout: out, Stderr: errs, Coverage: cover, OnTestStart: start})
		defer r.Close()
		return r.RunFile(path)
	}
}

// try runs a suite and gives what it wrote, with the folder left out.
func try(t *testing.T, dir string, o Options) (stdout, stderr string, ok bool) {
	t.Helper()
	var out, errs bytes.Buffer
	o.Stdout, o.Stderr, o.Run, o.Clock = &out, &errs, runFile(t.Context()), clock()
	ok, err := Run(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), dir+"/", ""), strings.ReplaceAll(errs.String(), dir+"/", ""), ok
}

const plain = `deep/b_test.sns
  PASS  one
  FAIL  two
        [line 2] no
  PASS  three

test_a.sns
loading
  PASS  adds
  FAIL  fails
        [line 4] assertion failed
        left of '==':  2 (Int)
        right of '==': 3 (Int)

test_c.sns
  PASS  last

3 files, 6 tests: 4 passed, 2 failed
`

func TestText(t *testing.T) {
	dir := folder(t, suiteFiles)
	out, errs, ok := try(t, dir, Options{})
	if out != plain || errs != "  ERROR  [line 2] undefined variable 'nope'\n" || ok {
		t.Errorf("ok %v, got:\n%s%s", ok, out, errs)
	}
}

func TestSeveralAtATimeReportTheSame(t *testing.T) {
	dir := folder(t, suiteFiles)
	for _, workers := range []int{2, 8} {
		if out, errs, ok := try(t, dir, Options{Workers: workers}); out != plain || !strings.Contains(errs, "nope") || ok {
			t.Errorf("%d workers: ok %v, got:\n%s%s", workers, ok, out, errs)
		}
	}
}

func TestTimingsAndNotes(t *testing.T) {
	out, _, _ := try(t, folder(t, map[string]string{"test_a.sns": suiteFiles["test_a.sns"], "lib.sns": suiteFiles["lib.sns"]}), Options{Timings: true, Notes: true})
	want := "test_a.sns\nloading\n  PASS  adds (1s)\n  FAIL  fails (1s)\n        [line 4] assertion failed\n" +
		"        left of '==':  2 (Int)\n        right of '==': 3 (Int)\n\n1 file, 2 tests: 1 passed, 1 failed\n"
	if out != want {
		t.Errorf("got:\n%s", out)
	}
}

func TestFilter(t *testing.T) {
	out, _, ok := try(t, folder(t, suiteFiles), Options{Filter: regexp.MustCompile("^(one|adds)$").MatchString})
	if !strings.Contains(out, "3 files, 2 tests: 2 passed, 0 failed") || strings.Contains(out, "two") || ok {
		t.Errorf("ok %v (test_c.sns fails outside tests), got:\n%s", ok, out)
	}
}

func TestFailFast(t *testing.T) {
	out, _, ok := try(t, folder(t, suiteFiles), Options{FailFast: true})
	want := "deep/b_test.sns\n  PASS  one\n  FAIL  two\n        [line 2] no\n\n1 file, 2 tests: 1 passed, 1 failed\n"
	if out != want || ok {
		t.Errorf("ok %v, got:\n%s", ok, out)
	}
}

func TestCoverage(t *testing.T) {
	out, _, _ := try(t, folder(t, map[string]string{"test_a.sns": suiteFiles["test_a.sns"], "lib.sns": suiteFiles["lib.sns"]}), Options{Coverage: true})
	if !strings.Contains(out, "\nlib.sns") || !strings.Contains(out, "50.0 %  not reached: 3-4\n") || !strings.Contains(out, "\ntotal") {
		t.Errorf("got:\n%s", out)
	}
}

func TestCovered(t *testing.T) {
	ran, missed := covered([]eval.Line{{Number: 1, Count: 1}, {Number: 2}, {Number: 4}, {Number: 5, Count: 2}, {Number: 9}})
	if ran != 2 || !slices.Equal(missed, []string{"2-4", "9"}) {
		t.Errorf("got %d, %q", ran, missed)
	}
	if share(0, 0) != "100.0 %" || share(1, 3) != " 33.3 %" {
		t.Errorf("got %q, %q", share(0, 0), share(1, 3))
	}
}

func TestJSON(t *testing.T) {
	dir := folder(t, suiteFiles)
	out, errs, ok := try(t, dir, Options{JSON: true, Coverage: true})
	var r jsonReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	if ok || r.OK || errs != "" || r.Passed != 4 || r.Failed != 2 || len(r.Files) != 3 || len(r.Coverage) != 4 {
		t.Fatalf("got %+v, stderr %q", r, errs)
	}
	a := r.Files[1]
	if a.Path != "test_a.sns" || a.Output != "loading\n" || a.Error != nil || len(a.Tests) != 2 {
		t.Errorf("got %+v", a)
	}
	f := a.Tests[1]
	if f.Name != "fails" || f.Passed || f.Seconds != 1 || f.Error.Message != "assertion failed" || f.Error.Line != 4 || len(f.Error.Notes) != 2 {
		t.Errorf("got %+v %+v", f, f.Error)
	}
	if c := r.Files[2]; c.Error == nil || c.Error.Kind != "name" {
		t.Errorf("got %+v", c)
	}
}

func TestJSONOfNothing(t *testing.T) {
	out, _, ok := try(t, t.TempDir(), Options{JSON: true})
	if !ok || !strings.Contains(out, `"files": []`) {
		t.Errorf("ok %v, got %s", ok, out)
	}
}

func TestJUnit(t *testing.T) {
	dir := folder(t, suiteFiles)
	file := filepath.Join(t.TempDir(), "report.xml")
	out, _, _ := try(t, dir, Options{JUnit: file})
	if out != plain {
		t.Errorf("the text changed:\n%s", out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s xmlSuites
	if err := xml.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if s.Tests != 6 || s.Failures != 2 || s.Errors != 1 || len(s.Suites) != 3 {
		t.Fatalf("got %+v", s)
	}
	if c := s.Suites[1].Cases[1]; c.Name != "fails" || !strings.Contains(c.Failure.Text, "right of '==': 3 (Int)") || c.Time != "1.000" {
		t.Errorf("got %+v", c)
	}
	if c := s.Suites[2].Cases[1]; c.Error == nil || c.Name != "(outside tests)" {
		t.Errorf("got %+v", c)
	}
}

func TestJUnitThatCannotBeWritten(t *testing.T) {
	var out bytes.Buffer
	o := Options{Stdout: &out, Stderr: &out, Run: runFile(t.Context()), JUnit: filepath.Join(t.TempDir(), "none", "r.xml")}
	_, err := Run(folder(t, suiteFiles), o)
	if err == nil || !strings.HasPrefix(err.Error(), "cannot write ") {
		t.Errorf("got %v", err)
	}
}

func TestNothingToRun(t *testing.T) {
	dir := folder(t, map[string]string{"x.sns": "print(1)"})
	out, _, ok := try(t, dir, Options{})
	if want := fmt.Sprintf("no test files found under %s (looked for test_*.sns / *_test.sns)\n", dir); out != want || !ok {
		t.Errorf("ok %v, got %q", ok, out)
	}
	if _, err := Run(filepath.Join(dir, "none"), Options{}); err == nil || !strings.HasPrefix(err.Error(), "no such file or directory: ") {
		t.Errorf("got %v", err)
	}
}

func TestRounded(t *testing.T) {
	for d, want := range map[time.Duration]string{
		15 * time.Nanosecond:        "15ns",
		1234567 * time.Nanosecond:   "1.235ms",
		98765 * time.Microsecond:    "98.765ms",
		12345678 * time.Microsecond: "12.346s",
	} {
		if got := rounded(d).String(); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestWatch(t *testing.T) {
	dir := folder(t, map[string]string{"test_a.sns": "test \"a\": assert(true)\n", "lib.sns": "x = 1\n", "notes.txt": "a"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tick := make(chan time.Time, 10)
	runs := make(chan bool)
	run := func(path string, out, errs io.Writer, cover *eval.Coverage, start func(string) func(error)) error {
		runs <- true
		return nil
	}
	ended := make(chan error)
	var out lockedBuffer
	go func() { ended <- Watch(ctx, dir, Options{Stdout: &out, Stderr: &out, Run: run}, tick) }()
	<-runs
	tick <- time.Time{} // nothing changed
	for i, change := range []string{"lib.sns", "test_a.sns"} {
		if err := os.WriteFile(filepath.Join(dir, change), []byte(strings.Repeat("#", i+10)), 0o644); err != nil {
			t.Fatal(err)
		}
		tick <- time.Time{}
		<-runs
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("got %v", err)
	}
	if n := strings.Count(out.String(), "watching "); n != 3 {
		t.Errorf("ran %d times, want 3", n)
	}
}
