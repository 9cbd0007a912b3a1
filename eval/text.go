package eval

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/diag"
)

// text gives what print shows.
func text(v Value) string {
	switch kindOf(v) {
	case KArray, KMap, KObject:
		var p printer
		p.value(v)
		return p.b.String()
	}
	return plainText(v)
}

// plainText is text for values that hold no others.
func plainText(v Value) string {
	switch kindOf(v) {
	case KInt:
		return strconv.FormatInt(toInt(v), 10)
	case KFloat:
		return FormatFloat(toFloat(v))
	case KBool:
		if toBool(v) {
			return "true"
		}
		return "false"
	case KNil:
		return "nil"
	case KString:
		return toStr(v).s
	case KBig:
		return toBig(v).String()
	case KFunc:
		return "<fn " + toFunc(v).proto.name + ">"
	case KBuiltin:
		return "<builtin " + toBuiltin(v).Name + ">"
	case KObject:
		return toBox(v).o.String()
	}
	return "<unset>"
}

// maxPrinted bounds the text of one container in bytes: arrays that hold the
// same array many times unfold to more than fits any memory.
const maxPrinted = 64 << 20

// Text gives the text that print shows. Its error is a container that holds
// itself, nests too deeply or is too long.
func Text(v Value) (string, error) {
	if k := kindOf(v); k != KArray && k != KMap && k != KObject {
		return plainText(v), nil
	}
	var p printer
	p.value(v)
	switch {
	case p.deep:
		return "", tooDeep()
	case p.b.Len() > maxPrinted:
		return "", diag.New(diag.Runtime, "the text of the value is too long (limit %d bytes)", maxPrinted)
	}
	return p.b.String(), nil
}

// Holder is an Object whose text holds the text of a value.
type Holder interface {
	// Parts gives the text before and after the value's; inner is unset where
	// there is none.
	Parts() (before string, inner Value, after string)
}

// printer writes values that hold others; one that holds itself prints as [...]
// or {...} and sets deep.
type printer struct {
	b    strings.Builder
	open []Value
	deep bool
}

func (p *printer) value(v Value) {
	if p.b.Len() > maxPrinted {
		return
	}
	k := kindOf(v)
	h, holds := v.AsObject().(Holder)
	if k != KArray && k != KMap && !holds {
		p.b.WriteString(plainText(v))
		return
	}
	if p.inside(v) || len(p.open) > maxValueDepth {
		p.deep = true
		p.b.WriteString(map[Kind]string{KArray: "[...]", KMap: "{...}", KObject: "<...>"}[k])
		return
	}
	p.open = append(p.open, v)
	switch {
	case holds:
		p.holder(h)
	case k == KArray:
		p.array(toArr(v))
	default:
		p.mapping(toMap(v))
	}
	p.open = p.open[:len(p.open)-1]
}

func (p *printer) holder(h Holder) {
	before, inner, after := h.Parts()
	p.b.WriteString(before)
	if inner.IsSet() {
		p.value(inner)
	}
	p.b.WriteString(after)
}

func (p *printer) inside(v Value) bool {
	if o := v.AsObject(); o != nil {
		return slices.ContainsFunc(p.open, func(w Value) bool { return w.AsObject() == o })
	}
	return slices.Contains(p.open, v)
}

func (p *printer) array(a *Array) {
	p.b.WriteByte('[')
	for i := range a.Len() {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.value(a.At(i))
	}
	p.b.WriteByte(']')
}

func (p *printer) mapping(m *Map) {
	p.b.WriteByte('{')
	first := true
	for k, v := range m.All() {
		if !first {
			p.b.WriteString(", ")
		}
		first = false
		p.b.WriteString(k)
		p.b.WriteString(": ")
		p.value(v)
	}
	p.b.WriteByte('}')
}

// FormatFloat gives the text of a Float: a whole value below 1e15 in size with
// one decimal, otherwise the shortest text that reads back the same, with an
// exponent below 1e-4 and from 1e16 on.
func FormatFloat(f float64) string {
	var room [32]byte
	return string(appendFloat(room[:0], f))
}

// appendFloat appends what FormatFloat gives.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "nan"...)
	case math.IsInf(f, 1):
		return append(b, "inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		if f == 0 && math.Signbit(f) {
			b = append(b, '-')
		}
		return append(strconv.AppendInt(b, int64(f), 10), ".0"...)
	}
	if a := math.Abs(f); a >= 1e16 || a < 1e-4 {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	from := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	if bytes.IndexByte(b[from:], '.') < 0 {
		b = append(b, ".0"...)
	}
	return b
}

// Quote gives s in quotes as messages show text: single ones unless it holds
// one and no double, control and unprintable characters escaped.
func Quote(s string) string { return diag.Repr(s) }
