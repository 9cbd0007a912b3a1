// Command bench runs the programs of bench/programs through sense, CPython, Lua and
// the interpreters written in Go that the drivers hold, one after another on the same
// machine, checks that they print the same and compares their CPU time.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// engine is one way to run a program: a command line without the file, and the
// suffix of the files it reads.
type engine struct {
	name, ext string
	argv      []string
}

// Peers are the interpreters written in Go.
var peers = []engine{
	{name: "gopher-lua", ext: "lua", argv: []string{"lua"}},
	{name: "tengo", ext: "tengo", argv: []string{"tengo"}},
	{name: "starlark", ext: "star", argv: []string{"star"}},
	{name: "goja", ext: "js", argv: []string{"goja"}},
}

func main() {
	sense := flag.String("sense", "../bin/sense", "the sense binary")
	original := flag.String("original", "", "the Python original's sense, to compare with as well")
	only := flag.String("only", "", "programs to run, comma-separated")
	n := flag.Int("n", 3, "runs of each; the fastest counts")
	limit := flag.Duration("limit", time.Minute, "time that one run may take")
	noPeers := flag.Bool("no-peers", false, "leaves the interpreters written in Go out")
	flag.Parse()
	if err := bench(*sense, *original, *only, *n, *limit, !*noPeers); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(sense, original, only string, n int, limit time.Duration, withPeers bool) error {
	engines, err := findEngines(sense, original, withPeers)
	if err != nil {
		return err
	}
	programs, err := findPrograms(only)
	if err != nil {
		return err
	}
	r := &runner{engines: engines, n: n, limit: limit}
	var rows []row
	for _, p := range programs {
		rows = append(rows, r.program(p))
		fmt.Fprint(os.Stderr, ".")
	}
	fmt.Fprintln(os.Stderr)
	fmt.Print(table(engines, rows))
	fmt.Print(summary(rows))
	return disagreement(rows)
}

func findEngines(sense, original string, withPeers bool) ([]engine, error) {
	path, err := filepath.Abs(sense)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	engines := []engine{{"sense", "sns", []string{path, "run"}}}
	if original != "" {
		engines = append(engines, engine{"original", "sns", []string{original, "run"}})
	}
	python := "/usr/bin/python3" // Debian's build is the anchor
	if _, err := os.Stat(python); err != nil {
		python = "python3"
	}
	for _, e := range []engine{{"python", "py", []string{python}}, {"lua5.4", "lua", []string{"lua5.4"}}} {
		if _, err := exec.LookPath(e.argv[0]); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is not installed and left out\n", e.argv[0])
			continue
		}
		engines = append(engines, e)
	}
	if !withPeers {
		return engines, nil
	}
	drivers, err := buildDrivers()
	if err != nil {
		return nil, err
	}
	for _, p := range peers {
		engines = append(engines, engine{p.name, p.ext, []string{filepath.Join(drivers, p.argv[0])}})
	}
	return append(engines, engine{"native", "native", []string{filepath.Join(drivers, "native")}}), nil
}

func buildDrivers() (string, error) {
	dir, err := filepath.Abs("bin")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./drivers/...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the drivers: %w\n%s", err, out)
	}
	return dir, nil
}

// findPrograms gives the names of the programs, hello first.
func findPrograms(only string) ([]string, error) {
	paths, err := filepath.Glob("programs/*.sns")
	if err != nil || len(paths) == 0 {
		return nil, errors.Join(errors.New("no program in bench/programs"), err)
	}
	names := []string{"hello"}
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".sns")
		if name != "hello" && name != "geo" { // geo is a module of another
			names = append(names, name)
		}
	}
	if only == "" {
		return names, nil
	}
	var chosen []string
	for _, name := range strings.Split(only, ",") {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("no program %q; there are %s", name, strings.Join(names, " "))
		}
		chosen = append(chosen, name)
	}
	return chosen, nil
}
