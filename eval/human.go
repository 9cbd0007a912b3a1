package eval

import (
	"context"
	"strings"
)

// AskWith has ask_human ask f, in what the thread runs from now on, in place of
// the program's input. f runs without the lock and must obey its context.
func (th *Thread) AskWith(f func(ctx context.Context, question string) (string, error)) {
	th.human = f
}

// Human asks whoever AskWith named for this thread, or for the one that started
// it. It is not ok when nobody was named: the program's input is to be asked.
func (th *Thread) Human(question string) (answer string, ok bool, err error) {
	from := th
	for from != nil && from.human == nil {
		from = from.starter
	}
	if from == nil {
		return "", false, nil
	}
	ask := from.human
	th.Blocking(func(ctx context.Context) { answer, err = ask(ctx, question) })
	if e := th.Stopped(); e != nil {
		return "", true, e
	}
	return strings.ToValidUTF8(answer, "\uFFFD"), true, err
}

// WorkFor notes on whose behalf the thread runs what it runs from now on; a
// library that knows the value's type finds it by Client.
func (th *Thread) WorkFor(client any) { th.client = client }

// Client gives what WorkFor noted for this thread or for the one that started
// it; nil where nobody else is waited on.
func (th *Thread) Client() any {
	for t := th; t != nil; t = t.starter {
		if t.client != nil {
			return t.client
		}
	}
	return nil
}
