package builtins

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/model"
)

const (
	// defaultOutputTokens bounds what one call gives a model.
	defaultOutputTokens = 25_000
	// tokenBytes is how much text counts as one token.
	tokenBytes = 4
	// maxToolOutput is how far a tool may raise its own limit, in bytes.
	maxToolOutput = 500_000
	// headBytes is how much of a longer text a model sees at once.
	headBytes = 4_000
	// foldBytes is where a long line of a saved output counts as another one.
	foldBytes = 2_000
	// defaultLines is how many lines read_output gives unless told.
	defaultLines = 200
)

// outputs keeps what was too long for a model in files of the run's folder.
type outputs struct {
	deps *Deps
	mu   sync.Mutex
	own  string // the folder, where it is ours to remove
	n    int
	kept map[string]bool // the files
}

// outputLimit gives the limit of one output in bytes.
func (d *Deps) outputLimit() int {
	n, err := strconv.Atoi(d.getenv("MAX_MCP_OUTPUT_TOKENS"))
	if err != nil || n <= 0 {
		n = defaultOutputTokens
	}
	return min(n, 100_000_000) * tokenBytes
}

// limitOf gives the limit of a tool, which its _meta may raise.
func (d *Deps) limitOf(t *mcp.Tool) int {
	limit := d.outputLimit()
	var meta struct {
		Chars json.Number `json:"anthropic/maxResultSizeChars"`
	}
	if json.Unmarshal(t.Meta, &meta) != nil {
		return limit
	}
	if n, err := strconv.Atoi(meta.Chars.String()); err == nil {
		return max(limit, min(n, maxToolOutput))
	}
	return limit
}

// bounded gives a text as a model is shown it: whole, or its beginning and
// where the rest is.
func (o *outputs) bounded(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head := strings.ToValidUTF8(text[:min(headBytes, limit)], "")
	path, err := o.save(text)
	if err != nil {
		return fmt.Sprintf("%s\n[This is the beginning of %d characters; the rest could not be kept: %v]", head, len(text), err)
	}
	return fmt.Sprintf("%s\n[This is the beginning of %d characters in %d lines. All of it is in the file %s; read on with %s(path, from, lines).]",
		head, len(text), len(folded(text)), path, readOutputName)
}

// save writes a text to a file that only the user can read.
func (o *outputs) save(text string) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	dir, err := o.folder()
	if err != nil {
		return "", err
	}
	o.n++
	path := filepath.Join(dir, fmt.Sprintf("output-%d.txt", o.n))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	if o.kept == nil {
		o.kept = map[string]bool{}
	}
	o.kept[path] = true
	return path, nil
}

func (o *outputs) folder() (string, error) {
	if o.deps.MCP.Folder != nil {
		return o.deps.MCP.Folder()
	}
	if o.own == "" {
		dir, err := os.MkdirTemp("", "sense-run-")
		if err != nil {
			return "", err
		}
		o.own = dir
	}
	return o.own, nil
}

// any reports whether something was saved.
func (o *outputs) any() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.kept) > 0
}

// close removes the folder that was made for this run.
func (o *outputs) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.own != "" {
		_ = os.RemoveAll(o.own) // what stays is the system's to clean
		o.own, o.kept = "", nil
	}
}

const readOutputName = "read_output"

// readOffer offers to read on in what was saved.
func (o *outputs) readOffer() *offer {
	f := &offer{name: model.ToolName{Tool: readOutputName}}
	f.spec = model.ToolSpec{
		Name: readOutputName, SenseName: readOutputName,
		Description: "Read lines of a tool's output that was too long to be shown whole. Very long lines count as several.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"the file that was named"},` +
			`"from":{"type":"integer","description":"the first line, from 1"},"lines":{"type":"integer","description":"how many lines (default 200)"}},"required":["path"]}`),
	}
	f.call = func(_ *eval.Thread, args json.RawMessage) (string, []model.Image, error) {
		if err := model.CheckArgs(f.spec.Schema, args); err != nil {
			return "", nil, err
		}
		a := struct {
			Path        string
			From, Lines int
		}{From: 1, Lines: defaultLines}
		if err := json.Unmarshal(args, &a); err != nil {
			return "", nil, fail("the arguments are not usable: %v", err)
		}
		text, err := o.read(a.Path, a.From, a.Lines)
		return text, nil, err
	}
	return f
}

// read gives lines of a saved output, as many as fit the limit.
func (o *outputs) read(path string, from, n int) (string, error) {
	o.mu.Lock()
	known := o.kept[path]
	o.mu.Unlock()
	if !known {
		return "", fail("there is no saved output '%s'", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fail("cannot read '%s'", path)
	}
	lines := folded(string(raw))
	if from < 1 || from > len(lines) || n < 1 {
		return "", fail("there are lines 1 to %d", len(lines))
	}
	last := min(len(lines), from-1+min(n, len(lines)))
	var b strings.Builder
	limit := o.deps.outputLimit()
	at := from - 1
	for ; at < last && (b.Len() == 0 || b.Len()+len(lines[at]) < limit-200); at++ {
		b.WriteString(lines[at] + "\n")
	}
	if at < len(lines) {
		fmt.Fprintf(&b, "[lines %d to %d of %d]", from, at, len(lines))
	}
	return b.String(), nil
}

// folded splits a text into lines, long ones into several.
func folded(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for len(line) > foldBytes {
			head := strings.ToValidUTF8(line[:foldBytes], "")
			if head == "" {
				head = line[:foldBytes]
			}
			out = append(out, head)
			line = line[len(head):]
		}
		out = append(out, line)
	}
	return out
}
