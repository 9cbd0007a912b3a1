package conform

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sense-lang/sense/model/modeltest"
)

// Runner runs cases. Sense and Python are required.
type Runner struct {
	// Sense is the binary, an absolute path.
	Sense string
	// Python stands for $PY: a python3, or the Go twin of stub_mcp.py.
	Python string
	// StubMCP is the path of stub_mcp.py, copied beside each case; "" for none.
	StubMCP string
	// Timeout is for one command line of a case without a limit; 0 is a minute.
	Timeout time.Duration
	// Lenient stubs refuse nothing, as the ones that recorded the corpus.
	Lenient bool
}

// Result is what a case's commands answered. The scratch folder reads $DIR.
type Result struct {
	Stdout, Stderr string
	// First has the first line of each command's standard error.
	First string
	// Exit is the status of the last command, 124 where it ran out of time.
	Exit int
	// Requests, Sent and Schemas say what the vendors' stubs were asked.
	Requests, Sent, Schemas string
}

// Run lays a case out in a scratch folder, runs its commands and removes the
// folder. An error means that the case itself is broken.
func (r *Runner) Run(ctx context.Context, c *Case) (*Result, error) {
	dir, err := os.MkdirTemp("", "sns-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("$DIR", dir, "$PY", r.Python).Replace
	if err := r.layOut(c, dir, fill); err != nil {
		return nil, err
	}
	env := environment(dir)
	vendors, err := r.startVendors(c, fill)
	if err != nil {
		return nil, err
	}
	for _, v := range vendors {
		defer v.Close()
		env = append(env, v.env()...)
	}
	for _, line := range lines(c.Sections["env"]) {
		if k, v, ok := strings.Cut(line, "="); ok {
			env = append(env, k+"="+fill(v))
		}
	}
	res := &Result{}
	if err := r.commands(ctx, c, dir, env, fill, res); err != nil {
		return nil, err
	}
	if c.Has("after.sh") && res.Exit == 0 {
		res.add(run(ctx, dir, os.Environ(), "", time.Minute, "sh", "after.sh"))
	}
	for _, v := range vendors {
		asked := v.Requests()
		res.Requests += modeltest.Summary(asked)
		res.Sent += modeltest.Sent(v.wire, asked)
		res.Schemas += modeltest.Schemas(asked)
	}
	for _, text := range []*string{&res.Stdout, &res.Stderr, &res.First, &res.Requests, &res.Sent, &res.Schemas} {
		*text = strings.ReplaceAll(*text, dir, "$DIR")
	}
	return res, nil
}

func (r *Runner) layOut(c *Case, dir string, fill func(string) string) error {
	if r.StubMCP != "" {
		if err := copyFile(r.StubMCP, filepath.Join(dir, "stub_mcp.py")); err != nil {
			return err
		}
	}
	if c.Path != "" {
		beside, _ := filepath.Glob(filepath.Join(filepath.Dir(c.Path), "*.py"))
		for _, path := range without(beside, "run.py") {
			if err := copyFile(path, filepath.Join(dir, filepath.Base(path))); err != nil {
				return err
			}
		}
	}
	for _, name := range c.Files() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(fill(c.Sections[name])), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// environment is ours without what would reach a vendor, with a home of the
// case's own.
func environment(dir string) []string {
	var env []string
	for _, kv := range os.Environ() {
		switch k, _, _ := strings.Cut(kv, "="); k {
		case "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "SENSE_MEMORY_DIR", "HOME":
		default:
			env = append(env, kv)
		}
	}
	return append(env, "PYTHONDONTWRITEBYTECODE=1", "NO_COLOR=1", "HOME="+dir)
}

// vendor is a stand-in for a model vendor.
type vendor struct {
	*modeltest.Server
	wire modeltest.Wire
}

// env gives the key and the base URL that lead a client to the stand-in.
func (v vendor) env() []string {
	prefix := strings.ToUpper(string(v.wire))
	return []string{prefix + "_API_KEY=test-key", prefix + "_BASE_URL=" + v.URL}
}

func (r *Runner) startVendors(c *Case, fill func(string) string) ([]vendor, error) {
	var vendors []vendor
	for _, wire := range []modeltest.Wire{modeltest.OpenAI, modeltest.Anthropic} {
		text, ok := c.Sections[string(wire)+".json"]
		if !ok {
			continue
		}
		turns, err := modeltest.ParseTurns([]byte(fill(text)))
		if err != nil {
			for _, v := range vendors {
				v.Close()
			}
			return nil, err
		}
		v := vendor{modeltest.New(wire, turns...), wire}
		v.Lenient = r.Lenient
		vendors = append(vendors, v)
	}
	return vendors, nil
}

func (r *Runner) commands(ctx context.Context, c *Case, dir string, env []string, fill func(string) string, res *Result) error {
	timeout, err := r.timeout(c)
	if err != nil {
		return err
	}
	cmds := lines(strings.TrimSpace(c.Sections["cmd"]))
	if len(cmds) == 0 {
		cmds = []string{"run script.sns"}
	}
	var firsts []string
	for _, line := range cmds {
		words, err := splitWords(fill(line))
		if err != nil {
			return fmt.Errorf("command line %q: %w", line, err)
		}
		o := run(ctx, dir, env, fill(c.Sections["stdin"]), timeout, r.Sense, words...)
		res.add(o)
		if o.stderr != "" {
			first, _, _ := strings.Cut(o.stderr, "\n")
			firsts = append(firsts, first)
		}
	}
	res.First = strings.Join(firsts, "\n")
	return nil
}

func (r *Runner) timeout(c *Case) (time.Duration, error) {
	if text := strings.TrimSpace(c.Sections["limit"]); text != "" {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("limit: %w", err)
		}
		return time.Duration(seconds * float64(time.Second)), nil
	}
	if r.Timeout == 0 {
		return time.Minute, nil
	}
	return r.Timeout, nil
}

// outcome is what one process answered.
type outcome struct {
	stdout, stderr string
	exit           int
}

func (res *Result) add(o outcome) {
	res.Stdout += o.stdout
	res.Stderr += o.stderr
	res.Exit = o.exit
}

// run starts a program in a process group of its own, which is killed whole when
// the time is up.
func run(ctx context.Context, dir string, env []string, stdin string, timeout time.Duration, name string, args ...string) outcome {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return outcome{stderr: "TIMEOUT\n", exit: 124}
	}
	o := outcome{stdout: text(stdout.Bytes()), stderr: text(stderr.Bytes()), exit: cmd.ProcessState.ExitCode()}
	if cmd.ProcessState == nil { // it did not start
		return outcome{stderr: err.Error() + "\n", exit: 127}
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		o.exit = -int(ws.Signal())
	}
	return o
}

// text reads output as the corpus's recorder did: foreign bytes replaced, every
// line end a \n.
func text(data []byte) string {
	return universal(strings.ToValidUTF8(string(data), "\uFFFD"))
}
