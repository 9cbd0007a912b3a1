package diag

import "testing"

func TestRepr(t *testing.T) {
	for in, want := range map[string]string{
		"":           `''`,
		"x":          `'x'`,
		"'":          `"'"`,
		`it's`:       `"it's"`,
		`"it's"`:     `'"it\'s"'`,
		"a\nb\r\t":   `'a\nb\r\t'`,
		`a\b`:        `'a\\b'`,
		"\u00a0":     `'\xa0'`,
		"\ufeff":     `'\ufeff'`,
		"\x00\x7f":   `'\x00\x7f'`,
		"é日🙂":        `'é日🙂'`,
		"\U000e0001": `'\U000e0001'`,
		"\u2028":     `'\u2028'`,
		"a\xffb":     `'a\xffb'`,
		"\ufffd":     "'\ufffd'",
	} {
		if got := Repr(in); got != want {
			t.Errorf("Repr(%q) = %s, want %s", in, got, want)
		}
	}
}
