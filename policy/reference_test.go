package policy

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// The reference evaluator: written from the text of the documentation alone,
// with none of the code it checks, slow and short.

type refScope struct {
	id    int
	rules map[string]bool
	deny  bool // default deny
}

func refCovers(pattern, name string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == name
	}
	parts := strings.Split(pattern, ".")
	for i, p := range parts {
		switch {
		case p == "*" && i == len(parts)-1:
			parts[i] = `.+`
		default:
			parts[i] = strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, map[bool]string{true: `[^.]+`, false: `[^.]*`}[p == "*"])
		}
	}
	return regexp.MustCompile("^" + strings.Join(parts, `\.`) + "$").MatchString(name)
}

func (s refScope) find(name string, above int, strict bool) (allow, found bool) {
	rank := -1
	for p, a := range s.rules {
		if above > 0 && strings.Count(p, ".")+1 <= above {
			continue
		}
		r := len(p) * 4
		switch {
		case p == name:
			r = 1 << 20
		case strings.Contains(p, "*") && refCovers(p, name):
		case strict && !a && !strings.Contains(p, "*") && strings.HasPrefix(name, p+"."):
			r += 4
		default:
			continue
		}
		if !a {
			r++
		}
		if r > rank {
			rank, allow, found = r, a, true
		}
	}
	return allow, found || s.deny && above == 0
}

func refWalk(name string, above int, strict bool, place []refScope, callers [][]refScope) (allow, found bool) {
	lifted := map[int]bool{}
	for _, s := range place {
		if a, ok := s.find(name, above, strict); ok && !found {
			allow, found = a, true
		}
		if found && allow {
			lifted[s.id] = true
		}
	}
	if found && !allow {
		return false, true
	}
	for _, chain := range callers {
		for _, s := range chain {
			if a, ok := s.find(name, above, strict); ok {
				if !a && !lifted[s.id] {
					return false, true
				}
				found = true
				break
			}
		}
	}
	return true, found
}

// world makes random scopes, lexical trees and chains of calls over them.
type world struct {
	*rand.Rand
	scopes []*Scope
	refs   []refScope
	parent []int
}

var worldNames = []string{"a", "b", "a.b", "a.c", "b.c", "a.b.c", "a.b.d", "a.b.cd", "a.b.c.d", "b.c.d"}
var worldPatterns = append([]string{"*", "a.*", "b.*", "*.b", "*.*", "a.b.*", "a.*.c", "*.b.c*", "a.b.c*", "a.b.*d", "a.b.c.*", "b.c.*", "*.*.*"}, worldNames...)

func newWorld(r *rand.Rand) *world {
	w := &world{Rand: r}
	for id := range 1 + r.IntN(8) {
		s, ref := &Scope{}, refScope{id: id, rules: map[string]bool{}}
		for range r.IntN(4) {
			p, allow := worldPatterns[r.IntN(len(worldPatterns))], r.IntN(2) == 0
			s.Set(Rule{Allow: allow, Pattern: p})
			ref.rules[p] = allow
		}
		if r.IntN(12) == 0 {
			s.SetDefaultDeny("", at(1))
			ref.deny = true
		}
		w.scopes, w.refs = append(w.scopes, s), append(w.refs, ref)
		w.parent = append(w.parent, r.IntN(id+1)-1)
	}
	return w
}

// chain gives the scopes from a random one outward, in both forms.
func (w *world) chain() (Chain, []refScope) {
	var c Chain
	var ref []refScope
	for i := w.IntN(len(w.scopes)+1) - 1; i >= 0; i = w.parent[i] {
		if !w.scopes[i].Empty() {
			c, ref = append(c, w.scopes[i]), append(ref, w.refs[i])
		}
	}
	return c, ref
}

func (w *world) calls() (callers []Chain, refs [][]refScope) {
	for range w.IntN(5) {
		c, r := w.chain()
		for range 1 + w.IntN(2) { // recursion: the same chain again
			callers, refs = append(callers, c), append(refs, r)
		}
	}
	return callers, refs
}

func TestReference(t *testing.T) {
	rounds := 100_000
	if testing.Short() {
		rounds = 10_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	verdicts := map[bool]int{}
	for range rounds {
		w := newWorld(r)
		place, refPlace := w.chain()
		callers, refCallers := w.calls()
		name, strict := worldNames[r.IntN(len(worldNames))], r.IntN(4) == 0
		var c *Ceiling
		if strict {
			c = &Ceiling{}
			c.SetStrict()
		}
		allow, found := refWalk(name, 0, strict, refPlace, refCallers)
		want := allow && (found || !strict)
		got := Decide(c, name, place, callers)
		if got.Allowed != want {
			t.Fatalf("%s (strict %v): got %+v, want %v\n%s", name, strict, got, want, w.describe(refPlace, refCallers))
		}
		if want {
			allow, _ = refWalk(name+".c", strings.Count(name, ".")+1, false, refPlace, refCallers)
			want = allow
		}
		if got := DecideTool(c, name, "c", place, callers); got.Allowed != want {
			t.Fatalf("tool c of %s: got %+v, want %v\n%s", name, got, want, w.describe(refPlace, refCallers))
		}
		verdicts[want]++
	}
	if verdicts[true] < rounds/10 || verdicts[false] < rounds/10 {
		t.Errorf("the random programs are too much alike: %v", verdicts)
	}
}

func (w *world) describe(place []refScope, callers [][]refScope) string {
	return fmt.Sprintf("place %v\ncallers %v", place, callers)
}

// The same for ceilings: denies with all below them, then lists of allows.
func TestReferenceCeiling(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	some := func() (out []string) {
		for range r.IntN(4) {
			out = append(out, worldPatterns[r.IntN(len(worldPatterns))])
		}
		return out
	}
	anyCovers := func(patterns []string, name string) bool {
		for _, p := range patterns {
			if refCovers(p, name) {
				return true
			}
		}
		return false
	}
	for range 50_000 {
		denies, allows, project := some(), some(), some()
		c := &Ceiling{}
		if err := c.Deny("--deny", denies...); err != nil {
			t.Fatal(err)
		}
		_ = c.Allow("--allow", allows...)
		_ = c.Restrict("sense.toml", project...)
		name := worldNames[r.IntN(len(worldNames))]
		want := !anyCovers(denies, name) &&
			(len(allows) == 0 || anyCovers(allows, name)) && (len(project) == 0 || anyCovers(project, name))
		for _, d := range denies {
			want = want && !strings.HasPrefix(name, d+".")
		}
		if got := Decide(c, name, nil, nil); got.Allowed != want {
			t.Fatalf("%s under deny %v allow %v project %v: %+v", name, denies, allows, project, got)
		}
	}
}
