package eval

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sense-lang/sense/diag"
)

// slice is how long a thread runs while others wait for their turn.
const slice = 5 * time.Millisecond

// baton is the interpreter's lock: first come, first served, so that no thread
// starves. While somebody waits, ask is called each time a slice is over.
type baton struct {
	mu    sync.Mutex
	held  bool
	since time.Time // when the holder got it, while others wait
	queue []chan struct{}
	timer *time.Timer
	ask   func()
}

// acquire waits for the baton.
func (b *baton) acquire() {
	if turn := b.enqueue(); turn != nil {
		<-turn
	}
}

// enqueue takes the baton, or a place in the queue: it has its turn when the
// channel is closed.
func (b *baton) enqueue() (turn <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.held {
		b.held = true
		return nil
	}
	ch := make(chan struct{})
	b.queue = append(b.queue, ch)
	if len(b.queue) == 1 {
		b.since = time.Now()
		b.arm(slice)
	}
	return ch
}

// release hands the baton to the first in the queue.
func (b *baton) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.held = false
		return
	}
	close(b.queue[0])
	b.queue[0] = nil
	if b.queue = b.queue[1:]; len(b.queue) > 0 {
		b.since = time.Now()
		b.arm(slice)
	}
}

// taken reports whether a thread runs.
func (b *baton) taken() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// arm has ask called after d.
func (b *baton) arm(d time.Duration) {
	switch {
	case b.ask == nil:
	case b.timer == nil:
		b.timer = time.AfterFunc(d, b.ask)
	default:
		b.timer.Reset(d)
	}
}

// due reports whether somebody waits and the holder's slice is over.
func (b *baton) due() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return false
	}
	if left := slice - time.Since(b.since); left > 0 {
		b.arm(left)
		return false
	}
	return true
}

// close stops asking.
func (b *baton) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ask = nil
	if b.timer != nil {
		b.timer.Stop()
	}
}

func (in *Interp) addThread(th *Thread) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.threads[th] = true
	if in.stopped.Load() != nil {
		th.look()
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
		th.look()
	}
}

// look makes the thread call poll soon.
func (th *Thread) look() {
	th.asked.Store(true)
	th.end.Store(0)
}

// stop ends every thread with err. The first reason stays.
func (in *Interp) stop(err *diag.Error) {
	if in.stopped.CompareAndSwap(nil, err) && in.cfg.OnStuck != nil {
		time.AfterFunc(endTime, func() { in.checkEnded(err) })
	}
	in.cancel()
	in.ask()
}

// endTime is, twice, how long one operation may go on once the program must
// end. What waits has let go of the lock, so that only an operation that looks
// up from nothing takes as long.
const endTime = 2500 * time.Millisecond

// checkEnded calls for help where a thread that must end does not.
func (in *Interp) checkEnded(why *diag.Error) {
	if in.closed.Load() {
		return
	}
	turn := in.lock.enqueue()
	if turn == nil {
		in.lock.release()
		return
	}
	select {
	case <-turn:
		in.lock.release()
	case <-time.After(endTime):
		go func() { <-turn; in.lock.release() }()
		in.cfg.OnStuck(why)
	}
}

// Stop ends the program with an error that scripts cannot catch.
func (in *Interp) Stop(kind diag.Kind, format string, args ...any) {
	in.stop(diag.New(kind, format, args...))
}

// watch stops the program when its context ends.
func (in *Interp) watch(ctx context.Context) {
	<-in.ctx.Done() // ends with ctx, or by stop
	if ctx.Err() != nil {
		in.stop(diag.New(diag.Interrupt, "interrupted"))
	}
}

// poll answers a request to look up: it ends the thread, or lets another one
// run.
//
//go:noinline
func (th *Thread) poll(fr fp) {
	th.asked.Store(false)
	th.end.Store(th.limit)
	if e := th.ending(); e != nil {
		th.look()
		fail(fr, &diag.Pos{}, e)
	}
	if th.in.lock.due() {
		th.yield()
	}
}

// yield lets the threads that wait for their turn run first.
func (th *Thread) yield() {
	th.in.lock.release()
	th.in.lock.acquire()
}

// Blocking runs f, which waits for something outside, without the lock. f must
// not touch values; it must obey the context.
func (th *Thread) Blocking(f func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(th.ctx)
	defer cancel()
	th.in.mu.Lock()
	th.abort = cancel
	th.in.mu.Unlock()
	if th.cut.Load() != nil {
		cancel()
	}
	th.in.lock.release()
	defer th.in.lock.acquire()
	f(ctx)
}

// Meanwhile runs f with the lock, as the thread, while the thread is in what
// Blocking runs. It may be called from any goroutine, by one at a time, and what
// Blocking runs must not return before it has. f must not panic.
func (th *Thread) Meanwhile(f func()) {
	th.in.mu.Lock()
	abort := th.abort
	th.in.mu.Unlock()
	th.in.lock.acquire()
	f()
	th.in.mu.Lock()
	th.abort = abort // that of f's own waits is spent
	th.in.mu.Unlock()
	if th.cut.Load() != nil {
		abort()
	}
	th.in.lock.release()
}

// Stopped gives the reason why the thread must end, nil while it may go on.
func (th *Thread) Stopped() error {
	if e := th.ending(); e != nil {
		return e
	}
	return nil
}

// ending gives a copy of the reason why the thread must end.
func (th *Thread) ending() *diag.Error {
	e := th.in.stopped.Load()
	if e == nil {
		e = th.cut.Load()
	}
	if e == nil && th.ctx.Err() != nil {
		return diag.New(diag.Interrupt, "interrupted")
	}
	if e == nil {
		return nil
	}
	c := *e
	return &c
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
	th.cut.Store(nil)
	return v, err
}

// interrupt ends what runs in the foreground.
func (in *Interp) interrupt(err *diag.Error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for th := range in.threads {
		if th == in.main || th.foreground {
			th.cut.Store(err)
			th.look()
			th.tell(err)
			if th.abort != nil {
				th.abort()
			}
		}
	}
}

// tell ends an endless wait of the thread with err.
func (th *Thread) tell(err error) {
	select {
	case th.stuck <- err:
	default:
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
	select {
	case earlier := <-th.stuck: // meant for an earlier wait
		_ = earlier
	default:
	}
	if e := th.ending(); e != nil {
		return false, e
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
	in.main.tell(diag.New(diag.Runtime, "nothing can go on: %s", strings.Join(whos, ", ")))
}
