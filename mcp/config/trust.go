package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Trust is what a user has agreed to start for projects: entries of files by
// the file's folder and a hash of what would be started.
type Trust struct {
	path    string
	entries []trusted
}

// trusted is one agreement. Server and Command are for the reader of the file.
type trusted struct {
	Folder  string `json:"folder"`
	Hash    string `json:"hash"`
	Server  string `json:"server"`
	Command string `json:"command"`
	Since   string `json:"since,omitempty"`
}

// trustText is the file.
type trustText struct {
	Trusted []trusted `json:"trusted"`
}

// LoadTrust reads a trust file; one that is not there, or path "", trusts
// nothing.
func LoadTrust(path string) (*Trust, error) {
	t := &Trust{path: path}
	if path == "" {
		return t, nil
	}
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, bare(err))
	}
	var text trustText
	if err := json.Unmarshal(src, &text); err != nil {
		return nil, fmt.Errorf("%s is damaged (%w); mend it or take it away, and commands will be asked for again", path, placed(filepath.Base(path), src, inOurWords(err, src)))
	}
	t.entries = text.Trusted
	return t, nil
}

// Needs reports whether an entry must be agreed to before its first use: those
// of a project's file that start a command or send values of the environment
// to a server.
func (e *Entry) Needs() bool {
	if e.User {
		return false
	}
	if e.Command != "" {
		return true
	}
	if references(e.URL) {
		return true
	}
	for _, v := range e.Headers {
		if references(v) {
			return true
		}
	}
	return false
}

// Has reports whether an entry as it stands has been agreed to, or needs no
// agreement.
func (t *Trust) Has(e *Entry) bool {
	if !e.Needs() {
		return true
	}
	folder, hash := e.absDir(), e.hash()
	return slices.ContainsFunc(t.entries, func(x trusted) bool { return x.Folder == folder && x.Hash == hash })
}

// Add notes an agreement and writes the file, which nobody else can read.
func (t *Trust) Add(e *Entry, now time.Time) error {
	if t.path == "" {
		return errors.New("there is no home folder to keep the answer in")
	}
	if fresh, err := LoadTrust(t.path); err == nil {
		t.entries = fresh.entries // another run may have added to it
	}
	if t.Has(e) {
		return nil
	}
	t.entries = append(t.entries, trusted{e.absDir(), e.hash(), e.Name, e.Shown(), now.UTC().Format(time.RFC3339)})
	return t.save()
}

// Forget takes back every agreement to entries of that name in that folder.
func (t *Trust) Forget(e *Entry) error {
	folder := e.absDir()
	kept := slices.DeleteFunc(slices.Clone(t.entries), func(x trusted) bool { return x.Folder == folder && x.Server == e.Name })
	if len(kept) == len(t.entries) {
		return nil
	}
	t.entries = kept
	return t.save()
}

func (t *Trust) save() error {
	text, err := encode(trustText{t.entries})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return fmt.Errorf("cannot make the folder of %s: %w", t.path, bare(err))
	}
	return replace(t.path, append(text, '\n'), 0o600)
}

// codeVariables are variables whose values can make a program run other code;
// of every other variable the name counts.
func codeVariable(name string) bool {
	n := strings.ToUpper(name)
	for _, p := range []string{"LD_", "DYLD_", "GIT_", "NPM_CONFIG_", "UV_", "PIP_"} {
		if strings.HasPrefix(n, p) {
			return true
		}
	}
	return slices.Contains([]string{
		"PATH", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "BASH_ENV", "ENV",
		"RUBYOPT", "RUBYLIB", "PERL5OPT", "PERL5LIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH",
	}, n)
}

// hash gives the hash of what an entry would start or reach: its command,
// arguments and names of variables, and whatever else decides which code runs
// or who gets the environment's values.
func (e *Entry) hash() string {
	args := append([]string{}, e.Args...) // none is the same however it is written
	vars, headers := []string{}, []string{}
	for _, k := range slices.Sorted(maps.Keys(e.Env)) {
		if codeVariable(k) {
			k += "=" + e.Env[k]
		}
		vars = append(vars, k)
	}
	for _, k := range slices.Sorted(maps.Keys(e.Headers)) {
		h := k
		if references(e.Headers[k]) {
			h += ": " + e.Headers[k]
		}
		headers = append(headers, h)
	}
	text, _ := json.Marshal([]any{e.Command, args, vars, e.Cwd, e.EnvFile, e.URL, headers}) // texts are always encoded
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Shown gives the whole command line or address as it is shown to people, with
// nothing that a terminal acts on.
func (e *Entry) Shown() string {
	if e.Command == "" {
		return quoteShown(e.URL)
	}
	parts := make([]string, 0, len(e.Args)+1)
	for _, s := range append([]string{e.Command}, e.Args...) {
		parts = append(parts, quoteShown(s))
	}
	return strings.Join(parts, " ")
}

// quoteShown gives a word as it is where that is plain, else in quotes with
// escapes.
func quoteShown(s string) string {
	plain := s != ""
	for _, r := range s {
		if !unicode.IsPrint(r) || r == '"' || r == '\'' || r == '\\' || unicode.IsSpace(r) {
			plain = false
		}
	}
	if plain {
		return s
	}
	return strconv.QuoteToGraphic(s)
}
