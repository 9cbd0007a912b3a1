package testrun

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// writeTests reports the tests of a file in the order they ended.
func writeTests(o *Options, f *Result) {
	for _, t := range f.Tests {
		took := ""
		if o.Timings {
			took = " (" + rounded(t.Took).String() + ")"
		}
		if t.Err == nil {
			fmt.Fprintf(o.Stdout, "  PASS  %s%s\n", t.Desc, took)
			continue
		}
		fmt.Fprintf(o.Stdout, "  FAIL  %s%s\n        %v\n", t.Desc, took, t.Err)
		o.writeNotes(o.Stdout, t.Err)
	}
	if f.Err != nil {
		fmt.Fprintf(o.Stderr, "  ERROR  %v\n", f.Err)
		o.writeNotes(o.Stderr, f.Err)
	}
	fmt.Fprintln(o.Stdout)
}

func (o *Options) writeNotes(w io.Writer, err error) {
	for _, n := range notes(err, o.Notes) {
		fmt.Fprintf(w, "        %s\n", diag.Visible(n))
	}
}

// rounded gives a time with three digits or so.
func rounded(d time.Duration) time.Duration {
	for unit := time.Nanosecond; unit < time.Second; unit *= 1000 {
		if d < 1000*unit*100 {
			return d.Round(unit)
		}
	}
	return d.Round(10 * time.Millisecond)
}

// notes gives what an error has to say besides its message; where not all is
// wanted, that is both sides of a failed assert, without which it says nothing.
func notes(err error, all bool) []string {
	var e *diag.Error
	if errors.As(err, &e) && (all || e.Msg == eval.AssertionFailed) {
		return e.Notes
	}
	return nil
}

// writeSummary reports the numbers of a run, and its coverage.
func writeSummary(w io.Writer, r *Report) {
	passed, failed := r.Count()
	fmt.Fprintf(w, "%s, %s: %d passed, %d failed\n", count(len(r.Results), "file"), count(passed+failed, "test"), passed, failed)
	if r.Coverage != nil {
		fmt.Fprintln(w)
		writeCoverage(w, r.Coverage)
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// covered gives the numbers of lines with statements and of those that ran, and
// the ranges of those that did not.
func covered(lines []eval.Line) (ran int, missed []string) {
	for i := 0; i < len(lines); i++ {
		if lines[i].Count > 0 {
			ran++
			continue
		}
		first := lines[i].Number
		for i+1 < len(lines) && lines[i+1].Count == 0 {
			i++
		}
		if last := lines[i].Number; last > first {
			missed = append(missed, fmt.Sprintf("%d-%d", first, last))
		} else {
			missed = append(missed, fmt.Sprint(first))
		}
	}
	return ran, missed
}

func writeCoverage(w io.Writer, v *eval.Coverage) {
	wide, all, allRan := len("total"), 0, 0
	for _, f := range v.Files() {
		wide = max(wide, len(f))
	}
	for _, f := range v.Files() {
		lines := v.Lines(f)
		ran, missed := covered(lines)
		all, allRan = all+len(lines), allRan+ran
		line := fmt.Sprintf("%-*s  %s", wide, f, share(ran, len(lines)))
		if missed != nil {
			line += "  not reached: " + strings.Join(missed, ", ")
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "%-*s  %s\n", wide, "total", share(allRan, all))
}

func share(n, of int) string {
	if of == 0 {
		return "100.0 %"
	}
	return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(of))
}
