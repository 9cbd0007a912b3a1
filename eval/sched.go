package eval

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sense-lang/sense/diag"
)

// baton is the interpreter's lock: first come, first served, so that no thread
// starves. want is told how many wait.
type baton struct {
	mu    sync.Mutex
	held  bool
	queue []chan struct{}
	want  func(waiting bool)
}

func (b *baton) acquire() {
	b.mu.Lock()
	if !b.held {
		b.held = true
		b.mu.Unlock()
		return
	}
	ch := make(chan struct{})
	b.queue = append(b.queue, ch)
	want := b.want
	b.mu.Unlock()
	if want != nil {
		want(true)
	}
	<-ch
}

func (b *baton) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.held = false
		return
	}
	close(b.queue[0])
	b.queue = b.queue[1:]
}

func (b *baton) contended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) > 0
}

func (in *Interp) addThread(th *Thread) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.threads[th] = true
	if in.lock.want == nil {
		in.lock.want = func(bool) { in.ask() }
	}
	if in.stopped.Load() != nil {
		th.end.Store(0)
	}
}

func (in *Interp) dropThread(th *Thread) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.threads, th)
	in.checkStuck()
}

// ask makes every running thread call poll at its next call or turn of a loop.
func (in *Interp) ask() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for th := range in.threads {
		th.end.Store(0)
	}
}

// stop ends every thread with err. The first reason stays.
func (in *Interp) stop(err *diag.Error) {
	in.stopped.CompareAndSwap(nil, err)
	in.cancel()
	in.ask()
}

// Stop ends the program with an error that scripts cannot catch.
func (in *Interp) Stop(kind diag.Kind, format string, args ...any) {
	in.stop(diag.New(kind, format, args...))
}

// watch stops the program when its context ends.
func (in *Interp) watch(ctx context.Context) {
	select {
	case <-ctx.Done():
		in.stop(diag.New(diag.Interrupt, "interrupted"))
	case <-in.ctx.Done():
	}
}

// poll answers a request to look up: it ends the thread, or lets another one
// run.
//
//go:noinline
func (th *Thread) poll(fr fp) {
	th.end.Store(th.limit)
	if e := th.ending(); e != nil {
		th.end.Store(0)
		c := *e
		fail(fr, &diag.Pos{}, &c)
	}
	if th.in.lock.contended() {
		th.in.lock.release()
		runtime.Gosched()
		th.in.lock.acquire()
	}
}

// Blocking runs f, which waits for something outside, without the lock. f must
// not touch values; it must obey the context.
func (th *Thread) Blocking(f func(ctx context.Context)) {
	th.in.lock.release()
	defer th.in.lock.acquire()
	f(th.ctx)
}

// Stopped gives the reason why the program must end, nil while it may go on.
func (th *Thread) Stopped() error {
	if e := th.ending(); e != nil {
		c := *e
		return &c
	}
	return nil
}

func (th *Thread) ending() *diag.Error {
	if e := th.in.stopped.Load(); e != nil {
		return e
	}
	return th.cut.Load()
}

// during runs f on the main thread so that the end of ctx interrupts it, and
// agents it waits for, but not the program: a session goes on afterwards.
func (in *Interp) during(ctx context.Context, f func(th *Thread) (Value, error)) (Value, error) {
	th := in.main
	inner, cancel := context.WithCancel(in.ctx)
	undo := context.AfterFunc(ctx, func() {
		in.interrupt(diag.New(diag.Interrupt, "interrupted"))
		cancel()
	})
	th.ctx = inner
	v, err := in.guarded(f)
	undo()
	cancel()
	th.ctx = in.ctx
	if th.cut.Swap(nil) != nil {
		th.end.Store(th.limit)
	}
	return v, err
}

// interrupt ends what runs in the foreground.
func (in *Interp) interrupt(err *diag.Error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for th := range in.threads {
		if th == in.main || th.foreground {
			th.cut.Store(err)
			th.end.Store(0)
		}
	}
}

// waiter is one wait of a thread for something another thread does.
type waiter struct {
	ready   chan struct{}
	endless bool
	over    bool // guarded by Interp.mu
}

// wake ends a wait. The one who wakes takes the sleeper out of the count of
// idle threads, so that it never looks as if all slept.
func (in *Interp) wake(w *waiter) {
	if w == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if w.over {
		return
	}
	w.over = true
	if w.endless {
		in.idle--
	}
	close(w.ready)
}

// wait lets other threads run until w is woken, the timeout (0: none) is over
// or the program is stopped. what says what is waited for; where every thread
// waits without end nobody can ever be woken, which is an error.
func (th *Thread) wait(w *waiter, timeout time.Duration, what string) (woken bool, err error) {
	in := th.in
	w.ready, w.endless = make(chan struct{}), timeout == 0
	var clock <-chan time.Time
	if !w.endless {
		t := time.NewTimer(timeout)
		defer t.Stop()
		clock = t.C
	}
	th.sleep(w, what)
	in.lock.release()
	select {
	case <-w.ready:
		woken = true
	case <-clock:
	case <-th.ctx.Done():
	case err = <-th.stuck:
	}
	in.wake(w)
	in.lock.acquire()
	th.waiting = ""
	if err == nil && !woken {
		err = th.Stopped()
	}
	return woken, err
}

func (th *Thread) sleep(w *waiter, what string) {
	in := th.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if w.endless {
		th.waiting = what
		in.idle++
		in.checkStuck()
	}
}

// checkStuck tells the program's own thread when no thread can ever go on.
func (in *Interp) checkStuck() {
	if in.idle == 0 || in.idle < len(in.threads) || in.main.waiting == "" {
		return
	}
	var whos []string
	for th := range in.threads {
		if th != in.main {
			whos = append(whos, th.name+" waits in "+th.waiting)
		}
	}
	slices.Sort(whos)
	whos = append([]string{"the program waits in " + in.main.waiting}, whos...)
	select {
	case in.main.stuck <- diag.New(diag.Runtime, "nothing can go on: %s", strings.Join(whos, ", ")):
	default:
	}
}
