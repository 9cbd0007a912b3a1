package builtins

import (
	"encoding/json"
	"strings"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/model"
)

// A model may propose actions: what it asks for is prepared and nothing runs.
// The program finds the proposals in the answer's .actions and decides.

// actionOffer offers an action to a model.
func actionOffer(v eval.Value, a *eval.ActionDecl) *offer {
	o := &offer{value: v, name: model.ToolName{Tool: a.Name()}}
	o.spec = model.ToolSpec{Description: actionDescription(a), Schema: toolSchema(a.Params())}
	o.call = func(th *eval.Thread, args json.RawMessage) (string, []model.Image, error) {
		given, err := argumentsOf(a.Name(), a.Params(), args)
		if err != nil {
			return "", nil, err
		}
		p, err := th.CallLabeled(v, nil, given)
		if err != nil {
			return "", nil, err
		}
		*o.proposed = append(*o.proposed, p)
		text := "pending: proposed, not done; the program decides"
		if made, ok := p.AsObject().(*eval.Action); ok {
			text += "\n" + made.Describe()
		}
		return text, nil, nil
	}
	return o
}

func actionDescription(a *eval.ActionDecl) string {
	doc := strings.TrimSpace(a.Doc())
	if doc == "" {
		doc = "The action " + a.Name() + "."
	}
	return doc + " (A call proposes this; it is done only if the program decides so.)"
}
