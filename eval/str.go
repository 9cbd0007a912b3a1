package eval

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Str is a String. It knows its length in code points once that was asked for,
// and it may be the newest view of a buffer that grows. Its 32 bytes count: text
// is what programs make most of.
type Str struct {
	hdr
	h0    uint8  // with h1 the hash, 0: not made yet
	h1    uint16 // fills what the header leaves of 8 bytes
	runes uint32 // code points + 1; 0: not counted yet, or too many
	s     string
	ext   *strExt
}

// strExt is what few Strings have: a buffer to grow in, shared by all its
// views, or the byte offset of every 64th code point, for text that is not ASCII.
type strExt struct {
	b     []byte
	marks []uint32
}

const markEvery = 64

func newStr(s string) Value { return mkStr(&Str{hdr: hdr{KString}, s: s}) }

func newStrExt(s string, x *strExt, runes uint32) Value {
	return mkStr(&Str{hdr: hdr{KString}, s: s, ext: x, runes: runes})
}

// newText makes a String of a copy of b.
func newText(b []byte) Value {
	switch {
	case len(b) == 1 && b[0] < utf8.RuneSelf:
		return mkStr(&oneByte[b[0]])
	case len(b) <= maxShort:
		x, d := shortStr(len(b))
		copy(d, b)
		return mkStr(x)
	}
	return newStr(string(b))
}

// intText is the text of an Int.
func intText(n int64) Value {
	var room [20]byte
	return newText(strconv.AppendInt(room[:0], n, 10))
}

// counted gives n code points as a Str keeps them.
func counted(n int) uint32 {
	if n >= math.MaxUint32 {
		return 0
	}
	return uint32(n) + 1
}

// oneByte holds the Strings of one ASCII character, so that indexing and
// iterating over ASCII text allocates nothing.
var oneByte = func() (t [128]Str) {
	const ascii = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f" +
		" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\x7f"
	for i := range t {
		t[i] = Str{hdr: hdr{KString}, s: ascii[i : i+1], runes: 2}
		t[i].hash() // all programs of the process share them: they never change
	}
	return t
}()

func charStr(r rune) Value {
	if r < 128 {
		return mkStr(&oneByte[r])
	}
	return newStr(string(r))
}

// count gives the length in code points.
func (x *Str) count() int {
	if x.runes == 0 {
		n := utf8.RuneCountInString(x.s)
		x.runes = counted(n)
		return n
	}
	return int(x.runes) - 1
}

// at gives the i-th code point; i is in range.
func (x *Str) at(i int) Value {
	if x.count() == len(x.s) {
		return mkStr(&oneByte[x.s[i]])
	}
	off := x.offset(i)
	r, n := utf8.DecodeRuneInString(x.s[off:])
	if r == utf8.RuneError {
		return newStr(x.s[off : off+n])
	}
	return charStr(r)
}

// offset gives the byte offset of the i-th code point, 0 <= i <= count.
func (x *Str) offset(i int) int {
	if x.count() == len(x.s) {
		return i
	}
	off := 0
	if len(x.s) > markEvery {
		if x.ext == nil || x.ext.marks == nil {
			x.mark()
		}
		off = int(x.ext.marks[i/markEvery])
		i %= markEvery
	}
	for range i {
		_, n := utf8.DecodeRuneInString(x.s[off:])
		off += n
	}
	return off
}

// mark notes the offsets, of text longer than any short one. The next text appended to x starts a new buffer.
func (x *Str) mark() {
	marks := make([]uint32, 0, x.count()/markEvery+1)
	n := 0
	for off := range x.s {
		if n%markEvery == 0 {
			marks = append(marks, uint32(off))
		}
		n++
	}
	if n%markEvery == 0 {
		marks = append(marks, uint32(len(x.s)))
	}
	x.ext = &strExt{marks: marks}
}

// slice gives the code points from lo to hi, both in range.
func (x *Str) slice(lo, hi int) Value {
	if lo >= hi {
		return newStr("")
	}
	return newStrExt(x.s[x.offset(lo):x.offset(hi)], nil, counted(hi-lo))
}

// roomOf gives the size of the buffer for a text of n bytes that may grow.
func roomOf(n int) int { return n + min(n, 32<<20) }

// concat gives x + y + z. Where x is the newest view of its buffer the bytes
// are appended in place (older, shorter views stay valid), so that s = s + t in
// a loop costs O(len(t)). strcat(3M): 4.6 s without, 0.27 s with it.
func concat(x *Str, y, z string) Value {
	n := len(x.s) + len(y) + len(z)
	if n <= maxShort {
		o, d := shortStr(n)
		d = d[copy(d, x.s):]
		d = d[copy(d, y):]
		copy(d, z)
		return mkStr(o)
	}
	runes := uint32(0)
	if x.runes != 0 {
		runes = counted(int(x.runes) - 1 + utf8.RuneCountInString(y) + utf8.RuneCountInString(z))
	}
	if b := x.buffer(); b != nil {
		b.b = append(append(b.b, y...), z...)
		return newStrExt(view(b.b), b, runes)
	}
	if len(x.s) < 64 {
		return newStrExt(x.s+y+z, nil, runes)
	}
	b := &strExt{b: make([]byte, 0, roomOf(n))}
	b.b = append(append(append(b.b, x.s...), y...), z...)
	return newStrExt(view(b.b), b, runes)
}

// buffer gives the buffer of which x is the newest view, nil where there is none.
func (x *Str) buffer() *strExt {
	if b := x.ext; b != nil && b.marks == nil && len(b.b) == len(x.s) {
		return b
	}
	return nil
}
