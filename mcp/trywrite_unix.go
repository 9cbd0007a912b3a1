//go:build unix

package mcp

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// tryWriter gives a function that writes to w as much as goes in without
// waiting and tells how much that was; nil when w is no pipe of ours. It saves
// a change of goroutine on nearly every message.
func tryWriter(w io.WriteCloser) func([]byte) int {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	return func(data []byte) int {
		written := 0
		_ = raw.Write(func(fd uintptr) bool {
			if n, err := unix.Write(int(fd), data); err == nil {
				written = n
			}
			return true
		})
		return written
	}
}
