package eval

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/internal/bignum"
)

// maxIntBits bounds the size of an Int: a loop that squares would otherwise
// take all memory and time (safety.md 4).
const maxIntBits = bignum.MaxBits

func addOv(a, b int64) (int64, bool) { s := a + b; return s, (s^a)&(s^b) >= 0 }
func subOv(a, b int64) (int64, bool) { s := a - b; return s, (a^b)&(a^s) >= 0 }

func mulOv(a, b int64) (int64, bool) {
	if int64(int32(a)) == a && int64(int32(b)) == b {
		return a * b, true
	}
	return mulOvSlow(a, b)
}

func mulOvSlow(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(absU(a), absU(b))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(lo), true
	}
	return int64(lo), true
}

func absU(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// modInt is the remainder with the sign of b; b is not 0.
func modInt(a, b int64) int64 {
	if uint64(a|b)>>32 == 0 {
		return int64(uint32(a) % uint32(b))
	}
	if b == -1 {
		return 0
	}
	r := a % b
	if r != 0 && (r^b) < 0 {
		r += b
	}
	return r
}

// floorDivInt is the quotient rounded down; b is not 0. ok is false where it
// does not fit.
func floorDivInt(a, b int64) (q int64, ok bool) {
	if uint64(a|b)>>32 == 0 {
		return int64(uint32(a) / uint32(b)), true
	}
	if a == math.MinInt64 && b == -1 {
		return 0, false
	}
	q = a / b
	if (a^b) < 0 && q*b != a {
		q--
	}
	return q, true
}

func modFloat(x, y float64) float64 {
	r := math.Mod(x, y)
	if r == 0 {
		return math.Copysign(0, y)
	}
	if (r < 0) != (y < 0) {
		r += y
	}
	return r
}

// normBig makes a value of b, which must not be changed afterwards.
func normBig(b *big.Int) Value {
	r := &bigInt{hdr: hdr{KBig}}
	r.b = *b
	return r.norm()
}

// norm gives r as a value: an Int that fits 64 bits is never a big one.
func (r *bigInt) norm() Value {
	if r.b.IsInt64() {
		return mkInt(r.b.Int64())
	}
	return mkBigInt(r)
}

func bigOf(v Value) *big.Int {
	if isInt(v) {
		return big.NewInt(toInt(v))
	}
	return toBig(v)
}

func isIntish(v Value) bool { return isInt(v) || kindOf(v) == KBig }

// numF gives a number as a float64; ok is false where v is no number. An Int
// too big for a float gives an infinity.
func numF(v Value) (float64, bool) {
	switch kindOf(v) {
	case KInt:
		return float64(toInt(v)), true
	case KFloat:
		return toFloat(v), true
	case KBig:
		f, _ := new(big.Float).SetInt(toBig(v)).Float64()
		return f, true
	}
	return 0, false
}

// floatOf is numF for arithmetic, where a too big Int is an error.
func floatOf(v Value) (float64, error) {
	f, _ := numF(v)
	if math.IsInf(f, 0) && kindOf(v) == KBig {
		return 0, diag.New(diag.Runtime, "integer too large to convert to Float")
	}
	return f, nil
}

// Arith applies a binary arithmetic operator as Sense does.
func Arith(op ast.Op, a, b Value) (Value, error) {
	if op == ast.OpAdd {
		if v, done, err := addOther(a, b); done {
			return v, err
		}
	}
	if isIntish(a) && isIntish(b) {
		return arithInt(op, a, b)
	}
	if !isNumber(a) || !isNumber(b) {
		return Value{}, diag.New(diag.Runtime, "'%s' requires numeric operands, got %s and %s", op, typeName(a), typeName(b))
	}
	x, err := floatOf(a)
	if err != nil {
		return Value{}, err
	}
	y, err := floatOf(b)
	if err != nil {
		return Value{}, err
	}
	return arithFloat(op, x, y)
}

func isNumber(v Value) bool { k := kindOf(v); return k == KInt || k == KFloat || k == KBig }

// addOther handles + on Strings and Arrays; done is false for numbers.
func addOther(a, b Value) (v Value, done bool, err error) {
	ka, kb := kindOf(a), kindOf(b)
	switch {
	case ka == KString && kb == KString:
		if toStr(a).s == "" {
			return b, true, nil
		}
		return concat(toStr(a), toStr(b).s, ""), true, nil
	case ka == KString || kb == KString:
		return Value{}, true, diag.New(diag.Runtime, "'+' requires both operands to be String (got %s and %s); use str() to convert", typeName(a), typeName(b))
	case ka == KArray && kb == KArray:
		return mkArr(joined(toArr(a), toArr(b))), true, nil
	}
	return Value{}, false, nil
}

func arithInt(op ast.Op, a, b Value) (Value, error) {
	if (op == ast.OpDiv || op == ast.OpMod || op == ast.OpFloorDiv) && isInt(b) && toInt(b) == 0 {
		return Value{}, byZero(op)
	}
	if isInt(a) && isInt(b) {
		if n, ok := arithSmall(op, toInt(a), toInt(b)); ok {
			return mkInt(n), nil
		}
	}
	switch op {
	case ast.OpDiv:
		return divInt(a, b)
	case ast.OpMod:
		_, m := floorDivMod(bigOf(a), bigOf(b))
		return normBig(m), nil
	case ast.OpFloorDiv:
		q, _ := floorDivMod(bigOf(a), bigOf(b))
		return normBig(q), nil
	case ast.OpPow:
		return powInt(a, b)
	}
	return arithBig(op, bigOf(a), bigOf(b))
}

// arithSmall is what needs no more than 64 bits. x[i] += 1 in a loop: half the
// time of big numbers.
func arithSmall(op ast.Op, a, b int64) (n int64, ok bool) {
	switch op {
	case ast.OpAdd:
		return addOv(a, b)
	case ast.OpSub:
		return subOv(a, b)
	case ast.OpMul:
		return mulOv(a, b)
	case ast.OpMod:
		return modInt(a, b), true
	case ast.OpFloorDiv:
		return floorDivInt(a, b)
	case ast.OpPow:
		return powSmall(a, b)
	}
	return 0, false
}

// powSmall is a to the power b; ok is false where b is negative, or the result
// or a square on the way does not fit.
func powSmall(a, b int64) (n int64, ok bool) {
	if b < 0 {
		return 0, false
	}
	for n = 1; ; {
		if b&1 == 1 {
			if n, ok = mulOv(n, a); !ok {
				return 0, false
			}
		}
		if b >>= 1; b == 0 {
			return n, true
		}
		if a, ok = mulOv(a, a); !ok {
			return 0, false
		}
	}
}

func arithBig(op ast.Op, x, y *big.Int) (Value, error) {
	r := &bigInt{hdr: hdr{KBig}}
	switch op {
	case ast.OpAdd:
		r.b.Add(x, y)
	case ast.OpSub:
		r.b.Sub(x, y)
	default:
		if x.BitLen()+y.BitLen() > maxIntBits {
			return Value{}, tooBig()
		}
		r.b.Mul(x, y)
	}
	return r.norm(), nil
}

func tooBig() error {
	return diag.New(diag.Runtime, "integer too large (limit %d bits)", maxIntBits)
}

func byZero(op ast.Op) error {
	if op == ast.OpMod {
		return diag.New(diag.Runtime, "modulo by zero")
	}
	return diag.New(diag.Runtime, "division by zero")
}

// divInt divides two Ints, rounded correctly however big they are.
func divInt(a, b Value) (Value, error) {
	if isInt(a) && isInt(b) && absU(toInt(a)) <= 1<<53 && absU(toInt(b)) <= 1<<53 {
		return mkFloat(float64(toInt(a)) / float64(toInt(b))), nil
	}
	if isInt(a) && toInt(a) == 0 {
		return mkFloat(math.Copysign(0, float64(bigOf(b).Sign()))), nil
	}
	f := quotient(bigOf(a), bigOf(b))
	if math.IsInf(f, 0) {
		return Value{}, diag.New(diag.Runtime, "integer too large to convert to Float")
	}
	return mkFloat(f), nil
}

// quotient gives x / y, rounded correctly: the first bits of it and, as one bit
// more, whether anything follows. A fraction in its lowest terms, as math/big
// has it, would take minutes for long numbers.
func quotient(x, y *big.Int) float64 {
	const enough = 1100 // more bits than the smallest float64 takes after its point
	shift := max(0, enough+y.BitLen()-x.BitLen())
	if x.BitLen()-y.BitLen() > enough {
		return math.Inf(x.Sign() * y.Sign())
	}
	if y.BitLen()-x.BitLen() > enough {
		return math.Copysign(0, float64(x.Sign()*y.Sign()))
	}
	q, rest := new(big.Int).QuoRem(new(big.Int).Lsh(x, uint(shift)), y, new(big.Int))
	q.Lsh(q, 1)
	if rest.Sign() != 0 {
		q.Add(q, big.NewInt(int64(x.Sign()*y.Sign())))
	}
	f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(q), -shift-1).Float64()
	return f
}

func floorDivMod(a, b *big.Int) (q, m *big.Int) {
	q, m = new(big.Int).QuoRem(a, b, new(big.Int))
	if m.Sign() != 0 && (m.Sign() < 0) != (b.Sign() < 0) {
		q.Sub(q, big.NewInt(1))
		m.Add(m, b)
	}
	return q, m
}

func powInt(a, b Value) (Value, error) {
	x, y := bigOf(a), bigOf(b)
	if y.Sign() < 0 {
		if x.Sign() == 0 {
			return Value{}, byZero(ast.OpDiv)
		}
		fx, err := floatOf(a)
		if err != nil {
			return Value{}, err
		}
		fy, _ := numF(b)
		return mkFloat(math.Pow(fx, fy)), nil
	}
	if x.BitLen() > 1 && (!y.IsInt64() || float64(x.BitLen()-1)*float64(y.Int64()) > maxIntBits) {
		return Value{}, tooBig()
	}
	if x.BitLen() <= 1 && !y.IsInt64() { // 0, 1 or -1
		y = new(big.Int).And(y, big.NewInt(1))
		y.Add(y, big.NewInt(2))
	}
	return normBig(new(big.Int).Exp(x, y, nil)), nil
}

func arithFloat(op ast.Op, x, y float64) (Value, error) {
	switch op {
	case ast.OpAdd:
		return mkFloat(x + y), nil
	case ast.OpSub:
		return mkFloat(x - y), nil
	case ast.OpMul:
		return mkFloat(x * y), nil
	case ast.OpPow:
		return powFloat(x, y)
	}
	if y == 0 {
		return Value{}, byZero(op)
	}
	switch op {
	case ast.OpDiv:
		return mkFloat(x / y), nil
	case ast.OpFloorDiv:
		return mkFloat(floorDivFloat(x, y)), nil
	}
	return mkFloat(modFloat(x, y)), nil
}

// floorDivFloat is // on Floats: exact where x / y would round up to the next
// whole number.
func floorDivFloat(x, y float64) float64 {
	m := modFloat(x, y)
	d := (x - m) / y
	if d == 0 {
		return math.Copysign(0, x/y)
	}
	f := math.Floor(d)
	if d-f > 0.5 {
		f++
	}
	return f
}

func powFloat(x, y float64) (Value, error) {
	if x == 0 && y < 0 {
		return Value{}, byZero(ast.OpDiv)
	}
	r := math.Pow(x, y)
	if math.IsNaN(r) && !math.IsNaN(x) && !math.IsNaN(y) {
		return Value{}, diag.New(diag.Runtime, "'**' of a negative number with a fraction has no real value")
	}
	return mkFloat(r), nil
}

// negate is unary minus.
func negate(v Value) (Value, error) {
	switch kindOf(v) {
	case KInt:
		if toInt(v) != math.MinInt64 {
			return mkInt(-toInt(v)), nil
		}
		return normBig(new(big.Int).Neg(bigOf(v))), nil
	case KBig:
		return normBig(new(big.Int).Neg(toBig(v))), nil
	case KFloat:
		return mkFloat(-toFloat(v)), nil
	}
	return Value{}, diag.New(diag.Runtime, "unary '-' requires a number, got %s", typeName(v))
}

// Compare applies < <= > >= as Sense does.
func Compare(op ast.Op, a, b Value) (bool, error) {
	if isStr(a) && isStr(b) {
		return ordered(op, compareText(toStr(a).s, toStr(b).s)), nil
	}
	if !isNumber(a) || !isNumber(b) {
		return false, diag.New(diag.Runtime, "'%s' requires numeric operands, got %s and %s", op, typeName(a), typeName(b))
	}
	c, ok := compareNum(a, b)
	return ok && ordered(op, c), nil
}

func ordered(op ast.Op, c int) bool {
	switch op {
	case ast.OpLt:
		return c < 0
	case ast.OpLe:
		return c <= 0
	case ast.OpGt:
		return c > 0
	}
	return c >= 0
}

// compareText orders by code point, which for UTF-8 is the order of bytes.
func compareText(a, b string) int { return strings.Compare(a, b) }

// compareNum compares two numbers by their exact values; ok is false where one
// is not a number (nan).
func compareNum(a, b Value) (c int, ok bool) {
	switch {
	case isInt(a) && isInt(b):
		return cmp.Compare(toInt(a), toInt(b)), true
	case isIntish(a) && isIntish(b):
		return bigOf(a).Cmp(bigOf(b)), true
	case isFloat(a) && isFloat(b):
		return compareFloat(toFloat(a), toFloat(b))
	case isFloat(b):
		return compareIntFloat(a, toFloat(b))
	}
	c, ok = compareIntFloat(b, toFloat(a))
	return -c, ok
}

func compareFloat(x, y float64) (int, bool) {
	switch {
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, x == y
}

func compareIntFloat(a Value, f float64) (int, bool) {
	if math.IsNaN(f) {
		return 0, false
	}
	if math.IsInf(f, 0) {
		return -int(math.Copysign(1, f)), true
	}
	if isInt(a) && absU(toInt(a)) <= 1<<53 {
		return compareFloat(float64(toInt(a)), f)
	}
	return new(big.Rat).SetInt(bigOf(a)).Cmp(new(big.Rat).SetFloat64(f)), true
}

// Order compares two numbers or two Strings: negative, 0 or positive. Values
// that have no order are an error; nan comes after all numbers.
func Order(a, b Value) (int, error) {
	if isStr(a) && isStr(b) {
		return compareText(toStr(a).s, toStr(b).s), nil
	}
	if !isNumber(a) || !isNumber(b) {
		return 0, diag.New(diag.Runtime, "'<' requires numeric operands, got %s and %s", typeName(a), typeName(b))
	}
	if c, ok := compareNum(a, b); ok {
		return c, nil
	}
	return nanRank(a) - nanRank(b), nil
}

func nanRank(v Value) int {
	if f, _ := numF(v); math.IsNaN(f) {
		return 1
	}
	return 0
}
