package std

import (
	"slices"
	"strings"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/tape"
)

func envMembers(l *Library) []member {
	return []member{
		{"get(name, default?)", "the value of an environment variable; where it is not set the default, or nil", l.envGet},
		{"names()", "the names of the environment variables, sorted", l.envNames},
		{"args()", "the arguments that the program was started with", l.envArgs},
	}
}

// lookup finds a variable. An empty one counts as set where the environment
// can be listed.
func (l *Library) lookup(name string) (string, bool) {
	if v := l.o.Getenv(name); v != "" {
		return v, true
	}
	return "", slices.Contains(l.environ(), name)
}

// environ lists the names of the environment.
func (l *Library) environ() []string {
	if l.o.Environ == nil {
		return nil
	}
	var names []string
	for _, kv := range l.o.Environ() {
		if name, _, ok := strings.Cut(kv, "="); ok && name != "" {
			names = append(names, strings.ToValidUTF8(name, "\uFFFD"))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (l *Library) envGet(a *args) (eval.Value, error) {
	name, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	if err := a.require(capEnv); err != nil {
		return eval.Value{}, err
	}
	v, ok := l.o.Tape.Env(name, func() (string, bool) {
		v, ok := l.lookup(name)
		l.secret(name, v) // before it goes on the tape
		return strings.ToValidUTF8(v, "\uFFFD"), ok
	})
	if err := a.note(name, nil); err != nil {
		return eval.Value{}, err
	}
	switch {
	case ok:
		return eval.String(v), nil
	case len(a.vals) > 1 && a.vals[1].IsSet():
		return a.vals[1], nil
	}
	return eval.Nil(), nil
}

func (l *Library) envNames(a *args) (eval.Value, error) {
	if err := a.require(capEnv); err != nil {
		return eval.Value{}, err
	}
	names, err := tape.Through(l.o.Tape, tape.Env, "", nil, func() ([]string, error) { return l.environ(), nil })
	if err != nil {
		return eval.Value{}, a.fail("%v", err)
	}
	return eval.Strings(names), a.note("all names", nil)
}

func (l *Library) envArgs(*args) (eval.Value, error) {
	out := make([]string, len(l.o.Args))
	for i, s := range l.o.Args {
		out[i] = strings.ToValidUTF8(s, "\uFFFD")
	}
	return eval.Strings(out), nil
}
