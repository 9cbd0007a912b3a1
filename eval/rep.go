package eval

import (
	"math"
	"math/big"
	"unsafe"
)

// This file is the only one of the package that uses unsafe. A Value is a
// pointer and 64 bits. Int, Float, Bool and Nil point at one of four static
// headers and keep their payload in the bits, so they are never allocated;
// everything else points at an object whose first field is a header. The
// pointer of an unset slot is nil. rep_test.go proves the layout.

// Kind tells the representations of a value apart.
type Kind uint8

// The kinds. KUnset marks a name that has no value yet.
const (
	KUnset Kind = iota
	KInt
	KFloat
	KBool
	KNil
	KString
	KArray
	KMap
	KFunc
	KBuiltin
	KBig
	KObject
	kCell
	kPolicy
	kSpill
)

type hdr struct{ k Kind }

// Value is any value of a Sense program. The zero Value is unset: it is what a
// name holds before it is bound, and no expression gives it.
type Value struct {
	p unsafe.Pointer
	n uint64
}

// The headers differ in their kinds only; hdrs are spread over an array so that
// each has an address of its own.
var (
	tagInt   = hdr{KInt}
	tagFloat = hdr{KFloat}
	tagBool  = hdr{KBool}
	tagNil   = hdr{KNil}
)

// frame is a window of a thread's stack: [0] thread and depth, [1] function and
// call site, then parameters and names. The fixed size and uint8 indexes spare
// every bounds check.
type frame = [256]Value

// fp points at the current window.
type fp = *frame

const (
	slotThread = 0
	slotFunc   = 1
	slotArgs   = 2
)

func mkInt(n int64) Value     { return Value{unsafe.Pointer(&tagInt), uint64(n)} }
func mkFloat(f float64) Value { return Value{unsafe.Pointer(&tagFloat), math.Float64bits(f)} }
func mkBool(b bool) Value {
	if b {
		return Value{unsafe.Pointer(&tagBool), 1}
	}
	return Value{unsafe.Pointer(&tagBool), 0}
}
func mkNil() Value                { return Value{unsafe.Pointer(&tagNil), 0} }
func mkStr(s *Str) Value          { return Value{unsafe.Pointer(s), 0} }
func mkArr(a *Array) Value        { return Value{unsafe.Pointer(a), 0} }
func mkMap(m *Map) Value          { return Value{unsafe.Pointer(m), 0} }
func mkFunc(f *Func) Value        { return Value{unsafe.Pointer(f), 0} }
func mkBuiltin(b *Builtin) Value  { return Value{unsafe.Pointer(b), 0} }
func mkBigInt(b *bigInt) Value    { return Value{unsafe.Pointer(b), 0} }
func mkCell(c *cell) Value        { return Value{unsafe.Pointer(c), 0} }
func mkBox(b *box) Value          { return Value{unsafe.Pointer(b), 0} }
func mkPolicy(p *policyBox) Value { return Value{unsafe.Pointer(p), 0} }
func mkSpill(s *spill) Value      { return Value{unsafe.Pointer(s), 0} }

func isInt(v Value) bool   { return v.p == unsafe.Pointer(&tagInt) }
func isFloat(v Value) bool { return v.p == unsafe.Pointer(&tagFloat) }
func isBool(v Value) bool  { return v.p == unsafe.Pointer(&tagBool) }
func isNil(v Value) bool   { return v.p == unsafe.Pointer(&tagNil) }
func isUnset(v Value) bool { return v.p == nil }

func kindOf(v Value) Kind {
	if v.p == nil {
		return KUnset
	}
	return (*hdr)(v.p).k
}
func isStr(v Value) bool  { return v.p != nil && (*hdr)(v.p).k == KString }
func isArr(v Value) bool  { return v.p != nil && (*hdr)(v.p).k == KArray }
func isMap(v Value) bool  { return v.p != nil && (*hdr)(v.p).k == KMap }
func isFunc(v Value) bool { return v.p != nil && (*hdr)(v.p).k == KFunc }

func toInt(v Value) int64         { return int64(v.n) }
func toFloat(v Value) float64     { return math.Float64frombits(v.n) }
func toBool(v Value) bool         { return v.n != 0 }
func toStr(v Value) *Str          { return (*Str)(v.p) }
func toArr(v Value) *Array        { return (*Array)(v.p) }
func toMap(v Value) *Map          { return (*Map)(v.p) }
func toFunc(v Value) *Func        { return (*Func)(v.p) }
func toBuiltin(v Value) *Builtin  { return (*Builtin)(v.p) }
func toBig(v Value) *big.Int      { return &(*bigInt)(v.p).b }
func toCell(v Value) *cell        { return (*cell)(v.p) }
func toBox(v Value) *box          { return (*box)(v.p) }
func toPolicy(v Value) *policyBox { return (*policyBox)(v.p) }
func toSpill(v Value) *spill      { return (*spill)(v.p) }

// same reports whether two values are the very same object or the same scalar.
func same(a, b Value) bool { return a == b }

// setSlot stores v. Where the pointer stays the same only the payload is
// written, which spares the garbage collector's write barrier.
func setSlot(d *Value, v Value) {
	if d.p == v.p {
		d.n = v.n
		return
	}
	*d = v
}

// setInt and setFloat store a number; where the slot holds one of the kind
// already only the payload is written.
func setInt(d *Value, n int64) {
	if d.p == unsafe.Pointer(&tagInt) {
		d.n = uint64(n)
		return
	}
	*d = mkInt(n)
}

func setFloat(d *Value, f float64) {
	if d.p == unsafe.Pointer(&tagFloat) {
		d.n = math.Float64bits(f)
		return
	}
	*d = mkFloat(f)
}

func threadOf(fr fp) *Thread { return (*Thread)(fr[slotThread].p) }
func depthOf(fr fp) uint64   { return fr[slotThread].n }
func funcOf(fr fp) *Func     { return (*Func)(fr[slotFunc].p) }
func siteOf(fr fp) uint64    { return fr[slotFunc].n }

// setHead fills the two header slots of a new frame.
func setHead(nf fp, th *Thread, depth uint64, fn *Func, site uint64) {
	if nf[slotThread].p != unsafe.Pointer(th) {
		nf[slotThread].p = unsafe.Pointer(th)
	}
	nf[slotThread].n = depth
	if nf[slotFunc].p != unsafe.Pointer(fn) {
		nf[slotFunc].p = unsafe.Pointer(fn)
	}
	nf[slotFunc].n = site
}

// window gives the frame off slots above fr, off being less than the size of a
// frame. Before it is used the caller makes sure by Thread.end that calls from
// there have a place too.
func window(fr fp, off int) fp {
	return (fp)(unsafe.Add(unsafe.Pointer(fr), uintptr(off)*unsafe.Sizeof(Value{})))
}

// below gives the frame off slots below fr in the same segment.
func below(fr fp, off int) fp {
	return (fp)(unsafe.Add(unsafe.Pointer(fr), -off*int(unsafe.Sizeof(Value{}))))
}

// addr is fr's address, to compare with Thread.end only.
func addr(fr fp) uintptr { return uintptr(unsafe.Pointer(fr)) }

// first gives the frame at the start of a segment.
func first(seg []Value) fp { return (fp)(unsafe.Pointer(&seg[0])) }

// lastFrame gives the highest address of a frame in seg. A window above that
// frame still fits seg: it is made before it is known whether it may be used.
func lastFrame(seg []Value) uintptr {
	return uintptr(unsafe.Pointer(&seg[len(seg)-2*len(frame{})]))
}

// view makes a string of b without a copy; b's bytes are never changed later.
func view(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(&b[0], len(b))
}

// Short text stands behind its own header, in memory that the garbage collector
// does not look into: the only pointer there is to the object itself, which
// whoever holds the header or a part of the text keeps alive. No other pointer
// may ever be stored in such a Str: ext stays nil. wordcount: 0.22 s without,
// 0.19 s with it.

type short16 [6]uint64 // a Str and 16 bytes
type short32 [8]uint64 // a Str and 32 bytes

// shortStr makes a String of n bytes, at most maxShort, and gives them to fill.
func shortStr(n int) (*Str, []byte) {
	var p unsafe.Pointer
	if n <= 16 {
		p = unsafe.Pointer(new(short16))
	} else {
		p = unsafe.Pointer(new(short32))
	}
	x := (*Str)(p)
	b := unsafe.Slice((*byte)(unsafe.Add(p, unsafe.Sizeof(Str{}))), n)
	x.k = KString
	x.s = view(b)
	return x, b
}

const maxShort = 32

func tagOf(k Kind) unsafe.Pointer {
	switch k {
	case KInt:
		return unsafe.Pointer(&tagInt)
	case KFloat:
		return unsafe.Pointer(&tagFloat)
	}
	return unsafe.Pointer(&tagBool)
}
func unboxed(p unsafe.Pointer) bool {
	return p == unsafe.Pointer(&tagInt) || p == unsafe.Pointer(&tagFloat) || p == unsafe.Pointer(&tagBool)
}

// objectType tells the Go types of Objects apart.
func objectType(v Value) uintptr {
	return *(*uintptr)(unsafe.Pointer(&toBox(v).o)) // the word that names an interface's type
}
