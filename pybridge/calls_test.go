package pybridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const helper = `
import enum, sys, types
print("loading")
X=1; F=1.5; S="hé😀"; B=True; N=None; L=[1,[2,"a",None],3.5]; T=(1,2); D={"a":1}; SET={1}; BY=b"ab\xff"; BIG=10**40; NEG=-2**63; LM=[1,(2,)]
HALF="\ud800"; EMPTY=[]
class K:
    attr=5
    def __init__(self, v=0): self.v=v
    def m(self, x): return x*2
    def __str__(self): return f"K<{self.v}>"
    def __eq__(self,o): return isinstance(o,K) and o.v==self.v
    def __getitem__(self,k): return ("item",k)
    def __setitem__(self,k,v): print("set",k,v)
    @property
    def bad(self): raise ValueError("bad prop")
class IntSub(int):
    def __str__(self): return "never"
class StrSub(str): pass
class FloatSub(float): pass
class ListSub(list): pass
class Num(enum.IntEnum): A=1
isub=IntSub(5); ssub=StrSub("x"); lsub=ListSub([1]); fsub=FloatSub(2.5); en=Num.A
def f(*a): return list(a)
def ident(x): return x
def typ(x): return type(x).__name__+":"+repr(x)
def boom(): raise ValueError("multi\nline\ttext")
def key(): raise KeyError("k")
def empty(): raise Exception()
def two(): raise ValueError("a","b")
class Odd(Exception):
    def __str__(self): raise RuntimeError("x")
def odd(): raise Odd()
def rec(): return rec()
def leave(n=None): sys.exit(n)
def gen(): yield 1; yield 2
cyc=[1]; cyc.append(cyc)
deep=[]
for _ in range(3000): deep=[deep]
class BadStr:
    def __str__(self): raise RuntimeError("no str")
class NoStr:
    def __str__(self): return 5
class BadEq:
    def __eq__(self,o): raise RuntimeError("no eq")
class Lying:
    def __getattr__(self,n):
        if n=="z": raise TypeError("nope")
        raise AttributeError("custom "+n)
sub=types.ModuleType("fancy.name")
def huge(n): return "x"*n
def items(n): return list(range(n))
`

func TestValues(t *testing.T) {
	p := start(t, helper)
	big40 := new(big.Int).Exp(big.NewInt(10), big.NewInt(40), nil)
	for name, want := range map[string]Value{
		"X": int64(1), "F": 1.5, "S": "hé😀", "B": true, "N": nil, "L": []any{int64(1), []any{int64(2), "a", nil}, 3.5}, "BIG": big40, "NEG": int64(math.MinInt64),
		"isub": int64(5), "ssub": "x", "lsub": []any{int64(1)}, "fsub": 2.5, "en": int64(1), "HALF": "\ufffd", "EMPTY": []any{},
	} {
		if got := p.get(name); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, want %#v", name, got, want)
		}
	}
	for name, want := range map[string]string{"T": "tuple (1, 2)", "D": "dict {'a': 1}", "SET": "set {1}", "BY": `bytes b'ab\xff'`, "sub": "module <module 'fancy.name'>"} {
		h := p.get(name).(Handle)
		if got := h.Type + " " + p.str(h); got != want || h.Callable || h.Name != name || h.Module {
			t.Errorf("%s is %s, %+v; want %s", name, got, h, want)
		}
	}
	mixed := p.get("LM").([]any)
	if h, ok := mixed[1].(Handle); mixed[0] != int64(1) || !ok || h.Type != "tuple" {
		t.Errorf("a list with a tuple is %#v", mixed)
	}
	if h := p.call("gen").(Handle); h.Type != "generator" || h.Callable {
		t.Errorf("a generator is %+v", h)
	}
	if h := p.get("K").(Handle); h.Type != "type" || !h.Callable || h.Name != "K" {
		t.Errorf("a class is %+v", h)
	}
}

func TestArguments(t *testing.T) {
	p := start(t, helper)
	huge := new(big.Int).Lsh(big.NewInt(1), 100_000) // more digits than Python likes to print
	for _, value := range []Value{nil, true, false, int64(0), int64(-1), int64(1 << 53), int64(math.MaxInt64), int64(math.MinInt64), huge, new(big.Int).Neg(huge),
		0.0, 1.0, -2.5, 1e16, 1e-7, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), "", "a\x00b", "\"\\\n\u2028<&>", "日本😀", []any{}, []any{[]any{nil, "x"}, 1.0}} {
		if got := p.call("ident", value); !reflect.DeepEqual(got, value) {
			t.Errorf("%#v comes back as %#v", value, got)
		}
	}
	if got := p.call("ident", math.NaN()).(float64); !math.IsNaN(got) {
		t.Errorf("not-a-number comes back as %v", got)
	}
	if got := p.call("ident", math.Copysign(0, -1)).(float64); !math.Signbit(got) {
		t.Error("minus zero loses its sign")
	}
	for want, value := range map[string]Value{
		"int:1": 1, "float:1.0": 1.0, "float:1e+16": 1e16, "str:'a'": "a", "NoneType:None": nil, "bool:True": true, "list:[1, None]": []any{1, nil}, "float:inf": math.Inf(1), "float:nan": math.NaN(),
		"int:10000000000000000000000000": func() Value { n, _ := new(big.Int).SetString("10000000000000000000000000", 10); return n }(), "str:'\\ufffd'": "\xff",
		"tuple:(1, 2)": p.get("T"), "list:[(1, 2)]": []any{p.get("T")},
	} {
		if got := p.call("typ", value); got != want && !(want == "str:'\\ufffd'" && got == "str:'\ufffd'") {
			t.Errorf("%#v arrives as %v, want %s", value, got, want)
		}
	}
	if got := p.call("f"); !reflect.DeepEqual(got, []any{}) {
		t.Errorf("a call without arguments gives %#v", got)
	}
	cycle := []any{nil}
	cycle[0] = cycle
	for want, value := range map[string]Value{"a struct {} can not be given to python": struct{}{}, "a list that is nested too deep or contains itself can not be given to python": cycle, "a func() can not be given to python": []any{func() {}}} {
		if _, err := p.try(bg, "ident", value); err == nil || err.Error() != want {
			t.Errorf("%T: %v, want %s", value, err, want)
		}
	}
	nested := Value(nil)
	for range maxDepth {
		nested = []any{nested}
	}
	if got := p.call("ident", nested); !reflect.DeepEqual(got, nested) {
		t.Error("a deep list comes back changed")
	}
}

func TestMembersAndIndexes(t *testing.T) {
	p := start(t, helper)
	k := p.call("K", 3).(Handle)
	if v, err := p.Attr(bg, k, "v"); v != int64(3) || err != nil {
		t.Errorf("k.v is %v, %v", v, err)
	}
	m, err := p.Attr(bg, k, "m")
	if err != nil || !m.(Handle).Callable {
		t.Fatalf("k.m is %v, %v", m, err)
	}
	if v, err := p.Call(bg, m.(Handle), []Value{4}); v != int64(8) || err != nil {
		t.Errorf("k.m(4) is %v, %v", v, err)
	}
	item, err := p.Index(bg, k, "a")
	if err != nil || p.str(item) != "('item', 'a')" {
		t.Errorf("k['a'] is %v, %v", item, err)
	}
	p.out.take()
	if err := p.SetIndex(bg, k, 5, []any{6}); err != nil || p.out.take() != "set 5 [6]\n" {
		t.Errorf("k[5] = [6]: %v", err)
	}
	d := p.get("D").(Handle)
	if err := p.SetIndex(bg, d, p.get("T"), p.get("T")); err != nil {
		t.Error(err)
	}
	if got := p.str(d); got != "{'a': 1, (1, 2): (1, 2)}" {
		t.Errorf("the dict is %s", got)
	}
	if v, err := p.Index(bg, d, "a"); v != int64(1) || err != nil {
		t.Errorf("d['a'] is %v, %v", v, err)
	}
}

func TestComparing(t *testing.T) {
	p := start(t, helper)
	a, b, c := p.call("K", 3), p.call("K", 3), p.call("K", 4)
	for _, test := range []struct {
		a, b Value
		want bool
	}{{a, b, true}, {a, c, false}, {a, 3, false}, {p.get("T"), p.get("T"), true}, {p.get("T"), []any{1, 2}, false}, {1, 1.0, true}, {[]any{a}, []any{b}, true}} {
		if got, err := p.Equal(bg, test.a, test.b); got != test.want || err != nil {
			t.Errorf("%v == %v: %v, %v", test.a, test.b, got, err)
		}
	}
	if _, err := p.Equal(bg, p.call("BadEq"), 1); err == nil || err.Error() != "python error comparing: RuntimeError: no eq" {
		t.Errorf("an == that fails: %v", err)
	}
}

func TestStr(t *testing.T) {
	p := start(t, helper)
	for want, value := range map[string]Value{"K<0>": p.call("K"), "<python BadStr>": p.call("BadStr"), "<python NoStr>": p.call("NoStr"), "(1, 2)": p.get("T")} {
		if got := p.str(value); got != want {
			t.Errorf("str gives %q, want %q", got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	p := start(t, helper)
	k, tuple, dict := p.call("K", 3).(Handle), p.get("T").(Handle), p.get("D").(Handle)
	attr := func(h Handle, name string) func() error {
		return func() error { _, err := p.Attr(bg, h, name); return err }
	}
	call := func(name string, args ...Value) func() error {
		return func() error { _, err := p.try(bg, name, args...); return err }
	}
	index := func(h Handle, key Value) func() error {
		return func() error { _, err := p.Index(bg, h, key); return err }
	}
	for _, test := range []struct {
		do   func() error
		want string
	}{
		{attr(p.module, "nope"), "module 'helper' has no attribute 'nope'"},
		{attr(k, "nope"), "K has no attribute 'nope'"},
		{attr(tuple, "nope"), "tuple has no attribute 'nope'"},
		{attr(p.get("sub").(Handle), "nope"), "module has no attribute 'nope'"},
		{attr(p.call("Lying").(Handle), "foo"), "Lying has no attribute 'foo'"},
		{attr(p.call("Lying").(Handle), "z"), "python error reading z: TypeError: nope"},
		{attr(k, "bad"), "python error reading bad: ValueError: bad prop"},
		{attr(p.module, "cyc"), "python error reading cyc: ValueError: a list that is nested too deep or contains itself"},
		{attr(p.module, "deep"), "python error reading deep: ValueError: a list that is nested too deep or contains itself"},
		{call("boom"), "python error calling boom: ValueError: multi\nline\ttext"},
		{call("key"), "python error calling key: KeyError: 'k'"},
		{call("empty"), "python error calling empty: Exception: "},
		{call("two"), "python error calling two: ValueError: ('a', 'b')"},
		{call("odd"), "python error calling odd: Odd: <unprintable Odd object>"},
		{call("rec"), "python error calling rec: RecursionError: maximum recursion depth exceeded"},
		{call("boom", 1), "python error calling boom: TypeError: boom() takes 0 positional arguments but 1 was given"},
		{func() error { _, err := p.Call(bg, Handle{ID: tuple.ID, Type: "tuple"}, nil); return err }, "python error calling tuple: TypeError: 'tuple' object is not callable"},
		{call("leave", 3), "python error calling leave: SystemExit: 3"},
		{call("leave", "bye"), "python error calling leave: SystemExit: bye"},
		{call("huge", 70<<20), "python error calling huge: ValueError: the result is larger than 67108864 bytes"},
		{index(dict, "zz"), "python error indexing: KeyError: 'zz'"},
		{index(dict, []any{}), "python error indexing: TypeError: unhashable type: 'list'"},
		{index(tuple, 5), "python error indexing: IndexError: tuple index out of range"},
		{index(p.module, 0), "python error indexing: TypeError: 'module' object is not subscriptable"},
		{func() error { return p.SetIndex(bg, tuple, 0, 1) }, "python error setting index: TypeError: 'tuple' object does not support item assignment"},
		{attr(Handle{ID: 999999}, "x"), "python error reading x: the object is not there any more"},
	} {
		if err := test.do(); err == nil || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
	var raised *Error
	if _, err := p.try(bg, "key"); !errors.As(err, &raised) || raised.Exception != "KeyError" || raised.Text != "'k'" || raised.Doing != "calling key" {
		t.Errorf("error %#v", err)
	}
	if got := p.call("typ", 1); got != "int:1" {
		t.Errorf("after all that a call gives %v", got)
	}
}

func TestExit(t *testing.T) {
	p := start(t, helper)
	for _, test := range []struct {
		args []Value
		want ExitError
	}{
		{nil, ExitError{"calling leave", 0, ""}}, {[]Value{0}, ExitError{"calling leave", 0, ""}}, {[]Value{7}, ExitError{"calling leave", 7, ""}}, {[]Value{-1}, ExitError{"calling leave", 255, ""}},
		{[]Value{true}, ExitError{"calling leave", 1, ""}}, {[]Value{"bye"}, ExitError{"calling leave", 1, "bye"}}, {[]Value{[]any{1}}, ExitError{"calling leave", 1, "[1]"}},
	} {
		var exit *ExitError
		if _, err := p.try(bg, "leave", test.args...); !errors.As(err, &exit) || *exit != test.want {
			t.Errorf("leave(%v): %#v, want %+v", test.args, err, test.want)
		}
	}
}

func TestImport(t *testing.T) {
	p := start(t, helper)
	for name, code := range map[string]string{"badsyntax": "def (\n", "raises": "raise RuntimeError('at\\nimport')\n", "exits": "import sys; sys.exit(4)\n", "imperr": "from os import nosuchthing\n", "depmiss": "import nosuchdep\n"} {
		write(t, filepath.Join(p.cmd.Dir, name+".py"), code)
	}
	for name, want := range map[string]string{
		"nosuchmod": "python module not found: 'nosuchmod' (No module named 'nosuchmod')",
		"a b":       "python module not found: 'a b' (No module named 'a b')",
		"os.nope":   "python module not found: 'os.nope' (No module named 'os.nope'; 'os' is not a package)",
		"depmiss":   "python module not found: 'depmiss' (No module named 'nosuchdep')",
		"imperr":    "python module not found: 'imperr' (cannot import name 'nosuchthing' from 'os' ",
		"":          "python module not found: '' (the name must be absolute)",
		".rel":      "python module not found: '.rel' (the name must be absolute)",
		"badsyntax": "python error importing badsyntax: SyntaxError: invalid syntax (badsyntax.py, line 1)",
		"raises":    "python error importing raises: RuntimeError: at\nimport",
		"exits":     "python error importing exits: SystemExit: 4",
	} {
		if _, err := p.Import(bg, name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	module, err := p.Import(bg, "os.path")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Attr(bg, module.(Handle), "nope"); err == nil || err.Error() != "module 'os.path' has no attribute 'nope'" {
		t.Errorf("error %v", err)
	}
	again, err := p.Import(bg, "helper")
	if err != nil {
		t.Fatal(err)
	}
	if same, err := p.Equal(bg, again, p.module); !same || err != nil {
		t.Errorf("imported again it is another module: %v", err)
	}
	if got := p.out.take(); got != "loading\n" {
		t.Errorf("the module was loaded more than once: %q", got)
	}
}

func TestBigResults(t *testing.T) {
	p := start(t, helper)
	if got := p.call("huge", 5<<20).(string); len(got) != 5<<20 {
		t.Errorf("%d characters", len(got))
	}
	if got := p.call("items", 200_000).([]any); len(got) != 200_000 || got[199_999] != int64(199_999) {
		t.Errorf("%d items", len(got))
	}
	if got := p.call("ident", strings.Repeat("y", 5<<20)).(string); len(got) != 5<<20 {
		t.Errorf("%d characters came back", len(got))
	}
}

func TestRelease(t *testing.T) {
	p := start(t, `
import gc
alive = 0
class Thing:
    def __init__(self): global alive; alive += 1
    def __del__(self): global alive; alive -= 1
def count(): gc.collect(); return alive
`)
	var things []Handle
	for range 5 {
		things = append(things, p.call("Thing").(Handle))
	}
	if got := p.call("count"); got != int64(5) {
		t.Errorf("%v things live", got)
	}
	p.Release(things[:3]...)
	p.Release(Handle{ID: 12345})
	if got := p.call("count"); got != int64(2) {
		t.Errorf("%v things live after three were released", got)
	}
	if _, err := p.Str(bg, things[0]); err == nil || err.Error() != "python error printing Thing: the object is not there any more" {
		t.Errorf("error %v", err)
	}
	if _, err := p.Call(bg, p.get("count").(Handle), []Value{things[1]}); err == nil || err.Error() != "python error calling count: the object is not there any more" {
		t.Errorf("error %v", err)
	}
}

func TestManyGoroutines(t *testing.T) {
	p := start(t, helper)
	ident := p.get("ident").(Handle)
	done := make(chan error)
	for w := range 8 {
		go func() {
			for i := range 50 {
				want := fmt.Sprint(w, i)
				if got, err := p.Call(bg, ident, []Value{want}); got != want || err != nil {
					done <- fmt.Errorf("%s comes back as %v, %w", want, got, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	p, err := Start(bg, Options{})
	if err != nil {
		b.Skip(err)
	}
	defer func() { _ = p.Close() }()
	math, err := p.Import(bg, "math")
	if err != nil {
		b.Fatal(err)
	}
	sqrt, err := p.Attr(bg, math.(Handle), "sqrt")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	for b.Loop() {
		if _, err := p.Call(ctx, sqrt.(Handle), []Value{2.0}); err != nil {
			b.Fatal(err)
		}
	}
}
