package diag

import "testing"

func TestVisible(t *testing.T) {
	cases := map[string]string{
		"": "",
		"plain é 日本 👩‍👩‍👧 می‌خواهم": "plain é 日本 👩‍👩‍👧 می‌خواهم", // joiners stay
		"a\nb\tc\rd":         `a\nb\tc\rd`,
		"\x00\x1b\x7f\u009b": `\x00\x1b\x7f\x9b`,
		"\u202e\u2028\ufeff": `\u202e\u2028\ufeff`,
		"\U000e0041":         `\U000e0041`,
		"ok \xff\xc3":        `ok \xff\xc3`,
		"\ufffd":             "\ufffd",
	}
	for in, want := range cases {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %s, want %s", in, got, want)
		}
	}
}
