package eval_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// declaring runs a program and gives what it declared, by name.
func declaring(t *testing.T, src string) (*program, map[string]eval.Value) {
	t.Helper()
	found := map[string]eval.Value{}
	p := newProgram(t, t.Context(), func(c *eval.Config) {
		c.OnDeclare = func(d eval.Declared) { found[d.Name] = d.Value }
	})
	if _, err := p.run(t, strings.TrimLeft(src, "\n")); err != nil {
		t.Fatal(err)
	}
	return p, found
}

// host calls a value as the host does, from where it was declared.
func (p *program) host(v eval.Value, args ...eval.Value) (eval.Value, error) {
	return p.Host("the test", func(th *eval.Thread) (eval.Value, error) {
		th.StandAt(v)
		return th.Call(v, args...)
	})
}

func TestHostCallsUnderThePolicyOfTheDeclaration(t *testing.T) {
	p, found := declaring(t, `
def f():
    policy: deny disk
    def g():
        tool deep() requires disk:
            return 1
    g()
f()
session s:
    tool early() requires net:
        return 1
    policy: deny net
tool free() requires mail:
    return 2
tool late() requires box:
    return 3
policy: deny box
`)
	for name, want := range map[string]string{"deep": "deny disk", "early": "deny net", "late": "deny box", "free": ""} {
		v, err := p.host(found[name])
		if want == "" {
			if n, _ := v.AsInt(); err != nil || n != 2 {
				t.Errorf("%s: %v %v", name, v, err)
			}
			continue
		}
		if diag.KindOf(err) != diag.Policy || !strings.Contains(strings.Join(err.(*diag.Error).Notes, " "), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	_, err := p.Host("the test", func(th *eval.Thread) (eval.Value, error) {
		for _, x := range []struct {
			at         eval.Value
			capability string
			allowed    bool
		}{{eval.Value{}, "disk", true}, {eval.Value{}, "box", false}, {found["deep"], "disk", false}, {found["free"], "box", false}, {eval.Int(1), "box", false}} {
			th.StandAt(x.at)
			if d := th.Place().Decide(x.capability); d.Allowed != x.allowed {
				t.Errorf("%s at %v: allowed is %v", x.capability, x.at, d.Allowed)
			}
		}
		return eval.Nil(), nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHostCallsWaitSideBySide(t *testing.T) {
	p, found := declaring(t, `
agent a:
    m = receive()
    print("a got", m)
agent b:
    m = receive()
    send(a, m)
`)
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		wg.Go(func() {
			_, err := p.Host("the test", func(th *eval.Thread) (eval.Value, error) { return th.StartAgent(found[name]) })
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	_, err := p.Host("the test", func(th *eval.Thread) (eval.Value, error) {
		return eval.Nil(), th.Send(found["b"], eval.String("hello"))
	})
	if err != nil {
		t.Error(err)
	}
	wg.Wait()
	if p.out.String() != "a got hello\n" {
		t.Errorf("printed %q", p.out.String())
	}
}

func TestHostGivesErrorsBack(t *testing.T) {
	p, found := declaring(t, "tool bad(x: Int):\n    return 1 / x\nagent broken:\n    x = 1 / 0\n")
	if _, err := p.host(found["bad"], eval.Int(0)); text(err) != "[line 2] division by zero" {
		t.Errorf("got %v", err)
	}
	if _, err := p.host(found["bad"], eval.String("x")); diag.KindOf(err) != diag.Type {
		t.Errorf("got %v", err)
	}
	_, err := p.Host("the test", func(th *eval.Thread) (eval.Value, error) { return th.StartAgent(found["broken"]) })
	a := found["broken"].AsObject().(*eval.Agent)
	if err == nil || a.Failure() == nil || a.Status() != "failed" {
		t.Errorf("got %v, %v, %s", err, a.Failure(), a.Status())
	}
	p.Stop(diag.Interrupt, "over")
	if _, err := p.host(found["bad"], eval.Int(1)); diag.KindOf(err) != diag.Interrupt {
		t.Errorf("after the end: %v", err)
	}
}

func TestWhatAHostLearnsOfDeclarations(t *testing.T) {
	_, found := declaring(t, `
async tool t(x: Int) returns Int "does":
    "doc of t"
    return x
reversible action act(x):
    "doc of act"
    return x
rollback:
    y = 1
async agent a:
    "doc of a"
    x = 1
`)
	tool := found["t"].AsObject().(*eval.Tool)
	if tool.Result().String() != "Int" || tool.Doc() != "doc of t" || !tool.Async() {
		t.Errorf("tool: %v %q", tool.Result(), tool.Doc())
	}
	act := found["act"].AsObject().(*eval.ActionDecl)
	if !act.HasRollback() || act.Doc() != "doc of act" || !act.Reversible() {
		t.Errorf("action: %q", act.Doc())
	}
	a := found["a"].AsObject().(*eval.Agent)
	if !a.Async() || a.Doc() != "doc of a" || !a.PauseReason().IsNil() {
		t.Errorf("agent: %q", a.Doc())
	}
}
