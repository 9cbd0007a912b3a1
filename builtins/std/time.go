package std

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/tape"
)

func timeMembers(l *Library) []member {
	return []member{
		{"now()", "the seconds since 1970 in UTC, a Float", l.timeNow},
		{"iso(seconds)", "a time as text in UTC, such as 2026-01-31T09:30:00Z", timeISO},
		{"parse(text)", "the seconds since 1970 of such a text, of a date alone, or of one with another zone", timeParse},
		{"sleep(seconds)", "waits; others run meanwhile, and an interrupt ends it", l.timeSleep},
		{"monotonic()", "seconds that never go back, to measure with, a Float", l.timeMonotonic},
	}
}

func (l *Library) timeNow(*args) (eval.Value, error) {
	return eval.Float(seconds(l.o.Clock())), nil
}

// seconds gives a time as seconds since 1970, to the microsecond: a Float
// holds no more.
func seconds(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond()/1000)/1e6
}

func (l *Library) timeMonotonic(a *args) (eval.Value, error) {
	s, err := tape.Through(l.o.Tape, tape.Clock, "monotonic", nil, func() (float64, error) { return time.Since(l.started).Seconds(), nil })
	if err != nil {
		return eval.Value{}, a.fail("%v", err)
	}
	return eval.Float(s), nil
}

// The years that iso can write and parse can read.
const (
	minSeconds = -62167219200.0 // 0000-01-01
	maxSeconds = 253402300800.0 // 10000-01-01
)

func timeISO(a *args) (eval.Value, error) {
	s, err := a.number(0)
	if err != nil {
		return eval.Value{}, err
	}
	if !(s >= minSeconds && s < maxSeconds) {
		return eval.Value{}, a.fail("%s is not within the years 0 to 9999", a.vals[0].String())
	}
	whole := math.Floor(s)
	micros := math.Round((s - whole) * 1e6)
	t := time.Unix(int64(whole), int64(micros)*1000).UTC()
	return eval.String(t.Format("2006-01-02T15:04:05.999999Z07:00")), nil
}

// layouts are the forms that parse reads; fractions of a second are read after
// any of them. Without a zone a time is in UTC.
var layouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02", time.RFC1123, time.RFC1123Z,
}

func timeParse(a *args) (eval.Value, error) {
	text, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	s := strings.TrimSpace(text)
	if len(s) > 10 && (s[10] == ' ' || s[10] == 't') {
		s = s[:10] + "T" + s[11:]
	}
	s = strings.TrimSuffix(s, "z")
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return eval.Float(seconds(t)), nil
		}
	}
	if len(text) > 60 {
		text = strings.ToValidUTF8(text[:60], "") + "…"
	}
	return eval.Value{}, a.fail("%s is no time such as 2026-01-31T09:30:00Z", eval.Quote(text))
}

func (l *Library) timeSleep(a *args) (eval.Value, error) {
	if s, ok := a.vals[0].AsNumber(); ok && s == 0 {
		return eval.Nil(), a.stopped()
	}
	if a.vals[0].IsNil() {
		return eval.Value{}, a.wrong(0, "a number")
	}
	d, err := a.duration(0, 0)
	if err != nil {
		return eval.Value{}, err
	}
	if l.o.Tape.Playing() {
		d = 0 // what was waited for is on the tape
	}
	a.Thread.Blocking(func(ctx context.Context) {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	})
	return eval.Nil(), a.stopped()
}
