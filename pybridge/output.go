package pybridge

import (
	"bytes"
	"io"
	"strconv"
	"sync"
)

// output copies what Python writes to one of its standard streams. Behind what belongs to a request the bridge writes
// a mark into the stream, a line of no meaning with the request's number; output leaves the marks out and lets callers
// wait for them, so that a print is seen before the call that made it returns.
type output struct {
	to    io.Writer
	mark  []byte // what a mark begins with
	keep  int    // bytes of the end of the stream to remember
	mu    sync.Mutex
	seen  *sync.Cond
	last  int64 // the greatest number seen
	ended bool
	tail  []byte
}

func newOutput(to io.Writer, token string, keep int) *output {
	if to == nil {
		to = io.Discard
	}
	o := &output{to: to, mark: []byte("\x00sense-" + token + "-"), keep: keep}
	o.seen = sync.NewCond(&o.mu)
	return o
}

// copy runs until the stream ends.
func (o *output) copy(from io.Reader) {
	chunk := make([]byte, 64<<10)
	var held []byte
	for {
		n, err := from.Read(chunk)
		held = o.pass(append(held, chunk[:n]...))
		if err != nil {
			o.write(held)
			o.mu.Lock()
			o.ended = true
			o.seen.Broadcast()
			o.mu.Unlock()
			return
		}
	}
}

// pass writes text without its marks and gives the end of it that may be the beginning of a mark.
func (o *output) pass(text []byte) (held []byte) {
	for {
		at := bytes.Index(text, o.mark)
		if at < 0 {
			keep := o.partial(text)
			o.write(text[:len(text)-keep])
			return text[len(text)-keep:]
		}
		o.write(text[:at])
		rest := text[at+len(o.mark):]
		end := bytes.IndexByte(rest, 0)
		if end < 0 {
			return text[at:]
		}
		if n, err := strconv.ParseInt(string(rest[:end]), 10, 64); err == nil {
			o.mu.Lock()
			o.last = max(o.last, n)
			o.seen.Broadcast()
			o.mu.Unlock()
		}
		text = rest[end+1:]
	}
}

// partial gives the length of the longest end of text with which a mark begins.
func (o *output) partial(text []byte) int {
	for n := min(len(text), len(o.mark)-1); n > 0; n-- {
		if bytes.HasPrefix(o.mark, text[len(text)-n:]) {
			return n
		}
	}
	return 0
}

// write passes text on. A writer that fails must not stop Python, so its errors are not looked at.
func (o *output) write(text []byte) {
	if len(text) == 0 {
		return
	}
	_, _ = o.to.Write(text)
	if o.keep > 0 {
		o.mu.Lock()
		o.tail = append(o.tail, text...)
		o.tail = o.tail[max(0, len(o.tail)-o.keep):]
		o.mu.Unlock()
	}
}

// await waits until all that was written before mark n has been passed on, or the stream has ended.
func (o *output) await(n int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.last < n && !o.ended {
		o.seen.Wait()
	}
}

// end gives the last of what was written.
func (o *output) end() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(bytes.TrimSpace(o.tail))
}
