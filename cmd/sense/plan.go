package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/eval"
)

// plan is what a dry run would commit.
type plan struct {
	Program string       `json:"program"` // path of the program
	Source  string       `json:"source"`  // hash of its text
	Actions []planAction `json:"actions"`
}

// planAction is one commit. Shown is for people, Digest is what counts.
type planAction struct {
	Name   string `json:"name"`
	Shown  string `json:"shown"`
	Digest string `json:"digest"`
}

func sourceHash(src string) string {
	sum := sha256.Sum256([]byte(src))
	return hex.EncodeToString(sum[:])
}

// planOf describes an action for a plan.
func planOf(r *sense.Runtime, a *eval.Action) planAction {
	return planAction{a.Decl().Name(), r.Audit().Redactor.Redact(a.Describe()), r.Interp().Digest(a.Args())}
}

// record adds every commit to the plan; clean takes secrets out of what is shown.
func (p *plan) record(r func() *sense.Runtime, clean func(string) string) func(a *eval.Action) error {
	return func(a *eval.Action) error {
		one := planOf(r(), a)
		one.Shown = clean(one.Shown)
		p.Actions = append(p.Actions, one)
		return nil
	}
}

func (p *plan) save(path string) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}

// follow lets exactly the planned commits pass, in order.
func (p *plan) follow(r func() *sense.Runtime, done *int) func(a *eval.Action) error {
	return func(a *eval.Action) error {
		got := planOf(r(), a)
		if *done >= len(p.Actions) {
			return fmt.Errorf("the plan ends before this action: %s", got.Shown)
		}
		if want := p.Actions[*done]; want.Name != got.Name || want.Digest != got.Digest {
			return fmt.Errorf("action %d differs from the plan: planned %s, now %s", *done+1, want.Shown, got.Shown)
		}
		*done++
		return nil
	}
}

func applyCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "apply PLAN",
		Short: "Run what a dry run planned, and nothing else",
		Long: `Run the program of a plan that 'sense run --dry-run --plan PLAN' wrote. Exactly the
planned actions may commit, in their order and with their arguments; the first
difference stops the run before anything else is done.`,
		Args: pathArg,
		RunE: func(c *cobra.Command, args []string) error { return applyPlan(c.Context(), args[0], f) },
	}
	f.register(c)
	return c
}

func readPlan(path string) (*plan, string, error) {
	b, err := readInput(path)
	if err != nil {
		return nil, "", fmt.Errorf("cannot read the plan: %w", err)
	}
	p := &plan{}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, "", fmt.Errorf("%s is no plan: %w", path, err)
	}
	src, err := sense.ReadSource(p.Program)
	if err != nil {
		return nil, "", err
	}
	if sourceHash(src) != p.Source {
		return nil, "", fmt.Errorf("%s has changed since it was planned", p.Program)
	}
	return p, src, nil
}

func applyPlan(ctx context.Context, path string, f *runFlags) error {
	p, src, err := readPlan(path)
	if err != nil {
		errPrinter(nil).Print(os.Stderr, err)
		return exitError(exitFailed)
	}
	done := 0
	f.dry, f.program = false, p.Program
	f.onCommit = p.follow(current.Load, &done)
	err = f.execute(ctx, nil, func(r *sense.Runtime) error { return r.RunSource(p.Program, src) })
	if err == nil && done < len(p.Actions) {
		errPrinter(nil).Print(os.Stderr, fmt.Errorf("the run ended before action %d of the plan: %s", done+1, p.Actions[done].Shown))
		return exitError(exitFailed)
	}
	return err
}
