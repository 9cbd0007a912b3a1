package format

import (
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/lexer"
)

// The tree does not show every parenthesis that a program needs: this file is
// about those that are there for the words around them.

// wrap adds x in parentheses that need not be in the source.
func (p *printer) wrap(l *line, x ast.Expr) {
	l.add("(")
	p.expr(l, x, levelAny)
	l.add(")")
}

func isMembership(x ast.Expr) bool {
	b, ok := x.(*ast.BinaryExpr)
	return ok && (b.Op == ast.OpIn || b.Op == ast.OpNotIn)
}

// endsWithNot tells whether x, in a place that wants the given level, ends with
// the operand of a not. An in after that would be taken for a part of it.
func endsWithNot(x ast.Expr, min int) bool {
	if level(x) < min {
		return false
	}
	switch x := x.(type) {
	case *ast.UnaryExpr:
		return x.Op == ast.OpNot || endsWithNot(x.X, levelUnary)
	case *ast.BinaryExpr:
		if x.Op == ast.OpPow {
			return endsWithNot(x.Y, levelUnary)
		}
		return endsWithNot(x.Y, opLevel(x.Op)+1)
	}
	return false
}

// membersOf tells whether x is a test with in that needs no parentheses after a
// not.
func membersOf(x ast.Expr) bool {
	if !isMembership(x) {
		return false
	}
	left := x.(*ast.BinaryExpr).X
	return level(left) >= levelUnary || endsWithNot(left, levelComparison) || membersOf(left)
}

// beforeColon adds x where a colon follows, which must not make a lambda of a
// call of something by that name.
func (p *printer) beforeColon(l *line, x ast.Expr) {
	if endsWithLambdaCall(x) {
		p.wrap(l, x)
		return
	}
	p.expr(l, x, levelAny)
}

func endsWithLambdaCall(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.CallExpr:
		f, ok := x.Fun.(*ast.Ident)
		return ok && f.Name == "lambda" && len(x.Args) == 0
	case *ast.AssignExpr:
		return endsWithLambdaCall(x.Value)
	case *ast.CondExpr:
		return endsWithLambdaCall(x.Else)
	case *ast.Lambda:
		return endsWithLambdaCall(x.Body)
	}
	return false
}

// head adds x in the head of a block, where a lambda without parameters has to
// be in brackets.
func (p *printer) head(l *line, x ast.Expr) {
	if hasBareLambda(x) {
		p.wrap(l, x)
		return
	}
	p.expr(l, x, levelAny)
}

func hasBareLambda(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.AssignExpr:
		return hasBareLambda(x.Value)
	case *ast.CondExpr:
		return hasBareLambda(x.Else)
	case *ast.Lambda:
		for _, param := range x.Params {
			if param.Default != nil && hasBareLambda(param.Default) {
				return true
			}
		}
		return len(x.Params) == 0 || hasBareLambda(x.Body)
	}
	return false
}

// first adds x at the beginning of a statement.
func (p *printer) first(l *line, from int, x ast.Expr) {
	wrap := false
	switch y := leftmost(x).(type) {
	case *ast.Lambda:
		wrap = len(y.Params) == 0
	case *ast.MapLit:
		wrap = len(y.Entries) > 0 && !isText(leftmost(y.Entries[0].Key))
	case *ast.Ident:
		wrap = (y.Name == "pass" || y.Name == "raise") && p.start(y) != from
	}
	if wrap {
		p.wrap(l, x)
		return
	}
	p.expr(l, x, levelAny)
}

// raised adds the value of a raise, which would otherwise be a name in an
// expression.
func (p *printer) raised(l *line, x ast.Expr) {
	wrap := false
	switch y := leftmost(x).(type) {
	case *ast.UnaryExpr:
		wrap = y.Op == ast.OpNeg
	case *ast.ArrayLit:
		wrap = true
	}
	if wrap {
		p.wrap(l, x)
		return
	}
	p.expr(l, x, levelAny)
}

func isText(x ast.Expr) bool {
	switch x.(type) {
	case *ast.StringLit, *ast.FString:
		return true
	}
	return false
}

// leftmost gives the operand that x begins with, a parenthesis as a whole.
func leftmost(x ast.Expr) ast.Expr {
	for {
		var left ast.Expr
		var min int
		switch x := x.(type) {
		case *ast.AssignExpr:
			left, min = x.Target, levelCall
		case *ast.CondExpr:
			left, min = x.Then, levelOr
		case *ast.BinaryExpr:
			left, min = x.X, opLevel(x.Op)
			if x.Op == ast.OpPow {
				min = levelCall
			}
			if isMembership(x) && endsWithNot(left, min) {
				return nil
			}
		case *ast.CallExpr:
			left, min = x.Fun, levelCall
		case *ast.IndexExpr:
			left, min = x.X, levelCall
		case *ast.SliceExpr:
			left, min = x.X, levelCall
		case *ast.MemberExpr:
			left, min = x.X, levelCall
		default:
			return x
		}
		if level(left) < min {
			return nil // a parenthesis
		}
		x = left
	}
}

// fstring gives the f-string that begins with token i, its fields as they are,
// in double quotes where that changes nothing else.
func (p *printer) fstring(i int) string {
	end := int(p.match[i])
	quotes := p.toks[end].Text
	if quotes[0] == '"' || !p.mayRequote(i, end) {
		return lexer.PlainLines(p.toks[i].Text)
	}
	quotes = strings.ReplaceAll(quotes, "'", `"`)
	var b strings.Builder
	b.WriteString("f" + quotes)
	for i++; i < end; i++ {
		t := &p.toks[i]
		if t.Kind == lexer.FText {
			b.WriteString(requote(t.Text))
			continue
		}
		i = int(p.match[i])
		b.WriteString(p.src[t.Pos.Offset : p.toks[i].Pos.Offset+1])
	}
	b.WriteString(quotes)
	return lexer.PlainLines(b.String())
}

// mayRequote tells whether no format specification between tokens i and end has
// a double quote in it.
func (p *printer) mayRequote(i, end int) bool {
	for ; i < end; i++ {
		if t := &p.toks[i]; t.Kind == lexer.FSpec && strings.Contains(t.Text, `"`) {
			return false
		}
	}
	return true
}

// requote escapes the double quotes of a text that has escapes already.
func requote(s string) string {
	if !strings.Contains(s, `"`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			b.WriteByte('\\')
		case s[i] == '\\':
			b.WriteByte(s[i])
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
