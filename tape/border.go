package tape

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Line passes a line of input through the tape.
func (t *Tape) Line(read func() (string, error)) (string, error) {
	if t.Playing() {
		e, err := t.Next(Human, "", nil)
		if err != nil {
			return "", err
		}
		if e.Error != "" {
			return "", errors.New(e.Error)
		}
		var line string
		err = json.Unmarshal(e.Answer, &line)
		return line, err
	}
	line, err := read()
	e := Exchange{Kind: Human}
	if err != nil {
		e.Error = err.Error()
	} else {
		e.Answer = text(line)
	}
	if aerr := t.Add(e); aerr != nil {
		return "", aerr
	}
	return line, err
}

func text(s string) json.RawMessage {
	raw, _ := marshal(s) // text is always JSON
	return json.RawMessage(raw)
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
			return out, errors.New(e.Error)
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
	raw, merr := marshal(ask)
	if merr != nil {
		return out, merr
	}
	e := Exchange{Kind: kind, Who: who, Ask: json.RawMessage(raw)}
	if err != nil {
		e.Error = err.Error()
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
