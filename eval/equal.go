package eval

import (
	"math"
	"slices"

	"github.com/sense-lang/sense/diag"
)

// maxValueDepth bounds the nesting that printing and comparing follow.
const maxValueDepth = 1000

// maxCompared bounds the elements one comparison looks at: arrays that hold the
// same array many times unfold to more than can ever be compared. What fits in
// memory without that is below it.
const maxCompared = 1 << 26

// rememberAfter is the number of elements after which a comparison remembers what
// it found equal; smaller ones do without the cost.
const rememberAfter = 1 << 14

// maxRemembered bounds what a comparison remembers.
const maxRemembered = 1 << 16

// Texts and numbers of one type count as elements by this many bytes and numbers.
const (
	textStep   = 64
	numberStep = 8
)

// Nested is an Object whose equality depends on a value it carries, as that of
// a model's answer does; the annotation Answer<T> looks into it too.
type Nested interface {
	Object
	// EqualBut compares everything else.
	EqualBut(o Object) bool
	// Inner gives the value.
	Inner() Value
}

// comparison is one ==. Its error is a value that nests too deeply, as arrays
// that hold themselves do.
type comparison struct {
	depth, steps int
	// found are pairs of arrays or maps that are equal.
	found map[[2]any]bool
}

// equalValues is ==.
func equalValues(a, b Value) (bool, error) {
	var c comparison
	return c.equal(a, b)
}

func (c *comparison) equal(a, b Value) (bool, error) {
	ka, kb := kindOf(a), kindOf(b)
	switch {
	case ka == KString && kb == KString:
		x, y := toStr(a).s, toStr(b).s
		c.steps += min(len(x), len(y)) / textStep
		return x == y, nil
	case isNumber(a) && isNumber(b):
		n, ok := compareNum(a, b)
		return ok && n == 0, nil
	case ka != kb:
		return false, nil
	case ka == KArray, ka == KMap, ka == KObject:
		return c.deeper(a, b)
	}
	return same(a, b), nil
}

// deeper compares values that may hold others.
func (c *comparison) deeper(a, b Value) (bool, error) {
	if c.depth++; c.depth > maxValueDepth {
		return false, tooDeep()
	}
	defer func() { c.depth-- }()
	switch kindOf(a) {
	case KArray:
		x, y := toArr(a), toArr(b)
		return c.once([2]any{x, y}, func() (bool, error) { return c.arrays(x, y) })
	case KMap:
		x, y := toMap(a), toMap(b)
		return c.once([2]any{x, y}, func() (bool, error) { return c.maps(x, y) })
	}
	return c.objects(toBox(a).o, toBox(b).o)
}

// once compares two arrays or maps, and does not do it again where the same two
// stand in many places of what is compared. The first that differ end it all, so
// only equal ones are remembered.
func (c *comparison) once(pair [2]any, compare func() (bool, error)) (bool, error) {
	if c.steps > rememberAfter && c.found[pair] {
		return true, nil
	}
	eq, err := compare()
	if eq && err == nil && c.steps > rememberAfter && len(c.found) < maxRemembered {
		if c.found == nil {
			c.found = map[[2]any]bool{}
		}
		c.found[pair] = true
	}
	return eq, err
}

func tooDeep() error {
	return diag.New(diag.Runtime, "maximum recursion depth exceeded")
}

// elements compares two elements of containers: the very same value is equal
// to itself, even nan or an array that holds itself.
func (c *comparison) elements(a, b Value) (bool, error) {
	if c.steps++; c.steps > maxCompared {
		return false, diag.New(diag.Runtime, "the values are too large to compare")
	}
	if same(a, b) {
		return true, nil
	}
	return c.equal(a, b)
}

func (c *comparison) arrays(x, y *Array) (bool, error) {
	n := x.Len()
	if n != y.Len() {
		return false, nil
	}
	if x.tp == y.tp && x.tp != nil {
		c.steps += n / numberStep
	}
	if x.tp == y.tp && (x.tp == tagOf(KInt) || x.tp == tagOf(KBool)) {
		return slices.Equal(x.ns, y.ns), nil
	}
	if x.tp == y.tp && x.tp != nil {
		return equalFloats(x.ns, y.ns), nil
	}
	for i := range n {
		if eq, err := c.elements(x.At(i), y.At(i)); !eq || err != nil {
			return false, err
		}
	}
	return true, nil
}

// equalFloats compares Floats by their bits and then by value: a nan is the
// same as itself here, and 0.0 equals -0.0.
func equalFloats(x, y []uint64) bool {
	return slices.EqualFunc(x, y, func(a, b uint64) bool {
		return a == b || math.Float64frombits(a) == math.Float64frombits(b)
	})
}

func (c *comparison) maps(x, y *Map) (bool, error) {
	if x.Len() != y.Len() {
		return false, nil
	}
	for _, e := range x.entries {
		if e.key == nil {
			continue
		}
		w, ok := y.GetKey(mkStr(e.key))
		if !ok {
			return false, nil
		}
		if eq, err := c.elements(e.v, w); !eq || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *comparison) objects(a, b Object) (bool, error) {
	switch x := a.(type) {
	case Nested:
		y, ok := b.(Nested)
		if !ok || !x.EqualBut(b) {
			return false, nil
		}
		return c.elements(x.Inner(), y.Inner())
	case Equaler:
		return x.EqualTo(b), nil
	}
	return a == b, nil
}
