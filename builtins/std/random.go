package std

import (
	cryptorand "crypto/rand"
	"crypto/sha256"
	"math/big"
	"math/rand/v2"

	"github.com/sense-lang/sense/eval"
)

func randomMembers(l *Library) []member {
	return []member{
		{"seed(n)", "makes what follows the same in every run; n is an Int or a String", l.randomSeed},
		{"int(least, most)", "an Int from least to most, both included", l.randomInt},
		{"float()", "a Float from 0 up to, not including, 1", l.randomFloat},
		{"choice(array)", "one element of an Array", l.randomChoice},
		{"shuffle(array)", "puts the elements of an Array in random order, in place, and gives it", l.randomShuffle},
	}
}

// source is a program's stream of random numbers. ChaCha8's stream is part of
// its definition, so a seed means the same in every version. Programs run one
// statement at a time, which guards it.
type source struct {
	stream *rand.ChaCha8
	seed   func(seed []byte) // may look at or change what a stream begins with
}

// next gives 64 random bits. Without a seed they cannot be foretold.
func (s *source) next() uint64 {
	if s.stream == nil {
		var seed [32]byte
		_, _ = cryptorand.Read(seed[:]) // it never fails
		if s.seed != nil {
			s.seed(seed[:])
		}
		s.stream = rand.NewChaCha8(seed)
	}
	return s.stream.Uint64()
}

// below gives a number from 0 up to, not including, n. Numbers beyond the
// largest multiple of n are thrown away, so that all are equally likely.
func (s *source) below(n uint64) uint64 {
	if n&(n-1) == 0 {
		return s.next() & (n - 1)
	}
	limit := -n % n // 2^64 mod n
	for {
		if x := s.next(); x >= limit {
			return x % n
		}
	}
}

// belowBig is below for a number of any size.
func (s *source) belowBig(n *big.Int) *big.Int {
	if n.IsUint64() {
		return new(big.Int).SetUint64(s.below(n.Uint64()))
	}
	bits := n.BitLen()
	for {
		x := new(big.Int)
		for got := 0; got < bits; got += 64 {
			x.Or(x.Lsh(x, 64), new(big.Int).SetUint64(s.next()))
		}
		if x.Rsh(x, uint((64-bits%64)%64)); x.Cmp(n) < 0 {
			return x
		}
	}
}

func (l *Library) randomSeed(a *args) (eval.Value, error) {
	var text string
	if b, ok := a.vals[0].AsBig(); ok {
		text = "int:" + b.Text(16)
	} else if s, ok := a.vals[0].AsString(); ok {
		text = "text:" + s
	} else {
		return eval.Value{}, a.wrong(0, "an Int or a String")
	}
	l.random.stream = rand.NewChaCha8(sha256.Sum256([]byte(text)))
	return eval.Nil(), nil
}

func (l *Library) randomInt(a *args) (eval.Value, error) {
	least, most, err := a.twoBig()
	if err != nil {
		return eval.Value{}, err
	}
	n := new(big.Int).Sub(most, least)
	if n.Sign() < 0 {
		return eval.Value{}, a.fail("'most' must not be below 'least', got %s", a.shown())
	}
	x := l.random.belowBig(n.Add(n, big.NewInt(1)))
	return eval.BigInt(x.Add(x, least)), nil
}

func (l *Library) randomFloat(*args) (eval.Value, error) {
	return eval.Float(float64(l.random.next()>>11) / (1 << 53)), nil
}

// array reads an Array.
func (a *args) array(i int) (*eval.Array, error) {
	list, ok := a.vals[i].AsArray()
	if !ok {
		return nil, a.wrong(i, "an Array")
	}
	return list, nil
}

func (l *Library) randomChoice(a *args) (eval.Value, error) {
	list, err := a.array(0)
	if err != nil {
		return eval.Value{}, err
	}
	if list.Len() == 0 {
		return eval.Value{}, a.fail("the Array is empty")
	}
	return list.At(int(l.random.below(uint64(list.Len())))), nil
}

func (l *Library) randomShuffle(a *args) (eval.Value, error) {
	list, err := a.array(0)
	if err != nil {
		return eval.Value{}, err
	}
	for i := list.Len() - 1; i > 0; i-- {
		j := int(l.random.below(uint64(i + 1)))
		x, y := list.At(i), list.At(j)
		list.Set(i, y)
		list.Set(j, x)
	}
	return a.vals[0], nil
}
