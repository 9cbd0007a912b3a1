package eval

import (
	"slices"
	"strings"

	"github.com/sense-lang/sense/diag"
)

// Signature says how a builtin or a method is called.
type Signature struct {
	Name string
	// Min and Max bound the positional arguments; Max < 0 is any number.
	Min, Max int
	// Labels says that it takes labeled arguments.
	Labels bool
	// Usage is the error of a wrong number of arguments, "" for the usual one.
	Usage string
	// Params are the names of the parameters that labels may give, nil where
	// labels have another meaning. Those from Required on may be left out.
	Params   []string
	Required int
}

// SignatureOf gives the signature of a builtin; ok is false for other values.
func SignatureOf(v Value) (s Signature, ok bool) {
	if kindOf(v) != KBuiltin {
		return Signature{}, false
	}
	b := toBuiltin(v)
	return signature(b.Name, b.Min, b.Max, b.Labels, b.Named, b.Usage, b.Doc), true
}

func signature(name string, least, most int, labels, named bool, usage, doc string) Signature {
	s := Signature{Name: name, Min: least, Max: most, Labels: labels, Usage: usage}
	if named {
		s.Params, s.Required = headParams(doc)
	}
	return s
}

// headParams reads the names of the parameters from the head that begins a
// documentation, "name(a, b?)": those from required on may be left out. Without
// a head it gives nil.
func headParams(doc string) (names []string, required int) {
	head, _, _ := strings.Cut(doc, "\n")
	_, list, found := strings.Cut(head, "(")
	if !found {
		return nil, 0
	}
	names = []string{}
	for _, p := range strings.Split(strings.TrimSuffix(list, ")"), ", ") {
		p, optional := strings.CutSuffix(p, "?")
		if p = strings.TrimSuffix(p, "..."); p == "" {
			continue
		}
		if !optional {
			required++
		}
		names = append(names, p)
	}
	return names, required
}

// place puts labeled arguments in the places that the head of the builtin's
// documentation names. One in the middle that is not given is nil.
func (b *Builtin) place(c *Call) error {
	names, required := headParams(b.Doc)
	n := len(c.Args)
	if n+len(c.Labels) > len(names) {
		return countError(b.Name, required, len(names), n+len(c.Labels))
	}
	full := append(append(make([]Value, 0, len(names)), c.Args...), make([]Value, len(names)-n)...)
	last := n
	for _, l := range c.Labels {
		i := slices.Index(names, l.Name)
		switch {
		case i < 0:
			return diag.New(diag.Runtime, "'%s' has no parameter '%s'", b.Name, l.Name).DidYouMean(l.Name, names)
		case full[i].IsSet():
			return diag.New(diag.Runtime, "'%s' got more than one value for '%s'", b.Name, l.Name)
		}
		full[i] = l.Value
		last = max(last, i+1)
	}
	for i, v := range full {
		switch {
		case v.IsSet():
		case i < required:
			return diag.New(diag.Runtime, "'%s' needs a value for '%s'", b.Name, names[i])
		default:
			full[i] = mkNil()
		}
	}
	c.Args, c.Labels = full[:last], nil
	return nil
}

// Signature gives how the method is called; owner stands before its name in
// messages.
func (m *Method) Signature(owner string) Signature {
	return signature(owner+"."+m.Name, m.Min, m.Max, m.Labels, m.Named, "", m.Doc)
}

// CountError words a wrong number of arguments.
func CountError(name string, least, most, got int) error { return countError(name, least, most, got) }
