package policy

import (
	"slices"
	"strings"
)

// index finds whether a pattern covers any of many capabilities without a look
// at each of them.
type index struct {
	names []string // each once, as they came
	// whole are the capabilities, longer the beginnings of those with more
	// segments, bases the connections whose tools are not known.
	whole, longer, bases places
	// work counts the names that were looked at, compared the pairs of names that
	// hints compared.
	work, compared int
}

// places are names cut into segments, by their number.
type places map[int]*sized

// sized are names of one number of segments.
type sized struct {
	names [][]string
	// shaped finds the names by some of their segments: the shape says which, the
	// key is made of these, and the values are the last segments, sorted.
	shaped map[string]map[string][]string
}

func newIndex(known []string) *index {
	x := &index{whole: places{}, longer: places{}, bases: places{}}
	seen, cutUp := map[string]bool{}, map[string]bool{}
	for _, k := range known {
		if seen[k] {
			continue
		}
		seen[k] = true
		x.names = append(x.names, k)
		base, open := strings.CutSuffix(k, ".*")
		segs := parts(base)
		if open {
			x.bases.add(segs)
		}
		if !cutUp[base] {
			cutUp[base] = true
			x.add(segs)
		}
	}
	return x
}

// add takes in a capability.
func (x *index) add(segs []string) {
	x.whole.add(segs)
	for n := range segs {
		x.longer.add(segs[:n])
	}
}

// parts cuts a normal spelling into its segments.
func parts(name string) []string {
	var segs []string
	for name != "" {
		var seg string
		seg, name = cut(name)
		segs = append(segs, seg)
	}
	return segs
}

func (p places) add(segs []string) {
	s := p[len(segs)]
	if s == nil {
		s = &sized{shaped: map[string]map[string][]string{}}
		p[len(segs)] = s
	}
	s.names = append(s.names, segs)
}

// used reports whether a pattern covers a known capability, or may cover a tool
// that is not known.
func (x *index) used(pat *pattern) bool {
	segs := pat.segs
	if segs == nil {
		segs = parts(pat.text)
	}
	last := len(segs) - 1
	if segs[last] == "*" {
		if x.longer.holds(segs[:last], x) {
			return true
		}
	} else if x.whole.holds(segs, x) {
		return true
	}
	for n := 1; n <= last; n++ {
		if x.bases.holds(segs[:n], x) {
			return true
		}
	}
	return false
}

// holds reports whether the segments of a pattern cover one of the names, each
// "*" one whole segment; one inside the last segment is a wildcard too.
func (p places) holds(segs []string, x *index) bool {
	s := p[len(segs)]
	if s == nil {
		return false
	}
	shape, key := shapeOf(segs)
	byKey := s.shaped[shape]
	if byKey == nil {
		byKey = s.sort(shape)
		s.shaped[shape] = byKey
		x.work += len(s.names)
	}
	lasts, ok := byKey[key]
	x.work++
	if !ok || !strings.Contains(shape, inside) {
		return ok
	}
	want := segs[len(segs)-1]
	begin, _, _ := strings.Cut(want, "*")
	i, _ := slices.BinarySearch(lasts, begin)
	for ; i < len(lasts) && strings.HasPrefix(lasts[i], begin); i++ {
		x.work++
		if glob(want, lasts[i]) {
			return true
		}
	}
	return false
}

// The segments of a shape.
const (
	exact  = "x"
	any1   = "*"
	inside = "?" // with a wildcard inside the last one
)

// shapeOf says which segments of a pattern are exact, and gives these as a key.
func shapeOf(segs []string) (shape, key string) {
	var b strings.Builder
	for i, seg := range segs {
		switch {
		case seg == "*":
			shape += any1
		case i == len(segs)-1 && strings.Contains(seg, "*"):
			shape += inside
		default:
			shape += exact
			b.WriteString(seg)
			b.WriteByte(0) // stands in no normal spelling
		}
	}
	return shape, b.String()
}

// sort makes the table of a shape.
func (s *sized) sort(shape string) map[string][]string {
	byKey := map[string][]string{}
	var b strings.Builder
	for _, segs := range s.names {
		b.Reset()
		last := ""
		for i, seg := range segs {
			switch shape[i : i+1] {
			case exact:
				b.WriteString(seg)
				b.WriteByte(0)
			case inside:
				last = seg
			}
		}
		if key := b.String(); last != "" {
			byKey[key] = append(byKey[key], last)
		} else {
			byKey[key] = nil
		}
	}
	for _, lasts := range byKey {
		slices.Sort(lasts)
	}
	return byKey
}
