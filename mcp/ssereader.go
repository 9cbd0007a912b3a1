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
	begun bool // the mark that may begin a stream is behind
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
	var data eventData
	var id string
	var hasID bool
	for {
		line, own, err := e.line(e.limit - data.size())
		if err != nil {
			if err == io.EOF && data.some {
				ev.data = data.join()
				return ev, nil
			}
			return event{}, err
		}
		if len(line) == 0 {
			if hasID {
				e.lastID = id
			}
			if data.some {
				e.count++
				ev.data = data.join()
				return ev, nil
			}
			ev, hasID = event{kind: "message"}, false
			continue
		}
		name, value := field(line)
		switch string(name) {
		case "data":
			if data.add(value, own); data.size() > e.limit {
				return event{}, errTooLarge
			}
		case "event":
			ev.kind = string(value)
		case "id":
			if canBeSent(value) {
				id, hasID = string(value), true
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.retry, e.asked = time.Duration(ms)*time.Millisecond, true
			}
		}
	}
}

// maxID is how long an id may be that a stream is continued after.
const maxID = 4 << 10

// canBeSent says whether an id can stand in the header that asks to go on after
// it. Any other is as if the server had given none.
func canBeSent(id []byte) bool {
	return len(id) <= maxID && !bytes.ContainsFunc(id, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// eventData collects the data lines of an event. A single one is kept as it is.
type eventData struct {
	some bool // there was a line, be it empty
	sole []byte
	more pieces
}

func (d *eventData) size() int { return len(d.sole) + d.more.total }

// add takes one more line. own says that its memory may be kept.
func (d *eventData) add(value []byte, own bool) {
	first := !d.some
	d.some = true
	switch {
	case first && own:
		d.sole = value
		return
	case first:
		d.sole = bytes.Clone(value)
		return
	case d.more.total == 0:
		d.more.add(d.sole)
		d.sole = nil
	}
	d.more.add(newline)
	d.more.add(value)
}

var newline = []byte{'\n'}

// join gives the lines with newlines between.
func (d *eventData) join() []byte {
	if d.more.total == 0 {
		return d.sole
	}
	return d.more.join()
}

// field takes a line apart. A comment has an empty name.
func field(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte(":"))
	return name, bytes.TrimPrefix(value, []byte(" "))
}

// byteOrderMark may begin a stream and means nothing.
const byteOrderMark = "\xef\xbb\xbf"

// begin passes over a byte order mark before the first line.
func (e *eventReader) begin() {
	if e.begun {
		return
	}
	e.begun = true
	if first, _ := e.r.Peek(1); len(first) == 0 || first[0] != byteOrderMark[0] {
		return
	}
	if mark, _ := e.r.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = e.r.Discard(len(mark))
	}
}

// line gives the next line without its end, of at most limit bytes and a few.
// own says that it may be kept; else it is valid until the next call only.
func (e *eventReader) line(limit int) (line []byte, own bool, err error) {
	e.begin()
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
			if long.add(rest); long.total > limit+16 {
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
