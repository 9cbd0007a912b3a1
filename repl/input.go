package repl

import (
	"bufio"
	"io"
	"os"
	"sync"
)

// Input is what a session and the programs it runs read, by turns: the session
// while it waits for an input, the program while it runs. A program's read that
// is still waiting when the program was interrupted takes nothing away from the
// session.
type Input struct {
	br *bufio.Reader
	// ready reports whether there is something to read, or an end, and waits a
	// little for it; nil where that cannot be told.
	ready func() bool

	mu      sync.Mutex
	turn    *sync.Cond
	running bool
}

// NewInput makes an Input of a reader. Of an *os.File it can tell whether there
// is something to read; where it cannot, a program's read that was interrupted
// ends with the next line only, and the session waits for that.
func NewInput(r io.Reader) *Input {
	in := &Input{br: bufio.NewReaderSize(r, 64<<10)}
	in.turn = sync.NewCond(&in.mu)
	if f, ok := r.(*os.File); ok {
		in.ready = fileReady(f)
	}
	return in
}

// Program gives what the program reads.
func (in *Input) Program() io.Reader { return programInput{in} }

type programInput struct{ in *Input }

// Read waits for the program's turn and for something to read.
func (p programInput) Read(b []byte) (int, error) {
	in := p.in
	for {
		in.mu.Lock()
		for !in.running {
			in.turn.Wait()
		}
		if in.br.Buffered() > 0 || in.ready == nil || in.ready() {
			n, err := in.br.Read(b)
			in.mu.Unlock()
			return n, err
		}
		in.mu.Unlock() // lets the session have its turn
	}
}

// give gives the turn to the program, or takes it back.
func (in *Input) give(running bool) {
	if in == nil {
		return
	}
	in.mu.Lock()
	in.running = running
	in.mu.Unlock()
	in.turn.Broadcast()
}
