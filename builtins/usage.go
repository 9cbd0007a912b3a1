package builtins

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// usage counts what models cost.
type usage struct {
	input, output, turns, calls int64
	seconds                     float64
}

func (u usage) value() eval.Value {
	m := eval.NewMap()
	m.Set("input_tokens", eval.Int(u.input))
	m.Set("output_tokens", eval.Int(u.output))
	m.Set("turns", eval.Int(u.turns))
	m.Set("tool_calls", eval.Int(u.calls))
	m.Set("seconds", eval.Float(u.seconds))
	return m.Value()
}

// usageTable counts by model, in order of their first use.
type usageTable struct {
	mu    sync.Mutex
	names []string
	by    map[string]*usage
}

func (t *usageTable) add(name string, u usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[string]*usage{}
	}
	sum := t.by[name]
	if sum == nil {
		sum = &usage{}
		t.by[name] = sum
		t.names = append(t.names, name)
	}
	sum.input += u.input
	sum.output += u.output
	sum.turns += u.turns
	sum.calls += u.calls
}

// UsageSummary words what the program's models cost, a line each.
func (d *Deps) UsageSummary() string {
	d.usage.mu.Lock()
	defer d.usage.mu.Unlock()
	var b strings.Builder
	b.WriteString("\n--- usage ---\n")
	if len(d.usage.names) == 0 {
		b.WriteString("(no model was asked)\n")
	}
	for _, n := range d.usage.names {
		u := d.usage.by[n]
		fmt.Fprintf(&b, "%s: %d requests, %d input tokens, %d output tokens, %d tool calls\n", diag.Visible(n), u.turns, u.input, u.output, u.calls)
	}
	return b.String()
}

// Budget is what a `set budget` allows, counted from where it was set.
type Budget struct {
	tokens, requests, maxTokens, maxRequests int64
	maxSeconds                               float64
	began                                    time.Time
}

// TypeName gives "Budget".
func (b *Budget) TypeName() string { return "Budget" }

// String gives what is left.
func (b *Budget) String() string { return "<budget>" }

// NewBudget reads a budget: a Map with tokens, calls and seconds.
func (d *Deps) NewBudget(v eval.Value) (eval.Value, error) {
	m, ok := v.AsMap()
	if !ok {
		return eval.Value{}, fail("'set budget' requires a Map, got %s", v.TypeName())
	}
	b := &Budget{maxTokens: -1, maxRequests: -1, maxSeconds: -1, began: time.Now()}
	for _, k := range m.Keys() {
		x, _ := m.Get(k)
		n, isInt := x.AsInt()
		f, isNumber := x.AsNumber()
		switch {
		case k != "tokens" && k != "calls" && k != "seconds":
			return eval.Value{}, fail("unknown key '%s' in a budget -- supported: calls, seconds, tokens", k)
		case k == "seconds" && isNumber && f >= 0:
			b.maxSeconds = f
		case k == "tokens" && isInt && n >= 0:
			b.maxTokens = n
		case k == "calls" && isInt && n >= 0:
			b.maxRequests = n
		default:
			return eval.Value{}, fail("a budget's %s must be a number that is not negative, got %s", k, x.String())
		}
	}
	return eval.Obj(b), nil
}

// begin counts a request that is about to be sent, whatever becomes of it: others
// run meanwhile, and must not send theirs on the same account.
func (b *Budget) begin() { b.requests++ }

// spend counts the tokens of an answer.
func (b *Budget) spend(tokens int64) { b.tokens += tokens }

// eachBudget calls f for every budget.
func eachBudget(vs []eval.Value, f func(*Budget)) {
	for _, v := range vs {
		if b, ok := v.AsObject().(*Budget); ok {
			f(b)
		}
	}
}

// errBudget marks the errors of exhausted budgets.
type errBudget struct{ what string }

func (e *errBudget) Error() string { return e.what }

func (b *Budget) check() error {
	var what string
	switch {
	case b.maxRequests >= 0 && b.requests >= b.maxRequests:
		what = fmt.Sprintf("%d of %d calls", b.requests, b.maxRequests)
	case b.maxTokens >= 0 && b.tokens >= b.maxTokens:
		what = fmt.Sprintf("%d of %d tokens", b.tokens, b.maxTokens)
	default:
		return b.checkTime()
	}
	return usedUp(what)
}

// checkTime is check for the seconds alone.
func (b *Budget) checkTime() error {
	if b.maxSeconds < 0 || time.Since(b.began).Seconds() < b.maxSeconds {
		return nil
	}
	return usedUp(fmt.Sprintf("%s seconds", eval.FormatFloat(b.maxSeconds)))
}

func usedUp(what string) error {
	msg := "the budget is used up (" + what + ")"
	return &diag.Error{Kind: diag.Model, Msg: msg, Cause: &errBudget{msg}}
}

func isBudget(err error) bool {
	e, ok := err.(*diag.Error)
	if !ok {
		return false
	}
	_, ok = e.Cause.(*errBudget)
	return ok
}

// checkBudgets gives the first error of a check of each budget.
func checkBudgets(vs []eval.Value, check func(*Budget) error) (err error) {
	eachBudget(vs, func(b *Budget) {
		if err == nil {
			err = check(b)
		}
	})
	return err
}

// budgetContext ends a request when the first budget's time is over.
func budgetContext(ctx context.Context, vs []eval.Value) (context.Context, context.CancelFunc) {
	var end time.Time
	eachBudget(vs, func(b *Budget) {
		if e := b.began.Add(seconds(b.maxSeconds)); b.maxSeconds >= 0 && (end.IsZero() || e.Before(end)) {
			end = e
		}
	})
	if end.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, end)
}
