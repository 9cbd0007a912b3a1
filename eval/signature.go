package eval

import "strings"

// Signature says how a builtin or a method is called.
type Signature struct {
	Name string
	// Min and Max bound the positional arguments; Max < 0 is any number.
	Min, Max int
	// Labels says that it takes labeled arguments.
	Labels bool
	// Usage is the error of a wrong number of arguments, "" for the usual one.
	Usage string
	// Params are the names of the parameters, where the builtin's documentation
	// begins with its head, "name(a, b?)"; nil otherwise. Those from Required on
	// may be left out.
	Params   []string
	Required int
}

// SignatureOf gives the signature of a builtin; ok is false for other values.
func SignatureOf(v Value) (s Signature, ok bool) {
	if kindOf(v) != KBuiltin {
		return Signature{}, false
	}
	b := toBuiltin(v)
	s = Signature{Name: b.Name, Min: b.Min, Max: b.Max, Labels: b.Labels, Usage: b.Usage}
	head, _, _ := strings.Cut(b.Doc, "\n")
	if list, found := strings.CutPrefix(head, b.Name+"("); found && strings.HasSuffix(list, ")") {
		s.readParams(strings.TrimSuffix(list, ")"))
	}
	return s, true
}

func (s *Signature) readParams(list string) {
	s.Params = []string{}
	if list == "" {
		return
	}
	for _, p := range strings.Split(list, ", ") {
		p, optional := strings.CutSuffix(p, "?")
		if !optional {
			s.Required++
		}
		s.Params = append(s.Params, p)
	}
}

// Signature gives how the method is called; owner stands before its name in
// messages.
func (m *Method) Signature(owner string) Signature {
	return Signature{Name: owner + "." + m.Name, Min: m.Min, Max: m.Max, Labels: m.Labels}
}

// CountError words a wrong number of arguments.
func CountError(name string, least, most, got int) error { return countError(name, least, most, got) }
