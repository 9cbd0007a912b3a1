package builtins

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/sense-lang/sense/eval"
)

// arraySort sorts in place, stably; by gives what each element is sorted by.
func arraySort(c *eval.Call, a *eval.Array) (eval.Value, error) {
	by := eval.Nil()
	if len(c.Args) == 1 {
		by = c.Args[0]
	}
	vs, err := sortValues(c.Thread, a.Values(), by)
	if err != nil {
		return eval.Value{}, err
	}
	a.Replace(vs)
	return a.Value(), nil
}

// sortValues gives the values in order, those that are equal in their old one.
func sortValues(t *eval.Thread, vs []eval.Value, by eval.Value) ([]eval.Value, error) {
	keys := vs
	if !by.IsNil() {
		keys = make([]eval.Value, len(vs))
		for i, v := range vs {
			k, err := t.Call(by, v)
			if err != nil {
				return nil, err
			}
			keys[i] = k
		}
	}
	rs := ranks(keys)
	if rs == nil {
		return sortMixed(t, vs, keys)
	}
	rs, err := sortRanks(t, rs, keys)
	if err != nil {
		return nil, err
	}
	out := make([]eval.Value, len(vs))
	for i, r := range rs {
		out[i] = vs[r.at]
	}
	return out, nil
}

// lookEvery is after how many comparisons a sort looks whether the program must
// end.
const lookEvery = 256

type keyed struct{ key, v eval.Value }

// sortMixed sorts by keys of several kinds, or of one that has no rank.
func sortMixed(t *eval.Thread, vs, keys []eval.Value) ([]eval.Value, error) {
	ks := make([]keyed, len(vs))
	for i, v := range vs {
		ks[i] = keyed{keys[i], v}
	}
	var failed error
	compared := 0
	slices.SortStableFunc(ks, func(a, b keyed) int {
		if failed != nil {
			return 0
		}
		if compared++; compared%lookEvery == 0 {
			if failed = t.Stopped(); failed != nil {
				return 0
			}
		}
		n, err := inOrder(a.key, b.key)
		failed = err
		return n
	})
	if len(ks) == 1 && failed == nil {
		_, failed = inOrder(ks[0].key, ks[0].key)
	}
	out := make([]eval.Value, len(ks))
	for i, k := range ks {
		out[i] = k.v
	}
	return out, failed
}

// rank stands for a key: keys are in the order of their ranks, but Strings of
// one rank still have to be compared. sorting: 0.42 s with comparisons of values
// alone, 0.17 s with ranks.
type rank struct {
	n  uint64
	at int // the key's place
}

// ranks gives the ranks of keys that are all Ints, all Floats or all Strings;
// nil where they are not.
func ranks(keys []eval.Value) []rank {
	if len(keys) == 0 {
		return nil
	}
	kind := keys[0].Kind()
	var of func(v eval.Value) uint64
	switch kind {
	case eval.KInt:
		of = rankInt
	case eval.KFloat:
		of = rankFloat
	case eval.KString:
		of = rankText
	default:
		return nil
	}
	rs := make([]rank, len(keys))
	for i, k := range keys {
		if k.Kind() != kind {
			return nil
		}
		rs[i] = rank{of(k), i}
	}
	return rs
}

func rankInt(v eval.Value) uint64 {
	n, _ := v.AsInt()
	return uint64(n) ^ 1<<63
}

// rankFloat puts nan behind all numbers, and 0.0 and -0.0 in one place.
func rankFloat(v eval.Value) uint64 {
	f, _ := v.AsFloat()
	switch {
	case math.IsNaN(f):
		return math.MaxUint64
	case f == 0:
		return 1 << 63
	}
	n := math.Float64bits(f)
	if n>>63 == 1 {
		return ^n
	}
	return n | 1<<63
}

// rankText is the first eight bytes.
func rankText(v eval.Value) uint64 {
	s, _ := v.AsString()
	if len(s) >= 8 {
		return binary.BigEndian.Uint64([]byte(s[:8]))
	}
	n := uint64(0)
	for i := range len(s) {
		n |= uint64(s[i]) << (56 - 8*i)
	}
	return n
}

// sortRanks sorts ranks, and Strings of one rank by all their text.
func sortRanks(t *eval.Thread, rs []rank, keys []eval.Value) ([]rank, error) {
	inOrder := func(a, b rank) int {
		switch {
		case a.n < b.n:
			return -1
		case a.n > b.n:
			return 1
		}
		return a.at - b.at
	}
	switch {
	case slices.IsSortedFunc(rs, inOrder):
	case len(rs) < 256:
		slices.SortFunc(rs, inOrder)
	default:
		rs = radixSort(rs)
	}
	if keys[0].Kind() != eval.KString {
		return rs, nil
	}
	var failed error
	compared := 0
	text := func(a, b rank) int {
		if compared++; compared%lookEvery == 0 && failed == nil {
			failed = t.Stopped()
		}
		if failed != nil {
			return 0
		}
		x, _ := keys[a.at].AsString()
		y, _ := keys[b.at].AsString()
		if n := strings.Compare(x, y); n != 0 {
			return n
		}
		return a.at - b.at
	}
	for from, i := 0, 1; i <= len(rs); i++ {
		if i == len(rs) || rs[i].n != rs[from].n {
			slices.SortFunc(rs[from:i], text)
			from = i
		}
	}
	return rs, failed
}

// radixSort sorts by one byte of the ranks after the other, the lowest first.
func radixSort(rs []rank) []rank {
	var counts [8][256]int
	for _, r := range rs {
		for d := range counts {
			counts[d][uint8(r.n>>(8*d))]++
		}
	}
	out := make([]rank, len(rs))
	for d := range counts {
		shift, starts := 8*d, &counts[d]
		if starts[uint8(rs[0].n>>shift)] == len(rs) {
			continue // all have the same
		}
		sum := 0
		for i, n := range starts {
			starts[i] = sum
			sum += n
		}
		for _, r := range rs {
			p := &starts[uint8(r.n>>shift)]
			out[*p] = r
			*p++
		}
		rs, out = out, rs
	}
	return rs
}
