package reftest

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// A value is one of *big.Int, float64, bool, string, null, *array, *dict,
// *function, *builtin, *agent, *actionDecl, *action, *tool and *caught.
type value any

type null struct{}

type array struct{ elems []value }

type dict struct {
	keys []string
	vals map[string]value
}

func newDict() *dict { return &dict{vals: map[string]value{}} }

func (d *dict) set(k string, v value) {
	if _, ok := d.vals[k]; !ok {
		d.keys = append(d.keys, k)
	}
	d.vals[k] = v
}

func integer(n int) value { return big.NewInt(int64(n)) }

func typeName(v value) string {
	switch v.(type) {
	case *big.Int:
		return "Int"
	case float64:
		return "Float"
	case bool:
		return "Bool"
	case string:
		return "String"
	case null:
		return "Nil"
	case *array:
		return "Array"
	case *dict:
		return "Map"
	case *function, *builtin:
		return "Function"
	case *agent:
		return "Agent"
	case *actionDecl, *action:
		return "Action"
	case *tool:
		return "Tool"
	case *caught:
		return "Error"
	}
	panic(fmt.Sprintf("no type for %T", v))
}

func truthy(v value) bool {
	switch v := v.(type) {
	case *big.Int:
		return v.Sign() != 0
	case float64:
		return v != 0
	case bool:
		return v
	case string:
		return v != ""
	case null:
		return false
	case *array:
		return len(v.elems) > 0
	case *dict:
		return len(v.keys) > 0
	}
	return true
}

// show gives the text that print shows.
func (m *machine) show(v value) string {
	m.spend(1)
	switch v := v.(type) {
	case *big.Int:
		return v.String()
	case float64:
		return showFloat(v)
	case bool:
		return strconv.FormatBool(v)
	case string:
		return v
	case null:
		return "nil"
	case *array:
		var parts []string
		m.nested(func() {
			for _, e := range v.elems {
				parts = append(parts, m.show(e))
			}
		})
		return "[" + strings.Join(parts, ", ") + "]"
	case *dict:
		var parts []string
		m.nested(func() {
			for _, k := range v.keys {
				parts = append(parts, k+": "+m.show(v.vals[k]))
			}
		})
		return "{" + strings.Join(parts, ", ") + "}"
	case *function:
		return "<fn " + v.name + ">"
	case *builtin:
		return "<builtin " + v.name + ">"
	case *agent:
		if v.status == "paused" && v.reason != (null{}) {
			return "<agent " + v.name + " status=paused (" + m.show(v.reason) + ")>"
		}
		return "<agent " + v.name + " status=" + v.status + ">"
	case *actionDecl:
		return "<" + v.kind() + " action " + v.decl.Name + ">"
	case *action:
		return "<action " + v.of.decl.Name + " (" + v.of.kind() + ") state=" + v.state + ">"
	case *tool:
		return "<tool " + v.decl.Name + ">"
	case *caught:
		return v.f.msg
	}
	panic(fmt.Sprintf("no text for %T", v))
}

// showFloat writes a Float as Python's repr does.
func showFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	digits := strconv.FormatFloat(f, 'e', -1, 64)
	mant, exp, _ := strings.Cut(digits, "e")
	if n, _ := strconv.Atoi(exp); n >= -4 && n < 16 {
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	return mant + "e" + exp
}

func (m *machine) equal(a, b value) bool {
	m.spend(1)
	switch x := a.(type) {
	case *big.Int, float64:
		return isNumber(b) && compareNumbers(a, b) == 0
	case *array:
		y, ok := b.(*array)
		if !ok || len(x.elems) != len(y.elems) {
			return false
		}
		if x == y {
			return true
		}
		same := true
		m.nested(func() {
			for i := range x.elems {
				same = same && m.equal(x.elems[i], y.elems[i])
			}
		})
		return same
	case *dict:
		y, ok := b.(*dict)
		if !ok || len(x.keys) != len(y.keys) {
			return false
		}
		same := true
		m.nested(func() {
			for _, k := range x.keys {
				v, has := y.vals[k]
				same = same && has && m.equal(x.vals[k], v)
			}
		})
		return same
	}
	return a == b
}

func isNumber(v value) bool {
	switch v.(type) {
	case *big.Int, float64:
		return true
	}
	return false
}

// unordered is what compareNumbers gives where one is not a number.
const unordered = 2

func compareNumbers(a, b value) int {
	x, y := exactly(a), exactly(b)
	if x == nil || y == nil {
		return unordered
	}
	return x.Cmp(y)
}

// exactly gives a number without rounding, nil for nan.
func exactly(v value) *big.Float {
	if n, ok := v.(*big.Int); ok {
		return new(big.Float).SetPrec(4096).SetInt(n)
	}
	f := v.(float64)
	if math.IsNaN(f) {
		return nil
	}
	return new(big.Float).SetPrec(4096).SetFloat64(f)
}

func toFloat(v value) float64 {
	if n, ok := v.(*big.Int); ok {
		f, _ := new(big.Float).SetInt(n).Float64()
		return f
	}
	return v.(float64)
}

// arithmetic is a op b for one of + - * / %.
func (m *machine) arithmetic(op string, a, b value) value {
	if op == "+" {
		if v := m.join(a, b); v != nil {
			return v
		}
	}
	if !isNumber(a) || !isNumber(b) {
		m.fail("runtime", "'%s' requires numeric operands, got %s and %s", op, typeName(a), typeName(b))
	}
	x, xInt := a.(*big.Int)
	y, yInt := b.(*big.Int)
	if xInt && yInt {
		return m.limitInt(m.intArithmetic(op, x, y))
	}
	return m.floatArithmetic(op, toFloat(a), toFloat(b))
}

func (m *machine) join(a, b value) value {
	s, sok := a.(string)
	t, tok := b.(string)
	if sok && tok {
		m.spend(len(s) + len(t))
		return s + t
	}
	if sok || tok {
		m.fail("runtime", "'+' requires both operands to be String (got %s and %s); use str() to convert", typeName(a), typeName(b))
	}
	x, xok := a.(*array)
	y, yok := b.(*array)
	if xok && yok {
		m.spend(len(x.elems) + len(y.elems))
		return &array{slices.Concat(x.elems, y.elems)}
	}
	return nil
}

func (m *machine) intArithmetic(op string, x, y *big.Int) value {
	z := new(big.Int)
	switch op {
	case "+":
		return z.Add(x, y)
	case "-":
		return z.Sub(x, y)
	case "*":
		return z.Mul(x, y)
	}
	if y.Sign() == 0 {
		m.fail("runtime", "%s by zero", map[string]string{"/": "division", "%": "modulo"}[op])
	}
	if op == "/" {
		f, _ := new(big.Rat).SetFrac(x, y).Float64()
		if f == 0 && y.Sign() < 0 {
			return math.Copysign(0, -1) // as Python has it
		}
		return f
	}
	z.Rem(x, y)
	if z.Sign() != 0 && z.Sign() != y.Sign() {
		z.Add(z, y)
	}
	return z
}

// limitInt discards programs whose numbers grow without bound.
func (m *machine) limitInt(v value) value {
	if n, ok := v.(*big.Int); ok && n.BitLen() > 800 {
		panic(discard{})
	}
	return v
}

func (m *machine) floatArithmetic(op string, x, y float64) value {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	if y == 0 {
		m.fail("runtime", "%s by zero", map[string]string{"/": "division", "%": "modulo"}[op])
	}
	if op == "/" {
		return x / y
	}
	r := math.Mod(x, y)
	switch {
	case r == 0:
		return math.Copysign(0, y)
	case (r < 0) != (y < 0):
		return r + y
	}
	return r
}

func (m *machine) compare(op string, a, b value) bool {
	s, sok := a.(string)
	t, tok := b.(string)
	c := 0
	switch {
	case sok && tok:
		c = strings.Compare(s, t) // UTF-8 sorts as code points do
	case isNumber(a) && isNumber(b):
		c = compareNumbers(a, b)
	default:
		m.fail("runtime", "'%s' requires numeric operands, got %s and %s", op, typeName(a), typeName(b))
	}
	if c == unordered {
		return false
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}
