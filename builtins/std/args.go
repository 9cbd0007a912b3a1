package std

import (
	"math"
	"strings"
	"time"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// member is a function of a module.
type member struct {
	// sig is how it is called: "read(path)"; a "?" after a parameter says that
	// it may be left out.
	sig string
	// doc says what it does, in one line.
	doc string
	fn  func(a *args) (eval.Value, error)
}

func (m *member) name() string { return m.sig[:strings.IndexByte(m.sig, '(')] }

// params gives the names of the parameters and how many are required.
func (m *member) params() (names []string, least int) {
	list := strings.TrimSuffix(m.sig[len(m.name())+1:], ")")
	if list == "" {
		return nil, 0
	}
	for _, p := range strings.Split(list, ", ") {
		p, optional := strings.CutSuffix(p, "?")
		if !optional {
			least++
		}
		names = append(names, p)
	}
	return names, least
}

// value makes the function's value. Every function takes its arguments by
// place or by label.
func (m *member) value(path string) eval.Value {
	names, least := m.params()
	full := path + "." + m.name()
	fn := m.fn
	quick := quickMath(full)
	return eval.NewBuiltin(eval.Builtin{
		Name: full, Max: -1, Labels: true, Named: true, Leaf: path == "std.math",
		Doc: path + "." + m.sig + "\n" + m.doc,
		Fn: func(c *eval.Call) (eval.Value, error) {
			if quick != nil && len(c.Args) == 1 && len(c.Labels) == 0 {
				if x, ok := c.Args[0].AsFloat(); ok {
					if v := quick(x); v.IsSet() {
						return v, nil
					}
				}
			}
			vals, err := bind(c, full, names, least)
			if err != nil {
				return eval.Value{}, err
			}
			return fn(&args{Call: c, who: full, names: names, vals: vals})
		},
	})
}

// bind puts a call's arguments in the order of the parameters.
func bind(c *eval.Call, who string, names []string, least int) ([]eval.Value, error) {
	n := len(c.Args)
	if len(c.Labels) == 0 {
		if n < least || n > len(names) {
			return nil, countError(who, least, len(names), n)
		}
		return c.Args, nil
	}
	if n+len(c.Labels) > len(names) {
		return nil, countError(who, least, len(names), n+len(c.Labels))
	}
	vals := append(make([]eval.Value, 0, len(names)), c.Args...)[:len(names)]
	for _, l := range c.Labels {
		i := indexOf(names, l.Name)
		switch {
		case i < 0:
			return nil, diag.New(diag.Runtime, "'%s' has no parameter '%s'", who, l.Name).DidYouMean(l.Name, names)
		case vals[i].IsSet():
			return nil, fail("'%s' got more than one value for '%s'", who, l.Name)
		}
		vals[i] = l.Value
	}
	for i := range least {
		if !vals[i].IsSet() {
			return nil, fail("'%s' needs a value for '%s'", who, names[i])
		}
	}
	return vals, nil
}

func countError(who string, least, most, got int) error {
	if least == most {
		return fail("'%s' expects %d argument(s), got %d", who, least, got)
	}
	return fail("'%s' expects %d to %d argument(s), got %d", who, least, most, got)
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// fail makes an error in the user's words.
func fail(format string, args ...any) error { return diag.New(diag.Runtime, format, args...) }

// args are the bound arguments of a call.
type args struct {
	*eval.Call
	who   string // the function's full name
	names []string
	vals  []eval.Value
}

// fail makes an error that begins with the function's name.
func (a *args) fail(format string, list ...any) error {
	return fail("%s: "+format, append([]any{a.who}, list...)...)
}

// has reports whether the i-th argument was given; nil counts as left out.
func (a *args) has(i int) bool { return i < len(a.vals) && a.vals[i].IsSet() && !a.vals[i].IsNil() }

// wrong says that the i-th argument is of the wrong type.
func (a *args) wrong(i int, want string) error {
	return fail("%s() expects %s for '%s', got %s", a.who, want, a.names[i], a.vals[i].TypeName())
}

// text reads a String.
func (a *args) text(i int) (string, error) {
	s, ok := a.vals[i].AsString()
	if !ok {
		return "", a.wrong(i, "a String")
	}
	return s, nil
}

// textOr reads a String that may be left out.
func (a *args) textOr(i int, def string) (string, error) {
	if !a.has(i) {
		return def, nil
	}
	return a.text(i)
}

// int reads an Int of 64 bits.
func (a *args) int(i int) (int64, error) {
	n, ok := a.vals[i].AsInt()
	if ok {
		return n, nil
	}
	if _, big := a.vals[i].AsBig(); big {
		return 0, a.fail("'%s' is too large", a.names[i])
	}
	return 0, a.wrong(i, "an Int")
}

// intOr reads an Int between least and most that may be left out.
func (a *args) intOr(i int, def, least, most int64) (int64, error) {
	if !a.has(i) {
		return def, nil
	}
	n, err := a.int(i)
	if err != nil {
		return 0, err
	}
	if n < least || n > most {
		return 0, a.fail("'%s' must be from %d to %d, got %d", a.names[i], least, most, n)
	}
	return n, nil
}

// number reads an Int or a Float.
func (a *args) number(i int) (float64, error) {
	f, ok := a.vals[i].AsNumber()
	if !ok {
		return 0, a.wrong(i, "a number")
	}
	if _, float := a.vals[i].AsFloat(); !float && math.IsInf(f, 0) {
		return 0, a.fail("'%s' is too large", a.names[i])
	}
	return f, nil
}

// bool reads a Bool that may be left out, which is false.
func (a *args) bool(i int) (bool, error) {
	if !a.has(i) {
		return false, nil
	}
	b, ok := a.vals[i].AsBool()
	if !ok {
		return false, a.wrong(i, "a Bool")
	}
	return b, nil
}

// maxWait bounds waits that a program asks for.
const maxWait = 366 * 24 * time.Hour

// duration reads a number of seconds that may be left out.
func (a *args) duration(i int, def time.Duration) (time.Duration, error) {
	if !a.has(i) {
		return def, nil
	}
	s, err := a.number(i)
	if err != nil {
		return 0, err
	}
	if !(s > 0) || s > maxWait.Seconds() {
		return 0, a.fail("'%s' must be above 0 and at most %d seconds, got %s", a.names[i], int(maxWait.Seconds()), a.vals[i].String())
	}
	return max(time.Duration(s*float64(time.Second)), 1), nil
}

// strings reads an Array of Strings that may be left out.
func (a *args) strings(i int) ([]string, error) {
	if !a.has(i) {
		return nil, nil
	}
	list, ok := a.vals[i].AsArray()
	if !ok {
		return nil, a.wrong(i, "an Array of Strings")
	}
	out := make([]string, list.Len())
	for j := range out {
		if out[j], ok = list.At(j).AsString(); !ok {
			return nil, fail("%s() expects an Array of Strings for '%s', but [%d] is %s", a.who, a.names[i], j, list.At(j).TypeName())
		}
	}
	return out, nil
}

// pair is a key of a Map of Strings and its value.
type pair struct{ key, value string }

// pairs reads a Map of Strings that may be left out.
func (a *args) pairs(i int) ([]pair, error) {
	if !a.has(i) {
		return nil, nil
	}
	m, ok := a.vals[i].AsMap()
	if !ok {
		return nil, a.wrong(i, "a Map of Strings")
	}
	var out []pair
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		s, ok := v.AsString()
		if !ok {
			return nil, fail("%s() expects a Map of Strings for '%s', but '%s' is %s", a.who, a.names[i], k, v.TypeName())
		}
		out = append(out, pair{k, s})
	}
	return out, nil
}

// newMap makes a Map of keys and values in turn.
func newMap(kv ...any) eval.Value {
	m := eval.NewMap()
	for i := 0; i < len(kv); i += 2 {
		m.Set(kv[i].(string), kv[i+1].(eval.Value))
	}
	return m.Value()
}

// stopped gives the reason why the program must end, nil while it may go on.
// The end of the context may be seen before the program has been told.
func (a *args) stopped() error {
	if err := a.Thread.Stopped(); err != nil {
		return err
	}
	if a.Thread.Context().Err() != nil {
		return diag.New(diag.Interrupt, "interrupted")
	}
	return nil
}
