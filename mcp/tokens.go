package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// TokenStore keeps what logins gave, by the address of the server they are
// for. What it keeps is secret. A keyring of the system is one; see FileTokens
// for another. It may be used from many goroutines.
type TokenStore interface {
	// Load gives what is kept for a server, nil when there is nothing.
	Load(server string) ([]byte, error)
	// Save keeps data, which is text, for a server.
	Save(server string, data []byte) error
	// Delete forgets a server. Forgetting one that is not kept is no error.
	Delete(server string) error
}

// FileTokens keeps tokens in a file that only its owner can read. The file and
// its folder are made when something is saved.
func FileTokens(path string) TokenStore { return &fileTokens{path: path} }

type fileTokens struct {
	path string
	mu   sync.Mutex
}

func (f *fileTokens) read() (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("the file of tokens '%s' is not valid: %s", f.path, clean(err.Error(), 200))
	}
	return all, nil
}

// Load reads one entry.
func (f *fileTokens) Load(server string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.read()
	return all[server], err
}

// Save writes one entry, with the whole file replaced at once.
func (f *fileTokens) Save(server string, data []byte) error {
	return f.change(func(all map[string]json.RawMessage) { all[server] = data })
}

// Delete removes one entry.
func (f *fileTokens) Delete(server string) error {
	return f.change(func(all map[string]json.RawMessage) { delete(all, server) })
}

func (f *fileTokens) change(edit func(map[string]json.RawMessage)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.read()
	if err != nil {
		return err
	}
	edit(all)
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".tokens-*") // 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
