package eval_test

import (
	"context"
	"strings"
	"testing"
	"time"

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
			err := c.Args[0].AsObject().(*eval.Action).ApproveBy(c.Thread, "ann")
			now = now.Add(11 * time.Minute)
			return eval.Nil(), err
		}})
	})
	_, err := p.run(t, "irreversible action pay() requires approval:\n    print(\"paid\")\na = pay()\na.verify()\nperson(a)\na.commit()\n")
	if err == nil || !strings.Contains(err.Error(), "has expired") {
		t.Errorf("got %v", err)
	}
}
