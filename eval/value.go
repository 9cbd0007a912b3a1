package eval

import (
	"math/big"
)

// cell holds a name that a nested function uses too.
type cell struct {
	hdr
	v Value
}

// spill holds the names of a function that has more than fit a frame.
type spill struct {
	hdr
	v []Value
}

type bigInt struct {
	hdr
	b big.Int
}

// box carries an Object as a Value.
type box struct {
	hdr
	o Object
}

// Object is a value of a type that the language's core does not know: a tool,
// an agent, a model's answer. It may add any of the optional interfaces
// HasAttrs, HasMethods, Callable, Indexable and Equaler.
type Object interface {
	// TypeName is what type_of gives.
	TypeName() string
	// String is how the value prints.
	String() string
}

// HasAttrs is an Object with members that are values.
type HasAttrs interface {
	// Attr gives the member name, or an error in the user's words.
	Attr(t *Thread, name string) (Value, error)
}

// HasMethods is an Object with methods. They are looked at before Attr, and are
// the same for all Objects of a Go type.
type HasMethods interface {
	// Method gives the method name, nil where there is none.
	Method(name string) *Method
	// OwnerName stands before the method's name in messages.
	OwnerName() string
}

// Method is a method of an Object. Args are valid during the call only.
type Method struct {
	Name     string
	Min, Max int // Max < 0: any number
	Labels   bool
	Named    bool   // labels take the places that the head of Doc names
	Doc      string // as a Builtin's
	// Leaf says that Fn calls nothing of the program and asks for no place, so
	// that it needs no frame.
	Leaf bool
	Fn   func(c *Call, self Object) (Value, error)
}

// Callable is an Object that can be called. It checks its own arguments.
type Callable interface {
	CallWith(c *Call) (Value, error)
}

// Indexable is an Object whose elements can be read by x[i].
type Indexable interface {
	Index(t *Thread, i Value) (Value, error)
}

// IndexSetter is an Object whose elements can be written by x[i] = v.
type IndexSetter interface {
	SetIndex(t *Thread, i, v Value) error
}

// Equaler is an Object that is not compared by identity.
type Equaler interface {
	EqualTo(o Object) bool
}

// Truther is an Object that may be false.
type Truther interface {
	Truth() bool
}

// Nil is the value nil.
func Nil() Value { return mkNil() }

// Int makes an Int.
func Int(n int64) Value { return mkInt(n) }

// BigInt makes an Int of any size; b must not be changed afterwards.
func BigInt(b *big.Int) Value { return normBig(b) }

// Float makes a Float.
func Float(f float64) Value { return mkFloat(f) }

// Bool makes a Bool.
func Bool(b bool) Value { return mkBool(b) }

// String makes a String of valid UTF-8 text.
func String(s string) Value { return newStr(s) }

// ArrayOf makes an Array of the values.
func ArrayOf(vs ...Value) Value { return mkArr(arrayOf(vs)) }

// Strings makes an Array of Strings.
func Strings(ss []string) Value {
	a := NewArray(len(ss))
	for len(ss) > 0 {
		n := min(len(ss), stringsAtOnce)
		made := make([]Str, n)
		for i, s := range ss[:n] {
			x := &made[i]
			x.k, x.s = KString, s
			a.vs = append(a.vs, mkStr(x))
		}
		ss = ss[n:]
	}
	return mkArr(a)
}

// stringsAtOnce is how many Strings of one text are made in one piece: it lives
// as long as any of them does.
const stringsAtOnce = 16

// SharedStrings is Strings for texts of which many are equal: those are one
// String.
func SharedStrings(ss []string) Value {
	seen := map[string]Value{}
	a := NewArray(len(ss))
	for _, s := range ss {
		v, ok := seen[s]
		if !ok {
			v = newStr(s)
			seen[s] = v
		}
		a.push(v)
	}
	return mkArr(a)
}

// Obj makes a value of an Object.
func Obj(o Object) Value { return mkBox(&box{hdr{KObject}, o}) }

// Kind gives the kind of representation of v.
func (v Value) Kind() Kind { return kindOf(v) }

// IsNil reports whether v is nil.
func (v Value) IsNil() bool { return isNil(v) }

// IsSet reports whether v is a value at all.
func (v Value) IsSet() bool { return v.p != nil }

// AsInt gives an Int that fits 64 bits.
func (v Value) AsInt() (int64, bool) { return int64(v.n), isInt(v) }

// AsBig gives an Int of any size.
func (v Value) AsBig() (*big.Int, bool) {
	switch kindOf(v) {
	case KInt:
		return big.NewInt(toInt(v)), true
	case KBig:
		return toBig(v), true
	}
	return nil, false
}

// AsFloat gives a Float; an Int is none.
func (v Value) AsFloat() (float64, bool) { return toFloat(v), isFloat(v) }

// AsNumber gives an Int or a Float as a float64.
func (v Value) AsNumber() (float64, bool) { return numF(v) }

// AsBool gives a Bool.
func (v Value) AsBool() (bool, bool) { return v.n != 0, isBool(v) }

// AsString gives the text of a String.
func (v Value) AsString() (string, bool) {
	if isStr(v) {
		return toStr(v).s, true
	}
	return "", false
}

// AsArray gives an Array.
func (v Value) AsArray() (*Array, bool) {
	if isArr(v) {
		return toArr(v), true
	}
	return nil, false
}

// AsMap gives a Map.
func (v Value) AsMap() (*Map, bool) {
	if isMap(v) {
		return toMap(v), true
	}
	return nil, false
}

// AsObject gives the Object in v, nil where v is none.
func (v Value) AsObject() Object {
	if kindOf(v) == KObject {
		return toBox(v).o
	}
	return nil
}

// TypeName gives the name that type_of gives.
func (v Value) TypeName() string { return typeName(v) }

// Truthy reports whether v counts as true.
func (v Value) Truthy() bool { return truthy(v) }

// String gives the text that print shows.
func (v Value) String() string { return text(v) }

// Equal reports whether a == b in Sense. Its error is a comparison that nests
// too deeply, as arrays that hold themselves do.
func Equal(a, b Value) (bool, error) { return equalValues(a, b) }

var kindNames = [...]string{"Unset", "Int", "Float", "Bool", "Nil", "String", "Array", "Map", "Function", "Function", "Int", "Object", "Cell", "Policy", "Spill"}

func typeName(v Value) string {
	k := kindOf(v)
	if k == KObject {
		return toBox(v).o.TypeName()
	}
	return kindNames[k]
}

func truthy(v Value) bool {
	switch kindOf(v) {
	case KBool, KInt:
		return v.n != 0
	case KNil, KUnset:
		return false
	case KFloat:
		return toFloat(v) != 0
	case KString:
		return len(toStr(v).s) > 0
	case KArray:
		return toArr(v).Len() > 0
	case KMap:
		return toMap(v).Len() > 0
	case KObject:
		if t, ok := toBox(v).o.(Truther); ok {
			return t.Truth()
		}
	}
	return true
}
