package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/sense-lang/sense/diag"
)

// FileOptions say how OpenFile writes.
type FileOptions struct {
	// Run is written into every entry.
	Run string
	// Sync brings every entry to the disk before Write returns, not only those
	// that ask for it.
	Sync bool
	// Clock tells the time of the entry about a recovery; nil is time.Now.
	Clock func() time.Time
}

// file is what FileSink needs of an *os.File; tests make it fail.
type file interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
}

// FileSink appends entries to a file as JSON lines that are chained by hashes.
type FileSink struct {
	mu   sync.Mutex
	f    file
	opts FileOptions
	seq  int64
	head string
	// size is the file's size after the last whole entry.
	size int64
	// broken is set once the file may end in half an entry.
	broken error
}

// OpenFile opens an audit log for appending and makes it where there is none,
// readable by its owner only. An existing one is verified first: its chain goes
// on. What a kill left of an unfinished entry at its end is taken off, which is
// an entry of its own. There is one writer at a time; a second one gets an
// error.
func OpenFile(path string, opts FileOptions) (*FileSink, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("audit file '%s' is no ordinary file", diag.Visible(path))
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open audit file '%s': %w", diag.Visible(path), bare(err))
	}
	s, err := resume(f, path, opts)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return s, nil
}

// resume takes over an open file.
func resume(f *os.File, path string, opts FileOptions) (*FileSink, error) {
	if err := lock(f); err != nil {
		return nil, fmt.Errorf("audit file '%s' is in use by another run", diag.Visible(path))
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, fmt.Errorf("cannot protect audit file '%s': %w", diag.Visible(path), bare(err))
	}
	rep, err := Verify(f)
	if err != nil {
		return nil, fmt.Errorf("cannot append to '%s': %w", diag.Visible(path), bare(err))
	}
	s := &FileSink{f: f, opts: opts, seq: rep.Entries, head: rep.Head, size: rep.End}
	if rep.Unfinished == 0 {
		return s, nil
	}
	if rep.Entries == 0 && rep.Unfinished > 0 && !startsLikeEntry(f) {
		return nil, fmt.Errorf("cannot append to '%s': this is no audit log", diag.Visible(path))
	}
	return s, s.recover(rep.Unfinished)
}

// startsLikeEntry tells the first half of an entry from the text of some other
// file without a line end.
func startsLikeEntry(f *os.File) bool {
	const start = `{"seq":1,"prev":""`
	buf := make([]byte, len(start))
	n, _ := f.ReadAt(buf, 0)
	return string(buf[:n]) == start[:n]
}

// recover takes the unfinished entry off and says so.
func (s *FileSink) recover(bytes int64) error {
	if err := s.f.Truncate(s.size); err != nil {
		return fmt.Errorf("cannot take off an unfinished entry: %w", bare(err))
	}
	now := time.Now
	if s.opts.Clock != nil {
		now = s.opts.Clock
	}
	return s.Write(&Entry{
		Kind: "audit", Name: "log", Event: "recovered", Time: now(),
		Detail: fmt.Sprintf("%d bytes of an unfinished entry taken off", bytes),
	})
}

// Write appends an entry with one write. When it fails nothing of the entry
// stays; where that cannot be had, no more entries are taken.
func (s *FileSink) Write(e *Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	rec := newRecord(e, s.seq+1, s.head, s.opts.Run)
	line, hash, err := rec.seal()
	if err != nil {
		return err
	}
	if len(line) > maxLine {
		return fmt.Errorf("an entry of %d bytes is too long", len(line))
	}
	if _, err := s.f.Write(line); err != nil {
		return s.undo(err)
	}
	if s.opts.Sync || e.Durable {
		if err := s.f.Sync(); err != nil {
			return s.undo(err)
		}
	}
	s.seq, s.head, s.size = rec.Seq, hash, s.size+int64(len(line))
	return nil
}

// undo takes off what a failed write left.
func (s *FileSink) undo(cause error) error {
	cause = fmt.Errorf("cannot write the audit file: %w", bare(cause))
	if err := s.f.Truncate(s.size); err != nil {
		s.broken = cause
	}
	return cause
}

// Head gives the number of entries in the file and the hash of the last.
func (s *FileSink) Head() (entries int64, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq, s.head
}

// Close brings the file to the disk and closes it; closing twice is no error.
func (s *FileSink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f == nil {
		return nil
	}
	err := s.f.Sync()
	if cerr := s.f.Close(); err == nil {
		err = cerr
	}
	s.f = nil
	s.broken = errors.New("the audit file is closed")
	return bare(err)
}

// bare gives an error without the path and the name of the system call, which
// its reader has or does not need.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
