package eval

import "github.com/sense-lang/sense/ast"

// Header is how a function or a tool of the program is declared.
type Header struct {
	// Name is "lambda" for a lambda.
	Name string
	// Doc is what a tool does, or the text at the beginning of a function; ""
	// where there is none.
	Doc    string
	Params []*ast.Param
}

// HeaderOf gives the header of a function or a tool that the program declares; ok
// is false for any other value.
func HeaderOf(v Value) (h Header, ok bool) {
	if isFunc(v) {
		p := toFunc(v).proto
		h = Header{Name: p.name, Doc: p.doc}
		for i := range p.params {
			h.Params = append(h.Params, p.params[i].ast)
		}
		return h, true
	}
	if t, isTool := v.AsObject().(*Tool); isTool {
		doc, _ := t.Description()
		return Header{Name: t.Name(), Doc: doc, Params: t.Params()}, true
	}
	return Header{}, false
}
