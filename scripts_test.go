package sense_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sense-lang/sense/internal/conform"
)

const scripts = "testdata/scripts"

// TestScripts runs the golden scripts: testdata/scripts/<area>/NAME.sns beside
// NAME.out and NAME.err. Comments at the top steer the run, see CONTRIBUTING.md.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob(scripts + "/*/*.sns")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "_") {
			continue
		}
		ran++
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), scripts+"/"), ".sns")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goldenScript(t, path, strings.TrimSuffix(path, ".sns"))
		})
	}
	if ran == 0 {
		t.Fatal("no golden script found")
	}
}

// goldenScript runs a script and compares its outputs with BASE.out and BASE.err.
func goldenScript(t *testing.T, path, base string) {
	t.Helper()
	c, err := scriptCase(path)
	if err != nil {
		t.Fatal(err)
	}
	runner := conform.Runner{Sense: binary(t, "sense"), Python: binary(t, "stubmcp"), StubMCP: filepath.Join(corpus, "stub_mcp.py")}
	res, err := runner.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, base+".out", res.Stdout)
	golden(t, base+".err", res.Stderr)
	want := strings.TrimSpace(c.Sections["exit"])
	if want == "" {
		want = "0"
	}
	if got := itoa(res.Exit); got != want {
		t.Errorf("exit status %s, want %s\n%s", got, want, res.Stderr)
	}
}

var directive = regexp.MustCompile(`^# (cmd|env|stdin|exit|oracle): (.*)$`)

// sectionLine is what separates the files of a case.
var sectionLine = regexp.MustCompile(`(?m)^-- .* --$`)

// scriptCase makes a case of a script: its own comments steer it, and for an
// example, which runs from the root, testdata/examples/NAME.cmd, NAME.stdin and
// NAME.exit.
// The files beside it that are no outputs lie in the scratch folder too, and
// NAME.openai.json or NAME.anthropic.json are turns of a vendor's stub.
func scriptCase(path string) (*conform.Case, error) {
	var b strings.Builder
	section := func(name, text string) {
		b.WriteString("-- " + name + " --\n" + strings.TrimSuffix(text, "\n") + "\n")
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	steer := map[string]string{"cmd": "run " + name}
	prefix := ""
	if filepath.Dir(path) == "examples" {
		prefix = "examples/"
		steer["cmd"] = "run " + prefix + name
		for _, key := range []string{"cmd", "stdin", "exit"} {
			if text, err := os.ReadFile("testdata/examples/" + strings.TrimSuffix(name, "sns") + key); err == nil {
				steer[key] = string(text)
			}
		}
	}
	for line := range strings.Lines(string(src)) {
		m := directive.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			break
		}
		if m[1] == "env" && steer["env"] != "" {
			m[2] = steer["env"] + "\n" + m[2]
		}
		steer[m[1]] = strings.ReplaceAll(m[2], `\n`, "\n")
	}
	for k, v := range steer {
		section(k, v)
	}
	dir, stem := filepath.Dir(path), strings.TrimSuffix(name, ".sns")
	err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if strings.HasSuffix(rel, ".sns") && !strings.HasPrefix(filepath.Base(rel), "_") && filepath.Dir(rel) == "." && rel != name {
			return nil // another script
		}
		switch filepath.Ext(rel) {
		case ".out", ".err":
			return nil
		case ".json":
			for _, vendor := range []string{"openai.json", "anthropic.json"} {
				if rel == stem+"."+vendor {
					rel = vendor
				}
			}
		}
		data, err := os.ReadFile(p)
		if sectionLine.Match(data) {
			return fmt.Errorf("%s has a line that would be the head of a section", p)
		}
		section(prefix+filepath.ToSlash(rel), string(data))
		return err
	})
	return conform.Parse(b.String()), err
}

// golden compares a text with a file, or writes it there with -update. No file
// means no text.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		writeGolden(t, path, got)
		return
	}
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if want := string(data); want != got {
		t.Errorf("%s differs (go test . -update records it)\n%s", filepath.Base(path), diffText(path, want, got))
	}
}

func writeGolden(t *testing.T, path, got string) {
	t.Helper()
	if got == "" {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
}
