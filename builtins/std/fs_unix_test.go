//go:build unix

package std_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestFSNeverWaitsForAPipe(t *testing.T) {
	dir, p := folder(t, nil)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	var cancel context.CancelFunc
	p.ctx, cancel = context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p.check(t, []row{
		{code: `fs.read("pipe")`, fails: "std.fs.read: 'pipe': it is no regular file"},
		{code: `fs.write("pipe", "x")`, fails: "std.fs.write: 'pipe': it is no regular file"},
		{code: `fs.append("pipe", "x")`, fails: "std.fs.append: 'pipe': no such device or address"},
		{code: `fs.list("pipe")`, fails: "std.fs.list: 'pipe' is not a folder, or not in one"},
		{code: `fs.stat("pipe")["kind"]`, want: "other"},
	})
}
