package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxInput bounds one input, in bytes.
const maxInput = 16 << 20

var errTooLong = fmt.Errorf("SenseError: the input is longer than %d bytes", maxInput)

// pipe holds a session whose inputs come line by line.
func (s *session) pipe(ctx context.Context) error {
	in := &lineReader{in: s.In.br, ready: s.In.ready}
	for {
		src, err := s.input(ctx, in)
		switch {
		case errors.Is(err, io.EOF):
			if src != "" {
				err = s.take(ctx, src)
			}
			if err == nil || errors.Is(err, io.EOF) {
				err = s.ask("\n")
			}
			return leaving(err)
		case errors.Is(err, errDropped):
			err = s.ask("\n")
		case errors.Is(err, errTooLong):
			_, err = fmt.Fprintln(s.Err, err)
		case err == nil:
			err = s.take(ctx, src)
		}
		if err != nil {
			return leaving(err)
		}
	}
}

// leaving turns the wish to leave into a session that ended well.
func leaving(err error) error {
	if errors.Is(err, errLeave) {
		return nil
	}
	return err
}

// errDropped says that Ctrl-C dropped an input.
var errDropped = errors.New("dropped")

// input reads one input. With io.EOF it gives an input whose brackets or string
// are still open, which cannot run but has an error to show; a block without its
// end is dropped.
func (s *session) input(ctx context.Context, in *lineReader) (string, error) {
	var b strings.Builder
	var t tracker
	p, block := prompt, false
	for {
		if err := s.ask(p); err != nil {
			return "", err
		}
		line, err := in.next(ctx, s.Interrupts)
		if errors.Is(err, io.EOF) && b.Len() > 0 && !block {
			return b.String(), err
		}
		if err != nil {
			return "", err
		}
		if b.Len()+len(line) > maxInput {
			return "", errTooLong
		}
		first := b.Len() == 0
		b.WriteString(line)
		t.add(line)
		switch {
		case first && isCommand(line):
			return b.String(), nil
		case t.open():
		case block:
			if blank(line) && !in.goesOn() {
				return b.String(), nil
			}
		case t.header:
			block = true
		default:
			return b.String(), nil
		}
		b.WriteByte('\n')
		p = morePrompt
	}
}

// tracker follows an input line by line.
type tracker struct {
	depth int    // of open brackets
	long  string // the quotes of the string in three quotes that goes on, "" for none
	// header tells that the last line ends in ":", comments aside.
	header bool
}

// open reports whether a bracket or a string is not closed yet.
func (t *tracker) open() bool { return t.long != "" || t.depth > 0 }

// add takes the next line.
func (t *tracker) add(line string) {
	if t.long != "" {
		end, open := longString(line, 0, t.long)
		if open != "" {
			return
		}
		line = line[end:]
	}
	t.header = false
	pieces, long := scan(line)
	t.long = long
	for _, p := range pieces {
		switch p.kind {
		case opening:
			t.depth++
		case closing:
			t.depth = max(0, t.depth-1)
		}
		if p.kind != comment {
			t.header = line[p.start:p.end] == ":"
		}
	}
}

// lineReader reads lines, and can be interrupted while it waits for one.
type lineReader struct {
	in    *bufio.Reader
	ready func() bool
	// waiting is where a read that was interrupted brings its line.
	waiting chan lineRead
}

type lineRead struct {
	line string
	err  error
}

// next gives the next line without its end; errDropped at an interrupt.
func (r *lineReader) next(ctx context.Context, interrupts <-chan os.Signal) (string, error) {
	if r.waiting == nil {
		r.waiting = make(chan lineRead, 1)
		go func(c chan lineRead) {
			line, err := readLine(r.in)
			c <- lineRead{line, err}
		}(r.waiting)
	}
	select {
	case got := <-r.waiting:
		r.waiting = nil
		return got.line, got.err
	case <-interrupts:
		return "", errDropped
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// readLine reads a line of at most maxInput bytes; of a longer one it reads, and
// forgets, everything.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxInput {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return "", errTooLong
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return "", err
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), nil
	}
}

// goesOn reports whether the next line with anything in it is indented, so that
// an empty line before it does not close a block. Where nothing comes for a
// while, nothing goes on.
func (r *lineReader) goesOn() bool {
	for n := 1; ; n++ {
		if n > r.in.Buffered() && r.ready != nil && !r.ready() {
			return false
		}
		ahead, err := r.in.Peek(n)
		if err != nil || len(ahead) < n {
			return false
		}
		switch ahead[n-1] {
		case '\n', '\r', ' ', '\t':
		default:
			return n > 1 && (ahead[n-2] == ' ' || ahead[n-2] == '\t')
		}
	}
}
