// Package pybridge lets a program use Python modules: a Python process of its own, supervised, in which modules are
// imported and objects live, and to which attributes, calls and indexes go one at a time.
//
// The tour: calls.go has the operations, value.go what crosses the bridge, proc.go the life of the process, output.go
// its standard streams, bridge.py the side that runs in Python.
package pybridge

import (
	"bufio"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	startWait  = 60 * time.Second // for Python to be ready
	cancelWait = 2 * time.Second  // for a canceled call to give up, see Proc.patience
	closeWait  = 2 * time.Second  // for Python to end by itself
	maxReply   = 80 << 20         // bytes of a reply; bridge.py has a lower limit
	errorTail  = 2000             // bytes of standard error that are remembered
)

const wroteInto = "python was stopped since a module wrote into the bridge"

//go:embed bridge.py
var script string

// Options say how Python is started. The zero value starts python3 with our environment and shows no output.
type Options struct {
	Python   string    // the interpreter, a path or a name to look up; empty: SENSE_PYTHON, else python3
	Stdout   io.Writer // what Python writes to its standard output; nil drops it
	Stderr   io.Writer // the same for its standard error
	Isolated bool      // Python's -I: no modules from the user's folders or PYTHONPATH, none of its variables
	Env      []string  // the environment; nil: ours, or the variables that hold no secrets when Isolated
	Besides  []string  // variables besides those
	Dir      string    // the working folder; empty: ours
	Argv     []string  // sys.argv; nil leaves it as Python has it
}

// Proc is a running Python process. Its methods may be called from several goroutines; their requests run one after
// the other. When a method's context ends while its request runs, Python gets a KeyboardInterrupt; if the request has
// not ended two seconds later the process is killed.
type Proc struct {
	cmd          *exec.Cmd
	token        string
	requests     *os.File
	replies      *os.File
	stdout       *output
	stderr       *output
	answers      chan reply
	gone         chan struct{} // closed when the process has ended and its streams are read
	ended        error         // why, set before gone is closed
	turn         chan struct{} // held by the request that runs
	copying      sync.WaitGroup
	streams      []*os.File // our ends of stdout and stderr
	mu           sync.Mutex // guards what follows
	last         int64      // number of the last request
	running      int64      // number of the request that runs, 0 for none
	released     []int64    // objects that Python may forget
	reason       string     // why we ended the process
	closedByUser bool
	patience     time.Duration // how long a canceled call may take to give up
}

// Start starts Python and waits until it is ready. The error says in one line why there is none.
func Start(ctx context.Context, o Options) (*Proc, error) {
	if !supported {
		return nil, errors.New("python interop is not supported on this system")
	}
	python, err := find(o.Python)
	if err != nil {
		return nil, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	p := &Proc{token: hex.EncodeToString(random[:]), answers: make(chan reply, 1), gone: make(chan struct{}), turn: make(chan struct{}, 1), patience: cancelWait}
	p.stdout, p.stderr = newOutput(o.Stdout, p.token, 0), newOutput(o.Stderr, p.token, errorTail)
	if err := p.launch(python, o); err != nil {
		return nil, fmt.Errorf("python is not available: %s: %s", python, cause(err))
	}
	ready, cancel := context.WithTimeoutCause(ctx, startWait, fmt.Errorf("python (%s) was not ready within %v", python, startWait))
	defer cancel()
	if _, err := p.do(ready, request{Op: "argv", Args: argv(o.Argv)}); err != nil {
		p.stop("")
		<-p.gone
		if ready.Err() != nil {
			return nil, context.Cause(ready)
		}
		return nil, p.neverReady(python)
	}
	return p, nil
}

func (p *Proc) neverReady(python string) error {
	text := fmt.Sprintf("python is not available: %s ended before it was ready (%s)", python, p.cmd.ProcessState)
	if said := p.stderr.end(); said != "" {
		lines := strings.Split(said, "\n")
		text += ": " + lines[len(lines)-1]
	}
	return errors.New(text)
}

// find gives the interpreter to start.
func find(python string) (string, error) {
	if python == "" {
		python = os.Getenv("SENSE_PYTHON")
	}
	if python == "" {
		python = "python3"
	}
	path, err := exec.LookPath(python)
	if err != nil && python == "python3" {
		return "", errors.New("python is not available: there is no python3 on the PATH (SENSE_PYTHON can name another)")
	}
	if err != nil {
		return "", fmt.Errorf("python is not available: %s: %s", python, cause(err))
	}
	return path, nil
}

// cause gives the cause of an error of os or exec without the path in it.
func cause(err error) string {
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		err = lookup.Err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "not found"
	}
	return err.Error()
}

// safeVariables are those that hold no secrets.
func safeVariables() []string {
	var env []string
	for _, name := range []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// environment gives the variables of Python but those of Besides.
func (o *Options) environment() []string {
	switch {
	case o.Env != nil:
		return slices.Clip(o.Env)
	case o.Isolated:
		return safeVariables()
	}
	return os.Environ()
}

// launch starts the process and what reads from it.
func (p *Proc) launch(python string, o Options) error {
	arguments := []string{"-c", script}
	if o.Isolated {
		arguments = []string{"-I", "-c", script}
	}
	p.cmd = exec.Command(python, arguments...)
	p.cmd.Env, p.cmd.Dir, p.cmd.SysProcAttr = append(o.environment(), o.Besides...), o.Dir, ownGroup()
	theirs, err := p.pipes()
	defer closeAll(theirs)
	if err != nil {
		return err
	}
	started := make(chan error)
	go p.supervise(started)
	if err := <-started; err != nil {
		closeAll(append(p.streams, p.requests, p.replies))
		return err
	}
	return nil
}

// pipes connects standard output and error and the two lines of the bridge. It gives the ends that are Python's.
func (p *Proc) pipes() (theirs []*os.File, err error) {
	var ours [4]*os.File
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			return append(theirs, ours[:i]...), err
		}
		if i == 2 { // requests
			r, w = w, r
		}
		ours[i], theirs = r, append(theirs, w)
	}
	p.streams, p.requests, p.replies = ours[:2:2], ours[2], ours[3]
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = theirs[0], theirs[1], theirs[2:4]
	return theirs, nil
}

func closeAll(files []*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}

// supervise starts the process, waits for its end and clears up behind it. It keeps its thread, since the kernel takes
// the end of the thread that started a child for the end of the parent.
func (p *Proc) supervise(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	read := make(chan struct{})
	p.copying.Go(func() { p.stdout.copy(p.streams[0]) })
	p.copying.Go(func() { p.stderr.copy(p.streams[1]) })
	p.copying.Go(p.read)
	go func() { p.copying.Wait(); close(read) }()
	started <- nil
	_ = p.cmd.Wait()
	killGroup(p.cmd.Process.Pid)
	select {
	case <-read:
	case <-time.After(time.Second): // somebody who left the group holds a stream
	}
	closeAll(append(p.streams, p.requests, p.replies))
	<-read
	p.mu.Lock()
	p.ended = p.why()
	p.mu.Unlock()
	close(p.gone)
}

// why says why the process has ended.
func (p *Proc) why() error {
	switch {
	case p.closedByUser:
		return errors.New("python is closed")
	case p.reason != "":
		return errors.New(p.reason)
	}
	return fmt.Errorf("python ended unexpectedly (%s)", p.cmd.ProcessState)
}

// read takes replies until there are no more.
func (p *Proc) read() {
	lines := bufio.NewReaderSize(p.replies, 64<<10)
	for {
		line, err := readLine(lines)
		if err != nil {
			return
		}
		var r reply
		good := json.Unmarshal(line, &r) == nil
		if good {
			select {
			case p.answers <- r:
			default: // nobody asked
				good = false
			}
		}
		if !good {
			p.stop(wroteInto)
			return
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxReply {
			return nil, errors.New("reply too long")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// stop kills the process.
func (p *Proc) stop(reason string) {
	p.mu.Lock()
	if p.reason == "" {
		p.reason = reason
	}
	p.mu.Unlock()
	killGroup(p.cmd.Process.Pid)
}

// Close ends Python: first by telling it that there will be no more requests, so that its modules can clear up, and
// after two seconds by force. It waits until the process and what it started are gone. A second Close does nothing.
func (p *Proc) Close() error {
	p.mu.Lock()
	p.closedByUser = true
	if p.running != 0 {
		interrupt(p.cmd.Process.Pid)
	}
	p.mu.Unlock()
	_ = p.requests.Close()
	select {
	case <-p.gone:
	case <-time.After(closeWait):
		killGroup(p.cmd.Process.Pid)
		<-p.gone
	}
	return nil
}
