package memory

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
)

// TestManyProcesses has eight processes write to one new file at the same time.
func TestManyProcesses(t *testing.T) {
	const processes, each = 8, 500
	path := filepath.Join(t.TempDir(), "p.db")
	wait := make([]func() error, processes)
	for p := range wait {
		cmd, out := startWriter(t, path, fmt.Sprint(p), each)
		done := make(chan struct{})
		go func() {
			for out.Scan() {
			}
			close(done)
		}()
		wait[p] = func() error { <-done; return cmd.Wait() }
	}
	for p := range wait {
		if err := wait[p](); err != nil {
			t.Errorf("process %d: %v", p, err)
		}
	}
	s := open(t, path)
	if n, err := s.Len(bg); n != processes*each || err != nil {
		t.Fatalf("%d keys, %v", n, err)
	}
	var rows, last int64
	if err := s.db.QueryRow(`SELECT COUNT(*), MAX(version) FROM memory_log`).Scan(&rows, &last); err != nil || rows != processes*each || last != rows {
		t.Errorf("%d rows, last version %d, %v", rows, last, err)
	}
}

// TestKilledInTheMiddle kills a writing process again and again; what it had been told to be stored must be there.
func TestKilledInTheMiddle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 50 {
		cmd, out := startWriter(t, path, fmt.Sprint(round), 0)
		stop := 1 + r.IntN(20)
		last := -1
		for out.Scan() {
			n, err := strconv.Atoi(out.Text())
			if err != nil {
				t.Fatal(err)
			}
			if last = n; last == stop {
				_ = cmd.Process.Kill() // what is still in the pipe was acknowledged as well
			}
		}
		_ = cmd.Wait()
		if last < stop {
			t.Fatalf("round %d: the writer ended at %d", round, last)
		}
		s, err := Open(bg, path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for i := range last + 1 {
			expect(t, s, fmt.Sprintf("%d-%d", round, i), 1<<62, strconv.Itoa(i))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
