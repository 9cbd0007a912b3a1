package eval

import (
	"math"
	"runtime"
	"testing"
	"unsafe"
)

// What rep.go takes for granted about the layout of values.
func TestLayout(t *testing.T) {
	if n := unsafe.Sizeof(Value{}); n != 16 {
		t.Errorf("a Value takes %d bytes", n)
	}
	if n := unsafe.Sizeof(frame{}); n != 256*16 {
		t.Errorf("a frame takes %d bytes", n)
	}
	for name, off := range map[string]uintptr{
		"Str": unsafe.Offsetof(Str{}.hdr), "Array": unsafe.Offsetof(Array{}.hdr),
		"Map": unsafe.Offsetof(Map{}.hdr), "Func": unsafe.Offsetof(Func{}.hdr), "Builtin": unsafe.Offsetof(Builtin{}.hdr),
		"bigInt": unsafe.Offsetof(bigInt{}.hdr), "cell": unsafe.Offsetof(cell{}.hdr), "box": unsafe.Offsetof(box{}.hdr),
		"policyBox": unsafe.Offsetof(policyBox{}.hdr), "spill": unsafe.Offsetof(spill{}.hdr),
	} {
		if off != 0 {
			t.Errorf("the header of %s is %d bytes in", name, off)
		}
	}
	tags := map[unsafe.Pointer]bool{unsafe.Pointer(&tagInt): true, unsafe.Pointer(&tagFloat): true, unsafe.Pointer(&tagBool): true, unsafe.Pointer(&tagNil): true}
	if len(tags) != 4 {
		t.Error("two tags share an address")
	}
}

func TestKinds(t *testing.T) {
	f := newFunc(&proto{name: "f"})
	values := []struct {
		v    Value
		kind Kind
		name string
	}{
		{Value{}, KUnset, "Unset"}, {mkInt(0), KInt, "Int"}, {mkFloat(0), KFloat, "Float"}, {mkBool(false), KBool, "Bool"}, {mkNil(), KNil, "Nil"},
		{newStr(""), KString, "String"}, {concat(toStr(newStr("a")), "b", "c"), KString, "String"}, {mkArr(newArray()), KArray, "Array"},
		{NewMap().Value(), KMap, "Map"}, {mkFunc(f), KFunc, "Function"}, {NewBuiltin(Builtin{Name: "b"}), KBuiltin, "Function"},
		{Obj(NewGoModule("m", nil)), KObject, "Module"},
	}
	for _, x := range values {
		if x.v.Kind() != x.kind || typeName(x.v) != x.name {
			t.Errorf("kind %d %s, want %d %s", x.v.Kind(), typeName(x.v), x.kind, x.name)
		}
		is := []bool{isUnset(x.v), isInt(x.v), isFloat(x.v), isBool(x.v), isNil(x.v), isStr(x.v), isArr(x.v), isMap(x.v), isFunc(x.v)}
		for k, yes := range is {
			if want := Kind(k) == x.kind; yes != want {
				t.Errorf("%s: predicate %d gives %v", x.name, k, yes)
			}
		}
	}
	for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		if toInt(mkInt(n)) != n || truthy(mkInt(n)) != (n != 0) {
			t.Error(n)
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 1.5, math.Inf(-1), math.MaxFloat64} {
		if math.Float64bits(toFloat(mkFloat(x))) != math.Float64bits(x) || truthy(mkFloat(x)) != (x != 0) {
			t.Error(x)
		}
	}
	if !toBool(mkBool(true)) || toBool(mkBool(false)) || mkBool(true) == mkInt(1) {
		t.Error("Bools")
	}
}

// Values keep what they point at alive, also where only their 16 bytes do.
func TestCollection(t *testing.T) {
	vs := make([]Value, 0, 2000)
	for i := range 1000 {
		vs = append(vs, concat(toStr(newStr("text ")), text(mkInt(int64(i))), "!"), ArrayOf(mkInt(int64(i)), newStr(text(mkInt(int64(i))))))
	}
	runtime.GC()
	runtime.GC()
	for i := range 1000 {
		n := text(mkInt(int64(i)))
		if got := text(vs[2*i]); got != "text "+n+"!" {
			t.Fatalf("%q", got)
		}
		if got := text(vs[2*i+1]); got != "["+n+", "+n+"]" {
			t.Fatalf("%q", got)
		}
	}
}

// Windows overlap as calls need it, and stay inside their segment.
func TestWindows(t *testing.T) {
	seg := make([]Value, firstSegment)
	fr := first(seg)
	if uintptr(unsafe.Pointer(fr)) != uintptr(unsafe.Pointer(&seg[0])) {
		t.Error("first")
	}
	nf := window(fr, 10)
	nf[3] = mkInt(7)
	if fr[13] != mkInt(7) || below(nf, 10) != fr {
		t.Error("window")
	}
	end := uintptr(unsafe.Pointer(&seg[len(seg)-1])) + unsafe.Sizeof(Value{})
	highest := lastFrame(seg) + uintptr(len(frame{})-1)*unsafe.Sizeof(Value{})
	if highest+unsafe.Sizeof(frame{}) > end {
		t.Error("a window above the last frame leaves the segment")
	}
	if spillSlot >= len(frame{}) || maxSlots > spillSlot || maxParams+slotArgs > maxSlots {
		t.Error("the slots do not fit a frame")
	}
}

func TestSetSlot(t *testing.T) {
	var v Value
	for _, x := range []Value{mkInt(1), mkInt(2), newStr("a"), mkNil(), mkFloat(1), {}, mkBool(true)} {
		if setSlot(&v, x); v != x {
			t.Errorf("%v after setting %v", v, x)
		}
	}
}

func TestHead(t *testing.T) {
	in := New(t.Context(), Config{})
	defer in.Close()
	th := in.Main()
	fn := newFunc(&proto{name: "f"})
	nf := window(th.base(), 5)
	setHead(nf, th, 77, fn, 12|siteNative)
	if threadOf(nf) != th || depthOf(nf) != 77 || funcOf(nf) != fn || siteOf(nf) != 12|siteNative {
		t.Error("the header does not read back")
	}
	setHead(nf, th, 78, nil, 13)
	if funcOf(nf) != nil || depthOf(nf) != 78 || siteOf(nf) != 13 {
		t.Error("a second header does not read back")
	}
}

func TestStringsGrowInPlace(t *testing.T) {
	start := newStr("0123456789012345678901234567890123456789012345678901234567890123456789")
	a := concat(toStr(start), "a", "")
	b := concat(toStr(a), "b", "")
	other := concat(toStr(a), "B", "") // a is no longer the newest view: a copy
	c := concat(toStr(b), "c", "d")
	for v, want := range map[Value]string{start: "", a: "a", b: "ab", other: "aB", c: "abcd"} {
		if got := text(v)[70:]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestStringPositions(t *testing.T) {
	var s Value = newStr("")
	var want []rune
	for i := range 300 {
		r := []rune{'a', 'é', '日', '😀', '\n'}[i%5]
		want = append(want, r)
		s = concat(toStr(s), string(r), "")
		if n := toStr(s).count(); n != i+1 {
			t.Fatalf("%d code points, want %d", n, i+1)
		}
	}
	x := toStr(s)
	for i, r := range want {
		if got := text(x.at(i)); got != string(r) {
			t.Fatalf("at %d: %q, want %q", i, got, string(r))
		}
	}
	for lo := 0; lo <= 300; lo += 37 {
		for hi := 0; hi <= 300; hi += 41 {
			w := ""
			if lo < hi {
				w = string(want[lo:hi])
			}
			got := x.slice(lo, hi)
			if text(got) != w || toStr(got).count() != len([]rune(w)) {
				t.Fatalf("[%d:%d] %q", lo, hi, text(got))
			}
		}
	}
}

func TestArraysOfOneKind(t *testing.T) {
	vals := []Value{mkInt(1), mkInt(-5), mkFloat(1.5), mkBool(true), newStr("s"), mkNil()}
	for i := range vals {
		for j := range vals {
			for k := range vals {
				a := newArray()
				a.push(vals[i])
				a.push(vals[j])
				a.set(0, vals[k])
				if a.Len() != 2 || a.At(0) != vals[k] || a.At(1) != vals[j] {
					t.Fatalf("%d %d %d: %v", i, j, k, text(mkArr(a)))
				}
				b := joined(a, a)
				p := b.part(1, 3)
				if b.Len() != 4 || b.At(2) != vals[k] || p.Len() != 2 || p.At(0) != vals[j] || p.At(1) != vals[k] {
					t.Fatalf("%d %d %d: %v %v", i, j, k, text(mkArr(b)), text(mkArr(p)))
				}
				p.set(0, vals[i])
				if b.At(1) != vals[j] {
					t.Fatal("a part shares memory")
				}
				b.Replace(a.Values())
				if b.Len() != 2 || b.At(0) != vals[k] {
					t.Fatal("replace")
				}
			}
		}
	}
}

func TestMap(t *testing.T) {
	m := NewMap()
	keys := []string{}
	for i := range 100 {
		k := text(mkInt(int64(i)))
		m.Set(k, mkInt(int64(i)))
		keys = append(keys, k)
	}
	for i := range 100 {
		if i%4 != 0 {
			if v, ok := m.Remove(keys[i]); !ok || toInt(v) != int64(i) {
				t.Fatal(i)
			}
		}
	}
	if _, ok := m.Remove("1"); ok || m.Len() != 25 || len(m.Keys()) != 25 || m.Keys()[1] != "4" {
		t.Errorf("%v", m.Keys())
	}
	m.Set("1", mkInt(-1))
	m.Set("0", mkInt(-2))
	if ks := m.Keys(); ks[0] != "0" || ks[25] != "1" {
		t.Errorf("%v", ks)
	}
	if v, ok := m.Get("0"); !ok || toInt(v) != -2 {
		t.Error(v)
	}
	if len(m.entries) > 60 {
		t.Errorf("%d entries kept for 26", len(m.entries))
	}
}
