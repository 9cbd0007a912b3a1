//go:build unix

package repl

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// settle is how long a pipe may be silent inside a block before an empty line
// counts as its end.
const settle = 50 * time.Millisecond

// fileReady tells whether a file or pipe has something to read, or has ended.
func fileReady(f *os.File) func() bool {
	return func() bool {
		fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
		for {
			n, err := unix.Poll(fds, int(settle/time.Millisecond))
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return n > 0 || err != nil
		}
	}
}
