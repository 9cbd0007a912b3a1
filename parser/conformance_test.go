package parser

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// section is one file of a case of the corpus.
type section struct{ name, text string }

// sections splits a case: "-- name --" lines part the files.
func sections(text string) []section {
	var out []section
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- ")
		name, ok2 := strings.CutSuffix(name, " --")
		if ok && ok2 {
			out = append(out, section{name: name})
		} else if len(out) > 0 {
			out[len(out)-1].text += line
		}
	}
	return out
}

// syntaxMessage matches the messages that only a scanner or parser gives.
var syntaxMessage = regexp.MustCompile(`\[line \d+\] (expected .*|unexpected (token|character) .*|inconsistent indentation|tabs are not allowed.*|` +
	`unterminated .*|semicolons .*|Sense uses indentation.*|'!' is not.*|invalid assignment target|positional arguments must.*|.* needs the 'model' keyword.*|` +
	`function declarations need 'def'.*|'compensate' is now.*|only a 'reversible action'.*|reversible action '.*' must declare.*|` +
	`'approval' listed twice.*|'elif' must come.*|a '\*' inside a segment.*|a parameter without a default.*)`)

// exceptions lists messages that the scripts of the corpus do not explain: one
// comes from text typed in a session, one is never printed.
var exceptions = []string{
	"[line 2] expected an indented block (got EOF '')",
	"[line 2] expected a description string after 'test' (got IDENT 'broken')",
}

func TestConformance(t *testing.T) {
	files, err := filepath.Glob("../testdata/conformance/*/*.txtar")
	if err != nil || len(files) < 300 {
		t.Fatalf("corpus: %d cases, %v", len(files), err)
	}
	refused := 0
	for _, f := range files {
		refused += checkCase(t, f)
	}
	if refused < 150 {
		t.Errorf("only %d scripts of the corpus were refused", refused)
	}
}

// checkCase parses the scripts of a case. Every error must be one that the case
// shows, and every syntax error that it shows must come. It gives their number.
func checkCase(t *testing.T, file string) int {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var shown string
	var got []string
	for _, s := range sections(string(b)) {
		if s.name == "stdout" || s.name == "stderr" {
			shown += s.text
		}
		if strings.HasSuffix(s.name, ".sns") {
			if _, err := Parse(s.name, s.text); err != nil {
				got = append(got, err.Error())
			}
		}
	}
	for _, msg := range got {
		if !strings.Contains(shown, msg) && !slices.Contains(exceptions, msg) && !strings.Contains(shown, "[line 1] <ANY>") && !strings.Contains(file, "/fmt/errors") {
			t.Errorf("%s: refused with %s", file, msg)
		}
	}
	for _, msg := range syntaxMessage.FindAllString(shown, -1) {
		if !slices.Contains(got, msg) && !slices.Contains(exceptions, msg) {
			t.Errorf("%s: lacks %s", file, msg)
		}
	}
	return len(got)
}
