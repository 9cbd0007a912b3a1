package conform

import (
	"fmt"
	"regexp"
	"strings"
)

// Diff is one way in which an answer is not the expected one.
type Diff struct{ What, Want, Got string }

func (d Diff) String() string {
	indent := func(s string) string { return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ") }
	return fmt.Sprintf("%s expected:\n%s\n  %s got:\n%s", d.What, indent(d.Want), d.What, indent(d.Got))
}

// Check compares a result with what the case expects.
func (c *Case) Check(r *Result) []Diff {
	var diffs []Diff
	differ := func(what, want, got string) { diffs = append(diffs, Diff{what, want, got}) }
	if want := c.Sections["stdout"]; strings.TrimSpace(want) != "*" && !Same(want, r.Stdout) {
		differ("stdout", want, r.Stdout)
	}
	want := strings.Trim(c.Sections["stderr"], "\n")
	first := r.First
	if lines := strings.Split(first, "\n"); want != "" {
		first = strings.Join(lines[:min(len(lines), strings.Count(want, "\n")+1)], "\n")
	}
	if want != "*" && !Same(want, first) {
		differ("stderr", want, r.Stderr)
	}
	exit := "0"
	if c.Has("exit") {
		exit = strings.TrimSpace(c.Sections["exit"])
	}
	if got := fmt.Sprint(r.Exit); got != exit {
		differ("exit", exit, got)
	}
	for _, asked := range []struct{ name, got string }{{"requests", r.Requests}, {"sent", r.Sent}, {"schemas", r.Schemas}} {
		if c.Has(asked.name) && !Same(c.Sections[asked.name], asked.got) {
			differ(asked.name, c.Sections[asked.name], asked.got)
		}
	}
	for _, text := range lines(c.Sections["absent"]) {
		if text != "" && strings.Contains(r.Stdout+r.Stderr+r.Requests, text) {
			differ("absent", text, "it occurs in the output or the requests")
		}
	}
	return diffs
}

// Same reports whether an answer is the expected one, line by line. In an expected
// line <ANY> stands for any text, and a line <LINES> for any number of lines; an
// answer may add a "[line N] " that the expected line lacks.
func Same(want, got string) bool {
	return sameLines(strings.Split(strings.TrimRight(want, "\n"), "\n"), strings.Split(strings.TrimRight(got, "\n"), "\n"))
}

func sameLines(want, got []string) bool {
	for len(want) > 0 {
		if want[0] == "<LINES>" {
			for k := 0; k <= len(got); k++ {
				if sameLines(want[1:], got[k:]) {
					return true
				}
			}
			return false
		}
		if len(got) == 0 || !sameLine(want[0], got[0]) {
			return false
		}
		want, got = want[1:], got[1:]
	}
	return len(got) == 0
}

var lineNumber = regexp.MustCompile(`\[line \d+\] `)

func sameLine(want, got string) bool {
	if like(want, got) {
		return true
	}
	at := lineNumber.FindStringIndex(got)
	return at != nil && !strings.Contains(want, "[line ") && like(want, got[:at[0]]+got[at[1]:])
}

// like matches a line in which <ANY> stands for any text.
func like(want, got string) bool {
	parts := strings.Split(want, "<ANY>")
	if len(parts) == 1 {
		return want == got
	}
	got, ok := strings.CutPrefix(got, parts[0])
	if !ok {
		return false
	}
	got, ok = strings.CutSuffix(got, parts[len(parts)-1])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		if _, got, ok = strings.Cut(got, p); !ok {
			return false
		}
	}
	return true
}

// lines splits a text at its line ends, the last one may be missing.
func lines(s string) []string {
	s = strings.TrimSuffix(universal(s), "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// universal makes every line end a \n, as a text read by Python has them.
func universal(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
