// Package eval runs Sense programs. It resolves the names of a syntax tree,
// compiles it to a tree of closures and runs those on threads. Read rep.go and
// value.go for what a value is, scope.go for how names are found, compile.go
// for what a program becomes, call.go for the one way of every call, guard.go
// for policy and audit, and sched.go for how threads take turns.
package eval

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/policy"
)

// Config is what a program needs of the world outside. The zero Config runs
// pure programs that print nowhere.
type Config struct {
	// Universe are the builtins of the original language, which a program may
	// assign; Extra those that only reading finds.
	Universe, Extra map[string]Value
	// TypeMethods are the methods of String, Array and Map, by type name.
	TypeMethods map[string]map[string]*Method
	// Stdout is where print writes; nil discards.
	Stdout io.Writer
	// Stderr gets reports that are no result: failed async work.
	Stderr io.Writer
	// Stdin is what ask_human and input read; nil is empty.
	Stdin io.Reader
	// Audit gets every entry; nil makes a new log.
	Audit *audit.Log
	// Ceiling bounds what policy may allow; nil is none.
	Ceiling *policy.Ceiling
	// Strict makes deny the default that the main program's rules start from.
	Strict bool
	// Lines is asked for each line of input in place of reading it; it may call
	// read. nil reads.
	Lines func(read func() (string, error)) (string, error)
	// FullAudit keeps the events of the richer audit, also where neither a sink
	// nor the program asks for them.
	FullAudit bool
	// AskApproval asks a person for the approval of an action that has none;
	// nil means that nobody can be asked.
	AskApproval func(ctx context.Context, name, description string) Approval
	// AskPerson asks a person whether a call may be made after an untrusted one,
	// where the Ceiling wants that; nil means that nobody can be asked.
	AskPerson func(ctx context.Context, name, what string) Approval
	// OnCommit is told of every action before its body runs, dry runs included;
	// its error stops the commit. nil lets all pass.
	OnCommit func(a *Action) error
	// DryRun skips the bodies of commit and rollback.
	DryRun bool
	// Limits bound what the program may use.
	Limits Limits
	// MaxDepth bounds nested calls; 0 is 10,000.
	MaxDepth int
	// Parse parses a module's source.
	Parse func(name, src string) (*ast.File, error)
	// ReadFile reads a module's source; nil reads regular files up to 64 MiB.
	ReadFile func(path string) ([]byte, error)
	// Builtin resolves a module that is part of the program ("std.json") to
	// its members; nil, or false, means the module is a file.
	Builtin func(path string) (map[string]Value, bool)
	// BuiltinModules lists the paths that Builtin knows, for messages.
	BuiltinModules []string
	// ImportPython imports a Python module; nil says that there is none.
	ImportPython func(t *Thread, module string) (Value, error)
	// PersistentMemory opens one; declaredIn is the file of the declaration.
	PersistentMemory func(t *Thread, name, path string, hasPath bool, declaredIn string) (Object, error)
	// SessionMemory makes an in-process memory.
	SessionMemory func(name, kind string) Object
	// NewBudget makes what keeps account of a `set budget` value.
	NewBudget func(v Value) (Value, error)
	// OnStuck is told why the program had to end where it has not ended in time:
	// one operation takes too long, or goes on taking memory. It should end the
	// process, since nothing else can; nil waits.
	OnStuck func(err *diag.Error)
	// OnTest is told of every test that ended; err is nil where it passed.
	OnTest func(desc string, err error)
	// OnTestStart, where it is set, is asked in place of OnTest before a test runs:
	// it gives what is told of the test's end, or nil to leave the test out.
	OnTestStart func(desc string) (ended func(err error))
	// Coverage counts the lines that run; nil counts nothing.
	Coverage *Coverage
	// OnDeclare is told of every tool, action, agent and memory declared.
	OnDeclare func(d Declared)
	// Clock tells the time; nil is time.Now.
	Clock func() time.Time
}

// Declared is a tool, action, agent, memory, skill or server that came into
// being.
type Declared struct {
	Kind, Name string
	Value      Value
	File       string
	Pos        diag.Pos
	Doc        string
}

func (c *Config) maxDepth() int {
	if c.MaxDepth > 0 {
		return c.MaxDepth
	}
	return 10_000
}

// Interp is a running program: its modules, threads and audit. One statement
// runs at a time; its methods lock.
type Interp struct {
	cfg        Config
	universe   map[string]*Global
	extra      map[string]*Global
	sites      []*site
	modules    map[string]*Module
	loading    map[string]*loading
	literals   map[string]Value
	ids        map[any]int // numbers of objects in digests
	namesAudit bool        // the program names audit
	stepsLeft  int64       // of Limits.Steps, where that is set
	printed    int64       // bytes
	policed    bool        // some rule denies
	untrusted  string      // what first brought text of strangers in

	lock    baton
	mu      sync.Mutex // guards threads and asks
	threads map[*Thread]bool
	stopped atomic.Pointer[diag.Error] // why every thread must end
	closed  atomic.Bool
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	failed  failures
	idle    int
	main    *Thread
	// mainModule is the program itself, nil before Run and in a session.
	mainModule *Module
	input      lineReader
}

// Global is a name of a module or a builtin.
type Global struct{ v Value }

// Value gives what the name holds.
func (g *Global) Value() Value { return g.v }

// New makes an interpreter. Close it when the program is done.
func New(ctx context.Context, cfg Config) *Interp {
	if cfg.Stdout == nil {
		cfg.Stdout = io.Discard
	}
	if cfg.Stderr == nil {
		cfg.Stderr = io.Discard
	}
	if cfg.Audit == nil {
		cfg.Audit = &audit.Log{}
	}
	if cfg.ReadFile == nil {
		cfg.ReadFile = ReadModule
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	in := &Interp{cfg: cfg, stepsLeft: max(cfg.Limits.Steps, 0), modules: map[string]*Module{}, loading: map[string]*loading{}, threads: map[*Thread]bool{}, literals: map[string]Value{}}
	in.universe = globals(cfg.Universe)
	in.extra = globals(cfg.Extra)
	in.sites = []*site{nil}
	in.ctx, in.cancel = context.WithCancel(ctx)
	in.lock.ask = in.ask
	in.main = in.newThread(in.ctx, "the program")
	go in.watch(ctx)
	in.limits()
	return in
}

func globals(vs map[string]Value) map[string]*Global {
	out := make(map[string]*Global, len(vs))
	for n, v := range vs {
		out[n] = &Global{v}
	}
	return out
}

// builtin finds a builtin of either kind for reading.
func (in *Interp) builtin(name string) *Global {
	if g := in.universe[name]; g != nil {
		return g
	}
	return in.extra[name]
}

// Config gives the configuration in force.
func (in *Interp) Config() *Config { return &in.cfg }

// Audit gives the log of the run.
func (in *Interp) Audit() *audit.Log { return in.cfg.Audit }

// typeMethod finds a method of a type of the core.
func (in *Interp) typeMethod(v Value, name string) *Method {
	if in.cfg.TypeMethods == nil {
		return nil
	}
	return in.cfg.TypeMethods[typeName(v)][name]
}

// funcAttr gives the members of functions.
func (in *Interp) funcAttr(v Value, name string) (Value, bool) {
	if in.cfg.TypeMethods == nil || !isFunc(v) {
		return Value{}, false
	}
	return protoAttr(toFunc(v).proto, name)
}

func protoAttr(p *proto, name string) (Value, bool) {
	switch name {
	case "name":
		return newStr(p.name), true
	case "doc":
		if p.doc == "" {
			return mkNil(), true
		}
		return newStr(p.doc), true
	case "params":
		return Strings(p.paramNames()), true
	}
	return Value{}, false
}

// Main gives the thread of the program itself.
func (in *Interp) Main() *Thread { return in.main }

// Run runs a file as the program's main module. The error is a *diag.Error.
func (in *Interp) Run(f *ast.File, path string) (err error) {
	_, err = in.guarded(func(th *Thread) (Value, error) {
		m := newModule(moduleName(path), path)
		m.main = true
		in.mainModule = m
		return Value{}, in.runModule(th, th.base(), m, f)
	})
	return err
}

// guarded runs f on the main thread with the lock held and gives a panic's
// error.
func (in *Interp) guarded(f func(th *Thread) (Value, error)) (v Value, err error) {
	th := in.main
	in.lock.acquire()
	defer in.lock.release()
	th.native, th.used = th.base(), slotArgs
	m := th.mark()
	defer func() { err = th.caught(m, recover(), err) }()
	return f(th)
}

// Do runs f on the main thread, as a call from the host. Errors of Sense code
// come back.
func (in *Interp) Do(f func(th *Thread) (Value, error)) (Value, error) { return in.guarded(f) }
