// Command vulncheck runs govulncheck over the module with a database made from the
// module golang.org/x/vulndb, so that it needs nothing but the module proxy, and
// judges what it finds: a vulnerability of a dependency that our code can reach
// fails; one of the standard library is a note, for the toolchain that builds a
// release is chosen when it is built.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: vulncheck GOVULNCHECK FOLDER-FOR-THE-DATABASE")
		os.Exit(2)
	}
	bad, err := check(os.Args[1], os.Args[2], os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "vulncheck:", err)
		os.Exit(2)
	case bad > 0:
		os.Exit(1)
	}
}

// check writes what was found and gives how much of it fails.
func check(govulncheck, dir string, out io.Writer) (int, error) {
	osv, err := download()
	if err != nil {
		return 0, err
	}
	n, err := makeDatabase(osv, dir)
	if err != nil {
		return 0, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(govulncheck, "-db", "file://"+filepath.ToSlash(abs), "-format", "json", "./...")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("govulncheck: %w", err)
	}
	found, err := readFindings(stdout)
	if err != nil {
		return 0, err
	}
	bad := report(found, out)
	fmt.Fprintf(out, "%d known vulnerabilities looked for, %d of dependencies can be reached\n", n, bad)
	return bad, nil
}

// download gives the folder of the newest reports.
func download() (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", "golang.org/x/vulndb@latest")
	cmd.Dir = os.TempDir() // away from our go.mod
	stdout, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go mod download: %w", err)
	}
	var got struct{ Dir string }
	if err := json.Unmarshal(stdout, &got); err != nil {
		return "", err
	}
	return filepath.Join(got.Dir, "data", "osv"), nil
}

// entry is what the index needs of a report.
type entry struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Aliases  []string  `json:"aliases,omitempty"`
	Affected []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
		Ranges []struct {
			Events []struct {
				Fixed string `json:"fixed"`
			} `json:"events"`
		} `json:"ranges"`
	} `json:"affected"`
}

// vuln is a report in the index of modules.
type vuln struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Fixed    string    `json:"fixed,omitempty"`
}

type moduleVulns struct {
	Path  string `json:"path"`
	Vulns []vuln `json:"vulns"`
}

// makeDatabase lays the reports of a folder out as govulncheck reads them and gives
// their number.
func makeDatabase(osv, dir string) (int, error) {
	paths, err := filepath.Glob(filepath.Join(osv, "GO-*.json"))
	if err != nil || len(paths) == 0 {
		return 0, errors.Join(fmt.Errorf("no reports in %s", osv), err)
	}
	for _, sub := range []string{"ID", "index"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return 0, err
		}
	}
	modules := map[string]*moduleVulns{}
	var all []vuln
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		var e entry
		if err := json.Unmarshal(data, &e); err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "ID", e.ID+".json"), data, 0o644); err != nil {
			return 0, err
		}
		all = append(all, vuln{ID: e.ID, Modified: e.Modified})
		index(modules, e)
	}
	sorted := make([]*moduleVulns, 0, len(modules))
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		sorted = append(sorted, modules[path])
	}
	return len(all), errors.Join(
		writeJSON(filepath.Join(dir, "index", "db.json"), map[string]any{"modified": time.Now().UTC()}),
		writeJSON(filepath.Join(dir, "index", "vulns.json"), all),
		writeJSON(filepath.Join(dir, "index", "modules.json"), sorted))
}

// index adds a report to each module that it affects.
func index(modules map[string]*moduleVulns, e entry) {
	for _, a := range e.Affected {
		m := modules[a.Package.Name]
		if m == nil {
			m = &moduleVulns{Path: a.Package.Name}
			modules[a.Package.Name] = m
		}
		fixed := ""
		for _, r := range a.Ranges {
			for _, ev := range r.Events {
				fixed = ev.Fixed // the last event: not fixed where it introduces
			}
		}
		if !slices.ContainsFunc(m.Vulns, func(v vuln) bool { return v.ID == e.ID }) {
			m.Vulns = append(m.Vulns, vuln{ID: e.ID, Modified: e.Modified, Fixed: fixed})
		}
	}
}

func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// finding is a vulnerability that the module has, with a way to it.
type finding struct {
	OSV   string `json:"osv"`
	Fixed string `json:"fixed_version"`
	Trace []struct {
		Module   string `json:"module"`
		Version  string `json:"version"`
		Package  string `json:"package"`
		Function string `json:"function"`
	} `json:"trace"`
}

// readFindings reads govulncheck's stream and keeps what our code can call, one of
// each report.
func readFindings(stream []byte) ([]finding, error) {
	var found []finding
	d := json.NewDecoder(strings.NewReader(string(stream)))
	for {
		var msg struct {
			Finding *finding `json:"finding"`
		}
		if err := d.Decode(&msg); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("what govulncheck says: %w", err)
		}
		f := msg.Finding
		if f == nil || len(f.Trace) == 0 || f.Trace[0].Function == "" {
			continue // in the module, but out of reach
		}
		if !slices.ContainsFunc(found, func(x finding) bool { return x.OSV == f.OSV }) {
			found = append(found, *f)
		}
	}
}

// report writes the findings and gives how many are of dependencies.
func report(found []finding, out io.Writer) int {
	bad := 0
	for _, f := range found {
		at := f.Trace[0]
		kind := "FAIL"
		if at.Module == "stdlib" {
			kind = "note"
		} else {
			bad++
		}
		fixed := "no fix yet"
		if f.Fixed != "" {
			fixed = "fixed in " + f.Fixed
		}
		fmt.Fprintf(out, "%s %s %s@%s %s.%s, %s\n", kind, f.OSV, at.Module, at.Version, at.Package, at.Function, fixed)
	}
	return bad
}
