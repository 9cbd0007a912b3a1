package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed echo.sns
var script string

//go:embed echo.py
var sdkClient string

// byScript measures through a Sense script, with the flags of `sense run` given; a
// bare --audit gets a file.
func byScript(sense string, s server, flags ...string) (cost, error) {
	dir, err := os.MkdirTemp("", "bench-mcp-")
	if err != nil {
		return cost{}, err
	}
	defer os.RemoveAll(dir)
	argv, err := json.Marshal(s.argv[1:])
	if err != nil {
		return cost{}, err
	}
	path := filepath.Join(dir, "echo.sns")
	text := strings.NewReplacer("COMMAND", strconv.Quote(s.argv[0]), "ARGS", string(argv), "CALLS", strconv.Itoa(s.calls), "SHARE", strconv.Itoa(s.calls/atOnce), "MIDDLE", strconv.Itoa(s.calls/segment/2)).Replace(script)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return cost{}, err
	}
	args := []string{"run"}
	for _, f := range flags {
		if args = append(args, f); f == "--audit" {
			args = append(args, filepath.Join(dir, "audit.jsonl"))
		}
	}
	return printed(exec.Command(sense, append(args, path)...))
}

// byPython measures through the official SDK.
func byPython(python string, s server) (cost, error) {
	// A fifth of the calls is plenty for what takes that much longer.
	args := append([]string{"-I", "-c", sdkClient, strconv.Itoa(s.calls / 5), strconv.Itoa(atOnce)}, s.argv...)
	return printed(exec.Command(python, args...))
}

// printed runs a client that prints its two costs in microseconds.
func printed(cmd *exec.Cmd) (cost, error) {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return cost{}, fmt.Errorf("%w: %s", err, stderr.String())
	}
	var alone, together float64
	if _, err := fmt.Sscan(string(out), &alone, &together); err != nil {
		return cost{}, fmt.Errorf("it printed %q: %w", out, err)
	}
	return cost{time.Duration(alone * 1000), time.Duration(together * 1000)}, nil
}
