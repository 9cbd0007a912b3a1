package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/internal/regular"
	"github.com/sense-lang/sense/policy"
	"github.com/sense-lang/sense/tape"
)

// runFlags are the flags of commands that run programs.
type runFlags struct {
	dry      bool
	allow    []string
	deny     []string
	policies []string
	strict   bool
	audit    string
	usage    bool
	ask      bool
	plan     string
	record   string
	replay   string
	onCommit func(*eval.Action) error // told of every commit; nil lets all pass
	verbose  bool
	fsRoots  []string
	modules  []string
	strange  []string // what brings text of strangers in
	askAfter []string // what a person is asked for after that
	yes      bool
	locked   bool
	args     []string // the program's own

	steps    int64
	timeout  time.Duration
	memory   string
	depth    int
	output   string
	redactor *audit.Redactor

	program string    // its path; empty where there is none
	user    *settings // the user's own sense.toml, once read
	project *settings // the project's
	raw     bool
	sink    *audit.FileSink // the audit file, once open
}

func (f *runFlags) register(c *cobra.Command) {
	f.registerWorld(c)
	fl := c.Flags()
	fl.BoolVar(&f.dry, "dry-run", false, "run everything but the bodies of commit and rollback")
	fl.StringVar(&f.plan, "plan", "", "with --dry-run: write the actions that would commit to this file, for 'sense apply'")
	fl.StringVar(&f.record, "record", "", "write what the program exchanges with models, MCP, HTTP, commands, people, clock and chance to this tape")
	fl.StringVar(&f.replay, "replay", "", "answer all that from this tape, with no network and no server")
	fl.BoolVar(&f.usage, "usage", false, "show at the end what the models cost")
}

// registerWorld adds the flags that every command that runs programs takes:
// what they may do, what is kept of it, and how much they may use.
func (f *runFlags) registerWorld(c *cobra.Command) {
	f.registerPolicy(c)
	fl := c.Flags()
	fl.StringArrayVar(&f.fsRoots, "fs-root", nil, "a folder that std.fs may work in, instead of the working folder (repeatable)")
	fl.BoolVar(&f.yes, "yes", false, "start what a project's .mcp.json names without asking")
	fl.BoolVar(&f.locked, "locked", false, "refuse tools of MCP servers that sense.lock does not pin as they are")
	fl.StringVar(&f.audit, "audit", "", "append every event to this file, one JSON line each, chained by hashes")
	fl.BoolVar(&f.ask, "ask-approval", false, "ask on the terminal for each approval that an action needs and does not have")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "show warnings and what servers log")
	fl.BoolVar(&f.raw, "raw", false, "let what programs print act on the terminal; without it control characters are shown escaped there")
	fl.Int64Var(&f.steps, "max-steps", 0, "end after so many statements (0: no limit)")
	fl.DurationVar(&f.timeout, "timeout", 0, "end after this time, as in 30s or 5m (0: no limit)")
	fl.StringVar(&f.memory, "max-memory", "", "memory for the program's values, as in 512M or 2G (0: no limit; default 2G or half the machine's)")
	fl.IntVar(&f.depth, "max-depth", 0, "nested calls (0: 10,000)")
	fl.StringVar(&f.output, "max-output", "", "how much it may print, as in 10M (default: no limit)")
}

// registerPolicy adds the flags that bound what policy may allow.
func (f *runFlags) registerPolicy(c *cobra.Command) {
	fl := c.Flags()
	fl.StringArrayVar(&f.allow, "allow", nil, "a capability the program may use; with any, no other is possible (repeatable)")
	fl.StringArrayVar(&f.deny, "deny", nil, "a capability the program may not use, whatever it says (repeatable)")
	fl.StringArrayVar(&f.policies, "policy", nil, "a file of allow and deny lines, as --allow and --deny (repeatable)")
	fl.StringArrayVar(&f.strange, "untrusted", nil, "a capability whose results come from strangers (repeatable)")
	fl.StringArrayVar(&f.askAfter, "ask-after-untrusted", nil, "a capability that a person is asked for once an untrusted one was used (repeatable)")
	fl.StringArrayVar(&f.modules, "module-path", nil, "a folder besides the program's own that imports may come from under --allow, --deny, --policy or --strict (repeatable)")
	fl.BoolVar(&f.strict, "strict", false, "deny what the program's own policy does not allow; failed background work fails the run")
}

// options gives the options of a run.
func (f *runFlags) options() (sense.Options, error) {
	if err := f.configure(); err != nil {
		return sense.Options{}, err
	}
	if f.redactor == nil {
		f.redactor = &audit.Redactor{} // the tape takes it too
	}
	o := sense.Options{
		Stdout: programOutput(f.raw), Stderr: errorOutput(f.raw), Stdin: os.Stdin, Getenv: os.Getenv, Environ: os.Environ, Args: f.args,
		DryRun: f.dry, MaxDepth: f.depth, Strict: f.strict,
	}
	var err error
	if o.FSRoots, err = f.roots(); err != nil {
		return o, err
	}
	if o.Ceiling, err = f.ceiling(); err != nil {
		return o, err
	}
	if o.Ceiling != nil {
		o.ModuleRoots = f.moduleRoots()
		o.MemoryRoots = append([]string{f.projectFolder()}, o.FSRoots...)
	}
	if o.Limits, err = f.limits(); err != nil {
		return o, err
	}
	o.OnCommit = f.onCommit
	o.OnStuck = f.giveUp
	o.MCP = f.mcp()
	if err := f.tape(&o); err != nil {
		return o, err
	}
	if f.ask {
		o.AskApproval = (&approver{question: "Commit it?"}).ask
	}
	o.AskPerson = (&approver{question: "Allow it?"}).ask
	if f.verbose {
		o.Warn = f.say
	}
	o.Audit = &audit.Log{Redactor: f.redactor}
	f.redactor.Add(f.secretValues()...)
	if f.audit != "" {
		o.FSKept = []string{f.audit}
	}
	o.Secret = func(s string) { f.redactor.Add(s) }
	return o, f.openAudit(o.Audit)
}

// say shows a remark on standard error, on one line and without secrets.
func (f *runFlags) say(s string) {
	fmt.Fprintf(flushed{os.Stderr}, "sense: %s\n", diag.Visible(f.redactor.Redact(s)))
}

// openAudit opens the audit file, once for all programs of the command.
func (f *runFlags) openAudit(log *audit.Log) error {
	if f.audit == "" {
		return nil
	}
	if f.sink == nil {
		sink, err := audit.OpenFile(f.audit, audit.FileOptions{})
		if err != nil {
			return fmt.Errorf("cannot write the audit to %s: %w", f.audit, err)
		}
		f.sink = sink
	}
	log.Sink = f.sink
	return nil
}

// workingFolder is what std.fs may work in where no flag says otherwise.
var workingFolder = []string{"."}

func (f *runFlags) roots() ([]string, error) {
	if len(f.fsRoots) == 0 {
		return workingFolder, nil
	}
	for _, dir := range f.fsRoots {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("--fs-root: '%s' is no folder", dir)
		}
	}
	return f.fsRoots, nil
}

// tape opens the tape that the flags name.
func (f *runFlags) tape(o *sense.Options) error {
	switch {
	case f.record != "" && f.replay != "":
		return fmt.Errorf("--record and --replay exclude each other")
	case f.record != "":
		file, err := os.OpenFile(f.record, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("cannot write the tape: %w", err)
		}

		if o.Tape, err = tape.Record(file); err != nil {
			return fmt.Errorf("cannot write the tape: %w", err)
		}
	case f.replay != "":
		file, err := os.Open(f.replay)
		if err != nil {
			return fmt.Errorf("cannot read the tape: %w", err)
		}
		defer file.Close()
		if o.Tape, err = tape.Play(file); err != nil {
			return fmt.Errorf("%s, %w", f.replay, err)
		}
	default:
		return nil
	}
	o.Tape.Redact = f.redactor.Redact
	return nil
}

func (f *runFlags) ceiling() (*policy.Ceiling, error) {
	if len(f.allow)+len(f.deny)+len(f.policies)+len(f.strange)+len(f.askAfter) == 0 && !f.strict && !f.hasRules() {
		return nil, nil
	}
	c := &policy.Ceiling{}
	if f.strict {
		c.SetStrict()
	}
	allow, deny := f.allow, f.deny
	for _, file := range f.policies {
		a, d, err := policyFile(file)
		if err != nil {
			return nil, err
		}
		if err := addRules(c, file, a, d); err != nil {
			return nil, err
		}
	}
	if err := c.Allow("--allow", allow...); len(allow) > 0 && err != nil {
		return nil, fmt.Errorf("--allow: %w", err)
	}
	if err := c.Deny("--deny", deny...); len(deny) > 0 && err != nil {
		return nil, fmt.Errorf("--deny: %w", err)
	}
	if err := c.Untrusted("--untrusted", f.strange...); err != nil {
		return nil, err
	}
	if err := c.AskAfterUntrusted("--ask-after-untrusted", f.askAfter...); err != nil {
		return nil, err
	}
	if err := f.bound(c); err != nil {
		return nil, err
	}
	return c, nil
}

func addRules(c *policy.Ceiling, file string, allow, deny []string) error {
	if len(allow) > 0 {
		if err := c.Allow(file, allow...); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(deny) > 0 {
		if err := c.Deny(file, deny...); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// maxInput bounds the files that the command line names, in bytes.
const maxInput = 64 << 20

// readInput reads a file that the command line names. It may be a pipe; one that
// does not end is an error.
func readInput(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxInput+1))
	if err == nil && len(b) > maxInput {
		err = fmt.Errorf("%s: %w", path, regular.TooLongError(maxInput))
	}
	return b, err
}

// policyFile reads lines of `allow c` and `deny c`; # begins a comment.
func policyFile(path string) (allow, deny []string, err error) {
	b, err := readInput(path)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the policy: %w", err)
	}
	for i, line := range strings.Split(string(b), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case len(words) == 2 && words[0] == "allow":
			allow = append(allow, words[1])
		case len(words) == 2 && words[0] == "deny":
			deny = append(deny, words[1])
		default:
			return nil, nil, fmt.Errorf("%s:%d: expected 'allow CAPABILITY' or 'deny CAPABILITY'", path, i+1)
		}
	}
	return allow, deny, nil
}

// defaultMemory is the memory of a program where nothing is said, unless half
// the machine's is less.
const defaultMemory = 2 << 30

func (f *runFlags) limits() (eval.Limits, error) {
	l := eval.Limits{Steps: f.steps, Time: f.timeout, Memory: min(defaultMemory, machineMemory()/2)}
	if f.steps < 0 || f.timeout < 0 || f.depth < 0 {
		return l, fmt.Errorf("a limit must not be negative")
	}
	if f.memory != "" {
		n, err := parseSize(f.memory)
		if err != nil {
			return l, fmt.Errorf("--max-memory: %w", err)
		}
		l.Memory = n
	}
	if f.output != "" {
		n, err := parseSize(f.output)
		if err != nil {
			return l, fmt.Errorf("--max-output: %w", err)
		}
		l.Output = n
	}
	if f.user != nil {
		if f.memory == "" {
			l.Memory = or(f.user.memory, l.Memory)
		}
		l.Memory = tighter(l.Memory, f.project.memory)
		l.Output = tighter(or(l.Output, f.user.output), f.project.output)
	}
	if l.Memory > 0 {
		debug.SetMemoryLimit(l.Memory / 10 * 9) // collect harder before the limit is reached
	}
	return l, nil
}

// parseSize reads a number of bytes, with K, M or G for powers of 1024.
func parseSize(s string) (int64, error) {
	shift := 0
	num := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "IB"), "B")
	for i, unit := range []string{"K", "M", "G"} {
		if rest, ok := strings.CutSuffix(num, unit); ok {
			num, shift = rest, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(num, 10, 64)
	if err != nil || n < 0 || n > 1<<62>>shift {
		return 0, fmt.Errorf("'%s' is no size; write it as 512M or 2G", s)
	}
	return n << shift, nil
}
