package format

import (
	"strings"

	"github.com/sense-lang/sense/ast"
)

func (p *printer) stmts(list []ast.Stmt) {
	for _, s := range list {
		from := p.start(s)
		p.leading(from)
		p.blank(p.toks[from].Pos.Offset)
		p.stmt(from, s)
	}
}

// stmt writes a statement whose first token is from: here those of one line.
func (p *printer) stmt(from int, s ast.Stmt) {
	var l line
	switch s := s.(type) {
	case *ast.ExprStmt:
		p.expr(&l, s.X, levelAny)
	case *ast.VarDecl:
		p.varDecl(&l, s)
	case *ast.ReturnStmt:
		l.add("return")
		if s.Value != nil {
			l.add(" ")
			p.expr(&l, s.Value, levelAny)
		}
	case *ast.BreakStmt:
		l.add("break")
	case *ast.ContinueStmt:
		l.add("continue")
	case *ast.ModelDecl:
		l.add("model ", s.Name, " = ")
		p.expr(&l, s.Value, levelAny)
	case *ast.SetStmt:
		l.add("set ", s.Name, " = ")
		p.expr(&l, s.Value, levelAny)
	case *ast.MemoryDecl:
		memory(&l, s)
	case *ast.ImportStmt:
		l.add("import ", module(s.Python, s.Dotted, s.Path), alias(s.Alias))
	case *ast.FromStmt:
		fromStmt(&l, s)
	default:
		p.compound(from, s)
		return
	}
	p.line(from, p.lineEnd(from), &l)
}

func (p *printer) varDecl(l *line, s *ast.VarDecl) {
	if s.Local {
		l.add("local ")
	}
	l.add(s.Name)
	if s.Type != nil {
		l.add(": ", s.Type.String())
	}
	l.add(" = ")
	p.expr(l, s.Value, levelAny)
}

func memory(l *line, s *ast.MemoryDecl) {
	if s.Persistent {
		l.add("persistent ")
	}
	l.add("memory ", s.Name)
	if s.HasText {
		l.add(": ", quote(s.Text))
	}
}

// module gives the path of an import in quotes. One of the standard library
// stays a dotted name: only a name can mean both that and a file.
func module(python, dotted bool, path string) string {
	switch {
	case python:
		return "python " + quote(path)
	case dotted && strings.HasPrefix(path, "std."):
		return path
	case dotted:
		path = strings.ReplaceAll(path, ".", "/") + ".sns"
	}
	return quote(path)
}

func alias(name string) string {
	if name == "" {
		return ""
	}
	return " as " + name
}

func fromStmt(l *line, s *ast.FromStmt) {
	l.add("from ", module(s.Python, s.Dotted, s.Path), " import ")
	for i, n := range s.Names {
		if i > 0 {
			l.add(", ")
		}
		l.add(n.Name, alias(n.Alias))
	}
}

// compound writes a statement that has a block.
func (p *printer) compound(from int, s ast.Stmt) {
	var l line
	switch s := s.(type) {
	case *ast.IfStmt:
		p.ifStmt(from, s)
	case *ast.WhileStmt:
		l.add("while ")
		p.expr(&l, s.Cond, levelAny)
		p.block(from, &l, s.Body)
	case *ast.ForStmt:
		l.add("for ", s.Vars[0].Name, " in ")
		p.expr(&l, s.Iter, levelAny)
		p.block(from, &l, s.Body)
	case *ast.FuncDecl:
		p.funcDecl(from, s)
	case *ast.TestDecl:
		l.add("test ", quote(s.Desc))
		p.block(from, &l, s.Body)
	case *ast.SessionDecl:
		l.add("session ", s.Name)
		p.block(from, &l, s.Body)
	case *ast.AgentDecl:
		if s.Async {
			l.add("async ")
		}
		l.add("agent ", s.Name)
		p.block(from, &l, s.Body)
	case *ast.ToolDecl:
		p.toolDecl(from, s)
	case *ast.ActionDecl:
		p.actionDecl(from, s)
	case *ast.PolicyStmt:
		p.policy(from, s)
	}
}

// block writes the head of a statement, whose first token is from, with the
// colon and the body below it.
func (p *printer) block(from int, head *line, b *ast.Block) {
	head.add(":")
	p.line(from, p.start(b), head)
	p.depth++
	p.stmts(b.Stmts)
	p.depth--
}

// clause writes a further part of a compound statement, such as an else, whose
// first token is from. No empty line is kept above it.
func (p *printer) clause(from int, head *line, b *ast.Block) {
	p.leading(from)
	p.block(from, head, b)
}

func (p *printer) ifStmt(from int, s *ast.IfStmt) {
	for i := range s.Arms {
		arm := &s.Arms[i]
		var l line
		if i > 0 {
			l.add("else ")
			from = p.start(arm) - 1
			p.leading(from)
		}
		l.add("if ")
		p.expr(&l, arm.Cond, levelAny)
		p.block(from, &l, arm.Body)
	}
	if s.Else != nil {
		var l line
		l.add("else")
		p.clause(p.start(s.Else)-1, &l, s.Else)
	}
}

func (p *printer) funcDecl(from int, s *ast.FuncDecl) {
	var l line
	l.add("def ", s.Name)
	p.params(&l, s.NamePos.Offset, s.Params)
	if s.Result != nil {
		l.add(" -> ", s.Result.String())
	}
	p.block(from, &l, s.Body)
}

// params adds the parameters that stand after the name at offset.
func (p *printer) params(l *line, offset int32, params []*ast.Param) {
	g := p.newGroup(p.at(offset)+1, len(params))
	for i, param := range params {
		text := param.Name
		if param.Type != nil {
			text += ": " + param.Type.String()
		}
		e := elem{items: []item{{text: text}}, from: p.start(param), to: g.to - 1}
		if i+1 < len(params) {
			e.to = p.start(params[i+1]) - 2
		}
		g.elems[i] = e
	}
	l.addGroup(g)
}

func (p *printer) toolDecl(from int, s *ast.ToolDecl) {
	var l line
	if s.Async {
		l.add("async ")
	}
	l.add("tool ", s.Name)
	p.params(&l, s.NamePos.Offset, s.Params)
	if s.Result != nil {
		l.add(" returns ", s.Result.String())
	}
	for _, c := range s.Requires {
		l.add(" requires ", c.Name)
	}
	if s.HasDesc {
		l.add(" ", quote(s.Desc))
	}
	p.block(from, &l, s.Body)
}

func (p *printer) actionDecl(from int, s *ast.ActionDecl) {
	var l line
	if !s.Reversible {
		l.add("ir")
	}
	l.add("reversible action ", s.Name)
	p.params(&l, s.NamePos.Offset, s.Params)
	sep := " requires "
	for _, c := range s.Requires {
		l.add(sep, c.Name)
		sep = ", "
	}
	if s.Approval {
		l.add(sep, "approval")
	}
	p.block(from, &l, s.Body)
	if s.Rollback != nil {
		var l line
		l.add("rollback")
		p.clause(p.start(s.Rollback)-1, &l, s.Rollback)
	}
}

func rule(l *line, r *ast.PolicyRule) {
	if r.Allow {
		l.add("allow ")
	} else {
		l.add("deny ")
	}
	l.add(r.Capability.Name)
}

// policy writes one rule on the line of its policy, several below it.
func (p *printer) policy(from int, s *ast.PolicyStmt) {
	var l line
	l.add("policy:")
	colon := from + 1
	if len(s.Rules) == 1 {
		l.add(" ")
		rule(&l, &s.Rules[0])
		p.oneRule(from, colon, &l, p.lineEnd(p.start(&s.Rules[0])))
		return
	}
	p.line(from, colon, &l)
	p.depth++
	for i := range s.Rules {
		var l line
		start := p.start(&s.Rules[i])
		p.leading(start)
		p.blank(p.toks[start].Pos.Offset)
		rule(&l, &s.Rules[i])
		p.line(start, p.lineEnd(start), &l)
	}
	p.depth--
}

// oneRule writes a policy of one rule, which ends with token to. A comment after
// the colon ends the joined line, unless the rule has one of its own.
func (p *printer) oneRule(from, colon int, l *line, to int) {
	kept := -1
	if p.trailing(colon) {
		kept = p.next
	}
	lo := p.next
	for p.before(to) {
		p.next++
	}
	if p.trailing(to) {
		kept = p.next
		p.next++
	}
	for i, c := range p.comments[lo:p.next] {
		if lo+i != kept {
			p.ownLine(c)
		}
	}
	text, _ := p.render(l.finish(), p.depth, 0, 0, 0)
	p.indent(p.depth)
	p.out.WriteString(text)
	if kept >= 0 {
		p.out.WriteString("  " + commentText(p.comments[kept]))
	}
	p.out.WriteByte('\n')
}
