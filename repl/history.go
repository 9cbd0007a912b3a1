package repl

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// keepInputs is the number of inputs that a history remembers.
	keepInputs = 2000
	// maxHistory is the size in bytes from which the file is written anew.
	maxHistory = 4 << 20
	// maxRemembered bounds one input of the history, in bytes.
	maxRemembered = 64 << 10
)

// DefaultHistory gives the file that keeps the history of a user: sense/history
// in $XDG_STATE_HOME, else in ~/.local/state; empty where there is no home.
func DefaultHistory() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "sense", "history")
}

// history keeps the inputs of a session and, in a file that only its owner can
// read, those of earlier ones. It is what the line editor calls a source.
type history struct {
	path   string
	redact func(string) string
	inputs []string
}

// remembered is an input as it stands in the file, one a line.
type remembered struct {
	Time  time.Time `json:"time"`
	Input string    `json:"input"`
}

// openHistory reads a file, which need not exist. With its error comes a history
// that works for this session.
func openHistory(path string, redact func(string) string) (*history, error) {
	h := &history{redact: redact}
	if path == "" {
		return h, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return h, fmt.Errorf("no history: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return h, fmt.Errorf("no history: %w", err)
	}
	defer f.Close()
	if err := f.Chmod(0o600); err != nil {
		return h, fmt.Errorf("no history: %w", err)
	}
	if err := h.read(f); err != nil {
		return h, fmt.Errorf("no history: %w", err)
	}
	h.path = path
	if info, err := f.Stat(); err == nil && info.Size() > maxHistory {
		return h, h.rewrite()
	}
	return h, nil
}

// read takes the inputs of a file; lines that are none are passed over.
func (h *history) read(r io.Reader) error {
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(br)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errTooLong):
			continue
		case err != nil:
			return err
		}
		var rec remembered
		if json.Unmarshal([]byte(line), &rec) == nil && rec.Input != "" {
			h.keep(rec.Input)
		}
	}
}

// keep remembers an input for this session.
func (h *history) keep(input string) {
	h.inputs = append(h.inputs, input)
	if len(h.inputs) >= 2*keepInputs {
		h.inputs = append([]string(nil), h.inputs[len(h.inputs)-keepInputs:]...)
	}
}

// rewrite replaces the file by what is remembered.
func (h *history) rewrite() error {
	tmp, err := os.CreateTemp(filepath.Dir(h.path), ".history-*") // made 0600
	if err != nil {
		return err
	}
	for _, input := range h.inputs[max(0, len(h.inputs)-keepInputs):] {
		if err == nil {
			err = writeInput(tmp, input)
		}
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), h.path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// writeInput writes one line of the file.
func writeInput(w io.Writer, input string) error {
	line, err := json.Marshal(remembered{Time: time.Now().UTC().Truncate(time.Second), Input: input})
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// Write remembers an input. One that begins with a space, repeats the last, or
// is very long is not. A block keeps its empty line, so that Enter runs it again.
func (h *history) Write(input string) (int, error) {
	input = strings.TrimRight(input, " \t\r\n")
	if !finished(input) {
		input += "\n"
	}
	if input == "" || input[0] == ' ' || len(input) > maxRemembered ||
		len(h.inputs) > 0 && h.inputs[len(h.inputs)-1] == input {
		return len(h.inputs), nil
	}
	h.keep(input)
	if h.path == "" {
		return len(h.inputs), nil
	}
	if h.redact != nil {
		input = h.redact(input)
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return len(h.inputs), err
	}
	err = writeInput(f, input)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return len(h.inputs), err
}

// GetLine gives input i, the oldest is 0.
func (h *history) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.inputs) {
		return "", fmt.Errorf("no input %d", i)
	}
	return h.inputs[i], nil
}

// Len gives the number of inputs.
func (h *history) Len() int { return len(h.inputs) }

// Dump gives all inputs.
func (h *history) Dump() any { return h.inputs }
