package check

import "testing"

func TestAnnotationsThatAreNoTypes(t *testing.T) {
	run(t, []example{
		{"another language's", "def f(a: int) -> str: return a\nf(1)",
			"note 1:10 unknown-type: there is no type 'int': this accepts anything (did you mean 'Int'?)\n" +
				"note 1:18 unknown-type: there is no type 'str': this accepts anything (did you mean 'String'?)"},
		{"inside another", "y: Array<dict> = []", "note 1:10 unknown-type: there is no type 'dict': this accepts anything (did you mean 'Map'?)"},
		{"of a tool", "tool t(a: Strng) returns Itn \"t\": return a",
			"note 1:11 unknown-type: there is no type 'Strng': this accepts anything (did you mean 'String'?)\n" +
				"note 1:26 unknown-type: there is no type 'Itn': this accepts anything (did you mean 'Int'?)"},
		{"a name of one's own", "z: Order = 1\nw: Any = 1\nm: Map<Array<Int>> = {}", ""},
	})
}
