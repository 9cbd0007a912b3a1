package keyring

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/sense-lang/sense/mcp"
)

const server = "https://tracker.example.com/mcp"

// fresh gives a store with a file of its own and a bus that looks as if it were
// there, and the file's path.
func fresh(t *testing.T) (*Store, string) {
	t.Helper()
	t.Setenv("SENSE_KEYRING", "")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	path := filepath.Join(t.TempDir(), "state", "tokens.json")
	return New(path), path
}

func keeps(t *testing.T, s mcp.TokenStore, want string) {
	t.Helper()
	got, err := s.Load(server)
	var b bytes.Buffer
	if len(got) > 0 { // the file indents
		err = errors.Join(err, json.Compact(&b, got))
	}
	if err != nil || b.String() != want {
		t.Errorf("it has %q, %v, want %q", got, err, want)
	}
}

func save(t *testing.T, s mcp.TokenStore, text string) {
	t.Helper()
	if err := s.Save(server, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestKeyring(t *testing.T) {
	keyring.MockInit()
	s, path := fresh(t)
	keeps(t, s, "")
	save(t, s, `{"a":1}`)
	keeps(t, s, `{"a":1}`)
	if s.Where() != "the system's keyring" {
		t.Error(s.Where())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file as well")
	}
	if err := s.Delete(server); err != nil {
		t.Error(err)
	}
	keeps(t, s, "")
	if err := s.Delete(server); err != nil {
		t.Error("forgetting what is not kept:", err)
	}
}

// A login in the file counts until the next one, which is kept in the keyring
// alone.
func TestFromFileToKeyring(t *testing.T) {
	keyring.MockInit()
	s, path := fresh(t)
	file := mcp.FileTokens(path)
	save(t, file, `{"old":1}`)
	keeps(t, s, `{"old":1}`)
	save(t, s, `{"new":1}`)
	keeps(t, s, `{"new":1}`)
	keeps(t, file, "")
}

func TestWithoutKeyring(t *testing.T) {
	keyring.MockInitWithError(errors.New("it is locked"))
	s, path := fresh(t)
	save(t, s, `{"a":1}`)
	keeps(t, s, `{"a":1}`)
	if want := path + ", which only you can read (no keyring: it is locked)"; s.Where() != want {
		t.Errorf("%q, want %q", s.Where(), want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	t.Setenv("SENSE_KEYRING", "off")
	save(t, s, `{"a":2}`)
	keeps(t, s, `{"a":2}`)
	if !strings.HasSuffix(s.Where(), "(no keyring: SENSE_KEYRING is off)") {
		t.Error(s.Where())
	}
	if err := s.Delete(server); err != nil {
		t.Error(err)
	}
	keeps(t, s, "")
}

// A login that the keyring does not take must not be hidden by an older one.
func TestKeyringThatIsTooSmall(t *testing.T) {
	keyring.MockInit()
	s, _ := fresh(t)
	save(t, s, `{"old":1}`)
	t.Setenv("SENSE_KEYRING", "off")
	save(t, s, `{"new":1}`)
	keeps(t, s, `{"new":1}`)
}

func TestKeyringIsNotWaitedForWithoutEnd(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	_, err := within(time.Millisecond, func() (string, error) { <-stuck; return "", nil })
	if err == nil || err.Error() != "the keyring has not answered in 1ms" {
		t.Error(err)
	}
	_, err = within(time.Minute, func() (string, error) { panic("wrong type") })
	if err == nil || err.Error() != "the keyring answers oddly: wrong type" {
		t.Error(err)
	}
}

// TestRealKeyring needs a keyring: tools/keyring.sh starts one of its own.
func TestRealKeyring(t *testing.T) {
	if os.Getenv("SENSE_REAL_KEYRING") == "" {
		t.Skip("a real keyring is tested by make keyring")
	}
	s := New(filepath.Join(t.TempDir(), "tokens.json"))
	long := `{"token":"` + strings.Repeat("x", 8000) + `"}`
	for _, text := range []string{`{"a":1}`, long, `{"b":"ä\n"}`} {
		save(t, s, text)
		keeps(t, New(filepath.Join(t.TempDir(), "none.json")), text)
	}
	if s.Where() != "the system's keyring" {
		t.Error(s.Where())
	}
	if err := s.Delete(server); err != nil {
		t.Error(err)
	}
	keeps(t, s, "")
}
