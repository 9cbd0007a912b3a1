// Package lines reads messages that end with a newline from peers that may send
// lines of any length.
package lines

import (
	"bufio"
	"bytes"
	"errors"
)

// Read reads up to the next newline and gives the line without white space
// around it. A line over limit bytes is skipped to its end and told by tooLong,
// without being kept. The last line may lack its newline and comes together
// with io.EOF; err is else what r reports.
func Read(r *bufio.Reader, limit int) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		tooLong = tooLong || len(line)+len(part) > limit
		if tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.Trim(line, " \t\r\n"), tooLong, err
	}
}
