//go:build !race

package eval_test

import "testing"

// Arrays that hold one array many times unfold to more elements than anybody
// can look at; comparing and printing them must still come to an end. The race
// detector has nothing to find in one thread and would take a minute over it.
func TestSharedArraysComeToAnEnd(t *testing.T) {
	grow := "a = [1.5]\nb = [1.5]\nfor i in range(60):\n    a = [a, a]\n    b = [b, b]\n"
	out, err := exec(t, grow+"print(a == a)\nprint(a == b)\n")
	if out != "true\ntrue\n" || err != nil {
		t.Errorf("%q %v", out, err)
	}
	_, err = exec(t, grow+"str(a)\n")
	if text(err) != "[line 6] the text of the value is too long (limit 67108864 bytes)" {
		t.Errorf("%v", err)
	}
}
