package eval

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/diag"
)

// Approval is what a person says to an action that needs an approval.
type Approval struct {
	Yes bool
	// By names who said it; it is audited.
	By string
	// seen is the digest of the arguments that were shown.
	seen string
}

// seen gives the digest of the arguments as they are now.
func (a *Action) seen(th *Thread) string { return th.in.Digest(a.args) }

// approve marks the action as approved, bound to its arguments as they are now.
func (a *Action) approve(c *Call) (Value, error) {
	if a.state != "prepared" && a.state != "verified" {
		return Value{}, diag.New(diag.Runtime, "cannot approve action '%s' — its state is '%s', not 'prepared'/'verified'", a.name(), a.state)
	}
	by, reason := "program", ""
	for _, l := range c.Labels {
		s, ok := l.Value.AsString()
		switch {
		case l.Name != "by" && l.Name != "reason":
			return Value{}, diag.New(diag.Runtime, "'%s.approve' does not accept labeled arguments (%s)", a.name(), l.Name)
		case !ok:
			return Value{}, diag.New(diag.Runtime, "approve()'s %s must be a String, got %s", l.Name, typeName(l.Value))
		case l.Name == "by":
			by = s
		default:
			reason = s
		}
	}
	at := c.Thread.Place()
	if err := a.mayApprove(at); err != nil {
		return Value{}, err
	}
	cfg := &at.th.in.cfg
	return Obj(a), a.approvedBy(at, Approval{By: by, seen: a.seen(at.th)}, reason, cfg.Strict || cfg.Ceiling != nil)
}

// mayApprove checks the capability "approval", which a program needs to approve
// its own actions. Without a rule or a ceiling that speaks of it, it may.
func (a *Action) mayApprove(at Place) error {
	d := at.Decide("approval")
	if d.Allowed {
		return nil
	}
	return at.Denied(d, a.name(), a.decl.kind(), "approval", "approve() denied by policy",
		"approving action '"+a.name()+"' requires capability 'approval', which is denied by policy")
}

// Shown words what an approver is shown, and gives the digest of its arguments
// as they are shown, for ApproveBy.
func (a *Action) Shown(th *Thread) (description, digest string) { return a.describe(), a.seen(th) }

// ApproveBy approves an action in the name of a person who was shown it when the
// digest of its arguments was digest.
func (a *Action) ApproveBy(th *Thread, by, digest string) error {
	if a.state != "prepared" && a.state != "verified" {
		return diag.New(diag.Runtime, "cannot approve action '%s' — its state is '%s', not 'prepared'/'verified'", a.name(), a.state)
	}
	return a.approvedBy(th.Place(), Approval{By: by, seen: digest}, "", true)
}

// approvalFor is how long an approval holds that a person gave, and under a
// ceiling or strict mode any.
const approvalFor = 10 * time.Minute

// approvedBy notes an approval; ends says that it holds for a while only.
func (a *Action) approvedBy(at Place, by Approval, reason string, ends bool) error {
	if err := at.Event(a.decl.kind(), a.name(), "approved", reason, audit.Field{Key: "by", Value: by.By}, audit.Field{Key: "digest", Value: by.seen}); err != nil {
		return err
	}
	a.approved, a.digest, a.until = true, by.seen, time.Time{}
	if ends {
		a.until = at.th.in.cfg.Clock().Add(approvalFor)
	}
	return nil
}

// unchanged checks that the arguments are those that an approval was given for;
// an approval of others is gone.
func (a *Action) unchanged(at Place) error {
	if !a.approved || a.digest == a.seen(at.th) {
		return nil
	}
	a.approved = false
	if err := a.note(at, "denied", "arguments changed since they were approved"); err != nil {
		return err
	}
	return diag.New(diag.Approval, "arguments of '%s' changed since it was approved", a.name())
}

// approvalHolds checks the approval at commit. Where there is none and a person
// can be asked, they are.
func (a *Action) approvalHolds(at Place) error {
	if err := a.unchanged(at); err != nil {
		return err
	}
	stale := a.approved && !a.until.IsZero() && at.th.in.cfg.Clock().After(a.until)
	if stale {
		a.approved = false
	}
	if !a.decl.decl.Approval || a.approved {
		return nil
	}
	if err := a.askPerson(at); err != nil {
		return err
	}
	switch {
	case a.approved: // others ran while the person thought
		return a.unchanged(at)
	case stale:
		return a.unapproved(at, "approval expired",
			fmt.Sprintf("the approval of '%s' has expired -- one holds for %.0f minutes", a.name(), approvalFor.Minutes()))
	}
	return a.unapproved(at, "requires approval",
		fmt.Sprintf("action '%s' requires approval before commit() — call %s.approve() first", a.name(), a.name()))
}

// unapproved notes that there is no approval and gives the error of it.
func (a *Action) unapproved(at Place, detail, message string) error {
	if err := a.note(at, "denied", detail); err != nil {
		return err
	}
	return diag.New(diag.Approval, "%s", message)
}

// askPerson asks for an approval where the run has somebody to ask.
func (a *Action) askPerson(at Place) error {
	ask := at.th.in.cfg.AskApproval
	if ask == nil {
		return nil
	}
	var got Approval
	name := a.name()
	what, seen := a.Shown(at.th)
	at.th.Blocking(func(ctx context.Context) { got = ask(ctx, name, what) })
	if err := at.th.Stopped(); err != nil {
		return err
	}
	if got.Yes {
		got.seen = seen
		if err := a.approvedBy(at, got, "asked", true); err != nil {
			return err
		}
		return a.require(at, "", "denied") // policy may have changed meanwhile
	}
	return at.Event(a.decl.kind(), a.name(), "refused", "", audit.Field{Key: "by", Value: got.By})
}

// describe words what an approver is shown.
func (a *Action) describe() string {
	var b strings.Builder
	b.WriteString(a.decl.kind() + " action " + a.name() + "(")
	for i := range a.args {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.decl.fn.proto.params[i].name + ": " + shown(a.args[i]))
	}
	b.WriteString(")")
	needs := append([]string{}, a.decl.requires...)
	if a.decl.decl.Approval {
		needs = append(needs, "approval")
	}
	if len(needs) > 0 {
		b.WriteString("\nrequires " + strings.Join(needs, ", "))
	}
	if doc := a.decl.decl.Body.Doc; doc != "" {
		b.WriteString("\n" + doc)
	}
	return b.String()
}

// shown gives a value so that its kind can be seen: text in quotes.
func shown(v Value) string {
	if isStr(v) {
		return Quote(toStr(v).s)
	}
	return text(v)
}

// argsMap gives the arguments by their parameters' names, as a copy for
// reading.
func (a *Action) argsMap() Value {
	m := NewMap()
	for i, v := range a.args {
		m.Set(a.decl.fn.proto.params[i].name, deepCopy(v))
	}
	return mkMap(m)
}

var describeMethod = Method{Name: "describe", Fn: func(c *Call, o Object) (Value, error) { return newStr(o.(*Action).describe()), nil }}

// Describe words what an approver is shown.
func (a *Action) Describe() string { return a.describe() }
