package diag

import "strings"

// cachedLines are the lines of a file, as far as they were asked for.
type cachedLines struct {
	file string
	src  string
	ok   bool
	// starts are where lines begin.
	starts []int
}

// ForMany gives a Printer that keeps the last file it read, so that the time for
// many errors in one file does not grow with the square of their number. It is
// for one goroutine, and for as long as files do not change.
func (p Printer) ForMany() Printer {
	p.last = &cachedLines{}
	return p
}

// line gives the n-th line of a file, where lines end as the language says.
func (p Printer) line(file string, n int) (string, bool) {
	c := p.last
	if c == nil {
		c = &cachedLines{}
	}
	if c.starts == nil || c.file != file {
		*c = cachedLines{file: file, starts: []int{0}}
		c.src, c.ok = p.Source(file)
	}
	if !c.ok || !c.reach(n) {
		return "", false
	}
	text := c.src[c.starts[max(n, 1)-1]:]
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
	}
	return text, true
}

// reach finds where lines begin up to the n-th, and whether there is one.
func (c *cachedLines) reach(n int) bool {
	for len(c.starts) < n {
		at := c.starts[len(c.starts)-1]
		i := strings.IndexAny(c.src[at:], "\r\n")
		if i < 0 {
			return false
		}
		at += i
		if strings.HasPrefix(c.src[at:], "\r\n") {
			at++
		}
		c.starts = append(c.starts, at+1)
	}
	return true
}
