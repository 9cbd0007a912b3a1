package builtins

import (
	"context"
	"errors"
	"testing"

	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/parser"
)

// onThread runs f on a thread and gives what it panics with.
func onThread(t *testing.T, f func(th *eval.Thread)) (fault any) {
	t.Helper()
	in := eval.New(t.Context(), eval.Config{Audit: &audit.Log{}, Parse: parser.Parse})
	t.Cleanup(func() { in.Close() })
	_, err := in.Host("test", func(th *eval.Thread) (eval.Value, error) {
		defer func() { fault = recover() }()
		f(th)
		return eval.Nil(), nil
	})
	if err != nil {
		t.Error(err)
	}
	return fault
}

// Questions are answered one at a time, and the talk waits for the last answer.
func TestTalkAnswersInTurn(t *testing.T) {
	var q questions
	busy, answered := 0, 0
	onThread(t, func(th *eval.Thread) {
		x := newTalk(th)
		q.join(x)
		asked := make(chan error, 8)
		err := x.during(func(ctx context.Context) {
			for range cap(asked) {
				go func() {
					asked <- q.ask(ctx, func(th *eval.Thread) {
						if busy++; busy != 1 {
							t.Error("two answers at once")
						}
						th.Blocking(func(context.Context) {})
						busy--
						answered++
					})
				}()
			}
			for range cap(asked) {
				if err := <-asked; err != nil {
					t.Error(err)
				}
			}
		})
		if err != nil || answered != 8 {
			t.Errorf("%d answers, %v", answered, err)
		}
	})
	if err := q.ask(t.Context(), func(*eval.Thread) { t.Error("answered after the end") }); !errors.Is(err, errNobody) {
		t.Error(err)
	}
}

// What an answer panics with ends the request and goes on where the thread is.
func TestTalkPanics(t *testing.T) {
	var q questions
	var told error
	fault := onThread(t, func(th *eval.Thread) {
		x := newTalk(th)
		q.join(x)
		asked := make(chan error, 1)
		defer func() { told = <-asked }()
		_ = x.during(func(ctx context.Context) {
			go func() { asked <- q.ask(ctx, func(*eval.Thread) { panic("stop") }) }()
			<-ctx.Done()
		})
		t.Error("it went on")
	})
	if fault != "stop" || !errors.Is(told, errEnding) {
		t.Errorf("panicked with %v, the server was told %v", fault, told)
	}
}

// A question that nobody waits for any more is not asked.
func TestTalkIsGivenUp(t *testing.T) {
	x := newTalk(nil) // in which nothing is answered yet
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if answered, err := x.answer(ctx, nil); answered || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", answered, err)
	}
}
