package tape

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/sense-lang/sense/diag"
)

// Line passes a line of input through the tape.
func (t *Tape) Line(read func() (string, error)) (string, error) {
	return Through(t, Human, "", nil, read)
}

func text(s string) json.RawMessage {
	raw, _ := marshal(s) // text is always JSON
	return json.RawMessage(raw)
}

// Env passes the value of an environment variable through the tape.
func (t *Tape) Env(name string, look func() (string, bool)) (string, bool) {
	if t == nil {
		return look()
	}
	// A tape that has no such variable, or cannot be written, keeps the error.
	v, err := Through(t, Env, name, nil, func() (*string, error) {
		if v, ok := look(); ok {
			return &v, nil
		}
		return nil, nil
	})
	if err != nil || v == nil {
		return "", false
	}
	return *v, true
}

// Now passes the time through the tape. A tape that has no further time, or
// cannot be written, gives the real one: the next exchange will tell.
func (t *Tape) Now(now func() time.Time) time.Time {
	if t.Playing() {
		if e, err := t.Next(Clock, "", nil); err == nil {
			var at time.Time
			if json.Unmarshal(e.Answer, &at) == nil {
				return at
			}
		}
		return now()
	}
	at := now().Round(0)
	_ = t.Add(Exchange{Kind: Clock, Answer: text(at.Format(time.RFC3339Nano))}) // Add keeps the error for the next exchange
	return at
}

// Seed passes the bytes that chance begins with through the tape.
func (t *Tape) Seed(seed []byte) {
	if t.Playing() {
		if e, err := t.Next(Random, "", nil); err == nil {
			var got []byte
			if json.Unmarshal(e.Answer, &got) == nil {
				copy(seed, got)
			}
		}
		return
	}
	raw, _ := json.Marshal(seed)
	_ = t.Add(Exchange{Kind: Random, Answer: raw}) // Add keeps the error for the next exchange
}

// Through passes an exchange through a tape: a nil one asks the world, one that
// plays answers by itself, one that records does both. A context's end is no
// exchange.
func Through[T any](t *Tape, kind, who string, ask any, real func() (T, error)) (T, error) {
	var out T
	if t == nil {
		return real()
	}
	if t.Playing() {
		e, err := t.Next(kind, who, ask)
		if err != nil {
			return out, err
		}
		if e.Error != "" {
			return out, e.failure()
		}
		if len(e.Answer) == 0 {
			return out, nil
		}
		err = json.Unmarshal(e.Answer, &out)
		return out, err
	}
	out, err := real()
	if errors.Is(err, context.Canceled) {
		return out, err
	}
	e := Exchange{Kind: kind, Who: who}
	var raw string
	var merr error
	if ask != nil {
		if raw, merr = marshal(ask); merr != nil {
			return out, merr
		}
		e.Ask = json.RawMessage(raw)
	}
	if err != nil {
		e.fail(err)
	} else if raw, merr = marshal(out); merr != nil {
		return out, merr
	} else {
		e.Answer = json.RawMessage(raw)
	}
	if aerr := t.Add(e); aerr != nil {
		return out, aerr
	}
	return out, err
}

// fail keeps what went wrong.
func (e *Exchange) fail(err error) {
	e.Error = err.Error()
	if k := diag.KindOf(err); k != diag.Runtime {
		e.Fault = k
	}
}

// failure gives what went wrong when the exchange was recorded.
func (e *Exchange) failure() error {
	kind := e.Fault
	if kind == "" {
		kind = diag.Runtime
	}
	return diag.New(kind, "%s", e.Error)
}
