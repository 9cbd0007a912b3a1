package memory

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also plays a process that writes to a memory: with SENSE_TEST_WRITER=<path> <name> <count> it remembers
// count values under its name (endlessly for 0) and prints the number of each once that is acknowledged.
func TestMain(m *testing.M) {
	if path := os.Getenv("SENSE_TEST_WRITER"); path != "" {
		count, err := strconv.Atoi(os.Getenv("SENSE_TEST_COUNT"))
		if err == nil {
			err = writer(path, os.Getenv("SENSE_TEST_NAME"), count)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func writer(path, name string, count int) error {
	ctx := context.Background()
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	for i := 0; count == 0 || i < count; i++ {
		if err := s.Remember(ctx, fmt.Sprintf("%s-%d", name, i), strconv.Itoa(i)); err != nil {
			return fmt.Errorf("%s at %d: %w", name, i, err)
		}
		fmt.Println(i)
	}
	return s.Close()
}

func startWriter(t *testing.T, path, name string, count int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SENSE_TEST_WRITER="+path, "SENSE_TEST_NAME="+name, fmt.Sprintf("SENSE_TEST_COUNT=%d", count))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// open opens a memory in a new folder unless path is absolute, and closes it when the test ends.
func open(t *testing.T, path string) *Store {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.TempDir(), path)
	}
	s, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
