package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/policy"
)

// Agent is an agent of the program. Its body runs on a thread of its own; a
// plain one is waited for by start and resume.
type Agent struct {
	fn     *Func
	decl   *ast.AgentDecl
	names  []agentName // of its body's scope
	outer  []agentName // of the functions around it
	mod    *Module
	cells  []*cell // of the names, once the body runs
	status string

	reason    Value
	err       error
	seen      bool // its failure was raised somewhere
	resumed   Value
	mail      []Value
	settled   []*waiter
	pausing   *waiter
	receiving []*waiter
	thread    *Thread
}

// agentName says where a member of an agent is: among the cells its function
// carries, or in the frame of its body.
type agentName struct {
	name    string
	i       int
	spilled bool
}

// TypeName gives "Agent".
func (a *Agent) TypeName() string { return "Agent" }

// String gives <agent name status=s>.
func (a *Agent) String() string { return text(Obj(a)) }

// Parts gives the text around that of the reason of a pause.
func (a *Agent) Parts() (before string, inner Value, after string) {
	s := "<agent " + a.decl.Name + " status=" + a.status
	if a.status == "paused" && truthy(a.reason) {
		return s + " (", a.reason, ")>"
	}
	return s + ">", Value{}, ""
}

// Name gives the agent's name.
func (a *Agent) Name() string { return a.decl.Name }

// Status gives created, running, paused, completed or failed.
func (a *Agent) Status() string { return a.status }

// Attr gives the status and the like, then any name its body's scope can see.
func (a *Agent) Attr(t *Thread, name string) (Value, error) {
	switch name {
	case "status":
		return newStr(a.status), nil
	case "name":
		return newStr(a.decl.Name), nil
	case "pause_reason":
		return a.reason, nil
	case "doc":
		if !a.decl.Body.HasDoc {
			return mkNil(), nil
		}
		return newStr(a.decl.Body.Doc), nil
	}
	if v, ok := a.visible(t.in, name); ok {
		return v, nil
	}
	return Value{}, diag.New(diag.Runtime, "agent '%s' has no member '%s'", a.decl.Name, name)
}

func (a *Agent) visible(in *Interp, name string) (Value, bool) {
	if a.cells != nil {
		for i, n := range a.names {
			if n.name == name && a.cells[i].v.p != nil {
				return a.cells[i].v, true
			}
		}
	}
	for _, n := range a.outer {
		if n.name == name && a.fn.cells[n.i].v.p != nil {
			return a.fn.cells[n.i].v, true
		}
	}
	return a.mod.lookup(in, name)
}

func (c *compiler) agentDecl(s *ast.AgentDecl) stmt {
	t := c.assignTarget(s.Name)
	mod, file := c.mod, c.file
	var names, outer []agentName
	p := c.function(function{name: s.Name, body: s.Body, doc: s.Body.Doc, lineage: "agent:" + s.Name, extra: []string{hiddenAgent},
		prepare: func(sc *scope) func(fr fp) {
			names, outer = c.agentNames(sc)
			return keepCells(names, uint8(sc.names[hiddenAgent].slot))
		}})
	p.pos, p.decl = s.P, s
	st, mk := t.store(), c.closure(p)
	return func(fr fp) (ctl, Value) {
		in := threadOf(fr).in
		a := &Agent{fn: mk(fr), decl: s, names: names, outer: outer, mod: mod, status: "created", reason: mkNil()}
		v := Obj(a)
		st(fr, v)
		in.declared("agent", s.Name, v, file, s.P, s.Body.Doc)
		return ctlNext, Value{}
	}
}

// agentNames lists where an agent's members are: the cells of its own scope,
// and those of the functions around it.
func (c *compiler) agentNames(sc *scope) (names, outer []agentName) {
	for _, b := range sc.order {
		if b.captured && b.name[0] != 0 {
			names = append(names, agentName{b.name, b.slot, b.spilled})
		}
	}
	for s := sc.parent; s != nil && s != c.mod.top; s = s.parent {
		for _, b := range s.order {
			if b.captured && b.name[0] != 0 {
				outer = append(outer, agentName{name: b.name, i: c.upval(c.fn, b)})
			}
		}
	}
	return names, outer
}

func keepCells(names []agentName, self uint8) func(fr fp) {
	return func(fr fp) {
		toCell(fr[self]).v = Obj(threadOf(fr).agent)
		cells := make([]*cell, len(names))
		for i, n := range names {
			if n.spilled {
				cells[i] = toCell(toSpill(fr[spillSlot]).v[n.i])
			} else {
				cells[i] = toCell(fr[uint8(n.i)])
			}
		}
		threadOf(fr).agent.cells = cells
	}
}

func asAgent(v Value) *Agent {
	if kindOf(v) == KObject {
		if a, ok := toBox(v).o.(*Agent); ok {
			return a
		}
	}
	return nil
}

// StartAgent runs an agent until it pauses, completes or fails; an async one in
// the background.
func (th *Thread) StartAgent(v Value) (Value, error) {
	a := asAgent(v)
	if a == nil {
		return Value{}, diag.New(diag.Runtime, "start() expects an Agent, got %s", typeName(v))
	}
	if a.status != "created" {
		return Value{}, diag.New(diag.Runtime, "agent '%s' has already been started (status: %s) — an agent can only be started once in this version", a.decl.Name, a.status)
	}
	if err := th.Place().Event("agent", a.decl.Name, "started", ""); err != nil {
		return Value{}, err
	}
	t, err := th.newTask(fmt.Sprintf("agent '%s'", a.decl.Name))
	if err != nil {
		return Value{}, err
	}
	a.status, a.thread = "running", t
	t.agent, t.foreground = a, !a.decl.Async
	if t.foreground {
		t.depth = depthOf(th.native) + taskWeight
	}
	t.begin(func() {
		_, err := t.attempt(func() Value { return t.runInner(a.fn, nil) })
		a.finish(t, err)
	})
	return a.proceed(th, v)
}

// around gives what a new thread's policy checks must ask besides its own
// frames.
func (th *Thread) around() []policy.Chain {
	p := th.Place()
	if p.info == nil {
		return th.callers
	}
	if c := p.chain(); len(c) > 0 {
		return append([]policy.Chain{c}, p.callers()...)
	}
	return p.callers()
}

// proceed waits for a plain agent to settle.
func (a *Agent) proceed(th *Thread, v Value) (Value, error) {
	if a.decl.Async {
		th.yield() // what needs no waiting is done at once, as in the original
		return v, nil
	}
	if err := a.waitSettled(th, "start or resume of agent '"+a.decl.Name+"'"); err != nil {
		return Value{}, err
	}
	return v, a.failure()
}

func (a *Agent) failure() error {
	if a.status != "failed" {
		return nil
	}
	a.seen = true
	return a.err
}

func (a *Agent) waitSettled(th *Thread, what string) error {
	for a.status == "running" {
		w := &waiter{}
		a.settled = append(a.settled, w)
		if _, err := th.wait(w, 0, what); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) settle(in *Interp, status string) {
	_ = Place{th: in.main}.Event("agent", a.decl.Name, status, "") // nothing is done to the world here
	a.status = status
	for _, w := range a.settled {
		in.wake(w)
	}
	a.settled = nil
}

// finish notes how an agent's body ended.
func (a *Agent) finish(t *Thread, err error) {
	if err == nil {
		a.settle(t.in, "completed")
		return
	}
	a.err = err
	if a.decl.Async {
		t.in.failed.add(fmt.Sprintf("agent '%s'", a.decl.Name), &a.seen, err)
	}
	a.settle(t.in, "failed")
}

// ResumeAgent goes on with a paused agent; value is what pause gives there.
func (th *Thread) ResumeAgent(v, value Value) (Value, error) {
	a := asAgent(v)
	if a == nil {
		return Value{}, diag.New(diag.Runtime, "resume() expects an Agent, got %s", typeName(v))
	}
	if a.status != "paused" {
		return Value{}, diag.New(diag.Runtime, "cannot resume agent '%s' — status is '%s', not 'paused'", a.decl.Name, a.status)
	}
	if err := th.Place().Event("agent", a.decl.Name, "resumed", ""); err != nil {
		return Value{}, err
	}
	a.status, a.resumed = "running", value
	a.thread.callers, a.thread.budgets = th.around(), th.Place().Budgets()
	th.in.wake(a.pausing)
	a.pausing = nil
	return a.proceed(th, v)
}

// inBody gives the agent in whose body the running builtin was called.
func (th *Thread) inBody() *Agent {
	v, _ := th.Place().hidden(func(i *scopeInfo) []loc { return i.agents })
	return asAgent(v)
}

// InAgent reports whether the running builtin was called in a running agent's
// body.
func (th *Thread) InAgent() bool { return th.inBody() != nil }

// Pause stops the agent whose body calls it until it is resumed.
func (th *Thread) Pause(reason Value) (Value, error) {
	a := th.inBody()
	if a == nil || a != th.agent {
		return Value{}, diag.New(diag.Runtime, "pause() can only be called inside a running agent's body")
	}
	a.reason = reason
	w := &waiter{}
	a.pausing = w
	a.settle(th.in, "paused")
	_, err := th.wait(w, 0, "pause()")
	if err != nil {
		return Value{}, err
	}
	return a.resumed, nil
}

// Send puts a message into an agent's mailbox.
func (th *Thread) Send(v, message Value) error {
	a := asAgent(v)
	if a == nil {
		return diag.New(diag.Runtime, "send() expects an Agent as its first argument, got %s", typeName(v))
	}
	a.mail = append(a.mail, message)
	for _, w := range a.receiving {
		th.in.wake(w)
	}
	a.receiving = nil
	return nil
}

// Receive takes the oldest message; after timeout (negative: none) it gives nil.
func (th *Thread) Receive(timeout time.Duration) (Value, error) {
	a := th.inBody()
	if a == nil {
		return Value{}, diag.New(diag.Runtime, "receive() can only be called inside a running agent's body")
	}
	var deadline time.Time
	if timeout > 0 {
		deadline = time.Now().Add(timeout)
	}
	for len(a.mail) == 0 {
		if timeout >= 0 {
			if timeout = time.Until(deadline); timeout <= 0 {
				return mkNil(), nil
			}
		}
		w := &waiter{}
		a.receiving = append(a.receiving, w)
		if _, err := th.wait(w, max(timeout, 0), "receive()"); err != nil {
			return Value{}, err
		}
		a.receiving = slices.DeleteFunc(a.receiving, func(x *waiter) bool { return x == w })
	}
	v := a.mail[0]
	a.mail[0] = Value{}
	a.mail = a.mail[1:]
	return v, nil
}

// Await waits until an async agent settles or a Future is ready.
func (th *Thread) Await(v Value) (Value, error) {
	if kindOf(v) == KObject {
		switch o := toBox(v).o.(type) {
		case *Agent:
			if o.status == "created" {
				return Value{}, diag.New(diag.Runtime, "cannot await agent '%s' — it hasn't been started yet", o.decl.Name)
			}
			if err := o.waitSettled(th, "await(agent '"+o.decl.Name+"')"); err != nil {
				return Value{}, err
			}
			return v, o.failure()
		case *Future:
			return o.await(th)
		}
	}
	return Value{}, diag.New(diag.Runtime, "await() expects an Agent or a Future, got %s", typeName(v))
}

// maxThreads bounds how many agents and async tools are under way at once.
const maxThreads = 10_000

// taskWeight is what starting a plain agent adds to the depth of calls: its
// thread takes the memory of several.
const taskWeight = 10

// newTask makes a thread for an agent's or an async tool's body. It runs once
// begin is called.
func (th *Thread) newTask(name string) (*Thread, error) {
	in := th.in
	in.mu.Lock()
	n := len(in.threads)
	in.mu.Unlock()
	if n > maxThreads {
		return nil, diag.New(diag.Runtime, "too many agents and async tools at once (limit %d)", maxThreads)
	}
	t := in.newThread(in.ctx, name)
	t.callers, t.budgets, t.starter, t.askedBy = th.around(), th.Place().Budgets(), th, th.askedBy
	return t, nil
}

// begin runs f on the thread as soon as it has its turn. The caller holds the
// lock.
func (th *Thread) begin(f func()) {
	th.native, th.used = th.base(), slotArgs
	in := th.in
	turn := in.lock.enqueue()
	in.wg.Go(func() {
		<-turn
		defer in.lock.release()
		defer in.dropThread(th)
		f()
		th.segs, th.spare, th.starter = nil, nil, nil // an agent outlives its thread
	})
}

// Future is the result of async work.
type Future struct {
	label string
	done  bool
	seen  bool
	value Value
	err   error
	ready []*waiter
}

// TypeName gives "Future".
func (f *Future) TypeName() string { return "Future" }

// String gives <future label (pending)> or (ready).
func (f *Future) String() string {
	s := "pending"
	if f.done {
		s = "ready"
	}
	return "<future " + f.label + " (" + s + ")>"
}

// Attr gives done.
func (f *Future) Attr(t *Thread, name string) (Value, error) {
	if name == "done" {
		return mkBool(f.done), nil
	}
	return Value{}, diag.New(diag.Runtime, "future '%s' has no member '%s'", f.label, name)
}

func (f *Future) await(th *Thread) (Value, error) {
	for !f.done {
		w := &waiter{}
		f.ready = append(f.ready, w)
		if _, err := th.wait(w, 0, "await("+f.label+")"); err != nil {
			return Value{}, err
		}
	}
	f.seen = true
	return f.value, f.err
}

// spawnTool runs an async tool's body in the background.
func (th *Thread) spawnTool(t *Tool, args []Value) (Value, error) {
	f := &Future{label: "tool '" + t.decl.Name + "'"}
	n, err := th.newTask(f.label)
	if err != nil {
		return Value{}, err
	}
	args = append([]Value(nil), args...)
	at := th.Place()
	pos, file := at.pos, at.File()
	n.begin(func() {
		v, err := n.attempt(func() Value { return n.runInner(t.fn, args) })
		if err == nil {
			err = located(t.fn.proto.checkResult(v), pos, file)
		}
		f.finish(n.in, v, err)
	})
	th.yield()
	return Obj(f), nil
}

// located gives an error of a result the place of the call.
func located(err error, pos diag.Pos, file string) error {
	if e, ok := err.(*diag.Error); ok {
		e.Pos, e.File = pos, file
	}
	return err
}

// finish notes how async work ended.
func (f *Future) finish(in *Interp, v Value, err error) {
	f.value, f.err, f.done = v, err, true
	if err != nil {
		in.failed.add(f.label, &f.seen, err)
	}
	for _, w := range f.ready {
		in.wake(w)
	}
	f.ready = nil
}

// Close ends every thread and waits for them in bounded time. It gives the
// failures of async work that nobody waited for.
func (in *Interp) Close() []error {
	in.lock.acquire()
	failed := in.failed.unseen()
	in.lock.release()
	in.stop(diag.New(diag.Interrupt, "the program has ended"))
	in.lock.close()
	done := make(chan struct{})
	go func() { in.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(closeTime):
	}
	in.closed.Store(true)
	return failed
}

// closeTime bounds how long Close waits for threads: all they wait for obeys
// the context.
const closeTime = 5 * time.Second

// failures are those of async work, until somebody sees them.
type failures struct {
	list []failure
	more int // left out
}

type failure struct {
	label string
	seen  *bool
	err   error
}

// maxFailures bounds how many unseen failures are kept.
const maxFailures = 100

// add notes a failure; seen tells whether the program has seen it meanwhile.
func (f *failures) add(label string, seen *bool, err error) {
	if stopped(err) {
		return
	}
	if len(f.list) == maxFailures {
		f.list = slices.DeleteFunc(f.list, func(x failure) bool { return *x.seen })
	}
	if len(f.list) == maxFailures {
		f.more++
		return
	}
	f.list = append(f.list, failure{label, seen, err})
}

// unseen lists failures of async work that nobody waited for.
func (f *failures) unseen() []error {
	var out []error
	for _, x := range f.list {
		if !*x.seen {
			out = append(out, fmt.Errorf("%s failed: %w", x.label, x.err))
		}
	}
	if f.more > 0 {
		out = append(out, fmt.Errorf("%d more failures of agents and async tools", f.more))
	}
	return out
}

// stopped reports whether err is the program's end and no failure.
func stopped(err error) bool {
	var e *diag.Error
	return errors.As(err, &e) && e.Kind == diag.Interrupt || errors.Is(err, context.Canceled)
}
