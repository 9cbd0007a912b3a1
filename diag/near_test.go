package diag

import "testing"

func TestNear(t *testing.T) {
	names := []string{"total", "count", "print", "x", "Reader", "prints"}
	for _, c := range []struct{ name, want string }{
		{"totl", "total"},
		{"toatl", "total"},
		{"TOTAL", "total"},
		{"cuont", "count"},
		{"reader", "Reader"},
		{"printt", "print"},
		{"total", ""}, // itself is no hint
		{"y", ""},
		{"elephant", ""},
		{"", ""},
	} {
		if got := Near(c.name, names); got != c.want {
			t.Errorf("Near(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 3, 0},
		{"abc", "abc", 3, 0},
		{"abc", "acb", 3, 1},
		{"abc", "abcd", 3, 1},
		{"kitten", "sitting", 3, 3},
		{"kitten", "sitting", 2, 3},
		{"a", "abcdef", 2, 3},
		{"äb", "ab", 3, 1},
	} {
		if got := edits(c.a, c.b, c.limit); got != c.want {
			t.Errorf("edits(%q, %q, %d) = %d, want %d", c.a, c.b, c.limit, got, c.want)
		}
	}
}
