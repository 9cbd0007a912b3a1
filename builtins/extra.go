package builtins

import (
	"math"
	"math/big"
	"strconv"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/eval"
)

// Extra gives the builtins that the original language lacks. Reading a name
// finds them last, assignment never does, so a program that uses such a name
// for its own keeps its meaning.
func Extra(d *Deps) map[string]eval.Value {
	out := map[string]eval.Value{}
	documented(out, []eval.Builtin{
		{Name: "min", Min: 1, Max: -1, Fn: func(c *eval.Call) (eval.Value, error) { return extreme(c, "min", -1) }},
		{Name: "max", Min: 1, Max: -1, Fn: func(c *eval.Call) (eval.Value, error) { return extreme(c, "max", 1) }},
		{Name: "sum", Named: true, Min: 1, Max: 2, Fn: builtinSum},
		{Name: "abs", Named: true, Min: 1, Max: 1, Fn: builtinAbs},
		{Name: "round", Named: true, Min: 1, Max: 2, Fn: builtinRound},
		{Name: "sorted", Named: true, Min: 1, Max: 2, Fn: builtinSorted},
		{Name: "enumerate", Named: true, Min: 1, Max: 2, Fn: builtinEnumerate},
		{Name: "zip", Min: 1, Max: -1, Fn: builtinZip},
		{Name: "any", Named: true, Min: 1, Max: 1, Fn: func(c *eval.Call) (eval.Value, error) { return quantify(c, "any", true) }},
		{Name: "all", Named: true, Min: 1, Max: 1, Fn: func(c *eval.Call) (eval.Value, error) { return quantify(c, "all", false) }},
		{Name: "input", Named: true, Max: 1, Fn: builtinInput},
		{Name: "audit", Fn: builtinAudit},
		{Name: "conversation", Min: 1, Max: 1, Labels: true, Fn: d.conversation},
		{Name: "find", Named: true, Min: 2, Max: 2, Fn: builtinFind},
		{Name: "connect_mcp_all", Max: 1, Fn: d.connectAll},
		{Name: "mcp_status", Fn: d.mcpStatus},
	})
	return out
}

// leaves are the builtins that call nothing of the program and ask for no place.
var leaves = []string{"print", "len", "range", "str", "int", "float", "type_of", "push",
	"min", "max", "sum", "abs", "round", "enumerate", "zip", "any", "all"}

// elements lists what a loop over v would see.
func elements(c *eval.Call, v eval.Value, who string) ([]eval.Value, error) {
	if err := c.Thread.Reserve(sizeOf(v) * valueRoom); err != nil {
		return nil, err
	}
	vs, ok := eval.Elements(v)
	if !ok {
		return nil, fail("%s() expects an Array, a Map or a String, got %s", who, v.TypeName())
	}
	return vs, nil
}

// valueRoom is the room of one value in a list, in bytes.
const valueRoom = 16

// sizeOf gives at most how many elements a loop over v sees, 0 for what is no
// long value.
func sizeOf(v eval.Value) int64 {
	if s, ok := v.AsString(); ok {
		return int64(len(s))
	}
	if a, ok := v.AsArray(); ok {
		return int64(a.Len())
	}
	return 0
}

// ofInts gives the Ints of the one argument, an Array that has nothing else and
// is not empty; ok is false for others.
func ofInts(c *eval.Call) (ns []uint64, ok bool) {
	if len(c.Args) != 1 {
		return nil, false
	}
	a, ok := c.Args[0].AsArray()
	if !ok {
		return nil, false
	}
	ns = a.Ints()
	return ns, len(ns) > 0
}

func extreme(c *eval.Call, name string, sign int) (eval.Value, error) {
	vs := c.Args
	if ns, ok := ofInts(c); ok {
		best := int64(ns[0])
		for _, n := range ns {
			if n := int64(n); sign > 0 && n > best || sign < 0 && n < best {
				best = n
			}
		}
		return eval.Int(best), nil
	}
	if len(vs) == 1 {
		var err error
		if vs, err = elements(c, vs[0], name); err != nil {
			return eval.Value{}, err
		}
		if len(vs) == 0 {
			return eval.Value{}, fail("%s() of nothing", name)
		}
	}
	best := vs[0]
	if len(vs) == 2 {
		x, ok1 := best.AsInt()
		if y, ok2 := vs[1].AsInt(); ok1 && ok2 {
			if (y > x) == (sign > 0) && x != y {
				return vs[1], nil
			}
			return best, nil
		}
	}
	for _, v := range vs[1:] {
		n, err := inOrder(v, best)
		if err != nil {
			return eval.Value{}, fail("%s() cannot compare %s with %s", name, v.TypeName(), best.TypeName())
		}
		if n*sign > 0 {
			best = v
		}
	}
	return best, nil
}

// sumInts adds small enough Ints.
func sumInts(ns []uint64) (total int64, ok bool) {
	if len(ns) > 1<<30 {
		return 0, false
	}
	for _, n := range ns {
		if n := int64(n); n > 1<<32 || n < -1<<32 {
			return 0, false
		}
		total += int64(n)
	}
	return total, true
}

func builtinSum(c *eval.Call) (eval.Value, error) {
	if ns, ok := ofInts(c); ok {
		if total, ok := sumInts(ns); ok {
			return eval.Int(total), nil
		}
	}
	vs, err := elements(c, c.Args[0], "sum")
	if err != nil {
		return eval.Value{}, err
	}
	total := eval.Int(0)
	if len(c.Args) == 2 {
		total = c.Args[1]
	}
	for _, v := range vs {
		if total, err = eval.Arith(ast.OpAdd, total, v); err != nil {
			return eval.Value{}, err
		}
	}
	return total, nil
}

func builtinAbs(c *eval.Call) (eval.Value, error) {
	if f, ok := c.Args[0].AsFloat(); ok {
		return eval.Float(math.Abs(f)), nil
	}
	if n, ok := c.Args[0].AsInt(); ok && n != math.MinInt64 {
		return eval.Int(max(n, -n)), nil
	}
	if b, ok := c.Args[0].AsBig(); ok {
		return eval.BigInt(new(big.Int).Abs(b)), nil
	}
	return eval.Value{}, fail("abs() expects a number, got %s", c.Args[0].TypeName())
}

// builtinRound rounds halves to even: to an Int, or with a number of decimals
// to a Float.
func builtinRound(c *eval.Call) (eval.Value, error) {
	if _, ok := c.Args[0].AsNumber(); !ok {
		return eval.Value{}, fail("round() expects a number, got %s", c.Args[0].TypeName())
	}
	f, isFloat := c.Args[0].AsFloat()
	if len(c.Args) == 1 {
		if !isFloat {
			return c.Args[0], nil
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return eval.Value{}, fail("round() cannot make an Int of %s", c.Args[0].String())
		}
		if math.Abs(f) < 1<<62 {
			return eval.Int(int64(math.RoundToEven(f))), nil
		}
		b, _ := big.NewFloat(math.RoundToEven(f)).Int(nil)
		return eval.BigInt(b), nil
	}
	n, err := intArg(c, 1, "round")
	if err != nil {
		return eval.Value{}, err
	}
	if !isFloat {
		return roundInt(c.Args[0], n)
	}
	return eval.Float(roundFloat(f, n)), nil
}

// roundFloat rounds the exact decimal value of f to n decimals.
func roundFloat(f float64, n int64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) || n > 330 {
		return f
	}
	if n < -330 {
		return math.Copysign(0, f)
	}
	if n >= 0 && n <= 30 { // the decimal text is rounded exactly too
		out, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(n), 64), 64)
		return out
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(n, -n)), nil))
	x := new(big.Rat).SetFloat64(f)
	if n < 0 {
		scale.Inv(scale)
	}
	x.Mul(x, scale)
	r := new(big.Rat).SetInt(roundHalfEven(x.Num(), x.Denom()))
	out, _ := r.Quo(r, scale).Float64()
	if out == 0 {
		return math.Copysign(0, f)
	}
	return out
}

// roundInt rounds an Int to tens, hundreds and so on.
func roundInt(v eval.Value, n int64) (eval.Value, error) {
	if n >= 0 {
		return v, nil
	}
	b, _ := v.AsBig()
	if -n > int64(b.BitLen()) {
		return eval.Int(0), nil
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(-n), nil)
	return eval.BigInt(new(big.Int).Mul(roundHalfEven(b, unit), unit)), nil
}

// roundHalfEven divides and rounds to the nearest, halves to the even one.
func roundHalfEven(num, den *big.Int) *big.Int {
	q, m := new(big.Int).DivMod(num, den, new(big.Int))
	switch m.Lsh(m, 1).Cmp(den) {
	case 1:
		q.Add(q, big.NewInt(1))
	case 0:
		if q.Bit(0) == 1 {
			q.Add(q, big.NewInt(1))
		}
	}
	return q
}

func builtinSorted(c *eval.Call) (eval.Value, error) {
	vs, err := elements(c, c.Args[0], "sorted")
	if err != nil {
		return eval.Value{}, err
	}
	by := eval.Nil()
	if len(c.Args) == 2 {
		by = c.Args[1]
	}
	out, err := sortValues(c.Thread, vs, by)
	return eval.ArrayOf(out...), err
}

func builtinEnumerate(c *eval.Call) (eval.Value, error) {
	vs, err := elements(c, c.Args[0], "enumerate")
	if err != nil {
		return eval.Value{}, err
	}
	if len(c.Args) == 1 {
		out := eval.NewArray(len(vs))
		for i, v := range vs {
			out.Push(eval.ArrayOf(eval.Int(int64(i)), v))
		}
		return out.Value(), nil
	}
	from := new(big.Int)
	if len(c.Args) == 2 {
		var ok bool
		if from, ok = c.Args[1].AsBig(); !ok {
			return eval.Value{}, fail("enumerate() expects an Int, got %s", c.Args[1].TypeName())
		}
	}
	out := eval.NewArray(len(vs))
	for i, v := range vs {
		out.Push(eval.ArrayOf(eval.BigInt(new(big.Int).Add(from, big.NewInt(int64(i)))), v))
	}
	return out.Value(), nil
}

func builtinZip(c *eval.Call) (eval.Value, error) {
	var lists [][]eval.Value
	shortest := math.MaxInt
	for _, a := range c.Args {
		vs, err := elements(c, a, "zip")
		if err != nil {
			return eval.Value{}, err
		}
		lists = append(lists, vs)
		shortest = min(shortest, len(vs))
	}
	out := eval.NewArray(shortest)
	for i := range shortest {
		row := eval.NewArray(len(lists))
		for _, l := range lists {
			row.Push(l[i])
		}
		out.Push(row.Value())
	}
	return out.Value(), nil
}

func quantify(c *eval.Call, name string, wanted bool) (eval.Value, error) {
	vs, err := elements(c, c.Args[0], name)
	if err != nil {
		return eval.Value{}, err
	}
	for _, v := range vs {
		if v.Truthy() == wanted {
			return eval.Bool(wanted), nil
		}
	}
	return eval.Bool(!wanted), nil
}

// builtinInput prints a prompt as it is and reads a line.
func builtinInput(c *eval.Call) (eval.Value, error) {
	if len(c.Args) == 1 {
		s, err := eval.Text(c.Args[0])
		if err == nil {
			err = c.Thread.Write(s)
		}
		if err != nil {
			return eval.Value{}, err
		}
	}
	line, err := c.Thread.ReadLine()
	if eval.Fatal(err) {
		return eval.Value{}, err
	}
	if err != nil {
		return eval.Value{}, fail("input() got no line: %v", err)
	}
	return eval.String(line), c.Thread.Place().Event("human", "input", "answered", "")
}
