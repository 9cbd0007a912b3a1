package eval

import (
	"context"

	"github.com/sense-lang/sense/diag"
)

// HostFor is Host for a caller that may give up: when ctx ends, what f runs is
// interrupted.
func (in *Interp) HostFor(ctx context.Context, name string, f func(th *Thread) (Value, error)) (Value, error) {
	return in.Host(name, func(th *Thread) (Value, error) {
		stop := context.AfterFunc(ctx, func() { in.cutOff(th, diag.New(diag.Interrupt, "interrupted: the caller has given up")) })
		defer stop()
		return f(th)
	})
}

// cutOff ends one thread.
func (in *Interp) cutOff(th *Thread, err *diag.Error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.threads[th] {
		return
	}
	th.cut.Store(err)
	th.look()
	th.tell(err)
	if th.abort != nil {
		th.abort()
	}
}
