package eval

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// otherWords are words of other languages and what they are here. raise is one
// where nothing follows it.
var otherWords = map[string]string{
	"None": "write nil", "null": "write nil", "undefined": "write nil", "True": "write true", "False": "write false",
	"raise":     "raise needs what is raised: raise \"message\", or raise e for an error that was caught",
	"Exception": "raise takes the message itself: raise \"message\"", "ValueError": "raise takes the message itself: raise \"message\"",
	"std":  "a standard module goes by its last name: after import std.json, json.parse(...)",
	"dict": "a map is written {\"key\": value}", "list": "an array is written [a, b]",
}

// noName is the error of a name that nothing binds.
func noName(name string) *diag.Error {
	e := diag.New(diag.Name, "undefined variable '%s'", name)
	if w, ok := otherWords[name]; ok {
		e.Notes = []string{w}
	}
	return e
}

// maxGuesses bounds the unknown names of a file that are compared with those
// there are.
const maxGuesses = 100

// unknown compiles a read of a name that nothing around it binds.
func (c *compiler) unknown(e *ast.Ident) expr {
	var around []string
	if c.guesses++; c.guesses <= maxGuesses {
		around = append(c.in.BuiltinNames(), c.mod.Names()...)
		for s := c.sc; s != nil; s = s.parent {
			around = append(around, slices.Sorted(maps.Keys(s.names))...)
		}
	}
	near := diag.Near(e.Name, around)
	return func(fr fp) Value {
		err := noName(e.Name)
		if len(err.Notes) == 0 {
			err = err.DidYouMean(e.Name, []string{near})
		}
		fail(fr, &e.P, err)
		return Value{}
	}
}

// unknownYet compiles a read of a name that a later input of a prompt may bind.
func (c *compiler) unknownYet(e *ast.Ident, g *Global) expr {
	missing := c.unknown(e)
	return func(fr fp) Value {
		if v := g.v; v.p != nil {
			return v
		}
		return missing(fr)
	}
}

// nearMember adds to the error of a member that v does not have the one that was
// probably meant.
func (th *Thread) nearMember(err error, v Value, name string) error {
	var e *diag.Error
	if errors.As(err, &e) && len(e.Notes) == 0 && strings.HasSuffix(e.Msg, "has no member '"+name+"'") {
		return e.DidYouMean(name, th.in.MemberNames(v))
	}
	return err
}

// maxNearKeys bounds the keys of a Map that a missing one is compared with.
const maxNearKeys = 200

// NoKey is the error of a key that a Map does not have.
func NoKey(m *Map, key string) error {
	e := diag.New(diag.Runtime, "no key %s in map", Quote(key))
	var keys []string
	for k := range m.All() {
		if keys = append(keys, k); len(keys) > maxNearKeys {
			return e
		}
	}
	return e.DidYouMean(key, keys)
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
		return e.DidYouMean(name, th.in.MemberNames(v))
	}
	return e
}
