package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/sense-lang/sense/model"
)

// Done is the data of the last event of a stream on OpenAI's wire.
const Done = "[DONE]"

// maxEvent bounds one event of a stream, in bytes.
const maxEvent = 16 << 20

// maxStream bounds all events of a stream, in bytes: three times what the longest
// answers of today take, most of which is not text.
const maxStream = 128 << 20

// Stream is how an answer in pieces is read: each event is checked and given to
// the library in the form it reads, and an end too soon is an error.
type Stream struct {
	// Event turns one event into the bytes that the library shall read; nil
	// skips it. io.EOF ends the stream.
	Event func(name string, data []byte) ([]byte, error)
	// Whole turns an answer that came in one piece into a stream.
	Whole func(body []byte) ([]byte, error)
	// End is called where the stream ends and gives the error of an answer
	// that is not complete.
	End func() error
}

// body gives the response's body as the library reads it.
func (s *Stream) body(src io.ReadCloser, req *http.Request) io.ReadCloser {
	return &streamBody{stream: s, src: src, req: req, events: NewEvents(src)}
}

type streamBody struct {
	stream *Stream
	src    io.ReadCloser
	req    *http.Request
	events *Events
	taken  int // bytes of its events so far
	ready  []byte
	err    error
}

func (b *streamBody) Close() error { return b.src.Close() }

func (b *streamBody) Read(p []byte) (int, error) {
	for len(b.ready) == 0 && b.err == nil {
		b.ready, b.err = b.next()
	}
	if len(b.ready) == 0 {
		return 0, b.err
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	return n, nil
}

func (b *streamBody) next() ([]byte, error) {
	name, data, err := b.events.Next()
	if b.taken += len(data); b.taken > maxStream {
		return nil, Nonsense("the answer is larger than 128 MiB")
	}
	if err == nil {
		var out []byte
		if out, err = b.stream.Event(name, data); err == nil {
			return out, nil
		}
	}
	var known *model.Error
	switch {
	case err == io.EOF:
		if end := b.stream.End(); end != nil {
			return nil, brokenOff(end)
		}
		return nil, io.EOF
	case errors.As(err, &known):
		return nil, err
	}
	return nil, brokenOff(connectionFailure(b.req, err))
}

// CutOff is the error of a stream that ends before the answer is complete.
func CutOff() *model.Error {
	return &model.Error{Kind: model.KindConnection, Msg: "the answer was cut off before its end"}
}

// Events reads the events of a text/event-stream.
type Events struct {
	r *bufio.Reader
}

// NewEvents reads from r.
func NewEvents(r io.Reader) *Events { return &Events{bufio.NewReader(r)} }

// Next gives the next event that has data, its name empty where it has none.
// At the end it gives io.EOF; a last event without the empty line that ends one
// counts if it is whole.
func (e *Events) Next() (name string, data []byte, err error) {
	has := false
	for {
		line, err := e.line(maxEvent - len(data))
		if err == io.EOF && has && (json.Valid(data) || string(data) == Done) {
			return name, data, nil
		}
		if err != nil {
			return "", nil, err
		}
		if len(line) == 0 {
			if has {
				return name, data, nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if has {
				data = append(data, '\n')
			}
			has = true
			data = append(data, value...)
		}
	}
}

// line reads one line without its end, of at most limit bytes.
func (e *Events) line(limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := e.r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > limit+2 {
			return nil, Nonsense("an event of the answer is larger than 16 MiB")
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(line) > 0, err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		default:
			return nil, err
		}
	}
}
