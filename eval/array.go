package eval

import (
	"slices"
	"unsafe"
)

// Array is a mutable sequence. While all its elements are Ints, all Floats or
// all Bools only their payloads are kept (tp is their tag): half the memory and
// nothing for the garbage collector to scan. sieve(3M): 0.70 s and 125 MB with
// whole values, 0.31 s and 60 MB so.
type Array struct {
	hdr
	tp unsafe.Pointer
	ns []uint64
	vs []Value
}

func newArray() *Array { return &Array{hdr: hdr{KArray}} }

// Arrays of a few elements come with room for them: one allocation in place of
// two.
type (
	array2 struct {
		Array
		d [2]Value
	}
	array4 struct {
		Array
		d [4]Value
	}
	numbers4 struct {
		Array
		d [4]uint64
	}
)

// arrayOf makes an Array of a copy of the values.
func arrayOf(vs []Value) *Array {
	tag := unsafe.Pointer(nil)
	if len(vs) > 0 && unboxed(vs[0].p) {
		tag = vs[0].p
	}
	for i := 1; i < len(vs) && tag != nil; i++ {
		if vs[i].p != tag {
			tag = nil
		}
	}
	if tag != nil {
		a := numbers(tag, len(vs))
		for i := range vs {
			a.ns[i] = vs[i].n
		}
		return a
	}
	return boxes(vs)
}

// boxes makes an Array of a copy of values that are not all of one kind.
func boxes(vs []Value) *Array {
	switch n := len(vs); {
	case n == 0:
		return newArray()
	case n <= 2:
		a := &array2{}
		a.k, a.vs = KArray, a.d[:copy(a.d[:], vs)]
		return &a.Array
	case n <= 4:
		a := &array4{}
		a.k, a.vs = KArray, a.d[:copy(a.d[:], vs)]
		return &a.Array
	}
	a := newArray()
	a.vs = slices.Clone(vs)
	return a
}

// numbers makes an Array of n numbers of one kind, to be filled.
func numbers(tag unsafe.Pointer, n int) *Array {
	if n <= 4 {
		a := &numbers4{}
		a.k, a.tp, a.ns = KArray, tag, a.d[:n]
		return &a.Array
	}
	a := newArray()
	a.tp, a.ns = tag, make([]uint64, n)
	return a
}

// shortArray compiles a literal of one to four elements. treearr: 0.076 s
// without, 0.055 s with it.
//
//go:noinline
func shortArray(es []expr) expr {
	return func(fr fp) Value {
		var room [4]Value
		for i, x := range es {
			room[i&3] = x(fr)
		}
		return mkArr(arrayOf(room[:len(es)]))
	}
}

// NewArray makes an empty Array with room for n elements.
func NewArray(n int) *Array {
	a := newArray()
	if n > 0 {
		a.vs = make([]Value, 0, n)
	}
	return a
}

// IntsFrom makes the Array of the n Ints lo, lo+step and so on. All of them,
// and the next one, must fit 64 bits.
func IntsFrom(lo, step int64, n int) Value {
	a := newArray()
	if n > 0 {
		a.tp, a.ns = tagOf(KInt), make([]uint64, n)
	}
	for i := range a.ns {
		a.ns[i] = uint64(lo)
		lo += step
	}
	return mkArr(a)
}

// Value gives the Array as a value.
func (a *Array) Value() Value { return mkArr(a) }

// Len gives the number of elements.
func (a *Array) Len() int {
	if a.tp != nil {
		return len(a.ns)
	}
	return len(a.vs)
}

// At gives the i-th element; i must be in range.
func (a *Array) At(i int) Value {
	if a.tp != nil {
		return Value{a.tp, a.ns[i]}
	}
	return a.vs[i]
}

// Ints gives the elements of an Array that has Ints alone, as they are kept; nil
// for others. They are the Array's own.
func (a *Array) Ints() []uint64 {
	if a.tp != tagOf(KInt) {
		return nil
	}
	return a.ns
}

// Push appends v.
func (a *Array) Push(v Value) { a.push(v) }

// Set replaces the i-th element; i must be in range.
func (a *Array) Set(i int, v Value) { a.set(i, v) }

// Values gives the elements as a new slice.
func (a *Array) Values() []Value {
	out := make([]Value, a.Len())
	for i := range out {
		out[i] = a.At(i)
	}
	return out
}

// Replace makes vs the elements.
func (a *Array) Replace(vs []Value) {
	a.tp, a.ns, a.vs = nil, nil, nil
	for _, v := range vs {
		a.push(v)
	}
}

// full reports whether the array is large and the next push makes it grow.
func (a *Array) full() bool {
	return len(a.ns) == cap(a.ns) && len(a.ns) >= largeValue/8 || len(a.vs) == cap(a.vs) && len(a.vs) >= largeValue/8
}

// bytes gives the memory of the elements.
func (a *Array) bytes() int64 { return int64(len(a.ns))*8 + int64(len(a.vs))*16 }

// Insert puts v before the i-th element; i may be the length.
func (a *Array) Insert(i int, v Value) {
	n := a.Len()
	if a.push(v); i == n {
		return
	}
	if a.tp != nil {
		copy(a.ns[i+1:], a.ns[i:n])
		a.ns[i] = v.n
		return
	}
	copy(a.vs[i+1:], a.vs[i:n])
	a.vs[i] = v
}

// Delete takes the i-th element out; i must be in range.
func (a *Array) Delete(i int) {
	if a.tp != nil {
		a.ns = append(a.ns[:i], a.ns[i+1:]...)
		return
	}
	a.vs = slices.Delete(a.vs, i, i+1)
}

func (a *Array) push(v Value) {
	if a.tp != nil {
		if v.p == a.tp {
			a.ns = append(grow(a.ns), v.n)
			return
		}
		a.generalise()
	} else if len(a.vs) == 0 && unboxed(v.p) {
		a.tp = v.p
		a.ns = make([]uint64, 0, max(4, cap(a.vs)))
		a.vs = nil
		a.ns = append(a.ns, v.n)
		return
	}
	a.vs = append(grow(a.vs), v)
}

// grow doubles a full slice: append would grow big ones by a quarter, which
// costs more copies than the memory it saves is worth.
func grow[T any](s []T) []T {
	if n := len(s); n == cap(s) && n >= 256 {
		g := make([]T, n, 2*n)
		copy(g, s)
		return g
	}
	return s
}

//go:noinline
func (a *Array) generalise() {
	vs := make([]Value, len(a.ns), cap(a.ns))
	for i, n := range a.ns {
		vs[i] = Value{a.tp, n}
	}
	a.vs, a.tp, a.ns = vs, nil, nil
}

func (a *Array) set(i int, v Value) {
	if a.tp != nil {
		if v.p == a.tp {
			a.ns[i] = v.n
			return
		}
		a.generalise()
	}
	setSlot(&a.vs[i], v)
}

// joined gives a new Array of a's and b's elements.
func joined(a, b *Array) *Array {
	if a.tp == b.tp && a.tp != nil {
		r := numbers(a.tp, len(a.ns)+len(b.ns))
		copy(r.ns[copy(r.ns, a.ns):], b.ns)
		return r
	}
	switch {
	case b.Len() == 0:
		return a.part(0, a.Len())
	case a.Len() == 0:
		return b.part(0, b.Len())
	}
	r := newArray()
	r.vs = make([]Value, a.Len()+b.Len())
	for i := range r.vs {
		if n := i - a.Len(); n >= 0 {
			r.vs[i] = b.At(n)
		} else {
			r.vs[i] = a.At(i)
		}
	}
	return r
}

// part gives a new Array of the elements from lo to hi, both in range.
func (a *Array) part(lo, hi int) *Array {
	if lo >= hi {
		return newArray()
	}
	if a.tp != nil {
		r := numbers(a.tp, hi-lo)
		copy(r.ns, a.ns[lo:hi])
		return r
	}
	return arrayOf(a.vs[lo:hi])
}

// Truncate drops the elements from n on; n is at most the length.
func (a *Array) Truncate(n int) {
	if a.tp != nil {
		a.ns = a.ns[:n]
		return
	}
	clear(a.vs[n:])
	a.vs = a.vs[:n]
}
