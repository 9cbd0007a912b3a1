package near

import (
	"strings"
	"testing"
)

func TestEdits(t *testing.T) {
	long := strings.Repeat("a", longest+1)
	for _, c := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 0, 0},
		{"same", "same", 0, 0},
		{"read", "raed", 3, 2},
		{"read", "reads", 3, 1},
		{"kitten", "sitting", 3, 3},
		{"kitten", "sitting", 2, 3},
		{"größe", "grosse", 3, 3},
		{"ab", "abcdef", 2, 3},
		{long, long, 5, 6},
	} {
		if got := Edits(c.a, c.b, c.limit); got != c.want {
			t.Errorf("Edits(%q, %q, %d) = %d, want %d", c.a, c.b, c.limit, got, c.want)
		}
		if got := Edits(c.b, c.a, c.limit); got != c.want {
			t.Errorf("Edits(%q, %q, %d) = %d, want %d", c.b, c.a, c.limit, got, c.want)
		}
	}
}
