package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/check"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/internal/regular"
)

func checkCommand() *cobra.Command {
	f := &checkFlags{}
	c := &cobra.Command{
		Use:   "check PATH",
		Short: "Find mistakes in programs without running them",
		Long: `Find mistakes in a program, or in every .sns file of a folder, without running
it: undefined names, wrong arguments and types, code that is never reached, policy
rules that match nothing. Modules are checked with the program that imports them.

An error is certain to fail where it is reached; the exit status is then 1. What
may be meant, because a test or a try stands around it, is a warning. Of a single
file it also says which capabilities the program needs and what decides them.`,
		Args: pathArg,
		RunE: func(c *cobra.Command, args []string) error { return checkPath(args[0], f) },
	}
	c.Flags().BoolVar(&f.json, "json", false, "print the findings as JSON")
	return c
}

type checkFlags struct{ json bool }

// checkPath checks a file, a folder or standard input.
func checkPath(path string, f *checkFlags) error {
	files, err := programs(path)
	if err != nil {
		errPrinter(nil).Print(os.Stderr, err)
		return exitError(exitFailed)
	}
	if len(files) == 0 && !f.json {
		fmt.Fprintf(stdout, "no .sns files found under %s\n", path)
		return stdout.Flush()
	}
	all := &check.Report{}
	sources := map[string]string{}
	seen := map[string]bool{}
	for _, file := range files {
		src, err := source(file)
		if err != nil {
			errPrinter(nil).Print(flushed{os.Stderr}, err)
			return exitError(exitFailed)
		}
		sources[file] = src
		r := check.Source(file, src, check.Options{})
		for _, g := range r.Findings {
			if key := fmt.Sprint(g.File, g.Pos, g.Code, g.Msg); !seen[key] { // a module that several programs import
				seen[key] = true
				all.Findings = append(all.Findings, g)
			}
		}
		all.Files = append(all.Files, file)
		all.Needs = append(all.Needs, r.Needs...)
	}
	if f.json {
		err = writeJSON(checkJSON(all))
	} else {
		showCheck(all, sources)
		if len(files) == 1 && len(all.Needs) > 0 {
			fmt.Fprintln(stdout)
			showNeeds(stdout, all.Needs)
		}
		err = stdout.Flush()
	}
	if err == nil && all.Failed() {
		err = exitError(exitFailed)
	}
	return err
}

// programs lists the programs of a path: the file itself, or what a folder holds
// at any depth, in order of path, but for hidden folders.
func programs(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, diag.New(diag.Runtime, "no such file or directory: %s", path)
	case err != nil:
		return nil, diag.New(diag.Runtime, "cannot read %s: %v", path, err)
	case !st.IsDir():
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != path && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(p, ".sns"):
			if err := regular.Found(p); err != nil {
				return diag.New(diag.Runtime, "cannot read %s: %v", p, err)
			}
			files = append(files, p)
		}
		return nil
	})
	return files, err
}

// showCheck prints findings for people, each with its place, and how many there
// are.
func showCheck(r *check.Report, sources map[string]string) {
	color := term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""
	p := diag.Printer{Source: sense.Sources(sources), Color: color}.ForMany()
	for _, g := range r.Findings {
		p.PrintAs(stdout, string(g.Level)+":", &diag.Error{File: g.File, Pos: g.Pos, Msg: g.Msg, Notes: g.Notes})
	}
	n := counted(len(r.Files), "file")
	if len(r.Findings) == 0 {
		fmt.Fprintf(stdout, "%s checked, nothing found\n", n)
		return
	}
	var parts []string
	for _, l := range []check.Level{check.Error, check.Warning, check.Note} {
		if k := r.Count(l); k > 0 {
			parts = append(parts, counted(k, string(l)))
		}
	}
	fmt.Fprintf(stdout, "%s checked: %s\n", n, strings.Join(parts, ", "))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// findingJSON is a finding as programs read it.
type findingJSON struct {
	Level   string   `json:"level"`
	Code    string   `json:"code"`
	File    string   `json:"file"`
	Line    int32    `json:"line"`
	Column  int32    `json:"column"`
	Message string   `json:"message"`
	Notes   []string `json:"notes,omitempty"`
}

// reportJSON is a report as programs read it.
type reportJSON struct {
	OK       bool          `json:"ok"`
	Files    []string      `json:"files"`
	Findings []findingJSON `json:"findings"`
	Needs    []needJSON    `json:"needs"`
}

func checkJSON(r *check.Report) reportJSON {
	out := reportJSON{OK: !r.Failed(), Files: append([]string{}, r.Files...), Findings: []findingJSON{}, Needs: needsJSON(r.Needs)}
	for _, g := range r.Findings {
		out.Findings = append(out.Findings, findingJSON{string(g.Level), g.Code, g.File, g.Pos.Line, g.Pos.Col, g.Msg, g.Notes})
	}
	return out
}

// writeJSON prints a value and flushes.
func writeJSON(v any) error {
	if err := printJSON(v); err != nil {
		return err
	}
	return stdout.Flush()
}

// showNeeds prints what a program needs, in columns.
func showNeeds(w io.Writer, needs []check.Need) {
	fmt.Fprintln(w, "capabilities it needs:")
	wide := 0
	for _, n := range needs {
		wide = max(wide, len(capabilityText(n)))
	}
	for _, n := range needs {
		word := "allowed"
		if !n.Allowed {
			word = "denied "
		}
		if n.Capability == "" {
			word = "unknown"
		}
		line := fmt.Sprintf("  %-*s  %s  for %s, %s:%d", wide, capabilityText(n), word, n.For, fileName(n.File), n.Pos.Line)
		switch {
		case n.Rule != "":
			line += ", " + n.Rule
		case n.Capability != "":
			line += ", by no rule"
		}
		fmt.Fprintln(w, diag.Visible(line))
	}
}

func fileName(file string) string {
	if file == "" {
		return "<input>"
	}
	return file
}

func capabilityText(n check.Need) string {
	if n.Capability == "" {
		return "?"
	}
	return n.Capability
}

// needJSON is a need as programs read it.
type needJSON struct {
	Capability string `json:"capability"`
	For        string `json:"for"`
	File       string `json:"file"`
	Line       int32  `json:"line"`
	Allowed    bool   `json:"allowed"`
	Rule       string `json:"rule,omitempty"`
}

func needsJSON(needs []check.Need) []needJSON {
	out := []needJSON{}
	for _, n := range needs {
		out = append(out, needJSON{n.Capability, n.For, n.File, n.Pos.Line, n.Allowed, n.Rule})
	}
	return out
}
