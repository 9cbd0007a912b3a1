package format

import (
	"strings"
	"unicode/utf8"

	"github.com/sense-lang/sense/lexer"
)

// item is a part of a logical line: a text, or a bracket that may be broken.
type item struct {
	text  string
	group *group
}

// group is a bracketed list: the arguments of a call, an array, an index, a
// parenthesis. from and to are the indexes of its brackets' tokens.
type group struct {
	open, close string
	elems       []elem
	from, to    int
	flat        extent
}

// elem is an element of a group; from and to are its first and last token.
type elem struct {
	items    []item
	from, to int
}

// extent is the size of a text: the columns of its first and of its last line,
// the same where it has only one.
type extent struct {
	first, last int
	multi       bool
}

func extentOf(s string) extent {
	i := strings.IndexByte(s, '\n')
	if i < 0 {
		n := utf8.RuneCountInString(s)
		return extent{n, n, false}
	}
	j := strings.LastIndexByte(s, '\n')
	return extent{utf8.RuneCountInString(s[:i]), utf8.RuneCountInString(s[j+1:]), true}
}

func (e extent) plus(f extent) extent {
	if !e.multi {
		e.first += f.first
	}
	if f.multi {
		e.last, e.multi = f.last, true
	} else {
		e.last += f.last
	}
	return e
}

// line collects the items of a logical line.
type line struct {
	items []item
	buf   []byte
}

func (l *line) add(texts ...string) {
	for _, s := range texts {
		l.buf = append(l.buf, s...)
	}
}

func (l *line) addGroup(g *group) {
	if len(g.elems) == 0 {
		l.add(g.open, g.close)
		return
	}
	g.measure()
	l.flush()
	l.items = append(l.items, item{group: g})
}

func (l *line) flush() {
	if len(l.buf) > 0 {
		l.items = append(l.items, item{text: string(l.buf)})
		l.buf = l.buf[:0]
	}
}

func (l *line) finish() []item {
	l.flush()
	return l.items
}

// measure sets the size of the group when joined.
func (g *group) measure() {
	g.flat = extentOf(g.open)
	for i, e := range g.elems {
		if i > 0 {
			g.flat = g.flat.plus(extent{2, 2, false})
		}
		for _, it := range e.items {
			g.flat = g.flat.plus(it.extent())
		}
	}
	g.flat = g.flat.plus(extentOf(g.close))
}

func (it item) extent() extent {
	if it.group != nil {
		return it.group.flat
	}
	return extentOf(it.text)
}

// after gives the column after a text of size e that begins at col, and whether
// its first line keeps within the limit.
func (e extent) after(col int) (int, bool) {
	ok := col+e.first <= maxColumn
	if e.multi {
		return e.last, ok
	}
	return col + e.first, ok
}

// fits tells whether the group that items begin with may be joined at col: then
// it and what follows, up to the next bracket, must keep within the limit.
func fits(items []item, col int) bool {
	col, ok := items[0].group.flat.after(col)
	for _, it := range items[1:] {
		if !ok {
			return false
		}
		if it.group != nil {
			return col+len(it.group.open) <= maxColumn
		}
		col, ok = extentOf(it.text).after(col)
	}
	return ok && col <= maxColumn
}

func writeFlat(b *strings.Builder, items []item) {
	for _, it := range items {
		if it.group == nil {
			b.WriteString(it.text)
			continue
		}
		b.WriteString(it.group.open)
		for i, e := range it.group.elems {
			if i > 0 {
				b.WriteString(", ")
			}
			writeFlat(b, e.items)
		}
		b.WriteString(it.group.close)
	}
}

// render gives the text of items that begin at column col of a line indented by
// depth, and those of the comments lo to hi that found no place in it.
func (p *printer) render(items []item, depth, col, lo, hi int) (string, []lexer.Comment) {
	var b strings.Builder
	var above []lexer.Comment
	for i, it := range items {
		if it.group == nil || fits(items[i:], col) {
			writeFlat(&b, items[i:i+1])
			col, _ = it.extent().after(col)
			continue
		}
		for ; lo < hi && p.commentBefore(lo, it.group.from); lo++ {
			above = append(above, p.comments[lo])
		}
		end := lo
		for end < hi && p.commentBefore(end, it.group.to) {
			end++
		}
		p.broken(&b, it.group, depth, lo, end)
		lo = end
		col = len(indentation)*depth + len(it.group.close)
	}
	return b.String(), append(above, p.comments[lo:hi]...)
}

func (p *printer) commentBefore(c, tok int) bool {
	return p.comments[c].Pos.Offset < p.toks[tok].Pos.Offset
}

// broken writes a group with each element on its own line. The comments lo to hi
// are the ones inside it: one that ends the line of the opening bracket or of an
// element stays there, others go above the element that follows.
func (p *printer) broken(b *strings.Builder, g *group, depth, lo, hi int) {
	b.WriteString(g.open)
	inner := strings.Repeat(indentation, depth+1)
	trail := func(until int) {
		if lo < hi && !p.comments[lo].Own && p.commentBefore(lo, until) {
			b.WriteString("  " + commentText(p.comments[lo]))
			lo++
		}
		b.WriteByte('\n')
	}
	ownLines := func(cs []lexer.Comment) {
		for _, c := range cs {
			b.WriteString(inner + commentText(c) + "\n")
		}
	}
	trail(g.elems[0].from)
	for i, e := range g.elems {
		first, end := lo, lo
		for end < hi && p.commentBefore(end, e.to) {
			end++
		}
		for lo < end && p.commentBefore(lo, e.from) {
			lo++
		}
		ownLines(p.comments[first:lo])
		items, until := e.items, g.to
		if i+1 < len(g.elems) {
			items = append(items[:len(items):len(items)], item{text: ","})
			until = g.elems[i+1].from
		}
		text, above := p.render(items, depth+1, len(inner), lo, end)
		ownLines(above)
		b.WriteString(inner + text)
		lo = end
		trail(until)
	}
	ownLines(p.comments[lo:hi])
	b.WriteString(strings.Repeat(indentation, depth) + g.close)
}
