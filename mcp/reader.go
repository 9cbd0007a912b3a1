package mcp

import (
	"bufio"
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
	const largestPiece = 4 << 20
	var pieces [][]byte
	piece := append(make([]byte, 0, 4*len(first)), first...)
	total := len(first)
	for {
		part, err := lr.r.ReadSlice('\n')
		if total += len(part); total > lr.limit {
			return nil, false, errTooLarge
		}
		if len(piece)+len(part) > cap(piece) {
			pieces = append(pieces, piece)
			piece = make([]byte, 0, min(2*cap(piece), largestPiece))
		}
		piece = append(piece, part...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && err != io.EOF {
			return nil, false, err
		}
		return join(pieces, piece, total), true, nil
	}
}

// join puts the pieces of a line together and drops its end.
func join(pieces [][]byte, last []byte, total int) []byte {
	line := make([]byte, 0, total)
	for i, p := range pieces {
		line = append(line, p...)
		pieces[i] = nil
	}
	line = append(line, last...)
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	return line
}
