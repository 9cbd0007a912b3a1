// Package regular reads files that somebody else may have put there: a device
// or a pipe in the place of a file is refused, not read or waited for without
// end.
package regular

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrNoFile says that a path leads to something that is no regular file.
var ErrNoFile = errors.New("not a regular file")

// TooLongError says that a file is longer than its reader takes; it is the
// limit in bytes.
type TooLongError int64

// Error gives the message.
func (e TooLongError) Error() string { return fmt.Sprintf("too long (limit %d bytes)", int64(e)) }

// Read reads a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return All(f, limit)
}

// Found gives an error where a walk of a folder came upon a device or a pipe, or
// what leads to one. A folder and what cannot be seen are left to who opens them.
func Found(path string) error {
	st, err := os.Stat(path)
	if err != nil || st.IsDir() || st.Mode().IsRegular() {
		return nil
	}
	return ErrNoFile
}

// All reads an open file from its beginning on as Read does.
func All(f *os.File, limit int64) ([]byte, error) {
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, &os.PathError{Op: "read", Path: f.Name(), Err: ErrNoFile}
	case st.Size() > limit:
		return nil, TooLongError(limit)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if int64(len(b)) > limit {
		return nil, TooLongError(limit)
	}
	return b, err
}
