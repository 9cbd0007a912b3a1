package fileserver

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// times asks the kernel for the time of creation too, through a descriptor that gives no access to the content. Where
// the file system keeps none the last change of the inode stands for it.
func (f *folder) times(name string, stat fs.FileInfo) times {
	t := times{stat.ModTime(), stat.ModTime(), stat.ModTime()}
	if sys, ok := stat.Sys().(*syscall.Stat_t); ok {
		t.accessed = time.Unix(sys.Atim.Unix())
		t.created = time.Unix(sys.Ctim.Unix())
	}
	file, err := f.root.OpenFile(name, unix.O_PATH, 0)
	if err != nil {
		return t
	}
	defer func() { _ = file.Close() }()
	if born, ok := created(file); ok {
		t.created = born
	}
	return t
}

func created(file *os.File) (born time.Time, ok bool) {
	raw, err := file.SyscallConn()
	if err != nil {
		return born, false
	}
	err = raw.Control(func(fd uintptr) {
		var sx unix.Statx_t
		if unix.Statx(int(fd), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &sx) == nil && sx.Mask&unix.STATX_BTIME != 0 {
			born, ok = time.Unix(sx.Btime.Sec, int64(sx.Btime.Nsec)), true
		}
	})
	return born, ok && err == nil
}
