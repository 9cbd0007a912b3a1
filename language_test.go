package sense_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/eval"
)

const reference = "docs/language"

// pages gives the pages of the language reference. The examples of std.md run in
// a test of their own, with a site and folders.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(reference + "/*.md")
	if err != nil || len(paths) < 3 {
		t.Fatalf("%d pages: %v", len(paths), err)
	}
	out := map[string]string{}
	for _, p := range paths {
		out[filepath.Base(p)] = readFile(t, p)
	}
	return out
}

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// TestReferenceExamples runs the examples of the reference. In a block `sense`, a
// line `x  # => y` prints x, which must give y; what a block prints of itself
// stands in lines `# => y`; a line `x  # error: y` must fail so; a last line
// `# SenseError: y` is the error that ends the program. A block that begins with
// `# file: name` is a file for those after it. In a block `console`, every line
// `$ sense ...` must print the lines that follow; `...` stands for any.
func TestReferenceExamples(t *testing.T) {
	for name, page := range pages(t) {
		if name == "std.md" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			for _, b := range fence.FindAllStringSubmatch(page, -1) {
				switch file, isFile := strings.CutPrefix(b[2], "# file: "); {
				case isFile:
					at, text, _ := strings.Cut(file, "\n")
					writeExample(t, at, text)
				case b[1] == "sense":
					runBlock(t, b[2])
				case b[1] == "console":
					runConsole(t, b[2])
				}
			}
		})
	}
}

func writeExample(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var expectation = regexp.MustCompile(`^( *)(.*?) *# (=>|error:|SenseError:) ?(.*)$`)

func runBlock(t *testing.T, code string) {
	t.Helper()
	var src, want, got strings.Builder
	failure := ""
	for line := range strings.Lines(code) {
		m := expectation.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case m == nil:
			src.WriteString(line)
			continue
		case m[3] == "SenseError:":
			failure = m[4]
			continue
		case m[3] == "error:":
			fmt.Fprintf(&src, "%[1]stry:\n%[1]s    %[2]s\n%[1]s    print(\"no error\")\n%[1]scatch e__: print(e__.message)\n", m[1], m[2])
		case strings.HasPrefix(m[2], "print("):
			src.WriteString(line)
		case m[2] != "":
			fmt.Fprintf(&src, "%sprint(%s)\n", m[1], m[2])
		default: // of what was printed before
			src.WriteString("\n")
		}
		want.WriteString(strings.ReplaceAll(m[4], `\n`, "\n") + "\n")
	}
	writeExample(t, "example.sns", src.String())
	r := sense.New(t.Context(), sense.Options{Stdout: &got, Stdin: strings.NewReader("Ann\nyes\n"), FSRoots: []string{"."}, Getenv: noEnv})
	defer r.Close()
	message := ""
	if err := r.RunFile("example.sns"); err != nil {
		message = err.Error()
	}
	if got.String() != want.String() || message != failure {
		t.Errorf("%s\ngives %s\n%s\nwant %s\n%s", code, message, got.String(), failure, want.String())
	}
}

func noEnv(string) string { return "" }

// runConsole runs the commands of a block through the shell, as a reader would.
func runConsole(t *testing.T, text string) {
	t.Helper()
	for _, part := range strings.Split("\n"+text, "\n$ ")[1:] {
		command, want, _ := strings.Cut(part, "\n")
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Env = []string{"PATH=" + filepath.Dir(binary(t, "sense")) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + t.TempDir(), "NO_COLOR=1"}
		var got bytes.Buffer
		cmd.Stdout, cmd.Stderr = &got, &got
		_ = cmd.Run() // the status is shown by $?
		if !fits(strings.TrimSpace(want), strings.TrimSpace(got.String())) {
			t.Errorf("$ %s\ngives\n%s\nwant\n%s", command, got.String(), want)
		}
	}
}

// fits reports whether a text is as a pattern says, in which lines `...` stand
// for any lines.
func fits(pattern, text string) bool {
	parts := strings.Split("\n"+pattern+"\n", "\n...\n")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(strings.Trim(p, "\n"))
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, `.*`) + `$`).MatchString(text)
}

// TestReferenceIsComplete sees to it that the reference says of every builtin and
// of every method what it says of itself, and that an example calls it.
func TestReferenceIsComplete(t *testing.T) {
	all, code := "", ""
	for name, page := range pages(t) {
		all += page
		if name == "std.md" {
			continue
		}
		for _, b := range fence.FindAllStringSubmatch(page, -1) {
			if b[1] == "sense" {
				code += b[2]
			}
		}
	}
	need := func(doc, call string) {
		head, about, _ := strings.Cut(doc, "\n")
		if row := "| `" + head + "` | " + about + " |\n"; !strings.Contains(all, row) {
			t.Errorf("the reference lacks\n%s", row)
		}
		if !strings.Contains(code, call+"(") {
			t.Errorf("no example calls %s", call)
		}
	}
	deps := &builtins.Deps{}
	for _, table := range []map[string]eval.Value{builtins.Universe(deps), builtins.Extra(deps)} {
		for name, v := range table {
			switch name {
			case "mock_model", "verify", "approve", "rollback", "connect_mcp", "connect_mcp_all": // gone; need a server
				continue
			}
			doc := strings.Replace(eval.Describe(v), ", a builtin\n", "\n", 1)
			need(doc, name)
		}
	}
	for _, ms := range builtins.TypeMethods() {
		for name, m := range ms {
			need(m.Doc, "."+name)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)

// TestReferenceLinks sees to it that every link of the reference leads somewhere,
// and that the index leads to every page.
func TestReferenceLinks(t *testing.T) {
	all := pages(t)
	for name, page := range all {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			if _, err := os.Stat(filepath.Join(reference, m[1])); m[1] != "" && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if name != "README.md" && !strings.Contains(all["README.md"], "("+name+")") {
			t.Errorf("the index does not lead to %s", name)
		}
	}
	if !strings.Contains(readFile(t, "README.md"), "("+reference+"/README.md)") {
		t.Error("README.md does not lead to the reference")
	}
}
