package format

import (
	"strconv"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/lexer"
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
		p.first(&l, from, s.X)
	case *ast.DestructStmt:
		p.destruct(&l, from, s)
	case *ast.PassStmt:
		l.add("pass")
	case *ast.RaiseStmt:
		l.add("raise ")
		p.raised(&l, s.Value)
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

func (p *printer) destruct(l *line, from int, s *ast.DestructStmt) {
	for i, t := range s.Targets {
		if i == 0 {
			p.first(l, from, t)
			continue
		}
		l.add(", ")
		p.expr(l, t, levelCall)
	}
	sep := " = "
	for _, v := range s.Values {
		l.add(sep)
		min := levelCond
		if _, ok := v.(*ast.Lambda); ok {
			min = levelAny
		}
		p.expr(l, v, min)
		sep = ", "
	}
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
		p.head(&l, s.Cond)
		p.block(from, &l, s.Body)
	case *ast.ForStmt:
		sep := "for "
		for _, v := range s.Vars {
			l.add(sep, v.Name)
			sep = ", "
		}
		l.add(" in ")
		p.head(&l, s.Iter)
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
	case *ast.TryStmt:
		p.tryStmt(from, s)
	case *ast.TransactionStmt:
		l.add("transaction")
		p.block(from, &l, s.Body)
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
			from = p.start(arm)
			if p.toks[from].Kind == lexer.KwIf {
				from-- // else if, not elif
			}
			p.leading(from)
		}
		l.add("if ")
		p.head(&l, arm.Cond)
		p.block(from, &l, arm.Body)
	}
	if s.Else != nil {
		var l line
		l.add("else")
		p.clause(p.start(s.Else)-1, &l, s.Else)
	}
}

func (p *printer) tryStmt(from int, s *ast.TryStmt) {
	var l line
	l.add("try")
	p.block(from, &l, s.Body)
	for _, c := range s.Catches {
		var l line
		l.add("catch ", c.Name)
		if c.Guard != nil {
			l.add(" if ")
			p.head(&l, c.Guard)
		}
		p.clause(p.start(c), &l, c.Body)
	}
	if s.Finally != nil {
		var l line
		l.add("finally")
		p.clause(p.start(s.Finally)-1, &l, s.Finally)
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
		var text line
		text.add(param.Name)
		if param.Type != nil {
			text.add(": ", param.Type.String())
		}
		if param.Default != nil {
			text.add(" = ")
			p.expr(&text, param.Default, levelAny)
		}
		e := elem{items: text.finish(), from: p.start(param), to: g.to - 1}
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
	requires(&l, s.Requires)
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
	sep := requires(&l, s.Requires)
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

// requires adds a list of capabilities, and gives what another item would have to
// be parted with.
func requires(l *line, list []ast.Capability) string {
	sep := " requires "
	for _, c := range list {
		l.add(sep, capability(c.Name))
		sep = ", "
	}
	return sep
}

// capability gives a capability with its quoted segments as strings.
func capability(name string) string {
	if !strings.Contains(name, `"`) {
		return name
	}
	var b strings.Builder
	for name != "" {
		if q, err := strconv.QuotedPrefix(name); err == nil {
			text, _ := strconv.Unquote(q)
			b.WriteString(quote(text))
			name = name[len(q):]
			continue
		}
		seg, rest, more := strings.Cut(name, ".")
		b.WriteString(seg)
		if more {
			b.WriteByte('.')
		}
		name = rest
	}
	return b.String()
}

// entry is a line of a policy.
type entry struct {
	text string
	pos  diag.Pos
}

// entries gives the lines of a policy in the order of the source.
func entries(s *ast.PolicyStmt) []entry {
	var out []entry
	add := func(text string, pos diag.Pos) { out = append(out, entry{text, pos}) }
	rest := s.Default != ""
	for i := range s.Rules {
		r := &s.Rules[i]
		if rest && s.DefaultPos.Offset < r.P.Offset {
			add("default "+s.Default, s.DefaultPos)
			rest = false
		}
		effect := "deny "
		if r.Allow {
			effect = "allow "
		}
		add(effect+capability(r.Capability.Name), r.P)
	}
	if rest {
		add("default "+s.Default, s.DefaultPos)
	}
	return out
}

// policy writes one rule on the line of its policy, several below it.
func (p *printer) policy(from int, s *ast.PolicyStmt) {
	var l line
	l.add("policy:")
	colon := from + 1
	lines := entries(s)
	if len(lines) == 1 {
		l.add(" ", lines[0].text)
		p.oneRule(from, colon, &l, p.lineEnd(p.at(lines[0].pos.Offset)))
		return
	}
	p.line(from, colon, &l)
	p.depth++
	for _, e := range lines {
		var l line
		start := p.at(e.pos.Offset)
		p.leading(start)
		p.blank(p.toks[start].Pos.Offset)
		l.add(e.text)
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
