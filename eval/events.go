package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/sense-lang/sense/audit"
)

// Besides the entries that audit_log() shows, the audit has events that only
// audit(), the file and the console show. They are made when somebody can see
// them: Config.FullAudit is set, a sink keeps them, or the program names audit.

// full reports whether the richer audit is kept.
func (in *Interp) full() bool {
	return in.cfg.FullAudit || in.namesAudit || in.cfg.Audit.Sink != nil
}

// FullAudit reports whether anybody sees the richer audit.
func (in *Interp) FullAudit() bool { return in.full() }

// FullAudit reports whether anybody sees what Event and Intent note.
func (p Place) FullAudit() bool { return p.th.in.full() }

// Event notes something of the richer audit at a place. Its error means that
// what it announces must not happen.
func (p Place) Event(kind, name, event, detail string, fields ...audit.Field) error {
	return p.event(false, kind, name, event, detail, fields)
}

// Intent is an Event that is on the disk, where there is one, before it
// returns: something is about to be done to the world.
func (p Place) Intent(kind, name, event, detail string, fields ...audit.Field) error {
	return p.event(true, kind, name, event, detail, fields)
}

func (p Place) event(durable bool, kind, name, event, detail string, fields []audit.Field) error {
	in := p.th.in
	if !in.full() {
		return nil
	}
	return in.cfg.Audit.Add(audit.Entry{Name: name, Kind: kind, Event: event, Detail: detail, File: p.File(), Pos: p.pos,
		Lineage: p.Lineage(), Calls: p.calls(), Fields: p.origin(fields), Extra: true, Durable: durable})
}

// AskedBy says from here on whose wish the thread's calls are, such as that of a
// model; "" means the program's own. It gives what was said before.
func (th *Thread) AskedBy(who string) (before string) {
	before, th.askedBy = th.askedBy, who
	return before
}

// origin adds to an entry's fields whose wish it is, where it is not the
// program's own.
func (p Place) origin(fields []audit.Field) []audit.Field {
	if p.th.askedBy == "" {
		return fields
	}
	return append(fields, audit.Field{Key: "asked_by", Value: p.th.askedBy})
}

// calls gives the names of the active calls, outermost first.
func (p Place) calls() []string {
	if p.fr == nil {
		return nil
	}
	var out []string
	w := p.th.walk(p.fr)
	w.seg = p.th.segmentOf(p.fr)
	for w.fn != nil && len(out) < maxTrace {
		out = append(out, w.fn.proto.name)
		if _, ok := w.up(); !ok {
			break
		}
	}
	slices.Reverse(out)
	return out
}

// Digest gives a hash of values as they are now: equal data gives the same one.
// Agents, memories, servers and the like count by identity.
func (in *Interp) Digest(vs []Value) string {
	d := digester{in: in, h: make([]byte, 0, 256)}
	for _, v := range vs {
		d.value(v)
	}
	sum := sha256.Sum256(d.h)
	return hex.EncodeToString(sum[:])
}

// identity gives a number to an object, the same each time.
func (in *Interp) identity(v Value) string {
	var key any = v
	if o := v.AsObject(); o != nil {
		key = o
	}
	if in.ids == nil {
		in.ids = map[any]int{}
	}
	n, ok := in.ids[key]
	if !ok {
		n = len(in.ids) + 1
		in.ids[key] = n
	}
	return typeName(v) + "#" + strconv.Itoa(n)
}
