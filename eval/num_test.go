package eval_test

import (
	"bufio"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/eval"
)

// rows gives the lines of a file of testdata that are no comments.
func rows(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	for s.Scan() {
		if !strings.HasPrefix(s.Text(), "#") {
			out = append(out, s.Text())
		}
	}
	if len(out) < 30 {
		t.Fatalf("%s has %d rows only", path, len(out))
	}
	return out
}

func TestFloatText(t *testing.T) {
	for _, row := range rows(t, "testdata/floats.txt") {
		hex, want, _ := strings.Cut(row, " ")
		bits, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		f := math.Float64frombits(bits)
		if got := eval.FormatFloat(f); got != want {
			t.Errorf("%s: %s, want %s", hex, got, want)
		}
		if back, err := strconv.ParseFloat(want, 64); back != f && f == f || err != nil {
			t.Errorf("%s reads back as %v", want, back)
		}
	}
}

var ops = map[string]ast.Op{"+": ast.OpAdd, "-": ast.OpSub, "*": ast.OpMul, "/": ast.OpDiv, "%": ast.OpMod}

// numberOf makes a value of a number's text.
func numberOf(t *testing.T, s string) eval.Value {
	t.Helper()
	if b, ok := new(big.Int).SetString(s, 10); ok {
		return eval.BigInt(b)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return eval.Float(f)
}

// TestArithmetic checks results that Python computed, first by the functions
// and then, in one program, by the closures of every shape of operands.
func TestArithmetic(t *testing.T) {
	var src strings.Builder
	var want []string
	src.WriteString("def slots(a, b):\n    return [a + b, a - b, a * b]\n")
	for _, row := range rows(t, "testdata/arith.txt") {
		f := strings.Fields(row)
		a, op, b, result := f[0], f[1], f[2], f[3]
		got, err := eval.Arith(ops[op], numberOf(t, a), numberOf(t, b))
		if err != nil || got.String() != result {
			t.Errorf("%s %s %s: %v %v, want %s", a, op, b, got, err, result)
		}
		if strings.ContainsAny(a+b, "eE") || strings.Contains(a+b, "inf") {
			continue
		}
		if len(want) < 1500 {
			fmt.Fprintf(&src, "a = %s\nb = %s\ndef f(x, y):\n    z = x %s y\n    w = x %s %s\n    return [z, w, %s %s y, %s %s %s]\nprint(f(a, b) == [a %s b, %s, %s, a %s b], a %s b)\n",
				a, b, op, op, b, a, op, a, op, b, op, result2(result), result2(result), op, op)
			want = append(want, "true "+result)
		}
	}
	out, err := exec(t, src.String())
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: %s, want %s", i, got[i], want[i])
		}
	}
}

// result2 writes a result as an expression of the language, which has no
// exponents everywhere.
func result2(s string) string {
	if strings.ContainsAny(s, "en") {
		return "float(\"" + s + "\")"
	}
	return s
}

func TestArithmeticErrors(t *testing.T) {
	const small = "x = 10\nfor i in range(9):\n    x = x * x\n"
	runChecks(t, []check{
		{"division by zero", "1 / 0", "", "[line 1] division by zero"},
		{"of floats", "1.5 / 0.0", "", "[line 1] division by zero"},
		{"of a big one", "100000000000000000000 / 0", "", "[line 1] division by zero"},
		{"modulo", "a = 0\n7 % a", "", "[line 2] modulo by zero"},
		{"modulo of floats", "7.5 % 0", "", "[line 1] modulo by zero"},
		{"modulo zero in place", "def f(a):\n    return a % 0\nf(3)", "", "[line 2] modulo by zero"},
		{"text and number", `"a" + 1`, "", "[line 1] '+' requires both operands to be String (got String and Int); use str() to convert"},
		{"number and text", `1 + "a"`, "", "[line 1] '+' requires both operands to be String (got Int and String); use str() to convert"},
		{"array and text", `[1] + "a"`, "", "[line 1] '+' requires both operands to be String (got Array and String); use str() to convert"},
		{"array and number", `[1] + 1`, "", "[line 1] '+' requires numeric operands, got Array and Int"},
		{"nil", `nil + nil`, "", "[line 1] '+' requires numeric operands, got Nil and Nil"},
		{"bools", `true + 1`, "", "[line 1] '+' requires numeric operands, got Bool and Int"},
		{"minus", `"a" - "b"`, "", "[line 1] '-' requires numeric operands, got String and String"},
		{"times", `"a" * 3`, "", "[line 1] '*' requires numeric operands, got String and Int"},
		{"times arrays", `3 * [1]`, "", "[line 1] '*' requires numeric operands, got Int and Array"},
		{"divide", `print / 2`, "", "[line 1] '/' requires numeric operands, got Function and Int"},
		{"remainder", `"%d" % 3`, "", "[line 1] '%' requires numeric operands, got String and Int"},
		{"less", `1 < "a"`, "", "[line 1] '<' requires numeric operands, got Int and String"},
		{"less or equal", `[1] <= [2]`, "", "[line 1] '<=' requires numeric operands, got Array and Array"},
		{"greater", `nil > 1`, "", "[line 1] '>' requires numeric operands, got Nil and Int"},
		{"greater or equal", `true >= false`, "", "[line 1] '>=' requires numeric operands, got Bool and Bool"},
		{"in a condition", "if 1 < nil:\n    print(1)", "", "[line 1] '<' requires numeric operands, got Int and Nil"},
		{"slots", "def f(a, b):\n    if a < b:\n        return 1\nf(1, nil)", "", "[line 2] '<' requires numeric operands, got Int and Nil"},
		{"negation", `-"a"`, "", "[line 1] unary '-' requires a number, got String"},
		{"negation of a bool", `-true`, "", "[line 1] unary '-' requires a number, got Bool"},
		{"too large for a float", small + "x * 1.5", "", "[line 4] integer too large to convert to Float"},
		{"too large a quotient", small + "x / 3", "", "[line 4] integer too large to convert to Float"},
		{"quotient of two", small + "print((x * 3) / x, x / (x * 2))", "3.0 0.5", ""},
		{"float()", small + "float(x)", "", "[line 4] integer too large to convert to Float"},
		{"too large", "x = 10\nfor i in range(30):\n    x = x * x", "", "[line 3] integer too large (limit 10000000 bits)"},
	})
}

func TestOverflow(t *testing.T) {
	runChecks(t, []check{
		{"at 64 bits", `
max = 9223372036854775807
min = -9223372036854775808
print(max + 1, min - 1, max * 2, min * -1, -min, max - min, min % -1, min / -1)
print(max + 1 - 1 == max, (max + 1) % 10, type_of(max + 1), max * max)`,
			"9223372036854775808 -9223372036854775809 18446744073709551614 9223372036854775808 9223372036854775808 18446744073709551615 0 9.223372036854776e+18\n" +
				"true 8 Int 85070591730234615847396907784232501249", ""},
		{"counting over it", `
n = 9223372036854775800
for i in range(10):
    n = n + 1
print(n)
def f(x):
    while x < 9223372036854775810:
        x = x + 1
    return x
print(f(9223372036854775800))`, "9223372036854775810\n9223372036854775810", ""},
		{"as an index", `[1][9223372036854775808]`, "", "[line 1] index 9223372036854775808 out of bounds"},
		{"as a small index", `"a"[-9223372036854775809]`, "", "[line 1] index -9223372036854775809 out of bounds"},
		{"floats", `print(1e3)`, "1000.0", ""},
		{"infinity", `
x = 1.5
for i in range(2000):
    x = x * 10.0
print(x, -x, x - x, x > 0 - x, x == x)`, "inf -inf nan true true", ""},
		{"signs of remainders", `print(7 % 3, -7 % 3, 7 % -3, -7 % -3, 7.5 % 2, -7.5 % 2, 7.5 % -2, 0.0 % -3.0, -6 % 3)`,
			"1 2 -2 -1 1.5 0.5 -0.5 -0.0 0", ""},
		{"large and negative remainders", `print(-100000000000000000001 % 7, 100000000000000000001 % -7, 5 % 100000000000000000000, -5 % 100000000000000000000)`,
			"4 -4 5 99999999999999999995", ""},
		{"comparisons", `print(1 < 1.5, 9007199254740993 > 9007199254740992.0, 100000000000000000000 > 1.5, 1.5 >= 100000000000000000000, "a" < "b", "é" > "z", "" < "a", "ab" <= "ab")`,
			"true true true false true true true true", ""},
	})
}

func TestRanges(t *testing.T) {
	runChecks(t, []check{
		{"lengths", `print(range(3), range(0), range(-2), range(1, 4), range(4, 1), range(5, 0, -2), range(0, 10, 4), range(3, 3), range(1, 2, 100))`,
			"[0, 1, 2] [] [] [1, 2, 3] [] [5, 3, 1] [0, 4, 8] [] [1]", ""},
		{"beyond 64 bits", `print(range(9223372036854775806, 9223372036854775809), range(99999999999999999999, 99999999999999999997, -1), range(0, 100000000000000000000, 60000000000000000000))`,
			"[9223372036854775806, 9223372036854775807, 9223372036854775808] [99999999999999999999, 99999999999999999998] [0, 60000000000000000000]", ""},
		{"at the end of 64 bits", `
fs = []
for i in range(9223372036854775805, 9223372036854775807):
    def f():
        return i
    push(fs, f)
print(len(fs), fs[0](), fs[1]())
n = 0
for i in range(9223372036854775805, 9223372036854775807):
    n = n + 1
print(n)
for i in range(99999999999999999999, 100000000000000000001):
    print(i)`, "2 9223372036854775805 9223372036854775806\n2\n99999999999999999999\n100000000000000000000", ""},
		{"too long", `range(1000000000000)`, "", "[line 1] range() would be too long (limit 134217728 elements)"},
		{"much too long", `range(0 - 100000000000000000000, 100000000000000000000)`, "", "[line 1] range() would be too long (limit 134217728 elements)"},
		{"a loop needs no array", "for i in range(1000000000000):\n    break\nprint(i_after())", "", "[line 3] undefined variable 'i_after'"},
		{"no step", `range(1, 2, 0)`, "", "[line 1] range()'s step must not be 0"},
		{"no Int", `range("a")`, "", "[line 1] range() expects Int arguments, got String"},
		{"no Int in a loop", "for i in range(2.0):\n    print(i)", "", "[line 1] range() expects Int arguments, got Float"},
		{"none", `range()`, "", "[line 1] range() expects 1 to 3 arguments"},
		{"four", `range(1, 2, 3, 4)`, "", "[line 1] range() expects 1 to 3 arguments"},
		{"a range of one's own", "def range(n):\n    return [n, n]\nfor i in range(7):\n    print(i)", "7\n7", ""},
		{"a range bound later", `
def loop():
    for i in range(2):
        print(i)
loop()
range = len
loop()`, "0\n1", "[line 2] len() not supported for type Int"},
		{"rebound in its own argument", `
def swap():
    range = str
    return 3
for i in range(swap()):
    print(i)`, "0\n1\n2", ""},
		{"changing the variable", "for i in range(3):\n    i = i + 10\n    print(i)", "10\n11\n12", ""},
	})
}
