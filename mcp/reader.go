package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxMessage is the most bytes one message of a server may have.
const maxMessage = 64 << 20

var errTooLarge = errors.New("message larger than the limit")

// lineReader reads lines up to a limit. It keeps what it has read of a long
// line in pieces, so it never holds more than the limit but for the moment in
// which a complete line is put together.
type lineReader struct {
	r     *bufio.Reader
	limit int
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next gives the next line without its end. own says that the caller may keep
// it; else it is valid until the next call only. What stands after the last
// line end is a line, too, given with err nil; io.EOF comes after it. A line
// over the limit is errTooLarge, after which the reader is of no more use.
func (lr *lineReader) next() (line []byte, own bool, err error) {
	line, err = lr.r.ReadSlice('\n')
	if err == nil {
		return line[:len(line)-1], false, nil
	}
	if err == io.EOF && len(line) > 0 {
		return line, false, nil
	}
	if err != bufio.ErrBufferFull {
		return nil, false, err
	}
	return lr.long(line)
}

func (lr *lineReader) long(first []byte) ([]byte, bool, error) {
	var p pieces
	p.add(first)
	for {
		part, err := lr.r.ReadSlice('\n')
		if p.add(part); p.total > lr.limit {
			return nil, false, errTooLarge
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && err != io.EOF {
			return nil, false, err
		}
		return bytes.TrimSuffix(p.join(), []byte("\n")), true, nil
	}
}

// pieces collects a long text in pieces, so that no more than the text is held
// but for the moment in which it is put together.
type pieces struct {
	full  [][]byte
	last  []byte
	total int
}

func (p *pieces) add(part []byte) {
	const largest = 4 << 20
	p.total += len(part)
	for len(part) > cap(p.last)-len(p.last) {
		n := copy(p.last[len(p.last):cap(p.last)], part)
		if p.last = p.last[:len(p.last)+n]; len(p.last) > 0 {
			p.full = append(p.full, p.last)
		}
		part = part[n:]
		p.last = make([]byte, 0, min(max(2*cap(p.last), len(part), 1<<10), largest))
	}
	p.last = append(p.last, part...)
}

// join puts the text together and drops the pieces.
func (p *pieces) join() []byte {
	text := make([]byte, 0, p.total)
	for i, one := range p.full {
		text = append(text, one...)
		p.full[i] = nil
	}
	text = append(text, p.last...)
	*p = pieces{}
	return text
}

// readLimited reads r to its end, or up to a limit, over which is errTooLarge.
func readLimited(r io.Reader, limit int) ([]byte, error) {
	var p pieces
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if p.add(buf[:n]); p.total > limit {
			return nil, errTooLarge
		}
		if err == io.EOF {
			return p.join(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}
