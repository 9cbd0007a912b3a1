package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Report is what Verify found.
type Report struct {
	// Entries is the number of whole entries from the beginning on that are as
	// they were written.
	Entries int64
	// Head is the hash of the last of them. Whoever keeps it elsewhere can tell
	// later whether the end of the log was cut off.
	Head string
	// End is where the last of them ends, in bytes.
	End int64
	// Unfinished is the number of bytes after that which are the beginning of an
	// entry that was never acknowledged, as a kill or a full disk leaves it.
	Unfinished int64
	// HeadFound reports whether the head that was asked for is the hash of one
	// of the entries.
	HeadFound bool
}

// BrokenError says where a log is not what was written.
type BrokenError struct {
	// Line is the line of the file, from 1.
	Line   int64
	Reason string
}

// Error gives the message.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("audit log is broken at line %d: %s", e.Line, e.Reason)
}

var (
	errNoEntry = errors.New("this is no audit entry")
	errChanged = errors.New("the entry was changed")
)

// maxLine bounds a line of a log.
const maxLine = 8 << 20

// Verify reads a log to its end and checks that no entry was changed, left out,
// put in or moved; a *BrokenError tells the first place where one was. What it
// cannot see is that whole entries are missing at the end: see VerifyHead.
func Verify(r io.Reader) (Report, error) {
	return verify(r, "", nil)
}

// VerifyHead is Verify for a log of which a hash was kept elsewhere: where no
// entry has it, the log was cut off or made anew.
func VerifyHead(r io.Reader, head string) (Report, error) {
	rep, err := verify(r, head, nil)
	if err == nil && !rep.HeadFound {
		return rep, &BrokenError{Line: rep.Entries + 1, Reason: "the entry with the known hash is missing: the log was cut off or made anew"}
	}
	return rep, err
}

// verify checks a log and shows each good record to see, which may be nil.
func verify(r io.Reader, head string, see func(*Record) error) (Report, error) {
	var rep Report
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, whole, err := readLine(br)
		if err != nil {
			if errors.Is(err, errLong) {
				err = &BrokenError{Line: rep.Entries + 1, Reason: err.Error()}
			}
			return rep, err
		}
		if !whole {
			rep.Unfinished = int64(len(line))
			return rep, nil
		}
		rec, err := unseal(line)
		if err == nil {
			err = follows(rec, rep)
		}
		if err != nil {
			return rep, &BrokenError{Line: rep.Entries + 1, Reason: err.Error()}
		}
		rep.Entries++
		rep.Head = rec.Hash
		rep.HeadFound = rep.HeadFound || head == rec.Hash
		rep.End += int64(len(line)) + 1
		if see != nil {
			if err := see(rec); err != nil {
				return rep, err
			}
		}
	}
}

// follows says why a record cannot stand after those before it.
func follows(rec *Record, rep Report) error {
	switch want := rep.Entries + 1; {
	case rec.Seq > want:
		return fmt.Errorf("entry %d is missing before entry %d", want, rec.Seq)
	case rec.Seq < want:
		return fmt.Errorf("entry %d stands where entry %d belongs", rec.Seq, want)
	case rec.Prev != rep.Head:
		return errors.New("the entry belongs to another log, or the one before it was replaced")
	}
	return nil
}

var errLong = fmt.Errorf("a line is longer than %d bytes", maxLine)

// readLine reads a line without its end; whole is false for what stands after
// the last line end.
func readLine(br *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, false, errLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte{'\n'}), true, nil
		case errors.Is(err, io.EOF):
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}
