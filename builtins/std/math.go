package std

import (
	"math"
	"math/big"

	"github.com/sense-lang/sense/eval"
)

// quickMath has what is asked for most, for one Float; where it gives nothing
// the whole function has to look.
func quickMath(name string) func(x float64) eval.Value {
	switch name {
	case "std.math.sqrt":
		return finite(math.Sqrt)
	case "std.math.sin":
		return finite(math.Sin)
	case "std.math.cos":
		return finite(math.Cos)
	case "std.math.exp":
		return finite(math.Exp)
	case "std.math.floor":
		return whole(math.Floor)
	case "std.math.ceil":
		return whole(math.Ceil)
	case "std.math.trunc":
		return whole(math.Trunc)
	}
	return nil
}

func finite(f func(float64) float64) func(x float64) eval.Value {
	return func(x float64) eval.Value {
		if y := f(x); y-y == 0 {
			return eval.Float(y)
		}
		return eval.Value{}
	}
}

func whole(f func(float64) float64) func(x float64) eval.Value {
	return func(x float64) eval.Value {
		if y := f(x); math.Abs(y) < 1<<62 {
			return eval.Int(int64(y))
		}
		return eval.Value{}
	}
}

func mathValues() map[string]eval.Value {
	return map[string]eval.Value{
		"pi": eval.Float(math.Pi), "e": eval.Float(math.E), "tau": eval.Float(2 * math.Pi),
		"inf": eval.Float(math.Inf(1)), "nan": eval.Float(math.NaN()),
	}
}

func mathMembers(*Library) []member {
	ms := []member{
		{"floor(x)", "the nearest Int at or below x", toInt(math.Floor)},
		{"ceil(x)", "the nearest Int at or above x", toInt(math.Ceil)},
		{"trunc(x)", "x without its fraction, an Int", toInt(math.Trunc)},
		{"log(x, base?)", "the logarithm of x: the natural one, or that to a base", mathLog},
		{"pow(x, y)", "x to the power y, a Float", mathPow},
		{"atan2(y, x)", "the angle of the point (x, y), in radians", twoFloats(math.Atan2)},
		{"hypot(x, y)", "the length of the vector (x, y)", twoFloats(math.Hypot)},
		{"is_nan(x)", "whether x is not a number", test(math.IsNaN)},
		{"is_inf(x)", "whether x is infinite", test(func(f float64) bool { return math.IsInf(f, 0) })},
		{"gcd(a, b)", "the greatest common divisor of two Ints", mathGCD},
		{"lcm(a, b)", "the least common multiple of two Ints", mathLCM},
		{"isqrt(n)", "the whole part of the square root of an Int, exact", mathIsqrt},
		{"factorial(n)", "the product of the Ints from 1 to n", mathFactorial},
	}
	for _, f := range []struct {
		name, doc string
		fn        func(float64) float64
	}{
		{"sqrt", "the square root of x", math.Sqrt},
		{"exp", "e to the power x", math.Exp},
		{"log2", "the logarithm of x to the base 2", math.Log2},
		{"log10", "the logarithm of x to the base 10", math.Log10},
		{"sin", "the sine of x radians", math.Sin},
		{"cos", "the cosine of x radians", math.Cos},
		{"tan", "the tangent of x radians", math.Tan},
		{"asin", "the angle in radians whose sine is x", math.Asin},
		{"acos", "the angle in radians whose cosine is x", math.Acos},
		{"atan", "the angle in radians whose tangent is x", math.Atan},
		{"sinh", "the hyperbolic sine of x", math.Sinh},
		{"cosh", "the hyperbolic cosine of x", math.Cosh},
		{"tanh", "the hyperbolic tangent of x", math.Tanh},
		{"degrees", "x radians in degrees", func(x float64) float64 { return x * 180 / math.Pi }},
		{"radians", "x degrees in radians", func(x float64) float64 { return x * math.Pi / 180 }},
	} {
		ms = append(ms, member{f.name + "(x)", f.doc, oneFloat(f.fn)})
	}
	return ms
}

// result makes a Float of a function's result. That a number became none says
// that the function is not defined there; that a finite one became infinite,
// that there is a pole, which here is always at 0, or that the result is too
// large.
func (a *args) result(f float64, in ...float64) (eval.Value, error) {
	finite, zero, nan := true, false, false
	for _, x := range in {
		nan = nan || math.IsNaN(x)
		finite = finite && !math.IsNaN(x) && !math.IsInf(x, 0)
		zero = zero || x == 0
	}
	switch {
	case math.IsNaN(f) && !nan, math.IsInf(f, 0) && finite && zero:
		return eval.Value{}, a.fail("not defined for %s", a.shown())
	case math.IsInf(f, 0) && finite:
		return eval.Value{}, a.fail("the result is too large for %s", a.shown())
	}
	return eval.Float(f), nil
}

// shown words the arguments.
func (a *args) shown() string {
	s := a.vals[0].String()
	for _, v := range a.vals[1:] {
		s += ", " + v.String()
	}
	return s
}

func oneFloat(f func(float64) float64) func(a *args) (eval.Value, error) {
	return func(a *args) (eval.Value, error) {
		x, err := a.number(0)
		if err != nil {
			return eval.Value{}, err
		}
		return a.result(f(x), x)
	}
}

func twoFloats(f func(x, y float64) float64) func(a *args) (eval.Value, error) {
	return func(a *args) (eval.Value, error) {
		x, err := a.number(0)
		if err != nil {
			return eval.Value{}, err
		}
		y, err := a.number(1)
		if err != nil {
			return eval.Value{}, err
		}
		return a.result(f(x, y), x, y)
	}
}

func test(f func(float64) bool) func(a *args) (eval.Value, error) {
	return func(a *args) (eval.Value, error) {
		x, err := a.number(0)
		if err != nil {
			return eval.Value{}, err
		}
		return eval.Bool(f(x)), nil
	}
}

// toInt makes an Int of any size of a rounded number; an Int stays itself.
func toInt(f func(float64) float64) func(a *args) (eval.Value, error) {
	return func(a *args) (eval.Value, error) {
		if _, ok := a.vals[0].AsBig(); ok {
			return a.vals[0], nil
		}
		x, err := a.number(0)
		if err != nil {
			return eval.Value{}, err
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return eval.Value{}, a.fail("not defined for %s", a.shown())
		}
		b, _ := big.NewFloat(f(x)).Int(nil)
		return eval.BigInt(b), nil
	}
}

func mathPow(a *args) (eval.Value, error) { return twoFloats(math.Pow)(a) }

func mathLog(a *args) (eval.Value, error) {
	x, err := a.number(0)
	if err != nil {
		return eval.Value{}, err
	}
	if !a.has(1) {
		return a.result(math.Log(x), x)
	}
	base, err := a.number(1)
	if err != nil {
		return eval.Value{}, err
	}
	if x <= 0 || base <= 0 || base == 1 {
		return eval.Value{}, a.fail("not defined for %s", a.shown())
	}
	switch base {
	case 2:
		return eval.Float(math.Log2(x)), nil
	case 10:
		return eval.Float(math.Log10(x)), nil
	}
	return a.result(math.Log(x)/math.Log(base), x, base)
}

// big reads an Int of any size.
func (a *args) big(i int) (*big.Int, error) {
	b, ok := a.vals[i].AsBig()
	if !ok {
		return nil, a.wrong(i, "an Int")
	}
	return b, nil
}

func (a *args) twoBig() (x, y *big.Int, err error) {
	if x, err = a.big(0); err == nil {
		y, err = a.big(1)
	}
	if err == nil && min(x.BitLen(), y.BitLen()) > maxSlowBits {
		return nil, nil, a.fail("both numbers are too large (limit %d bits)", maxSlowBits)
	}
	return x, y, err
}

// maxSlowBits bounds numbers for what takes quadratic time.
const maxSlowBits = 400_000

func mathGCD(a *args) (eval.Value, error) {
	x, y, err := a.twoBig()
	if err != nil {
		return eval.Value{}, err
	}
	return eval.BigInt(gcd(x, y)), nil
}

func gcd(x, y *big.Int) *big.Int {
	return new(big.Int).GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y))
}

func mathLCM(a *args) (eval.Value, error) {
	x, y, err := a.twoBig()
	if err != nil {
		return eval.Value{}, err
	}
	if x.Sign() == 0 || y.Sign() == 0 {
		return eval.Int(0), nil
	}
	out := new(big.Int).Quo(x, gcd(x, y))
	return eval.BigInt(out.Abs(out.Mul(out, y))), nil
}

func mathIsqrt(a *args) (eval.Value, error) {
	n, err := a.big(0)
	if err != nil {
		return eval.Value{}, err
	}
	if n.Sign() < 0 {
		return eval.Value{}, a.fail("not defined for %s", a.shown())
	}
	if n.BitLen() > maxSlowBits {
		return eval.Value{}, a.fail("the number is too large (limit %d bits)", maxSlowBits)
	}
	return eval.BigInt(new(big.Int).Sqrt(n)), nil
}

// maxFactorial bounds the time a factorial takes.
const maxFactorial = 20_000

func mathFactorial(a *args) (eval.Value, error) {
	n, err := a.int(0)
	if err != nil {
		return eval.Value{}, err
	}
	if n < 0 || n > maxFactorial {
		return eval.Value{}, a.fail("'n' must be from 0 to %d, got %d", maxFactorial, n)
	}
	return eval.BigInt(new(big.Int).MulRange(1, n)), nil
}
