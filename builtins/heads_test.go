package builtins

import (
	"strings"
	"testing"

	"github.com/sense-lang/sense/eval"
)

// TestHeads sees to it that every builtin and method says how it is called, and
// that this is true of the number of its arguments.
func TestHeads(t *testing.T) {
	left := map[string]bool{}
	for name := range heads() {
		left[name] = true
	}
	look := func(name string, s eval.Signature, doc string) {
		delete(left, name)
		head, about, _ := strings.Cut(doc, "\n")
		if !strings.HasPrefix(head, name[strings.LastIndexByte(name, '.')+1:]+"(") || about == "" {
			t.Errorf("%s is documented as %q", name, doc)
		}
		if s.Params != nil && (s.Max != len(s.Params) || s.Min != s.Required) {
			t.Errorf("%s takes %d to %d arguments, its head is %s", name, s.Min, s.Max, head)
		}
	}
	for _, bs := range []map[string]eval.Value{Universe(&Deps{}), Extra(&Deps{})} {
		for name, v := range bs {
			s, _ := eval.SignatureOf(v)
			look(name, s, doc(name))
		}
	}
	for typ, ms := range TypeMethods() {
		for name, m := range ms {
			look(typ+"."+name, m.Signature(typ), m.Doc)
		}
	}
	for name := range left {
		t.Errorf("there is no %s", name)
	}
}
