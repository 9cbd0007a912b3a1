package builtins

import (
	"math/big"
	"time"

	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/eval"
)

// builtinAudit gives every entry of the audit as a Map, oldest first.
func builtinAudit(c *eval.Call) (eval.Value, error) {
	out := eval.NewArray(0)
	for _, e := range c.Thread.Interp().Audit().All() {
		out.Push(auditEntry(&e))
	}
	return out.Value(), nil
}

func auditEntry(e *audit.Entry) eval.Value {
	m := eval.NewMap()
	m.Set("kind", eval.String(e.Kind))
	m.Set("name", eval.String(e.Name))
	m.Set("event", eval.String(e.Event))
	m.Set("detail", eval.String(e.Detail))
	m.Set("file", eval.String(e.File))
	m.Set("line", eval.Int(int64(e.Pos.Line)))
	m.Set("time", eval.String(e.Time.UTC().Format(time.RFC3339Nano)))
	m.Set("lineage", eval.Strings(e.Lineage))
	m.Set("calls", eval.Strings(e.Calls))
	for _, f := range e.Fields {
		m.Set(f.Key, fieldValue(f.Value))
	}
	return m.Value()
}

func fieldValue(x any) eval.Value {
	switch x := x.(type) {
	case nil:
		return eval.Nil()
	case bool:
		return eval.Bool(x)
	case int:
		return eval.Int(int64(x))
	case int64:
		return eval.Int(x)
	case float64:
		return eval.Float(x)
	case string:
		return eval.String(x)
	case *big.Int:
		return eval.BigInt(x)
	}
	return eval.Nil()
}
