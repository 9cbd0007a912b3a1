package check

import (
	"slices"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// foreignTypes are other languages' names of types.
var foreignTypes = map[string]string{
	"str": "String", "text": "String", "list": "Array", "dict": "Map", "object": "Map", "None": "Nil", "void": "Nil",
	"number": "Float", "double": "Float", "boolean": "Bool", "any": "Any",
}

// annotation notes the names in an annotation that are no types but look like
// one: such a name accepts anything.
func (w *walker) annotation(t *ast.TypeExpr) {
	if t == nil {
		return
	}
	for _, a := range t.Args {
		w.annotation(a)
	}
	known := slices.Concat(coreTypes, objectTypes, []string{"Any", "Answer"})
	if slices.Contains(known, t.Name) || strings.EqualFold(t.Name, "Answer") {
		return
	}
	meant := foreignTypes[t.Name]
	if meant == "" {
		meant = diag.Near(t.Name, known)
	}
	if meant != "" {
		w.add(Note, "unknown-type", t.P, "there is no type '"+t.Name+"': this accepts anything", "did you mean '"+meant+"'?")
	}
}
