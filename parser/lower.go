package parser

import (
	"strings"

	plex "github.com/alecthomas/participle/v2/lexer"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/lexer"
)

// lower turns a declaration as participle read it into its node.
func (p *parser) lower(at ast.At, d *declaration) ast.Stmt {
	switch {
	case d.Def != nil:
		return lowerDef(at, d.Def)
	case d.Test != nil:
		return &ast.TestDecl{At: at, Desc: lexer.Unquote(d.Test.Desc.Value), Body: docBody(d.Test.Body)}
	case d.Session != nil:
		return &ast.SessionDecl{At: at, Name: d.Session.Name.Value, Body: docBody(d.Session.Body)}
	case d.Agent != nil:
		return lowerAgent(at, d.Agent)
	case d.Tool != nil:
		return lowerTool(at, d.Tool)
	case d.Async != nil:
		return lowerAsync(at, d.Async)
	case d.Action != nil:
		return p.lowerAction(at, d.Action)
	case d.Memory != nil:
		return lowerMemory(at, d.Memory)
	case d.Model != nil:
		return &ast.ModelDecl{At: at, Name: d.Model.Name.Value, NamePos: place(d.Model.Name.Pos), Value: d.Model.Value}
	case d.Policy != nil:
		return p.lowerPolicy(at, d.Policy)
	case d.Set != nil:
		return &ast.SetStmt{At: at, Name: d.Set.Name.Value, NamePos: place(d.Set.Name.Pos), Value: d.Set.Value}
	case d.Import != nil:
		return lowerImport(at, d.Import)
	default:
		return lowerFrom(at, d.From)
	}
}

func docBody(b block) *ast.Block { return setDoc(b.(*ast.Block)) }

func lowerDef(at ast.At, d *funcDecl) ast.Stmt {
	return &ast.FuncDecl{At: at, Name: d.Name.Value, NamePos: place(d.Name.Pos), Params: d.Params.list(),
		Result: lowerType(d.Result), Body: docBody(d.Body)}
}

func lowerType(t annotation) *ast.TypeExpr {
	if t == nil {
		return nil
	}
	return t.(*ast.TypeExpr)
}

func lowerAgent(at ast.At, d *agentDecl) *ast.AgentDecl {
	return &ast.AgentDecl{At: at, Name: d.Name.Value, NamePos: place(d.Name.Pos), Body: docBody(d.Body)}
}

func lowerAsync(at ast.At, d *asyncDecl) ast.Stmt {
	if d.Agent != nil {
		a := lowerAgent(at, d.Agent)
		a.Async = true
		return a
	}
	t := lowerTool(at, d.Tool)
	t.Async = true
	return t
}

func lowerTool(at ast.At, d *toolDecl) *ast.ToolDecl {
	t := &ast.ToolDecl{At: at, Name: d.Name.Value, NamePos: place(d.Name.Pos), Params: d.Params.list(),
		Result: lowerType(d.Result), Body: docBody(d.Body)}
	for _, c := range d.Requires {
		t.Requires = append(t.Requires, lowerCapability(c))
	}
	t.Desc, t.HasDesc = optionalString(d.Desc)
	return t
}

// optionalString gives the text of a string that may be absent.
func optionalString(t plex.Token) (string, bool) {
	if t.Value == "" {
		return "", false
	}
	return lexer.Unquote(t.Value), true
}

func lowerCapability(c *capability) ast.Capability {
	for i, seg := range c.Path {
		if seg[0] == '"' || seg[0] == '\'' {
			c.Path[i] = quotedSegment(seg)
		}
	}
	return ast.Capability{At: ast.At{P: place(c.Pos)}, Name: strings.Join(c.Path, ".")}
}

func (p *parser) lowerAction(at ast.At, d *actionDecl) ast.Stmt {
	a := &ast.ActionDecl{At: at, Reversible: d.Kind.Value == "reversible", Name: d.Name.Value, NamePos: place(d.Name.Pos),
		Params: d.Params.list(), Body: docBody(d.Body)}
	if d.Requires != nil {
		for _, n := range d.Requires.list() {
			if n.approval {
				a.Approval = true
			} else {
				a.Requires = append(a.Requires, n.capability)
			}
		}
	}
	p.rollback(a)
	return a
}

func lowerMemory(at ast.At, d *memoryDecl) ast.Stmt {
	m := &ast.MemoryDecl{At: at, Persistent: d.Persistent, Name: d.Name.Value, NamePos: place(d.Name.Pos)}
	m.Text, m.HasText = optionalString(d.Text)
	return m
}

func (p *parser) lowerPolicy(at ast.At, d *policyStmt) ast.Stmt {
	s := &ast.PolicyStmt{At: at, Rules: make([]ast.PolicyRule, 0, len(d.Rules))}
	for _, r := range d.Rules {
		pos := place(r.Pos)
		switch {
		case !r.Default:
			s.Rules = append(s.Rules, ast.PolicyRule{At: ast.At{P: pos}, Allow: r.Effect == "allow", Capability: r.Pattern.capability()})
		case s.Default != "":
			p.failAt(pos, "'default' listed twice in a policy")
		default:
			s.Default, s.DefaultPos = "deny", pos
		}
	}
	return s
}

// path gives the path of a module, and whether it was written as a dotted name.
func (m *module) path() (string, bool) {
	if len(m.Path) > 0 {
		return strings.Join(m.Path, "."), true
	}
	return lexer.Unquote(m.Text), false
}

func lowerImport(at ast.At, d *importStmt) ast.Stmt {
	s := &ast.ImportStmt{At: at, Python: d.Python, PathPos: place(d.Module.Pos), Alias: d.Alias.Value}
	s.Path, s.Dotted = d.Module.path()
	return s
}

func lowerFrom(at ast.At, d *fromStmt) ast.Stmt {
	s := &ast.FromStmt{At: at, Python: d.Python, PathPos: place(d.Module.Pos), Names: make([]ast.ImportName, len(d.Names))}
	s.Path, s.Dotted = d.Module.path()
	for i, n := range d.Names {
		s.Names[i] = ast.ImportName{At: ast.At{P: place(n.Name.Pos)}, Name: n.Name.Value, Alias: n.Alias.Value}
	}
	return s
}
