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
