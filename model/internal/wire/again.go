package wire

import (
	"context"
	"errors"
	"strings"

	"github.com/sense-lang/sense/model"
)

// broken is a stream that broke off, or brought what is no JSON: the next attempt
// may bring the whole answer.
type broken struct{ cause error }

func (b *broken) Error() string { return b.cause.Error() }
func (b *broken) Unwrap() error { return b.cause }

// brokenOff marks the error of a stream as one that may pass. The end of the
// time for it does not.
func brokenOff(err error) error {
	var known *model.Error
	var f *failure
	if errors.As(err, &f) && !f.retry || !errors.As(err, &known) {
		return err
	}
	return &broken{err}
}

// Garbled is the error of an event that is no JSON.
func Garbled() error { return brokenOff(Nonsense("an event of the answer is not a JSON object")) }

// attempts counts the attempts at one turn, so that a stream that breaks off and
// a service that refuses share Options.Retries.
type attempts struct{ failed int }

type attemptsKey struct{}

func withAttempts(ctx context.Context) context.Context {
	return context.WithValue(ctx, attemptsKey{}, &attempts{})
}

func attemptsOf(ctx context.Context) *attempts {
	if a, ok := ctx.Value(attemptsKey{}).(*attempts); ok {
		return a
	}
	return &attempts{}
}

// Again asks for an answer in pieces, and once more where it breaks off: what
// was shown already is not shown a second time.
func Again(ctx context.Context, o *model.Options, req *model.Request, ask func(*model.Request) (*model.Turn, error)) (*model.Turn, error) {
	seen := &display{show: req.Stream}
	tries := attemptsOf(ctx)
	for {
		next := *req
		next.Stream = seen.text
		turn, err := ask(&next)
		var b *broken
		if err == nil {
			seen.end()
			return turn, nil
		}
		if !errors.As(err, &b) || tries.failed >= retries(o) {
			return nil, err
		}
		c := Call{Options: o}
		if !c.pause(ctx, (&failure{after: -1}).delay(tries.failed)) {
			return nil, err
		}
		tries.failed++
		seen.restart()
	}
}

// display shows the text of one attempt after the other. As long as an attempt
// repeats the one before, nothing is shown; where it takes another course it
// begins on a line of its own.
type display struct {
	show func(string)
	// shown is what stands there of the attempt before, while the present one
	// repeats it up to at; then what stands there of the present one.
	shown     string
	at        int
	repeating bool
}

func (d *display) text(s string) {
	if !d.repeating {
		d.shown += s
		d.show(s)
		return
	}
	old := d.shown[d.at:]
	switch {
	case strings.HasPrefix(old, s):
		d.at += len(s)
		return
	case strings.HasPrefix(s, old):
		d.show(s[len(old):])
		d.shown += s[len(old):]
	default:
		d.anew(d.shown[:d.at] + s)
	}
	d.repeating = false
}

// anew shows a text below what stands there.
func (d *display) anew(s string) {
	d.show("\n" + s)
	d.shown = s
}

// restart begins the next attempt.
func (d *display) restart() { d.at, d.repeating = 0, d.shown != "" }

// end is called after an attempt that gave its whole answer: one that is shorter
// than what stands there is shown by itself.
func (d *display) end() {
	if d.repeating && d.at < len(d.shown) {
		d.anew(d.shown[:d.at])
	}
}
