// Package std holds the standard modules: std.json, std.fs, std.http and the
// others that `import std.<name>` gives without a file. args.go binds the
// arguments of their functions, gate.go asks policy and writes the audit; each
// module stands in files that begin with its name.
package std

import (
	"context"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/tape"
)

// Options say what the modules may see of the world. With the zero Options
// they see no file, no environment variable and no argument.
type Options struct {
	// FSRoots are the folders that std.fs works in; without one it works
	// nowhere. Relative ones, and relative paths of programs, start at the
	// working folder.
	FSRoots []string
	// FSKept are files that std.fs may neither write, move nor remove, nor the
	// folders above them: the audit, which tells of the program.
	FSKept []string
	// Args are what std.env.args() gives.
	Args []string
	// Getenv looks up an environment variable; nil knows none.
	Getenv func(name string) string
	// Environ lists the environment as "NAME=value"; nil lists nothing.
	Environ func() []string
	// Clock tells the time; nil is time.Now.
	Clock func() time.Time
	// Seed may look at or change the 32 bytes that random numbers begin with
	// where the program gives no seed; nil leaves them.
	Seed func(seed []byte)
	// Secret is told of values that must not be shown, such as a token that is
	// sent or read from the environment; nil tells nobody.
	Secret func(value string)
	// Tape records what the modules exchange with the world, or plays it; nil does
	// neither. Files are not on it.
	Tape *tape.Tape
	// Resolver looks up the hosts of std.http; nil is the system's.
	Resolver *net.Resolver
}

// Library is the standard modules of one program.
type Library struct {
	o       Options
	started time.Time
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc

	mu      sync.Mutex
	running map[chan struct{}]bool // processes of std.process, each closed at its end
	watch   mcp.Watch              // over them

	roots  folders
	random source
	regexp patterns
	http   client
	offers offers
}

// New makes the library of a program. Close it when the program is done.
func New(o Options) *Library {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Secret == nil {
		o.Secret = func(string) {}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	l := &Library{o: o, started: time.Now(), random: source{seed: o.Seed}}
	l.roots.kept = realPaths(o.FSKept)
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// closeWait bounds how long Close waits for processes that it ends.
const closeWait = 2 * time.Second

// Close ends the processes that still run and lets go of folders and
// connections. It may be called more than once, and while the program runs.
func (l *Library) Close() {
	l.cancel()
	l.mu.Lock()
	running := slices.Collect(maps.Keys(l.running))
	l.mu.Unlock()
	limit := time.NewTimer(closeWait)
	defer limit.Stop()
	for _, ended := range running {
		select {
		case <-ended:
		case <-limit.C:
			return
		}
	}
	l.watch.Close()
	l.http.close()
	l.roots.close()
}

// busy notes a process that runs until the function it gives is called.
func (l *Library) busy() (done func()) {
	ended := make(chan struct{})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running == nil {
		l.running = map[chan struct{}]bool{}
	}
	l.running[ended] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.running, ended)
		close(ended)
	}
}

// module is the table of a module.
type module struct {
	members func(l *Library) []member
	values  func() map[string]eval.Value
}

// table lists the modules.
func table() map[string]module {
	return map[string]module{
		"std.base64":  {members: base64Members},
		"std.csv":     {members: csvMembers},
		"std.env":     {members: envMembers},
		"std.fs":      {members: fsMembers},
		"std.hash":    {members: hashMembers},
		"std.http":    {members: httpMembers},
		"std.json":    {members: jsonMembers},
		"std.math":    {members: mathMembers, values: mathValues},
		"std.process": {members: processMembers},
		"std.random":  {members: randomMembers},
		"std.serve":   {members: serveMembers},
		"std.text":    {members: textMembers},
		"std.time":    {members: timeMembers},
	}
}

// Names lists the modules in order.
func Names() []string { return slices.Sorted(maps.Keys(table())) }

// Capabilities lists what the modules ask policy for. "net.http.*" stands for
// the hosts below net.http.
func Capabilities() []string {
	return []string{capEnv, capRead, capWrite, capHTTP, capHTTP + ".*", capRun, capSample}
}

// Module gives the members of a module such as "std.json"; ok is false where
// there is none of that name.
func (l *Library) Module(path string) (members map[string]eval.Value, ok bool) {
	if !strings.HasPrefix(path, "std.") {
		return nil, false
	}
	m, ok := table()[path]
	if !ok {
		return nil, false
	}
	members = map[string]eval.Value{}
	if m.values != nil {
		members = m.values()
	}
	for _, b := range m.members(l) {
		members[b.name()] = b.value(path)
	}
	return members, true
}
