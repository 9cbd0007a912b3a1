package sense

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/lexer"
	"github.com/sense-lang/sense/parser"
)

// Session is a program that grows with each input, as the REPL's.
type Session struct {
	r   *Runtime
	s   *eval.Session
	out io.Writer
}

// NewSession opens a session of a runtime; out gets echoed values.
func (r *Runtime) NewSession(out io.Writer) *Session {
	return &Session{r, r.in.NewSession(), out}
}

// Run parses and runs one input until it is done or ctx ends; with echo the
// value of an input that is one expression is shown, unless it is nil.
func (s *Session) Run(ctx context.Context, src string, echo bool) error {
	f, err := parser.Parse("", src)
	if err != nil {
		return err
	}
	if len(f.Body) == 0 {
		return nil
	}
	v, err := s.s.Run(ctx, f)
	if err != nil || !echo || v.IsNil() || !v.IsSet() {
		return err
	}
	text, err := eval.Text(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, text)
	return err
}

// Load runs a file in the session's scope.
func (s *Session) Load(ctx context.Context, path string) error {
	src, err := ReadSource(path)
	if err != nil {
		return err
	}
	f, err := parser.Parse(path, src)
	if err != nil || len(f.Body) == 0 {
		return err
	}
	_, err = s.s.Run(ctx, f)
	return err
}

// Eval evaluates one expression.
func (s *Session) Eval(ctx context.Context, src string) (eval.Value, error) {
	f, err := parser.Parse("", src)
	if err != nil {
		return eval.Value{}, err
	}
	if len(f.Body) == 0 {
		return eval.Nil(), nil
	}
	return s.s.Run(ctx, f)
}

// Name is a name that can be typed, and what it is.
type Name struct{ Name, Type string }

// Complete gives the names that begin as prefix does; after a dot, members of
// the value before it.
func (s *Session) Complete(prefix string) []Name {
	i := strings.LastIndexByte(prefix, '.')
	if i < 0 {
		return s.plainNames(prefix)
	}
	v, ok := s.s.Lookup(prefix[:i])
	if strings.Contains(prefix[:i], ".") || !ok {
		return nil
	}
	var out []Name
	for _, m := range s.r.in.MemberNames(v) {
		if strings.HasPrefix(m, prefix[i+1:]) {
			out = append(out, Name{Name: m})
		}
	}
	return out
}

func (s *Session) plainNames(prefix string) []Name {
	var out []Name
	seen := map[string]bool{}
	for _, n := range append(s.s.Names(), s.r.in.BuiltinNames()...) {
		if !strings.HasPrefix(n, prefix) || seen[n] {
			continue
		}
		seen[n] = true
		v, _ := s.s.Lookup(n)
		out = append(out, Name{n, v.TypeName()})
	}
	for _, k := range append(lexer.Keywords(), lexer.SoftWords()...) {
		if strings.HasPrefix(k, prefix) {
			out = append(out, Name{k, "keyword"})
		}
	}
	slices.SortFunc(out, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Doc says what is known about a name, or a member as in "json.dump".
func (s *Session) Doc(name string) (string, error) {
	name, member, dotted := strings.Cut(name, ".")
	v, ok := s.s.Lookup(name)
	if !ok {
		return "", fmt.Errorf("undefined variable '%s'", name)
	}
	if dotted {
		var err error
		if v, err = s.r.in.Main().Attr(v, member); err != nil {
			return "", err
		}
	}
	return eval.Describe(v), nil
}
