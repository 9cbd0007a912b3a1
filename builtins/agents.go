package builtins

import (
	"math"
	"time"

	"github.com/sense-lang/sense/eval"
)

func builtinStart(c *eval.Call) (eval.Value, error) { return c.Thread.StartAgent(c.Args[0]) }

func builtinResume(c *eval.Call) (eval.Value, error) {
	value := eval.Nil()
	if len(c.Args) == 2 {
		value = c.Args[1]
	}
	return c.Thread.ResumeAgent(c.Args[0], value)
}

func builtinPause(c *eval.Call) (eval.Value, error) {
	reason := eval.Nil()
	if len(c.Args) == 1 {
		reason = c.Args[0]
	}
	return c.Thread.Pause(reason)
}

func builtinAwait(c *eval.Call) (eval.Value, error) { return c.Thread.Await(c.Args[0]) }

func builtinSend(c *eval.Call) (eval.Value, error) {
	return eval.Nil(), c.Thread.Send(c.Args[0], c.Args[1])
}

func builtinReceive(c *eval.Call) (eval.Value, error) {
	if len(c.Args) == 0 || c.Args[0].IsNil() || !c.Thread.InAgent() {
		return c.Thread.Receive(-1)
	}
	s, ok := c.Args[0].AsNumber()
	if !ok {
		return eval.Value{}, fail("receive()'s timeout must be a number, got %s", c.Args[0].TypeName())
	}
	if s < 0 || math.IsNaN(s) {
		return eval.Value{}, fail("receive()'s timeout must not be negative, got %s", c.Args[0].String())
	}
	return c.Thread.Receive(seconds(s))
}

// seconds turns a number of seconds into a duration; one below zero is none at
// all, one too long is the longest there is.
func seconds(s float64) time.Duration {
	switch {
	case s <= 0 || math.IsNaN(s):
		return 0
	case s >= math.MaxInt64/1e9:
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}

func builtinAskHuman(c *eval.Call) (eval.Value, error) {
	q, ok := c.Args[0].AsString()
	if !ok {
		return eval.Value{}, fail("ask_human() expects a String question, got %s", c.Args[0].TypeName())
	}
	if c.Thread.InAgent() {
		return c.Thread.Pause(c.Args[0])
	}
	line, asked, err := c.Thread.Human(q)
	if !asked {
		if err := c.Thread.Write(q + "\n> "); err != nil {
			return eval.Value{}, err
		}
		line, err = c.Thread.ReadLine()
	}
	if eval.Fatal(err) {
		return eval.Value{}, err
	}
	if err != nil {
		return eval.Value{}, fail("ask_human() got no answer: %v", err)
	}
	return eval.String(line), c.Thread.Place().Event("human", "ask_human", "answered", q)
}
