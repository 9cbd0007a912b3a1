package audit

import (
	"os"

	"golang.org/x/sys/windows"
)

// noFollow is not known to this system; OpenFile looks before it opens.
const noFollow = 0

// lock makes this process the file's one writer, until the file is closed. The
// locked byte lies far behind the end, so that others can read.
func lock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	at := windows.Overlapped{OffsetHigh: 0x7fffffff}
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &at)
}
