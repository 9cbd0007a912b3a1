package eval

import (
	"slices"

	"github.com/sense-lang/sense/diag"
)

// otherWords are words of other languages and what they are here. raise is one
// where nothing follows it.
var otherWords = map[string]string{
	"None": "write nil", "null": "write nil", "undefined": "write nil", "True": "write true", "False": "write false",
	"raise":     "raise needs what is raised: raise \"message\", or raise e for an error that was caught",
	"Exception": "raise takes the message itself: raise \"message\"", "ValueError": "raise takes the message itself: raise \"message\"",
	"dict": "a map is written {\"key\": value}", "list": "an array is written [a, b]",
}

// noName is the error of a name that nothing binds.
func noName(name string) error {
	e := diag.New(diag.Name, "undefined variable '%s'", name)
	if w, ok := otherWords[name]; ok {
		e.Notes = []string{w}
	}
	return e
}

// noPair is the error of a loop that takes apart what is one String, as the keys
// of a Map are.
func noPair(v Value, n int) error {
	e := diag.New(diag.Runtime, "cannot take apart value of type %s into %d names", typeName(v), n)
	e.Notes = []string{"of a Map a loop gets the keys; .items() gives keys and values"}
	return e
}

// sizeWords are what other languages call the number of elements.
var sizeWords = []string{"length", "size", "count", "len"}

// noMember is the error of a member that a value of the core does not have, with
// what was probably meant.
func (th *Thread) noMember(v Value, name string) error {
	e := diag.New(diag.Runtime, "cannot access member '%s' on type %s", name, typeName(v))
	inMap := false
	if isMap(v) {
		_, inMap = toMap(v).Get(name)
	}
	switch {
	case th.in.cfg.TypeMethods[typeName(v)] == nil:
	case slices.Contains(sizeWords, name):
		e.Notes = []string{"write len(...)"}
	case inMap:
		e.Notes = []string{"a Map's values are read by their keys: [" + Quote(name) + "]"}
	default:
		if near := diag.Near(name, th.in.MemberNames(v)); near != "" {
			e.Notes = []string{"did you mean '" + near + "'?"}
		}
	}
	return e
}
