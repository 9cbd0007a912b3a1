package inspect

import (
	"cmp"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/policy"
)

// surface describes all that was declared. It runs on a thread of the program.
func (c *Console) surface(th *eval.Thread) object {
	s := c.declared
	rows := c.decisions(th)
	th.StandAt(eval.Value{})
	return object{
		{"ok", true},
		{"tools", keyed(s.of("tool"), func(it item) object { return describeTool(it, rows) })},
		{"actions", keyed(s.of("action"), func(it item) object { return describeAction(it, rows) })},
		{"agents", keyed(s.of("agent"), describeAgent)},
		{"memories", keyed(s.of("memory"), func(it item) object { return describeMemory(th, it) })},
		{"skills", keyed(s.of("skill"), describeSkill)},
		{"mcp_servers", keyed(s.of("mcp"), func(it item) object { return describeServer(th, it) })},
		{"policy", verdicts(th, rows)},
		{"dry_run", c.dryRun},
		{"path", c.path},
		{"decisions", rulings(rows)},
		{"prepared", c.actions.list()},
		{"omitted", s.left()},
	}
}

func keyed(items []item, describe func(it item) object) object {
	out := object{}
	for _, it := range items {
		out = append(out, member{it.key, describe(it).with(member{"declared_at", orNil(it.where())})})
	}
	return out
}

func describeTool(it item, rows []ruling) object {
	t := it.Value.AsObject().(*eval.Tool)
	desc, _ := t.Description()
	var returns any
	if r := t.Result(); r != nil {
		returns = r.String()
	}
	return object{
		{"kind", "tool"},
		{"name", t.Name()},
		{"async", t.Async()},
		{"description", orNil(desc)},
		{"doc", orNil(t.Doc())},
		{"requires", requires(t.Requires())},
		{"returns", returns},
		{"params", params(t.Params())},
		{"decisions", rulings(about(rows, "tool", it.key))},
	}
}

func describeAction(it item, rows []ruling) object {
	d := it.Value.AsObject().(*eval.ActionDecl)
	return object{
		{"kind", actionKind(d)},
		{"name", d.Name()},
		{"doc", orNil(d.Doc())},
		{"requires", requires(d.Requires())},
		{"requires_approval", d.NeedsApproval()},
		{"has_rollback", d.HasRollback()},
		{"params", params(d.Params())},
		{"decisions", rulings(about(rows, "action", it.key))},
	}
}

func actionKind(d *eval.ActionDecl) string {
	if d.Reversible() {
		return "reversible"
	}
	return "irreversible"
}

// requires gives the capabilities as one text, as a declaration lists them.
func requires(cs []string) any {
	var out any
	for _, c := range cs {
		if s, ok := out.(string); ok {
			c = s + ", " + c
		}
		out = c
	}
	return out
}

func params(ps []*ast.Param) array {
	out := array{}
	for _, p := range ps {
		var typ any
		if p.Type != nil {
			typ = p.Type.String()
		}
		out = append(out, object{
			{"name", p.Name},
			{"type", typ},
			{"schema", builtins.TypeSchema(p.Type)},
			{"optional", p.Default != nil},
		})
	}
	return out
}

func describeAgent(it item) object {
	a := it.Value.AsObject().(*eval.Agent)
	var failure any
	if err := a.Failure(); err != nil {
		failure = bareMessage(err)
	}
	return object{
		{"kind", "agent"},
		{"name", a.Name()},
		{"async", a.Async()},
		{"status", a.Status()},
		{"pause_reason", jsonOf(a.PauseReason())},
		{"doc", orNil(a.Doc())},
		{"failure", failure},
	}
}

func describeSkill(it item) object {
	s := it.Value.AsObject().(*builtins.Skill)
	names := array{}
	for _, v := range s.Tools() {
		names = append(names, toolName(v))
	}
	return object{
		{"kind", "skill"},
		{"name", s.Name()},
		{"description", s.Description()},
		{"tools", names},
	}
}

func toolName(v eval.Value) string {
	switch t := v.AsObject().(type) {
	case *eval.Tool:
		return t.Name()
	case *builtins.MCPTool:
		return t.Name()
	}
	return textOf(v)
}

func asMCPTool(v eval.Value) (*builtins.MCPTool, bool) {
	t, ok := v.AsObject().(*builtins.MCPTool)
	return t, ok
}

func serverTools(v eval.Value) []eval.Value {
	if s, ok := v.AsObject().(*builtins.MCPServer); ok {
		return s.ToolValues()
	}
	return nil
}

func describeServer(th *eval.Thread, it item) object {
	s := it.Value.AsObject().(*builtins.MCPServer)
	names, details := array{}, array{}
	for _, v := range s.ToolValues() {
		t, ok := asMCPTool(v)
		if !ok {
			continue
		}
		names = append(names, t.Name())
		d := t.Decide(th.Place())
		details = append(details, object{
			{"key", it.key + "." + t.Name()},
			{"name", t.Name()},
			{"description", orNil(clip(t.Description(), 4<<10))},
			{"schema", schemaOf(t)},
			{"allowed", d.Allowed},
			{"decided_by", orNil(d.Note())},
		})
	}
	return object{
		{"kind", "mcp_server"},
		{"name", s.Name()},
		{"capability", orNil(strings.Join(s.Capabilities(), ", "))},
		{"tools", names},
		{"status", s.Status()},
		{"tool_details", details},
	}
}

// maxSchema bounds the schema of a server's tool that is shown.
const maxSchema = 64 << 10

// schemaOf gives the schema of a server's tool as JSON that passes through the
// encoder, so that its texts are treated like any other.
func schemaOf(t *builtins.MCPTool) any {
	if raw := t.Schema(); len(raw) > 0 && len(raw) <= maxSchema {
		if v, err := builtins.FromJSON(raw); err == nil {
			return jsonOf(v)
		}
	}
	return object{}
}

// ruling says whether one declaration may use one of its capabilities.
type ruling struct {
	kind, key, capability string
	policy.Decision
}

// decisions asks the policy for each capability of each declaration, where it
// was declared.
func (c *Console) decisions(th *eval.Thread) []ruling {
	var out []ruling
	ask := func(kind string, it item, capabilities []string) {
		th.StandAt(it.Value)
		for _, name := range capabilities {
			out = append(out, ruling{kind, it.key, name, th.Place().Decide(name)})
		}
	}
	for _, it := range c.declared.of("tool") {
		ask("tool", it, it.Value.AsObject().(*eval.Tool).Requires())
	}
	for _, it := range c.declared.of("action") {
		ask("action", it, it.Value.AsObject().(*eval.ActionDecl).Requires())
	}
	for _, it := range c.declared.of("mcp") {
		if s, ok := it.Value.AsObject().(*builtins.MCPServer); ok {
			ask("mcp", it, s.Capabilities())
		}
	}
	return out
}

// about gives the rulings of one declaration.
func about(rows []ruling, kind, key string) []ruling {
	var out []ruling
	for _, r := range rows {
		if r.kind == kind && r.key == key {
			out = append(out, r)
		}
	}
	return out
}

// verdicts says for each capability whether the main module may use it.
func verdicts(th *eval.Thread, rows []ruling) object {
	th.StandAt(eval.Value{})
	seen := map[string]bool{}
	out := object{}
	for _, r := range rows {
		if !seen[r.capability] {
			seen[r.capability] = true
			out = append(out, member{r.capability, th.Place().Decide(r.capability).Allowed})
		}
	}
	return out
}

func rulings(rows []ruling) array {
	out := array{}
	for _, r := range rows {
		o := object{
			{"kind", r.kind},
			{"key", r.key},
			{"capability", r.capability},
			{"allowed", r.Allowed},
			{"source", orNil(r.Source)},
		}
		if r.Rule != nil {
			o = o.with(member{"rule", r.Rule.String()}, member{"file", orNil(r.Rule.File)}, member{"line", int(r.Rule.Pos.Line)})
		}
		out = append(out, o.with(member{"decided_by", cmp.Or(r.Note(), "no rule speaks of it")}))
	}
	return out
}
