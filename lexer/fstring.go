package lexer

import (
	"strings"

	"github.com/sense-lang/sense/diag"
)

// fstring is an f-string that the scanner is inside of.
type fstring struct {
	token  int // index of its FString
	quotes string
	open   int // index of the FOpen of its field
	depth  int // of brackets within the field
	braces int // around the field
}

// fstring begins an f-string at its f. Its texts are scanned here, its fields by
// token, so that one within another needs no recursion.
func (s *scanner) fstring() {
	p, quotes := s.pos(), quotesOf(s.src[s.off+1:])
	s.emit(FString, p, s.off+1+len(quotes))
	s.fstrings = append(s.fstrings, fstring{token: len(s.toks) - 1, quotes: quotes})
	s.ftext()
}

// ftext scans the text of an f-string up to its next field or its end.
func (s *scanner) ftext() {
	f := &s.fstrings[len(s.fstrings)-1]
	p := s.pos()
	for s.off < len(s.src) {
		c := s.src[s.off]
		doubled := s.off+1 < len(s.src) && s.src[s.off+1] == c
		switch {
		case c == f.quotes[0] && strings.HasPrefix(s.src[s.off:], f.quotes):
			s.fpiece(FText, p)
			s.fend()
			return
		case (c == '{' || c == '}') && doubled:
			s.off += 2
		case c == '{':
			s.fpiece(FText, p)
			f.open = len(s.toks)
			s.depth++
			f.depth, f.braces = s.depth, s.braces
			s.emit(FOpen, s.pos(), s.off+1)
			return
		case c == '}':
			s.fail(s.pos(), "single '}' in an f-string -- write '}}' for a brace")
			return
		default:
			s.strChar()
		}
	}
	msg := "unterminated string literal"
	if len(f.quotes) == 3 {
		msg = "unterminated triple-quoted string literal"
	}
	s.fail(s.toks[f.token].Pos, msg)
}

// fpiece adds the piece that began at p and ends here, where there is any.
func (s *scanner) fpiece(k Kind, p diag.Pos) {
	if int(p.Offset) < s.off {
		s.emit(k, p, s.off)
	}
}

// fend ends an f-string at its closing quotes. Its first token now gets the
// whole of it as its text.
func (s *scanner) fend() {
	f := &s.fstrings[len(s.fstrings)-1]
	end := s.off + len(f.quotes)
	t := &s.toks[f.token]
	t.Text = s.src[t.Pos.Offset:end]
	s.fstrings = s.fstrings[:len(s.fstrings)-1]
	s.emit(FEnd, s.pos(), end)
}

// fieldMark deals with a mark that means something else in a field of an
// f-string, and reports whether it did.
func (s *scanner) fieldMark(k Kind) bool {
	f := &s.fstrings[len(s.fstrings)-1]
	outer := s.depth == f.depth
	switch {
	case k == RBrace && (outer || s.braces == f.braces):
		s.fclose(f)
	case k == Colon && outer:
		s.fspec(f)
	case (k == RParen || k == RBracket) && outer:
		s.fail(s.pos(), "expected '}' after the expression in an f-string (got "+k.String()+" '"+s.src[s.off:s.off+1]+"')")
	case k == LBrace && !s.mapMayStart():
		s.unclosedField()
	default:
		return false
	}
	return true
}

// fclose ends the field of an f-string and scans the text after it.
func (s *scanner) fclose(f *fstring) {
	if s.last() == FOpen {
		s.fail(s.toks[f.open].Pos, "empty '{}' in an f-string -- write '{{}}' for braces")
		return
	}
	s.depth, s.braces = f.depth-1, f.braces
	s.emit(FClose, s.pos(), s.off+1)
	s.ftext()
}

// fspec scans the format specification of a field, from its ":" to its end.
func (s *scanner) fspec(f *fstring) {
	p := s.pos()
	for s.off++; s.off < len(s.src); s.off++ {
		switch c := s.src[s.off]; {
		case c == '}':
			s.fpiece(FSpec, p)
			s.fclose(f)
			return
		case isLineEnd(c) || c == f.quotes[0]:
			s.unclosedField()
			return
		case c&0xC0 == 0x80:
			s.wide++
		}
	}
	s.unclosedField()
}

func (s *scanner) unclosedField() {
	f := s.fstrings[len(s.fstrings)-1]
	s.fail(s.toks[f.open].Pos, "'{' in an f-string is never closed")
}

// mapMayStart tells a "{" that begins a map from one that was meant to open a
// block, as in other languages: by what stands before it and, where a statement
// may begin, by the key that has to follow.
func (s *scanner) mapMayStart() bool {
	rest := s.src[s.off+1:]
	switch s.last() {
	case EOF, Newline, Indent, Dedent:
		for rest = strings.TrimLeft(rest, " \r\n"); strings.HasPrefix(rest, "#"); {
			rest = strings.TrimLeft(rest[lineLen(rest):], " \r\n")
		}
		return rest != "" && (isQuote(rest[0]) || rest[0] == '}' || rest[0] == 'f' && len(rest) > 1 && isQuote(rest[1]))
	case Colon:
		rest = strings.TrimLeft(rest, " \t")
		return s.depth > 0 || s.lambda || rest != "" && rest[0] != '#' && !isLineEnd(rest[0])
	case KwElse:
		return !s.before(2).IsLayout()
	case Ident:
		return s.toks[len(s.toks)-1].Text == "raise" && s.before(2).IsLayout()
	case Dot, Arrow, Int, Float, String, FEnd, RParen, RBracket, RBrace:
		return false
	case KwReturn, KwIf, KwWhile, KwIn, KwAnd, KwOr, KwNot:
		return true
	}
	return !s.last().IsKeyword()
}
