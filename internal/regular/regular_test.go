package regular

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, 4); string(b) != "text" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
	var long TooLongError
	if _, err := Read(path, 3); !errors.As(err, &long) || err.Error() != "too long (limit 3 bytes)" {
		t.Errorf("got %v", err)
	}
	if _, err := Read(filepath.Join(dir, "none"), 9); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := Read(dir, 9); !errors.Is(err, ErrNoFile) {
		t.Errorf("a folder: %v", err)
	}
}

// TestGrows reads a file that says it is empty, as those of /proc do.
func TestGrows(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc")
	}
	var long TooLongError
	if _, err := Read("/proc/self/status", 3); !errors.As(err, &long) {
		t.Errorf("got %v", err)
	}
	if b, err := Read("/proc/self/status", 1<<20); err != nil || len(b) == 0 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
