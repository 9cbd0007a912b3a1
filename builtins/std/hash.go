package std

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"

	"github.com/sense-lang/sense/eval"
)

// algorithms are the digests by name.
var algorithms = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New,
}

func hashMembers(*Library) []member {
	return []member{
		{"sha256(text)", "the SHA-256 digest of the text's UTF-8 bytes, in hexadecimal", digest("sha256")},
		{"sha512(text)", "the SHA-512 digest", digest("sha512")},
		{"sha1(text)", "the SHA-1 digest, for old formats only: it is broken", digest("sha1")},
		{"md5(text)", "the MD5 digest, for old formats only: it is broken", digest("md5")},
		{"hmac(key, text, algorithm?)", "the keyed digest (HMAC) of the text, with sha256 unless another is named", hashHMAC},
		{"equal(a, b)", "whether two texts are equal, in a time that does not tell where they differ", hashEqual},
	}
}

func digest(name string) func(a *args) (eval.Value, error) {
	return func(a *args) (eval.Value, error) {
		s, err := a.text(0)
		if err != nil {
			return eval.Value{}, err
		}
		return eval.String(sum(algorithms[name](), s)), nil
	}
}

func sum(h hash.Hash, s string) string {
	h.Write([]byte(s))
	return hex.EncodeToString(h.Sum(nil))
}

func hashHMAC(a *args) (eval.Value, error) {
	key, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	s, err := a.text(1)
	if err != nil {
		return eval.Value{}, err
	}
	name, err := a.textOr(2, "sha256")
	if err != nil {
		return eval.Value{}, err
	}
	algorithm := algorithms[name]
	if algorithm == nil {
		return eval.Value{}, a.fail("unknown algorithm %s (there are md5, sha1, sha256, sha512)", eval.Quote(name))
	}
	return eval.String(sum(hmac.New(algorithm, []byte(key)), s)), nil
}

func hashEqual(a *args) (eval.Value, error) {
	x, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	y, err := a.text(1)
	return eval.Bool(hmac.Equal([]byte(x), []byte(y))), err
}
