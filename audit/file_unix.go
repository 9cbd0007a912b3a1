//go:build unix && !solaris && !aix

package audit

import (
	"os"
	"syscall"
)

// noFollow refuses a symbolic link put in the file's place.
const noFollow = syscall.O_NOFOLLOW

// lock makes this process the file's one writer, until the file is closed.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			return err
		}
	}
}
