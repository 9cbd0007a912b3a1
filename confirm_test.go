package sense_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/sense-lang/sense/internal/conform"
)

// agreedList names the scripts whose answers differ from the original's, each
// with the reason: "scripts/area/name: reason", * for any name of a folder.
const agreedList = "testdata/confirm.txt"

// agreement keeps which lines of the list were needed.
type agreement struct {
	mu      sync.Mutex
	reasons map[string]string
	used    map[string]bool
}

func readAgreement(t *testing.T) *agreement {
	t.Helper()
	a := &agreement{reasons: map[string]string{}, used: map[string]bool{}}
	for line := range strings.Lines(readFile(t, agreedList)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, ": ")
		if !ok || reason == "" {
			t.Fatalf("%s: %q gives no reason", agreedList, line)
		}
		a.reasons[name] = reason
	}
	return a
}

// reason gives why a script may differ, or "".
func (a *agreement) reason(name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range []string{name, path.Dir(name) + "/*"} {
		if why := a.reasons[key]; why != "" {
			a.used[key] = true
			return why
		}
	}
	return ""
}

// TestConfirm runs every script through the Python original too. SENSE_CONFIRM is
// its path; `make confirm` installs it. What differs must be agreed, and what is
// agreed must differ.
func TestConfirm(t *testing.T) {
	original := os.Getenv("SENSE_CONFIRM")
	if original == "" {
		t.Skip("SENSE_CONFIRM names no original to compare with (make confirm)")
	}
	list := readAgreement(t)
	ours := conform.Runner{Sense: binary(t, "sense"), Python: binary(t, "stubmcp"), StubMCP: filepath.Join(corpus, "stub_mcp.py"), Lenient: true}
	theirs := ours
	theirs.Sense = original
	t.Run("all", func(t *testing.T) {
		for name, c := range confirmCases(t) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				confirm(t, name, c, ours, theirs, list)
			})
		}
	})
	for key := range list.reasons {
		if !list.used[key] {
			t.Errorf("%s lists %s, which does not differ or is not there", agreedList, key)
		}
	}
}

// confirmCases gives the scripts, the examples and the corpus by name.
func confirmCases(t *testing.T) map[string]*conform.Case {
	t.Helper()
	cases := map[string]*conform.Case{}
	scriptPaths, _ := filepath.Glob(scripts + "/*/*.sns") // the patterns are well-formed
	examplePaths, _ := filepath.Glob("examples/*.sns")
	for _, p := range append(scriptPaths, examplePaths...) {
		if strings.HasPrefix(filepath.Base(p), "_") {
			continue
		}
		c, err := scriptCase(p)
		if err != nil {
			t.Fatal(err)
		}
		cases[strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(p), "testdata/"), ".sns")] = c
	}
	corpusPaths, err := conform.Find(corpus)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range corpusPaths {
		c, err := conform.Load(p)
		if err != nil {
			t.Fatal(err)
		}
		cases[strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(p), "testdata/"), ".txtar")] = c
	}
	return cases
}

func confirm(t *testing.T, name string, c *conform.Case, ours, theirs conform.Runner, list *agreement) {
	if c.Has("oracle") {
		t.Logf("agreed: %s: %s", name, firstLine(c.Sections["oracle"]))
		return
	}
	if why := c.NeedsPython(); why != "" {
		ours.Python, theirs.Python = "python3", "python3"
	}
	mine, err := ours.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	original, err := theirs.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	diffs := difference(c, original, mine)
	if len(diffs) == 0 {
		return
	}
	if why := list.reason(name); why != "" {
		t.Logf("agreed: %s: %s", name, why)
		return
	}
	for _, d := range diffs {
		t.Errorf("%s is not the original's\n  %v", name, d)
	}
}

// difference compares two answers as the corpus does: our errors may name a line
// that the original leaves out, and of standard error the first line counts. What
// the corpus itself leaves open is not compared.
func difference(c *conform.Case, want, got *conform.Result) []conform.Diff {
	expected := &conform.Case{Sections: map[string]string{
		"stdout": want.Stdout, "stderr": want.First, "exit": itoa(want.Exit),
		"requests": want.Requests, "schemas": want.Schemas,
	}}
	for _, name := range []string{"stdout", "stderr", "requests", "schemas"} {
		if text := c.Sections[name]; strings.TrimSpace(text) == "*" || strings.Contains(text, "<ANY>") || strings.Contains(text, "<LINES>") {
			expected.Sections[name] = text
		}
	}
	mine := *got
	mine.Stdout, mine.First = withoutOwnLines(want.Stdout, got.Stdout), withoutOwnLines(want.First, got.First)
	return expected.Check(&mine)
}

var lineMark = regexp.MustCompile(`\[line \d+\] `)

// withoutOwnLines takes those "[line N] " out of our text that the original's lacks:
// line by line, what the original says in order must be said by ours in order.
func withoutOwnLines(theirs, ours string) string {
	want, got := strings.Split(theirs, "\n"), strings.Split(ours, "\n")
	for i := range min(len(want), len(got)) {
		marks := lineMark.FindAllString(want[i], -1)
		got[i] = lineMark.ReplaceAllStringFunc(got[i], func(m string) string {
			if len(marks) == 0 || marks[0] != m {
				return ""
			}
			marks = marks[1:]
			return m
		})
	}
	return strings.Join(got, "\n")
}

func TestAgreementReadsReasons(t *testing.T) {
	a := readAgreement(t)
	for key, why := range a.reasons {
		if strings.TrimSpace(why) == "" || !strings.Contains(key, "/") {
			t.Errorf("%q: %q", key, why)
		}
	}
	a.reasons = map[string]string{"scripts/beyond/*": "ours", "examples/x": "also"}
	for name, want := range map[string]string{"scripts/beyond/maps": "ours", "examples/x": "also", "examples/y": "", "scripts/other/maps": ""} {
		if got := a.reason(name); got != want {
			t.Errorf("reason(%q) = %q, want %q", name, got, want)
		}
	}
	if !a.used["scripts/beyond/*"] || a.used["scripts/other/*"] {
		t.Errorf("used lines: %v", a.used)
	}
}

func TestDifferenceIsLenientWhereTheCorpusIs(t *testing.T) {
	c := conform.Parse("-- stdout --\nx <ANY>\n")
	same := difference(c, &conform.Result{Stdout: "x 1", First: "SenseError: no"}, &conform.Result{Stdout: "x 2", First: "SenseError: [line 3] no"})
	if len(same) != 0 {
		t.Errorf("%v", same)
	}
	plain := conform.Parse("-- stdout --\n")
	if d := difference(plain, &conform.Result{Stdout: "-> failed (b)\n[line 1] x"}, &conform.Result{Stdout: "[line 4] -> failed ([line 2] b)\n[line 1] x"}); len(d) != 0 {
		t.Errorf("%v", d)
	}
	if d := difference(plain, &conform.Result{Stdout: "[line 1] x"}, &conform.Result{Stdout: "[line 2] x"}); len(d) != 1 {
		t.Errorf("another line is no difference: %v", d)
	}
	other := difference(c, &conform.Result{Stdout: "x 1", Exit: 1}, &conform.Result{Stdout: "y"})
	if len(other) != 2 {
		t.Errorf("%d differences, want stdout and exit: %v", len(other), other)
	}
}
