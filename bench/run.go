package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// result is the best of an engine's runs of a program.
type result struct {
	cpu    time.Duration
	rss    int64 // KiB at most
	output string
	failed string // why it has no time
}

// row has the results of one program by engine; engines without a version of the
// program are not in it.
type row struct {
	program string
	results map[string]result
}

type runner struct {
	engines []engine
	n       int
	limit   time.Duration
}

// program runs one program through every engine in turn, n times, so that a slow
// moment of the machine hits all of them.
func (r *runner) program(name string) row {
	out := row{program: name, results: map[string]result{}}
	for range r.n {
		for _, e := range r.engines {
			best, seen := out.results[e.name]
			if best.failed != "" {
				continue
			}
			got, ok := r.once(e, name)
			if ok && (!seen || got.failed != "" || got.cpu < best.cpu) {
				out.results[e.name] = got
			}
		}
	}
	return out
}

// once runs a program; false means that the engine has no version of it.
func (r *runner) once(e engine, name string) (result, bool) {
	args := e.argv[1:]
	if e.ext == "native" {
		if name != "hello" {
			return result{}, false
		}
	} else {
		found, _ := filepath.Glob(filepath.Join("programs", name+"."+e.ext)) // the pattern is well-formed
		if len(found) == 0 {
			return result{}, false
		}
		args = append(append([]string{}, args...), name+"."+e.ext)
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.argv[0], args...)
	cmd.Dir = "programs"
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return result{failed: "over " + r.limit.String()}, true
	case err != nil:
		return result{failed: strings.TrimSpace(err.Error() + " " + firstLine(stderr.String()))}, true
	}
	got := result{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), output: strings.TrimSpace(string(stdout))}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		got.rss = usage.Maxrss
	}
	return got, true
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
