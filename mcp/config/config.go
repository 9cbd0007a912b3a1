// Package config reads and changes the files that name MCP servers: .mcp.json
// of a project and mcp.json of its user, in the shapes that other clients
// write.
//
// [Find] says which files there are for a folder, [Load] reads one, [Set] is
// all of them with the nearest first. An [Entry] is one server as the file
// says it; [Entry.Resolve] puts the environment's values in. [Trust] remembers
// which commands of projects their user has agreed to start. [Add] and
// [Remove] change a file and leave the rest of its text as it is.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ProjectFile is the name of a project's file.
const ProjectFile = ".mcp.json"

// maxFile bounds the size of a configuration file.
const maxFile = 1 << 20

// File is one configuration file.
type File struct {
	// Path is where it was read from.
	Path string
	// User says that it is the user's own file and not a project's.
	User bool
	// Entries are the servers in the order of the file.
	Entries []*Entry
	// Warnings are one-line remarks on what was not understood.
	Warnings []string
}

// Entry is one server as its file says it, nothing expanded.
type Entry struct {
	// Name is the server's name; File the path of the file that has it; User
	// says that the file is the user's own.
	Name, File string
	User       bool
	// Transport is "stdio", "http" or "sse", or "" where the file does not say.
	Transport string
	// Command and Args start a local server, URL and Headers reach a remote one.
	Command string
	Args    []string
	URL     string
	Headers map[string]string
	// Env are variables for the process; EnvFile names a file with more.
	Env     map[string]string
	EnvFile string
	// Cwd is the process's folder, relative to the file's; "" is ours.
	Cwd string
	// Timeout bounds a call; 0 is the default.
	Timeout time.Duration
	// Disabled servers are not connected to. AlwaysLoad ones are offered to
	// models whole, whatever their number of tools.
	Disabled, AlwaysLoad bool
	// OAuth is nil where the file says nothing of it.
	OAuth *OAuth
	// Capability is what calls ask for; "" leaves it to Asks.
	Capability string
	// Tools are globs of the tools let through; none is all.
	Tools []string
}

// OAuth says how to log in to a remote server. The zero OAuth finds everything
// out from the server.
type OAuth struct {
	ClientID, ClientSecret string
	// CallbackPort is the loopback port of the redirect; 0 is any.
	CallbackPort int
	// MetadataURL is where the authorization server describes itself.
	MetadataURL string
	Scopes      []string
}

// Environment looks up a variable; ok is false where it is not set.
type Environment func(name string) (value string, ok bool)

// Find gives the configuration files that count for dir, nearest first: those
// of dir and of the folders above it up to the project's root (the first with
// .git or sense.toml; without a root only dir's own), then the user's.
func Find(dir string, env Environment) []string {
	var out []string
	for _, d := range chain(dir) {
		if p := filepath.Join(d, ProjectFile); isFile(p) {
			out = append(out, p)
		}
	}
	if p := UserFile(env); p != "" && isFile(p) {
		out = append(out, p)
	}
	return out
}

// chain gives the folders to look in.
func chain(dir string) []string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return []string{dir}
	}
	var out []string
	for d := abs; ; d = filepath.Dir(d) {
		out = append(out, d)
		if exists(filepath.Join(d, ".git")) || exists(filepath.Join(d, "sense.toml")) {
			return out
		}
		if filepath.Dir(d) == d {
			return out[:1]
		}
	}
}

// UserFile gives the path of the user's own file, whether it is there or not;
// "" where the environment names no home.
func UserFile(env Environment) string {
	return under(env, "XDG_CONFIG_HOME", ".config", "mcp.json")
}

// TrustFile gives the path of the user's trust file; "" where the environment
// names no home.
func TrustFile(env Environment) string {
	return under(env, "XDG_STATE_HOME", filepath.Join(".local", "state"), "trust.json")
}

func under(env Environment, variable, fallback, name string) string {
	if dir, ok := env(variable); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "sense", name)
	}
	home, ok := env("HOME")
	if !ok || home == "" {
		if home, ok = env("USERPROFILE"); !ok || home == "" {
			return ""
		}
	}
	return filepath.Join(home, fallback, "sense", name)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.IsDir()
}

// Load reads a file. Its errors are one line and name the file.
func Load(path string) (*File, error) {
	src, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	f, err := Parse(path, src)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func readBounded(path string) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", path)
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", path, bare(err))
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case st.Size() > maxFile:
		return nil, fmt.Errorf("%s is too large (%d bytes, limit %d)", path, st.Size(), maxFile)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, bare(err))
	}
	return src, nil
}

// bare takes the operation and the path off a file error.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Set is all configuration that counts for a folder.
type Set struct {
	// Files are the files read, nearest first.
	Files []*File
}

// LoadAll reads every file that counts for dir.
func LoadAll(dir string, env Environment) (*Set, error) {
	var s Set
	user := UserFile(env)
	for _, path := range Find(dir, env) {
		f, err := Load(path)
		if err != nil {
			return nil, err
		}
		f.own(path == user)
		s.Files = append(s.Files, f)
	}
	return &s, nil
}

// own says whose file it is.
func (f *File) own(user bool) {
	f.User = user
	for _, e := range f.Entries {
		e.User = user
	}
}

// Entries gives every server, the nearest file's where several name one.
func (s *Set) Entries() []*Entry {
	seen := map[string]bool{}
	var out []*Entry
	for _, f := range s.Files {
		for _, e := range f.Entries {
			if !seen[e.Name] {
				seen[e.Name] = true
				out = append(out, e)
			}
		}
	}
	return out
}

// Entry finds a server by name, nil where none has it.
func (s *Set) Entry(name string) *Entry {
	for _, e := range s.Entries() {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Warnings gives the remarks on all files.
func (s *Set) Warnings() []string {
	var out []string
	for _, f := range s.Files {
		out = append(out, f.Warnings...)
	}
	return out
}

// Paths names the files read, for messages; "" where there is none.
func (s *Set) Paths() string {
	var out []string
	for _, f := range s.Files {
		out = append(out, f.Path)
	}
	return strings.Join(out, ", ")
}

// Dir gives the folder of the entry's file.
func (e *Entry) Dir() string { return filepath.Dir(e.File) }

// Asks gives the capability that calls of the server ask for: its own, else
// mcp.<name>, so that the rules of a program reach every server of a file.
func (e *Entry) Asks() string {
	if e.Capability != "" {
		return e.Capability
	}
	return "mcp." + e.Name
}

// HasAuthorization says whether the entry has an Authorization header of its
// own, beside which a login has no effect.
func (e *Entry) HasAuthorization() bool {
	for name := range e.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}
