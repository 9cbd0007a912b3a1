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

// array4 is an Array with room for a few elements, one allocation in place of
// two.
type array4 struct {
	Array
	d [4]Value
}

type array2 struct {
	Array
	d [2]Value
}

// shortArray compiles a literal of one to four elements. treearr: 0.076 s
// without, 0.055 s with it.
//
//go:noinline
func shortArray(es []expr) expr {
	return func(fr fp) Value {
		var room [4]Value
		vs := room[:len(es)]
		tag := unsafe.Pointer(nil)
		for i, x := range es {
			vs[i] = x(fr)
			if i == 0 {
				tag = vs[0].p
			} else if vs[i].p != tag {
				tag = nil
			}
		}
		if tag != nil && unboxed(tag) {
			a := newArray()
			a.tp, a.ns = tag, make([]uint64, len(es))
			for i := range vs {
				a.ns[i] = vs[i].n
			}
			return mkArr(a)
		}
		if len(es) <= 2 {
			a := &array2{}
			a.k, a.vs = KArray, a.d[:copy(a.d[:], vs)]
			return mkArr(&a.Array)
		}
		a := &array4{}
		a.k, a.vs = KArray, a.d[:copy(a.d[:], vs)]
		return mkArr(&a.Array)
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
	r := newArray()
	if a.tp == b.tp && a.tp != nil {
		r.tp = a.tp
		r.ns = append(append(make([]uint64, 0, len(a.ns)+len(b.ns)), a.ns...), b.ns...)
		return r
	}
	for _, x := range [...]*Array{a, b} {
		for i := range x.Len() {
			r.push(x.At(i))
		}
	}
	return r
}

// part gives a new Array of the elements from lo to hi, both in range.
func (a *Array) part(lo, hi int) *Array {
	r := newArray()
	if lo >= hi {
		return r
	}
	if a.tp != nil {
		r.tp = a.tp
		r.ns = append([]uint64(nil), a.ns[lo:hi]...)
		return r
	}
	for _, v := range a.vs[lo:hi] {
		r.push(v)
	}
	return r
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
