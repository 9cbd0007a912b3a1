package eval

import (
	"crypto/sha256"
	"strconv"

	"github.com/sense-lang/sense/diag"
)

// maxExtent bounds what is written out of one value.
const maxExtent = 256 << 20

// CheckExtent refuses a value that cannot be written out: one that holds itself,
// nests too deeply, or holds the same parts so often that the whole is too
// large. Whatever walks through a value of the program, and keeps what it
// finds, asks this first: a small value may unfold without end.
func CheckExtent(v Value) error {
	if k := kindOf(v); k != KArray && k != KMap {
		return nil
	}
	e := extents{seen: map[Value]int64{}}
	if e.of(v, 0); e.refused != "" {
		return diag.New(diag.Runtime, "%s", e.refused)
	}
	return nil
}

// extents measures values: one for each, and the bytes of text.
type extents struct {
	seen    map[Value]int64 // by container; -1 while it is being measured
	refused string
}

func (e *extents) of(v Value, depth int) int64 {
	switch kindOf(v) {
	case KString:
		return int64(len(toStr(v).s)) + 1
	case KArray:
		if a := toArr(v); a.tp != nil {
			return int64(a.Len()) + 1
		}
	case KMap:
	default:
		return 1
	}
	if n, ok := e.seen[v]; ok {
		if n < 0 {
			e.refused = "the value holds itself"
		}
		return n
	}
	if depth > maxValueDepth {
		e.refused = "the value nests too deeply"
	}
	if e.refused != "" {
		return 0
	}
	e.seen[v] = -1
	n := e.parts(v, depth+1)
	e.seen[v] = n
	return n
}

func (e *extents) parts(v Value, depth int) int64 {
	n := int64(1)
	add := func(x Value) {
		if n += e.of(x, depth); n > maxExtent && e.refused == "" {
			e.refused = "the value is too large to be written out (limit " + strconv.Itoa(maxExtent) + ")"
		}
	}
	if isArr(v) {
		for _, x := range toArr(v).vs {
			add(x)
		}
		return n
	}
	for k, x := range toMap(v).All() {
		n += int64(len(k))
		add(x)
	}
	return n
}

// deepCopy copies Arrays and Maps. What is shared, or holds itself, is so in
// the copy too.
func deepCopy(v Value) Value { return copier{}.copy(v, 0) }

// copier maps containers to their copies.
type copier map[Value]Value

func (c copier) copy(v Value, depth int) Value {
	k := kindOf(v)
	if k != KArray && k != KMap || depth > maxValueDepth {
		return v
	}
	if w, ok := c[v]; ok {
		return w
	}
	if k == KArray {
		out := newArray()
		c[v] = mkArr(out)
		for i := range toArr(v).Len() {
			out.push(c.copy(toArr(v).At(i), depth+1))
		}
		return mkArr(out)
	}
	out := NewMap()
	c[v] = mkMap(out)
	for _, e := range toMap(v).entries {
		if e.key != nil {
			out.add(e.key, c.copy(e.v, depth+1))
		}
	}
	return mkMap(out)
}

// digester writes values so that equal data gives equal text. A container
// stands as the hash of what it holds, made once: one that is held many times
// costs no more.
type digester struct {
	in   *Interp
	h    []byte
	done map[Value][sha256.Size]byte
	open []Value
}

func (d *digester) text(tag byte, s string) {
	d.h = append(d.h, tag)
	d.h = strconv.AppendInt(d.h, int64(len(s)), 10)
	d.h = append(d.h, ':')
	d.h = append(d.h, s...)
}

func (d *digester) value(v Value) {
	switch kindOf(v) {
	case KString:
		d.text('s', toStr(v).s)
	case KArray, KMap:
		d.container(v)
	case KInt, KBig, KFloat, KBool, KNil:
		d.text(byte('0'+kindOf(v)), plainText(v))
	default:
		d.text('o', d.in.identity(v))
	}
}

// container writes the hash of an Array or Map. One that is open already is
// written as how far out it is.
func (d *digester) container(v Value) {
	for i := len(d.open) - 1; i >= 0; i-- {
		if d.open[i] == v {
			d.text('^', strconv.Itoa(len(d.open)-i))
			return
		}
	}
	sum, ok := d.done[v]
	if !ok && len(d.open) > maxValueDepth {
		d.h = append(d.h, '^')
		return
	}
	if !ok {
		outer := d.h
		d.h = nil
		d.open = append(d.open, v)
		d.contents(v)
		d.open = d.open[:len(d.open)-1]
		sum = sha256.Sum256(d.h)
		d.h = outer
		if d.done == nil {
			d.done = map[Value][sha256.Size]byte{}
		}
		d.done[v] = sum
	}
	d.h = append(append(d.h, 'c'), sum[:]...)
}

func (d *digester) contents(v Value) {
	if isArr(v) {
		d.text('a', strconv.Itoa(toArr(v).Len()))
		for i := range toArr(v).Len() {
			d.value(toArr(v).At(i))
		}
		return
	}
	m := toMap(v)
	d.text('m', strconv.Itoa(m.Len()))
	for k, x := range m.All() {
		d.text('k', k)
		d.value(x)
	}
}
