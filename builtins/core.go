package builtins

import (
	"math/big"
	"strings"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// fail makes an error in the user's words.
func fail(format string, args ...any) error { return diag.New(diag.Runtime, format, args...) }

func builtinPrint(c *eval.Call) (eval.Value, error) {
	parts := make([]string, len(c.Args))
	for i, v := range c.Args {
		s, err := eval.Text(v)
		if err != nil {
			return eval.Value{}, err
		}
		parts[i] = s
	}
	return eval.Nil(), c.Thread.Write(strings.Join(parts, " ") + "\n")
}

func builtinLen(c *eval.Call) (eval.Value, error) { return eval.Len(c.Args[0]) }

func builtinStr(c *eval.Call) (eval.Value, error) {
	s, err := eval.Text(c.Args[0])
	return eval.String(s), err
}

func builtinTypeOf(c *eval.Call) (eval.Value, error) {
	return eval.String(c.Args[0].TypeName()), nil
}

func builtinPush(c *eval.Call) (eval.Value, error) {
	a, ok := c.Args[0].AsArray()
	if !ok {
		return eval.Value{}, fail("push() expects an Array as its first argument")
	}
	a.Push(c.Args[1])
	return c.Args[0], nil
}

// maxRange bounds the length of a range: beyond it the array alone would take
// more memory than a program may.
const maxRange = 1 << 27

func builtinRange(c *eval.Call) (eval.Value, error) {
	if lo, step, n, ok := shortRange(c.Args); ok {
		if err := c.Thread.Reserve(int64(n) * 8); err != nil {
			return eval.Value{}, err
		}
		return eval.IntsFrom(lo, step, n), nil
	}
	n := [3]*big.Int{new(big.Int), new(big.Int), big.NewInt(1)}
	for i, v := range c.Args {
		x, ok := v.AsBig()
		if !ok {
			return eval.Value{}, fail("range() expects Int arguments, got %s", v.TypeName())
		}
		n[i] = x
	}
	lo, hi, step := n[0], n[1], n[2]
	if len(c.Args) == 1 {
		lo, hi = hi, lo
	}
	if step.Sign() == 0 {
		return eval.Value{}, fail("range()'s step must not be 0")
	}
	count := rangeLen(lo, hi, step)
	if !count.IsInt64() || count.Int64() > maxRange {
		return eval.Value{}, fail("range() would be too long (limit %d elements)", maxRange)
	}
	return rangeArray(c.Thread, lo, step, int(count.Int64()))
}

// shortRange is range for numbers of ordinary size; ok is false for others.
func shortRange(args []eval.Value) (lo, step int64, n int, ok bool) {
	k := [3]int64{0, 0, 1}
	for i, v := range args {
		x, ok := v.AsInt()
		if !ok || x > 1<<40 || x < -1<<40 {
			return 0, 0, 0, false
		}
		k[i] = x
	}
	lo, hi, step := k[0], k[1], k[2]
	if len(args) == 1 {
		lo, hi = hi, lo
	}
	count := int64(0)
	switch {
	case step > 0 && hi > lo:
		count = (hi - lo + step - 1) / step
	case step < 0 && hi < lo:
		count = (lo - hi - step - 1) / -step
	}
	return lo, step, int(count), step != 0 && count <= maxRange
}

// rangeArray makes the array of n Ints from lo on.
func rangeArray(th *eval.Thread, lo, step *big.Int, n int) (eval.Value, error) {
	if err := th.Reserve(int64(n) * 8); err != nil {
		return eval.Value{}, err
	}
	if lo.IsInt64() && step.IsInt64() && new(big.Int).Add(lo, new(big.Int).Mul(step, big.NewInt(int64(n)))).IsInt64() {
		return eval.IntsFrom(lo.Int64(), step.Int64(), n), nil
	}
	a := eval.NewArray(n)
	for x := lo; n > 0; n-- {
		a.Push(eval.BigInt(x))
		x = new(big.Int).Add(x, step)
	}
	return a.Value(), nil
}

// rangeLen gives how many Ints there are from lo to before hi.
func rangeLen(lo, hi, step *big.Int) *big.Int {
	n := new(big.Int).Sub(hi, lo)
	if step.Sign() < 0 {
		n.Neg(n)
	}
	if n.Sign() <= 0 {
		return new(big.Int)
	}
	n.Sub(n, big.NewInt(1)).Quo(n, new(big.Int).Abs(step))
	return n.Add(n, big.NewInt(1))
}

func builtinAssert(c *eval.Call) (eval.Value, error) {
	if c.Args[0].Truthy() {
		return eval.Nil(), nil
	}
	if len(c.Args) == 2 {
		s, err := eval.Text(c.Args[1])
		if err != nil {
			return eval.Value{}, err
		}
		return eval.Value{}, fail("%s", s)
	}
	return eval.Value{}, fail(eval.AssertionFailed)
}

func removed(format string) func(c *eval.Call) (eval.Value, error) {
	return func(c *eval.Call) (eval.Value, error) {
		return eval.Value{}, fail("%s", strings.ReplaceAll(format, "<f>", c.Name))
	}
}

func builtinAuditLog(c *eval.Call) (eval.Value, error) {
	return eval.SharedStrings(c.Thread.Interp().Audit().Lines()), nil
}
