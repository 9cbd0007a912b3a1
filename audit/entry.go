package audit

import (
	"strconv"
	"strings"
	"time"

	"github.com/sense-lang/sense/diag"
)

// Entry is one event of a run.
type Entry struct {
	// Name is what the event is about: an action, a tool, a model.
	Name string
	// Kind is "reversible", "irreversible", "tool" or "model", or another word
	// for what only the richer audit knows.
	Kind string
	// Event is what happened, such as "called" or "denied".
	Event string
	// Detail says more, such as why; it may be foreign text.
	Detail string
	// File and Pos are the place of the call; zero where there is none.
	File string
	Pos  diag.Pos
	// Time is set by the Log where it is zero.
	Time time.Time
	// Lineage is the lexical chain of agents, tools, actions and rollbacks
	// around the place, outermost first, as "agent:a".
	Lineage []string
	// Calls is the true chain of active calls, outermost first.
	Calls []string
	// Fields hold whatever else is known, in order.
	Fields []Field
	// Extra marks what only the richer audit shows; Lines leaves it out.
	Extra bool
	// Unplaced makes Lines leave the line out, as the events of commit() do.
	Unplaced bool
	// Durable asks a sink to bring the entry to the disk before it returns, as
	// an intent must be before the effect.
	Durable bool
}

// Field is one further piece of an entry. Value is nil or a bool, an int, an
// int64, a float64, a string, or a []any or map[string]any of such; anything
// else is kept as it prints.
type Field struct {
	Key   string
	Value any
}

// Line gives the entry as audit_log() shows it. Whatever foreign text it holds,
// it is one line.
func (e *Entry) Line() string {
	b := make([]byte, 0, 64+len(e.Name)+len(e.Detail))
	if e.Pos.Line > 0 && !e.Unplaced {
		b = append(b, "[line "...)
		b = strconv.AppendInt(b, int64(e.Pos.Line), 10)
		b = append(b, "] "...)
	}
	return string(e.appendText(b))
}

// appendText appends the part of a line that follows the place.
func (e *Entry) appendText(b []byte) []byte {
	b = append(b, diag.Visible(e.Kind)...)
	if e.Kind == "reversible" || e.Kind == "irreversible" {
		b = append(b, " action"...)
	}
	b = append(b, " '"...)
	b = append(b, escapeName(e.Name)...)
	b = append(b, "' -> "...)
	b = append(b, diag.Visible(e.Event)...)
	if e.Detail != "" {
		b = append(b, " ("...)
		b = append(b, diag.Visible(e.Detail)...)
		b = append(b, ')')
	}
	for i, part := range e.Lineage {
		b = append(b, [2]string{" (via ", " > "}[min(i, 1)]...)
		b = append(b, diag.Visible(part)...)
	}
	if len(e.Lineage) > 0 {
		b = append(b, ')')
	}
	return b
}

// escapeName escapes a name so that it cannot end its own quotes.
func escapeName(s string) string {
	return strings.ReplaceAll(diag.Visible(s), "'", `\'`)
}

// size is about the memory that an entry takes, in bytes. Strings of the
// program's own text are shared and not counted.
func (e *Entry) size() int64 {
	n := storedSize + len(e.Detail) + 16*(len(e.Lineage)+len(e.Calls))
	for _, f := range e.Fields {
		n += len(f.Key) + valueSize(f.Value)
	}
	return int64(n)
}

// valueSize is about the memory of a field's value, in bytes.
func valueSize(v any) int {
	const word = 40
	switch v := v.(type) {
	case string:
		return word + len(v)
	case []any:
		n := word
		for _, x := range v {
			n += valueSize(x)
		}
		return n
	case map[string]any:
		n := word
		for k, x := range v {
			n += len(k) + word + valueSize(x)
		}
		return n
	}
	return word
}
