package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/sense-lang/sense/diag"
)

// Write writes to the program's output.
func (th *Thread) Write(s string) error {
	in := th.in
	if limit := in.cfg.Limits.Output; limit > 0 {
		if in.printed += int64(len(s)); in.printed > limit {
			e := diag.New(diag.Limit, "output limit of %s reached", bytesText(limit))
			in.stop(e)
			return e
		}
	}
	if _, err := io.WriteString(th.in.cfg.Stdout, s); err != nil {
		return outputError(err)
	}
	return nil
}

// outputError ends the program: nobody is left to tell what it does.
func outputError(err error) error {
	return &diag.Error{Kind: diag.Limit, Msg: "cannot write the output: " + err.Error(), Cause: err}
}

// Stdout gives the program's output, for what writes to it by other ways.
func (th *Thread) Stdout() io.Writer { return th.in.cfg.Stdout }

// Stderr gives where reports go.
func (th *Thread) Stderr() io.Writer { return th.in.cfg.Stderr }

// ErrNoInput says that standard input has ended.
var ErrNoInput = errors.New("the input has ended")

// lineReader reads lines in the background, so that a wait for one can be
// interrupted; a line that nobody waited for is kept for the next.
type lineReader struct {
	mu    sync.Mutex
	lines chan readResult
	busy  bool
}

type readResult struct {
	text string
	err  error
}

// ReadLine reads a line of the program's input, without its end; what is no
// valid UTF-8 is replaced. What was printed before is visible by then. It lets
// other threads run and ends when the program is interrupted.
func (th *Thread) ReadLine() (line string, err error) {
	if f, ok := th.in.cfg.Stdout.(interface{ Flush() error }); ok {
		if err := f.Flush(); err != nil {
			return "", outputError(err)
		}
	}
	read := func() (line string, err error) {
		if th.in.cfg.Stdin == nil {
			return "", ErrNoInput
		}
		th.Blocking(func(ctx context.Context) { line, err = th.in.input.read(ctx, th.in.cfg.Stdin) })
		return line, err
	}
	if through := th.in.cfg.Lines; through != nil {
		line, err = through(read)
	} else {
		line, err = read()
	}
	if e := th.Stopped(); e != nil {
		return "", e
	}
	return strings.ToValidUTF8(line, "\uFFFD"), err
}

func (r *lineReader) read(ctx context.Context, in io.Reader) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.busy {
		r.busy = true
		if r.lines == nil {
			r.lines = make(chan readResult, 1)
		}
		go func() {
			s, err := readLine(in)
			r.lines <- readResult{s, err}
		}()
	}
	select {
	case got := <-r.lines:
		r.busy = false
		return got.text, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// maxLine bounds a line of input, in bytes.
const maxLine = 16 << 20

// readLine reads byte by byte: what follows the line stays for others.
func readLine(in io.Reader) (string, error) {
	var b strings.Builder
	buf := make([]byte, 1)
	for {
		n, err := in.Read(buf)
		if n == 1 {
			if buf[0] == '\n' {
				return strings.TrimSuffix(b.String(), "\r"), nil
			}
			if b.WriteByte(buf[0]); b.Len() > maxLine {
				return "", fmt.Errorf("the line is too long (limit %d bytes)", maxLine)
			}
		}
		if err != nil {
			if b.Len() > 0 {
				return b.String(), nil
			}
			return "", ErrNoInput
		}
	}
}
