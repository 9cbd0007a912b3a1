// Package tape records what a program exchanges with the world and plays it
// back. A tape is text: a header line, then one JSON object a line for each
// exchange with a model, an MCP server, a server of std.http, a command, a
// person, the environment, the clock or chance. It is made to be read and
// committed: secrets are taken out and the ids that models invent are numbered
// in order.
package tape

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	"github.com/sense-lang/sense/diag"
)

// The kinds of exchanges.
const (
	Model   = "model"
	Connect = "mcp.connect"
	Tool    = "mcp.call"
	HTTP    = "http"
	Process = "process"
	Env     = "env"
	Human   = "human"
	Clock   = "clock"
	Random  = "random"
)

// header is a tape's first line.
const header = `{"sense_tape":1}`

// maxLine bounds a line of a tape.
const maxLine = 256 << 20

// maxHead is how much of a file is looked at to see whether it is a tape.
const maxHead = 512

// Exchange is one question to the world and its answer.
type Exchange struct {
	Kind string `json:"kind"`
	// Who is the model, the server, the command or the variable asked; empty for
	// the others.
	Who string `json:"who,omitempty"`
	// Ask is what was asked, Answer what came back; either may be absent.
	Ask    json.RawMessage `json:"ask,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
	// Error is set in place of Answer where the exchange failed.
	Error string `json:"error,omitempty"`
	// Fault is the kind of the error where it is not the usual one.
	Fault diag.Kind `json:"fault,omitempty"`
}

func (e *Exchange) name() string {
	if e.Who == "" {
		return e.Kind
	}
	return e.Kind + " '" + e.Who + "'"
}

// Tape records or plays. A nil Tape does neither. Its methods may be used by
// several goroutines at once.
type Tape struct {
	// Redact takes secrets out of a line; nil takes none.
	Redact func(string) string

	mu      sync.Mutex
	w       io.Writer // records
	err     error     // of the first write that failed, or the first question without an answer
	left    []*played // plays
	playing bool
}

type played struct {
	Exchange
	ask  any // Ask, read
	line int
	used bool
}

// Record makes a Tape that writes every exchange to w.
func Record(w io.Writer) (*Tape, error) {
	if _, err := io.WriteString(w, header+"\n"); err != nil {
		return nil, err
	}
	return &Tape{w: w}, nil
}

// Play reads a tape. Its error names the line that is wrong.
func Play(r io.Reader) (*Tape, error) {
	t := &Tape{playing: true}
	// A file without end or lines that is no tape is not read to see that.
	in := bufio.NewReader(r)
	if start, err := in.Peek(maxHead); len(start) > 0 && !bytes.HasPrefix(bytes.TrimSpace(start), []byte(header)) {
		return nil, errors.New("line 1: this is no tape")
	} else if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, maxLine)
	n := 1
	for ; sc.Scan(); n++ {
		line := bytes.TrimSpace(sc.Bytes())
		if n == 1 {
			if string(line) != header {
				return nil, errors.New("line 1: this is no tape")
			}
			continue
		}
		if len(line) == 0 {
			continue
		}
		p := &played{line: n}
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&p.Exchange); err != nil || p.Kind == "" {
			return nil, fmt.Errorf("line %d: this is no exchange", n)
		}
		p.ask = parse(p.Ask)
		t.left = append(t.left, p)
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: too long (limit %d bytes)", n, maxLine)
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// Recording reports whether exchanges are to be given to Add.
func (t *Tape) Recording() bool { return t != nil && !t.playing }

// Playing reports whether answers come from the tape and nothing else is asked.
func (t *Tape) Playing() bool { return t != nil && t.playing }

// Add records an exchange. Its error means that the tape is not whole.
func (t *Tape) Add(e Exchange) error {
	line, err := marshal(e)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	if t.Redact != nil {
		line = t.Redact(line)
	}
	if _, err := io.WriteString(t.w, line+"\n"); err != nil {
		t.err = fmt.Errorf("cannot write the tape: %w", err)
	}
	return t.err
}

// marshal writes one line, with < and & as they are.
func marshal(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// Next gives the first exchange that has not been played with the same kind,
// partner and question. Where there is none the error says how the nearest one
// differs, and Err gives it from then on.
func (t *Tape) Next(kind, who string, ask any) (*Exchange, error) {
	raw, err := marshal(ask)
	if err != nil {
		return nil, err
	}
	if t.Redact != nil {
		raw = t.Redact(raw)
	}
	want := parse([]byte(raw))
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.left {
		if !p.used && p.Kind == kind && p.Who == who && reflect.DeepEqual(p.ask, want) {
			p.used = true
			return &p.Exchange, nil
		}
	}
	err = t.miss(kind, who, want)
	if t.err == nil {
		t.err = err
	}
	return nil, err
}

// Err gives the first question that a tape had no answer to, or why one could
// not be written; nil where all is well. A nil Tape has none.
func (t *Tape) Err() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Left gives how many exchanges have not been played.
func (t *Tape) Left() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, p := range t.left {
		if !p.used {
			n++
		}
	}
	return n
}

// parse reads JSON with its numbers as they are written; absent is nil.
func parse(raw []byte) any {
	if len(raw) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return string(raw)
	}
	return v
}
