// Package conform runs the cases of the conformance corpus against a sense
// binary. It is the Go twin of the corpus's own runner: the same sections mean
// the same, so that `go test` needs no Python where no case does.
package conform

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Case is one file of the corpus.
type Case struct {
	// Path is where it was read from.
	Path string
	// Head says what the case shows.
	Head string
	// Sections holds the text of each section by its name.
	Sections map[string]string
	// names are the sections in their order.
	names []string
}

// steering are the sections that are no files of the scratch folder.
var steering = []string{"cmd", "env", "stdin", "openai.json", "anthropic.json", "requests", "stdout", "stderr", "exit", "oracle",
	"sent", "schemas", "absent", "limit"}

var marker = regexp.MustCompile(`^-- (.+?) --\s*$`)

// Parse takes a case apart. Text before the first section is the head.
func Parse(text string) *Case {
	c := &Case{Sections: map[string]string{}}
	var head, buf strings.Builder
	name := ""
	for line := range strings.Lines(text) {
		m := marker.FindStringSubmatch(line)
		switch {
		case m != nil:
			c.add(name, buf.String())
			name = m[1]
			buf.Reset()
		case name == "":
			head.WriteString(line)
		default:
			buf.WriteString(line)
		}
	}
	c.add(name, buf.String())
	c.Head = strings.TrimSpace(head.String())
	return c
}

func (c *Case) add(name, text string) {
	if name == "" {
		return
	}
	if !c.Has(name) {
		c.names = append(c.names, name)
	}
	c.Sections[name] = text
}

// Load reads a case.
func Load(path string) (*Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := Parse(string(data))
	c.Path = path
	return c, nil
}

// Find gives the paths of all cases under a folder, in order.
func Find(root string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".txtar") {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}

// Has reports whether the case has a section.
func (c *Case) Has(name string) bool {
	_, ok := c.Sections[name]
	return ok
}

// Files gives the names of the sections that are files, in order.
func (c *Case) Files() []string {
	return slices.DeleteFunc(slices.Clone(c.names), func(n string) bool { return slices.Contains(steering, n) })
}

var (
	stubStart    = regexp.MustCompile(`\$PY["',:\[ a-z]{0,20}(\$DIR/)?stub_mcp\.py`)
	pythonImport = regexp.MustCompile(`(?m)^\s*(import|from)\s+python\b`)
)

// NeedsPython says why a case cannot run without python3, or "" where it can: the
// stub server has a Go twin, other Python has none.
func (c *Case) NeedsPython() string {
	if own, _ := filepath.Glob(filepath.Join(filepath.Dir(c.Path), "*.py")); c.Path != "" && len(without(own, "stub_mcp.py", "run.py")) > 0 {
		return "it has Python files beside it"
	}
	for _, name := range c.names {
		text := c.Sections[name]
		switch {
		case strings.HasSuffix(name, ".py"):
			return "it brings " + name
		case strings.HasSuffix(name, ".sns") && pythonImport.MatchString(text):
			return "it imports Python modules"
		case strings.Contains(stubStart.ReplaceAllString(text, ""), "$PY"):
			return "it starts Python itself"
		case strings.HasSuffix(name, ".sh") && strings.Contains(text, "python3"):
			return "its script uses python3"
		}
	}
	return ""
}

func without(paths []string, bases ...string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(bases, filepath.Base(p)) })
}
