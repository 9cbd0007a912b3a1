// Package sense runs programs of the Sense language from Go. A Runtime is one
// program: New makes it, RunFile or RunSource run it, Close ends everything it
// started.
package sense

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/builtins/std"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/internal/regular"
	"github.com/sense-lang/sense/parser"
	"github.com/sense-lang/sense/policy"
	"github.com/sense-lang/sense/pybridge"
	"github.com/sense-lang/sense/tape"
)

// Options configure a Runtime. The zero Options run programs that print
// nowhere, read nothing and know no environment variable.
type Options struct {
	// Stdout gets what programs print, Stderr reports that are no result; nil
	// discards.
	Stdout, Stderr io.Writer
	// Stdin is what ask_human reads; nil is empty.
	Stdin io.Reader
	// Getenv looks up environment variables; nil knows none.
	Getenv func(name string) string
	// Environ lists the environment as "NAME=value", for std.env.names(); nil
	// lists nothing.
	Environ func() []string
	// Args are the program's own arguments, which std.env.args() gives.
	Args []string
	// FSRoots are the folders that std.fs works in; without one it works
	// nowhere. Relative ones start at the working folder.
	FSRoots []string
	// ModuleRoots are the folders that imports must come from; nil lets them come
	// from anywhere. MemoryRoots are those that persistent memories must lie in,
	// likewise.
	ModuleRoots, MemoryRoots []string
	// FSKept are files that std.fs may neither write, move nor remove, such as
	// that of the audit.
	FSKept []string
	// DryRun skips what actions would do.
	DryRun bool
	// Strict makes deny the default that the program's own rules start from; set
	// it together with a strict Ceiling.
	Strict bool
	// Secret is told of every secret that the program comes to use, such as an
	// API key; nil tells nobody.
	Secret func(string)
	// AskApproval asks a person for the approval of an action that has none; nil
	// means that nobody can be asked.
	AskApproval func(ctx context.Context, name, description string) eval.Approval
	// AskPerson asks a person whether a call may be made after an untrusted one,
	// where the Ceiling wants that; nil means that nobody can be asked.
	AskPerson func(ctx context.Context, name, what string) eval.Approval
	// OnCommit is told of every action before its body runs; its error stops the
	// commit. nil lets all pass.
	OnCommit func(a *eval.Action) error
	// Tape records what the program exchanges with the world, or plays it; nil
	// does neither.
	Tape *tape.Tape
	// Limits bound what the program may use; see eval.Limits.
	Limits eval.Limits
	// OnStuck is told why the program had to end where it does not end, because
	// one operation takes too long or goes on taking memory. It should end the
	// process: nothing else can; nil waits.
	OnStuck func(err error)
	// MaxDepth bounds nested calls; 0 is 10,000.
	MaxDepth int
	// Ceiling bounds what policy may allow; nil is none.
	Ceiling *policy.Ceiling
	// Audit gets every entry; nil makes a new log.
	Audit *audit.Log
	// Warn takes one-line warnings; nil drops them.
	Warn func(string)
	// OnTest is told of every test that ended; err is nil where it passed.
	OnTest func(desc string, err error)
	// OnTestStart, where it is set, is asked in place of OnTest before a test runs:
	// it gives what is told of the test's end, or nil to leave the test out.
	OnTestStart func(desc string) (ended func(err error))
	// Coverage counts the lines that run; nil counts nothing.
	Coverage *eval.Coverage
	// OnDeclare is told of every tool, action, agent, memory, skill and server.
	OnDeclare func(eval.Declared)
	// Clock tells the time; nil is time.Now.
	Clock func() time.Time
	// HTTPClient makes the requests of model clients; nil is the default.
	HTTPClient *http.Client
	// MCP says how MCP servers are connected to beyond what programs say.
	MCP builtins.MCPOptions
}

// Runtime is one program and all it started.
type Runtime struct {
	in   *eval.Interp
	deps *builtins.Deps
	std  *std.Library
	tape *tape.Tape
}

// New makes a Runtime. When ctx ends, the program is interrupted.
func New(ctx context.Context, o Options) *Runtime {
	d := &builtins.Deps{Getenv: o.Getenv, Warn: o.Warn, OnDeclare: o.OnDeclare, Secret: o.Secret, MCP: o.MCP, Tape: o.Tape,
		Confined: o.Strict || o.Ceiling != nil, MemoryRoots: o.MemoryRoots, HTTPClient: o.HTTPClient}
	lib := std.New(stdOptions(o))
	in := eval.New(ctx, eval.Config{
		Universe: builtins.Universe(d), Extra: builtins.Extra(d), TypeMethods: builtins.TypeMethods(),
		Stdout: o.Stdout, Stderr: o.Stderr, Stdin: o.Stdin,
		Audit: o.Audit, Ceiling: o.Ceiling, DryRun: o.DryRun, MaxDepth: o.MaxDepth, Limits: o.Limits, Strict: o.Strict,
		AskApproval: o.AskApproval, AskPerson: o.AskPerson, OnCommit: o.OnCommit, Lines: lines(o.Tape),
		Parse: parser.Parse, ReadFile: reader(o.ModuleRoots),
		Builtin: lib.Module, BuiltinModules: std.Names(),
		SessionMemory: builtins.NewMemory, PersistentMemory: d.OpenMemory, ImportPython: d.ImportPython, NewBudget: d.NewBudget,
		OnStuck: stuck(o.OnStuck),
		OnTest:  o.OnTest, OnTestStart: o.OnTestStart, Coverage: o.Coverage,
		OnDeclare: o.OnDeclare,
		Clock:     o.Clock,
	})
	return &Runtime{in: in, deps: d, std: lib, tape: o.Tape}
}

// stuck adapts Options.OnStuck.
func stuck(f func(error)) func(*diag.Error) {
	if f == nil {
		return nil
	}
	return func(e *diag.Error) { f(e) }
}

// stdOptions gives the options of the standard modules.
func stdOptions(o Options) std.Options {
	s := std.Options{FSRoots: o.FSRoots, FSKept: o.FSKept, Args: o.Args, Getenv: o.Getenv, Environ: o.Environ, Secret: o.Secret, Clock: o.Clock}
	if o.Tape == nil {
		return s
	}
	s.Tape = o.Tape
	now := o.Clock
	if now == nil {
		now = time.Now
	}
	s.Clock = func() time.Time { return o.Tape.Now(now) }
	s.Seed = o.Tape.Seed
	return s
}

// reader gives what reads modules; nil reads any file.
func reader(folders []string) func(string) ([]byte, error) {
	if folders == nil {
		return nil
	}
	return eval.ReadWithin(folders)
}

// lines gives what stands between the program and its input.
func lines(t *tape.Tape) func(func() (string, error)) (string, error) {
	if t == nil {
		return nil
	}
	return t.Line
}

// Interp gives the evaluator underneath.
func (r *Runtime) Interp() *eval.Interp { return r.in }

// Audit gives the log of the run.
func (r *Runtime) Audit() *audit.Log { return r.in.Audit() }

// RunFile runs the program in a file. An error of the program is a
// *diag.Error.
func (r *Runtime) RunFile(path string) error {
	src, err := ReadSource(path)
	if err != nil {
		return err
	}
	return r.RunSource(path, src)
}

// RunSource runs a program; name is the file that imports are relative to.
func (r *Runtime) RunSource(name, src string) error {
	f, err := parser.Parse(name, src)
	if err != nil {
		return err
	}
	return r.Run(f)
}

// UsageSummary words what the program's models cost.
func (r *Runtime) UsageSummary() string { return r.deps.UsageSummary() }

// Run runs a parsed program. It fails where the program asked something that a
// tape has no answer to, even if the program caught that error.
func (r *Runtime) Run(f *ast.File) error {
	if err := r.in.Run(f, f.Name); err != nil {
		return err
	}
	if err := r.tape.Err(); err != nil {
		return diag.New(diag.Runtime, "%v", err)
	}
	return nil
}

// Close ends the program's threads and servers in bounded time. It gives the
// failures of async work that nobody waited for.
func (r *Runtime) Close() []error {
	failed := r.in.Close()
	r.std.Close()
	r.deps.Close(false)
	return failed
}

// Abort is Close for an interrupted program: servers have less time.
func (r *Runtime) Abort() {
	r.in.Close()
	r.std.Close()
	r.deps.Close(true)
}

// ReadSource reads a program's text. Its errors are in the user's words.
func ReadSource(path string) (string, error) {
	st, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return "", diag.New(diag.Runtime, "no such file or directory: %s", path)
	case err != nil:
		return "", diag.New(diag.Runtime, "cannot read %s: %v", path, bare(err))
	case st.IsDir():
		return "", diag.New(diag.Runtime, "%s is a folder, not a program", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", diag.New(diag.Runtime, "cannot read %s: %v", path, bare(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSource+1)) // a device has no size
	switch {
	case err != nil:
		return "", diag.New(diag.Runtime, "cannot read %s: %v", path, bare(err))
	case len(b) > maxSource:
		return "", diag.New(diag.Runtime, "%s is too large for a program (limit %d bytes)", path, maxSource)
	}
	return string(b), nil
}

// ExitStatus gives the exit status that a program asked for by ending itself
// from Python, and what it said; ok is false for any other error.
func ExitStatus(err error) (code int, text string, ok bool) {
	var e *pybridge.ExitError
	if !errors.As(err, &e) {
		return 0, "", false
	}
	return e.Code, e.Text, true
}

// maxSource bounds a program's text.
const maxSource = 64 << 20

func bare(err error) error {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err
	}
	return err
}

// Sources gives the function that a diag.Printer needs to show excerpts of .sns
// files; extra holds other texts.
func Sources(extra map[string]string) func(file string) (string, bool) {
	return func(file string) (string, bool) {
		if s, ok := extra[file]; ok {
			return s, true
		}
		if !eval.IsSource(file) { // what is imported may be any file
			return "", false
		}
		b, err := regular.Read(filepath.Clean(file), maxSource)
		return string(b), err == nil
	}
}

// Summary gives what a dry run shows at its end.
func Summary(log *audit.Log) string {
	lines := log.Lines()
	s := "\n--- dry run summary ---\n"
	if len(lines) == 0 {
		return s + "(no actions were prepared)\n"
	}
	for _, l := range lines {
		s += fmt.Sprintln(l)
	}
	return s
}

// Kill ends the processes of the program's servers and commands at once.
func (r *Runtime) Kill() {
	r.std.Close()
	r.deps.Close(true)
}
