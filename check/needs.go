package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/policy"
)

// Need is a capability that a program asks for, and what policy says to it at
// the places where it is asked for.
type Need struct {
	// Capability is the name, "" where only a run tells.
	Capability string
	// For says what needs it, such as "tool 'send_mail'".
	For  string
	File string
	Pos  diag.Pos
	// Allowed is the decision. Rule says what decided, and is empty where no rule
	// says anything.
	Allowed bool
	Rule    string
}

// needs collects what a program asks for.
type needs struct {
	asked []need
	// open says that some capability shows only in a run.
	open bool
}

// need is one place where a capability is asked for; a declaration counts only
// where nothing uses it.
type need struct {
	capability, what string
	pos              diag.Pos
	at               place
	decl             ast.Node // what is declared, nil for a use of something else
	use              bool
}

func (n *needs) add(at place, capability, what string, pos diag.Pos) {
	n.asked = append(n.asked, need{capability: capability, what: what, pos: pos, at: at, use: true})
}

func (n *needs) python(at place, module string, pos diag.Pos) {
	n.add(at, policy.Name("python."+module), "python module '"+module+"'", pos)
}

// declares notes what a tool or an action requires.
func (w *walker) declares(cs []ast.Capability, what string, pos diag.Pos, decl ast.Node) {
	for _, c := range cs {
		w.later(func(at place) {
			w.c.needs.asked = append(w.c.needs.asked, need{capability: c.Name, what: what, pos: pos, at: at, decl: decl})
		})
	}
}

// use notes that a name that may be a tool's or an action's is used.
func (c *checker) use(at place, x *ast.Ident) {
	bs := at.scope.lookup(x.Name)
	if s, ok := bs[0].certain(); ok && len(bs) == 1 {
		c.useSite(at, s, x.P, 0)
	}
}

// useMember is use for a member of a module.
func (c *checker) useMember(at place, m *module, x *ast.MemberExpr) {
	c.useOf(at, m, x.Name, x.NamePos, 0)
}

func (c *checker) useOf(at place, m *module, name string, pos diag.Pos, depth int) {
	if m.std != nil {
		c.useStd(at, m.name, name, pos)
		return
	}
	if b := m.scope.names[name]; b != nil && depth < maxAliases {
		if s, ok := b.certain(); ok {
			c.useSite(at, s, pos, depth)
		}
	}
}

func (c *checker) useSite(at place, s *site, pos diag.Pos, depth int) {
	if s.mod != nil && s.from != "" {
		c.useOf(at, s.mod, s.from, pos, depth+1)
		return
	}
	var cs []ast.Capability
	var what string
	switch d := s.decl.(type) {
	case *ast.ToolDecl:
		cs, what = d.Requires, "tool '"+d.Name+"'"
	case *ast.ActionDecl:
		cs, what = d.Requires, "action '"+d.Name+"'"
	}
	for _, r := range cs {
		c.needs.asked = append(c.needs.asked, need{capability: r.Name, what: what, pos: pos, at: at, decl: s.decl, use: true})
	}
}

func (c *checker) useStd(at place, path, name string, pos diag.Pos) {
	capability := stdNeeds(path, name)
	if capability == "" {
		return
	}
	what := path + "." + name
	if path == "std.fs" && slices.Contains(alsoReads, name) {
		c.needs.add(at, "fs.read", what, pos)
	}
	c.needs.add(at, capability, what, pos)
}

// builtinNeeds notes what a call of inference or connect_mcp asks for.
func (c *checker) builtinNeeds(at place, x *ast.CallExpr, f callee) {
	if f.sig == nil {
		return
	}
	switch f.name {
	case "inference":
		c.modelNeeds(at, x)
	case "connect_mcp":
		c.connectNeeds(at, x)
	}
}

func (c *checker) modelNeeds(at place, x *ast.CallExpr) {
	if len(x.Args) == 0 {
		return
	}
	provider, ok := x.Args[0].Value.(*ast.StringLit)
	switch {
	case !ok:
		c.needs.open = true
		c.needs.add(at, "", "a model whose provider shows in a run", x.P)
	case provider.Value == "mock":
	case provider.Value == "auto":
		for _, p := range []string{"anthropic", "openai", "ollama"} {
			c.needs.add(at, "model."+p, "model 'auto', where it finds "+p, x.P)
		}
	case !slices.Contains(builtins.Providers(), provider.Value):
		c.add(at, Error, "provider", provider.P, fmt.Sprintf("inference(): unknown provider '%s' -- supported: %s", provider.Value, strings.Join(builtins.Providers(), ", ")),
			hint(provider.Value, builtins.Providers())...)
	default:
		c.needs.add(at, "model."+provider.Value, "model '"+provider.Value+"'", x.P)
	}
}

// connectNeeds notes the capability of a connection, which its tools ask for.
func (c *checker) connectNeeds(at place, x *ast.CallExpr) {
	arg := func(i int, label string) ast.Expr {
		for k, a := range x.Args {
			if a.Label == label || a.Label == "" && k == i {
				return a.Value
			}
		}
		return nil
	}
	what := "an MCP server"
	name, named := arg(0, "name").(*ast.StringLit)
	if named {
		what = "MCP server '" + name.Value + "'"
	}
	c.needs.add(at, "mcp.connect", what, x.P)
	if arg(1, "command") != nil {
		c.needs.add(at, "process.run", what, x.P)
	}
	fromFile := arg(1, "command") == nil && arg(-1, "url") == nil
	c.needs.open = c.needs.open || fromFile // a file says which
	at.seq = math.MaxInt                    // its tools are called later
	switch capability := arg(3, "capability").(type) {
	case *ast.StringLit:
		c.needs.add(at, policy.Name(capability.Value), "the tools of "+what, x.P)
	case nil, *ast.NilLit:
		if named && !fromFile && c.o.Ceiling != nil {
			c.needs.add(at, policy.Join("mcp", name.Value), "the tools of "+what, x.P)
		}
	default:
		c.needs.open = true
		c.needs.add(at, "", "the tools of "+what+", a capability that shows in a run", x.P)
	}
}

// list decides every need.
func (n *needs) list(c *checker) []Need {
	used := map[ast.Node]bool{}
	for _, k := range n.asked {
		if k.use && k.decl != nil {
			used[k.decl] = true
		}
	}
	var out []Need
	for _, k := range n.asked {
		if !k.use && used[k.decl] {
			continue
		}
		out = append(out, c.decide(k))
	}
	order := c.order()
	slices.SortStableFunc(out, func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.Capability, b.Capability), order[a.File]-order[b.File], int(a.Pos.Offset-b.Pos.Offset))
	})
	same := func(a, b Need) bool {
		return a.Capability == b.Capability && a.For == b.For && a.Allowed == b.Allowed && a.Rule == b.Rule
	}
	return slices.CompactFunc(out, same)
}

func (c *checker) decide(k need) Need {
	n := Need{Capability: k.capability, For: k.what, File: k.at.scope.mod.file, Pos: k.pos}
	if k.capability == "" {
		n.Allowed = true
		return n
	}
	var callers []policy.Chain
	if main := c.main; main != nil && k.at.scope.mod != main {
		callers = append(callers, c.chain(place{scope: main.scope, frame: nil}))
	}
	chain := c.chain(k.at)
	d := policy.Decide(c.o.Ceiling, k.capability, chain, callers)
	if base, ok := strings.CutPrefix(k.capability, "python."); ok && d.Rule == nil && base != "" {
		if all := policy.Decide(c.o.Ceiling, "python", chain, callers); all.Rule != nil || !all.Allowed {
			d = all
		}
	}
	n.Allowed, n.Rule = d.Allowed, d.Note()
	return n
}

// chain gives the scopes with rules around a place, innermost first. It holds
// until the next call.
func (c *checker) chain(at place) policy.Chain {
	var out policy.Chain
	for s := at.scope; s != nil; s = s.parent {
		p := s.policyAt(at)
		if s.parent == nil && s.mod == c.main && c.o.Ceiling.Strict() {
			p.SetStrict()
		}
		if !p.Empty() {
			out = append(out, p)
		}
	}
	return out
}

// ruled is the first rules of a scope as policy has them.
type ruled struct {
	policy.Scope
	n   int
	set int // how many were set, those of earlier places included
}

// policyAt gives the rules of a scope that count at a place: one that the same
// code sets only later does not. The places come nearly in order, so that the
// rules are not set anew for each.
func (s *scope) policyAt(at place) *policy.Scope {
	n, p := len(s.rules), &s.all
	if n > 0 && s.rules[0].frame == at.frame && len(at.loops) == 0 {
		p, n = &s.some, sort.Search(n, func(i int) bool { return s.rules[i].seq > at.seq })
	}
	if n < p.n {
		*p = ruled{set: p.set}
	}
	p.set += n - p.n
	for _, r := range s.rules[p.n:n] {
		if r.r == nil {
			p.SetDefaultDeny(s.mod.file, r.pos)
			continue
		}
		p.Set(policy.Rule{Allow: r.r.Allow, Pattern: r.r.Capability.Name, File: s.mod.file, Pos: r.pos})
	}
	p.n = n
	return &p.Scope
}

// unusedRules warns of rules that cover no capability of the program. Where one
// shows only in a run nothing is said.
func (c *checker) unusedRules() {
	if c.needs.open {
		return
	}
	known := c.table.capabilities()
	for _, k := range c.needs.asked {
		known = append(known, k.capability)
		if strings.HasPrefix(k.what, "the tools of ") {
			known = append(known, k.capability+".*")
		}
	}
	var rules []policy.Rule
	var walk func(s *scope)
	walk = func(s *scope) {
		for _, r := range s.rules {
			if r.r != nil {
				rules = append(rules, policy.Rule{Allow: r.r.Allow, Pattern: r.r.Capability.Name, File: s.mod.file, Pos: r.pos})
			}
		}
		for _, k := range s.kids {
			walk(k)
		}
	}
	walk(c.main.scope)
	for _, m := range c.modules {
		if m.scope != nil {
			walk(m.scope)
		}
	}
	for _, w := range policy.Unused(rules, known) {
		c.findings = append(c.findings, Finding{Level: Warning, Code: "unused-rule", File: w.Rule.File, Pos: w.Rule.Pos, Msg: w.String()})
	}
}
