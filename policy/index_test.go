package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// usedByLooking is what used answers, written as the text has it: every known
// capability is looked at.
func usedByLooking(pat *pattern, known []string) bool {
	for _, k := range known {
		base, open := strings.CutSuffix(k, ".*")
		if pat.matches(base) || open && pat.below(base, segments(base)) {
			return true
		}
	}
	return false
}

// TestIndexAgainstReference holds random patterns against random names.
func TestIndexAgainstReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	segs := []string{"a", "b", "ab", `"x.y"`, "abc"}
	name := func(most int, more ...string) string {
		from := append(more, segs...)
		out := make([]string, 1+r.IntN(most))
		for i := range out {
			out[i] = from[r.IntN(len(from))]
		}
		return strings.Join(out, ".")
	}
	covered := 0
	for range 20_000 {
		var known []string
		for range r.IntN(5) {
			k := name(4)
			if r.IntN(4) == 0 {
				k += ".*"
			}
			known = append(known, k)
		}
		text := name(4, "*", "*")
		if r.IntN(4) == 0 {
			text += []string{".a*", ".*b", ".a*c", ".*", ".**"}[r.IntN(5)]
		}
		pat := compile(text)
		got, want := newIndex(known).used(&pat), usedByLooking(&pat, known)
		if got != want {
			t.Fatalf("%s of %q: %v, want %v", text, known, got, want)
		}
		if got {
			covered++
		}
	}
	if covered < 2_000 || covered > 18_000 {
		t.Errorf("%d of 20,000 patterns cover something: the test says little", covered)
	}
}

// TestUnusedIsNearLinear counts the names that are looked at for many rules and
// as many capabilities.
func TestUnusedIsNearLinear(t *testing.T) {
	const n = 20_000
	for _, rule := range []string{"cap.n%d", "cap.r%d", "*.n%d", "*.r%d", "cap.n%d*", "cap.r%d*", "*.r%d*", "cap.*.r%d", "open.r%d.*", "r%d.*", "cap"} {
		known := []string{"cap.x.y"}
		if strings.HasPrefix(rule, "open") {
			known = append(known, "open", "open.*")
		}
		rules := make([]Rule, n)
		for i := range rules {
			rules[i].Pattern = rule
			if strings.Contains(rule, "%") {
				rules[i].Pattern = fmt.Sprintf(rule, i)
			}
			known = append(known, fmt.Sprintf("cap.n%d", i))
		}
		x := newIndex(known)
		used := 0
		for _, r := range rules {
			if pat := compile(r.Pattern); x.used(&pat) {
				used++
			} else {
				x.hint(pat.text)
			}
		}
		if want := strings.Contains(rule, ".n") || strings.HasPrefix(rule, "open"); (used == n) != want {
			t.Errorf("%s: %d of %d are used", rule, used, n)
		}
		if x.work > 10*n || x.compared > maxCompared+len(known) {
			t.Errorf("%s: %d names looked at, %d pairs compared", rule, x.work, x.compared)
		}
	}
}
