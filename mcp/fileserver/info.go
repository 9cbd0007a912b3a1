package fileserver

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// times are those of a file; the zero time where the system does not know one.
type times struct{ created, modified, accessed time.Time }

func info(_ context.Context, f *folder, a args) (string, error) {
	name, err := f.resolve(a.text("path"))
	if err != nil {
		return "", err
	}
	stat, err := f.root.Stat(name)
	if err != nil {
		return "", f.failed("stat", name, err)
	}
	t := f.times(name, stat)
	return strings.Join([]string{
		fmt.Sprintf("size: %d", stat.Size()),
		"created: " + date(t.created),
		"modified: " + date(t.modified),
		"accessed: " + date(t.accessed),
		fmt.Sprintf("isDirectory: %t", stat.IsDir()),
		fmt.Sprintf("isFile: %t", stat.Mode().IsRegular()),
		"permissions: " + permissions(stat.Mode()),
	}, "\n"), nil
}

// permissions gives the last three octal digits of the mode.
func permissions(mode fs.FileMode) string { return fmt.Sprintf("%03o", mode.Perm()) }

// date writes a time as JavaScript prints a Date.
func date(t time.Time) string {
	zone, offset := t.Zone()
	if offset == 0 && zone == "UTC" {
		zone = "Coordinated Universal Time"
	}
	return t.Format("Mon Jan 02 2006 15:04:05 GMT-0700") + " (" + zone + ")"
}

func allowed(_ context.Context, f *folder, _ args) (string, error) {
	return "Allowed directories:\n" + strings.Join(f.names(), "\n"), nil
}
