package lexer

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sense-lang/sense/diag"
)

// Scan splits src into tokens, the last of which is EOF, and lists its comments
// in order. name is the file that errors name. A leading byte-order mark and a
// "#!" first line are skipped. An error is a *diag.Error of kind Syntax.
func Scan(name, src string) ([]Token, []Comment, error) {
	s := &scanner{name: name, src: src, line: 1, indents: []int{0}, bol: true}
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	s.toks = make([]Token, 0, len(src)/4+8)
	s.skipPrologue()
	s.run()
	if s.err != nil {
		return nil, nil, s.err
	}
	return s.toks, s.comments, nil
}

// scanner walks over src. A column counts code points, so wide counts the bytes
// of the current line that continue one.
type scanner struct {
	name      string
	src       string
	off       int
	line      int32
	lineStart int
	wide      int
	tokenLine int32 // the line on which the last token with a text ended
	depth     int   // of open brackets
	braces    int   // those of them that are "{"
	fstrings  []fstring
	header    bool // after returns or requires in a head, where f is a name
	lambda    bool // after the word lambda in a logical line
	indents   []int
	bol       bool // at the beginning of a line that may change the indentation
	content   bool // the logical line has a token already
	toks      []Token
	comments  []Comment
	err       *diag.Error
}

// check refuses what has no meaning as a whole: text that is no UTF-8, or too
// long for positions.
func (s *scanner) check() error {
	if len(s.src) > math.MaxInt32/2 {
		return diag.At(diag.Syntax, s.name, diag.Pos{Line: 1, Col: 1}, "source text is too large (%d bytes)", len(s.src))
	}
	if utf8.ValidString(s.src) {
		return nil
	}
	for s.off < len(s.src) {
		r, size := utf8.DecodeRuneInString(s.src[s.off:])
		switch {
		case r == utf8.RuneError && size == 1:
			return diag.At(diag.Syntax, s.name, s.pos(), "invalid UTF-8: byte 0x%02x", s.src[s.off])
		case r == '\n' || r == '\r':
			s.lineEnd()
		default:
			s.off += size
			s.wide += size - 1
		}
	}
	return nil
}

func (s *scanner) skipPrologue() {
	if strings.HasPrefix(s.src, "\ufeff") {
		s.off, s.lineStart = 3, 3
	}
	if strings.HasPrefix(s.src[s.off:], "#!") {
		s.off += lineLen(s.src[s.off:])
	}
}

func (s *scanner) run() {
	for s.err == nil {
		if s.bol {
			s.indentation()
		}
		if s.off >= len(s.src) || s.err != nil {
			break
		}
		s.token()
	}
	if s.err == nil && len(s.fstrings) > 0 {
		s.unclosedField()
	}
	s.finish()
}

// finish ends the last line and closes the blocks that are open.
func (s *scanner) finish() {
	if s.content {
		s.layout(Newline)
	}
	for range s.indents[1:] {
		s.layout(Dedent)
	}
	s.layout(EOF)
}

// indentation skips empty and comment lines and compares the width before the
// first token of the next line with the blocks that are open.
func (s *scanner) indentation() {
	for {
		start := s.off
		if !s.leadingSpaces() {
			return
		}
		if s.off >= len(s.src) {
			return
		}
		switch s.src[s.off] {
		case '\n', '\r':
			s.lineEnd()
		case '#':
			s.comment()
		default:
			s.bol = false
			s.setIndent(s.off - start)
			return
		}
	}
}

func (s *scanner) leadingSpaces() bool {
	for s.off < len(s.src) {
		switch s.src[s.off] {
		case ' ':
			s.off++
		case '\t':
			s.fail(s.pos(), "tabs are not allowed for indentation — use spaces")
			return false
		default:
			return true
		}
	}
	return true
}

func (s *scanner) setIndent(width int) {
	top := len(s.indents) - 1
	if width > s.indents[top] {
		s.indents = append(s.indents, width)
		s.layout(Indent)
		return
	}
	for width < s.indents[top] {
		top--
		s.layout(Dedent)
	}
	s.indents = s.indents[:top+1]
	if width != s.indents[top] {
		s.fail(s.pos(), "inconsistent indentation")
	}
}

func (s *scanner) layout(k Kind) {
	s.toks = append(s.toks, Token{Kind: k, Pos: s.pos()})
}

func (s *scanner) pos() diag.Pos {
	return diag.Pos{Offset: int32(s.off), Line: s.line, Col: int32(s.off - s.lineStart - s.wide + 1)}
}

func (s *scanner) fail(p diag.Pos, msg string) {
	if s.err == nil {
		s.err = &diag.Error{Kind: diag.Syntax, File: s.name, Pos: p, Msg: msg}
	}
}

// lineEnd steps over one line end: "\n", "\r\n" or a lone "\r".
func (s *scanner) lineEnd() {
	if s.src[s.off] == '\r' && s.off+1 < len(s.src) && s.src[s.off+1] == '\n' {
		s.off++
	}
	s.off++
	s.line++
	s.lineStart, s.wide = s.off, 0
}

// lineLen gives the length of the first line of s without its end.
func lineLen(s string) int {
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		return i
	}
	return len(s)
}

func (s *scanner) comment() {
	n := lineLen(s.src[s.off:])
	s.comments = append(s.comments, Comment{Text: s.src[s.off : s.off+n], Pos: s.pos(), Own: s.tokenLine != s.line})
	s.off += n
}

// token scans one token, or steps over a space, a comment or a line end.
func (s *scanner) token() {
	switch c := s.src[s.off]; {
	case c == ' ' || c == '\t':
		s.off++
	case isLetter(c):
		s.ident()
	case isDigit(c):
		s.number()
	case c == '\n' || c == '\r':
		s.newline()
	case c == '"' || c == '\'':
		s.str()
	case c == '#' && len(s.fstrings) == 0:
		s.comment()
	case c >= utf8.RuneSelf:
		s.wideToken()
	default:
		s.mark(c)
	}
}

func (s *scanner) newline() {
	if s.depth == 0 {
		s.layout(Newline)
		s.bol, s.content, s.header, s.lambda = true, false, false, false
	}
	s.lineEnd()
}

// emit adds the token whose text ends at end.
func (s *scanner) emit(k Kind, p diag.Pos, end int) {
	s.toks = append(s.toks, Token{Kind: k, Text: s.src[p.Offset:end], Pos: p})
	s.content = true
	s.off, s.tokenLine = end, s.line
}

func (s *scanner) ident() {
	p, i := s.pos(), s.off
	wide := 0
	for i < len(s.src) {
		c := s.src[i]
		if isLetter(c) || isDigit(c) {
			i++
			continue
		}
		r, size := wideRune(s.src[i:])
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			break
		}
		i += size
		wide += size - 1
	}
	k := Ident
	if wide == 0 {
		k = Keyword(s.src[s.off:i])
	}
	switch {
	case k == Ident && i == s.off+1 && s.src[s.off] == 'f' && i < len(s.src) && isQuote(s.src[i]) && !s.header:
		s.fstring()
		return
	case k == KwReturns || k == KwRequires:
		s.header = s.header || s.depth == 0 && s.last() != Dot
	case k == Ident && s.src[s.off:i] == "lambda":
		s.lambda = true
	}
	s.emit(k, p, i)
	s.wide += wide
}

// last gives the kind of the last token, EOF where there is none.
func (s *scanner) last() Kind { return s.before(1) }

// before gives the kind of the n-th last token, EOF where there is none.
func (s *scanner) before(n int) Kind {
	if len(s.toks) < n {
		return EOF
	}
	return s.toks[len(s.toks)-n].Kind
}

// wideRune decodes the first code point of s where it takes several bytes.
func wideRune(s string) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return utf8.RuneError, 0
	}
	return utf8.DecodeRuneInString(s)
}

func (s *scanner) wideToken() {
	switch r, _ := utf8.DecodeRuneInString(s.src[s.off:]); {
	case unicode.IsLetter(r):
		s.ident()
	case unicode.IsDigit(r):
		s.number()
	default:
		s.unexpected(r)
	}
}

func (s *scanner) unexpected(r rune) {
	s.fail(s.pos(), "unexpected character "+diag.Repr(string(r)))
}

// str scans a string. Line ends inside it count as lines, but do not end the
// statement. In an f-string one in single quotes keeps to its line: what seems to
// go on is the rest of a program after a field that was never closed.
func (s *scanner) str() {
	p, quotes, msg := s.pos(), quotesOf(s.src[s.off:]), "unterminated string literal"
	if len(quotes) == 3 {
		msg = "unterminated triple-quoted string literal"
	}
	s.off += len(quotes)
	for s.off < len(s.src) {
		if strings.HasPrefix(s.src[s.off:], quotes) {
			s.emit(String, p, s.off+len(quotes))
			return
		}
		if len(s.fstrings) > 0 && len(quotes) == 1 && isLineEnd(s.src[s.off]) {
			break
		}
		s.strChar()
	}
	if len(s.fstrings) > 0 {
		s.unclosedField()
		return
	}
	s.fail(p, msg)
}

// strChar steps over one character or escape of a string.
func (s *scanner) strChar() {
	switch c := s.src[s.off]; {
	case c == '\\' && s.off+1 < len(s.src) && s.src[s.off+1] < utf8.RuneSelf && !isLineEnd(s.src[s.off+1]):
		s.off += 2
	case isLineEnd(c):
		s.lineEnd()
	default:
		if c&0xC0 == 0x80 {
			s.wide++
		}
		s.off++
	}
}

// mark scans an operator or another mark of the language.
func (s *scanner) mark(c byte) {
	k, n := single[c], 1
	if s.off+1 < len(s.src) {
		if k2 := double(c, s.src[s.off+1]); k2 != Invalid {
			k, n = k2, 2
		}
	}
	if len(s.fstrings) > 0 && s.fieldMark(k) {
		return
	}
	switch k {
	case Invalid:
		s.refuse(c)
		return
	case LParen, LBracket:
		s.depth++
	case RParen, RBracket:
		s.depth = max(0, s.depth-1)
	case LBrace:
		if !s.mapMayStart() {
			s.refuse(c)
			return
		}
		s.depth++
		s.braces++
	case RBrace:
		if s.braces == 0 {
			s.refuse(c)
			return
		}
		s.depth = max(0, s.depth-1)
		s.braces--
	case Colon:
		s.header = s.header && s.depth > 0
	}
	s.emit(k, s.pos(), s.off+n)
}

// refuse words the error for a character that starts no token.
func (s *scanner) refuse(c byte) {
	switch c {
	case '{', '}':
		s.fail(s.pos(), "Sense uses indentation for blocks, not '{ }' — write ':' then an indented block instead")
	case ';':
		s.fail(s.pos(), "semicolons aren't used in Sense — start a new line instead")
	case '!':
		s.fail(s.pos(), "'!' is not an operator in Sense — use 'not' for negation and '!=' for not-equal")
	default:
		s.unexpected(rune(c))
	}
}

var single = [utf8.RuneSelf]Kind{
	'(': LParen, ')': RParen, '[': LBracket, ']': RBracket, '{': LBrace, '}': RBrace, ',': Comma, ':': Colon, '.': Dot,
	'+': Plus, '-': Minus, '*': Star, '/': Slash, '%': Percent, '=': Eq, '<': Lt, '>': Gt,
}

// doubles holds, by their first character, the marks of two characters.
var doubles = [utf8.RuneSelf][]struct {
	second byte
	kind   Kind
}{
	'=': {{'=', EqEq}}, '!': {{'=', BangEq}}, '<': {{'=', LtEq}}, '>': {{'=', GtEq}},
	'+': {{'=', PlusEq}}, '-': {{'>', Arrow}, {'=', MinusEq}}, '%': {{'=', PercentEq}},
	'*': {{'=', StarEq}, {'*', StarStar}}, '/': {{'=', SlashEq}, {'/', SlashSlash}},
}

// double gives the kind of a mark of two characters, Invalid where they are none.
func double(a, b byte) Kind {
	for _, d := range doubles[a] {
		if d.second == b {
			return d.kind
		}
	}
	return Invalid
}

func isLetter(c byte) bool  { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func isDigit(c byte) bool   { return c >= '0' && c <= '9' }
func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }
func isQuote(c byte) bool   { return c == '"' || c == '\'' }
