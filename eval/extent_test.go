package eval

import (
	"strings"
	"testing"
)

// unfolding gives an array that holds the same array twice, n deep.
func unfolding(n int, leaf Value) Value {
	v := ArrayOf(leaf, newStr("x"))
	for range n {
		v = ArrayOf(v, v)
	}
	return v
}

func circle() Value {
	a := newArray()
	a.push(newStr("a"))
	a.push(mkArr(a))
	a.push(mkArr(a))
	return mkArr(a)
}

func mapCircle() Value {
	m := NewMap()
	m.Set("self", ArrayOf(m.Value(), m.Value()))
	return m.Value()
}

func nested(n int) Value {
	v := ArrayOf()
	for range n {
		v = ArrayOf(v)
	}
	return v
}

func TestCheckExtent(t *testing.T) {
	long := newStr(strings.Repeat("x", 1<<20))
	for _, x := range []struct {
		name string
		v    Value
		want string
	}{
		{"plain", mkInt(1), ""},
		{"text", long, ""},
		{"shared", unfolding(10, mkInt(1)), ""},
		{"shared too often", unfolding(60, mkInt(1)), "the value is too large to be written out (limit 268435456)"},
		{"long text shared", unfolding(8, long), "the value is too large to be written out (limit 268435456)"},
		{"circle", circle(), "the value holds itself"},
		{"circle of maps", mapCircle(), "the value holds itself"},
		{"deep", nested(500), ""},
		{"too deep", nested(5000), "the value nests too deeply"},
		{"numbers", IntsFrom(0, 1, 1000), ""},
	} {
		err := CheckExtent(x.v)
		if got := ""; err != nil && err.Error() != x.want || err == nil && x.want != got {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
}

func TestDeepCopy(t *testing.T) {
	shared := unfolding(60, newStr("leaf"))
	c := deepCopy(shared)
	if c == shared || toArr(c).At(0) != toArr(c).At(1) {
		t.Error("what is shared is not shared in the copy")
	}
	toArr(toArr(c).At(0)).push(mkInt(1))
	if toArr(toArr(shared).At(0)).Len() != 2 {
		t.Error("the copy shares with the original")
	}
	r := deepCopy(circle())
	if toArr(r).At(1) != r || text(toArr(r).At(0)) != "a" {
		t.Error("a circle is none in the copy")
	}
	m := deepCopy(mapCircle())
	if x, _ := toMap(m).Get("self"); toArr(x).At(0) != m {
		t.Error("a circle of maps is none in the copy")
	}
	if deepCopy(mkInt(3)) != mkInt(3) || deepCopy(nested(5000)) == (Value{}) {
		t.Error("plain values")
	}
}

func TestDigest(t *testing.T) {
	in := New(t.Context(), Config{})
	defer in.Close()
	m1, m2 := NewMap(), NewMap()
	m1.Set("a", mkInt(1))
	m1.Set("b", mkInt(2))
	m2.Set("b", mkInt(2))
	m2.Set("a", mkInt(1))
	o := Obj(NewGoModule("m", nil))
	distinct := []Value{mkInt(1), mkFloat(1), newStr("1"), mkBool(true), mkNil(), ArrayOf(), ArrayOf(mkInt(1)), ArrayOf(ArrayOf(mkInt(1))), ArrayOf(newStr("1")),
		ArrayOf(mkInt(1), mkInt(2)), ArrayOf(newStr("1, 2")), m1.Value(), m2.Value(), o, Obj(NewGoModule("m", nil)), circle(), mapCircle(), unfolding(60, mkInt(1)), unfolding(61, mkInt(1)), nested(900)}
	seen := map[string]int{}
	for i, v := range distinct {
		d := in.Digest([]Value{v})
		if j, ok := seen[d]; ok {
			t.Errorf("values %d and %d have one digest", i, j)
		}
		seen[d] = i
		if again := in.Digest([]Value{v}); again != d {
			t.Errorf("value %d has two digests", i)
		}
	}
	equal := [][2]Value{{ArrayOf(mkInt(1), newStr("a")), ArrayOf(mkInt(1), newStr("a"))}, {unfolding(30, mkInt(1)), unfolding(30, mkInt(1))}, {circle(), circle()}}
	for i, p := range equal {
		if in.Digest(p[:1]) != in.Digest(p[1:]) {
			t.Errorf("pair %d has two digests", i)
		}
	}
	a := ArrayOf(mkInt(1))
	if before := in.Digest([]Value{a}); func() string { toArr(a).push(mkInt(2)); return in.Digest([]Value{a}) }() == before {
		t.Error("a change leaves the digest as it was")
	}
	if in.Digest([]Value{a, a}) == in.Digest([]Value{ArrayOf(a, a)}) {
		t.Error("arguments and an array of them have one digest")
	}
}
