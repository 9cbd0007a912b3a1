package inspect

import (
	"errors"
	"fmt"

	"github.com/sense-lang/sense/diag"
)

// kindNames are the names under which the kinds of errors are known; all others
// are runtime errors.
var kindNames = map[diag.Kind]string{
	diag.Syntax:    "SenseSyntaxError",
	diag.Name:      "SenseNameError",
	diag.Type:      "SenseTypeError",
	diag.Import:    "SenseImportError",
	diag.Policy:    "SensePolicyError",
	diag.Approval:  "SenseApprovalError",
	diag.Timeout:   "SenseTimeoutError",
	diag.Limit:     "SenseLimitError",
	diag.Interrupt: "SenseInterrupt",
}

// failure is the answer that tells an error of a program.
func failure(err error) object {
	name, ok := kindNames[diag.KindOf(err)]
	if !ok {
		name = "SenseRuntimeError"
	}
	o := object{{"ok", false}, {"error", name}, {"message", bareMessage(err)}}
	var e *diag.Error
	if !errors.As(err, &e) {
		return o
	}
	if e.Pos.IsValid() {
		o = o.with(member{"line", int(e.Pos.Line)}, member{"file", orNil(e.File)})
	}
	if len(e.Notes) > 0 {
		o = o.with(member{"notes", texts(e.Notes)})
	}
	return o
}

// bareMessage gives an error's message without the line it happened in.
func bareMessage(err error) string {
	var e *diag.Error
	if errors.As(err, &e) {
		return clip(e.Msg, maxText)
	}
	return clip(err.Error(), maxText)
}

// refusal is the answer to a request that is wrong in itself.
func refusal(name, format string, args ...any) object {
	return object{{"ok", false}, {"error", name}, {"message", fmt.Sprintf(format, args...)}}
}
