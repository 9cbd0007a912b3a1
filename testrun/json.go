package testrun

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/sense-lang/sense/diag"
)

type jsonReport struct {
	OK       bool           `json:"ok"`
	Passed   int            `json:"passed"`
	Failed   int            `json:"failed"`
	Seconds  float64        `json:"seconds"`
	Files    []jsonFile     `json:"files"`
	Coverage []jsonCoverage `json:"coverage,omitempty"`
}

type jsonFile struct {
	Path    string     `json:"path"`
	Seconds float64    `json:"seconds"`
	Error   *jsonError `json:"error,omitempty"`
	Output  string     `json:"output"`
	Tests   []jsonTest `json:"tests"`
}

type jsonTest struct {
	Name    string     `json:"name"`
	Passed  bool       `json:"passed"`
	Seconds float64    `json:"seconds"`
	Error   *jsonError `json:"error,omitempty"`
}

type jsonError struct {
	Kind    string   `json:"kind"`
	Message string   `json:"message"`
	File    string   `json:"file,omitempty"`
	Line    int32    `json:"line,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// jsonCoverage is a file's coverage; Counts are pairs of a line and how often
// it ran.
type jsonCoverage struct {
	Path   string     `json:"path"`
	Lines  int        `json:"lines"`
	Ran    int        `json:"ran"`
	Counts [][2]int64 `json:"counts"`
}

func errorJSON(err error) *jsonError {
	if err == nil {
		return nil
	}
	out := &jsonError{Kind: string(diag.KindOf(err)), Message: err.Error()}
	var e *diag.Error
	if errors.As(err, &e) {
		out.Message, out.File, out.Line, out.Notes = e.Msg, e.File, e.Pos.Line, e.Notes
	}
	return out
}

// writeJSON reports a run for programs.
func writeJSON(w io.Writer, r *Report) error {
	out := jsonReport{OK: r.OK(), Seconds: r.Took.Seconds(), Files: []jsonFile{}}
	out.Passed, out.Failed = r.Count()
	for _, f := range r.Results {
		j := jsonFile{Path: f.Path, Seconds: f.Took.Seconds(), Error: errorJSON(f.Err), Output: f.Output, Tests: []jsonTest{}}
		for _, t := range f.Tests {
			j.Tests = append(j.Tests, jsonTest{t.Desc, t.Err == nil, t.Took.Seconds(), errorJSON(t.Err)})
		}
		out.Files = append(out.Files, j)
	}
	if v := r.Coverage; v != nil {
		for _, f := range v.Files() {
			c := jsonCoverage{Path: f, Lines: len(v.Lines(f))}
			c.Ran, _ = covered(v.Lines(f))
			for _, l := range v.Lines(f) {
				c.Counts = append(c.Counts, [2]int64{int64(l.Number), l.Count})
			}
			out.Coverage = append(out.Coverage, c)
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
