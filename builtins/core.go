package builtins

import (
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
	n := [3]int64{0, 0, 1}
	for i, v := range c.Args {
		x, ok := v.AsInt()
		if !ok {
			if _, big := v.AsBig(); big {
				return eval.Value{}, fail("range() would be too long")
			}
			return eval.Value{}, fail("range() expects Int arguments, got %s", v.TypeName())
		}
		n[i] = x
	}
	lo, hi, step := n[0], n[1], n[2]
	if len(c.Args) == 1 {
		lo, hi = 0, n[0]
	}
	if step == 0 {
		return eval.Value{}, fail("range()'s step must not be 0")
	}
	if err := c.Thread.Reserve(int64(min(rangeLen(lo, hi, step), maxRange)) * 8); err != nil {
		return eval.Value{}, err
	}
	return rangeArray(lo, hi, step)
}

func rangeArray(lo, hi, step int64) (eval.Value, error) {
	count := rangeLen(lo, hi, step)
	if count > maxRange {
		return eval.Value{}, fail("range() would be too long (%d elements)", count)
	}
	a := eval.NewArray(int(count))
	for x := lo; count > 0; count-- {
		a.Push(eval.Int(x))
		x += step
	}
	return a.Value(), nil
}

func rangeLen(lo, hi, step int64) uint64 {
	if step > 0 {
		if lo >= hi {
			return 0
		}
		return (uint64(hi)-uint64(lo)-1)/uint64(step) + 1
	}
	if lo <= hi {
		return 0
	}
	return (uint64(lo)-uint64(hi)-1)/(-uint64(step)) + 1
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
	return eval.Value{}, fail("assertion failed")
}

func removed(format string) func(c *eval.Call) (eval.Value, error) {
	return func(c *eval.Call) (eval.Value, error) {
		return eval.Value{}, fail("%s", strings.ReplaceAll(format, "<f>", c.Name))
	}
}

func builtinAuditLog(c *eval.Call) (eval.Value, error) {
	return eval.Strings(c.Thread.Interp().Audit().Lines()), nil
}
