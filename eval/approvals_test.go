package eval_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/policy"
)

// refusedCommits prepares and commits 100 actions and prints what ran and how
// many commits were refused.
func refusedCommits(body string) string {
	return "ran = 0\nrefused = 0\nirreversible action pay(to: Array) requires approval:\n    ran += 1\nfor i in range(100):\n    to = [i]\n    a = pay(to)\n    a.verify()\n" +
		body + "    try:\n        a.commit()\n    catch e:\n        refused += 1\nprint(ran, refused)\n"
}

// TestApprovalsAreNotForged lets a program commit 300 times without a valid
// approval: by its own word under a ceiling that keeps "approval" to people, by
// an approval that was used, and by one of other arguments.
func TestApprovalsAreNotForged(t *testing.T) {
	deny := func(what string) *policy.Ceiling {
		c := &policy.Ceiling{}
		if err := c.Deny("--deny", what); err != nil {
			t.Fatal(err)
		}
		return c
	}
	tests := []struct{ name, deny, body, want string }{
		{"its own word", "approval", "    try:\n        a.approve(by: \"the boss\")\n    catch e:\n        pass\n", "0 100\n"},
		{"an approval that was used", "x", "    a.approve()\n    a.commit()\n    ran = 0\n", "0 100\n"},
		{"another's approval", "x", "    b = pay(to)\n    b.verify()\n    b.approve()\n", "0 100\n"},
		{"other arguments", "x", "    a.approve()\n    to.push(7)\n", "0 100\n"},
		{"a good one", "x", "    a.approve()\n", "100 0\n"},
	}
	for _, tt := range tests {
		p := newProgram(t, context.Background(), func(c *eval.Config) { c.Ceiling = deny(tt.deny) })
		if out, err := p.run(t, refusedCommits(tt.body)); err != nil || out != tt.want {
			t.Errorf("%s: ran and refused %q, %v", tt.name, out, err)
		}
	}
}

// TestApprovalsEnd lets time pass between an approval and the commit.
func TestApprovalsEnd(t *testing.T) {
	const program = `irreversible action pay() requires approval:
    print("paid")
a = pay()
a.verify()
a.approve()
wait()
try:
    a.commit()
catch e:
    print(e.message)
    print(a.state, a.approved)
    a.approve()
    a.commit()
`
	ceiling := &policy.Ceiling{}
	tests := []struct {
		name   string
		change func(*eval.Config)
		wait   time.Duration
		want   string
	}{
		{"as in the original it has no end", func(*eval.Config) {}, 100 * time.Hour, "paid\n"},
		{"a ceiling, in time", func(c *eval.Config) { c.Ceiling = ceiling }, 10 * time.Minute, "paid\n"},
		{"a ceiling, late", func(c *eval.Config) { c.Ceiling = ceiling }, 10*time.Minute + 1,
			"the approval of 'pay' has expired -- one holds for 10 minutes\nverified false\npaid\n"},
		{"strict, late", func(c *eval.Config) { c.Strict = true }, time.Hour,
			"the approval of 'pay' has expired -- one holds for 10 minutes\nverified false\npaid\n"},
		{"somebody is asked again", func(c *eval.Config) {
			c.Ceiling = ceiling
			c.AskApproval = func(context.Context, string, string) eval.Approval { return eval.Approval{Yes: true, By: "ann"} }
		}, time.Hour, "paid\n"},
	}
	for _, tt := range tests {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		p := newProgram(t, context.Background(), func(c *eval.Config) {
			tt.change(c)
			c.Clock = func() time.Time { return now }
			c.Extra["wait"] = eval.NewBuiltin(eval.Builtin{Name: "wait", Fn: func(*eval.Call) (eval.Value, error) {
				now = now.Add(tt.wait)
				return eval.Nil(), nil
			}})
		})
		src := program
		if tt.name == "strict, late" {
			src = "policy: allow approval\n" + src
		}
		if out, err := p.run(t, src); err != nil || out != tt.want {
			t.Errorf("%s: %q, %v", tt.name, out, err)
		}
		if log := strings.Join(p.Audit().Lines(), "\n"); strings.Contains(tt.want, "expired") != strings.Contains(log, "denied (approval expired)") {
			t.Errorf("%s: the audit says\n%s", tt.name, log)
		}
	}
}

// TestApprovalsOfPeopleEnd approves as the console does.
func TestApprovalsOfPeopleEnd(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := newProgram(t, context.Background(), func(c *eval.Config) {
		c.Clock = func() time.Time { return now }
		c.Extra["person"] = eval.NewBuiltin(eval.Builtin{Name: "person", Min: 1, Max: 1, Fn: func(c *eval.Call) (eval.Value, error) {
			a := c.Args[0].AsObject().(*eval.Action)
			_, digest := a.Shown(c.Thread)
			err := a.ApproveBy(c.Thread, "ann", digest)
			now = now.Add(11 * time.Minute)
			return eval.Nil(), err
		}})
	})
	_, err := p.run(t, "irreversible action pay() requires approval:\n    print(\"paid\")\na = pay()\na.verify()\nperson(a)\na.commit()\n")
	if err == nil || !strings.Contains(err.Error(), "has expired") {
		t.Errorf("got %v", err)
	}
}

// TestBreakWhileSomebodyIsAsked lets the program run on while a person thinks or
// a body waits: what they said yes to is what happens, once.
func TestBreakWhileSomebodyIsAsked(t *testing.T) {
	const head = "irreversible action pay(to: Map) requires pay.out, approval:\n    print(\"paid\", to)\n" +
		"to = {\"name\": \"ann\"}\na = pay(to)\na.verify()\n"
	const undo = "reversible action book():\n    pass\nrollback:\n    print(\"undone\")\n    go2()\n    wait()\na = book()\na.verify()\na.commit()\n"
	const other = "async agent other:\n    wait2()\n    try:\n        STEP\n    catch e:\n        print(e.message)\n    go()\nstart(other)\n"
	doing := func(step string) string { return strings.Replace(other, "STEP", step, 1) }
	tests := []struct{ name, program, want, problem string }{
		{"other arguments", head + doing("to[\"name\"] = \"eve\"") + "a.commit()\n", "", "arguments of 'pay' changed since it was approved"},
		{"a second commit", head + doing("a.commit()") + "a.commit()\n", "action 'pay' is being committed already\npaid {name: ann}\n", ""},
		{"another policy", head + "async agent other:\n    a.commit()\nstart(other)\nwait2()\npolicy: deny pay.out\ngo()\nawait(other)\n", "", "denied by policy"},
		{"a second rollback", undo + doing("a.rollback()") + "a.rollback()\nprint(a.state)\n",
			"undone\naction 'book' is being rolled back already\nrolled_back\n", ""},
		{"a rollback in itself", strings.Replace(undo, "go2()\n    wait()", "a.rollback()", 1) + "a.rollback()\n",
			"undone\n", "action 'book' is being rolled back already"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first, second := make(chan bool), make(chan bool)
			begun := sync.OnceFunc(func() { close(second) })
			builtin := func(c *eval.Config, name string, f func(*eval.Thread)) {
				c.Extra[name] = eval.NewBuiltin(eval.Builtin{Name: name, Fn: func(c *eval.Call) (eval.Value, error) {
					f(c.Thread)
					return eval.Nil(), nil
				}})
			}
			wait := func(ctx context.Context, on chan bool) {
				select {
				case <-on:
				case <-ctx.Done():
				}
			}
			p := newProgram(t, context.Background(), func(c *eval.Config) {
				builtin(c, "go", func(*eval.Thread) { close(first) })
				builtin(c, "go2", func(*eval.Thread) { begun() })
				builtin(c, "wait", func(th *eval.Thread) { th.Blocking(func(ctx context.Context) { wait(ctx, first) }) })
				builtin(c, "wait2", func(th *eval.Thread) { th.Blocking(func(ctx context.Context) { wait(ctx, second) }) })
				c.AskApproval = func(ctx context.Context, _, _ string) eval.Approval {
					begun()
					wait(ctx, first)
					return eval.Approval{Yes: true, By: "ann"}
				}
			})
			out, err := p.run(t, tt.program)
			if out != tt.want || (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}

// TestBreakTransactionAtTheEnd ends programs in the middle of a transaction: the
// error and the audit tell what is not undone.
func TestBreakTransactionAtTheEnd(t *testing.T) {
	const head = "reversible action book(n):\n    pass\nrollback:\n    print(\"undone\", n)\n    if n == 2: end()\n    if n < 2: print(\"never\")\n"
	const three = "    for i in range(3):\n        a = book(i)\n        a.verify()\n        a.commit()\n"
	tests := []struct {
		name, program, want string
		notes, audited      int
	}{
		{"in the body", "try:\n  transaction:\n" + three + "    end()\ncatch e: print(\"caught\")\nprint(\"goes on\")\n", "", 3, 3},
		{"in a rollback", "try:\n  transaction:\n" + three + "    raise \"no\"\ncatch e: print(\"caught\")\nprint(\"goes on\")\n", "undone 2\n", 3, 2},
		{"undone by hand", "transaction:\n    a = book(7)\n    a.verify()\n    a.commit()\n    a.rollback()\n    raise \"no\"\n", "undone 7\n", 0, 0},
	}
	for _, tt := range tests {
		p := newProgram(t, context.Background(), func(c *eval.Config) {
			c.Extra["end"] = eval.NewBuiltin(eval.Builtin{Name: "end", Fn: func(c *eval.Call) (eval.Value, error) {
				c.Thread.Interp().Stop(diag.Limit, "time limit of 1s reached")
				return eval.Nil(), c.Thread.Stopped()
			}})
		})
		out, err := p.run(t, head+tt.program)
		var e *diag.Error
		if !errors.As(err, &e) || out != tt.want || strings.Count(strings.Join(e.Notes, "\n"), "not undone: action 'book'") != tt.notes {
			t.Errorf("%s: %q, %v", tt.name, out, err)
			continue
		}
		if log := strings.Join(p.Audit().Lines(), "\n"); strings.Count(log, "not rolled back: time limit of 1s reached") != tt.audited {
			t.Errorf("%s: the audit says\n%s", tt.name, log)
		}
	}
}
