package inspect

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// maxPrepared bounds the prepared actions that are kept.
const maxPrepared = 500

// prepared is an action that the console prepared.
type prepared struct {
	id, key string
	action  *eval.Action
	busy    bool
	result  any // of its commit, as JSON; nil before and where it gave none
}

// actions are the prepared ones, oldest first. Everything but the list itself
// is touched by threads of the program only.
type actions struct {
	mu   sync.Mutex
	kept []*prepared
}

// add keeps an action; the oldest goes when there are too many.
func (as *actions) add(key string, a *eval.Action) *prepared {
	p := &prepared{id: strings.ToLower(rand.Text()[:16]), key: key, action: a}
	as.mu.Lock()
	defer as.mu.Unlock()
	if len(as.kept) >= maxPrepared {
		as.kept = append([]*prepared(nil), as.kept[1:]...)
	}
	as.kept = append(as.kept, p)
	return p
}

// get finds a prepared action.
func (as *actions) get(id string) (*prepared, error) {
	as.mu.Lock()
	defer as.mu.Unlock()
	for _, p := range as.kept {
		if p.id == id {
			return p, nil
		}
	}
	return nil, diag.New(diag.Runtime, "no prepared action instance '%s' (the console may have restarted)", id)
}

// list describes the prepared actions, oldest first.
func (as *actions) list() array {
	as.mu.Lock()
	defer as.mu.Unlock()
	out := array{}
	for _, p := range as.kept {
		out = append(out, p.describe())
	}
	return out
}

// describe says all about a prepared action.
func (p *prepared) describe() object {
	d := p.action.Decl()
	return object{
		{"id", p.id},
		{"state", p.action.State()},
		{"key", p.key},
		{"name", d.Name()},
		{"kind", actionKind(d)},
		{"requires_approval", d.NeedsApproval()},
		{"approved", p.action.Approved()},
		{"has_rollback", d.HasRollback()},
		{"args", p.args()},
		{"confirm", p.phrase()},
		{"running", p.busy},
		{"outcome", p.result},
	}
}

// args names the arguments the action was prepared with.
func (p *prepared) args() array {
	out := array{}
	ps := p.action.Decl().Params()
	for i, v := range p.action.Args() {
		a := object{{"name", ps[i].Name}, {"type", v.TypeName()}}
		if v.IsSet() {
			a = a.with(member{"value", jsonOf(v)}, member{"text", textOf(v)})
		} else {
			a = a.with(member{"value", nil}, member{"text", "(its default)"})
		}
		out = append(out, a)
	}
	return out
}

// phrase is what a person types to commit an irreversible action: its name and
// a digest of what exactly is committed.
func (p *prepared) phrase() string {
	h := sha256.New()
	name := p.action.Decl().Name()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00", p.id, p.key, name)
	for _, v := range p.action.Args() {
		s := textOf(v)
		fmt.Fprintf(h, "%s\x00%d\x00%s", v.TypeName(), len(s), s)
	}
	return name + " " + hex.EncodeToString(h.Sum(nil)[:4])
}

// prepare makes an action ready; nothing runs.
func (c *Console) prepare(th *eval.Thread, key string, args []eval.Value) (object, error) {
	it, err := c.declared.find("action", "action", key)
	if err != nil {
		return nil, err
	}
	th.StandAt(it.Value)
	v, err := th.Call(it.Value, args...)
	if err != nil {
		return nil, err
	}
	a, ok := v.AsObject().(*eval.Action)
	if !ok {
		return nil, diag.New(diag.Runtime, "'%s' gave no action", key)
	}
	return object{{"ok", true}}.with(c.actions.add(it.key, a).describe()...), nil
}

// steps are the methods of an action that routes may call.
var steps = map[string]bool{"verify": true, "approve": true, "commit": true, "rollback": true}

// step makes one step of a prepared action. The answer of a failed one says in
// which state the action is.
func (c *Console) step(th *eval.Thread, id, name, confirm string) (object, error) {
	p, err := c.actions.get(id)
	if err != nil {
		return nil, err
	}
	if p.busy {
		return p.refuse(diag.New(diag.Runtime, "a step of action '%s' is still running", p.action.Decl().Name())), nil
	}
	if name == "commit" && c.mustConfirm(p) && confirm != p.phrase() {
		return p.unconfirmed(confirm), nil
	}
	th.StandAt(eval.Obj(p.action))
	v, err := p.run(th, name)
	if err != nil {
		return p.refuse(err), nil
	}
	if name == "commit" {
		p.result = jsonOf(v)
	}
	o := object{{"ok", true}}.with(p.describe()...)
	if name == "commit" {
		o = o.with(member{"result", p.result}, member{"text", textOf(v)}, member{"type", v.TypeName()})
	}
	return o, nil
}

// run makes a step; meanwhile no other one of the same action is possible, also
// when its body waits for something.
func (p *prepared) run(th *eval.Thread, name string) (eval.Value, error) {
	p.busy = true
	defer func() { p.busy = false }()
	return callStep(th, p.action, name)
}

// callStep calls the method and turns what its body raises into an error.
func callStep(th *eval.Thread, a *eval.Action, name string) (eval.Value, error) {
	m := a.Method(name)
	bound := eval.NewBuiltin(eval.Builtin{Name: a.OwnerName() + "." + m.Name, Min: m.Min, Max: m.Max, Labels: m.Labels,
		Fn: func(c *eval.Call) (eval.Value, error) { return m.Fn(c, a) }})
	if name == "approve" { // the person at the console, not the program
		_, digest := a.Shown(th)
		return eval.Obj(a), a.ApproveBy(th, "the console", digest)
	}
	return th.Call(bound)
}

// mustConfirm reports whether a commit would now do what cannot be undone.
func (c *Console) mustConfirm(p *prepared) bool {
	d := p.action.Decl()
	ready := p.action.State() == "verified" && (p.action.Approved() || !d.NeedsApproval())
	return ready && !d.Reversible() && !c.dryRun
}

// unconfirmed asks for the phrase.
func (p *prepared) unconfirmed(got string) object {
	msg := fmt.Sprintf("action '%s' cannot be undone: to commit it, confirm with '%s'", p.action.Decl().Name(), p.phrase())
	if got != "" {
		msg = fmt.Sprintf("'%s' does not confirm this commit: it takes '%s'", clip(got, 100), p.phrase())
	}
	return object{{"ok", false}, {"error", "ConfirmationRequired"}, {"message", msg}, {"state", p.action.State()}, {"confirm", p.phrase()}}
}

func (p *prepared) refuse(err error) object {
	return failure(err).with(member{"state", p.action.State()}, member{"approved", p.action.Approved()})
}
