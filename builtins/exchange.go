package builtins

import (
	"context"
	"errors"
	"time"

	"github.com/sense-lang/sense/audit"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/model"
)

// askOptions are the labeled arguments of the ask builtins.
type askOptions struct {
	system  string
	stream  bool
	returns *shape

	// For ask_with_tools.
	resources *eval.Array
	search    searchMode
	parallel  int // calls at once; 0 is the usual number
}

func readAsk(c *eval.Call, who string) (o askOptions, err error) {
	for _, l := range c.Labels {
		var ok bool
		switch l.Name {
		case "system":
			if o.system, ok = l.Value.AsString(); !ok {
				return o, fail("%s()'s system option must be a String, got %s", who, l.Value.TypeName())
			}
		case "stream":
			if o.stream, ok = l.Value.AsBool(); !ok {
				return o, fail("%s()'s stream option must be a Bool, got %s", who, l.Value.TypeName())
			}
		case "returns":
			if o.returns, err = shapeOf(l.Value); err != nil {
				return o, fail("%s()'s returns option: %v", who, err)
			}
		default:
			known := false
			if who == "ask_with_tools" {
				known, err = o.readToolOption(l)
			}
			if err != nil {
				return o, err
			}
			if !known {
				return o, fail("'%s' does not accept labeled arguments (%s)", who, l.Name)
			}
		}
	}
	return o, nil
}

// readToolOption reads an option of ask_with_tools alone.
func (o *askOptions) readToolOption(l eval.Label) (known bool, err error) {
	var ok bool
	switch l.Name {
	case "resources":
		if o.resources, ok = l.Value.AsArray(); !ok {
			err = fail("ask_with_tools()'s resources option must be an Array, got %s", l.Value.TypeName())
		}
	case "tool_search":
		o.search, err = readSearch(l.Value)
	case "max_parallel":
		n, ok := l.Value.AsInt()
		if o.parallel = int(n); !ok || n < 1 || n > 64 {
			err = fail("ask_with_tools()'s max_parallel option must be an Int from 1 to 64")
		}
	default:
		return false, nil
	}
	return true, err
}

// exchange is one question to a model with all its turns.
type exchange struct {
	t     *eval.Thread
	at    eval.Place
	m     *Model
	o     askOptions
	req   model.Request
	usage usage
	began time.Time
	last  *model.Turn
	wrote bool // a stream has printed something
	// actions are those that the model proposed.
	actions []eval.Value
}

func newExchange(c *eval.Call, m *Model, o askOptions) *exchange {
	x := &exchange{t: c.Thread, at: c.Thread.Place(), m: m, o: o, began: time.Now()}
	x.req.System = o.system
	if o.returns != nil {
		x.req.Schema = o.returns.schema()
	}
	return x
}

// answer asks once, and once more where the answer has not the shape asked for.
func (x *exchange) answer() (eval.Value, error) {
	turn, err := x.turn()
	if err != nil {
		return eval.Value{}, err
	}
	return x.finish(turn)
}

// finish makes an Answer of the turn that ends an exchange.
func (x *exchange) finish(turn *model.Turn) (eval.Value, error) {
	value := eval.String(turn.Text)
	if x.o.returns != nil {
		var err error
		if value, turn, err = x.structured(turn); err != nil {
			return eval.Value{}, err
		}
	}
	if x.wrote {
		if err := x.t.Write("\n"); err != nil {
			return eval.Value{}, err
		}
	}
	if x.m.deps == nil || x.m.deps.Tape == nil { // a tape must play as it was recorded
		x.usage.seconds = time.Since(x.began).Seconds()
	}
	a := &Answer{value: value, confidence: turn.Confidence, source: x.m.name, truncated: turn.Truncated, usage: x.usage, actions: x.actions}
	return eval.Obj(a), x.m.audited(x.at)
}

// structured reads the value out of an answer; a wrong one is sent back once
// with the reason.
func (x *exchange) structured(turn *model.Turn) (eval.Value, *model.Turn, error) {
	v, why := x.o.returns.read(turn.Text)
	if why == nil {
		return v, turn, nil
	}
	x.req.Messages = append(x.req.Messages, turn.Message(), model.Message{Role: model.RoleUser,
		Text: "That answer cannot be used: " + why.Error() + ". Answer again with JSON of exactly the shape asked for, and nothing else."})
	turn, err := x.turn()
	if err != nil {
		return eval.Value{}, nil, err
	}
	if v, why = x.o.returns.read(turn.Text); why != nil {
		return eval.Value{}, nil, diag.New(diag.Model, "model '%s' did not answer with %s: %v", x.m.name, x.o.returns, why)
	}
	return v, turn, nil
}

// turn sends the request; where the model fails its fallback is asked.
func (x *exchange) turn() (*model.Turn, error) {
	seen := map[*Model]bool{}
	for {
		turn, err := x.once()
		seen[x.m] = true
		if err == nil || x.m.fallback == nil || seen[x.m.fallback] || diag.KindOf(err) != diag.Model || isBudget(err) || x.wrote {
			return turn, err
		}
		x.m = x.m.fallback
	}
}

// once asks the model at hand one time.
func (x *exchange) once() (*model.Turn, error) {
	if err := x.m.allow(x.at); err != nil {
		return nil, err
	}
	budgets := x.at.Budgets()
	if err := checkBudgets(budgets, (*Budget).check); err != nil {
		return nil, err
	}
	eachBudget(budgets, (*Budget).begin)
	x.req.Stream = nil
	if x.o.stream {
		x.req.Stream = func(text string) { x.wrote = x.t.Write(text) == nil || x.wrote }
	}
	var turn *model.Turn
	var err error
	x.t.Blocking(func(ctx context.Context) {
		ctx, cancel := budgetContext(ctx, budgets)
		defer cancel()
		turn, err = x.m.client().Complete(ctx, &x.req)
	})
	if stop := x.t.Stopped(); stop != nil {
		return nil, stop
	}
	if err != nil {
		if x.wrote {
			_ = x.t.Write("\n") // what was shown stays a line of its own
		}
		if errors.Is(err, context.DeadlineExceeded) {
			if berr := checkBudgets(budgets, (*Budget).checkTime); berr != nil {
				return nil, berr
			}
		}
		if aerr := x.at.Event("model", x.m.name, "failed", err.Error()); aerr != nil {
			return nil, aerr
		}
		return nil, &diag.Error{Kind: diag.Model, Msg: "model '" + x.m.name + "' failed: " + err.Error(), Cause: err}
	}
	turn.Usage = turn.Usage.Bounded()
	x.count(turn, budgets)
	x.last = turn
	return turn, x.at.Event("model", x.m.name, "turn", "", audit.Field{Key: "input_tokens", Value: turn.Usage.InputTokens},
		audit.Field{Key: "output_tokens", Value: turn.Usage.OutputTokens}, audit.Field{Key: "tool_calls", Value: len(turn.Calls)})
}

func (x *exchange) count(turn *model.Turn, budgets []eval.Value) {
	x.usage.turns++
	x.usage.input += turn.Usage.InputTokens
	x.usage.output += turn.Usage.OutputTokens
	eachBudget(budgets, func(b *Budget) { b.spend(turn.Usage.InputTokens + turn.Usage.OutputTokens) })
	if x.m.deps != nil {
		x.m.deps.usage.add(x.m.name, usage{input: turn.Usage.InputTokens, output: turn.Usage.OutputTokens, turns: 1, calls: int64(len(turn.Calls))})
	}
}
