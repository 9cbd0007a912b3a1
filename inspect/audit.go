package inspect

import (
	"fmt"
	"strconv"

	"github.com/sense-lang/sense/audit"
)

// maxAudit bounds the entries of the audit that one answer gives.
const maxAudit = 10_000

// auditLog gives the entries of the run, newest first. after leaves out the
// first so many, so that a page asks for what is new; limit bounds how many.
func (c *Console) auditLog(after, limit int) object {
	log := c.in.Audit()
	n := log.Len()
	entries := array{}
	for i := n - 1; i >= max(after, 0) && len(entries) < limit; i-- {
		entries = append(entries, auditEntry(i, log.At(i)))
	}
	return object{{"ok", true}, {"entries", entries}, {"total", n}}
}

func auditEntry(i int, e audit.Entry) object {
	var line any
	if e.Pos.IsValid() {
		line = int(e.Pos.Line)
	}
	o := object{
		{"action_name", e.Name},
		{"kind", e.Kind},
		{"event", e.Event},
		{"detail", orNil(e.Detail)},
		{"line", line},
		{"timestamp", float64(e.Time.UnixMicro()) / 1e6},
		{"lineage", texts(e.Lineage)},
		{"number", i + 1},
		{"file", orNil(e.File)},
	}
	fields := array{}
	for _, f := range e.Fields {
		fields = append(fields, object{{"key", f.Key}, {"value", fieldValue(f.Value)}})
	}
	return o.with(member{"fields", fields})
}

// fieldValue gives a field of an entry as JSON; structures as they print.
func fieldValue(v any) any {
	switch v := v.(type) {
	case nil, bool, int, float64, string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return clip(fmt.Sprint(v), maxText)
}
