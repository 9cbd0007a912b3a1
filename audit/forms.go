package audit

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// forms gives the ways in which a secret may appear in text.
func forms(secret string) []string {
	list := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), percentAll(secret)}
	list = append(list, lowerEscapes(list[1]), lowerEscapes(list[2]), lowerEscapes(list[3]))
	list = append(list, hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))))
	if quoted, err := json.Marshal(secret); err == nil {
		list = append(list, string(quoted[1:len(quoted)-1]))
	}
	for shift := range 3 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			list = append(list, base64Within(enc, secret, shift))
		}
	}
	return list
}

// base64Within gives the characters that stand for a secret, and for it alone,
// when shift bytes (0 to 2) go before it in a group of three, as the user's name
// does in "user:password".
func base64Within(enc *base64.Encoding, secret string, shift int) string {
	text := enc.EncodeToString(append(make([]byte, shift), secret...))
	first := (8*shift + 5) / 6              // the first character without a bit of what goes before
	last := (8 * (shift + len(secret))) / 6 // the first one with a bit of what may follow
	return text[first:last]
}

// percentAll escapes every byte, as some clients do.
func percentAll(s string) string {
	var b strings.Builder
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		b.WriteByte('%')
		b.WriteByte(digits[s[i]>>4])
		b.WriteByte(digits[s[i]&15])
	}
	return b.String()
}

// lowerEscapes writes the digits of percent escapes small.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}
