package eval

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sense-lang/sense/diag"
)

// An operation that looks up from nothing: OnStuck is told why the program had
// to end. A program that waits, or has ended, calls for no help.
func TestOnStuck(t *testing.T) {
	t.Parallel()
	told := make(chan *diag.Error, 1)
	in := New(context.Background(), Config{OnStuck: func(err *diag.Error) { told <- err }})
	in.lock.acquire() // a thread that does not look up
	in.Stop(diag.Limit, "time limit reached")
	select {
	case err := <-told:
		if err.Kind != diag.Limit || err.Msg != "time limit reached" {
			t.Errorf("told %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("nobody is told")
	}
	in.lock.release()
	in.Close()
	if in.checkEnded(&diag.Error{}); len(told) != 0 {
		t.Error("told of a program that is closed")
	}
	waiting := New(context.Background(), Config{OnStuck: func(err *diag.Error) { told <- err }})
	if waiting.checkEnded(&diag.Error{}); len(told) != 0 {
		t.Error("told of a program that waits")
	}
	waiting.Close()
}

// Quotients of long numbers are rounded as those of fractions are.
func TestQuotientAgainstRat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	long := func() *big.Int {
		n := new(big.Int)
		for range 1 + r.IntN(40) {
			n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(r.Uint64()>>r.IntN(64)))
		}
		if r.IntN(4) == 0 { // near a power of two, where rounding is close
			n.SetBit(new(big.Int), 1+r.IntN(1200), 1).Sub(n, big.NewInt(int64(r.IntN(3)-1)))
		}
		if r.IntN(2) == 0 {
			n.Neg(n)
		}
		return n
	}
	for range 20_000 {
		x, y := long(), long()
		if y.Sign() == 0 || x.Sign() == 0 {
			continue
		}
		want, _ := new(big.Rat).SetFrac(x, y).Float64()
		if got := quotient(x, y); got != want {
			t.Fatalf("%x / %x = %v, want %v", x, y, got, want)
		}
	}
}
