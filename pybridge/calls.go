package pybridge

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// request is one operation in Python.
type request struct {
	Op   string
	On   Handle
	Name string
	Args []Value
}

// reply is Python's answer.
type reply struct {
	N      int64           `json:"n"`
	OK     json.RawMessage `json:"ok"`
	Err    []string        `json:"err"` // type and text of an exception
	Import bool            `json:"import"`
	Exit   []any           `json:"exit"` // status and text of sys.exit
	Gone   bool            `json:"gone"`
}

// Error is an exception that was raised in Python.
type Error struct {
	Doing     string // what was being done, such as "calling sqrt"
	Exception string // name of the exception's type
	Text      string // its text, which may have several lines
}

// Error gives the text users see; it has several lines where the exception's text has.
func (e *Error) Error() string {
	return fmt.Sprintf("python error %s: %s: %s", e.Doing, e.Exception, e.Text)
}

// ExitError says that Python code asked for the end of the whole program with sys.exit. Python itself goes on.
type ExitError struct {
	Doing string
	Code  int    // exit status, 0 to 255
	Text  string // what is to be written to standard error, empty for nothing
}

// Error gives the text for callers that do not end the program.
func (e *ExitError) Error() string {
	text := e.Text
	if text == "" {
		text = strconv.Itoa(e.Code)
	}
	return fmt.Sprintf("python error %s: SystemExit: %s", e.Doing, text)
}

// Import imports a module by its dotted name and gives its Handle.
func (p *Proc) Import(ctx context.Context, module string) (Value, error) {
	r, err := p.do(ctx, request{Op: "import", Name: module})
	if err != nil {
		return nil, err
	}
	if r.Import && len(r.Err) == 2 {
		return nil, fmt.Errorf("python module not found: '%s' (%s)", module, r.Err[1])
	}
	value, err := r.value("importing " + module)
	if h, ok := value.(Handle); ok {
		h.Name, h.Module = module, true
		return h, err
	}
	return value, err
}

// Attr reads a member of an object. What can be called comes as a Handle with Callable set, also where it could be
// copied.
func (p *Proc) Attr(ctx context.Context, h Handle, name string) (Value, error) {
	r, err := p.do(ctx, request{Op: "attr", On: h, Name: name})
	if err != nil {
		return nil, err
	}
	value, err := r.value("reading " + name)
	if err != nil {
		return nil, err
	}
	found, _ := value.([]any)
	if len(found) != 1 {
		if h.Module {
			return nil, fmt.Errorf("module '%s' has no attribute '%s'", h.Name, name)
		}
		return nil, fmt.Errorf("%s has no attribute '%s'", h.Type, name)
	}
	if member, ok := found[0].(Handle); ok {
		member.Name = name
		return member, nil
	}
	return found[0], nil
}

// Call calls an object with positional arguments.
func (p *Proc) Call(ctx context.Context, h Handle, args []Value) (Value, error) {
	name := h.Name
	if name == "" {
		name = h.Type
	}
	return p.value(ctx, request{Op: "call", On: h, Args: args}, "calling "+name)
}

// Index reads h[key].
func (p *Proc) Index(ctx context.Context, h Handle, key Value) (Value, error) {
	return p.value(ctx, request{Op: "index", On: h, Args: []Value{key}}, "indexing")
}

// SetIndex sets h[key] to value.
func (p *Proc) SetIndex(ctx context.Context, h Handle, key, value Value) error {
	_, err := p.value(ctx, request{Op: "set", On: h, Args: []Value{key, value}}, "setting index")
	return err
}

// Str gives Python's str of an object; one that has none prints as <python TYPE>.
func (p *Proc) Str(ctx context.Context, h Handle) (string, error) {
	value, err := p.value(ctx, request{Op: "str", On: h}, "printing "+h.Type)
	text, _ := value.(string)
	return text, err
}

// Equal compares two values with Python's ==.
func (p *Proc) Equal(ctx context.Context, a, b Value) (bool, error) {
	value, err := p.value(ctx, request{Op: "equal", Args: []Value{a, b}}, "comparing")
	same, _ := value.(bool)
	return same, err
}

// Release lets Python forget objects nobody will use any more. It does not wait: the word goes with the next request.
func (p *Proc) Release(handles ...Handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range handles {
		p.released = append(p.released, h.ID)
	}
}

func (p *Proc) value(ctx context.Context, r request, doing string) (Value, error) {
	answer, err := p.do(ctx, r)
	if err != nil {
		return nil, err
	}
	return answer.value(doing)
}

// value gives the result, or the exception as an error.
func (r reply) value(doing string) (Value, error) {
	switch {
	case len(r.Err) == 2:
		return nil, &Error{doing, r.Err[0], r.Err[1]}
	case len(r.Exit) == 2:
		code, _ := r.Exit[0].(float64)
		text, _ := r.Exit[1].(string)
		return nil, &ExitError{doing, int(code), text}
	case r.Gone:
		return nil, fmt.Errorf("python error %s: the object is not there any more", doing)
	}
	return decodeValue(r.OK)
}

// do has Python run one request and waits for the answer and for what was printed meanwhile.
func (p *Proc) do(ctx context.Context, r request) (reply, error) {
	if err := ctx.Err(); err != nil {
		return reply{}, context.Cause(ctx)
	}
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return reply{}, context.Cause(ctx)
	case <-p.gone:
		return reply{}, p.ended
	}
	defer func() { <-p.turn }()
	line, n, err := p.encode(r)
	if err != nil {
		return reply{}, err
	}
	answered := make(chan struct{})
	defer p.finish(answered)
	defer context.AfterFunc(ctx, func() { p.cancel(n, answered) })()
	if _, err := p.requests.Write(line); err != nil {
		return reply{}, p.lost(ctx)
	}
	select {
	case answer := <-p.answers:
		if answer.N != n {
			p.stop(wroteInto)
			return reply{}, p.lost(ctx)
		}
		p.stdout.await(n)
		p.stderr.await(n)
		if ctx.Err() != nil {
			return reply{}, context.Cause(ctx)
		}
		return answer, nil
	case <-p.gone:
		return reply{}, p.lost(ctx)
	}
}

// lost waits for the end of a process that has broken off and says why.
func (p *Proc) lost(ctx context.Context) error {
	select {
	case <-p.gone:
	case <-time.After(closeWait): // it closed the line but lives on
		p.stop("python was stopped since a module closed the bridge")
		<-p.gone
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return p.ended
}

// encode writes a request and gives its number.
func (p *Proc) encode(r request) (line []byte, n int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = p.last + 1
	b := fmt.Appendf(nil, `{"n":%d,"op":"%s","h":%d,"token":"%s"`, n, r.Op, r.On.ID, p.token)
	if r.Name != "" || r.Op == "import" {
		if b, err = appendString(append(b, `,"k":`...), r.Name); err != nil {
			return nil, 0, err
		}
	}
	if r.Args == nil {
		r.Args = []Value{}
	}
	if b, err = appendValue(append(b, `,"a":`...), r.Args, -1); err != nil {
		return nil, 0, err
	}
	if len(p.released) > 0 {
		b = append(b, `,"free":[`...)
		for i, id := range p.released {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, id, 10)
		}
		b, p.released = append(b, ']'), nil
	}
	p.last, p.running = n, n
	return append(b, "}\n"...), n, nil
}

// cancel asks the running request to give up and kills Python if it does not.
func (p *Proc) cancel(n int64, answered <-chan struct{}) {
	p.mu.Lock()
	if p.running == n {
		interrupt(p.cmd.Process.Pid)
	}
	p.mu.Unlock()
	select {
	case <-answered:
	case <-p.gone:
	case <-time.After(p.patience):
		p.stop("python was stopped since a canceled call did not end")
	}
}

func (p *Proc) finish(answered chan<- struct{}) {
	p.mu.Lock()
	p.running = 0
	p.mu.Unlock()
	close(answered)
}

func argv(args []string) []Value {
	values := make([]Value, len(args))
	for i, a := range args {
		values[i] = a
	}
	return values
}
