//go:build unix

package regular

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// TestNeverWaits reads what has no end, or none yet.
func TestNeverWaits(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{pipe, "/dev/zero", "/dev/tty", "/dev/null"} {
		if _, err := Read(path, 9); err == nil || path != "/dev/tty" && !errors.Is(err, ErrNoFile) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
