package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// event is one event of a server-sent event stream.
type event struct {
	kind string // "message" unless the server named another
	data []byte // the data lines, joined; the receiver may keep it
}

// eventReader reads a server-sent event stream. Lines may end in LF, CRLF or a
// bare CR and be of any length up to the limit of a message.
type eventReader struct {
	r     *bufio.Reader
	limit int
	skip  bool // a LF that comes next belongs to a CR before

	lastID string        // that of the last complete event that had one
	retry  time.Duration // the wait before reconnecting that the server asked for
	asked  bool          // it did
	count  int           // events given
	err    error         // why reading ended
}

// follow goes on with what a stream before left.
func (e *eventReader) follow(before *eventReader) {
	if before != nil {
		e.lastID, e.retry, e.asked = before.lastID, before.retry, before.asked
	}
}

// id gives the id to continue after, "" when there is none.
func (e *eventReader) id() string {
	if e == nil {
		return ""
	}
	return e.lastID
}

// delay gives the wait before the stream is opened again.
func (e *eventReader) delay(usual time.Duration) time.Duration {
	if e.asked {
		return max(e.retry, 10*time.Millisecond)
	}
	return usual
}

func newEventReader(r io.Reader, limit int) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 32<<10), limit: limit}
}

// next gives the next event that has data. io.EOF means that the server ended
// the stream; an unfinished event is given before, if it is all that is left.
func (e *eventReader) next() (event, error) {
	ev := event{kind: "message"}
	var id string
	var hasID, hasData bool
	for {
		line, own, err := e.line()
		if err != nil {
			if err == io.EOF && hasData {
				return ev, nil
			}
			return event{}, err
		}
		if len(line) == 0 {
			if hasID {
				e.lastID = id
			}
			if hasData {
				e.count++
				return ev, nil
			}
			ev, hasID = event{kind: "message"}, false
			continue
		}
		name, value := field(line)
		switch name {
		case "data":
			switch {
			case own && !hasData:
				ev.data = value
			case hasData:
				ev.data = append(append(ev.data, '\n'), value...)
			default:
				ev.data = append(ev.data, value...)
			}
			if hasData = true; len(ev.data) > e.limit {
				return event{}, errTooLarge
			}
		case "event":
			ev.kind = string(value)
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				id, hasID = string(value), true
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.retry, e.asked = time.Duration(ms)*time.Millisecond, true
			}
		}
	}
}

// field takes a line apart. A comment has an empty name.
func field(line []byte) (name string, value []byte) {
	before, after, _ := bytes.Cut(line, []byte(":"))
	return string(before), bytes.TrimPrefix(after, []byte(" "))
}

// line gives the next line without its end. own says that it may be kept; else
// it is valid until the next call only.
func (e *eventReader) line() (line []byte, own bool, err error) {
	var long pieces
	for {
		if _, err := e.r.Peek(1); err != nil {
			if long.total > 0 && errors.Is(err, io.EOF) {
				return long.join(), true, nil
			}
			return nil, false, err
		}
		part, _ := e.r.Peek(e.r.Buffered())
		if e.skip {
			e.skip = false
			if part[0] == '\n' {
				_, _ = e.r.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(part, "\r\n")
		rest := part
		if end >= 0 {
			rest = part[:end]
		}
		if end < 0 || long.total > 0 {
			if long.add(rest); long.total > e.limit+16 {
				return nil, false, errTooLarge
			}
		}
		_, _ = e.r.Discard(len(rest))
		if end < 0 {
			continue
		}
		e.skip = part[end] == '\r'
		_, _ = e.r.Discard(1)
		if long.total > 0 {
			return long.join(), true, nil
		}
		return rest, false, nil
	}
}
