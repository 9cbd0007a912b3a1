// Package keyring keeps logins to MCP servers in the keyring of the system: the
// Secret Service on Linux, the Keychain on macOS, the Credential Manager on Windows.
package keyring

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/sense-lang/sense/mcp"
)

// service is what our entries are filed under.
const service = "sense mcp login"

// patience is how long a keyring may take, which may have to ask its owner for a
// password.
const patience = 30 * time.Second

// Store is a mcp.TokenStore that keeps logins in the keyring where there is one
// that works, and else in a file. What the file has from earlier is found and
// moves to the keyring with the next login. New makes one.
type Store struct {
	file mcp.TokenStore
	path string

	mu   sync.Mutex
	used bool  // the last Save went to the keyring
	why  error // why it did not
}

// New gives a store whose file is at path.
func New(path string) *Store { return &Store{file: mcp.FileTokens(path), path: path} }

// Where says, after a login, where it is kept.
func (s *Store) Where() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.used:
		return "the system's keyring"
	case s.why != nil:
		return fmt.Sprintf("%s, which only you can read (no keyring: %v)", s.path, s.why)
	}
	return s.path + ", which only you can read"
}

// Load gives what is kept for a server, from the keyring first.
func (s *Store) Load(server string) ([]byte, error) {
	if there() == nil {
		text, err := within(patience, func() (string, error) { return keyring.Get(service, server) })
		if err == nil {
			return []byte(text), nil
		}
	}
	return s.file.Load(server)
}

// Save keeps data for a server, in the keyring where that works.
func (s *Store) Save(server string, data []byte) error {
	err := there()
	if err == nil {
		err = does(func() error { return keyring.Set(service, server, string(data)) })
	}
	s.mu.Lock()
	s.used, s.why = err == nil, err
	s.mu.Unlock()
	if err == nil {
		return s.leaveFile(server)
	}
	if there() == nil { // an older login there would be found first
		_ = does(func() error { return keyring.Delete(service, server) })
	}
	return s.file.Save(server, data)
}

// Delete forgets a server in both places.
func (s *Store) Delete(server string) error {
	var err error
	if there() == nil {
		err = does(func() error { return keyring.Delete(service, server) })
		if errors.Is(err, keyring.ErrNotFound) || errors.Is(err, keyring.ErrUnsupportedPlatform) {
			err = nil
		}
	}
	return errors.Join(err, s.leaveFile(server))
}

// leaveFile takes a server out of the file, which is not made for that.
func (s *Store) leaveFile(server string) error {
	if old, err := s.file.Load(server); err != nil || old == nil {
		return err
	}
	return s.file.Delete(server)
}

// errOff is the reason of a user who wants no keyring.
var errOff = errors.New("SENSE_KEYRING is off")

// there says why the keyring is not to be tried. On Linux it must have a bus
// already: the library would start one, which would outlive us.
func there() error {
	if os.Getenv("SENSE_KEYRING") == "off" {
		return errOff
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return nil
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "bus")); err == nil {
			return nil
		}
	}
	return errors.New("there is no D-Bus session")
}

func does(f func() error) error {
	_, err := within(patience, func() (string, error) { return "", f() })
	return err
}

// within runs f, but waits for it no longer than d.
func within(d time.Duration, f func() (string, error)) (string, error) {
	type outcome struct {
		text string
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil { // the library trusts what a keyring answers
				done <- outcome{err: fmt.Errorf("the keyring answers oddly: %v", r)}
			}
		}()
		text, err := f()
		done <- outcome{text, err}
	}()
	select {
	case o := <-done:
		return o.text, o.err
	case <-time.After(d):
		return "", fmt.Errorf("the keyring has not answered in %v", d)
	}
}
