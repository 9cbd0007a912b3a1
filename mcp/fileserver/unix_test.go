//go:build unix

package fileserver

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOddFilesDoNotBlock(t *testing.T) {
	dir := sample(t)
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Skip(err)
	}
	c := serve(t, dir, false)
	for tool, arguments := range map[string]m{
		"read_text_file": {"path": "fifo"}, "read_media_file": {"path": "fifo"}, "write_file": {"path": "fifo", "content": "x"}, "edit_file": {"path": "fifo", "edits": []any{}},
	} {
		if got := c.bad(tool, arguments); got != "not a regular file: "+fifo {
			t.Errorf("%s: %q", tool, got)
		}
	}
	if got := c.good("get_file_info", m{"path": "fifo"}); !strings.Contains(got, "isFile: false") {
		t.Errorf("info: %s", got)
	}
}
