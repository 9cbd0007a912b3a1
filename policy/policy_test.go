package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sense-lang/sense/diag"
)

func at(line int32) diag.Pos { return diag.Pos{Line: line, Col: 1} }

// scope reads rules such as "allow a.b; deny c.*; default deny".
func scope(text string) *Scope {
	s := &Scope{}
	for i, part := range strings.Split(text, ";") {
		effect, pattern, _ := strings.Cut(strings.TrimSpace(part), " ")
		if effect == "default" {
			s.SetDefaultDeny("s.sns", at(int32(i+1)))
			continue
		}
		s.Set(Rule{Allow: effect == "allow", Pattern: pattern, File: "s.sns", Pos: at(int32(i + 1))})
	}
	return s
}

func TestCovers(t *testing.T) {
	cases := []struct {
		pattern, name string
		want          bool
	}{
		{"mcp.github", "mcp.github", true},
		{"mcp.github", "mcp.github.x", false},
		{"mcp.github", "mcp", false},
		{"Mcp.Github", "mcp.github", false}, // case counts
		{"*", "a", true},
		{"*", "a.b.c", true},
		{"mcp.github.*", "mcp.github.create_issue", true},
		{"mcp.github.*", "mcp.github.a.b", true},
		{"mcp.github.*", "mcp.github", false},
		{"mcp.github.*", "mcp.githubx.a", false},
		{"a.*", "a.b", true}, // D03: the separator is the dot
		{"a.*", "a.b.c", true},
		{"a.*.c", "a.b.c", true},
		{"a.*.c", "a.b.d.c", false},
		{"*.c", "a.c", true},
		{"*.c", "a.b.c", false},
		{"mcp.fs.get*", "mcp.fs.get_file", true}, // D02
		{"mcp.fs.get*", "mcp.fs.get", true},
		{"mcp.fs.get*", "mcp.fs.set", false},
		{"mcp.fs.get*", "mcp.fs.get.x", false},
		{"mcp.fs.*_file", "mcp.fs.read_file", true},
		{"mcp.fs.*_file*", "mcp.fs.a_file_file_b", true},
		{"mcp.fs.*_file", "mcp.fs.read_files", false},
		{"mcp.fs.a*b*c", "mcp.fs.abcbc", true},
		{"mcp.fs.a*b*c", "mcp.fs.acb", false},
		{`net.http."127.0.0.1"`, `net.http."127.0.0.1"`, true},
		{`net.http.*`, `net.http."127.0.0.1"`, true},
		{`net.http."127.*"`, `net.http."127.0.0.1"`, true},
		{`net.*.x`, `net."a.b".x`, true},
		{`mcp.gh."create-issue"`, `mcp.gh.create-issue`, true},
		{`mcp.gh."create-*"`, `mcp.gh.create-issue`, true},
		{`mcp.gh.delete_*`, `mcp.gh."delete_a.b"`, true},
		{`mcp.gh.*`, `mcp.gh."say \"hi\".x"`, true},
		{`mcp."*".x`, `mcp.gh.x`, true},
	}
	for _, c := range cases {
		p := compile(c.pattern)
		if got := p.matches(c.name); got != c.want {
			t.Errorf("%s covers %s: %v, want %v", c.pattern, c.name, got, c.want)
		}
		// Rules act the same way for allow and deny.
		for _, allow := range []bool{true, false} {
			s := &Scope{}
			s.Set(Rule{Allow: allow, Pattern: c.pattern})
			r, ok := s.Find(c.name)
			if ok != c.want || ok && r.Allow != allow {
				t.Errorf("Find(%s) under %s: %v %v", c.name, c.pattern, r, ok)
			}
		}
	}
}

func TestMalformedNamesDoNotPanic(t *testing.T) {
	for _, name := range []string{"", ".", "a.", "..", `"`, `"a`, `a."b`, `"a"b`, "a..b", `"a\`} {
		for _, pattern := range []string{"*", "a.*", "*.b", `"`, "", "a..*", "x.*y"} {
			s := scope("deny " + pattern)
			s.Find(name)
			DecideTool(nil, name, name, Chain{s}, nil)
		}
	}
	s := scope(`deny a..*`) // no pattern: stands for itself alone
	if _, ok := s.Find("a.b"); ok {
		t.Error("malformed text covers a capability")
	}
}

func TestWithinAScope(t *testing.T) {
	cases := []struct {
		rules, name, want string
	}{
		{"deny x; allow x", "x", "allow x"}, // D06: the later rule replaces
		{"allow x; deny x", "x", "deny x"},
		{"deny a.*; allow a.b", "a.b", "allow a.b"},
		{"allow a.b; deny a.*", "a.b", "allow a.b"}, // exact beats wildcard in any order
		{"allow *; deny a.*", "a.b", "deny a.*"},
		{"deny *; allow a.*", "a.b", "allow a.*"}, // longer beats shorter
		{"allow mcp.github.*; deny mcp.github.delete_*", "mcp.github.delete_repo", "deny mcp.github.delete_*"},
		{"allow a.*.c; deny *.b.c", "a.b.c", "deny *.b.c"}, // deny beats allow
		{"deny *.b.c; allow a.*.c", "a.b.c", "deny *.b.c"},
		{"deny b", "a", ""},
		{"allow a; default deny", "b", "default deny"},
		{"allow a; default deny", "a", "allow a"},
		{`deny mcp.gh.create-issue; allow mcp.gh."create-issue"`, "mcp.gh.create-issue", `allow mcp.gh."create-issue"`},
	}
	for _, c := range cases {
		r, ok := scope(c.rules).Find(c.name)
		got := ""
		if ok {
			got = r.String()
		}
		if got != c.want {
			t.Errorf("%s: %s decides about %s, want %s", c.rules, got, c.name, c.want)
		}
	}
}

func TestManyRules(t *testing.T) {
	s := &Scope{}
	for i := range 1000 {
		s.Set(Rule{Allow: i%2 == 0, Pattern: fmt.Sprintf("a.n%d", i)})
	}
	s.Set(Rule{Allow: true, Pattern: "b.*"})
	s.Set(Rule{Allow: false, Pattern: "a.n4"})
	for i := range 1000 {
		r, ok := s.Find(fmt.Sprintf("a.n%d", i))
		if want := i%2 == 0 && i != 4; !ok || r.Allow != want {
			t.Fatalf("a.n%d: %v %v", i, r, ok)
		}
	}
	if r, ok := s.Find("b.x"); !ok || !r.Allow {
		t.Error("wildcard among many rules not found")
	}
	if _, ok := s.Find("c"); ok {
		t.Error("c is in no rule")
	}
	if n := len(s.Rules()); n != 1001 {
		t.Errorf("%d rules, want 1001", n)
	}
}

func TestScopeRules(t *testing.T) {
	var s Scope
	if !s.Empty() {
		t.Error("the zero Scope is not empty")
	}
	s.SetStrict()
	s.SetDefaultDeny("m.sns", at(3))
	s.SetStrict() // what the program says itself stays
	if s.Empty() || len(s.Rules()) != 1 || s.Rules()[0].File != "m.sns" {
		t.Errorf("rules %v", s.Rules())
	}
	if d := Decide(nil, "x", Chain{&s}, nil); d.Allowed || d.Source != Script {
		t.Errorf("default deny: %+v", d)
	}
}

// A Decision keeps the rule that decided, also when a later one replaces it.
func TestDecisionIsKept(t *testing.T) {
	s := scope("deny x")
	d := Decide(nil, "x", Chain{s}, nil)
	s.Set(Rule{Allow: true, Pattern: "x"})
	if d.Rule.Allow {
		t.Error("the decision changed afterwards")
	}
	if !Decide(nil, "x", Chain{s}, nil).Allowed {
		t.Error("the later rule does not count")
	}
}

func TestDecide(t *testing.T) {
	deny, allow, other := scope("deny x"), scope("allow x"), scope("deny y")
	outer, byDefault := scope("deny x"), scope("default deny")
	cases := []struct {
		name    string
		place   Chain
		callers []Chain
		want    bool
	}{
		{"no rules", nil, nil, true},
		{"rules for others", Chain{other}, []Chain{{other}}, true},
		{"nearest scope decides: deny", Chain{deny, allow}, nil, false},
		{"nearest scope decides: allow", Chain{allow, deny}, nil, true},
		{"D07: a deny around the call of a helper", nil, []Chain{{deny}}, false},
		{"a deny further out on the way", nil, []Chain{nil, {allow}, {deny}}, false},
		{"the caller lifted its own outer deny", nil, []Chain{{allow, deny}}, true},
		{"a library does not grant itself what its caller denies", Chain{allow}, []Chain{{deny}}, false},
		{"code under a deny lifts it for itself", Chain{allow, deny}, []Chain{{deny}}, true},
		{"... also with more on the way", Chain{allow, other, deny}, []Chain{{other, deny}, {deny}}, true},
		{"... but not another deny", Chain{allow, outer}, []Chain{{deny, outer}}, false},
		{"a deny of the place holds whatever callers say", Chain{deny}, []Chain{{allow}}, false},
		{"a default around the caller", Chain{allow}, []Chain{{byDefault}}, false},
		{"an allow at the caller is enough", nil, []Chain{{allow, byDefault}}, true},
	}
	for _, c := range cases {
		got := Decide(nil, "x", c.place, c.callers)
		if got.Allowed != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
		if !got.Allowed && (got.Rule == nil || got.Rule.Allow || got.Source != Script) {
			t.Errorf("%s: a denial without its rule: %+v", c.name, got)
		}
	}
}

func TestStrict(t *testing.T) {
	c := &Ceiling{}
	c.SetStrict()
	if !c.Strict() || (*Ceiling)(nil).Strict() {
		t.Error("Strict")
	}
	if d := Decide(c, "x", nil, nil); d.Allowed || d.Source != Strict || d.Rule != nil {
		t.Errorf("nothing said: %+v", d)
	}
	if !Decide(c, "x", Chain{scope("allow x")}, nil).Allowed {
		t.Error("the program may allow itself")
	}
	if !Decide(c, "x", nil, []Chain{{scope("allow x")}}).Allowed {
		t.Error("a library may use what its caller allows")
	}
	if Decide(c, "email.send", Chain{scope("deny email"), scope("allow *")}, nil).Allowed {
		t.Error("a parent's deny covers its children in strict mode")
	}
	if !Decide(c, "email.send", Chain{scope("deny email; allow email.*")}, nil).Allowed {
		t.Error("a rule that stands there goes before one that is implied") // equal length, written first
	}
	if !Decide(nil, "email.send", Chain{scope("deny email")}, nil).Allowed {
		t.Error("without strict mode names compare exactly")
	}
	// A strict program: its outermost scope denies by default, so that a module
	// it imports cannot allow itself anything.
	root, library := &Scope{}, scope("allow x")
	root.SetStrict()
	d := Decide(c, "x", Chain{library}, []Chain{{root}})
	if d.Allowed || d.Source != Strict || d.Note() != "decided by 'default deny' of --strict" {
		t.Errorf("library: %+v", d)
	}
	root.Set(Rule{Allow: true, Pattern: "x"})
	if !Decide(c, "x", Chain{library}, []Chain{{root}}).Allowed {
		t.Error("allowed by both")
	}
}

func TestCeiling(t *testing.T) {
	build := func(deny, allow, project string) *Ceiling {
		c := &Ceiling{}
		if err := c.Deny("--deny", strings.Fields(deny)...); err != nil {
			t.Fatal(err)
		}
		if err := c.Restrict("sense.toml", strings.Fields(project)...); err != nil {
			t.Fatal(err)
		}
		if err := c.Allow("--allow", strings.Fields(allow)...); err != nil {
			t.Fatal(err)
		}
		return c
	}
	cases := []struct {
		deny, allow, project, name string
		want                       bool
		source                     string
	}{
		{"", "", "", "x", true, ""},
		{"x", "", "", "x", false, "--deny"},
		{"x", "x", "", "x", false, "--deny"},
		{"", "x", "", "x", true, ""},
		{"", "x", "", "y", false, "--allow"},
		{"", "net", "", "net.http", false, "--allow"},
		{"", "net.*", "", "net.http", true, ""},
		{"email", "", "", "email.send", false, "--deny"}, // a name takes what is below along
		{"email", "", "", "emails", true, ""},
		{"a.*", "", "", "a.b", false, "--deny"},
		{"", "", "x", "x", true, ""},
		{"", "", "x", "y", false, "sense.toml"},
		{"", "x y", "x", "y", false, "sense.toml"},
		{"", "x", "x y", "y", false, "--allow"}, // a project cannot widen
	}
	lifting := scope("allow x; allow y; allow *; allow email.send; allow a.b; allow net.http")
	for _, c := range cases {
		d := Decide(build(c.deny, c.allow, c.project), c.name, Chain{lifting}, nil)
		if d.Allowed != c.want || !c.want && d.Source != c.source {
			t.Errorf("deny [%s] allow [%s] project [%s]: %s gives %+v", c.deny, c.allow, c.project, c.name, d)
		}
	}
	if d := Decide(build("", "", ""), "x", Chain{scope("deny x")}, nil); d.Allowed {
		t.Error("a ceiling does not lift the program's own denies")
	}
	rules := build("d", "a", "p").Rules()
	if got := fmt.Sprint(rules); got != "[deny d allow a allow p]" || rules[2].File != "sense.toml" {
		t.Errorf("rules %s", got)
	}
	if (*Ceiling)(nil).Rules() != nil {
		t.Error("no ceiling has no rules")
	}
}

func TestCeilingErrors(t *testing.T) {
	c := &Ceiling{}
	for _, err := range []error{c.Allow("--allow", "x", "a..b"), c.Restrict("sense.toml", "a..b"), c.Deny("--deny", "y", "a..b", "z")} {
		if err == nil || !strings.HasSuffix(err.Error(), ": empty segment in 'a..b'") {
			t.Errorf("got %v", err)
		}
	}
}

func TestDecideTool(t *testing.T) {
	cases := []struct {
		rules, tool string
		want        bool
	}{
		{"allow other", "create", true},
		{"allow mcp.gh; deny mcp.gh.delete_*", "delete_repo", false},
		{"allow mcp.gh; deny mcp.gh.delete_*", "create", true},
		{"deny mcp.gh; allow mcp.gh.create", "create", false}, // both checks must pass
		{"deny mcp.gh.*; allow mcp.gh.get_*", "get_x", true},
		{"deny mcp.gh.*; allow mcp.gh.get_*", "set_x", false},
		{"allow mcp.gh; deny mcp.gh.create", "create", false},
		{`deny mcp.gh."create-issue"`, "create-issue", false},
		{`deny mcp.gh."create-issue"`, "create-issues", true},
		{`deny mcp.gh."a.b"`, "a.b", false},
		{`deny mcp.gh.a.b`, "a.b", true}, // a dot in a tool's name is no separator
		{"deny *; allow mcp.gh", "create", true},
		{"deny mcp.*; allow mcp.gh", "create", true}, // spent on the connection
		{"deny *.*.create", "create", false},
		{"default deny; allow mcp.gh", "create", true},
		{"default deny; allow mcp.gh; deny mcp.gh.create", "create", false},
	}
	for _, c := range cases {
		s := scope(c.rules)
		if d := DecideTool(nil, "mcp.gh", c.tool, Chain{s}, nil); d.Allowed != c.want {
			t.Errorf("%s: %s gives %+v", c.rules, c.tool, d)
		}
		if d := DecideTool(nil, "mcp.gh", c.tool, nil, []Chain{{s}}); d.Allowed != c.want {
			t.Errorf("at a caller, %s: %s gives %+v", c.rules, c.tool, d)
		}
	}
	inner, outer := scope("allow mcp.gh"), scope("deny mcp.gh.delete_*")
	if DecideTool(nil, "mcp.gh", "delete_x", Chain{inner, outer}, nil).Allowed {
		t.Error("a rule for the connection lifts one for a tool")
	}
	if !DecideTool(nil, "mcp.gh", "x", nil, nil).Allowed {
		t.Error("nothing said")
	}
}

func TestDecideToolCeiling(t *testing.T) {
	cases := []struct {
		deny, allow, tool string
		want              bool
	}{
		{"", "mcp.gh", "create", true},
		{"", "mcp.gh mcp.gh.get_*", "get_x", true},
		{"", "mcp.gh mcp.gh.get_*", "create", false}, // naming tools leaves only those
		{"", "mcp.* mcp.gh.get_*", "create", true},
		{"", "mcp.gh mcp.other.get_*", "create", true},
		{"", "mcp.gh mcp.gh.create", "create", true},
		{"", "mcp.gh mcp.gh.create", "delete", false},
		{"", "mcp.gh *.other.x", "create", true},
		{"", "mcp.gh *.gh.create", "delete", false},
		{"mcp.gh.delete_*", "", "delete_x", false},
		{"mcp.gh.delete_*", "mcp.gh", "create", true},
		{"mcp", "", "create", false},
		{"mcp.gh.*", "mcp.gh", "create", false},
	}
	for _, c := range cases {
		ceiling := &Ceiling{}
		_ = ceiling.Deny("--deny", strings.Fields(c.deny)...)
		_ = ceiling.Allow("--allow", strings.Fields(c.allow)...)
		if d := DecideTool(ceiling, "mcp.gh", c.tool, nil, nil); d.Allowed != c.want {
			t.Errorf("deny [%s] allow [%s]: %s gives %+v", c.deny, c.allow, c.tool, d)
		}
	}
}

func TestNote(t *testing.T) {
	rule := Rule{Pattern: "net.*"}
	placed := Rule{Pattern: "net.*", File: "a.sns", Pos: at(7)}
	typed := Rule{Pattern: "net.*", Pos: at(7)}
	cases := []struct {
		d    Decision
		want string
	}{
		{Decision{Allowed: true}, ""},
		{Decision{Source: Strict}, "decided by --strict"},
		{Decision{Source: "--allow"}, "decided by --allow"},
		{Decision{Source: "--deny", Rule: &rule}, "decided by 'deny net.*' of --deny"},
		{Decision{Source: Script, Rule: &placed}, "decided by 'deny net.*' at a.sns:7"},
		{Decision{Source: Script, Rule: &typed}, "decided by 'deny net.*' at line 7"},
		{Decision{Source: Script, Rule: &rule}, "decided by 'deny net.*'"},
	}
	for _, c := range cases {
		if got := c.d.Note(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.d, got, c.want)
		}
	}
}

func TestNormal(t *testing.T) {
	cases := []struct{ text, want, err string }{
		{"a.b", "a.b", ""},
		{`a."b"`, "a.b", ""},
		{`a."create-issue"`, "a.create-issue", ""},
		{`a.create-issue`, "a.create-issue", ""},
		{`net."127.0.0.1"`, `net."127.0.0.1"`, ""},
		{`a."b c".d`, `a."b c".d`, ""},
		{`a."b\"c"`, `a."b\"c"`, ""},
		{`a.""`, `a.""`, ""},
		{"*", "*", ""},
		{"a.*.c", "a.*.c", ""},
		{"a.get_*", "a.get_*", ""},
		{`a."get-*"`, "a.get-*", ""},
		{"日本.é", "日本.é", ""},
		{"", "", "a capability needs a name"},
		{"a..b", "", "empty segment in 'a..b'"},
		{".a", "", "empty segment in '.a'"},
		{"a.", "", "empty segment in 'a.'"},
		{`a."b`, "", `unclosed quote in 'a."b'`},
		{`a."b\`, "", `unclosed quote in 'a."b\'`},
		{`a."b"c`, "", `expected '.' after a quoted segment in 'a."b"c'`},
		{`a."\q"`, "", `malformed quoted segment in 'a."\q"'`},
		{"a b", "", `segment "a b" needs quotes in 'a b'`},
		{`a.b"c`, "", `segment "b\"c" needs quotes in 'a.b"c'`},
		{"a.x*.c", "", "a '*' inside a segment is possible in the last one only in 'a.x*.c'"},
		{"x*", "", "a '*' inside a segment is for the tools of a connection, after its name, in 'x*'"},
	}
	for _, c := range cases {
		got, err := Normal(c.text)
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if got != c.want || msg != c.err {
			t.Errorf("Normal(%q) = %q, %q; want %q, %q", c.text, got, msg, c.want, c.err)
		}
	}
}

func TestSpelling(t *testing.T) {
	if got := Join("mcp.gh", `a.b "c"`); got != `mcp.gh."a.b \"c\""` {
		t.Errorf("Join: %s", got)
	}
	if got := Join("mcp.gh", "\x1b[2J"); strings.Contains(got, "\x1b") {
		t.Errorf("Join keeps a control character: %q", got)
	}
	names := map[string]string{
		"mcp.gh": "mcp.gh", "a b.c": `"a b".c`, `a."b.c"`: `a."b.c"`, "": `""`, "a..b": `a."".b`, "x\"y": `"x\"y"`,
	}
	for in, want := range names {
		if got := Name(in); got != want {
			t.Errorf("Name(%q) = %s, want %s", in, got, want)
		}
	}
	spellings := map[string]string{
		"mcp.gh.create-issue": `mcp.gh."create-issue"`, "a.b_1": "a.b_1", "a.1b": `a."1b"`,
		"a.*": "a.*", "a.get_*": "a.get_*", `net."127.0.0.1"`: `net."127.0.0.1"`, "a..b": `"a..b"`, `a.""`: `a.""`,
	}
	for in, want := range spellings {
		got := Spell(in)
		if got != want {
			t.Errorf("Spell(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestUnused(t *testing.T) {
	known := []string{"mcp.filesystem", "mcp.filesystem.read", "mcp.gh.*", "model.openai", "net.fetch"}
	cases := []struct{ pattern, hint string }{
		{"mcp.filesystem", "-"},
		{"mcp.*", "-"},
		{"*", "-"},
		{"mcp.gh", "-"},
		{"mcp.gh.*", "-"},
		{"mcp.gh.delete_*", "-"}, // the tools of gh are not known
		{"mcp.gh.create", "-"},
		{"*.gh.create", "-"},
		{"mcp.filesytem", "mcp.filesystem"}, // D05
		{"Mcp.Filesystem", "mcp.filesystem"},
		{"mcp", "mcp.*"},
		{"model.opnai", "model.openai"},
		{"mcp.filesystem.write", ""},
		{"zzz", ""},
		{"b.gh.create", ""},
	}
	for _, c := range cases {
		got := Unused([]Rule{{Pattern: c.pattern}}, known)
		switch {
		case c.hint == "-" && len(got) > 0:
			t.Errorf("%s: unexpected %v", c.pattern, got)
		case c.hint != "-" && (len(got) != 1 || got[0].Hint != c.hint):
			t.Errorf("%s: got %v, want hint %q", c.pattern, got, c.hint)
		}
	}
	if got := Unused([]Rule{{}}, known); got != nil {
		t.Errorf("a default is no unused rule: %v", got)
	}
	w := Warning{Rule: Rule{Pattern: "mcp"}, Hint: "mcp.*"}
	if got := w.String(); got != "policy rule 'deny mcp' matches no capability of this program — did you mean 'mcp.*'?" {
		t.Error(got)
	}
	if got := (Warning{Rule: Rule{Pattern: "x", Allow: true}}).String(); got != "policy rule 'allow x' matches no capability of this program" {
		t.Error(got)
	}
}

func FuzzNormal(f *testing.F) {
	for _, s := range []string{"a.b", `a."b.c"`, "a.*", `"`, `a."\u00e9"`, "a.get_*", `a."*x"`} {
		f.Add(s, "a.b")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		normal, err := Normal(pattern)
		if err != nil {
			return
		}
		if again, err := Normal(normal); err != nil || again != normal {
			t.Fatalf("Normal(%q) = %q, then %q %v", pattern, normal, again, err)
		}
		p := compile(pattern)
		p.matches(Name(name))
		if !strings.Contains(normal, "*") && !p.matches(normal) {
			t.Fatalf("%q does not cover itself", normal)
		}
		spelt, err := Normal(Spell(normal))
		if err != nil || spelt != normal {
			t.Fatalf("Spell(%q) reads back as %q %v", normal, spelt, err)
		}
	})
}

func TestDecideDoesNotAllocate(t *testing.T) {
	s := scope("allow x")
	place, callers := Chain{s}, []Chain{{s}, {s}}
	for _, n := range []float64{
		testing.AllocsPerRun(100, func() { Decide(nil, "x", nil, nil) }),
		testing.AllocsPerRun(100, func() { Decide(nil, "x", place, callers) }),
		testing.AllocsPerRun(100, func() { DecideTool(nil, "x", "y", nil, nil) }),
	} {
		if n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func BenchmarkDecideNoRules(b *testing.B) {
	for b.Loop() {
		Decide(nil, "crane.lift", nil, nil)
	}
}

func BenchmarkDecideOneAllow(b *testing.B) {
	place := Chain{scope("allow crane.lift")}
	for b.Loop() {
		Decide(nil, "crane.lift", place, nil)
	}
}

func BenchmarkDecideDeepRecursion(b *testing.B) {
	place := Chain{scope("allow crane.lift")}
	callers := make([]Chain, 10_000)
	for i := range callers {
		callers[i] = place
	}
	for b.Loop() {
		Decide(nil, "crane.lift", place, callers)
	}
}

func BenchmarkDecideWildcards(b *testing.B) {
	place := Chain{scope("allow mcp.*; deny mcp.gh.delete_*; allow net.http.*")}
	for b.Loop() {
		Decide(nil, "mcp.gh.create_issue", place, nil)
	}
}

func TestDecidePart(t *testing.T) {
	cases := []struct {
		deny, allow, rules, callers string
		strict, want                bool
		source                      string
	}{
		{want: true},
		{rules: "deny python", source: Script},
		{rules: "deny python.os", source: Script},
		{rules: "deny python; allow python.os", want: true, source: Script},
		{rules: "deny python.*; allow python", source: Script}, // the longer pattern
		{rules: "deny python.math", want: true},
		{rules: "allow python.os", callers: "deny python", source: Script},
		{rules: "allow python", callers: "deny python.os", source: Script},
		{rules: "deny *; allow python", want: true, source: Script},
		{deny: "python", rules: "allow python.os", source: "--deny"},
		{deny: "python.os", rules: "allow python", source: "--deny"},
		{deny: "python.math", want: true},
		{allow: "python", want: true},
		{allow: "python.os", want: true},
		{allow: "python.math", source: "--allow"},
		{allow: "python", rules: "deny python.os", source: Script},
		{allow: "python.os", rules: "deny python", source: Script},
		{strict: true, source: Strict},
		{strict: true, rules: "allow python", want: true, source: Script},
	}
	for _, c := range cases {
		var ceiling *Ceiling
		if c.deny != "" || c.allow != "" || c.strict {
			ceiling = &Ceiling{}
			_ = ceiling.Deny("--deny", strings.Fields(c.deny)...)
			_ = ceiling.Allow("--allow", strings.Fields(c.allow)...)
			if c.strict {
				ceiling.SetStrict()
			}
		}
		var place Chain
		if c.rules != "" {
			place = Chain{scope(c.rules)}
		}
		var callers []Chain
		if c.callers != "" {
			callers = []Chain{{scope(c.callers)}}
		}
		d := DecidePart(ceiling, "python", "python.os", place, callers)
		if d.Allowed != c.want || d.Source != c.source {
			t.Errorf("%+v: got %+v", c, d)
		}
	}
}
