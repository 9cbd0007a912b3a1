package fileserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// The texts of system errors are those of the npm server, which are Node's: models and scripts know them.
var errnoText = []struct {
	errno      syscall.Errno
	code, text string
}{
	{syscall.ENOENT, "ENOENT", "no such file or directory"},
	{syscall.EISDIR, "EISDIR", "illegal operation on a directory"},
	{syscall.ENOTDIR, "ENOTDIR", "not a directory"},
	{syscall.EEXIST, "EEXIST", "file already exists"},
	{syscall.EACCES, "EACCES", "permission denied"},
	{syscall.EPERM, "EPERM", "operation not permitted"},
	{syscall.ENOSPC, "ENOSPC", "no space left on device"},
	{syscall.EROFS, "EROFS", "read-only file system"},
	{syscall.ENOTEMPTY, "ENOTEMPTY", "directory not empty"},
	{syscall.ELOOP, "ELOOP", "too many symbolic links encountered"},
	{syscall.ENAMETOOLONG, "ENAMETOOLONG", "name too long"},
	{syscall.EMFILE, "EMFILE", "too many open files"},
	{syscall.EXDEV, "EXDEV", "cross-device link not permitted"},
	{syscall.EINVAL, "EINVAL", "invalid argument"},
	{syscall.EBUSY, "EBUSY", "resource busy or locked"},
	{syscall.EIO, "EIO", "i/o error"},
}

// failed words an error of the system call op on the file name, and says "Access denied" where os.Root refused.
func (f *folder) failed(op, name string, err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		for _, known := range errnoText {
			if known.errno == errno {
				return f.fail(known.code, known.text, op, name)
			}
		}
		return fmt.Errorf("%s: %s '%s'", errno.Error(), op, f.abs(name))
	}
	var bad *fs.PathError
	var link *os.LinkError
	if errors.As(err, &bad) || errors.As(err, &link) {
		return fmt.Errorf("Access denied - %s: %s", reason(err), f.abs(name))
	}
	return fmt.Errorf("%w, %s '%s'", err, op, f.abs(name))
}

func (f *folder) fail(code, text, op, name string) error {
	return fmt.Errorf("%s: %s, %s '%s'", code, text, op, f.abs(name))
}

// reason gives the cause of a file error without its path.
func reason(err error) string {
	var bad *fs.PathError
	if errors.As(err, &bad) {
		return bad.Err.Error()
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err.Error()
	}
	return err.Error()
}
