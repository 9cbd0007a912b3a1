package sense_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sense-lang/sense"
)

// The reference: the rules of docs/safety.md in thirty lines, written from its
// text, that know nothing of the evaluator.

// refScope is one scope while it is active: its rules, and the scope that its
// code stands in.
type refScope struct {
	outer *refScope
	rules map[string]bool
}

// says gives what the scope itself says: an exact name, else the longest
// pattern.
func (s *refScope) says(capability string) (allow, found bool) {
	if a, ok := s.rules[capability]; ok {
		return a, true
	}
	for p := capability; strings.Contains(p, "."); {
		p = p[:strings.LastIndex(p, ".")]
		if a, ok := s.rules[p+".*"]; ok {
			return a, true
		}
	}
	a, ok := s.rules["*"]
	return a, ok
}

// nearest gives the scope with a word on the capability that is nearest.
func (s *refScope) nearest(capability string) (who *refScope, allow bool) {
	for ; s != nil; s = s.outer {
		if a, ok := s.says(capability); ok {
			return s, a
		}
	}
	return nil, true
}

func (s *refScope) within(outer *refScope) bool {
	for ; s != nil; s = s.outer {
		if s == outer {
			return true
		}
	}
	return false
}

// refAllowed decides at a place for the active calls.
func refAllowed(capability string, place *refScope, callers []*refScope) bool {
	_, allow := place.nearest(capability)
	for _, c := range callers {
		if who, a := c.nearest(capability); !a && !place.within(who) {
			allow = false
		}
	}
	return allow
}

// What follows generates programs and runs them twice: as text through sense,
// and as a tree through the reference.

// piece is a statement of a generated program.
type piece struct {
	kind string // rule, probe, block, session, def, call, map, tool, action, agent, model, import
	name string // of what is declared, called or asked for
	allow,
	async bool
	requires string // of a tool or action
	arg      string // the function that a call passes, or "nil"
	body     []*piece
}

type chainGen struct {
	*rand.Rand
	n     int
	size  int
	files map[string][]*piece
}

var chainCaps = []string{"a.b", "a.c", "b.c", "a.b.c"}
var chainPatterns = []string{"a.b", "a.c", "b.c", "a.b.c", "a.*", "b.*", "a.b.*", "*"}

func (g *chainGen) fresh(prefix string) string { g.n++; return prefix + strconv.Itoa(g.n) }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// block makes statements; seen are the functions in sight, inFunc says that the
// parameter cb is too.
func (g *chainGen) block(depth int, seen []*piece, inFunc bool) []*piece {
	var out []*piece
	add := func(p *piece) { out = append(out, p); g.size++ }
	for range 1 + g.IntN(4) {
		if g.size > 60 {
			break
		}
		switch k := g.IntN(20); {
		case k < 5:
			add(&piece{kind: "rule", name: pick(g.Rand, chainPatterns), allow: g.IntN(2) == 0})
		case k < 8:
			add(&piece{kind: "probe", name: pick(g.Rand, chainCaps)})
		case k < 10 && depth > 0:
			add(&piece{kind: pick(g.Rand, []string{"block", "session", "loop"}), name: g.fresh("s"), body: g.block(depth-1, seen, inFunc)})
		case k < 15 && depth > 0:
			d := g.declare(depth, seen)
			add(d)
			if d.kind != "agent" {
				seen = append(slices.Clone(seen), d)
			}
		default:
			if c := g.call(seen, inFunc); c != nil {
				add(c)
			}
		}
	}
	if c := g.call(seen, inFunc); c != nil {
		add(c)
	}
	add(&piece{kind: "probe", name: pick(g.Rand, chainCaps)})
	return out
}

func (g *chainGen) declare(depth int, seen []*piece) *piece {
	d := &piece{kind: pick(g.Rand, []string{"def", "def", "tool", "tool", "action", "agent"})}
	d.name = g.fresh("f")
	if d.kind == "agent" {
		d.async = false
		d.body = g.block(depth-1, seen, false)
		return d
	}
	if d.kind != "def" && g.IntN(2) == 0 {
		d.requires = pick(g.Rand, chainCaps)
	}
	d.async = d.kind == "tool" && g.IntN(4) == 0
	d.body = g.block(depth-1, seen, true)
	return d
}

func (g *chainGen) call(seen []*piece, inFunc bool) *piece {
	if inFunc && g.IntN(3) == 0 {
		return &piece{kind: "cb"}
	}
	if len(seen) == 0 {
		return nil
	}
	d := pick(g.Rand, seen)
	c := &piece{kind: "call", name: d.name, arg: "nil"}
	if g.IntN(2) == 0 {
		if a := pick(g.Rand, seen); a.kind == "def" {
			c.arg = a.name
		}
	}
	switch {
	case d.kind == "def" && g.IntN(3) == 0:
		c.kind = "map"
	case d.kind == "action":
		c.kind = "commit"
	case d.kind == "tool" && d.async:
		c.kind = "await"
	case d.kind == "tool" && g.IntN(4) == 0:
		c.kind, c.arg = "model", "nil"
	}
	return c
}

// program makes a main file and a library.
func (g *chainGen) program() {
	lib := g.block(2, nil, false)
	var seen []*piece
	for _, p := range lib {
		if p.kind == "def" || p.kind == "tool" || p.kind == "action" {
			seen = append(seen, p)
		}
	}
	g.files = map[string][]*piece{"lib": lib}
	g.size = 0
	main := g.block(1, nil, false)
	main = append(main, &piece{kind: "import", name: "lib"})
	g.size = 0
	g.files["main"] = append(main, g.block(3, seen, false)...)
}

// text writes statements as a program.
func (g *chainGen) text(b *strings.Builder, in string, ps []*piece) {
	line := func(format string, args ...any) { fmt.Fprintf(b, in+format+"\n", args...) }
	guarded := func(what string) {
		line("try:\n%s    %s\n%scatch e if e.kind == \"policy\":\n%s    print(\"denied\")", in, what, in, in)
	}
	for _, p := range ps {
		switch p.kind {
		case "rule":
			line("policy:\n%s    %s %s", in, map[bool]string{true: "allow", false: "deny"}[p.allow], p.name)
		case "probe":
			guarded(gateName(p.name) + "()")
		case "block", "session", "loop", "agent":
			line("%s", map[string]string{"block": "if true:", "session": "session " + p.name + ":", "loop": "for i in [1, 2]:", "agent": "agent " + p.name + ":"}[p.kind])
			g.text(b, in+"    ", p.body)
			if p.kind == "agent" {
				line("start(%s)", p.name)
			}
		case "def", "tool", "action":
			g.head(line, p)
			g.text(b, in+"    ", p.body)
		case "cb":
			line("if cb != nil:\n%s    cb(nil)", in)
		case "call":
			guarded(p.name + "(" + p.arg + ")")
		case "map":
			line("[1].map(lambda x: %s(%s))", p.name, p.arg)
		case "await":
			guarded("await(" + p.name + "(" + p.arg + "))")
		case "commit":
			guarded("act = " + p.name + "(" + p.arg + ")\n" + in + "    act.verify()\n" + in + "    act.commit()")
		case "model":
			line("set delegation = inference(\"mock\", \"m\", script: [{\"call\": \"%s\", \"args\": {\"cb\": nil}}, \"end\"])\n%sask_with_tools(\"go\", [%s])", p.name, in, p.name)
		case "import":
			line("from lib import %s", strings.Join(append(libNames(g.files["lib"]), "unused"), ", "))
		}
	}
}

func libNames(ps []*piece) (out []string) {
	for _, p := range ps {
		if p.kind == "def" || p.kind == "tool" || p.kind == "action" {
			out = append(out, p.name)
		}
	}
	return out
}

func (g *chainGen) head(line func(string, ...any), p *piece) {
	needs := ""
	if p.requires != "" {
		needs = " requires " + p.requires
	}
	switch {
	case p.kind == "def":
		line("def %s(cb):", p.name)
	case p.kind == "action":
		line("irreversible action %s(cb)%s:", p.name, needs)
	case p.async:
		line("async tool %s(cb)%s \"t\":", p.name, needs)
	default:
		line("tool %s(cb)%s \"t\":", p.name, needs)
	}
}

func gateName(capability string) string { return "gate_" + strings.ReplaceAll(capability, ".", "_") }

func (g *chainGen) source(name string) string {
	var b strings.Builder
	for _, c := range chainCaps {
		fmt.Fprintf(&b, "tool %s() requires %s:\n    print(\"%s\")\n", gateName(c), c, c)
	}
	b.WriteString("unused = 0\n")
	g.text(&b, "", g.files[name])
	return b.String()
}

// refRun runs the tree.
type refRun struct {
	g     *chainGen
	out   strings.Builder
	steps int
}

// refFunc is a declared function with the scope around it.
type refFunc struct {
	decl *piece
	env  *refEnv
}

// refEnv is a scope with its names.
type refEnv struct {
	refScope
	up    *refEnv
	names map[string]*refFunc
}

func newEnv(up *refEnv) *refEnv {
	e := &refEnv{up: up, names: map[string]*refFunc{}}
	e.rules = map[string]bool{}
	if up != nil {
		e.outer = &up.refScope
	}
	return e
}

func (e *refEnv) find(name string) *refFunc {
	for ; e != nil; e = e.up {
		if f, ok := e.names[name]; ok {
			return f
		}
	}
	return nil
}

const tooLong = 400

// deniedAt is what leaves a map's callback, which does not catch.
func (r *refRun) run(ps []*piece, e *refEnv, callers []*refScope) {
	for _, p := range ps {
		if r.steps++; r.steps > tooLong {
			return
		}
		inner := func(body []*piece) { r.run(body, newEnv(e), callers) }
		switch p.kind {
		case "rule":
			e.rules[p.name] = p.allow
		case "probe":
			if refAllowed(p.name, &e.refScope, callers) {
				r.out.WriteString(p.name + "\n")
			} else {
				r.out.WriteString("denied\n")
			}
		case "block", "session":
			inner(p.body)
		case "loop":
			inner(p.body)
			inner(p.body)
		case "agent":
			r.run(p.body, newEnv(e), append([]*refScope{&e.refScope}, callers...))
		case "def", "tool", "action":
			e.names[p.name] = &refFunc{p, e}
		case "cb":
			if f := e.find("cb"); f != nil && f.decl != nil {
				r.call(f, nil, e, callers)
			}
		case "call", "map", "await", "commit", "model":
			if !r.call(e.find(p.name), e.find(p.arg), e, callers) && p.kind != "model" {
				r.out.WriteString("denied\n")
			}
		case "import":
			m := newEnv(nil)
			r.run(r.g.files["lib"], m, append([]*refScope{&e.refScope}, callers...))
			for _, n := range libNames(r.g.files["lib"]) {
				e.names[n] = m.names[n]
			}
		}
	}
}

func (r *refRun) call(f, arg *refFunc, e *refEnv, callers []*refScope) bool {
	if f.decl.requires != "" && !refAllowed(f.decl.requires, &e.refScope, callers) {
		return false
	}
	in := newEnv(f.env)
	in.names["cb"] = arg
	if arg == nil {
		in.names["cb"] = &refFunc{}
	}
	r.run(f.decl.body, in, append([]*refScope{&e.refScope}, callers...))
	return true
}

// TestPolicyChains runs random programs, in which functions, sessions, loops,
// modules, agents, actions, callbacks, tools and a model call each other with
// rules anywhere, through the evaluator and through the reference.
// SENSE_CHAINS sets how many.
func TestPolicyChains(t *testing.T) {
	t.Parallel()
	rounds := 4_000
	if n, err := strconv.Atoi(os.Getenv("SENSE_CHAINS")); err == nil {
		rounds = n
	} else if testing.Short() {
		rounds = 500
	}
	dir := t.TempDir()
	denied, allowed, kinds := 0, 0, map[string]int{}
	for seed := range rounds {
		g := &chainGen{Rand: rand.New(rand.NewPCG(uint64(seed), 77))}
		g.program()
		ref := &refRun{g: g}
		ref.run(g.files["main"], newEnv(nil), nil)
		if ref.steps > tooLong {
			continue
		}
		got := runChains(t, dir, g)
		if want := ref.out.String(); got != want {
			t.Fatalf("seed %d: the evaluator and the reference differ:\n%s\n--- main\n%s\n--- lib\n%s", seed, diffText("want", want, got), g.source("main"), g.source("lib"))
		}
		n := strings.Count(got, "denied\n")
		denied, allowed = denied+n, allowed+strings.Count(got, "\n")-n
		countKinds(kinds, g.files["main"])
	}
	t.Logf("%d programs, %d denied, %d allowed, %v", rounds, denied, allowed, kinds)
	if denied < rounds || allowed < rounds || len(kinds) < 14 {
		t.Errorf("the programs are too much alike: %d denied, %d allowed, %v", denied, allowed, kinds)
	}
}

func countKinds(kinds map[string]int, ps []*piece) {
	for _, p := range ps {
		kinds[p.kind]++
		countKinds(kinds, p.body)
	}
}

func runChains(t *testing.T, dir string, g *chainGen) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "lib.sns"), []byte(g.source("lib")), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r := sense.New(context.Background(), sense.Options{Stdout: &out})
	defer r.Close()
	if err := r.RunSource(filepath.Join(dir, "main.sns"), g.source("main")); err != nil {
		fmt.Fprintf(&out, "error: %v\n", err)
	}
	return out.String()
}
