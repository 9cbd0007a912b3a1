package std

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/sense-lang/sense/eval"
)

func base64Members(*Library) []member {
	return []member{
		{"encode(text)", "the text's UTF-8 bytes in Base64", encode64(base64.StdEncoding)},
		{"encode_url(text)", "the same in the alphabet for URLs, without padding", encode64(base64.RawURLEncoding)},
		{"decode(text)", "the text behind Base64 of either alphabet, with or without padding", decode64},
	}
}

func encode64(enc *base64.Encoding) func(a *args) (eval.Value, error) {
	return func(a *args) (eval.Value, error) {
		s, err := a.text(0)
		if err == nil {
			err = a.Thread.Reserve(int64(len(s)) * 3)
		}
		if err != nil {
			return eval.Value{}, err
		}
		return eval.String(enc.EncodeToString([]byte(s))), err
	}
}

// decode64 takes spaces and line ends, either alphabet and missing padding, but
// nothing else that is not Base64.
func decode64(a *args) (eval.Value, error) {
	s, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	s = strings.Join(strings.Fields(s), "")
	s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
	body := strings.TrimRight(s, "=")
	if pad := len(s) - len(body); pad > 0 && (pad > 2 || len(s)%4 != 0) {
		return eval.Value{}, a.fail("the padding is wrong")
	}
	raw, err := base64.RawStdEncoding.DecodeString(body)
	if err != nil {
		return eval.Value{}, a.fail("the text is not Base64")
	}
	if !utf8.Valid(raw) {
		return eval.Value{}, a.fail("what it stands for is not UTF-8 text")
	}
	return eval.String(string(raw)), nil
}
